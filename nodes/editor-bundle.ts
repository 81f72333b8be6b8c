/**
 * The functions that the forms share. The build makes `resources/connected-vehicle.js` of it, which defines the global
 * `connectedVehicle`; Node-RED loads that file before the script of each form. The file runs once for each form, so
 * nothing in it may keep state.
 */
export * from './editor/forms';
export * from './editor/hours';
export * from './editor/interfaces';
export * from './editor/places';
export * from './editor/requests-per-day';
export * from './editor/runtime-request';
export * from './editor/search';
export * from './editor/show-values';
export * from './editor/test-now';
export * from './editor/texts';
export * from './editor/typed-inputs';
export * from './editor/validators';
export { checkFindings, listOf, prepareDialog, validateRedirectUrl } from './vehicle/dialog';
export {
  commandAccess,
  conditionValue,
  conditionValues,
  commandNames,
  defaultAccess,
  defaultWatch,
  eventNames,
  hasPlace,
  interfaceNames,
  isCommandName,
  isReadName,
  needsOfCommand,
  needsOfRead,
  normalVin,
  openingKeyOf,
  openingKinds,
  operatorsOf,
  parseOperand,
  parsePlace,
  parseScopes,
  readAccess,
  readThemes,
  runtimeMinutesLimits,
  shortVin,
  titleOf,
  unlockDurationLimits,
  valueTypeOf,
  vinPattern,
} from '../src/index';
