import { eventNames, eventPolls } from '../../src/index';

/** Reads that a node sends together. */
export interface NodeReads {
  reads: readonly string[];
  /** Seconds between two polls; 0: only on a message. */
  poll: number;
}

/** The reads of a node, by its type. A node of an older flow lacks properties, so they take their defaults. */
const readsByType: Partial<Record<string, (node: FlowNode, poll: number) => NodeReads[]>> = {
  'connected-vehicle-status': ({ read = 'windows', reads = [] }, poll) => [
    { reads: read === 'several' ? reads : [read], poll },
  ],
  'connected-vehicle-command-status': ({ verify = true }) => [{ reads: verify ? ['doors'] : [], poll: 0 }],
  'connected-vehicle-guard': ({ onlyWhileNotInUse = false }, poll) => [
    { reads: ['windows', 'doors', ...(onlyWhileNotInUse ? ['accessibility'] : [])], poll },
  ],
  'connected-vehicle-event': ({ events = [] }, poll) =>
    eventPolls(
      eventNames.filter((name) => events.includes(name)),
      poll,
    ),
};

/** The reads of a node of the flows; empty for one that reads nothing. */
export const readsOfNode = (node: FlowNode): NodeReads[] =>
  readsByType[node.type]?.(node, Number(node.poll ?? 0)) ?? [];
