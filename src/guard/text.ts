import type { GuardEvent, NamedOpening, OpenOpening } from './types';
import { openingKeyOf, openingKeys, openings, type OpeningKind } from '../catalogue/openings';
import { capitalized, filled } from '../sentence';

/** The words of a language. */
interface GuardWords {
  /** BCP 47 tag: it decides plurals and how a list is joined. */
  language: string;
  /**
   * The text of an opening, or of a key below `guard` in `runtime.json`, in lower case if the
   * language's sentences allow it. A key with a number ends in `_` and the plural category of CLDR,
   * as in i18next.
   */
  text(key: string): string;
}

/**
 * An event as a sentence for a person, without a full stop: "Front-left window and tailgate
 * open for 12 minutes".
 */
export function guardText(event: GuardEvent, words: GuardWords): string {
  const phrases = new Phrases(words);
  if (event.type === 'alert') return phrases.alert(event.openings, event.unknown);
  if (event.type === 'clear') return phrases.clear(event.openings, event.everything);
  return phrases.cannotTell(event.openings);
}

class Phrases {
  readonly #words: GuardWords;
  readonly #language: string;

  constructor(words: GuardWords) {
    this.#words = words;
    this.#language = validLanguage(words.language);
  }

  alert(open: readonly OpenOpening[], unknown: readonly NamedOpening[]): string {
    const phrases = groupsOf(open).map((group) => this.#openPhrase(group));
    // If a phrase is “open for 12 minutes: front-left window”, “and” would join the openings of
    // two phrases.
    const isList = phrases.some((phrase) => phrase.includes(':'));
    const said = this.#sentence(isList ? phrases.join('; ') : this.#join(phrases));
    return unknown.length === 0 ? said : `${said}; ${this.#unknownPhrase(unknown)}`;
  }

  cannotTell = (unknown: readonly NamedOpening[]): string => this.#sentence(this.#unknownPhrase(unknown));

  clear(closed: readonly NamedOpening[], everything: boolean): string {
    const others = closed.filter(({ kind }) => kind !== 'lock');
    if (others.length === 0) return this.#sentence(this.#word('locked'));
    const [plain, andLocked] = everything ? ['allClosed', 'allClosedAndLocked'] : ['closed', 'closedAndLocked'];
    const text = this.#word(others.length === closed.length ? plain : andLocked);
    return this.#sentence(filled(text, { openings: this.#join(keysOf(others).map(this.#word)) }));
  }

  #openPhrase(group: readonly [OpenOpening, ...OpenOpening[]]): string {
    const [{ kind, minutes, confirmed }] = group;
    const time = this.#time(minutes);
    const text =
      kind === 'lock'
        ? filled(this.#word('unlocked'), { time })
        : filled(this.#plural('open', group.length), { openings: this.#names(group), time });
    return confirmed ? text : filled(this.#word('unconfirmed'), { text });
  }

  #unknownPhrase(unknown: readonly NamedOpening[]): string {
    const others = unknown.filter(({ kind }) => kind !== 'lock');
    if (others.length === 0) return this.#word('cannotTellLock');
    const text = filled(this.#plural('cannotTell', others.length), { openings: this.#names(others) });
    return others.length === unknown.length ? text : filled(this.#word('cannotTellAndLock'), { text });
  }

  /** Minutes up to two hours, hours up to two days, then days: always rounded down. */
  #time(minutes: number): string {
    if (minutes < 1) return this.#word('moment');
    const [key, count] =
      minutes < 120
        ? ['minutes', minutes]
        : minutes < 48 * 60
          ? ['hours', Math.floor(minutes / 60)]
          : ['days', Math.floor(minutes / 1440)];
    return filled(this.#plural(String(key), Number(count)), {
      count: new Intl.NumberFormat(this.#language).format(Number(count)),
    });
  }

  #names = (some: readonly NamedOpening[]): string => this.#join(some.map((one) => this.#word(keyOf(one))));
  #join = (parts: readonly string[]): string => new Intl.ListFormat(this.#language).format(parts);
  #sentence = (text: string): string => capitalized(text, this.#language);
  #plural = (key: string, count: number): string =>
    this.#word(`${key}_${new Intl.PluralRules(this.#language).select(count)}`);
  #word = (key: string): string => this.#words.text(key);
}

/** The keys of their texts: one text for all windows, one for all doors. */
function keysOf(some: readonly NamedOpening[]): string[] {
  const keys = new Set(some.map(keyOf));
  const groups = { window: 'windows', door: 'doors' } as const;
  const isWhole = (kind: OpeningKind): boolean =>
    openingKeys.every((key) => openings[key].kind !== kind || keys.has(key));
  return [
    ...new Set(
      some.map((one) =>
        one.kind in groups && isWhole(one.kind) ? groups[one.kind as keyof typeof groups] : keyOf(one),
      ),
    ),
  ];
}

/** Groups of openings that one clause describes: with the same duration and confirmation. */
function groupsOf(open: readonly OpenOpening[]): [OpenOpening, ...OpenOpening[]][] {
  const groups = new Map<string, [OpenOpening, ...OpenOpening[]]>();
  for (const opening of open) {
    const same = `${opening.kind === 'lock'} ${opening.confirmed} ${opening.minutes}`;
    const group = groups.get(same);
    if (group === undefined) groups.set(same, [opening]);
    else group.push(opening);
  }
  return [...groups.values()];
}

const keyOf = ({ kind, name }: NamedOpening): string => openingKeyOf(name, kind) ?? name;

/** A tag that Intl accepts; English if it is missing or odd. */
function validLanguage(language: string): string {
  try {
    return new Intl.Locale(language).toString();
  } catch {
    return 'en';
  }
}
