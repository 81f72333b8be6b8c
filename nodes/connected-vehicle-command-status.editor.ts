import type { CommandStatusOptions } from './shared/options';
import { labelStyle, nodeField as field, saveNumbers, showDefaults } from './shared/editor/forms';
import { wholeVerdict } from './shared/editor/validators';
import { wordsOf } from './shared/editor/words';

const say = wordsOf('connected-vehicle-command-status');

RED.nodes.registerType<CommandStatusOptions>('connected-vehicle-command-status', {
  category: 'connected vehicle',
  color: '#90B8BC',
  icon: 'connected-vehicle-command-status.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', required: true, label: say('label.vehicle') },
    timeout: { value: 180, validate: (value, _opt) => wholeVerdict(value, 1) },
    interval: { value: 5, validate: (value, _opt) => wholeVerdict(value, 1) },
    verify: { value: true },
  },
  inputs: 1,
  outputs: 2,
  inputLabels: () => say('port.input'),
  outputLabels: (index) => say(index === 0 ? 'port.verdict' : 'port.changes'),
  paletteLabel: () => say('palette'),
  label() {
    return this.name || say('palette');
  },
  labelStyle() {
    return labelStyle(this);
  },
  oneditprepare() {
    showDefaults(this, field);
  },
  oneditsave() {
    saveNumbers(this, ['timeout', 'interval'], field);
  },
});
