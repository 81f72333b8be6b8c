/**
 * The texts of the runtime for people, in their language. `runtime.json` has its texts: node
 * statuses with values, warnings, the sentences of guard, events and conditions. They are apart
 * from the message catalogues, because Node-RED sends those to every editor; and Node-RED's `RED._`
 * takes as much CPU time as a read, so the runtime looks its texts up in its own map. The library
 * has the sentences of errors in English; `sentences.json` of a language has their translations by
 * the English template.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request } from 'express';
import type { NodeAPI } from 'node-red';
import { getOrMake, isRecord, wordSentence, type Sentence } from '../../src/index';
import { perNodeRed } from '../per-node-red';

/** The values of a text, by the names of their placeholders. */
export type Values = Record<string, string | number>;

/** The texts of the runtime in one language. */
export interface Words {
  /** BCP 47 tag. */
  readonly language: string;
  /**
   * A text with its placeholders filled, `armed for __seconds__ s`; `defaultValue` of the
   * values if there is none.
   * @param key in `runtime.json`
   */
  say(key: string, values?: Values): string;
  /** A sentence of the library; English if a translation is missing. */
  translate(sentence: Sentence): string;
}

/** The parts of a text: words, the name of a placeholder, words, and so on. */
type Text = readonly string[];

/** The build puts the locales beside the bundle. */
const localesFolder = join(__dirname, 'locales');

/** The language that the sentences are written in. */
const english = 'en-US';

/** The languages of the pack, first English. */
const languages: readonly string[] = [...new Set([english, ...readdirSync(localesFolder)])];

/** The texts by language, read at the first use of each. */
class Texts {
  readonly #words = new Map<string, Words>();
  /**
   * The language of Node-RED: the catalogue of the vehicle configuration that it has loaded names
   * it, so each language has one.
   */
  readonly #own: string;

  constructor(RED: NodeAPI) {
    const loaded = RED._('@connected-vehicle/node-red/connected-vehicle:language');
    this.#own = languages.includes(loaded) ? loaded : english;
  }

  /** @param named anything but a language of the pack means that of Node-RED */
  in(named: unknown): Words {
    const language = languages.find((one) => one === named) ?? this.#own;
    return getOrMake(this.#words, language, () => wordsIn(language));
  }
}

function wordsIn(language: string): Words {
  const [texts, translations] = [new Map([...textsOf(english), ...textsOf(language)]), translationsOf(language)];
  return {
    language,
    say(key, values) {
      const text = texts.get(key);
      if (text === undefined) return String(values?.['defaultValue'] ?? key);
      // Most texts have no placeholder.
      if (text.length === 1) return text[0] ?? '';
      return text.reduce(
        (filled, part, index) => filled + (index % 2 === 0 ? part : (values?.[part] ?? `__${part}__`)),
        '',
      );
    },
    translate: (sentence) => wordSentence(sentence, translations),
  };
}

/** @param name of a file; the caller knows its shape, which a test checks */
const read = <Content>(language: string, name: string): Content =>
  JSON.parse(readFileSync(join(localesFolder, language, name), 'utf8')) as Content;

const textsOf = (language: string): [string, Text][] => flat('', read(language, 'runtime.json'));

/** Each text under its whole key, `status.reading`. */
function flat(path: string, value: unknown): [string, Text][] {
  if (typeof value === 'string') return [[path.slice(1), value.split(/__(\w+)__/)]];
  return Object.entries(value as object).flatMap(([key, inner]) => flat(`${path}.${key}`, inner));
}

/**
 * The translations of a language by English template, and the labels of the vehicle
 * configuration by property.
 */
function translationsOf(language: string): ReadonlyMap<string, string> {
  // A sentence that names a property is shown with the label of its field. The build copies them
  // from the texts of the editor.
  const labels = read<Record<string, string>>(language, 'labels.json');
  const sentences = language === english ? {} : read<Record<string, string>>(language, 'sentences.json');
  return new Map(Object.entries({ ...labels, ...sentences }));
}

/**
 * The texts in the language of a vehicle configuration, or in that of Node-RED if the configuration
 * names none.
 * @param vehicle id of the config node; without one: in the other language
 * @param other BCP 47 tag; without one: the language of Node-RED
 */
export function wordsOf(RED: NodeAPI, vehicle = '', other?: string): Words {
  // Null for a config node that is deleted or disabled; any node has other properties.
  const node = RED.nodes.getNode(vehicle) as { config?: { language?: unknown } } | null;
  return perNodeRed(RED, Texts).in(node?.config?.language || other);
}

/** The texts in the language of the pack that a browser prefers. */
export const wordsOfRequest = (RED: NodeAPI, request: Request): Words =>
  wordsOf(RED, '', String(request.acceptsLanguages([...languages]) || english));

export const logWarning = (RED: NodeAPI, warning: Sentence): void =>
  RED.log.warn(`[connected-vehicle] ${wordsOf(RED).translate(warning)}`);

/** A value as a browser gets it: each sentence is a text in the language of the editor. */
export type Translated<Value> = Value extends Sentence
  ? string
  : Value extends object
    ? {
        [Member in keyof Value]: Value[Member] extends ReadonlySet<unknown> | undefined
          ? Value[Member]
          : Translated<Value[Member]>;
      }
    : Value;

/** An answer to a browser with every sentence translated. */
export const translated = (answer: unknown, { translate }: Words): unknown =>
  JSON.parse(JSON.stringify(answer, (_name, value: unknown) => (isSentence(value) ? translate(value) : value)));

const isSentence = (value: unknown): value is Sentence =>
  isRecord(value) && typeof value['template'] === 'string' && Array.isArray(value['values']);
