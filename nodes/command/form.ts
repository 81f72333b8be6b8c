import { say, titleOfCommand, type } from './common';
import type { CommandOptions } from './options';

const shared = connectedVehicle;

RED.nodes.registerType<CommandOptions>('connected-vehicle-command', {
  category: 'connected vehicle',
  color: '#90B8BC',
  icon: 'connected-vehicle-command.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', validate: shared.validateVehicle },
    vin: { value: '', validate: shared.validateTypedVin },
    vinType: { value: 'str' },
    command: { value: 'lock', validate: shared.validateTyped('command', () => true) },
    commandType: { value: 'str' },
    interface: { value: 'auto' },
    unlockDuration: {
      value: '',
      validate: shared.validateTyped(
        'unlockDuration',
        (value) =>
          value === '' ||
          shared.validateWhole(value, shared.unlockDurationLimits.minimum, shared.unlockDurationLimits.maximum),
      ),
    },
    unlockDurationType: { value: 'num' },
    runtimeMinutes: {
      value: '',
      validate: (value, _opt) =>
        value === '' ||
        shared.validateWhole(value, shared.runtimeMinutesLimits.minimum, shared.runtimeMinutesLimits.maximum),
    },
    ampere: {
      value: '',
      validate: shared.validateTyped(
        'ampere',
        (value) =>
          value === '' || shared.validateWhole(value, shared.ampereLimits.minimum, shared.ampereLimits.maximum),
      ),
    },
    ampereType: { value: 'num' },
    schedule: { value: '', validate: shared.validateTyped('schedule', () => true) },
    scheduleType: { value: 'json' },
    precheck: { value: false },
    whenBusy: { value: 'refuse' },
    whenUnavailable: { value: 'fail' },
    deadline: { value: 600, validate: (value, _opt) => shared.validateWhole(value, 1, 86400) },
    waitUnlock: { value: false },
    arming: { value: 0, validate: (value, _opt) => shared.validateWhole(value, 0, 3600) },
  },
  inputs: 1,
  outputs: 1,
  inputLabels: () => say('port.input'),
  outputLabels: () => say('port.output'),
  paletteLabel: () => say('palette.name'),
  label() {
    const isFixed = (this.commandType ?? 'str') === 'str';
    const text = this.command && isFixed ? titleOfCommand(this.command) : say('palette.name');
    return this.name || shared.labelOf(this.vehicle, text);
  },
  labelStyle: shared.labelStyle,
  onpaletteadd: () => shared.addSearchWords(type, say('palette.search')),
  onadd: shared.giveVehicle,
  oneditprepare: shared.openForm(() => import('./dialog')),
  oneditsave: shared.saveForm,
});
