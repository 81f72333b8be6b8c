/** An object that is not an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An own member of an object; undefined for anything else. */
export const memberOf = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** An object with a value for each name. */
export const byName = <Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value,
): Record<Name, Value> =>
  // `fromEntries` forgets the names.
  Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;

/**
 * Returns undefined if the text is not JSON. Content types lie, so whether an answer is JSON shows
 * only here (docs/internals/vendor-api.md 1.11).
 */
export function parseJson(text: string): unknown {
  try {
    // Some servers begin with a byte order mark.
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as unknown;
  } catch {
    return undefined;
  }
}

/** Whether a form or a message has no value. */
export const isEmpty = (input: unknown): input is undefined | null | '' =>
  input === undefined || input === null || input === '';

/** A deep copy of JSON. It shares the texts, which the copy of `structuredClone` does not. */
export function copyOfJson<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(copyOfJson) as Value; // An array, too.
  if (!isRecord(value)) return value;
  const copy: Record<string, unknown> = { ...value };
  for (const [name, member] of Object.entries(copy)) if (typeof member === 'object') copy[name] = copyOfJson(member);
  return copy as Value; // Has the same members.
}

/** The items of an array; none of anything else. */
export const itemsIn = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

/** A text that is not empty; null for anything else. */
export const textIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
