import { isDeepStrictEqual } from 'node:util';
import type { AnyReadName } from '../catalogue/reads';
import { severalReading, type AnyReading, type Reading, type SeveralReading } from '../reading';

/**
 * The last reading of each thing that is read: what a change is measured against, and what is handed on when a read fails.
 * It holds copies, because flows change the messages they get.
 */
export class LastReadings {
  readonly #readings = new Map<string, AnyReading>();

  /** @returns whether the car says something else than at the last time, or for the first time */
  remember(key: string, reading: AnyReading): boolean {
    const before = this.#readings.get(key);
    this.#readings.set(key, structuredClone(reading));
    return before === undefined || !sameValues(before.payload, reading.payload);
  }

  /** The last reading, marked `kept` with its age (contract 3); undefined before the first one. */
  kept(key: string, now: number): AnyReading | undefined {
    const last = this.#readings.get(key);
    if (last === undefined) return undefined;
    const { payload, vehicle } = structuredClone(last);
    const mark = <Info extends { receivedAt: string }>(info: Info): Info => ({ ...info, source: 'kept', ageSeconds: ageOf(info, now) });
    if (!('reads' in vehicle)) return { payload, vehicle: mark(vehicle) };
    const reads = Object.fromEntries(Object.entries(vehicle.reads).map(([read, info]) => [read, mark(info)]));
    return { payload: payload as SeveralReading['payload'], vehicle: { ...mark(vehicle), reads } };
  }

  /** A reading of some of several, filled up with what was last known of the others. */
  filled(key: string, fresh: SeveralReading, now: number): SeveralReading {
    const last = this.#readings.get(key);
    if (last === undefined || !isSeveral(last)) return fresh;
    const asked = new Set<AnyReadName>(fresh.vehicle.read);
    const kept = partsOf(structuredClone(last)).filter(({ vehicle }) => !asked.has(vehicle.read));
    const marked = kept.map(({ payload, vehicle }): Reading => ({ payload, vehicle: { ...vehicle, source: 'kept', ageSeconds: ageOf(vehicle, now) } }));
    const errors = [...fresh.vehicle.errors, ...last.vehicle.errors.filter(({ read }) => !asked.has(read))];
    return severalReading(last.vehicle.read, [...partsOf(fresh), ...marked], errors);
  }
}

const ageOf = ({ receivedAt }: { receivedAt: string }, now: number): number => Math.max(0, Math.round((now - Date.parse(receivedAt)) / 1000));

const isSeveral = (reading: AnyReading): reading is SeveralReading => 'reads' in reading.vehicle;

const partsOf = ({ payload, vehicle }: SeveralReading): Reading[] => Object.values(vehicle.reads).map((info) => ({ payload: payload[info.read], vehicle: info }));

/** When it was measured does not count, nor do the addresses of images, which the service renews all the time (specification 2.2). */
const sameValues = (before: unknown, now: unknown): boolean => isDeepStrictEqual(valuesOf(before), valuesOf(now));

const passing = new Set(['timestamp', 'images']);

function valuesOf(payload: unknown): unknown {
  if (Array.isArray(payload)) return payload.map(valuesOf);
  if (typeof payload !== 'object' || payload === null) return payload;
  return Object.fromEntries(
    Object.entries(payload)
      .filter(([name]) => !passing.has(name))
      .map(([name, value]) => [name, valuesOf(value)]),
  );
}
