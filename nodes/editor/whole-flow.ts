import { normalVin } from '../../src/index';

interface CarChange {
  node: FlowNode;
  changes: { vehicle?: string; vin?: string; env?: FlowNode['env'] };
}

/**
 * The nodes of the open flow, or of the open subflow, that use another car than this one, and what
 * to change for each. A result node without a car follows the commands, and a node that takes its
 * car from the environment follows the instances of its subflow.
 * @param vin of the nodes; empty: that of the configuration
 */
export function carChanges(vehicle: string, vin = ''): CarChange[] {
  const flow = RED.workspaces.active();
  const car = RED.nodes.node(vehicle);
  if (!flow || (car?.z && car.z !== flow)) return [];
  const found: CarChange[] = [];
  RED.nodes.eachNode((node) => {
    if (node.z !== flow) return;
    if (node.type.startsWith('connected-vehicle-')) {
      const { type, vehicle: used = '', vinType = 'str', vin: own } = node;
      if (used.startsWith('${') || (used === '' && type === 'connected-vehicle-command-status')) return;
      const isOwn = vinType === 'str' && ![normalVin(vin), normalVin(vin || car?.vin)].includes(normalVin(own));
      if (used !== vehicle || isOwn) found.push({ node, changes: { vehicle, ...(isOwn && { vin }) } });
    } else {
      const isOther = ({ type, value }: { type: string; value: string }): boolean =>
        type === 'conf-type' && value !== vehicle && RED.nodes.node(value)?.type === 'connected-vehicle';
      const { env } = node;
      if (env?.some(isOther))
        found.push({ node, changes: { env: env.map((one) => (isOther(one) ? { ...one, value: vehicle } : one)) } });
    }
  });
  return found;
}

/**
 * Sets this car in all nodes of the open flow, in one step that can be undone.
 * @returns how many got it; null in a locked flow
 */
export function useCar(vehicle: string, vin?: string): number | null {
  if (RED.workspaces.isLocked()) return null;
  const found = carChanges(vehicle, vin);
  if (found.length === 0) return 0;
  const { history, nodes } = RED;
  const wasDirty = nodes.dirty();
  const before: { id: string; changed?: boolean }[] = [];
  nodes.eachNode(({ id, type, changed = false }) => {
    if (type === `subflow:${RED.workspaces.active()}`) before.push({ id, changed });
  });
  const events = found.map(({ node, changes }) => ({ t: 'edit', node, changes, changed: true, dirty: true }));
  const [first] = events;
  const instances = before.map(({ id }) => ({ id, changed: true }));
  if (first && instances.length > 0) Object.assign(first, { subflow: { instances } });
  // The editor changes nodes with all that depends on them when it undoes something. What it then
  // offers to redo is the way back.
  history.push({ t: 'multi', events, dirty: true });
  history.pop();
  const back = history.listRedo().pop();
  if (back === undefined) return 0;
  for (const event of back.events ?? []) if (event.subflow) event.subflow.instances = before;
  history.push({ ...back, dirty: wasDirty });
  return found.length;
}
