/**
 * The functions that the forms share. The build makes `resources/connected-vehicle.js` of it, which defines the global
 * `connectedVehicle`; Node-RED loads that file before the script of each form. The file runs once for each form, so
 * nothing in it may keep state.
 */
export * from './forms';
export * from './hours';
export * from './interfaces';
export * from './places';
export * from './requests-per-day';
export * from './runtime-request';
export * from './search';
export * from './show-values';
export * from './test-now';
export * from './texts';
export * from './typed-inputs';
export * from './validators';
export { checkFindings, clearSecretsForOtherAddress, listOf, validateRedirectUrl } from './vehicle-checks';
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
  isRecord,
  memberOf,
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
} from '../../src/index';
