import { callsOfRequests, eventNames, eventPolls, requestOf } from '../../../src/index';
import { serviceInterfaces } from './interfaces';
import { isKnownRead, versionsOf } from './reads';
import { wholeVerdict, type Verdict } from './validators';
import { shared } from './words';

/** The share of its fixed schedule that a read costs in the adaptive profile on an ordinary day: between a fifth and a third. */
const stretched = 1 / 4;

/**
 * How many requests a day the nodes of a vehicle send, deployed or not; with the adaptive profile about, for the car decides.
 * @param edited a node as it stands in an open form, in place of itself
 */
export function callsOf(vehicle: string | undefined, edited?: FlowNode): number {
  const { vin: own, polling, shareFor } = RED.nodes.node(vehicle ?? '') ?? {};
  const interfaces = serviceInterfaces(vehicle);
  // Nothing is shared: each read of each node is a request.
  const alone = String(shareFor) === '0';
  // Without the extended interface, one request answers all resources of a group.
  const request = (read: string, iface?: string): string => {
    if (!isKnownRead(read)) return read;
    return (alone ? read : requestOf(read, interfaces)) + (versionsOf(read) !== null && iface === 'v1' ? ' v1' : '');
  };
  const users: FlowNode[] = edited ? [edited] : [];
  RED.nodes.eachNode((node) => {
    if (node.vehicle === vehicle && node.id !== edited?.id) users.push(node);
  });
  const polled = users.flatMap(
    ({ id, type, vin, read = 'windows', reads = [], events = [], poll = 0, interface: iface, onlyWhileNotInUse }) => {
      const node = { vehicle: alone ? id : vin || own || '', interface: iface };
      if (type.endsWith('-event')) {
        const chosen = eventNames.filter((name) => events.includes(name));
        return eventPolls(chosen, Number(poll)).map((polls) => ({ ...node, ...polls }));
      }
      return {
        ...node,
        reads: type.endsWith('-guard')
          ? ['windows', 'doors', ...(onlyWhileNotInUse ? ['accessibility'] : [])]
          : read === 'several'
            ? reads
            : [read],
        poll: Number(poll),
      };
    },
  );
  // The doors keep watch for the others.
  const saves =
    polling === 'adaptive' && polled.some(({ reads, poll }) => poll > 0 && reads.some((read) => read === 'doors'));
  const shareOf = (read: string): number =>
    saves && !(isKnownRead(read) && requestOf(read, ['connected-v2']) === 'doors') ? stretched : 1;
  return Math.round(callsOfRequests(polled, request).reduce((sum, { read, calls }) => sum + calls * shareOf(read), 0));
}

/** A whole number of seconds, with which the nodes of the vehicle together keep within its quota: the editor asks before it deploys others. */
export function pollVerdict(node: FlowNode, value: string | number | undefined): Verdict {
  const whole = wholeVerdict(value, 0);
  if (whole !== true || !(Number(value) >= 1)) return whole;
  const vehicle = RED.nodes.node(node.vehicle ?? '');
  // A simulated car has no quota.
  if (!vehicle || (vehicle.service ?? 'demo') === 'demo') return true;
  const { requestsPerDay: limit = 10_000 } = vehicle;
  const calls = callsOf(node.vehicle, { ...node, poll: value ?? 0 });
  return !(calls > Number(limit)) || shared('reason.calls', { calls, limit });
}
