import {
  connectedReadNames, connectedReads, isReadName, isResourceName, resourceNames, resources, themes, titleOf, type ReadName,
} from '../src/index';
import type { StatusOptions } from './shared/options';
import { callsOf, pollVerdict } from './shared/editor/calls';
import { choose, labelStyle, nodeField as field, options, part, saveNumbers, showDefaults, showScopes, textOf, trimFields } from './shared/editor/forms';
import { aliveInterfaces, scopesAt, showInterface } from './shared/editor/interfaces';
import { vinVerdict } from './shared/editor/validators';
import { wordsOf } from './shared/editor/words';

const say = wordsOf('connected-vehicle-status');

/** The headings of dropdown and list: the connected reads first, then the single values by theme. */
const groups: readonly { heading: string; names: readonly ReadName[] }[] = [
  { heading: 'connected', names: connectedReadNames },
  ...themes.map((theme) => ({ heading: theme, names: resourceNames.filter((name) => resources[name].theme === theme) })),
];

/** In the reader's language where the catalogue names it, else the name's own words. */
const titleOfRead = (name: string): string => say(`read.${name}`, { defaultValue: titleOf(name) });

function unitOf(name: ReadName): string {
  const resource = isResourceName(name) && resources[name];
  return resource && 'unit' in resource ? say(`unit.${resource.unit}`, { defaultValue: resource.unit }) : '';
}

/** What a read answers, in one sentence. */
function givesOf(name: ReadName): string {
  if (!isResourceName(name)) return say(`gives.${name}`);
  const resource = resources[name];
  if ('unit' in resource) return say('gives.number', { unit: unitOf(name) });
  if ('values' in resource) return say('gives.words', { values: resource.values.join(', ') });
  return say('gives.boolean', { true: say(`word.${resource.words.true}`), false: say(`word.${resource.words.false}`) });
}

function fillDropdown(): void {
  for (const { heading, names } of groups) {
    const choices = names.map((value) => ({ value, text: [titleOfRead(value), unitOf(value)].filter(Boolean).join(', ') }));
    field('read').append($('<optgroup>').attr('label', say(`theme.${heading}`)).append(options(choices)));
  }
  field('read').append(options([{ value: 'journal', text: titleOfRead('journal') }, { value: 'several', text: say('several') }]));
}

function fillList(chosen: readonly string[]): void {
  for (const { heading, names } of groups) {
    const boxes = names.map((name) => {
      const input = $('<input type="checkbox">').val(name).prop('checked', chosen.includes(name));
      return $('<label>').append(input, $('<span>').text(titleOfRead(name)), $('<small>').text(unitOf(name)));
    });
    part('reads').append($('<fieldset>').append($('<legend>').text(say(`theme.${heading}`)), boxes));
  }
}

const checkedReads = (): string[] => part('reads').find<HTMLInputElement>('input:checked').get().map(({ value }) => value);

/** Leaves the reads whose title, name or theme holds what was typed. */
function filterList(): void {
  const wanted = textOf($('#connected-vehicle-filter')).toLowerCase();
  part('reads').find('fieldset').each((_, group) => {
    const holds = (text: string): boolean => text.toLowerCase().includes(wanted);
    const all = holds($(group).find('legend').text());
    const labels = $(group).find('label');
    const left = labels.filter((_index, label) => all || holds($(label).text()) || holds(textOf($(label).find('input'))));
    labels.not(left).hide();
    left.show();
    $(group).toggle(left.length > 0);
  });
}

/** Says what the choice answers, which scopes it needs and which interface has it. */
function showChoice(): void {
  const read = textOf(field('read'));
  const several = read === 'several';
  const names = (several ? checkedReads() : [read]).filter(isReadName);
  const [first] = names;
  const alive = aliveInterfaces();
  const gone = names.filter((name) => scopesAt(alive, name) === null);
  const connected = names.filter((name) => !isResourceName(name));
  part('several').toggle(several);
  part('gives')
    .text(several ? say(first === undefined ? 'noReads' : 'chosen', { count: names.length }) : first === undefined ? (read === 'journal' ? say('gives.journal') : '') : givesOf(first))
    .toggleClass('warning', several && first === undefined);
  part('gone').text(gone.length > 0 ? say('gone', { titles: gone.map(titleOfRead).join(', ') }) : '');
  showScopes(part('scopes'), names.flatMap((name) => scopesAt(alive, name) ?? []));
  showInterface(connected.map((name) => ({ title: titleOfRead(name), routes: connectedReads[name].routes })), textOf(field('interface')));
  if (names.length > 0 && connected.length === 0) part('interface').text(say('single'));
}

RED.nodes.registerType<StatusOptions>('connected-vehicle-status', {
  category: 'connected vehicle',
  categoryDescription: '@connected-vehicle/node-red/connected-vehicle-status:connected-vehicle-status.category',
  color: '#90B8BC',
  icon: 'connected-vehicle-status.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', required: true, label: say('label.vehicle') },
    vin: { value: '', validate: (value, _opt) => vinVerdict(value) },
    read: { value: 'windows', required: true, label: say('label.read') },
    reads: {
      value: [],
      validate(value, _opt) {
        return this.read !== 'several' || (value ?? '').length > 0 || say('noReads');
      },
    },
    interface: { value: 'auto' },
    poll: {
      value: 0,
      validate(value, _opt) {
        return pollVerdict(this, value);
      },
    },
    emit: { value: 'always' },
  },
  inputs: 1,
  outputs: 1,
  inputLabels: () => say('port.input'),
  outputLabels: () => say('port.output'),
  paletteLabel: () => say('palette'),
  label() {
    return this.name || (this.read === 'several' ? say('readings', { count: this.reads?.length ?? 0 }) : titleOfRead(this.read ?? 'windows'));
  },
  labelStyle() {
    return labelStyle(this);
  },
  calls: { callsOf, pollVerdict },
  oneditprepare() {
    fillDropdown();
    fillList(this.reads ?? []);
    showDefaults(this, field);
    for (const name of ['read', 'interface', 'emit'] as const) choose(field(name), this[name]);
    $('#connected-vehicle-filter').on('input', filterList);
    field('vehicle').add(field('read')).add(field('interface')).add(part('reads')).on('change', showChoice);
  },
  oneditsave() {
    this.reads = checkedReads();
    saveNumbers(this, ['poll'], field);
    trimFields(['vin'], field);
  },
});
