import { openingKeys } from '../../src/catalogue/openings';

/** One text each. */
const plainKeys = [
  ...openingKeys,
  /** `car unlocked for {time}` */
  'unlocked',
  /** `less than a minute`, as `{time}` */
  'moment',
  /** `{text} (cannot be confirmed now)` */
  'unconfirmed',
  'allClosed',
  'allClosedAndLocked',
  /** All of these are closed, but the car has more openings: `{openings} closed` */
  'closed',
  'closedAndLocked',
  /** All of them together. */
  'windows',
  'doors',
  /** Only the lock was asked about: `car locked`. */
  'locked',
  /** `cannot tell whether the car is locked` */
  'cannotTellLock',
  /** `{text}, nor whether the car is locked` */
  'cannotTellAndLock',
] as const;

/**
 * One text for each plural of the language: the key, `_`, and the category of CLDR, as in i18next.
 */
const pluralKeys = [
  /** `{openings} open for {time}`, by the number of openings */
  'open',
  /** `cannot tell whether {openings} … closed`, by the number of openings */
  'cannotTell',
  /** `{count} minutes`, as `{time}` */
  'minutes',
  'hours',
  'days',
] as const;

/**
 * Every key of the guard's sentences that a table of words in this language needs: of the plurals,
 * those of whole numbers below a million, and the one for all others.
 */
export function guardWordKeys(language: string): string[] {
  const rules = new Intl.PluralRules(language);
  const categories = new Set(['other', ...Array.from({ length: 366 }, (_, index) => rules.select(index + 1))]);
  return [...plainKeys, ...pluralKeys.flatMap((key) => [...categories].sort().map((category) => `${key}_${category}`))];
}
