import type { StatusOptions } from './shared/input/options';

const {
  isKnownRead,
  labelStyle,
  nodeField: field,
  options,
  part,
  pollVerdict,
  readThemes,
  saveProperties,
  scopesOfRead,
  serviceInterfaces,
  shared,
  showInterface,
  showProperties,
  showScopes,
  textOf,
  titleOf,
  valueTypeOf,
  versionsOf,
  vinVerdict,
  wordsOf,
} = connectedVehicle;

const say = wordsOf('connected-vehicle-status');

/** In the reader's language where the catalogue names it, else the name's own words. */
const titleOfRead = (name: string): string => say(`read.${name}`, { defaultValue: titleOf(name) });

function unitOf(name: string): string {
  const type = valueTypeOf(name);
  return type && 'unit' in type ? say(`unit.${type.unit}`, { defaultValue: type.unit }) : '';
}

/** As many values as a person reads in a form; the reference lists all of them. */
const someOf = (values: readonly string[]): readonly string[] =>
  values.length > 8 ? [...values.slice(0, 6), '…'] : values;

/** What a read answers, in one sentence. */
function givesOf(name: string): string {
  const type = valueTypeOf(name);
  if (type === undefined) return say(`gives.${name}`, { defaultValue: say('gives.group') });
  if (type.kind === 'boolean')
    return say('gives.boolean', { true: say(`word.${type.words.true}`), false: say(`word.${type.words.false}`) });
  if ('values' in type) return say('gives.words', { values: someOf(type.values).join(', ') });
  return say('gives.number', { unit: unitOf(name) });
}

function fillDropdown(): void {
  for (const [heading, names] of readThemes()) {
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
  for (const [heading, names] of readThemes()) {
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
  const interfaces = serviceInterfaces();
  const needs = names.filter(isKnownRead).map((name) => ({
    title: titleOfRead(name),
    versions: versionsOf(name),
    scopes: scopesOfRead(name, interfaces),
  }));
  const gone = needs.filter(({ scopes }) => scopes.length === 0);
  const connected = needs.flatMap(({ title, versions }) => (versions ? [{ title, versions }] : []));
  part('several').toggle(several);
  part('gives')
    .text(several ? say(first === undefined ? 'noReads' : 'chosen', { count: names.length }) : givesOf(first ?? ''))
    .toggleClass('warning', several && first === undefined);
  part('gone').text(gone.length > 0 ? say('gone', { titles: gone.map(({ title }) => title).join(', ') }) : '');
  const scopes = needs.flatMap(({ scopes }) => scopes);
  showScopes(part('scopes'), scopes.length > 0 ? ['openid', ...scopes] : []);
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
