import type { Clock } from '../util/clock';
import { isResourceName, type ResourceName } from '../catalogue/reads';
import { asBoolean, isModelled, type ResourceValue } from './car-resources';
import {
  asCarChanges,
  newState,
  parseChanges,
  type CarChanges,
  type CarState,
  type DoorName,
  type Override,
  type WindowName,
} from './car-state';
import type { CarOptions } from './demo-car';
import { Invocation, type InvocationRequest } from './invocation';

/** Something that happens to the car at a time to come. */
interface Appointment {
  at: number;
  act: (at: number) => void;
}

/** How many invocations a car remembers; the service keeps its log for a year (specification 2.5). */
const logLength = 20_000;

/**
 * One car: a state, when each part of it was last retrieved, and the commands on their way to it.
 *
 * Nothing runs on a timer. What is due happens, in order and at its own time, as soon as anybody looks; so every view
 * agrees with every other, on any clock.
 */
export class Car {
  readonly vin: string;
  readonly #clock: Clock;
  readonly #state = newState();
  readonly #overrides = new Map<string, Override>();
  readonly #measured = new Map<string, number>();
  readonly #invocations = new Map<string, Invocation>();
  #reportedAt: number;
  #agenda: Appointment[] = [];
  /** The unlock commands whose time to open the tailgate runs. */
  #released: Invocation[] = [];

  constructor({ vin, ...changes }: CarOptions, clock: Clock) {
    this.vin = vin;
    this.#clock = clock;
    this.#reportedAt = clock.now();
    this.replace(changes);
  }

  /** The car as it is now. To change it, use `set`. */
  get state(): Readonly<CarState> {
    this.#settle();
    return this.#state;
  }

  /** The commands that the service took for this car, oldest first. */
  get invocations(): readonly Invocation[] {
    this.#settle();
    return [...this.#invocations.values()];
  }

  /** The commands that the car carried out: `['lock', 'honk']`. */
  get performed(): readonly string[] {
    return this.invocations.filter((invocation) => invocation.actedAt !== null).map((invocation) => invocation.command);
  }

  /**
   * Changes parts of the car; what is not named stays. The times of what differs become now.
   * @throws VehicleError INPUT_INVALID
   */
  set(input: CarChanges): this {
    const { resources = {}, overrides = {}, measuredAt, ...changes } = parseChanges(input);
    this.#settle();
    const now = this.#clock.now();
    this.#merge(changes, now);
    for (const [name, value] of Object.entries(resources))
      if (isResourceName(name)) this.#merge(asCarChanges(name, value), now);
    for (const [path, override] of Object.entries(overrides)) {
      if (override === null) this.#overrides.delete(path);
      else this.#overrides.set(path, override);
    }
    this.#setTimes(measuredAt);
    return this;
  }

  /**
   * A locked and closed car again, then the changes. Commands on their way stay on their way.
   * @throws VehicleError INPUT_INVALID
   */
  replace(input: CarChanges): this {
    const changes = parseChanges(input);
    this.#settle();
    Object.assign(this.#state, newState());
    this.#overrides.clear();
    this.#released = [];
    this.set(changes).report();
    this.#setTimes(changes.measuredAt);
    return this;
  }

  /** The car tells the service everything anew: all times become now. */
  report(): this {
    this.#settle();
    this.#measured.clear();
    this.#reportedAt = this.#clock.now();
    return this;
  }

  openWindow(name: WindowName): this {
    return this.set({ windows: { [name]: 'OPEN' } });
  }

  closeWindow(name: WindowName): this {
    return this.set({ windows: { [name]: 'CLOSED' } });
  }

  openDoor(name: DoorName): this {
    return this.set({ doors: { [name]: 'OPEN' } });
  }

  closeDoor(name: DoorName): this {
    return this.set({ doors: { [name]: 'CLOSED' } });
  }

  /**
   * Somebody pulls at the tailgate (specification 4.2 rules 1 and 2). On a locked car it opens only within the time that
   * an unlock command gave, and the other doors unlock with it.
   * @returns whether it opened
   */
  openTailgate(): boolean {
    if (this.state.lock === 'LOCKED' && this.#running(this.#clock.now()).length === 0) return false;
    this.openDoor('tailGate');
    return true;
  }

  /** When a part was last retrieved from the vehicle, milliseconds since 1970. */
  measuredAt(path: string): number {
    this.#settle();
    return this.#measured.get(path) ?? this.#reportedAt;
  }

  /** What stands on the wire instead of a member, where a test said so. */
  override(path: string): Override | undefined {
    return this.#overrides.get(path);
  }

  resource(name: ResourceName): ResourceValue {
    const path = isModelled(name);
    return path === null ? (this.state.resources[name] ?? null) : asBoolean(partOf(this.state, path));
  }

  resourceMeasuredAt(name: ResourceName): number {
    return this.measuredAt(isModelled(name) ?? `resources.${name}`);
  }

  /** What accessibility says (specification 2.7). An asleep car cannot be told from one in power saving mode. */
  get availability(): { value: string | null; unavailableReason: string | null } {
    const { availability, reachable, inUse, asleep, powerSaving } = this.state;
    if (availability !== null) return availability;
    if (!reachable) return { value: 'UNAVAILABLE', unavailableReason: 'NO_INTERNET' };
    if (inUse) return { value: 'UNAVAILABLE', unavailableReason: 'CAR_IN_USE' };
    if (asleep || powerSaving) return { value: 'UNAVAILABLE', unavailableReason: 'POWER_SAVING_MODE' };
    return { value: 'AVAILABLE', unavailableReason: null };
  }

  /** The service takes a command. The car does it, or not, when it is due. */
  invoke(request: InvocationRequest): Invocation {
    this.#settle();
    const invocation = new Invocation(request, this.#state.commandPlan, this.#clock.now());
    this.#invocations.set(invocation.id, invocation);
    if (this.#invocations.size > logLength) this.#invocations.delete(this.#invocations.keys().next().value ?? '');
    for (const step of invocation.timeline) this.#at(step.at, (at) => this.#arrive(invocation, step.acts, at));
    return invocation;
  }

  invocation(id: string): Invocation | undefined {
    return this.#invocations.get(id);
  }

  /** The status word of a command as it is now. */
  statusOf(invocation: Invocation): string {
    this.#settle();
    return invocation.statusAt(this.#clock.now());
  }

  #arrive(invocation: Invocation, acts: boolean | undefined, at: number): void {
    const lag = this.#state.commandPlan.effectAfterMs;
    const act = (): void => this.#at(at + lag, (then) => this.#act(invocation, then));
    if (invocation.isRuledAt(at)) {
      invocation.ruling = outcomeOf(this.#state, invocation.command);
      // The car answered with the state of its doors: what it refused because of is news (specification 3).
      if (invocation.ruling === 'UNABLE_TO_LOCK_DOOR_OPEN') this.#touchDoors(at);
      if (acts ?? invocation.ruling === 'COMPLETED') act();
    } else if (acts ?? invocation.succeedsAt(at)) act();
  }

  #act(invocation: Invocation, at: number): void {
    if (invocation.actedAt !== null) return;
    invocation.actedAt = at;
    if (isLock(invocation.command)) {
      this.#merge({ lock: 'LOCKED' }, at);
      this.#released = [];
      this.#touchDoors(at);
    }
    // Only the tailgate's handle is released; the lock stays as it is until the tailgate is opened (field notes 1.9).
    if (invocation.command === 'unlock' && this.#state.lock === 'LOCKED') {
      invocation.release(at);
      this.#released.push(invocation);
    }
  }

  #merge(changes: CarChanges, now: number): void {
    const paths = merge(this.#state, changes, '');
    for (const path of paths) this.#measured.set(path, now);
    if (paths.some((path) => /^(availability|reachable|inUse|asleep|powerSaving)\b/.test(path)))
      this.#measured.set('availability', now);
    if (paths.includes('doors.tailGate') && isOpen(this.#state.doors.tailGate))
      this.#tailgateOpened(now, changes.lock !== undefined);
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

  #touchDoors(at: number): void {
    for (const path of ['lock', ...Object.keys(this.#state.doors).map((name) => `doors.${name}`)])
      this.#measured.set(path, at);
  }

  #setTimes(times: Record<string, string> = {}): void {
    for (const [path, time] of Object.entries(times)) this.#measured.set(path, Date.parse(time));
  }

  #at(at: number, act: (at: number) => void): void {
    this.#agenda.splice(this.#agenda.findLastIndex((other) => other.at <= at) + 1, 0, { at, act });
  }

  /** Lets everything happen that is due. */
  #settle(): void {
    const now = this.#clock.now();
    for (let next = this.#agenda[0]; next !== undefined && next.at <= now; next = this.#agenda[0]) {
      this.#agenda.shift();
      next.act(next.at);
    }
  }
}

const isLock = (command: string): boolean => command === 'lock' || command === 'lock-reduced-guard';
const isOpen = (word: string | null): boolean => word === 'OPEN' || word === 'AJAR';

/** What becomes of a command when it reaches the car (specification 3). */
function outcomeOf(state: CarState, command: string): string {
  if (!state.reachable) return 'CONNECTION_FAILURE';
  if (state.asleep || state.powerSaving) return 'VEHICLE_IN_SLEEP';
  if (state.inUse) return 'REJECTED';
  if (isLock(command) && Object.entries(state.doors).some(([name, word]) => name !== 'tankLid' && isOpen(word)))
    return 'UNABLE_TO_LOCK_DOOR_OPEN';
  return 'COMPLETED';
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What stands at `windows.frontLeft`. */
const partOf = (state: CarState, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (isPlain(value) ? value[key] : undefined), state);

/**
 * Merges checked changes into the state, in place.
 * @returns the paths that differ now
 */
function merge(target: Record<string, unknown>, changes: Record<string, unknown>, prefix: string): string[] {
  return Object.entries(changes).flatMap(([key, value]) => {
    const old = target[key];
    if (value === undefined || old === value) return [];
    if (isPlain(old) && isPlain(value)) return merge(old, value, `${prefix}${key}.`);
    target[key] = value;
    return [`${prefix}${key}`];
  });
}
