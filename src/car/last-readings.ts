import { isDeepStrictEqual } from 'node:util';
import type { AnyReadName } from '../catalogue/reads';
import { setNewest } from '../util/bounded';
import { severalReading, type AnyReading, type Reading, type SeveralReading } from './reading';

interface Last {
  reading: AnyReading;
  /** The last reading of each of several, also of those that failed since. */
  parts: Map<AnyReadName, Reading>;
}

/** Messages may ask for any combination of vehicles and reads; the one that was read longest ago is forgotten first. */
const maxReadings = 100;

/**
 * The last reading under each key: changes are measured against it, and it stands in when a read fails. It holds copies, because
 * flows change the messages they get.
 */
export class LastReadings {
  readonly #readings = new Map<string, Last>();

  /**
   * A read that fails among several keeps its last value: neither that it fails nor that it works again is a change.
   * @returns whether a value differs from the last reading, or there was none
   */
  remember(key: string, reading: AnyReading): boolean {
    const before = this.#readings.get(key);
    const copy = structuredClone(reading);
    const fresh = isSeveral(copy) ? partsOf(copy) : [copy];
    const changed = fresh.some(({ payload, vehicle }) => {
      const known = before?.parts.get(vehicle.read);
      return known === undefined || !sameValues(known.payload, payload);
    });
    const parts = new Map([...(before?.parts ?? []), ...fresh.map((part) => [part.vehicle.read, part] as const)]);
    setNewest(this.#readings, key, { reading: copy, parts }, maxReadings);
    return changed || before === undefined;
  }

  /** The last reading, marked `kept` with its age (docs/message-contract.md 3); undefined before the first one. */
  kept(key: string, now: number): AnyReading | undefined {
    const last = this.#readings.get(key);
    if (last === undefined) return undefined;
    const parts = [...structuredClone(last.parts).values()].map((part) => marked(part, now));
    if (!isSeveral(last.reading)) return parts[0];
    const errors = last.reading.vehicle.errors.filter(({ read }) => !last.parts.has(read));
    const { payload, vehicle } = severalReading([...last.reading.vehicle.read], parts, structuredClone(errors));
    return { payload, vehicle: { ...vehicle, source: 'kept', ageSeconds: ageOf(vehicle, now) } };
  }

  /** A reading of some of several reads, completed with the last known values of the others. */
  filled(key: string, fresh: SeveralReading, now: number): SeveralReading {
    const last = this.#readings.get(key);
    if (last === undefined || !isSeveral(last.reading)) return fresh;
    const asked = new Set<AnyReadName>(fresh.vehicle.read);
    const kept = partsOf(structuredClone(last.reading)).filter(({ vehicle }) => !asked.has(vehicle.read));
    const errors = [...fresh.vehicle.errors, ...last.reading.vehicle.errors.filter(({ read }) => !asked.has(read))];
    return severalReading(
      last.reading.vehicle.read,
      [...partsOf(fresh), ...kept.map((part) => marked(part, now))],
      errors,
    );
  }
}

const marked = ({ payload, vehicle }: Reading, now: number): Reading => ({
  payload,
  vehicle: { ...vehicle, source: 'kept', ageSeconds: ageOf(vehicle, now) },
});

const ageOf = ({ receivedAt }: { receivedAt: string }, now: number): number =>
  Math.max(0, Math.round((now - Date.parse(receivedAt)) / 1000));

const isSeveral = (reading: AnyReading): reading is SeveralReading => 'reads' in reading.vehicle;

const partsOf = ({ payload, vehicle }: SeveralReading): Reading[] =>
  Object.values(vehicle.reads).map((info) => ({ payload: payload[info.read], vehicle: info }));

/**
 * Timestamps do not count, nor do the addresses of images, which the service renews all the time (docs/service.md 2.2), nor the
 * order of a list.
 */
const sameValues = (before: unknown, now: unknown): boolean => isDeepStrictEqual(valuesOf(before), valuesOf(now));

const ignoredMembers = new Set(['timestamp', 'images']);

function valuesOf(payload: unknown): unknown {
  if (Array.isArray(payload)) return payload.map((item) => JSON.stringify(valuesOf(item))).sort();
  if (typeof payload !== 'object' || payload === null) return payload;
  return Object.fromEntries(
    Object.entries(payload)
      .filter(([name]) => !ignoredMembers.has(name))
      .map(([name, value]) => [name, valuesOf(value)]),
  );
}
