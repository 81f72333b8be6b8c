import { isMinutes, say, type } from './common';
import type { GuardOptions } from './options';

const shared = connectedVehicle;

/** Whole minutes; the reason names the field, because the editor also shows it below the node. */
function validateMinutes(label: 'after' | 'repeat', value: string | number | undefined): true | string {
  const validity = shared.validateWhole(value, 0);
  return validity === true || `${say(`label.${label}`)}: ${validity}`;
}

RED.nodes.registerType<GuardOptions>('connected-vehicle-guard', {
  category: 'connected vehicle',
  color: '#90B8BC',
  icon: 'connected-vehicle-guard.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', validate: shared.validateVehicle },
    vin: { value: '', validate: shared.validateTypedVin },
    vinType: { value: 'str' },
    watch: {
      value: ['window', 'sunroof', 'door', 'tailGate', 'hood', 'lock'],
      validate: (value, _opt) => value?.length !== 0 || say('reason.nothing'),
    },
    minutes: { value: 10, validate: shared.validateTyped('minutes', (value) => validateMinutes('after', value)) },
    minutesType: { value: 'num' },
    minutesFor: {
      value: {},
      validate: (value, _opt) => Object.values(value ?? {}).every(isMinutes) || say('reason.minutesFor'),
    },
    repeat: { value: 0, validate: (value, _opt) => validateMinutes('repeat', value) },
    hours: { value: 'always' },
    quietHours: { value: '', validate: shared.validateHours },
    timeZone: { value: '', validate: shared.validateTimeZone },
    onlyWhileNotInUse: { value: false },
    poll: { value: 120, validate: shared.validatePoll },
  },
  inputs: 1,
  outputs: 2,
  inputLabels: () => say('port.input'),
  outputLabels: (index) => say(index === 0 ? 'port.alert' : 'port.clear'),
  paletteLabel: () => say('palette.name'),
  label() {
    const { watch = [...shared.defaultWatch] } = this;
    const kinds = shared.openingKinds.filter((kind) => watch.includes(kind));
    const isShort = kinds.length === watch.length && kinds.length > 0 && kinds.length < 3;
    const text = isShort ? kinds.map((kind) => say(`kind.${kind}`)).join(', ') : say('palette.name');
    return this.name || shared.labelOf(this.vehicle, text);
  },
  labelStyle: shared.labelStyle,
  onpaletteadd: () => shared.addSearchWords(type, say('palette.search')),
  onadd: shared.giveVehicle,
  oneditprepare: shared.openForm(() => import('./dialog')),
  oneditsave: shared.saveForm,
});
