import {
  groupedResources,
  type GroupedBulbs,
  type GroupedNumber,
  type GroupedResource,
  type GroupedWord,
} from '../catalogue/groups';
import {
  resources,
  statisticsMembers,
  type Resource,
  type ResourceName,
  type StatisticsMemberName,
} from '../catalogue/reads';
import { unitInWords } from '../catalogue/units';
import { oldest, unwrap, type Parsed, type ResourceReading } from './readings';
import { isMeasured, notMeasured, parseMeasured, toNumber, type Measured, type Scalar } from './schemas';

/**
 * An extended resource out of the answer of its group in connected v2, as specification 2.8 types it. What is missing, null,
 * of another unit or a word that the table does not have is null, never closed, locked, off or 0.
 * @throws VehicleError BAD_RESPONSE where the answer is no group at all
 */
export function fromGroup(name: ResourceName, body: unknown): Parsed<ResourceReading> {
  const row: GroupedResource = groupedResources[name];
  const data = unwrap(body, 'a group of values');
  const payload = readingOf(name, row, new Map(Object.entries(data)));
  return { payload, measuredAt: payload.timestamp };
}

/** A whole group of connected v2: each member with the service's name, word and unit (docs/message-contract.md 3). */
export function parseGroup(body: unknown): Parsed<Record<string, Measured>> {
  const members = Object.entries(unwrap(body, 'a group of values')).flatMap(([name, given]) =>
    // Members of the envelope (`status`, `operationId`) are no measured values.
    isMeasured(given) ? [[name, verbatim(parseMeasured(given))] as const] : [],
  );
  return {
    // fromEntries defines own properties, so a member called `__proto__` stays a member.
    payload: Object.fromEntries(members),
    measuredAt: oldest(members.map(([, { timestamp }]) => timestamp)),
  };
}

/** What has a unit is a number, also where it is written as text (docs/energy-location-api.md 4). */
const verbatim = (measured: Measured): Measured =>
  measured.unit === null ? measured : { ...measured, value: toNumber(measured.value) ?? measured.value };

/** One member of the group `statistics`, with its unit in words. */
export function parseStatistic(name: StatisticsMemberName, body: unknown): Parsed<ResourceReading> {
  const given = new Map(Object.entries(unwrap(body, 'a group of values'))).get(name);
  const { value: raw, unit, timestamp } = parseMeasured(given);
  const value = toNumber(raw);
  const payload = {
    value,
    unit: unitInWords(unit) ?? statisticsMembers[name].unit,
    timestamp,
    ...(value === null && raw !== null && { raw }),
  };
  return { payload, measuredAt: timestamp };
}

type Data = ReadonlyMap<string, unknown>;

function readingOf(name: ResourceName, row: GroupedResource, data: Data): ResourceReading {
  if (row.group === null) return { value: null, unit: null, timestamp: null };
  if ('bulbs' in row) return bulbReading(row, data);
  const resource: Resource = resources[name];
  const measured = memberOf(row, data);
  const value =
    measured.value === null
      ? null
      : 'units' in row
        ? inUnit(row, resource, measured)
        : toWord(row, resource, measured.value);
  return {
    value,
    unit: 'unit' in resource ? resource.unit : null,
    timestamp: measured.timestamp,
    ...(value === null && measured.value !== null && { raw: measured.value }),
  };
}

/** The spelling that says something; nothing where two say different things. */
function memberOf(row: GroupedNumber | GroupedWord, data: Data): Measured {
  const named = row.members.filter((member) => data.has(member)).map((member) => parseMeasured(data.get(member)));
  const given = named.filter(({ value }) => value !== null);
  const telling = given.filter(({ value }) => value !== 'UNSPECIFIED');
  const [first = given[0]] = telling;
  if (first !== undefined)
    return telling.every(({ value, unit }) => value === first.value && unit === first.unit) ? first : notMeasured;
  const otherwise = 'otherwise' in row ? row.otherwise : undefined;
  const applies = otherwise !== undefined && parseMeasured(data.get(otherwise.unless)).value === null;
  return applies ? parseMeasured(data.get(otherwise.member)) : (named[0] ?? notMeasured);
}

function inUnit(row: GroupedNumber, resource: Resource, { value, unit }: Measured): number | null {
  const number = toNumber(value);
  const factor = factorOf(row.units, unit);
  if (number === null || factor === null) return null;
  const converted = number * factor;
  if (resource.kind !== 'integer') return factor === 1 ? converted : Math.round(converted * 1_000) / 1_000;
  // + 0: no minus zero.
  return (row.whole === 'down' ? Math.floor(converted) : Math.round(converted)) + 0;
}

/** A number without a unit is in the unit that the service's documentation names first, unless it may be in several. */
function factorOf(units: Readonly<Record<string, number>>, unit: string | null): number | null {
  const word = unit?.trim().toLowerCase() ?? '';
  if (word !== '') return Object.hasOwn(units, word) ? (units[word] ?? null) : null;
  return 'days' in units ? null : 1;
}

function toWord(row: GroupedWord, resource: Resource, value: Scalar): Scalar | null {
  if (typeof value !== 'string') return null;
  const word = value.trim().toUpperCase();
  if (Object.hasOwn(row.words, word)) return row.words[word] ?? null;
  // A service that answers with the specification's own words means them.
  return resource.kind === 'enum' && resource.values.includes(word) ? word : null;
}

/** One word for all lights that have failed; null where none has, since specification 2.8 has no word for that. */
function bulbReading({ bulbs, failed, several }: GroupedBulbs, data: Data): ResourceReading {
  const lights = Object.entries(bulbs)
    .filter(([member]) => data.has(member))
    .map(([member, word]) => ({ member, word, ...parseMeasured(data.get(member)) }));
  const broken = lights.filter(({ value }) => value === failed);
  const [first] = broken;
  const kinds = new Set(broken.map(({ word, member }) => word ?? member));
  const value = first === undefined ? null : kinds.size > 1 ? several : first.word;
  const raw = first === undefined ? wordOfAll(lights.map((light) => light.value)) : first.member;
  return {
    value,
    unit: null,
    timestamp: oldest((broken.length > 0 ? broken : lights).map(({ timestamp }) => timestamp)),
    ...(value === null && raw !== null && { raw }),
  };
}

/** `NO_WARNING` where every light that can be told says so; else the first word that says something else. */
function wordOfAll(values: readonly (Scalar | null)[]): Scalar | null {
  const told = values.filter((value) => value !== null && value !== 'UNSPECIFIED');
  return told.find((value) => value !== 'NO_WARNING') ?? told[0] ?? null;
}
