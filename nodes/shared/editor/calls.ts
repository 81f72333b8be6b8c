import { callsOfRequests } from '../../../src/index';
import { rowOf } from './reads';
import { wholeVerdict, type Verdict } from './validators';
import { shared } from './words';

/**
 * How many requests a day the nodes of a vehicle send, deployed or not. The adaptive profile sends fewer, by how much the car
 * decides, and keeps within the quota by itself.
 * @param edited a node as it stands in an open form, in place of itself
 */
export function callsOf(vehicle: string | undefined, edited?: FlowNode): number {
  const alive = ALIVE[RED.nodes.node(vehicle ?? '')?.service ?? ''] ?? [];
  // Where the extended interface is gone, one request answers all resources of a group.
  const requestOf = (read: string): string => (alive.includes('extended-v1') ? read : (rowOf(read)?.group ?? read));
  const users: FlowNode[] = edited ? [edited] : [];
  RED.nodes.eachNode((node) => {
    if (node.vehicle === vehicle && node.id !== edited?.id) users.push(node);
  });
  const polled = users.map(({ type, vin = '', read = 'windows', reads = [], poll = 0 }) => ({
    vehicle: vin,
    reads: type.endsWith('-guard') ? ['windows', 'doors'] : read === 'several' ? reads : [read],
    poll: Number(poll),
  }));
  return Math.round(callsOfRequests(polled, requestOf).reduce((sum, { calls }) => sum + calls, 0));
}

/** A whole number of seconds, with which the nodes of the vehicle together keep within its quota: the editor asks before it deploys others. */
export function pollVerdict(node: FlowNode, value: string | number | undefined): Verdict {
  const whole = wholeVerdict(value, 0);
  if (whole !== true || !(Number(value) >= 1)) return whole;
  const { polling, requestsPerDay = 10_000 } = RED.nodes.node(node.vehicle ?? '') ?? {};
  const calls = polling === 'adaptive' ? 0 : callsOf(node.vehicle, { ...node, poll: value ?? 0 });
  return !(calls > Number(requestsPerDay)) || shared('reason.calls', { calls, limit: requestsPerDay });
}
