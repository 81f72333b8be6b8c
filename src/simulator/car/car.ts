import type { Clock } from '../../util/clock';
import type { ResourceName } from '../../catalogue/reads';
import { openingState } from '../../catalogue/openings';
import { VehicleError } from '../../errors';
import { isRecord, memberOf } from '../../util/json';
import { chargingStatus, energyState, hasTank, nextPercent, rangeKm, stepMs } from './battery';
import { asBoolean, modelPathOf, type ResourceValue } from './resources';
import { parseChanges, parseTrip, type CarChanges, type CarOptions, type Trip } from './changes';
import { newState, type CarState } from './state';
import { Invocation, type InvocationRequest } from './invocation';
import { Wallbox } from './wallbox';
import { Listeners } from '../../util/listeners';
import { minuteMs } from '../../util/durations';

/** The service keeps its log for a year (docs/internals/service.md 2.5). */
const logLength = 20_000;

const climateMinutes = 30;

/**
 * One car: a state, when each part of it was last retrieved, and the commands on their way to it.
 *
 * The car uses no timers. Due events are applied in order, with their own times, when the car is
 * read. So all views agree, on any clock.
 */
export class Car {
  readonly vin: string;
  readonly wallbox: Wallbox;
  readonly #clock: Clock;
  readonly #initial: CarChanges;
  readonly #state = newState();
  readonly #measured = new Map<string, number>();
  readonly #invocations = new Map<string, Invocation>();
  readonly #changed = new Listeners();
  /** Calls back after every change of the car, until the returned function is called. */
  readonly onChange = this.#changed.add;
  #reportedAt: number;
  #events: { at: number; act: (at: number) => void }[] = [];
  /** The unlock commands whose time to open the tailgate runs. */
  #released: Invocation[] = [];
  /** The last energy state, as JSON by member: a member whose value changes gets a new time. */
  #lastEnergy: Record<string, string> = {};
  /** The percent that the battery is charging. */
  #chargeStep: { from: number; at: number; ms: number } | null = null;
  #climateUntil: number | null = null;
  #trip: Trip | null = null;
  /** The latest start of the engine: the end of an earlier one's time no longer stops it. */
  #engineStart: Invocation | null = null;

  constructor({ vin, ...changes }: CarOptions, clock: Clock) {
    this.vin = vin;
    this.#clock = clock;
    this.#reportedAt = clock.now();
    this.#initial = changes;
    this.reset();
    this.wallbox = new Wallbox(this, clock);
  }

  /** The car as it is now. To change it, use `set`. */
  get state(): Readonly<CarState> {
    this.#runDue();
    return this.#state;
  }

  /** The commands that the service accepted for this car, oldest first. */
  get invocations(): readonly Invocation[] {
    this.#runDue();
    return [...this.#invocations.values()];
  }

  /** The commands that the car carried out: `['lock', 'honk']`. */
  get performed(): readonly string[] {
    return this.invocations.filter((invocation) => invocation.actedAt !== null).map((invocation) => invocation.command);
  }

  /** When the climatization ends automatically, milliseconds since 1970; null: it is off. */
  get climateUntil(): number | null {
    this.#runDue();
    return this.#climateUntil;
  }

  get isDriving(): boolean {
    this.#runDue();
    return this.#trip !== null;
  }

  /** When the car next changes without a request, milliseconds since 1970; null: never. */
  get nextEventAt(): number | null {
    this.#runDue();
    return this.#events[0]?.at ?? null;
  }

  /**
   * Changes parts of the car; what is not named stays. The times of what differs become now.
   * @throws VehicleError INPUT_INVALID
   */
  set(input: CarChanges): this {
    const changes = parseChanges(input);
    this.#runDue();
    this.#merge(changes, this.#clock.now());
    this.#changed.notify();
    return this;
  }

  /** The car as it was at first. Commands on their way stay on their way; a trip ends. */
  reset(): this {
    this.#runDue();
    Object.assign(this.#state, newState());
    this.#released = [];
    this.#climateUntil = null;
    this.#trip = null;
    this.#chargeStep = null;
    this.#engineStart = null;
    return this.set(this.#initial).report();
  }

  /** The car reports all its values again: all times become now. */
  report(): this {
    this.#runDue();
    this.#measured.clear();
    this.#reportedAt = this.#clock.now();
    this.#changed.notify();
    return this;
  }

  /** Switches the climatization, as somebody in the car does. */
  switchClimate(on: boolean): this {
    this.#runDue();
    if (on) this.#startClimate(this.#clock.now());
    else this.#climateUntil = null;
    this.#changed.notify();
    return this;
  }

  /**
   * Drives somewhere. The car reports its status at the start, each minute and at the end; its
   * position only at the end (docs/internals/vendor-api.md 13, 16).
   * @throws VehicleError INPUT_INVALID
   */
  drive(input: Trip): this {
    const trip = parseTrip(input);
    this.#runDue();
    if (this.#trip !== null)
      throw new VehicleError('INPUT_INVALID', 'The simulated car is driving already. Wait until it has arrived.');
    const now = this.#clock.now();
    this.#trip = trip;
    this.#merge({ charger: { connection: 'DISCONNECTED' }, lock: 'UNLOCKED', engineRunning: true, inUse: true }, now);
    this.#touch(reportedOnTrips, now);
    const { odometer = 0, tripMeter1 = 0, tripMeter2 = 0 } = this.#state.resources;
    const metersAtStart = { odometer, tripMeter1, tripMeter2 };
    const end = now + trip.minutes * minuteMs;
    const drive = (from: number, since: number): void => {
      const next = Math.min(from + minuteMs, end);
      this.#at(next, (at) => {
        if (this.#trip !== trip) return;
        const share = (at - now) / (end - now);
        this.#consume(trip.km * (share - since));
        this.#merge({ resources: advanced(metersAtStart, trip.km * share) }, at);
        this.#touch(reportedOnTrips, at);
        if (at < end) drive(at, share);
        else this.#arrive(trip, at);
      });
    };
    drive(now, 0);
    this.#changed.notify();
    return this;
  }

  /**
   * Somebody pulls at the tailgate (docs/internals/service.md 4.2 rules 1 and 2). On a locked car
   * it opens only within the time of an unlock command, and the other doors unlock with it.
   * @returns whether it opened
   */
  openTailgate(): boolean {
    if (this.state.lock === 'LOCKED' && this.#running(this.#clock.now()).length === 0) return false;
    this.set({ doors: { tailGate: 'OPEN' } });
    return true;
  }

  /** When a part was last retrieved from the vehicle, milliseconds since 1970. */
  measuredAt(path: string): number {
    this.#runDue();
    return this.#measured.get(path) ?? this.#reportedAt;
  }

  resource(name: ResourceName): ResourceValue {
    const path = modelPathOf(name);
    if (path !== null) return asBoolean(partOf(this.state, path));
    if (name === 'distanceToEmpty' && !hasTank(this.state)) return rangeKm(this.#state);
    const value = this.state.resources[name] ?? null;
    // A trip leaves more digits than a car reports.
    return typeof value === 'number' ? rounded(value) : value;
  }

  resourceMeasuredAt(name: ResourceName): number {
    return this.measuredAt(modelPathOf(name) ?? `resources.${name}`);
  }

  /** An asleep car looks like one in power saving mode (docs/internals/service.md 2.7). */
  get availability(): { value: string; unavailableReason: string | null } {
    const { reachable, inUse, asleep, powerSaving } = this.state;
    if (!reachable) return { value: 'UNAVAILABLE', unavailableReason: 'NO_INTERNET' };
    if (inUse) return { value: 'UNAVAILABLE', unavailableReason: 'CAR_IN_USE' };
    if (asleep || powerSaving) return { value: 'UNAVAILABLE', unavailableReason: 'POWER_SAVING_MODE' };
    return { value: 'AVAILABLE', unavailableReason: null };
  }

  /** The service accepts a command. The car does it, or not, when it is due. */
  invoke(request: InvocationRequest): Invocation {
    this.#runDue();
    const { commandPlan } = this.#state;
    const answerAfterMs = isReached(this.#state) ? commandPlan.answerAfterMs : limitOf(commandPlan.answerAfterMs);
    const invocation = new Invocation(request, { ...commandPlan, answerAfterMs }, this.#clock.now());
    this.#invocations.set(invocation.id, invocation);
    if (this.#invocations.size > logLength) this.#invocations.delete(this.#invocations.keys().next().value ?? '');
    for (const step of invocation.timeline) this.#at(step.at, (at) => this.#reach(invocation, step.acts, at));
    this.#changed.notify();
    return invocation;
  }

  invocation(id: string): Invocation | undefined {
    return this.#invocations.get(id);
  }

  statusOf(invocation: Invocation): string {
    this.#runDue();
    return invocation.statusAt(this.#clock.now());
  }

  plan(at: number, act: () => void): void {
    this.#at(at, act);
    this.#changed.notify();
  }

  #reach(invocation: Invocation, acts: boolean | undefined, at: number): void {
    const lag = this.#state.commandPlan.effectAfterMs;
    const act = (): void => this.#at(at + lag, (then) => this.#act(invocation, then));
    if (invocation.isRuledAt(at)) {
      invocation.ruling = outcomeOf(this.#state, invocation.command);
      // The car answered with the state of its doors: the open one that made it refuse
      // was measured just now.
      if (invocation.ruling === 'UNABLE_TO_LOCK_DOOR_OPEN') this.#touch(doorPaths, at);
      if (acts ?? invocation.ruling === 'COMPLETED') act();
    } else if (acts ?? invocation.succeedsAt(at)) act();
  }

  #act(invocation: Invocation, at: number): void {
    if (invocation.actedAt !== null) return;
    invocation.actedAt = at;
    if (isLock(invocation.command)) {
      this.#merge({ lock: 'LOCKED' }, at);
      this.#released = [];
      this.#touch(doorPaths, at);
    }
    // Only the tailgate's handle is released; the lock stays as it is until the tailgate is opened
    // (docs/internals/vendor-api.md 1.9).
    if (invocation.command === 'unlock' && this.#state.lock === 'LOCKED') {
      invocation.release(at);
      this.#released.push(invocation);
    }
    if (invocation.command === 'climatization-start') this.#startClimate(at);
    if (invocation.command === 'climatization-stop' && !this.#state.ignoresClimatizationStop) this.#climateUntil = null;
    if (invocation.command === 'engine-start') this.#startEngine(invocation, at);
    if (invocation.command === 'engine-stop') this.#merge({ engineRunning: false }, at);
    if (invocation.command.startsWith('engine-')) this.#touch(['engineRunning'], at);
  }

  /**
   * The climatization ends after its time, when the engine starts, or when the driver's door opens.
   */
  #startClimate(at: number): void {
    const until = at + climateMinutes * minuteMs;
    this.#climateUntil = until;
    this.#at(until, () => {
      if (this.#climateUntil === until) this.#climateUntil = null;
    });
  }

  #startEngine(invocation: Invocation, at: number): void {
    this.#engineStart = invocation;
    this.#merge({ engineRunning: true }, at);
    this.#at(at + invocation.runtimeMinutes * minuteMs, (then) => {
      if (this.#engineStart === invocation && this.#trip === null) this.#merge({ engineRunning: false }, then);
    });
  }

  /** A hybrid drives on its battery as long as there is charge. */
  #consume(km: number): void {
    const { plugIn, battery, statistics } = this.#state;
    const values = this.#state.resources;
    if (plugIn && battery.level !== null && battery.level > 0) {
      const kiloWattHours = (km * (statistics.averageEnergyConsumption ?? 18)) / 100;
      battery.level = Math.max(0, battery.level - (kiloWattHours / battery.capacityKWH) * 100);
    } else if (typeof values.fuelAmount === 'number' && typeof values.averageFuelConsumption === 'number') {
      values.fuelAmount = Math.max(0, values.fuelAmount - (km * values.averageFuelConsumption) / 100);
      if (typeof values.distanceToEmpty === 'number') values.distanceToEmpty = Math.max(0, values.distanceToEmpty - km);
    }
  }

  #arrive({ latitude, longitude, altitude = null, heading = null }: Trip, at: number): void {
    this.#trip = null;
    this.#merge({ engineRunning: false, inUse: false, lock: 'LOCKED' }, at);
    if (latitude !== undefined && longitude !== undefined)
      this.#merge({ location: { latitude, longitude, altitude, heading } }, at);
    this.#touch([...reportedOnTrips, 'location'], at);
  }

  #merge(changes: CarChanges, now: number): void {
    this.#chargeUntil(now);
    const paths = merge(this.#state, changes, '');
    this.#touch(paths, now);
    if (paths.some((path) => /^(reachable|inUse|asleep|powerSaving)$/.test(path))) this.#touch(['availability'], now);
    if (paths.some((path) => path.startsWith('location.'))) this.#touch(['location'], now);
    if (paths.includes('doors.tailGate') && isOpen(this.#state.doors.tailGate))
      this.#tailgateOpened(now, changes.lock !== undefined);
    const isEntered = paths.includes('doors.frontLeft') && isOpen(this.#state.doors.frontLeft);
    if (this.#state.engineRunning === true || isEntered) this.#climateUntil = null;
    this.#touchEnergy(now);
    this.#charge(now);
  }

  /** Brings the level up to date, so that what changes it now starts from there. */
  #chargeUntil(now: number): void {
    const step = this.#chargeStep;
    if (step === null) return;
    this.#chargeStep = null;
    const share = Math.min(1, (now - step.at) / step.ms);
    this.#state.battery.level = step.from + (nextPercent(step.from) - step.from) * share;
  }

  /** Charges the next percent, if the car charges. */
  #charge(now: number): void {
    if (chargingStatus(this.#state) !== 'CHARGING') return;
    const from = this.#state.battery.level ?? 0;
    const step = { from, at: now, ms: stepMs(from, this.#state) };
    this.#chargeStep = step;
    this.#at(now + step.ms, (at) => {
      if (this.#chargeStep !== step) return;
      this.#chargeStep = null;
      this.#state.battery.level = nextPercent(from);
      this.#touchEnergy(at);
      this.#charge(at);
    });
  }

  #touchEnergy(at: number): void {
    for (const [member, value] of Object.entries(energyState(this.#state))) {
      const now = JSON.stringify(value);
      if (this.#lastEnergy[member] !== now) this.#touch([`energy.${member}`], at);
      this.#lastEnergy[member] = now;
    }
  }

  #tailgateOpened(now: number, lockIsSet: boolean): void {
    const running = this.#running(now);
    for (const invocation of running) invocation.opened = true;
    this.#released = [];
    if (running.length > 0 && !lockIsSet) this.#merge({ lock: 'UNLOCKED' }, now);
  }

  #running(now: number): Invocation[] {
    return (this.#released = this.#released.filter((invocation) => !invocation.hasPassed(now)));
  }

  #touch(paths: readonly string[], at: number): void {
    for (const path of paths) this.#measured.set(path, at);
  }

  #at(at: number, act: (at: number) => void): void {
    this.#events.splice(this.#events.findLastIndex((other) => other.at <= at) + 1, 0, { at, act });
  }

  #runDue(): void {
    const now = this.#clock.now();
    let happened = false;
    for (let next = this.#events[0]; next !== undefined && next.at <= now; next = this.#events[0]) {
      this.#events.shift();
      next.act(next.at);
      happened = true;
    }
    if (happened) this.#changed.notify();
  }
}

const doorPaths = ['lock', ...Object.keys(newState().doors).map((name) => `doors.${name}`)];

const reportedOnTrips = [
  ...doorPaths,
  ...Object.keys(newState().windows).map((name) => `windows.${name}`),
  'engineRunning',
  'availability',
  'resources.odometer',
  'resources.tripMeter1',
  'resources.tripMeter2',
  'resources.fuelAmount',
  'resources.averageSpeed',
  'resources.averageFuelConsumption',
  'resources.distanceToEmpty',
  ...Object.keys(newState().statistics).map((name) => `statistics.${name}`),
];

const isLock = (command: string): boolean => command === 'lock' || command === 'lock-reduced-guard';
const isOpen = (word: string | null): boolean => openingState(word) === 'open';

const rounded = (value: number): number => Math.round(value * 100) / 100;

/** The known meters, so many kilometers on. */
const advanced = (meters: Record<string, ResourceValue>, km: number): Record<string, ResourceValue> =>
  Object.fromEntries(
    Object.entries(meters).map(([name, value]) => {
      if (typeof value !== 'number') return [name, value];
      return [name, name === 'odometer' ? Math.floor(value + km) : value + km];
    }),
  );

/** v2 waits for a car for at most so long (docs/internals/vendor-api.md 1.9). */
const longestWait = 150_000;

/** v2 waits for a car for 150 s, or scaled down like the time of one that answers. */
const limitOf = (answerAfterMs: number): number => Math.max(answerAfterMs, Math.min(answerAfterMs * 5, longestWait));

const isReached = ({ reachable, asleep, powerSaving }: CarState): boolean => reachable && !asleep && !powerSaving;

/** The result of a command when it reaches the car (docs/internals/service.md 3). */
function outcomeOf(state: CarState, command: string): string {
  if (!isReached(state)) return state.reachable ? 'VEHICLE_IN_SLEEP' : 'CONNECTION_FAILURE';
  if (state.inUse) return 'REJECTED';
  if (isLock(command) && Object.entries(state.doors).some(([name, word]) => name !== 'tankLid' && isOpen(word)))
    return 'UNABLE_TO_LOCK_DOOR_OPEN';
  return 'COMPLETED';
}

/** The value at a path such as `windows.frontLeft`. */
const partOf = (state: CarState, path: string): unknown => path.split('.').reduce<unknown>(memberOf, state);

/**
 * Merges checked changes into the state, in place.
 * @returns the paths that differ now
 */
function merge(target: Record<string, unknown>, changes: Record<string, unknown>, prefix: string): string[] {
  return Object.entries(changes).flatMap(([key, value]) => {
    const old = target[key];
    if (value === undefined || old === value) return [];
    if (isRecord(old) && isRecord(value)) return merge(old, value, `${prefix}${key}.`);
    target[key] = value;
    return [`${prefix}${key}`];
  });
}
