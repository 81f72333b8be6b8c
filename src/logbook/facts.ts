import { inUseOf } from '../catalogue/accessibility';
import { isChargingWord } from '../catalogue/charging-words';
import type { ReadName } from '../catalogue/reads';
import { factorBetween, unitInWords } from '../catalogue/units';
import { positionOf, type Position } from '../car/places';
import { memberOf } from '../util/json';

export type LogValue = number | boolean | Position;

type ValueOf = (content: unknown) => LogValue | null;

/** The number is null if its unit cannot be converted, or if no car has such a number. */
const numberIn =
  (unit: string, most: number): ValueOf =>
  (content) => {
    const [value, given] = [memberOf(content, 'value'), memberOf(content, 'unit')];
    const factor = factorBetween(unitInWords(given) ?? '', unit);
    if (typeof value !== 'number' || factor === null) return null;
    const converted = Math.round(value * factor * 100) / 100;
    return converted >= 0 && converted <= most ? converted : null;
  };

const perDistance = 'kilowatt-hours per 100 kilometers';

/** Net kilowatt-hours by model and gross ones (runsten-app/runsten, vehicle-models.md). */
const netCapacities: Readonly<Record<string, number>> = { 'EX30 69': 64 };

const grossOf: ValueOf = (details) => {
  const gross = memberOf(details, 'batteryCapacityKWH');
  return typeof gross === 'number' && gross > 0 && gross < 1_000 ? gross : null;
};

/** How each value is taken, and the reads (with the member) that have it. */
const rows = {
  odometer: [(content) => numberIn('kilometers', 10_000_000)(content) || null, ['odometer']], // 0 is the number of a car that does not know it.
  engineRunning: [booleanOf, ['engineRunning']],
  inUse: [inUseOf, ['accessibility']],
  level: [
    numberIn('percent', 100),
    ['charging', 'batteryChargeLevel'],
    ['batteryChargeLevel'],
    ['fuel', 'batteryChargeLevel'],
  ],
  charging: [
    (content) => isChargingWord(memberOf(content, 'value')),
    ['charging', 'chargingStatus'],
    ['chargingStatus'],
  ],
  fuel: [numberIn('liters', 1_000), ['fuelAmount'], ['fuel', 'fuelAmount']],
  position: [positionOf, ['location']],
  /** The value of the trip meter that resets itself; the averages `…Automatic` belong to it. */
  meter: [numberIn('kilometers', 100_000), ['tripMeter2'], ['statistics', 'tripMeterAutomatic']],
  automatic: [
    numberIn(perDistance, 1_000),
    ['averageEnergyConsumptionAutomatic'],
    ['statistics', 'averageEnergyConsumptionAutomatic'],
  ],
  sinceCharge: [
    numberIn(perDistance, 1_000),
    ['averageEnergyConsumptionSinceCharge'],
    ['statistics', 'averageEnergyConsumptionSinceCharge'],
  ],
  fuelAutomatic: [
    numberIn('liters per 100 kilometers', 1_000),
    ['averageFuelConsumptionAutomatic'],
    ['statistics', 'averageFuelConsumptionAutomatic'],
  ],
  grossCapacity: [grossOf, ['details']],
  netCapacity: [netOf, ['details']],
} as const satisfies Record<string, readonly [ValueOf, ...(readonly [ReadName, string?])[]]>;

export type FactName = keyof typeof rows;
export const factNames = /* @__PURE__ */ Object.keys(rows) as FactName[];

function booleanOf(content: unknown): boolean | null {
  const value = memberOf(content, 'value');
  return typeof value === 'boolean' ? value : null;
}

function netOf(details: unknown): number | null {
  const model = String(memberOf(memberOf(details, 'descriptions'), 'model')).toUpperCase();
  return netCapacities[`${model} ${String(grossOf(details))}`] ?? null;
}

/** With the timestamp of the service, if there is one. */
export type Value = [name: FactName, value: LogValue, timestamp: unknown];

interface Source {
  name: FactName;
  valueOf: ValueOf;
  member: string | undefined;
}

const sourcesByRead = /* @__PURE__ */ sourcesOfReads();

function sourcesOfReads(): ReadonlyMap<ReadName, readonly Source[]> {
  const found = new Map<ReadName, Source[]>();
  for (const name of factNames) {
    const [valueOf, ...sources] = rows[name] as readonly [ValueOf, ...(readonly [ReadName, string?])[]]; // The rows differ in length.
    for (const [read, member] of sources) found.set(read, [...(found.get(read) ?? []), { name, valueOf, member }]);
  }
  return found;
}

/** The known values of a payload. Most reads have none, and cost a look-up. */
export const valuesOf = (read: ReadName, payload: unknown): Value[] =>
  (sourcesByRead.get(read) ?? []).flatMap(({ name, valueOf, member }): Value[] => {
    const content = member === undefined ? payload : memberOf(payload, member);
    const value = valueOf(content);
    return value === null ? [] : [[name, value, memberOf(content, 'timestamp')]];
  });
