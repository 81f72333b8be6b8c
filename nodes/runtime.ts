/**
 * Everything that the nodes run, with the library and its dependencies: the build bundles it into one file (scripts/build.mjs), so
 * that each module and its state exist once. In the package, only shared/on-demand.ts
 * loads it; tests and benchmarks import it, too.
 */
import { connectedVehicle } from './connected-vehicle.runtime';
import { connectedVehicleCommand } from './connected-vehicle-command.runtime';
import { connectedVehicleCommandStatus } from './connected-vehicle-command-status.runtime';
import { connectedVehicleEvent } from './connected-vehicle-event.runtime';
import { connectedVehicleGuard } from './connected-vehicle-guard.runtime';
import { connectedVehicleStatus } from './connected-vehicle-status.runtime';

export const nodeTypes = {
  'connected-vehicle': connectedVehicle,
  'connected-vehicle-status': connectedVehicleStatus,
  'connected-vehicle-command': connectedVehicleCommand,
  'connected-vehicle-command-status': connectedVehicleCommandStatus,
  'connected-vehicle-guard': connectedVehicleGuard,
  'connected-vehicle-event': connectedVehicleEvent,
};
export { editorRoutes } from './shared/admin';

// For the tests and benchmarks, which cannot import a bundled module by its own path.
export { openAccount, pastedToken, resolveService } from '../src/index';
export {
  commandOptions,
  commandStatusOptions,
  eventOptions,
  guardOptions,
  parseOptions,
  statusOptions,
  vehicleCredentials,
  vehicleOptions,
} from './shared/input/options';
export { languageOf, translate } from './shared/node-red/i18n';
export { sentenceIn } from './shared/node-red/sentences';
export { useClock } from './shared/node-red/time';
export { Overview } from './shared/cars-tab/runtime/overview';
export { notifyEditors, publishWith } from './shared/cars-tab/runtime/notify-editors';
export { expiryNote } from './shared/status/expiry-note';
export { describeReading } from './shared/status/reading-text';
export { demoService, endDemoService } from './shared/vehicle/demo-car';
export { redactor } from './shared/vehicle/redaction';
export { storeSecrets } from './shared/vehicle/store-secret';
