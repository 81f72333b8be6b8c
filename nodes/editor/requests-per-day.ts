import { callsPerDay } from '../../src/index';
import { serviceInterfaces } from './interfaces';
import { nodesOf, readsOfNode } from './node-reads';
import { validateWhole, type Validity } from './validators';
import { sharedText } from './texts';

/** The APIs, each of which has its own quota, and the keys of the texts about their requests. */
export const callsTexts = {
  connected: 'calls',
  energy: 'callsEnergy',
  location: 'callsLocation',
  'energy-device': 'callsWallbox',
} as const;
export const apis = ['connected', 'energy', 'location', 'energy-device'] as const;

/**
 * How many requests a day the nodes of a vehicle send to each API, deployed or not; with adaptive
 * polling an estimate.
 * @param edited a node with the values of its open form, which replace the deployed ones
 */
export function callsOf(vehicle: string | undefined, edited?: FlowNode): ReturnType<typeof callsPerDay> {
  const { vin: own, polling, shareFor } = RED.nodes.node(vehicle ?? '') ?? {};
  // Nothing is shared: each read of each node is a request.
  const alone = String(shareFor) === '0';
  const nodes = nodesOf(vehicle).filter(({ id }) => id !== edited?.id);
  if (edited) nodes.push(edited);
  const polled = nodes.flatMap((node) =>
    readsOfNode(node).map((polls) => ({
      ...polls,
      vehicle: alone ? node.id : node.vin || own || '',
      interface: node.interface,
    })),
  );
  return callsPerDay(polled, {
    interfaces: serviceInterfaces(vehicle),
    isShared: !alone,
    isAdaptive: polling === 'adaptive',
  });
}

/** The seconds must keep all nodes of the vehicle within its quota. */
export function validatePoll(this: FlowNode, value: string | number | undefined, _opt: unknown): Validity {
  const whole = validateWhole(value, 0);
  if (whole !== true || !(Number(value) >= 1)) return whole;
  const vehicle = RED.nodes.node(this.vehicle ?? '');
  // A simulated car has no quota.
  if (!vehicle || (vehicle.service ?? 'demo') === 'demo') return true;
  const { requestsPerDay: limit = 10_000 } = vehicle;
  const calls = callsOf(this.vehicle, { ...this, poll: value ?? 0 });
  const api = apis.find((name) => calls[name] > Number(limit));
  return api === undefined || sharedText(`reason.${callsTexts[api]}`, { calls: calls[api], limit });
}
