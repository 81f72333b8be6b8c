import type { CarSummary } from '../runtime/cars';
import type { ShownName } from '../../vehicle/shown-values';
import { readFor } from './car-rows';

const { presetLanguage } = connectedVehicle;

/** The tab adds nodes to the flows, as a person does with the palette. */

function nodeOf(type: string, values: object): object {
  const { defaults } = RED.nodes.getType(type);
  const presets = Object.entries(defaults).map(([name, { value }]) => [name, value]);
  return { ...(structuredClone(Object.fromEntries(presets)) as object), type, ...values };
}

/** A *car status* node in the visible part of the flow, below the nodes that are there. */
function statusNode(values: object): object {
  const [z, chart, scale] = [RED.workspaces.active(), $('#red-ui-workspace-chart'), RED.view.scale()];
  const onGrid = (pixels: number): number => Math.round(pixels / scale / 20) * 20;
  const place = { x: onGrid((chart.scrollLeft() ?? 0) + 200), y: onGrid((chart.scrollTop() ?? 0) + 100) };
  const others: FlowNode[] = [];
  RED.nodes.eachNode((node) => void (node.z === z && others.push(node)));
  const isTaken = ({ x = 0, y = 0 }: FlowNode): boolean => Math.abs(x - place.x) < 220 && Math.abs(y - place.y) <= 40;
  while (others.some(isTaken)) place.y += 20;
  return nodeOf('connected-vehicle-status', { id: RED.nodes.id(), z, ...place, wires: [[]], ...values });
}

/** Can be undone. The editor marks flows as changed only when imported nodes are dragged. */
function addToFlow(nodes: object[]): void {
  RED.view.importNodes(nodes, { touchImport: true, notify: false });
  RED.nodes.dirty(true);
}

/** The key of the reason why nothing can be changed: no flow is shown, or it is locked. */
function whyClosed(): string | null {
  if (!RED.workspaces.active()) return 'use.noFlow';
  return RED.workspaces.isLocked() ? 'use.locked' : null;
}

/**
 * Adds a configuration, and a node that reads the windows: the editor warns of a
 * configuration that no node uses.
 * @returns the key of the reason why nothing was added
 */
export function addCar(service: 'demo' | 'volvo-cars'): string | null {
  const why = whyClosed();
  if (why !== null) return why;
  const vehicle = RED.nodes.id();
  const presets = { id: vehicle, service, language: presetLanguage() };
  addToFlow([nodeOf('connected-vehicle', presets), statusNode({ vehicle, poll: 120 })]);
  if (service !== 'demo') openNew(vehicle);
  return null;
}

/** Opens the form of a new configuration. *Cancel* and *Delete* leave the flow as it was. */
function openNew(vehicle: string): void {
  const [{ history, events }, before] = [RED, RED.history.depth() - 1];
  let isKept = false;
  const keep = (): void => void (isKept = true);
  const end = (): void => {
    events.off('editor:save', keep);
    events.off('editor:close', end);
    if (!isKept) while (history.depth() > before) history.pop();
  };
  events.on('editor:save', keep);
  events.on('editor:close', end);
  openConfiguration(vehicle);
}

/**
 * Adds the node that reads what a line of the list shows.
 * @returns the key of the text about the outcome
 */
export function addNode(car: CarSummary | undefined, name: ShownName): string {
  const vin = car && vinFor(car);
  if (vin === undefined) return 'use.noVin';
  const why = whyClosed();
  if (why !== null) return why;
  addToFlow([statusNode({ vehicle: car?.config, vin, read: readFor(name) })]);
  return 'use.added';
}

/** The browser gets no whole VIN, but a node of the flows may have it as its `vin`. */
export function vinFor({ config, vin, isDefault }: CarSummary): string | undefined {
  if (isDefault) return '';
  let found: string | undefined;
  RED.nodes.eachNode((node) => {
    if (node.vehicle === config && vin !== null && node.vin?.trim().toUpperCase().endsWith(vin.slice(1)))
      found = node.vin;
  });
  return found;
}

/** Opens the form of a configuration, where the user corrects it. */
export const openConfiguration = (id: string): void => RED.editor.editConfig('', 'connected-vehicle', id);
