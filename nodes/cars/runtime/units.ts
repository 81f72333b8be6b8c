import { inSystem, unitOf, type Lines, type LogSummary, type UnitSystem } from '../../../src/index';
import type { DemoView } from '../../vehicle/demo-car';
import type { ShownValue, ShownValues } from '../../vehicle/shown-values';

// These functions convert what the tab "Cars" shows into the units of a vehicle configuration.
// Several configurations can show one car.

const unitsOfRecord = {
  km: 'kilometers',
  kWh: 'kilowatt-hours',
  liters: 'liters',
  kWhPer100km: 'kilowatt-hours per 100 kilometers',
  batteryFrom: 'percent',
  batteryTo: 'percent',
  odometer: 'kilometers',
} as const;
export type MeasureName = keyof typeof unitsOfRecord;

/** The last records of a car in other units than their names; `units` names them. */
export interface ShownLog extends Record<'trips' | 'charges', LogSummary> {
  units: Readonly<Record<MeasureName, string>>;
}

export function factsIn(system: UnitSystem, facts: ShownValues): ShownValues {
  if (system === 'car') return facts;
  const convert = (shown: ShownValue): ShownValue =>
    typeof shown.value === 'number' && shown.unit !== null
      ? { ...shown, ...inSystem(system, shown.value, shown.unit) }
      : shown;
  return Object.fromEntries(Object.entries(facts).map(([name, shown]) => [name, convert(shown)]));
}

/** @param facts as they were read: the values of a line have the unit of its fact */
export function linesIn(system: UnitSystem, lines: Lines, facts: ShownValues): Lines {
  if (system === 'car') return lines;
  return Object.fromEntries(
    Object.entries(lines).map(([name, points]) => {
      const unit = facts[name as keyof Lines]?.unit ?? ''; // Each name is a key of `lines`.
      return [name, points.map(([at, value]) => [at, inSystem(system, value, unit).value ?? value])];
    }),
  );
}

export function demoIn(system: UnitSystem, demo: DemoView | null): DemoView | null {
  if (system === 'car' || typeof demo?.fuel !== 'number') return demo;
  const { value, unit } = inSystem(system, demo.fuel, 'liters');
  return { ...demo, fuel: value, fuelUnit: unit };
}

export function logIn(system: UnitSystem, log: Record<'trips' | 'charges', LogSummary>): ShownLog {
  const names = Object.keys(unitsOfRecord) as MeasureName[];
  const valueIn = (name: MeasureName, value: number | null): number | null =>
    value === null ? null : inSystem(system, value, unitsOfRecord[name]).value;
  const numbersIn = <Numbers extends Partial<Record<MeasureName, number | null>>>(numbers: Numbers): Numbers => {
    const known = names.filter((name) => numbers[name] !== undefined);
    return Object.assign(
      {},
      numbers,
      Object.fromEntries(known.map((name) => [name, valueIn(name, numbers[name] ?? null)])),
    );
  };
  const summaryIn = ({ last, month, isCut }: LogSummary): LogSummary => ({
    last: last.map((record) => {
      const numbers = numbersIn(record);
      const isLost = record.kWhPer100km !== null && numbers.kWhPer100km === null;
      return isLost ? { ...numbers, reasons: { ...record.reasons, kWhPer100km: 'NO_CONSUMPTION' } } : numbers;
    }),
    month: month && numbersIn(month),
    isCut,
  });
  const units = Object.fromEntries(
    names.map((name) => [name, unitOf(system, unitsOfRecord[name])]),
  ) as ShownLog['units']; // `fromEntries` forgets the names.
  if (system === 'car') return { ...log, units };
  return { trips: summaryIn(log.trips), charges: summaryIn(log.charges), units };
}
