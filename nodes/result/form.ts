import type { CommandStatusOptions } from './options';

const { wordsOf, ...shared } = connectedVehicle;

const type = 'connected-vehicle-command-status';
const say = wordsOf(type);

RED.nodes.registerType<CommandStatusOptions>('connected-vehicle-command-status', {
  category: 'connected vehicle',
  color: '#90B8BC',
  icon: 'connected-vehicle-command-status.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', validate: shared.validateVehicle },
    timeout: { value: 180, validate: (value, _opt) => shared.validateWhole(value, 1) },
    interval: { value: 5, validate: (value, _opt) => shared.validateWhole(value, 1) },
    verify: { value: true },
  },
  inputs: 1,
  outputs: 2,
  inputLabels: () => say('port.input'),
  outputLabels: (index) => say(index === 0 ? 'port.verdict' : 'port.changes'),
  paletteLabel: () => say('palette.name'),
  label() {
    return this.name || shared.labelOf(this.vehicle, say('palette.name'));
  },
  labelStyle: shared.labelStyle,
  onpaletteadd: () => shared.addSearchWords(type, say('palette.search')),
  oneditprepare: shared.openForm(() => import('./dialog')),
  oneditsave: shared.saveForm,
});
