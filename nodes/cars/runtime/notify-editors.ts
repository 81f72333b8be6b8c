/** The least time between two signals to the editors. */
const signalEveryMs = 2_000;

/** Several instances of Node-RED in one process share the modules of the pack. */
const publishers = new Map<object, () => void>();
let waiting = false;
let pending = false;

/** Sets the function that notifies the editors of one Node-RED of a change. @param runtime the same object at each call for this Node-RED */
export const publishWith = (runtime: object, publisher: () => void): void => void publishers.set(runtime, publisher);

/** Tells the editors that there is something new: at once, and then every two seconds at most. */
export function notifyEditors(): void {
  pending = true;
  if (waiting) return;
  pending = false;
  waiting = true;
  for (const publish of publishers.values()) publish();
  setTimeout(() => {
    waiting = false;
    if (pending) notifyEditors();
  }, signalEveryMs).unref();
}
