import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const folder = resolve(__dirname, '../../../test/transcripts');
const isUpdate = process.env['UPDATE_TRANSCRIPTS'] === '1';

/**
 * Transcripts that a person has read, in a file beside this one. `UPDATE_TRANSCRIPTS=1` writes the
 * file from a run; read its difference before it is committed.
 */
export class StoredTranscripts {
  readonly #path: string;
  readonly #stored: Record<string, unknown>;
  readonly #found: Record<string, unknown> = {};

  constructor(file: string) {
    this.#path = resolve(folder, file);
    this.#stored = existsSync(this.#path)
      ? (JSON.parse(readFileSync(this.#path, 'utf8')) as Record<string, unknown>)
      : {};
  }

  /**
   * @returns what differs, as two texts to compare; two equal ones if nothing does. Differences of
   * a few seconds do not count.
   */
  compare(title: string, found: unknown): { found: string; stored: string } {
    const plain: unknown = JSON.parse(JSON.stringify(found));
    this.#found[title] = plain;
    if (isUpdate) return { found: '', stored: '' };
    const stored = this.#stored[title] ?? null;
    return { found: text(sorted(withTimesOf(plain, stored))), stored: text(sorted(stored)) };
  }

  /** The cases that are stored and were not run. */
  get unused(): string[] {
    return Object.keys(this.#stored).filter((title) => !(title in this.#found));
  }

  /** How many cases were compared. */
  get count(): number {
    return Object.keys(this.#found).length;
  }

  save(): void {
    if (isUpdate) writeFileSync(this.#path, `${text(this.#found)}\n`);
  }
}

/** With the members of each object in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, one]) => [key, sorted(one)]),
  );
}

/**
 * As Prettier writes JSON: what fits into a line is written in one, except
 * lists of several objects.
 */
function text(value: unknown, indentation = '', around = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indentation}  `;
  const isList = Array.isArray(value);
  const members = Object.entries(value).map(([key, one], index, all) => {
    const name = isList ? '' : `${JSON.stringify(key)}: `;
    return name + text(one, inner, name.length + (index < all.length - 1 ? ','.length : 0));
  });
  const [open, close] = isList ? ['[', ']'] : ['{ ', ' }'];
  const line = open + members.join(', ') + close;
  const isShort = indentation.length + around + line.length <= 120 && !line.includes('\n') && !hasSeveralObjects(value);
  if (members.length === 0 || isShort) return members.length === 0 ? `${open}${close}`.replaceAll(' ', '') : line;
  return `${open.trim()}\n${members.map((one) => inner + one).join(',\n')}\n${indentation}${close.trim()}`;
}

const hasSeveralObjects = (value: object): boolean =>
  Array.isArray(value) &&
  value.length > 1 &&
  value.every((one) => typeof one === 'object' && one !== null && Object.keys(one as object).length > 1);

/** The longest time by which a poll may come earlier or later. */
const toleranceS = 6;
const seconds = /(?<=\bT[+-])\d+(?=s\b)|^\d+(?=s$)/g;

/** The first value, with the times of the second if they are about the same. */
function withTimesOf(value: unknown, stored: unknown): unknown {
  if (typeof value === 'string' && typeof stored === 'string') {
    const others = stored.match(seconds) ?? [];
    let index = -1;
    return value.replace(seconds, (own) => {
      const other = others[(index += 1)];
      return other !== undefined && Math.abs(Number(own) - Number(other)) <= toleranceS ? other : own;
    });
  }
  if (Array.isArray(value))
    return value.map((one, index) => withTimesOf(one, Array.isArray(stored) ? stored[index] : undefined));
  if (typeof value !== 'object' || value === null) return value;
  const others = (typeof stored === 'object' ? stored : null) as Record<string, unknown> | null;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withTimesOf(one, others?.[key])]));
}
