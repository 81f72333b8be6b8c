import { clock } from './time';

/** Nodes that poll alike start within this time of each other, each at its own moment, so that they do not fire together. */
const firstPollWithinMs = 5_000;

/**
 * Calls back soon after the start and then every `seconds`; 0 never does.
 * @param id of the node: decides its moment
 * @returns ends it
 */
export function startPolling(id: string, seconds: number, callback: () => void): () => void {
  if (!(seconds >= 1)) return () => undefined;
  let cancel = clock().after(fractionOf(id) * Math.min(firstPollWithinMs, seconds * 1000), function poll() {
    cancel = clock().after(seconds * 1000, poll);
    callback();
  });
  return () => cancel();
}

/** An id as a number from 0 to 1, always the same for the same id (FNV-1a). */
function fractionOf(id: string): number {
  let hash = 0x811c9dc5;
  for (const character of id) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
