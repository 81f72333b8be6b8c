/** The key that each map was given last, which is most often the next one, too: then its order stays. */
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
