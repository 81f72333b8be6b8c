import { nodeField as field, part, saveProperties, textOf } from '../editor/forms';
import { serviceInterfaces, showNeeds } from '../editor/interfaces';
import { ask } from '../editor/runtime-request';
import { prepareNode, showTyped, sources } from '../editor/typed-inputs';
import { say, titleOfCommand } from './common';
import type { CommandOptions } from './options';

const { commandNames, isCommandName, needsOfCommand, unlockDurationLimits } = connectedVehicle;

/**
 * A command of the list, any other name, or a source. The message is a source of its own name,
 * because a stored empty command means `msg.command`.
 */
const typesOf = (listed: readonly string[]) =>
  [
    {
      value: 'str',
      label: say('choose'),
      icon: 'fa fa-bolt',
      options: [...commandNames, ...listed].map((value) => ({ value, label: titleOfCommand(value) })),
    },
    { value: 'other', label: say('other'), icon: 'fa fa-pencil' },
    { value: 'message', label: say('fromMessage'), hasValue: false },
    ...sources,
  ] as const;

/** Offers what the vehicle's own list has besides the known commands. */
function offerListed(): void {
  const vehicle = textOf(field('vehicle'));
  if (!RED.nodes.node(vehicle)) return;
  ask<{ commands: string[] }>(vehicle, 'commands', { vin: '' }, ({ commands: listed = [] }) => {
    const more = listed.filter((name) => !isCommandName(name));
    if (more.length > 0) field('command').typedInput('types', typesOf(more));
  });
}

const nameOf = (): string => (/^(str|other)$/.test(textOf(field('commandType'))) ? textOf(field('command')) : '');

/** Shows what the command does, what it needs, and which interface has it. */
function showCommand(): void {
  const name = nameOf();
  const interfaces = serviceInterfaces();
  const isUnlock = name === 'unlock';
  const isOpen = name === '' || !isCommandName(name);
  const takesDuration = interfaces.includes('connected-v1');
  const waits = textOf(field('whenUnavailable')) === 'wait' || textOf(field('whenBusy')) === 'queue';
  part('unlock').toggle(isUnlock && takesDuration);
  part('runtime').toggle(name === 'engine-start');
  part('ampere').toggle(name === 'wallbox-limit');
  part('schedule').toggle(name === 'wallbox-schedule');
  part('arm').toggle(isUnlock || name === 'engine-start' || isOpen);
  part('wait').toggle(waits);
  part('does').text(say(`does.${name === '' ? 'message' : isCommandName(name) ? name : 'other'}`));
  part('duration').text(say('duration', unlockDurationLimits));
  const needs = isCommandName(name) ? [{ title: titleOfCommand(name), ...needsOfCommand(name, interfaces) }] : [];
  const isForCar = needs[0]?.access !== 'wallbox';
  field('whenUnavailable').add(field('precheck')).closest('.form-row').toggle(isForCar);
  showNeeds(needs);
  if (RED.nodes.node(textOf(field('vehicle')))?.readOnly === true) part('access').text(say('readOnly'));
}

/**
 * Only version 1 accepts a duration, so entering one chooses it. The editor reports a change also
 * when it opens a form.
 */
function chooseVersion(before: string): void {
  const entered = textOf(field('unlockDuration'));
  if (entered === '' || entered === before || textOf(field('interface')) !== 'auto') return;
  field('interface').val('v1').trigger('change');
}

export function prepare(node: EditorNode<CommandOptions>): void {
  // A flow that names no command takes it from the message; only a new node locks.
  const { command = '', commandType = 'str' } = node;
  prepareNode(node);
  if (node.command === undefined) field('command').val('').data('shown-default', '');
  const source = command === '' ? 'message' : isCommandName(command) ? 'str' : 'other';
  showTyped({ ...node, commandType: commandType === 'str' ? source : commandType }, 'command', typesOf([]));
  showTyped(node, 'unlockDuration', ['num', ...sources]);
  showTyped(node, 'ampere', ['num', ...sources]);
  showTyped(node, 'schedule', ['json', ...sources]);
  for (const name of ['vehicle', 'command', 'interface', 'whenUnavailable', 'whenBusy'])
    field(name).on('change', showCommand);
  field('vehicle').on('change', offerListed);
  const duration = textOf(field('unlockDuration'));
  field('unlockDuration').on('change', () => chooseVersion(duration));
  offerListed();
  showCommand();
}

export function save(node: EditorNode<CommandOptions>): void {
  const chosen = textOf(field('commandType'));
  if (chosen === 'message') field('command').val('');
  if (chosen === 'message' || chosen === 'other') field('commandType').val('str');
  saveProperties(node, field);
}
