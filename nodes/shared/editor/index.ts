/**
 * The functions that the forms share. The build makes `resources/connected-vehicle.js` of it, which defines the global
 * `connectedVehicle`; Node-RED loads that file before the script of each form. The file runs once for each form, so
 * nothing in it may keep state.
 */
export { addressVerdict } from './addresses';
export { ask } from './ask';
export { callsOf, pollVerdict } from './calls';
export {
  chooseVehicle,
  chosenService,
  configField,
  giveVehicle,
  isNotAllowed,
  labelStyle,
  nodeField,
  options,
  part,
  saveProperties,
  showProperties,
  showScopes,
  textOf,
} from './forms';
export { serviceInterfaces, showInterface, type Served } from './interfaces';
export { isKnownRead, readThemes, valueTypeOf, versionsOf } from './reads';
export { addSearchWords } from './palette';
export { showAnswer } from './answer';
export { showTyped, sources, typedVerdict, typeOf } from './typed-inputs';
export { complaint } from './complaint';
export { checkFindings, listOf, prepareDialog } from './vehicle-dialog';
export { vinVerdict, wholeVerdict, type Verdict } from './validators';
export { shared, wordsOf } from './words';
export {
  accessNames,
  accessOfCommand,
  accessOfRead,
  commandNames,
  commands,
  defaultAccess,
  defaultWatch,
  eventNames,
  interfaceNames,
  isCommandName,
  openingKinds,
  scopesOfCommand,
  scopesOfRead,
  shortVin,
  titleOf,
  unlockDurationLimits,
  vinPattern,
} from '../../../src/index';
