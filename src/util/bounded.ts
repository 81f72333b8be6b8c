import { hourMs } from './durations';

/** The last key of each map, which is most often also the next one: then its order stays. */
const newestKeys = new WeakMap<object, unknown>();

/**
 * Sets a key as the newest of a map and removes the oldest ones above `max`.
 * @returns the removed keys
 */
export function setNewest<K, V>(map: Map<K, V>, key: K, value: V, max: number): K[] {
  if (newestKeys.get(map) !== key) {
    map.delete(key);
    newestKeys.set(map, key);
  }
  map.set(key, value);
  const removed: K[] = [];
  if (map.size <= max) return removed;
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
