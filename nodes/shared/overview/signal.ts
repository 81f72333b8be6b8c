/** The least time between two signals to the editors. */
const signalEveryMs = 2_000;

let publish: () => void = () => undefined;
let waiting = false;
let pending = false;

/** Sets the function that notifies the editors of a change. */
export const publishWith = (publisher: () => void): void => void (publish = publisher);

/** Tells the editors that there is something new: at once, and then every two seconds at most. */
export function changed(): void {
  pending = true;
  if (waiting) return;
  pending = false;
  waiting = true;
  publish();
  setTimeout(() => {
    waiting = false;
    if (pending) changed();
  }, signalEveryMs).unref();
}
