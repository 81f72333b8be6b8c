import { unitOf as unitOfSystem } from '../../src/index';
import { choiceLine, chosenIn, nodeField as field, part, saveProperties, textOf } from '../editor/forms';
import { serviceInterfaces, showNeeds } from '../editor/interfaces';
import { ask, ownVin, waitsForDeploy } from '../editor/runtime-request';
import { addSearch } from '../editor/search';
import { clearAnswer, showAnswer } from '../editor/show-values';
import answerStyles from '../editor/show-values.css';
import { addStyles } from '../editor/styles';
import { unitsOfVehicle } from '../editor/units';
import { prepareNode, showTyped, sources } from '../editor/typed-inputs';
import { isFromList, isSeveral, say, titleOfRead } from './common';
import type { StatusOptions } from './options';

const { isReadName, needsOfRead, partsOf, readThemes, valueTypeOf } = connectedVehicle;

addStyles(answerStyles);

/** In the units of the chosen vehicle. */
function unitOf(name: string): string {
  const type = valueTypeOf(name);
  const unit = type && 'unit' in type ? unitOfSystem(unitsOfVehicle(), type.unit) : '';
  return unit && say(`unit.${unit}`, { count: 2, defaultValue: unit });
}

/** As many values as a person reads in a form; the reference lists all of them. */
const someOf = (values: readonly string[]): readonly string[] =>
  values.length > 8 ? [...values.slice(0, 6), '…'] : values;

/** One sentence on the answer of a read. */
function givesOf(name: string): string {
  const type = valueTypeOf(name);
  const unit = unitOf(name);
  const own = say(`gives.${name}`, { unit, defaultValue: '' });
  if (own !== '' || type === undefined) return own || say('gives.group');
  if (type.kind === 'boolean')
    return say('gives.boolean', { true: say(`word.${type.words.true}`), false: say(`word.${type.words.false}`) });
  if ('values' in type) return say('gives.words', { values: someOf(type.values).join(', ') });
  return say('gives.number', { unit });
}

const chosenReads = (): string[] => chosenIn('reads');

/**
 * Whether the chosen car has a read, as flows have learned it. A read that is
 * missing here is unknown.
 */
type Equipment = Readonly<Record<string, boolean>>;

/** Whether the chosen configuration names a wallbox; the electric car of the demo has one. */
function hasWallbox(): boolean {
  const { service = 'demo', demoCar, wallbox = '' } = RED.nodes.node(textOf(field('vehicle'))) ?? {};
  return service === 'demo' ? demoCar === 'electric' : wallbox.trim() !== '';
}

/**
 * One line for each read, by theme; neither the service of the vehicle nor the car
 * need have all of them.
 */
function fillList(chosen: readonly string[], equipment: Equipment): void {
  const kind = isSeveral() ? 'checkbox' : 'radio';
  const interfaces = serviceInterfaces();
  const list = part('reads');
  // Each field that reports a change when the form opens would fill it again.
  const shown = JSON.stringify([kind, chosen, interfaces, hasWallbox(), equipment, unitsOfVehicle()]);
  if (list.data('shown') === shown) return;
  const lineOf = (name: string): JQuery => {
    const needs = isReadName(name) ? needsOfRead(name, interfaces) : null;
    const isUnserved = needs?.scopes.length === 0;
    const lacksWallbox = needs?.access === 'wallbox' && !hasWallbox();
    const isMissing = isUnserved || lacksWallbox || equipment[name] === false;
    const lack = isUnserved ? 'missing' : lacksWallbox ? 'noWallbox' : 'lacking';
    const remark = isMissing ? say(lack) : unitOf(name);
    const line = choiceLine(name, titleOfRead(name), chosen.includes(name), kind);
    line.find('input').attr('name', 'connected-vehicle-reads');
    return line.toggleClass('missing', isMissing).append(' ', $('<small>').text(remark));
  };
  list
    .data('shown', shown)
    .empty()
    .append(
      readThemes().map(([heading, names]) =>
        $('<fieldset>').append($('<legend>').text(say(`theme.${heading}`)), names.map(lineOf)),
      ),
    );
  $('#connected-vehicle-filter').trigger('input');
}

/** Keeps what is chosen in view if the list is long. */
function scrollToChosen(): void {
  const list = part('reads').get(0);
  const line = part('reads').find('input:checked').first().closest('label').get(0);
  if (list && line) list.scrollTop = line.offsetTop - list.offsetTop - 40;
}

/** Shows what is chosen, what it answers, which scopes it needs and which interface has it. */
function showChoice(): void {
  const names = isFromList() ? chosenReads() : [];
  const [first] = names;
  const interfaces = serviceInterfaces();
  const needs = names.flatMap((name) =>
    (name === 'inOrder' ? partsOf(name) : [name]).filter(isReadName).map((part) => ({
      title: titleOfRead(part),
      ...needsOfRead(part, interfaces),
    })),
  );
  const gone = needs.filter(({ scopes }) => scopes.length === 0);
  part('picker').toggle(isFromList());
  part('chosen')
    .text(
      isSeveral()
        ? say(first === undefined ? 'noReads' : 'chosen', { titles: names.map(titleOfRead).join(', ') })
        : (first && titleOfRead(first)) || '',
    )
    .toggleClass('warning', isSeveral() && first === undefined);
  part('gives').text(isFromList() ? (names.length === 1 ? givesOf(first ?? '') : '') : say('fromSource'));
  part('gone').text(gone.length > 0 ? say('gone', { titles: gone.map(({ title }) => title).join(', ') }) : '');
  showNeeds(needs);
  if (needs.length > 0 && !needs.some(({ versions }) => versions)) part('interface').text(say('single'));
  $('[data-ask=read]').prop('disabled', waitsForDeploy() || names.length === 0);
}

function readNow(learned: () => void): void {
  showAnswer({ reads: chosenReads(), interface: textOf(field('interface')) }, isSeveral(), titleOfRead, learned);
}

/** Asks what flows have learned of the chosen car, which costs no request to the service. */
function askEquipment(done: (equipment: Equipment) => void): void {
  const vehicle = textOf(field('vehicle'));
  const vin = ownVin();
  if (!RED.nodes.node(vehicle) || vin === undefined) return done({});
  ask<{ equipment: Equipment }>(vehicle, 'equipment', { vin }, ({ equipment = {} }) => {
    if (textOf(field('vehicle')) === vehicle) done(equipment);
  });
}

export function prepare(node: EditorNode<StatusOptions>): void {
  const isList = node.read === 'several';
  prepareNode(node);
  const listTypes = [
    { value: 'str', label: say('one'), hasValue: false },
    { value: 'several', label: say('several'), hasValue: false },
  ] as const;
  const chosen = isList ? (node.reads ?? []) : [node.read ?? 'windows'];
  showTyped({ ...node, readType: isList ? 'several' : node.readType }, 'read', [...listTypes, ...sources]);
  let equipment: Equipment = {};
  addSearch(part('reads'));
  fillList(chosen, equipment);
  field('read').on('change', () => {
    fillList(chosenReads(), equipment);
    showChoice();
    scrollToChosen();
  });
  const learn = (): void =>
    askEquipment((known) => {
      equipment = known;
      const top = part('reads').scrollTop() ?? 0;
      fillList(chosenReads(), equipment);
      part('reads').scrollTop(top);
    });
  field('vehicle').on('change', () => {
    equipment = {};
    fillList(chosenReads(), equipment);
    showChoice();
    learn();
  });
  field('vin').on('change', learn);
  field('interface').add(part('reads')).on('change', showChoice);
  for (const asked of [...['vehicle', 'read', 'vin', 'interface'].map(field), part('reads')])
    asked.on('change', clearAnswer);
  $('[data-ask=read]').on('click', () => readNow(learn));
  showChoice();
  learn();
  setTimeout(scrollToChosen);
}

export function save(node: EditorNode<StatusOptions>): void {
  const kept = node.reads ?? [];
  const chosen = chosenReads();
  if (isSeveral()) {
    const inOrder = [...kept, ...chosen].filter((name, at, all) => chosen.includes(name) && all.indexOf(name) === at);
    node.reads = inOrder;
    field('read').val('several');
    field('readType').val('str');
  } else if (isFromList()) field('read').val(chosen[0] ?? 'windows');
  saveProperties(node, field);
}
