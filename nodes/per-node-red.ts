import type { NodeAPI } from 'node-red';

type ClassOf<Made> = new (RED: NodeAPI) => Made;

/**
 * The objects of each Node-RED by their classes, as several instances of Node-RED in one process
 * share the modules of the pack. Each node type gets its own `RED`; the emitter of events is the
 * same for all of them.
 */
const objects = new WeakMap<NodeAPI['events'], Map<ClassOf<unknown>, unknown>>();

/**
 * The object of a class that this Node-RED has: the first call creates it, and it
 * is kept over deploys.
 */
export function perNodeRed<Found>(RED: NodeAPI, type: ClassOf<Found>): Found {
  const own = objects.get(RED.events) ?? new Map<ClassOf<unknown>, unknown>();
  // A key of the map is the class of its value.
  const known = own.get(type) as Found | undefined;
  if (known !== undefined) return known;
  objects.set(RED.events, own);
  const made = new type(RED);
  own.set(type, made);
  return made;
}

/** For tests: the Node-RED ends, and what is loaded next is another process. */
export async function endNodeRed(RED: NodeAPI): Promise<void> {
  const own = objects.get(RED.events)?.values() ?? [];
  objects.delete(RED.events);
  // Any object may have a member `end`.
  for (const one of own) await (one as { end?: () => unknown }).end?.();
}
