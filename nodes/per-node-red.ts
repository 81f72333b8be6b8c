import type { NodeAPI } from 'node-red';

type PartOfPack<Part> = new (RED: NodeAPI) => Part;

/**
 * The parts of the pack by Node-RED, as several instances of Node-RED in one process share the
 * modules of the pack. Each node type gets its own `RED`; the emitter of events is the same
 * for all of them.
 */
const packs = new WeakMap<NodeAPI['events'], Map<PartOfPack<unknown>, unknown>>();

/**
 * The object of a class that this Node-RED has: the first call creates it, and it
 * is kept over deploys.
 */
export function partOf<Part>(RED: NodeAPI, type: PartOfPack<Part>): Part {
  const parts = packs.get(RED.events) ?? new Map<PartOfPack<unknown>, unknown>();
  // A key of the map is the class of its value.
  const known = parts.get(type) as Part | undefined;
  if (known !== undefined) return known;
  packs.set(RED.events, parts);
  const part = new type(RED);
  parts.set(type, part);
  return part;
}

/** For tests: the Node-RED ends, and what is loaded next is another process. */
export async function endPack(RED: NodeAPI): Promise<void> {
  const parts = packs.get(RED.events)?.values() ?? [];
  packs.delete(RED.events);
  // Any object may have a member `end`.
  for (const part of parts) await (part as { end?: () => unknown }).end?.();
}
