import { hourMs } from './durations';

const none: readonly never[] = [];

/**
 * Sets a key as the newest of a map and removes the oldest ones above `max`. While less than half
 * of `max` is used, a known key keeps its place, because each move costs time and memory: a key
 * that is removed was then not set while the second half filled.
 * @returns the removed keys
 */
export function setNewest<K, V>(map: Map<K, V>, key: K, value: V, max: number): readonly K[] {
  if (map.size >= max / 2) map.delete(key);
  map.set(key, value);
  if (map.size <= max) return none;
  const removed: K[] = [];
  for (const oldest of map.keys()) {
    map.delete(oldest);
    removed.push(oldest);
    if (map.size <= max) break;
  }
  return removed;
}

/**
 * The newest items, in the order of time. One with a time that is still to come, or with none, is
 * from a clock that was wrong, and goes first; two clocks may differ by an hour.
 * @param timeOf in milliseconds since 1970, like `now`
 */
export function newestAt<Item>(
  items: readonly Item[],
  timeOf: (item: Item) => number,
  { now, max }: { now: number; max: number },
): Item[] {
  const rankOf = (item: Item): number => (timeOf(item) <= now + hourMs ? timeOf(item) : -1);
  return items.toSorted((one, other) => rankOf(one) - rankOf(other)).slice(-max);
}
