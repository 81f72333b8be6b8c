import type { StateStore } from '../../src/state/state-store';

/**
 * Counts what is written to a store from now on.
 * @param prefix of the keys that count
 */
export function countWrites(store: StateStore, prefix = ''): () => number {
  let writes = 0;
  const write = store.write.bind(store);
  store.write = (key, ...others) => {
    if (key.startsWith(prefix)) writes += 1;
    return write(key, ...others);
  };
  return () => writes;
}
