/** How far a promise is, for a test that must not wait for it. */
export interface Watched {
  done: boolean;
  error: unknown;
}

/**
 * Both members change a moment after the promise is settled; `error` stays null if it is fulfilled.
 */
export function watched(promise: Promise<unknown>): Watched {
  const seen: Watched = { done: false, error: null };
  promise.then(
    () => (seen.done = true),
    (error: unknown) => Object.assign(seen, { done: true, error }),
  );
  return seen;
}
