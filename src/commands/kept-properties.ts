/**
 * Lengths as JSON text, roughly. A message can hold a picture of 40 MB; a flow needs its small
 * properties again, not that.
 */
const maxLength = { property: 4_096, message: 16_384 } as const;

/**
 * The payload is replaced by the record, and the others belong to the connection of a web request.
 */
const dropped = new Set(['payload', 'req', 'res', '__proto__']);

/**
 * The properties of a message that are kept on disk while its command is followed: plain JSON data
 * of at most 4 KB each and 16 KB together. Buffers, dates, functions and cycles are left out with
 * the property that holds them.
 */
export function keptProperties(msg: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  let left: number = maxLength.message;
  for (const name of Object.keys(msg)) {
    if (dropped.has(name)) continue;
    const limit = Math.min(left, maxLength.property);
    try {
      const length = name.length + 3 + jsonLength(msg[name], limit);
      if (length > limit) continue;
      left -= length;
      kept[name] = msg[name];
    } catch {
      // A getter that throws.
    }
  }
  return kept;
}

/**
 * Stops counting past the limit, so a large value costs no more than a small one. Infinity for what
 * JSON cannot hold.
 */
function jsonLength(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value === 'boolean' || value === null) return 5;
  if (typeof value === 'number') return Number.isFinite(value) ? 24 : Infinity;
  if (typeof value !== 'object') return Infinity;
  let length = 2;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && length <= limit; index += 1)
      length += 1 + jsonLength(value[index], limit - length);
    return length;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return Infinity;
  for (const [name, member] of Object.entries(value)) {
    length += name.length + 4 + (member === undefined ? 0 : jsonLength(member, limit - length));
    if (length > limit) break;
  }
  return length;
}
