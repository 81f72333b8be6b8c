import type { ReadName } from '../catalogue/reads';
import { isConfirmed } from '../car/known-values';
import { askedAtOf, type Reading } from '../car/reading';
import { Repeats } from '../car/repeats';
import { LocalPresence, type Presence } from '../state/presence';
import { anyShape, hashed, readForUpdate, retryOnConflict, type StateStore } from '../state/state-store';
import { setNewest } from '../util/bounded';
import { timeOf, type Clock } from '../util/clock';
import { Serial } from '../util/serial';
import { valuesOf } from './facts';
import type { LogRecord, Terms } from './record';
import { observed } from './reducer';
import { parseLog } from './stored';
import { sessionsOf } from './wallbox';
import { emptyLog, type LogState, type Observation } from './types';

interface LogbookOptions {
  store: StateStore;
  clock: Clock;
  /** The presence of this process in `store`. Default: no other process uses the store. */
  presence?: Pick<Presence, 'forOthers'>;
  /** Defers readings. Default: none is deferred. */
  repeats?: Repeats;
}

interface Car {
  readonly changes: Serial;
  state: LogState;
  /** The version of the record in the store; undefined: it was never read. */
  version: string | null | undefined;
  /** The last write failed, and may have been done anyway. */
  isUnsure: boolean;
  stored: LogState;
  pending: Observation[];
}

const maxCars = 50;
/** The observations that are applied again to what another process has stored. */
const maxPending = 200;

/**
 * The trips and charges of each car, made of the readings of all flows: one record of the state
 * store for each car.
 */
export class Logbook {
  readonly #options: Required<LogbookOptions>;
  readonly #cars = new Map<string, Car>();

  constructor({ store, clock, presence = new LocalPresence(clock), repeats = new Repeats() }: LogbookOptions) {
    this.#options = { store, clock, presence, repeats };
  }

  /**
   * @param at when the reading came, in milliseconds since 1970; default: now
   * @param tariff returns what applies now; null if none is set
   * @param places those of the vehicle configuration
   */
  observe(
    read: ReadName,
    vin: string,
    { payload, vehicle }: Reading,
    {
      at = this.#options.clock.now(),
      skewMs,
      tariff,
      places = [],
    }: { at?: number; skewMs: number; tariff: (() => Promise<Terms['tariff']>) | null } & Omit<Terms, 'tariff'>,
  ): void {
    const values = valuesOf(read, payload);
    const sessions = read === 'wallboxSessions' ? sessionsOf(payload) : [];
    if (values.length === 0 && sessions.length === 0) return;
    const receivedAt = timeOf(vehicle.receivedAt);
    const appliedAt = Math.max(at, this.#options.clock.now());
    const observation = {
      at,
      appliedAt,
      receivedAt,
      askedAt: askedAtOf(vehicle),
      skewMs,
      values,
      sessions,
      places,
      tariff: null,
    };
    // Not in turn: of many readings, each would wait for a source that does not answer.
    const price = tariff?.();
    void this.#change(vin, (car) =>
      price === undefined
        ? this.#note(vin, car, observation)
        : price.then((known) => this.#note(vin, car, { ...observation, tariff: known })),
    ).catch(() => this.#options.repeats.noteChange(vin));
  }

  #note(vin: string, car: Car, observation: Observation): Promise<void> | undefined {
    const before = car.state;
    car.state = observed(before, observation);
    const isNew = isNews(before, car.state);
    if (isNew || needsNext(car.state, observation)) this.#options.repeats.noteChange(vin);
    if (car.state === before) return undefined;
    this.#options.presence.forOthers(() => {
      if (car.pending.length >= maxPending) car.pending.shift();
      car.pending.push(observation);
    });
    return car.isUnsure || isNew ? this.#save(vin, car) : undefined;
  }

  /** Newest first. @throws StateFault if they cannot be read now */
  async records(vin: string): Promise<{ trips: LogRecord[]; charges: LogRecord[] }> {
    this.#options.repeats.catchUp();
    const { state } = await this.#change(vin, (car) => this.#load(vin, car));
    return structuredClone({ trips: state.trips.toReversed(), charges: state.charges.toReversed() });
  }

  /** Also stores the last times. */
  async flush(): Promise<void> {
    // A copy, because a change moves its car to the end of the map.
    const vins = [...this.#cars.keys()];
    for (const vin of vins)
      await this.#change(vin, async (car) => {
        if (car.state !== car.stored) await this.#save(vin, car);
      }).catch(() => undefined);
  }

  /** One change of a car after the other: at once, if nothing is to be read or in progress. */
  async #change(vin: string, change: (car: Car) => void | Promise<void>): Promise<Car> {
    const car: Car = this.#cars.get(vin) ?? {
      changes: new Serial(),
      state: emptyLog,
      version: undefined,
      isUnsure: false,
      stored: emptyLog,
      pending: [],
    };
    setNewest(this.#cars, vin, car, maxCars);
    const isLoaded = (): boolean => car.version !== undefined && !car.isUnsure;
    if (car.changes.isIdle && isLoaded()) {
      const begun = change(car);
      if (begun !== undefined) await car.changes.run(() => begun);
    } else
      await car.changes.run(async () => {
        if (!isLoaded()) await this.#load(vin, car);
        await change(car);
      });
    return car;
  }

  async #load(vin: string, car: Car): Promise<void> {
    const { value, version } = await readForUpdate(this.#options.store, keyOf(vin), anyShape);
    if (version === car.version) return;
    car.version = version;
    car.stored = parseLog(value);
    // What is stored may have these observations already, or later ones: only what comes after it
    // can be applied to it.
    const knownAt = Math.max(0, ...Object.values(car.stored.facts).map(({ readAt }) => readAt));
    car.state = car.pending.filter(({ at }) => at >= knownAt).reduce(observed, car.stored);
    this.#options.repeats.noteChange(vin);
  }

  /** What cannot be stored is stored with the next change. */
  async #save(vin: string, car: Car): Promise<void> {
    try {
      await retryOnConflict(async (isAgain) => {
        if (isAgain) await this.#load(vin, car);
        const { state } = car;
        const version = await this.#options.store.write(keyOf(vin), state, { expected: car.version ?? null });
        if (version === null) return null;
        Object.assign(car, { version, isUnsure: false, stored: state, pending: [] });
        return version;
      });
    } catch {
      car.isUnsure = true;
      this.#options.repeats.noteChange(vin);
    }
  }
}

/** Memory cards wear out: the times of equal values are worth no write, nor is each percent. */
const isNews = (before: LogState, after: LogState): boolean =>
  before.trips !== after.trips ||
  before.charges !== after.charges ||
  before.parked?.odometer !== after.parked?.odometer ||
  (before.drive === null) !== (after.drive === null) ||
  (before.charge?.endedAt === null) !== (after.charge?.endedAt === null) ||
  fifthsOf(before) !== fifthsOf(after) ||
  before.facts.grossCapacity?.value !== after.facts.grossCapacity?.value;

/**
 * Whether the next equal answer can show more: it confirms a value, it was overtaken this time, or
 * the car is in use, which ends with the time.
 */
const needsNext = ({ facts }: LogState, { values, askedAt = Infinity }: Observation): boolean =>
  facts.engineRunning?.value === true ||
  facts.inUse?.value === true ||
  values.some(([name]) => {
    const fact = facts[name];
    return fact !== undefined && (!isConfirmed(fact) || fact.askedAt > askedAt);
  });

const fifthsOf = ({ charge }: LogState): number => Math.floor((charge?.levels?.to ?? 0) / 5);

const keyOf = (vin: string): string => `logbook/${hashed(vin)}`;
