import type { StatusOptions } from './shared/input/options';
import { pollVerdict } from './shared/editor/calls';
import {
  labelStyle,
  nodeField as field,
  options,
  part,
  saveProperties,
  showProperties,
  showScopes,
  textOf,
} from './shared/editor/forms';
import { aliveInterfaces, showInterface } from './shared/editor/interfaces';
import { readThemes, rowOf, scopesAt, titleOf } from './shared/editor/reads';
import { spellOutForms } from './shared/editor/templates';
import { vinVerdict } from './shared/editor/validators';
import { shared, wordsOf } from './shared/editor/words';

const say = wordsOf('connected-vehicle-status');

/** The headings of dropdown and list, each with the names below it. */
const themes = (): [heading: string, names: string[]][] => [
  ...readThemes().map(([heading, rows]): [string, string[]] => [heading, rows.flatMap(({ names }) => names)]),
  ['kept', ['journal']],
];

/** In the reader's language where the catalogue names it, else the name's own words. */
const titleOfRead = (name: string): string => say(`read.${name}`, { defaultValue: titleOf(name) });

function unitOf(name: string): string {
  const unit = rowOf(name)?.unit;
  return unit ? say(`unit.${unit}`, { defaultValue: unit }) : '';
}

/** What a read answers, in one sentence. */
function givesOf(name: string): string {
  const { unit, values, yes, no } = rowOf(name) ?? {};
  if (unit) return say('gives.number', { unit: unitOf(name) });
  if (values) return say('gives.words', { values });
  return yes
    ? say('gives.boolean', { true: say(`word.${yes}`), false: say(`word.${no}`) })
    : say(`gives.${name}`, { defaultValue: '' });
}

function fillDropdown(): void {
  for (const [heading, names] of themes()) {
    const choices = names.map((value) => ({
      value,
      text: [titleOfRead(value), unitOf(value)].filter(Boolean).join(', '),
    }));
    field('read').append(
      $('<optgroup>')
        .attr('label', say(`theme.${heading}`))
        .append(options(choices)),
    );
  }
  field('read').append(options([{ value: 'several', text: say('several') }]));
}

function fillList(chosen: readonly string[]): void {
  for (const [heading, names] of themes()) {
    const boxes = names.map((name) => {
      const input = $('<input type="checkbox">').val(name).prop('checked', chosen.includes(name));
      return $('<label>').append(input, $('<span>').text(titleOfRead(name)), $('<small>').text(unitOf(name)));
    });
    part('reads').append($('<fieldset>').append($('<legend>').text(say(`theme.${heading}`)), boxes));
  }
}

const checkedReads = (): string[] =>
  part('reads')
    .find<HTMLInputElement>('input:checked')
    .get()
    .map(({ value }) => value);

/** Leaves the reads whose title, name or theme holds what was typed. */
function filterList(): void {
  const wanted = textOf($('#connected-vehicle-filter')).toLowerCase();
  part('reads')
    .find('fieldset')
    .each((_, group) => {
      const holds = (text: string): boolean => text.toLowerCase().includes(wanted);
      const all = holds($(group).find('legend').text());
      const labels = $(group).find('label');
      const left = labels.filter(
        (_index, label) => all || holds($(label).text()) || holds(textOf($(label).find('input'))),
      );
      labels.not(left).hide();
      left.show();
      $(group).toggle(left.length > 0);
    });
}

/** Says what the choice answers, which scopes it needs and which interface has it. */
function showChoice(): void {
  const read = textOf(field('read'));
  const several = read === 'several';
  const names = several ? checkedReads() : [read];
  const [first] = names;
  const alive = aliveInterfaces();
  const needs = names.flatMap((name) => {
    const row = rowOf(name);
    return row ? [{ title: titleOfRead(name), routes: row.routes, scopes: scopesAt(alive, row) }] : [];
  });
  const gone = needs.filter(({ scopes }) => scopes === null);
  const connected = needs.flatMap(({ title, routes }) => (routes ? [{ title, routes }] : []));
  part('several').toggle(several);
  part('gives')
    .text(several ? say(first === undefined ? 'noReads' : 'chosen', { count: names.length }) : givesOf(first ?? ''))
    .toggleClass('warning', several && first === undefined);
  part('gone').text(gone.length > 0 ? say('gone', { titles: gone.map(({ title }) => title).join(', ') }) : '');
  showScopes(
    part('scopes'),
    needs.flatMap(({ scopes }) => scopes ?? []),
  );
  showInterface(connected, textOf(field('interface')));
  if (needs.length > 0 && connected.length === 0) part('interface').text(say('single'));
}

RED.nodes.registerType<StatusOptions>('connected-vehicle-status', {
  category: 'connected vehicle',
  categoryDescription: '@connected-vehicle/node-red/connected-vehicle-status:category',
  color: '#90B8BC',
  icon: 'connected-vehicle-status.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', required: true, label: shared('label.vehicle') },
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
    return (
      this.name ||
      (this.read === 'several'
        ? say('readings', { count: this.reads?.length ?? 0 })
        : titleOfRead(this.read ?? 'windows'))
    );
  },
  labelStyle() {
    return labelStyle(this);
  },
  oneditprepare() {
    fillDropdown();
    fillList(this.reads ?? []);
    showProperties(this, field);
    $('#connected-vehicle-filter').on('input', filterList);
    field('vehicle').add(field('read')).add(field('interface')).add(part('reads')).on('change', showChoice);
  },
  oneditsave() {
    this.reads = checkedReads();
    saveProperties(this, field);
  },
});

spellOutForms();
