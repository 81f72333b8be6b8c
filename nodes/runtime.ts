/**
 * Everything that the nodes run, with the library and its dependencies: the build bundles it into
 * one file (scripts/build.mjs), so that each module and its state exist once. In the package, only
 * register.ts loads it; tests and benchmarks also import it.
 */
import type { Node, NodeAPI, NodeDef } from 'node-red';
import { FlowNode } from './node-red/flow-node';
import { connectedVehicle } from './vehicle/runtime';
import { connectedVehicleCommand } from './command/runtime';
import { connectedVehicleCommandStatus } from './result/runtime';
import { connectedVehicleCondition } from './condition/runtime';
import { connectedVehicleEvent } from './event/runtime';
import { connectedVehicleGuard } from './guard/runtime';
import { connectedVehicleStatus } from './status/runtime';

const nodeTypes = {
  'connected-vehicle': connectedVehicle,
  'connected-vehicle-status': connectedVehicleStatus,
  'connected-vehicle-command': connectedVehicleCommand,
  'connected-vehicle-command-status': connectedVehicleCommandStatus,
  'connected-vehicle-guard': connectedVehicleGuard,
  'connected-vehicle-event': connectedVehicleEvent,
  'connected-vehicle-condition': connectedVehicleCondition,
};

export function startNode(RED: NodeAPI, node: Node, type: keyof typeof nodeTypes, config: NodeDef): void {
  nodeTypes[type](new FlowNode(RED, node, config));
}
export { editorRoutes } from './admin';

// For the tests and benchmarks, which cannot import a bundled module by its own path.
export { openAccount, Pack, pastedToken, resolveService } from '../src/index';
export { commandOptions } from './command/options';
export { commandStatusOptions } from './result/options';
export { conditionOptions } from './condition/options';
export { eventOptions } from './event/options';
export { guardOptions } from './guard/options';
export { parseOptions } from './node-red/options';
export { statusOptions } from './status/options';
export { vehicleCredentials, vehicleOptions } from './vehicle/options';
export { wordsOf } from './node-red/i18n';
export { useClock } from './node-red/time';
export { Overview } from './vehicle/overview';
export { expiryNote } from './node-red/flow-node';
export { describeReading } from './node-red/reading-text';
export { demoService } from './vehicle/demo-car';
export { redactor } from './node-red/redaction';
export { editorsOf } from './node-red/editors';
export { endNodeRed } from './per-node-red';
export { chooseSharedStore } from './node-red/shared-store';
export { storeSecrets } from './node-red/store-secret';
export { Deploys } from './node-red/deploys';
export { sendOnce } from './node-red/send-once';
