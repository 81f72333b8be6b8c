import {
  groupedResources,
  type GroupedBulbs,
  type GroupedNumber,
  type GroupedResource,
  type GroupedWord,
} from '../catalogue/groups';
import { resources, type Resource, type ResourceName } from '../catalogue/reads';
import { factorBetween, unitInWords } from '../catalogue/units';
import { atItsTime, measuredIn, oldest, unwrap, type Parsed, type ResourceReading } from './readings';
import { isMeasured, parseMeasured, toNumber, type Measured, type Scalar } from './schemas';

/**
 * An extended resource out of the answer of its group in connected v2, as
 * docs/internals/service.md 2.8 types it. A value that is missing, null, of another unit or a word
 * that the table does not have becomes null, never closed, locked, off or 0.
 * @throws VehicleError BAD_RESPONSE if the answer does not have the shape of a group
 */
export function fromGroup(name: ResourceName, body: unknown, burnsFuel: boolean | null): Parsed<ResourceReading> {
  const row: GroupedResource = forFuel(groupedResources[name], burnsFuel);
  return atItsTime(groupedReading(name, row, unwrap(body)));
}

/** The spellings that count for the fuel of a car; none if that is not known. */
const forFuel = (row: GroupedResource, burnsFuel: boolean | null): GroupedResource =>
  'withoutFuel' in row && burnsFuel !== true
    ? { ...row, spellings: burnsFuel === null ? [] : (row.withoutFuel ?? []) }
    : row;

/** Each member with the service's name, word and unit (docs/internals/contract.md 3). */
export function parseGroup(body: unknown): Parsed<Record<string, Measured>> {
  const members = Object.entries(unwrap(body)).flatMap(([name, input]) =>
    // Members of the envelope (`status`, `operationId`) are not measured values.
    isMeasured(input) ? [[name, verbatim(parseMeasured(input))] as const] : [],
  );
  return {
    // fromEntries defines own properties, so a member called `__proto__` stays a member.
    payload: Object.fromEntries(members),
    measuredAt: oldest(members.map(([, { timestamp }]) => timestamp)),
  };
}

/**
 * A value with a unit is a number, even if it is written as text (docs/internals/vendor-api.md 14).
 */
const verbatim = (measured: Measured): Measured =>
  measured.unit === null ? measured : { ...measured, value: toNumber(measured.value) ?? measured.value };

type Data = Record<string, unknown>;

function groupedReading(name: ResourceName, row: GroupedResource, data: Data): ResourceReading {
  if (row.group === null) return { value: null, unit: null, timestamp: null };
  if ('bulbs' in row) return bulbReading(row, data);
  const resource: Resource = resources[name];
  const unit = 'unit' in resource ? resource.unit : null;
  const measured = measuredIn(data, row.spellings);
  const { timestamp } = measured;
  if (measured.value === null) return { value: null, unit, timestamp };
  const original = { value: measured.value, unit: measured.unit };
  const { value, isExact } =
    'words' in row ? convertedWord(row, resource, measured.value) : convertedNumber(row, resource, measured);
  return { value, unit, timestamp, ...(!isExact && { raw: original }) };
}

/**
 * A value with the type of docs/internals/service.md 2.8. It is exact if it contains all that was
 * reported.
 */
interface Converted {
  value: Scalar | null;
  isExact: boolean;
}

const unconverted: Converted = { value: null, isExact: false };

function convertedNumber(row: GroupedNumber, resource: Resource, { value, unit }: Measured): Converted {
  const number = toNumber(value);
  const factor = factorOf(row, resource, unit);
  if (number === null || factor === null) return unconverted;
  const converted = number * factor;
  const rounded =
    resource.kind === 'integer'
      ? row.whole === 'down'
        ? Math.trunc(converted)
        : Math.round(converted)
      : Math.round(converted * 1_000) / 1_000;
  // 17 days are not 0 months.
  if (!Number.isFinite(rounded) || (row.whole === 'down' && rounded === 0 && number !== 0)) return unconverted;
  if (resource.kind !== 'integer' && factor === 1) return { value: number, isExact: true };
  // + 0: no minus zero.
  return { value: rounded + 0, isExact: factor === 1 && rounded === number };
}

/** Without a unit, a number is in the one that the documentation names first. */
function factorOf({ mixedUnits }: GroupedNumber, resource: Resource, unit: string | null): number | null {
  if ((unit?.trim() ?? '') === '') return mixedUnits ? null : 1;
  return 'unit' in resource ? factorBetween(unitInWords(unit) ?? '', resource.unit) : null;
}

function convertedWord(row: GroupedWord, resource: Resource, input: Scalar): Converted {
  if (typeof input !== 'string') return unconverted;
  const word = input.trim().toUpperCase();
  if (Object.hasOwn(row.words, word)) {
    const value = row.words[word] ?? null;
    // Several words can mean one value; the first of them in the table is the word of v2.
    return { value, isExact: Object.keys(row.words).find((other) => row.words[other] === value) === word };
  }
  // A service that answers with the words of the specification means them.
  return resource.kind === 'enum' && resource.values.includes(word) ? { value: word, isExact: true } : unconverted;
}

/**
 * Gives one word for all bulbs that have failed; docs/internals/service.md 2.8 has none for no
 * failure.
 */
function bulbReading({ bulbs, failed, several }: GroupedBulbs, data: Data): ResourceReading {
  const lights = Object.entries(bulbs)
    .filter(([member]) => Object.hasOwn(data, member))
    .map(([member, word]) => ({ member, word, ...parseMeasured(data[member]) }));
  const broken = lights.filter(({ value }) => value === failed);
  const [first] = broken;
  const kinds = new Set(broken.map(({ word, member }) => word ?? member));
  const value = first === undefined ? null : kinds.size > 1 ? several : first.word;
  const raw = first === undefined ? wordOfAll(lights.map((light) => light.value)) : first.member;
  return {
    value,
    unit: null,
    timestamp: oldest((broken.length > 0 ? broken : lights).map(({ timestamp }) => timestamp)),
    ...(value === null && raw !== null && { raw: { value: raw, unit: null } }),
  };
}

/** `NO_WARNING` if every known light has it; else the first other word. */
function wordOfAll(values: readonly (Scalar | null)[]): Scalar | null {
  const known = values.filter((value) => value !== null && value !== 'UNSPECIFIED');
  return known.find((value) => value !== 'NO_WARNING') ?? known[0] ?? null;
}
