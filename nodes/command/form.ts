import type { CommandOptions } from './options';

const { isCommandName, nodeField: field, part, sharedText, textOf, wordsOf, ...shared } = connectedVehicle;

const type = 'connected-vehicle-command';
const say = wordsOf(type);

const titleOfCommand = (name: string): string => sharedText(`command.${name}`, { defaultValue: shared.titleOf(name) });

/** A command of the list, any other name, or a source. The message is a source of its own name, because a stored empty command means `msg.command`. */
const typesOf = (listed: readonly string[]) =>
  [
    {
      value: 'str',
      label: say('choose'),
      icon: 'fa fa-bolt',
      options: [...shared.commandNames, ...listed].map((value) => ({ value, label: titleOfCommand(value) })),
    },
    { value: 'other', label: say('other'), icon: 'fa fa-pencil' },
    { value: 'message', label: say('fromMessage'), hasValue: false },
    ...shared.sources,
  ] as const;

/** Offers what the vehicle's own list has besides the known commands. */
function offerListed(): void {
  const vehicle = textOf(field('vehicle'));
  if (!RED.nodes.node(vehicle)) return;
  shared.ask<{ commands: string[] }>(vehicle, 'commands', { vin: '' }, ({ commands: listed = [] }) => {
    const more = listed.filter((name) => !isCommandName(name));
    if (more.length > 0) field('command').typedInput('types', typesOf(more));
  });
}

/** The name of the command, where it is fixed. */
const nameOf = (): string => (/^(str|other)$/.test(textOf(field('commandType'))) ? textOf(field('command')) : '');

/** Says what the command does, what it needs, and which interface has it. */
function showCommand(): void {
  const name = nameOf();
  const interfaces = shared.serviceInterfaces();
  const isUnlock = name === 'unlock';
  const isOpen = name === '' || !isCommandName(name);
  const takesDuration = interfaces.includes('connected-v1');
  const waits = textOf(field('whenUnavailable')) === 'wait' || textOf(field('whenBusy')) === 'queue';
  part('unlock').toggle(isUnlock && takesDuration);
  part('runtime').toggle(name === 'engine-start');
  part('arm').toggle(isUnlock || name === 'engine-start' || isOpen);
  part('wait').toggle(waits);
  part('does').text(say(`does.${name === '' ? 'message' : isCommandName(name) ? name : 'other'}`));
  part('duration').text(say('duration', shared.unlockDurationLimits));
  const needs = isCommandName(name)
    ? [{ title: titleOfCommand(name), ...shared.needsOfCommand(name, interfaces) }]
    : [];
  shared.showNeeds(needs);
  if (RED.nodes.node(textOf(field('vehicle')))?.readOnly === true) part('access').text(say('readOnly'));
}

/** Only version 1 takes a duration, so entering one chooses it. The editor reports a change also when it opens a form. */
function chooseVersion(before: string): void {
  const entered = textOf(field('unlockDuration'));
  if (entered === '' || entered === before || textOf(field('interface')) !== 'auto') return;
  field('interface').val('v1').trigger('change');
}

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
  oneditprepare() {
    // A flow that names no command takes it from the message; only a new node locks.
    const { command = '', commandType = 'str' } = this;
    shared.prepareNode(this);
    if (this.command === undefined) field('command').val('').data('shown-default', '');
    const source = command === '' ? 'message' : isCommandName(command) ? 'str' : 'other';
    shared.showTyped({ ...this, commandType: commandType === 'str' ? source : commandType }, 'command', typesOf([]));
    shared.showTyped(this, 'unlockDuration', ['num', ...shared.sources]);
    for (const name of ['vehicle', 'command', 'interface', 'whenUnavailable', 'whenBusy'])
      field(name).on('change', showCommand);
    field('vehicle').on('change', offerListed);
    const duration = textOf(field('unlockDuration'));
    field('unlockDuration').on('change', () => chooseVersion(duration));
    offerListed();
    showCommand();
  },
  oneditsave() {
    const chosen = textOf(field('commandType'));
    if (chosen === 'message') field('command').val('');
    if (chosen === 'message' || chosen === 'other') field('commandType').val('str');
    shared.saveProperties(this, field);
  },
});
