/**
 * The functions that the forms share. The build makes `resources/connected-vehicle.js` of it, which defines the global
 * `connectedVehicle`; Node-RED loads that file before the script of each form. The file runs once for each form, so
 * nothing in it may keep state.
 */
export { validateAddress } from './addresses';
export { ask, unreached } from './runtime-request';
export { validatePoll } from './requests-per-day';
export {
  chooseVehicle,
  chosenService,
  configField,
  giveVehicle,
  isNotAllowed,
  labelStyle,
  nodeField,
  optionElements,
  part,
  saveProperties,
  showProperties,
  showScopes,
  textOf,
} from './forms';
export { serviceInterfaces, showInterface } from './interfaces';
export { editorLanguage, numberText, timeText } from './local-format';
export { addSearchWords } from './palette';
export { clearAnswer, showAnswer } from './show-values';
export { showTyped, sources, startSources, validateTyped, typeOf } from './typed-inputs';
export { errorText } from './error-text';
export { checkFindings, listOf, prepareDialog, validateRedirectUrl } from '../vehicle/dialog';
export { validateVin, validateWhole, type Validity } from './validators';
export { sharedText, wordsOf } from './texts';
export {
  accessNames,
  commandNames,
  defaultAccess,
  defaultWatch,
  eventNames,
  interfaceNames,
  isCommandName,
  isReadName,
  needsOfCommand,
  needsOfRead,
  openingKinds,
  readThemes,
  shortVin,
  titleOf,
  unlockDurationLimits,
  valueTypeOf,
  vinPattern,
} from '../../src/index';
