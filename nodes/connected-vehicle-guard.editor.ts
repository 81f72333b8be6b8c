import type { OpeningKind } from '../src/index';
import type { GuardOptions } from './shared/input/options';

const {
  defaultWatch,
  labelStyle,
  nodeField: field,
  openingKinds,
  part,
  pollVerdict,
  saveProperties,
  shared,
  showProperties,
  vinVerdict,
  wholeVerdict,
  wordsOf,
} = connectedVehicle;

const say = wordsOf('connected-vehicle-guard');

const quietHours = /^\s*(([01]?\d|2[0-3]):[0-5]\d\s*[-–]\s*([01]?\d|2[0-3]):[0-5]\d)?\s*$/;

/** One line for each kind of opening: whether it is watched, and its own minutes. */
function fillList({ watch = [...defaultWatch], minutesFor = {} }: Partial<GuardOptions>): void {
  const lines = openingKinds.map((kind) => {
    const box = $('<input type="checkbox">').val(kind).prop('checked', watch.includes(kind));
    const minutes = $('<input type="text" inputmode="numeric">')
      .css({ width: 60, marginLeft: 'auto' })
      .attr('placeholder', say('placeholder.minutes'))
      .val(String(minutesFor[kind] ?? ''));
    return $('<label>').append(box, $('<span>').text(say(`kind.${kind}`)), minutes);
  });
  part('watch').append(lines);
}

/** Single openings, which only a flow file can name, stay. */
function readList(node: Partial<GuardOptions>): void {
  const lines = part('watch')
    .find('label')
    .get()
    .map((line) => $(line).find<HTMLInputElement>('input').get());
  const single = (node.watch ?? []).filter((name) => !openingKinds.some((kind) => kind === name));
  node.watch = [...lines.flatMap(([box]) => (box?.checked === true ? [box.value as OpeningKind] : [])), ...single];
  node.minutesFor = Object.fromEntries(
    lines.flatMap(([box, minutes]) =>
      box !== undefined && minutes?.value.trim() ? [[box.value, minutes.value.trim()]] : [],
    ),
  );
}

RED.nodes.registerType<GuardOptions>('connected-vehicle-guard', {
  category: 'connected vehicle',
  color: '#90B8BC',
  icon: 'connected-vehicle-guard.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', required: true, label: shared('label.vehicle') },
    vin: { value: '', validate: (value, _opt) => vinVerdict(value) },
    watch: {
      value: ['window', 'sunroof', 'door', 'tailGate', 'hood', 'lock'],
      validate: (value, _opt) => value?.length !== 0 || say('reason.nothing'),
    },
    minutes: { value: 10, validate: (value, _opt) => wholeVerdict(value, 0) },
    minutesFor: { value: {} },
    repeat: { value: 0, validate: (value, _opt) => wholeVerdict(value, 0) },
    quietHours: { value: '', validate: (value, _opt) => quietHours.test(value ?? '') || say('reason.quietHours') },
    timeZone: { value: '' },
    onlyWhileNotInUse: { value: false },
    poll: {
      value: 120,
      validate(value, _opt) {
        return pollVerdict(this, value);
      },
    },
  },
  inputs: 1,
  outputs: 2,
  inputLabels: () => say('port.input'),
  outputLabels: (index) => say(index === 0 ? 'port.alert' : 'port.clear'),
  paletteLabel: () => say('palette'),
  label() {
    return this.name || say('palette');
  },
  labelStyle() {
    return labelStyle(this);
  },
  oneditprepare() {
    fillList(this);
    showProperties(this, field);
  },
  oneditsave() {
    readList(this);
    saveProperties(this, field);
  },
});
