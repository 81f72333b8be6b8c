import {
  commandOptions,
  commandStatusOptions,
  conditionOptions,
  eventOptions,
  guardOptions,
  statusOptions,
  vehicleOptions,
} from '../../nodes/runtime';

/** The options of each node, by its type. */
export const nodeOptions = {
  'connected-vehicle': vehicleOptions,
  'connected-vehicle-status': statusOptions,
  'connected-vehicle-command': commandOptions,
  'connected-vehicle-command-status': commandStatusOptions,
  'connected-vehicle-guard': guardOptions,
  'connected-vehicle-event': eventOptions,
  'connected-vehicle-condition': conditionOptions,
} as const;
