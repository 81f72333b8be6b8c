/**
 * The functions that the forms share. The build makes `resources/connected-vehicle.js` of it, which defines the global
 * `connectedVehicle`; Node-RED loads that file before the script of each form. The file runs once for each form, so
 * nothing in it may keep state.
 */
export { ask, errorText, ownVin, unreached } from './runtime-request';
export { validatePoll } from './requests-per-day';
export {
  addSearchWords,
  choose,
  chooseVehicle,
  chosenService,
  configField,
  giveVehicle,
  isNotAllowed,
  isReadOnly,
  labelStyle,
  nodeField,
  optionElements,
  part,
  saveProperties,
  showProperties,
  showScopes,
  textOf,
} from './forms';
export { addPlaceFields, textOfPlace } from './places';
export { showHours, validateHours, validateTimeZone } from './hours';
export { showTest } from './test-now';
export { serviceInterfaces, showInterface } from './interfaces';
export { addSearch, matches } from './search';
export { clearAnswer, showAnswer } from './show-values';
export { showTyped, sources, startSources, validateTyped, validateTypedVin, typeOf } from './typed-inputs';
export { checkFindings, listOf, prepareDialog, validateRedirectUrl } from '../vehicle/dialog';
export {
  loadCredentials,
  validateAddress,
  validateCredentials,
  validateVehicle,
  validateVin,
  validateWhole,
  type Validity,
} from './validators';
export { editorLanguage, numberText, sharedText, timeText, wordsOf } from './texts';
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
  openingKeyOf,
  openingKinds,
  operatorsOf,
  parseOperand,
  parsePlace,
  readAccess,
  readThemes,
  runtimeMinutesLimits,
  shortVin,
  titleOf,
  unlockDurationLimits,
  valueTypeOf,
  vinPattern,
} from '../../src/index';
