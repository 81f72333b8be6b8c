import { nodeField as field, saveProperties, showProperties } from '../editor/forms';
import { wordsOf } from '../editor/texts';
import type { CommandStatusOptions } from './options';

const say = wordsOf('connected-vehicle-command-status');

export function prepare(node: EditorNode<CommandStatusOptions>): void {
  showProperties(node, field);
  // Node-RED calls the choice of no vehicle "none", and builds the list again after each
  // change of a configuration.
  const vehicle = field('vehicle');
  vehicle.on('change', () => vehicle.find('[value=_ADD_]:not(:only-child)').text(say('label.ofMessage')));
}

export function save(node: EditorNode<CommandStatusOptions>): void {
  saveProperties(node, field);
}
