/**
 * The editor needs this before a form is open: the functions that several forms and the tab “Cars”
 * share, and the tables behind them. The build makes `resources/connected-vehicle.js` of
 * it, which defines the global `connectedVehicle`; Node-RED loads that file before the script of
 * each form. The file runs once for each form, so nothing in it may keep state. What only an open
 * form needs is imported by `nodes/<node>/dialog.ts`, which uses the tables of the global,
 * because they are long.
 */
export {
  addSearchWords,
  configField,
  drawLabels,
  giveVehicle,
  labelOf,
  labelStyle,
  namedPlaces,
  nodeField,
  part,
  textOf,
} from './forms';
export { validateHours, validateTimeZone } from './hours';
export { serviceInterfaces } from './interfaces';
export { loadWords } from './later-words';
export { openForm, saveForm } from './open-form';
export { validatePoll } from './requests-per-day';
export { ask, errorText, unreached } from './runtime-request';
export { editorLanguage, numberText, presetLanguage, sharedText, timeText, wordsOf } from './texts';
export { sources, typeOf, validateTyped, validateTypedVin } from './typed-inputs';
export * from './validators';
export { checkFindings, validateRedirectUrl } from './vehicle-checks';
export {
  ampereLimits,
  conditionValue,
  conditionValues,
  commandNames,
  defaultWatch,
  eventNames,
  faultIn,
  hasPlace,
  isCommandName,
  isReadName,
  isRecord,
  memberOf,
  needsOfCommand,
  needsOfRead,
  partsOf,
  normalVin,
  openingKeyOf,
  openingKinds,
  operatorsOf,
  parseOperand,
  parseScopes,
  readThemes,
  runtimeMinutesLimits,
  shortVin,
  titleOf,
  unlockDurationLimits,
  valueTypeOf,
  vinPattern,
} from '../../src/index';
