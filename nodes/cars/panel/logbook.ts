import type { LogSummary } from '../../../src/index';
import { element, iconOf } from '../../../src/drawing/elements';
import type { CarSummary } from '../runtime/cars';
import type { MeasureName } from '../runtime/units';
import { durationText, measureText } from './car-rows';

const { editorLanguage, numberText, timeText, wordsOf } = connectedVehicle;

const say = wordsOf('connected-vehicle-cars');

type LogRow = LogSummary['last'][number];
type Kind = 'trips' | 'charges';

export interface ShownLog {
  log: CarSummary['log'];
  /** If a car is known to lack a part, the part has no line. */
  hasTank: boolean;
  hasBattery: boolean;
}

export const shownLogOf = ({ log, facts }: Pick<CarSummary, 'log' | 'facts'>): ShownLog => {
  const [fuel, level] = [facts.fuelAmount?.value, facts.batteryChargeLevel?.value];
  const isKnown = (value: unknown): boolean => value !== undefined && value !== 'absent';
  return { log, hasTank: isKnown(fuel), hasBattery: isKnown(level) || !isKnown(fuel) };
};

type Units = NonNullable<CarSummary['log']>['units'];
type NumberName = MeasureName | 'minutes' | 'cost';

const numbersOf: Record<Kind, readonly NumberName[]> = {
  trips: ['km', 'minutes', 'kWh', 'kWhPer100km', 'liters', 'batteryFrom', 'batteryTo', 'cost', 'odometer'],
  charges: ['kWh', 'batteryFrom', 'batteryTo', 'minutes', 'cost', 'odometer'],
};
type NameOfSum = 'km' | 'minutes' | 'kWh' | 'liters' | 'cost';
const sums: Record<Kind, readonly NameOfSum[]> = {
  trips: ['km', 'minutes', 'kWh', 'liters', 'cost'],
  charges: ['kWh', 'minutes', 'cost'],
};
/** These are the last cells of a line that can be opened. */
const lastCells = (isShown: (name: string) => boolean): readonly NameOfSum[] =>
  isShown('kWh') ? ['kWh', 'cost'] : ['liters'];
const ofTank: ReadonlySet<string> = new Set(['liters']);
const ofBattery: ReadonlySet<string> = new Set(['kWh', 'kWhPer100km', 'batteryFrom', 'batteryTo', 'cost']);

interface View {
  units: Units;
  isShown: (name: string) => boolean;
  /** Records and sums that a person has opened: they stay open when they are drawn again. */
  opened: Set<string>;
}

function moneyText(amount: number, currency: string | null): string {
  const options = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  const money = currency === null || currency === '' ? {} : { style: 'currency' as const, currency };
  return amount.toLocaleString(editorLanguage(), { ...options, ...money });
}

const textOf = (name: MeasureName | 'minutes', value: number, units: Units): string =>
  name === 'minutes' ? durationText(value) : measureText(value, units[name]);

function valueText(record: LogRow, name: NumberName, units: Units): string | null {
  if (name === 'cost') return record.cost && moneyText(record.cost.amount, record.cost.currency);
  const value = record[name];
  return value === null ? null : textOf(name, value, units);
}

const sourceText = (source: string): string => say(`log.source.${source}`, { defaultValue: source });

/** A line of what is opened: the number with its source, or why there is none. */
function lineOf(label: string, text: string | null, about: string): HTMLElement[] {
  const shown = text === null ? [element('em', {}, say('log.none'))] : [text];
  return [element('dt', {}, label), element('dd', {}, ...shown, element('span', {}, about))];
}

function recordElement(kind: Kind, record: LogRow, { units, isShown, opened }: View): HTMLElement {
  const { from, to, bounds, sources, reasons } = record;
  const first = kind === 'trips' ? (valueText(record, 'km', units) ?? '–') : levelsText(record);
  const cells = [first, ...lastCells(isShown).map((name) => valueText(record, name, units) ?? '–')];
  const endLine = (name: 'from' | 'to', seconds: number): HTMLElement[] => {
    const at = [timeText(record[name].at), record[name].place].filter(Boolean).join(', ');
    return lineOf(
      say(`log.${name}`),
      at,
      seconds < 60 ? '' : say(`log.bound.${name}`, { time: durationText(seconds / 60) }),
    );
  };
  const lines = numbersOf[kind].filter(isShown).flatMap((name) => {
    const text = valueText(record, name, units);
    const reason = reasons[name] ?? '';
    return lineOf(
      say(`log.name.${name}`),
      text,
      text === null ? say(`log.reason.${reason}`, { defaultValue: reason }) : sourceText(sources[name] ?? ''),
    );
  });
  return foldedElement(
    opened,
    `${kind} ${from.at} ${to.at}`,
    [timeText(from.at), ...cells],
    [
      record.reconstructed && element('p', {}, say('log.reconstructed')),
      element('dl', {}, ...endLine('from', bounds.from), ...endLine('to', bounds.to), ...lines),
    ],
  );
}

const levelsText = ({ batteryFrom, batteryTo }: LogRow): string =>
  `${[batteryFrom, batteryTo].map((level) => (level === null ? '?' : numberText(level))).join(' → ')} %`;

function monthElement(kind: Kind, { month, isCut }: LogSummary, { units, isShown, opened }: View): HTMLElement[] {
  if (month === null) return [];
  const costs = Object.entries(month.cost).map(([currency, amount]) => moneyText(amount, currency));
  const valueOf = (name: NameOfSum): string | null => {
    if (month.sources[name] === undefined) return null;
    return name === 'cost' ? costs.join(' + ') : textOf(name, month[name], units);
  };
  const names = sums[kind].filter(isShown);
  const cells = [
    kind === 'trips' ? (valueOf('km') ?? '–') : '',
    ...lastCells(isShown).map((name) => valueOf(name) ?? '–'),
  ];
  const lines = names.flatMap((name) => {
    const about = (month.sources[name] ?? []).map(sourceText);
    if (month.incomplete.includes(name)) about.push(say(about.length > 0 ? 'log.incomplete' : 'log.never'));
    return lineOf(say(`log.name.${name}`), valueOf(name), about.join('; '));
  });
  const title = say(`log.month.${kind}`, { count: month.count });
  return [
    foldedElement(
      opened,
      `${kind} month`,
      [title, ...cells],
      [isCut && element('p', {}, say('log.cut', { count: month.count })), element('dl', {}, ...lines)],
      'cars-month',
    ),
  ];
}

function foldedElement(
  opened: Set<string>,
  key: string,
  cells: readonly string[],
  content: readonly (Node | false)[],
  name: string | null = null,
): HTMLElement {
  const summary = element(
    'summary',
    { 'data-key': key },
    iconOf('fa-caret-right'),
    ...cells.map((cell) => element('span', {}, cell)),
  );
  const made = element('details', { class: name }, summary, ...content);
  made.open = opened.has(key);
  made.addEventListener('toggle', () => (made.open ? opened.add(key) : opened.delete(key)));
  return made;
}

/** The last trips and charges of a car, and the sums of this month. */
export function logOf({ log, hasTank, hasBattery }: ShownLog, opened: Set<string>): (Node | false)[] {
  const isShown = (name: string): boolean => (hasTank || !ofTank.has(name)) && (hasBattery || !ofBattery.has(name));
  const kinds: readonly Kind[] = hasBattery ? ['trips', 'charges'] : ['trips'];
  const heading = element('h4', {}, say('heading.log'));
  if (log === null) return [heading, element('p', { class: 'cars-quiet' }, say('log.unread'))];
  const view = { units: log.units, isShown, opened };
  return [
    heading,
    ...kinds.map((kind) => {
      const summary = log[kind];
      const empty = summary.last.length === 0 && element('p', { class: 'cars-quiet' }, say(`log.empty.${kind}`));
      const records = summary.last.map((record) => recordElement(kind, record, view));
      return element(
        'div',
        { role: 'group', 'aria-label': say(`log.kind.${kind}`) },
        element('h5', {}, say(`log.kind.${kind}`)),
        empty,
        ...monthElement(kind, summary, view),
        ...records,
      );
    }),
  ];
}
