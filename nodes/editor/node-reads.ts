import {
  conditionValue,
  defaultWatch,
  eventNames,
  eventPolls,
  openings,
  openingsNamed,
  partsOf,
  proofReadOf,
} from '../../src/index';

interface NodeReads {
  reads: readonly string[];
  /** Seconds between two polls; 0: only on a message. */
  poll: number;
}

/** The reads by the type of a node. An older node lacks properties, so the defaults apply. */
const readsByType: Partial<Record<string, (node: FlowNode, poll: number) => NodeReads[]>> = {
  'connected-vehicle-status': ({ read = 'windows', readType = 'str', reads = [] }, poll) => [
    { reads: readType !== 'str' ? [] : read === 'several' ? reads : [read], poll },
  ],
  'connected-vehicle-command-status': ({ vehicle, verify = true }) => [
    { reads: verify ? proofReadsOf(vehicle) : [], poll: 0 },
  ],
  'connected-vehicle-guard': ({ watch = defaultWatch, onlyWhileNotInUse = false }, poll) => {
    const reads = new Set<string>(openingsNamed(watch).map((key) => openings[key].read));
    if (onlyWhileNotInUse) reads.add('accessibility');
    return [{ reads: [...reads], poll }];
  },
  'connected-vehicle-event': ({ events = [] }, poll) =>
    eventPolls(
      eventNames.filter((name) => events.includes(name)),
      poll,
    ),
  'connected-vehicle-condition': ({ conditions = [] }, poll) => [
    { reads: conditions.flatMap(({ value = '' }) => conditionValue(value)?.read ?? []), poll },
  ],
};

/** The reads that show the effect of commands. One that only a message names counts as a lock. */
function proofReadsOf(vehicle: string | undefined): string[] {
  const commands = nodesOf(vehicle)
    .filter(({ type }) => type === 'connected-vehicle-command')
    .map((node) => commandOf(node) ?? 'lock');
  return [...new Set((commands.length === 0 ? ['lock'] : commands).flatMap((name) => proofReadOf(name) ?? []))];
}

/** The reads of a node of the flows; empty for one that reads nothing. */
export const readsOfNode = (node: FlowNode): NodeReads[] =>
  (readsByType[node.type]?.(node, Number(node.poll ?? 0)) ?? []).map(({ reads, poll }) => ({
    reads: reads.flatMap((read): readonly string[] => (read === 'inOrder' ? partsOf(read) : [read])),
    poll,
  }));

/** The command that a node sends; undefined if a message names it, or if it sends none. */
export const commandOf = ({ type, command, commandType = 'str' }: FlowNode): string | undefined =>
  type === 'connected-vehicle-command' && commandType === 'str' ? command || undefined : undefined;

/** The nodes, deployed or not. A result node without a vehicle follows the commands of each. */
export function nodesOf(vehicle: string | undefined): FlowNode[] {
  const nodes: FlowNode[] = [];
  const results: FlowNode[] = [];
  RED.nodes.eachNode((node) => {
    if (node.vehicle === vehicle) nodes.push(node);
    else if (node.type === 'connected-vehicle-command-status' && !node.vehicle) results.push({ ...node, vehicle });
  });
  return nodes.some(({ type }) => type === 'connected-vehicle-command') ? [...nodes, ...results] : nodes;
}
