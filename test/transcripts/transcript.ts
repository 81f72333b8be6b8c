import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../src/index';
import type { RecordedRequest } from '../../src/simulator/service/server';

/** What a flow hears of a node: its outputs, and what Catch, Complete and Status nodes send. */
export type Channel = 'output 1' | 'output 2' | 'catch' | 'complete' | 'status';

type Json = string | number | boolean | null | undefined | Json[] | { [key: string]: Json };
type Message = Record<string, unknown>;

/**
 * Everything that a flow hears of its nodes, by node and channel, and the requests that it cost.
 */
export type Heard = Record<string, Record<string, Json>>;

/** What no two runs have in common, and the word for it. */
export interface Names {
  service: string;
  vin: string;
  /** Milliseconds since 1970, when the case began. */
  start: number;
  /** What an editor shows for a text that may be a key. */
  texts: (key: string) => string;
}

/**
 * Keeps what a flow hears in a form that two runs have in common: times since the beginning
 * (`T+31s`), names for ids, addresses and the VIN, and of each message only what the node changed.
 */
export class Transcript {
  readonly #names: Names;
  readonly #heard = new Map<string, Map<Channel, Json[]>>();
  readonly #came = new Map<string, Message>();
  readonly #ids = new Map<string, string>();

  constructor(names: Names) {
    this.#names = names;
  }

  /** A message that a node gets. What the node sends on is compared with it. */
  came(node: string, msg: Message): void {
    this.#came.set(`${node} ${String(msg['_msgid'])}`, structuredClone(msg));
  }

  hear(node: string, channel: Channel, msg: Message): void {
    const channels = this.#heard.get(node) ?? new Map<Channel, Json[]>();
    this.#heard.set(node, channels);
    const heard = channels.get(channel) ?? [];
    channels.set(channel, heard);
    const said = channel === 'status' ? this.#status(msg) : this.#message(node, msg);
    // Node-RED also sends a status that has not changed.
    if (channel !== 'status' || heard.at(-1) !== said) heard.push(said);
  }

  clear(): void {
    this.#heard.clear();
    this.#ids.clear();
  }

  /** In an order that does not depend on which channel, or which of several messages, was first. */
  all(requests: readonly RecordedRequest[] = []): Heard {
    const idOf = (msg: Json): string =>
      isRecord(msg) ? String(msg['_msgid']) : (/^m\d+(?=, as sent)/.exec(String(msg))?.[0] ?? '');
    const nodes = [...this.#heard].sort().map(([node, channels]) => {
      const sent = channels.get('output 1') ?? [];
      const sorted = [...channels].sort().map(([channel, heard]) => [
        channel,
        heard
          .map((msg) =>
            channel === 'complete' && sent.some((one) => isDeepStrictEqual(one, msg)) ? `${idOf(msg)}, as sent` : msg,
          )
          // Stable: statuses have no id.
          .sort((a, b) => idOf(a).localeCompare(idOf(b))),
      ]);
      return [node, Object.fromEntries(sorted)];
    });
    return { ...(Object.fromEntries(nodes) as Heard), requests: counted(requests) };
  }

  #status(msg: Message): string {
    const { fill, shape, text, code } = (msg['status'] ?? {}) as Record<string, string | undefined>;
    if (text === undefined) return 'cleared';
    const words = this.#names.texts(text).replace(/\b\d\d:\d\d\b/g, '<time>');
    return `${fill} ${shape}: ${words}${code === undefined ? '' : codeMark(code)}`;
  }

  #message(node: string, msg: Message): Json {
    const came = this.#came.get(`${node} ${String(msg['_msgid'])}`) ?? {};
    const { _msgid, error, ...others } = msg;
    const { _msgid: _, ...before } = came;
    const { topic, payload, ...changed } = this.#changed(others, before, ['payload', 'vehicle']);
    const isOwnTopic = typeof topic === 'string' && topic !== '' && !before['topic'];
    return {
      _msgid: typeof _msgid === 'string' && /^m\d/.test(_msgid) ? _msgid : '<new>',
      ...changed,
      ...(topic !== undefined && { topic: isOwnTopic ? '<set>' : topic }),
      ...(payload !== undefined && { payload: withMarkedText(payload) }),
      ...(isRecord(error) && {
        error: this.#named(Object.fromEntries(Object.entries(error).filter(([key]) => !/^(source|stack)$/.test(key)))),
      }),
    };
  }

  /**
   * Only what is not as it came, and the names of the rest.
   * @param within members that are compared member by member
   */
  #changed(now: Message, before: Message, within: readonly string[] = []): { [key: string]: Json } {
    const isKept = (key: string): boolean => key in before && isDeepStrictEqual(now[key], before[key]);
    const kept = Object.keys(now).filter(isKept);
    const lost = Object.keys(before).filter((key) => !(key in now));
    const changed = Object.entries(now).filter(([key]) => !isKept(key));
    return {
      ...(kept.length > 0 && { 'as it came': kept.sort().join(', ') }),
      ...(lost.length > 0 && { lost: lost.sort().join(', ') }),
      ...Object.fromEntries(
        changed.map(([key, value]) => [
          key,
          within.includes(key) && isRecord(value) && isRecord(before[key])
            ? this.#changed(value, before[key])
            : this.#named(value, key),
        ]),
      ),
    };
  }

  #named(value: unknown, key = ''): Json {
    if (typeof value === 'string') return this.text(value);
    if (key === 'elapsedMs' && typeof value === 'number') return `${Math.round(value / 1000)}s`;
    if (Array.isArray(value)) return value.map((one) => this.#named(one));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.#named(inner, name)]));
    return value as Json;
  }

  text(text: string): string {
    const { service, vin, start } = this.#names;
    return text
      .replaceAll(service, '<service>')
      .replaceAll(vin, '<vin>')
      .replace(/(?<=expires=)\d+/, '<time>')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) => {
        const seconds = Math.round((Date.parse(time) - start) / 1000);
        return `T${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}s`;
      })
      .replace(/\b(\d+ [A-Z][a-z]{2}, )?\d\d:\d\d(?=[.)])/g, '<time>')
      .replace(/\b[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\b/g, (id) => {
        const name = this.#ids.get(id) ?? `<id ${this.#ids.size + 1}>`;
        this.#ids.set(id, name);
        return name;
      });
  }
}

/** Messages, each without what the one before it also has. */
export function withoutRepetition(messages: Json | undefined): Json {
  if (!Array.isArray(messages)) return [];
  return messages.map((msg, index) => (index === 0 ? msg : difference(msg, messages[index - 1])));
}

function difference(now: Json, before: Json): Json {
  if (!isRecord(now) || !isRecord(before)) return now;
  const changed = Object.entries(now as { [key: string]: Json })
    .filter(([key, value]) => !isDeepStrictEqual(value, before[key]))
    .map(([key, value]) => [key, difference(value, (before as { [key: string]: Json })[key])] as const);
  const gone = Object.keys(before).filter((key) => !(key in now));
  return { ...Object.fromEntries(changed), ...(gone.length > 0 && { gone: gone.join(', ') }) };
}

/** A sentence for people can change. */
const withMarkedText = (payload: Json): Json =>
  isRecord(payload) && typeof payload['text'] === 'string' && /\S.*[.!?]$/.test(payload['text'])
    ? { ...(payload as { [key: string]: Json }), text: '<sentence>' }
    : payload;

/** A code is a fixed word; which one is the matter of the tests of statuses. */
const codeMark = (code: string): string => (/^[a-z][a-z-]*$/.test(code) ? ' [code]' : ` [not a word: ${code}]`);

/** How many requests of each kind a service got: `POST commands/lock`, `GET requests/…`. */
export function counted(requests: readonly RecordedRequest[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { method, path } of requests) {
    const [, below = path] = /\/vehicles\/[^/]+\/(.+)$/.exec(path) ?? [];
    const kind = `${method} ${below.replace(/^requests\/.*/, 'requests/…').replace(/(?<=\/vehicles\/)[^/]+$/, '<vin>')}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(counts).sort());
}
