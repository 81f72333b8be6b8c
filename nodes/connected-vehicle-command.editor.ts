import type { Command, CommandName } from '../src/index';
import type { CommandOptions } from './shared/input/options';
import type { Versions } from './shared/editor/interfaces';

const {
  ask,
  commandNames,
  commands,
  isCommandName,
  labelStyle,
  nodeField: field,
  options,
  part,
  saveProperties,
  scopesOfCommand,
  serviceInterfaces,
  shared,
  showInterface,
  showProperties,
  showScopes,
  textOf,
  titleOf,
  unlockDurationLimits,
  vinVerdict,
  wholeVerdict,
  wordsOf,
} = connectedVehicle;

const say = wordsOf('connected-vehicle-command');
const choice = (): JQuery => $('#connected-vehicle-command-choice');

/** In the dropdown: any other name that the vehicle's own command list gives (contract 4). No command is called so. */
const other = '*';

const titleOfCommand = (name: string): string => shared(`command.${name}`, { defaultValue: titleOf(name) });

/** The versions of the connected interface that have a command. */
function versionsOf(name: CommandName): Versions {
  const { routes }: Command = commands[name];
  const v2 = routes['connected-v2'];
  return { v1: 'connected-v1' in routes, v2: v2 !== undefined, v2Unlisted: v2?.unlisted === true };
}

function fillDropdown(command: string): void {
  const known = commandNames.map((value) => ({ value, text: titleOfCommand(value) }));
  choice()
    .append(options([...known, { value: other, text: say('other') }, { value: '', text: say('fromMessage') }]))
    .val(command === '' || isCommandName(command) ? command : other);
}

/** The dropdown writes into the command's own field, which is what the editor saves. */
function takeChoice(): void {
  const chosen = textOf(choice());
  field('command')
    .val(chosen === other ? '' : chosen)
    .trigger('change');
}

/** Offers what the vehicle's own list has beside the known commands. */
function offerListed(): void {
  const vehicle = textOf(field('vehicle'));
  if (RED.nodes.node(vehicle) === null) return;
  ask<{ commands: string[] }>(vehicle, 'commands', { vin: textOf(field('vin')) }, ({ commands: listed = [] }) => {
    const more = listed.filter((name) => !isCommandName(name) && choice().find(`[value="${name}"]`).length === 0);
    choice()
      .find(`[value="${other}"]`)
      .before(options(more.map((value) => ({ value, text: titleOfCommand(value) }))));
  });
}

/** Says what the command does, what it needs, and which interface has it. */
function showCommand(): void {
  const name = textOf(field('command'));
  const chosen = textOf(choice());
  const selected = textOf(field('interface'));
  part('other').toggle(chosen === other);
  part('unlock').toggle(name === 'unlock');
  part('runtime').toggle(name === 'engine-start');
  part('arm').toggle(name === 'unlock' || chosen === '' || chosen === other);
  part('wait').toggle(textOf(field('whenUnavailable')) === 'wait' || textOf(field('whenBusy')) === 'queue');
  part('does').text(say(`does.${chosen === '' ? 'message' : isCommandName(chosen) ? chosen : 'other'}`));
  part('duration').text(say(selected === 'v1' ? 'duration' : 'durationElse', unlockDurationLimits));
  showScopes(part('scopes'), isCommandName(name) ? ['openid', ...scopesOfCommand(name, serviceInterfaces())] : []);
  showInterface(isCommandName(name) ? [{ title: titleOfCommand(name), versions: versionsOf(name) }] : [], selected);
}

RED.nodes.registerType<CommandOptions>('connected-vehicle-command', {
  category: 'connected vehicle',
  color: '#90B8BC',
  icon: 'connected-vehicle-command.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', required: true, label: shared('label.vehicle') },
    vin: { value: '', validate: (value, _opt) => vinVerdict(value) },
    command: { value: '' },
    interface: { value: 'auto' },
    unlockDuration: {
      value: '',
      validate: (value, _opt) =>
        value === '' || wholeVerdict(value, unlockDurationLimits.minimum, unlockDurationLimits.maximum),
    },
    runtimeMinutes: {
      value: '',
      validate: (value, _opt) => value === '' || wholeVerdict(value, 1, 15),
    },
    precheck: { value: false },
    whenBusy: { value: 'refuse' },
    whenUnavailable: { value: 'fail' },
    deadline: { value: 600, validate: (value, _opt) => wholeVerdict(value, 1, 86400) },
    waitUnlock: { value: false },
    arming: { value: 0, validate: (value, _opt) => wholeVerdict(value, 0, 3600) },
  },
  inputs: 1,
  outputs: 1,
  inputLabels: () => say('port.input'),
  outputLabels: () => say('port.output'),
  paletteLabel: () => say('palette'),
  label() {
    return this.name || (this.command ? titleOfCommand(this.command) : say('palette'));
  },
  labelStyle() {
    return labelStyle(this);
  },
  oneditprepare() {
    showProperties(this, field);
    fillDropdown(this.command ?? '');
    choice().on('change', takeChoice);
    field('vehicle').on('change', offerListed);
    field('vehicle')
      .add(field('command'))
      .add(field('interface'))
      .add(field('whenUnavailable'))
      .add(field('whenBusy'))
      .on('change', showCommand);
  },
  oneditsave() {
    saveProperties(this, field);
  },
});
