import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { FittedName } from '../catalogue/openings';
import type { ReadName } from '../catalogue/reads';
import { newestAt, setNewest } from '../util/bounded';
import { systemClock, type Clock } from '../util/clock';
import { readForUpdate, retryOnConflict, type StateStore } from '../state/state-store';
import { hourMs } from '../util/durations';
import { SharedRuns } from '../util/serial';
import { equipmentOf, learnEquipment, mergedEquipment, type Equipment } from './equipment';
import { addToHistory, linesOf, mergedHistory, type Lines } from './history';
import { warningsReportedIn } from './in-order';
import { Repeats } from './repeats';
import { mergedRuns, stateRunShape, withValue, type StateRun, type StateValue } from './state-runs';
import { isClockKnown, timesOf, type ValueTimes } from './times';

/**
 * Something that a flow reported about the car, as a sentence in the language of the
 * vehicle configuration.
 */
export interface CarEvent {
  /** ISO-8601 */
  at: string;
  text: string;
}

const factsShape = z.lazy(() =>
  z.object({
    fuelType: z.catch(z.nullable(z.string()), null),
    equipment: z.catch(z.record(z.string(), z.boolean()), {}),
    history: z.catch(z.array(z.array(z.nullable(z.number()))), []),
    events: z.catch(z.array(z.object({ at: z.string(), text: z.string() })), []),
    states: z.catch(z.record(z.string(), z.catch(z.array(stateRunShape), [])), {}),
  }),
);
interface Facts extends Omit<z.infer<typeof factsShape>, 'states'> {
  /** Which values the car has had, by the names of conditions. */
  states: Record<string, readonly StateRun[]>;
}

/** A value that a condition can name, with the timestamp of the service. */
export type SeenValue = [name: string, value: StateValue, timestamp: string | null];

/** More cars than any account has, although a message can name any VIN. */
const maxCars = 1_000;
const fuelTypeRetryMs = hourMs;
const maxEvents = 20;
const maxEventText = 100;

interface Car {
  /** They contain what was learned, and what is stored as soon as that was read. */
  facts: Facts;
  isRead: boolean;
  reading: Promise<void> | null;
  /** A write that has not begun also stores what is learned until then. */
  readonly writes: SharedRuns<void>;
  /** The version that is stored, as far as it is known. */
  version: string | null;
  /** When the facts were stored last, in milliseconds since 1970. */
  statesStoredAt: number;
  hasNewStates: boolean;
  /** When an unknown fuel type is asked for again, in monotonic time. */
  fuelTypeAskAt: number;
}

/** It is a promise only until the stored facts of the car have been read. */
type Maybe<Value> = Value | Promise<Value>;

/**
 * Keeps what is known of a car beyond its last readings, one record of the store for each car: its
 * equipment, its history, which values it had, and its last events.
 */
export class CarFacts {
  readonly #store: StateStore;
  readonly #clock: Clock;
  readonly #repeats: Repeats;
  /** The one that was used last comes last. */
  readonly #cars = new Map<string, Car>();
  /** The keys of the store; the one that was written last comes last. */
  #stored: Promise<Map<string, true>> | null = null;

  /** @param repeats defers answers. Default: none is deferred. */
  constructor(store: StateStore, clock: Clock = systemClock, repeats: Repeats = new Repeats()) {
    this.#store = store;
    this.#clock = clock;
    this.#repeats = repeats;
  }

  /**
   * Whether the car has an opening: true as soon as the service has reported a state once; null
   * while the store cannot be read.
   */
  isFitted(vin: string, name: FittedName): Maybe<boolean | null> {
    return withCar(this.#of(vin), ({ facts, isRead }) => facts.equipment[name] ?? (isRead ? false : null));
  }

  /**
   * Learns from an answer what the car has, and adds its values to the history. Stored when the car
   * turns out to have or to lack something, and with the first value of an hour.
   * @param now in milliseconds since 1970
   */
  observe(vin: string, read: ReadName, payload: unknown, now = this.#clock.now()): Maybe<void> {
    return withCar(this.#of(vin), (car) => {
      const learned = equipmentOf(read, payload);
      // Each name has that of its read in front.
      for (const name of warningsReportedIn(read, payload)) learned.push([name as `${string}.${string}`, true]);
      const isLearned = learnEquipment(car.facts.equipment, learned);
      const isNewHour = addToHistory(car.facts.history, read, payload, now);
      if (isLearned) this.#repeats.noteChange(vin);
      return isLearned || isNewHour ? this.#save(vin, car) : undefined;
    });
  }

  /**
   * Keeps which values the car has had. Stored when one changes that is no number, each
   * hour, and by `flush`.
   * @param times when the answer came (`at`; default: now), and when it was received and asked for,
   * in milliseconds since 1970, and how far the clock of the service is ahead
   */
  see(
    vin: string,
    values: readonly SeenValue[],
    {
      at: cameAt = this.#clock.now(),
      skewMs: measuredMs,
      ...times
    }: { at?: number; skewMs: number; receivedAt: number; askedAt?: number | undefined },
  ): Maybe<void> {
    if (values.length === 0) return undefined;
    const isKnown = isClockKnown(measuredMs);
    const skewMs = isKnown ? measuredMs : 0;
    const at = cameAt + skewMs;
    // Later than `cameAt`, if the answer was deferred.
    const now = Math.max(cameAt, this.#clock.now());
    const receivedAt = times.receivedAt + skewMs;
    const askedAt = (times.askedAt ?? times.receivedAt) + skewMs;
    return withCar(this.#of(vin), (car) => {
      const { states } = car.facts;
      let isNews = Math.abs(now - car.statesStoredAt) >= hourMs;
      for (const [name, value, timestamp] of values) {
        const before = states[name] ?? [];
        const seen = timesOf(isKnown ? timestamp : null, { at, receivedAt, askedAt });
        const runs = withValue(before, value, seen, now + skewMs);
        if (typeof value !== 'number' && runs.at(-1)?.from !== before.at(-1)?.from) isNews = true;
        states[name] = runs;
        if (needsNext(before, runs, seen)) this.#repeats.noteChange(vin);
      }
      car.hasNewStates = true;
      return isNews ? this.#save(vin, car) : undefined;
    });
  }

  /** Oldest first. */
  statesOf(vin: string, name: string): Maybe<readonly StateRun[]> {
    this.#repeats.catchUp();
    return withCar(this.#of(vin), ({ facts }) => facts.states[name] ?? []);
  }

  /** Also stores the last times of the values. */
  async flush(): Promise<void> {
    for (const [vin, car] of this.#cars) if (car.hasNewStates) await this.#save(vin, car);
  }

  /**
   * The service reports that the car does not have a read. It sometimes does so for one that it
   * has answered before.
   */
  async lacks(vin: string, read: ReadName): Promise<void> {
    const car = await this.#of(vin);
    if (learnEquipment(car.facts.equipment, car.facts.equipment[read] ? [] : [[read, false]]))
      await this.#save(vin, car);
  }

  /** Keeps the last 20 events, in one write. */
  async addEvents(vin: string, events: readonly CarEvent[]): Promise<void> {
    const car = await this.#of(vin);
    const cut = events.map(({ at, text }) => ({ at, text: text.slice(0, maxEventText) }));
    car.facts.events = [...car.facts.events, ...cut].slice(-maxEvents);
    await this.#save(vin, car);
  }

  /** Returns what the car has; null if the store cannot be read. */
  reportedEquipment(vin: string): Maybe<Equipment | null> {
    return withCar(this.#of(vin), ({ facts, isRead }) => (isRead ? { ...facts.equipment } : null));
  }

  /** @param now in milliseconds since 1970 */
  async known(
    vin: string,
    now = this.#clock.now(),
  ): Promise<{ fuelType: string | null; equipment: Equipment; lines: Lines; events: CarEvent[] }> {
    this.#repeats.catchUp();
    const { fuelType, equipment, history, events } = (await this.#of(vin)).facts;
    return { fuelType, equipment: { ...equipment }, lines: linesOf(history, now), events: [...events] };
  }

  /**
   * The fuel type, which never changes.
   * @param ask is called until it has returned one: after null, not for an hour; after undefined
   * (no answer), at the next use
   */
  async fuelType(vin: string, ask: () => Promise<string | null | undefined>): Promise<string | null> {
    const car = await this.#of(vin);
    const now = this.#clock.monotonic();
    if (car.facts.fuelType !== null || now < car.fuelTypeAskAt) return car.facts.fuelType;
    const fuelType = await ask();
    if (fuelType === null) car.fuelTypeAskAt = now + fuelTypeRetryMs;
    // Another account may have learned it meanwhile.
    if (fuelType === null || fuelType === undefined) return car.facts.fuelType;
    car.facts.fuelType = fuelType;
    await this.#save(vin, car);
    return fuelType;
  }

  /**
   * Stores what is known together with what another process has stored meanwhile, but not before
   * the stored facts were read. If that fails, they are learned again after a restart.
   */
  async #save(vin: string, car: Car): Promise<void> {
    if (!car.isRead) return;
    Object.assign(car, { statesStoredAt: this.#clock.now(), hasNewStates: false });
    await car.writes.run(() => this.#write(vin, car));
  }

  async #write(vin: string, car: Car): Promise<void> {
    const key = keyOf(vin);
    try {
      await retryOnConflict(async (isAgain) => {
        if (isAgain) {
          const stored = await this.#load(key, car);
          this.#repeats.catchUp();
          this.#merge(vin, car, stored);
        }
        const version = await this.#store.write(key, car.facts, { expected: car.version });
        if (version !== null) car.version = version;
        return version;
      });
      this.#stored ??= this.#store.entries('car/').then((all) => new Map(all.map((one) => [one.key, true])));
      for (const oldest of setNewest(await this.#stored, key, true, maxCars)) await this.#store.remove(oldest);
    } catch {
      this.#stored = null;
      car.hasNewStates = true;
    }
  }

  #merge(vin: string, car: Car, stored: Facts): void {
    car.facts = merged(stored, car.facts, this.#clock.now());
    this.#repeats.noteChange(vin);
  }

  /** @throws StateFault if what is stored may be readable later */
  async #load(key: string, car: Car): Promise<Facts> {
    const { value, version } = await readForUpdate(this.#store, key, factsShape);
    car.version = version;
    return value ?? nothingKnown();
  }

  #of(vin: string): Maybe<Car> {
    const car = this.#cars.get(vin) ?? {
      facts: nothingKnown(),
      isRead: false,
      reading: null,
      writes: new SharedRuns(),
      version: null,
      fuelTypeAskAt: -Infinity,
      statesStoredAt: -Infinity,
      hasNewStates: false,
    };
    setNewest(this.#cars, vin, car, maxCars);
    if (car.isRead) return car;
    return (car.reading ??= this.#read(vin, car)).then(() => car);
  }

  /** If reading fails, the next use of the car tries it again. */
  async #read(vin: string, car: Car): Promise<void> {
    try {
      const stored = await this.#load(keyOf(vin), car);
      this.#merge(vin, car, stored);
      car.isRead = true;
      if (!isDeepStrictEqual(car.facts, stored)) await this.#save(vin, car);
    } catch {
      car.reading = null;
      this.#repeats.noteChange(vin);
    }
  }
}

/**
 * Whether the next equal answer can show more: after another value, of several numbers, and if this
 * one was overtaken.
 */
const needsNext = (before: readonly StateRun[], runs: readonly StateRun[], { askedAt }: ValueTimes): boolean => {
  const last = runs.at(-1);
  return runs !== before || last?.highest !== undefined || (last?.askedAt ?? 0) > askedAt;
};

/** At once, if the car is known. */
const withCar = <Value>(car: Maybe<Car>, use: (car: Car) => Maybe<Value>): Maybe<Value> =>
  car instanceof Promise ? car.then(use) : use(car);

/**
 * Merges what is stored and what is known here, because two processes can read one car.
 * @param now in milliseconds since 1970
 */
function merged(stored: Facts, own: Facts, now: number): Facts {
  const isNew = (event: CarEvent): boolean => !stored.events.some((other) => isDeepStrictEqual(other, event));
  const states: Facts['states'] = { ...stored.states };
  for (const [name, runs] of Object.entries(own.states)) states[name] = mergedRuns(states[name] ?? [], runs);
  return {
    fuelType: own.fuelType ?? stored.fuelType,
    equipment: mergedEquipment(stored.equipment, own.equipment),
    history: mergedHistory(stored.history, own.history, now),
    events: newestAt([...stored.events, ...own.events.filter(isNew)], ({ at }) => Date.parse(at), {
      now,
      max: maxEvents,
    }),
    states,
  };
}

const nothingKnown = (): Facts => ({ fuelType: null, equipment: {}, history: [], events: [], states: {} });

const keyOf = (vin: string): string => `car/${createHash('sha256').update(vin).digest('hex')}`;
