import { isDeepStrictEqual } from 'node:util';
import type { AnyReadName } from '../catalogue/reads';
import type { VehicleError } from '../errors';
import { setNewest } from '../util/bounded';
import { copyOfJson } from '../util/json';
import { isOlder, receiptAsOf, type ValueTimes } from './times';
import { isSeveral, readingsIn, severalReading, type AnyReading, type Reading, type SeveralReading } from './reading';

interface Last {
  /**
   * The last reading of each of several, also of those that failed since. A list, because most
   * nodes have one.
   */
  parts: readonly Reading[];
  /** The reads that the last message asked for; null for a single read. */
  several: Pick<SeveralReading['vehicle'], 'read' | 'errors'> | null;
}

/**
 * Messages may ask for any combination of vehicles and reads; the one that was read longest
 * ago is forgotten first.
 */
const maxReadings = 100;

/**
 * The last reading under each key. A new reading is compared with it, and it replaces a read that
 * fails. It holds copies, because flows change the messages they get.
 */
export class LastReadings {
  #readings: Map<string, Last> | undefined;

  /**
   * A read that fails among several keeps its last value: neither that it fails nor that it works
   * again is a change. Nor is an answer that was received before the known one.
   * @returns whether a value differs from the last reading, or there was none
   */
  remember(key: string, reading: AnyReading, now: number): boolean {
    const copy = copyOfJson(reading);
    let parts = this.#readings?.get(key)?.parts ?? [];
    let isChanged = false;
    for (const part of readingsIn(copy)) {
      const known = partOfRead(parts, part.vehicle.read);
      if (known !== undefined && isOlder(timesAt(part, now), timesAt(known, now))) continue;
      isChanged ||= known === undefined || !isDeepStrictEqual(valuesOf(known.payload), valuesOf(part.payload));
      parts = known === undefined ? parts.concat(part) : parts.with(parts.indexOf(known), part);
    }
    const several = isSeveral(copy) ? { read: copy.vehicle.read, errors: copy.vehicle.errors } : null;
    setNewest((this.#readings ??= new Map()), key, { parts, several }, maxReadings);
    return isChanged;
  }

  /** None of these reads had a value: `filled` leaves them out until they do. */
  failed(key: string, reads: readonly AnyReadName[], { code, message }: VehicleError): void {
    const several = this.#readings?.get(key)?.several;
    if (!several) return;
    const others = several.errors.filter(({ read }) => !reads.includes(read));
    several.errors = [...others, ...reads.map((read) => ({ read, code, message }))];
  }

  /**
   * The last reading, marked `kept` with its age (docs/internals/contract.md 3); undefined
   * before the first one.
   */
  kept(key: string, now: number): AnyReading | undefined {
    const last = copyOfJson(this.#readings?.get(key));
    if (last === undefined) return undefined;
    const parts = last.parts.map((part) => marked(part, now));
    if (last.several === null) return parts[0];
    const errors = last.several.errors.filter(({ read }) => partOfRead(last.parts, read) === undefined);
    const { payload, vehicle } = severalReading(last.several.read, parts, errors);
    return { payload, vehicle: { ...vehicle, source: 'kept', ageSeconds: ageOf(vehicle, now) } };
  }

  /** A reading of some of several reads, completed with the last known values of the others. */
  filled(key: string, fresh: SeveralReading, now: number): SeveralReading {
    const last = copyOfJson(this.#readings?.get(key));
    if (last === undefined || last.several === null) return fresh;
    const { read: reads, errors: earlier } = last.several;
    const readNow = new Set<AnyReadName>([...fresh.vehicle.read, ...earlier.map(({ read }) => read)]);
    const kept = last.parts.filter(({ vehicle }) => !readNow.has(vehicle.read));
    const errors = [...fresh.vehicle.errors, ...earlier.filter(({ read }) => !fresh.vehicle.read.includes(read))];
    return severalReading(reads, [...readingsIn(fresh), ...kept.map((part) => marked(part, now))], errors);
  }
}

const partOfRead = (parts: readonly Reading[], read: AnyReadName): Reading | undefined =>
  parts.find(({ vehicle }) => vehicle.read === read);

/** As of `now`: a reading from before the clock was set back is older than any other. */
const timesAt = ({ vehicle }: Reading, now: number): Pick<ValueTimes, 'measuredAt' | 'askedAt'> => ({
  measuredAt: null,
  askedAt: receiptAsOf(Date.parse(vehicle.receivedAt), now),
});

const marked = ({ payload, vehicle }: Reading, now: number): Reading => ({
  payload,
  vehicle: { ...vehicle, source: 'kept', ageSeconds: ageOf(vehicle, now) },
});

const ageOf = ({ receivedAt }: { receivedAt: string }, now: number): number =>
  Math.max(0, Math.round((now - Date.parse(receivedAt)) / 1000));

const ignoredMembers = new Set(['timestamp', 'images']);

/**
 * Timestamps do not count, nor do the addresses of images, which the service renews all the time
 * (docs/internals/service.md 2.2), nor the order of a list.
 */
function valuesOf(payload: unknown): unknown {
  if (Array.isArray(payload)) return payload.map((item) => JSON.stringify(valuesOf(item))).sort();
  if (typeof payload !== 'object' || payload === null) return payload;
  return Object.fromEntries(
    Object.entries(payload)
      .filter(([name]) => !ignoredMembers.has(name))
      .map(([name, value]) => [name, valuesOf(value)]),
  );
}
