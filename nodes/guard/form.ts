import type { OpeningKind, WatchName } from '../../src/index';
import type { GuardOptions } from './options';

const { nodeField: field, part, textOf, wordsOf, ...shared } = connectedVehicle;

const type = 'connected-vehicle-guard';
const say = wordsOf(type);

/** Whole minutes; the reason names the field, because the editor also shows it below the node. */
function validateMinutes(label: 'after' | 'repeat', value: string | number | undefined): true | string {
  const validity = shared.validateWhole(value, 0);
  return validity === true || `${say(`label.${label}`)}: ${validity}`;
}

/** The minutes of one kind: empty, or a number from 0 up. */
const isMinutes = (value: unknown): boolean =>
  value === undefined || String(value).trim() === '' || shared.validateWhole(String(value), 0) === true;

/** Single openings, which only a flow file can name. */
const singleOf = (watch: readonly WatchName[]): WatchName[] =>
  watch.filter((name) => !shared.openingKinds.some((kind) => kind === name));

/** One line for each kind of opening: whether it is watched, and its own minutes. */
function fillList({ watch = [...shared.defaultWatch], minutesFor = {} }: Partial<GuardOptions>): void {
  part('kinds').toggleClass('has-single', singleOf(watch).length > 0);
  part('kinds').append(
    shared.openingKinds.map((kind) => {
      const line = shared.choiceLine(kind, say(`kind.${kind}`), watch.includes(kind));
      const minutes = $('<input type="text" inputmode="numeric">')
        .attr('aria-label', say('label.minutesOf', { kind: say(`kind.${kind}`) }))
        .val(String(minutesFor[kind] ?? ''));
      return $('<div class="kind">').append(line, minutes);
    }),
  );
}

interface Line {
  kind: OpeningKind;
  isWatched: boolean;
  minutes: JQuery;
}

const linesOf = (): Line[] =>
  part('kinds')
    .find('.kind')
    .get()
    .map((line) => {
      const box = $(line).find<HTMLInputElement>('[type=checkbox]');
      return {
        kind: String(box.val()) as OpeningKind, // The value that the box was made with.
        isWatched: box.prop('checked') === true,
        minutes: $(line).find('[type=text]'),
      };
    });

/** Shows the minutes that hold where a line has none, marks wrong ones, and says when nothing is watched. */
function showList(): void {
  const all = textOf(field('minutesType')) === 'num' ? textOf(field('minutes')) : '';
  for (const { minutes, isWatched } of linesOf()) {
    minutes.attr('placeholder', all).prop('disabled', !isWatched);
    const isWrong = !isMinutes(textOf(minutes));
    minutes.toggleClass('input-error', isWrong).attr('aria-invalid', String(isWrong));
  }
  part('nothing').toggle(!part('kinds').hasClass('has-single') && !linesOf().some(({ isWatched }) => isWatched));
}

/** Keeps what is stored as it is where it says the same: numbers stay numbers, and single openings stay. */
function readList(node: Partial<GuardOptions>): void {
  const { watch = [...shared.defaultWatch], minutesFor = {} } = node;
  const lines = linesOf();
  const watched = lines.flatMap(({ kind, isWatched }) => (isWatched ? [kind] : []));
  const chosen = [...watched, ...singleOf(watch)];
  if (!shared.isSameList(chosen, watch)) node.watch = chosen;
  const stored = (kind: OpeningKind, text: string): string | number => {
    const before = minutesFor[kind];
    if (String(before ?? '') === text) return before ?? '';
    return isMinutes(text) ? Number(text) : text;
  };
  const own = lines.flatMap(({ kind, minutes }) =>
    textOf(minutes) === '' ? [] : [[kind, stored(kind, textOf(minutes))] as const],
  );
  const next = Object.fromEntries(own) as GuardOptions['minutesFor'];
  const isEqual =
    own.length === Object.keys(minutesFor).length && own.every(([kind, value]) => minutesFor[kind] === value);
  if (!isEqual) node.minutesFor = next;
}

RED.nodes.registerType<GuardOptions>('connected-vehicle-guard', {
  category: 'connected vehicle',
  color: '#90B8BC',
  icon: 'connected-vehicle-guard.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', validate: shared.validateVehicle },
    vin: { value: '', validate: shared.validateTypedVin },
    vinType: { value: 'str' },
    watch: {
      value: ['window', 'sunroof', 'door', 'tailGate', 'hood', 'lock'],
      validate: (value, _opt) => value?.length !== 0 || say('reason.nothing'),
    },
    minutes: { value: 10, validate: shared.validateTyped('minutes', (value) => validateMinutes('after', value)) },
    minutesType: { value: 'num' },
    minutesFor: {
      value: {},
      validate: (value, _opt) => Object.values(value ?? {}).every(isMinutes) || say('reason.minutesFor'),
    },
    repeat: { value: 0, validate: (value, _opt) => validateMinutes('repeat', value) },
    hours: { value: 'always' },
    quietHours: { value: '', validate: shared.validateHours },
    timeZone: { value: '', validate: shared.validateTimeZone },
    onlyWhileNotInUse: { value: false },
    poll: { value: 120, validate: shared.validatePoll },
  },
  inputs: 1,
  outputs: 2,
  inputLabels: () => say('port.input'),
  outputLabels: (index) => say(index === 0 ? 'port.alert' : 'port.clear'),
  paletteLabel: () => say('palette.name'),
  label() {
    const { watch = [...shared.defaultWatch] } = this;
    const kinds = shared.openingKinds.filter((kind) => watch.includes(kind));
    const isShort = kinds.length === watch.length && kinds.length > 0 && kinds.length < 3;
    const text = isShort ? kinds.map((kind) => say(`kind.${kind}`)).join(', ') : say('palette.name');
    return this.name || shared.labelOf(this.vehicle, text);
  },
  labelStyle: shared.labelStyle,
  onpaletteadd: () => shared.addSearchWords(type, say('palette.search')),
  onadd: shared.giveVehicle,
  oneditprepare() {
    fillList(this);
    shared.prepareNode(this, shared.startSources);
    shared.showTyped(this, 'minutes', ['num', ...shared.startSources]);
    shared.showHours(this);
    shared.showTest(this.id);
    part('kinds').on('input change', showList);
    for (const name of ['all', 'none'])
      part(name).on('click', () => {
        part('kinds')
          .find('[type=checkbox]')
          .prop('checked', name === 'all');
        showList();
      });
    field('minutes').on('change keyup', showList);
    showList();
  },
  oneditsave() {
    readList(this);
    shared.saveProperties(this, field);
  },
});
