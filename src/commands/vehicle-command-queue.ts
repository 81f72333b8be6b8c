import * as z from 'zod/mini';
import { isFinal } from '../catalogue/outcomes';
import { titleOf } from '../catalogue/reads';
import type { VehicleClient } from '../client';
import { asVehicleError, VehicleError } from '../errors';
import { clockTime, sentence } from '../sentence';
import { LocalPresence, type Presence } from '../state/presence';
import {
  hashed,
  MemoryStateStore,
  readForUpdate,
  StateFault,
  retryOnConflict,
  type StateStore,
} from '../state/state-store';
import { raceAbort, reasonOf, withSignals } from '../util/abort';
import type { Clock } from '../util/clock';
import { Serial } from '../util/serial';
import type { CommandAttempt } from './attempt';
import { pollCommand } from './follow';
import { LoggedCommand, maxActingMs } from './logged-command';
import { parseRecord, type CommandRecord } from './record';
import type { CommandRoute } from './route';

/** How often the queue, the link of the command in front, or a log that cannot be read, is read while a command waits. */
const pollEveryMs = 3_000;
/** For so long, the same command of the same node in another process counts as one command. */
const joinedMs = 10_000;
/** A waiting command that its process could not take out of the queue is ignored so long after its last moment. */
const overdueMs = 60_000;
/** How often a command that joined another one looks whether that one is answered. */
const joinEveryMs = 1_000;

/** A command in the queue of its car. Times are in milliseconds since 1970, by the clock of the store. */
const entryShape = z.object({
  /** Of the attempt, and of the record. */
  id: z.string(),
  command: z.string(),
  /** A hash of the address and the body: equal for the same command. */
  what: z.string(),
  /** The process that sends it; empty for a command from before this process began. */
  member: z.string(),
  /** The group and the node that sends it, the same in all copies of the flow; empty without a group. */
  sender: z.string(),
  /** `over`: ended, and kept for a copy of the flow that may ask for the same. */
  status: z.enum(['waiting', 'sent', 'over']),
  /** Why it was dropped before it was sent. */
  why: z.nullable(z.enum(['replaced', 'cancelled'])),
  /** While it is the first one and not sent, a newer command replaces it. */
  waitsForCar: z.boolean(),
  askedAt: z.number(),
  /** While it waits: until when it may wait. When it is over: until when it is kept. */
  until: z.number(),
  sentAt: z.number(),
  isAnswered: z.boolean(),
  /** Once it is sent. */
  record: z.nullable(z.unknown()),
});
type Entry = z.infer<typeof entryShape>;
const queueShape = z.lazy(() => z.array(entryShape));

interface QueueRequest {
  route: CommandRoute;
  whenBusy: 'refuse' | 'queue';
  waitsForCar: boolean;
  waitMs: number;
  /** The id of the node that sends it; null where no node does. */
  node: string | null;
  /** Reads the link of the command in front. */
  client: Pick<VehicleClient, 'commandStatus'>;
  attempt: CommandAttempt;
}

/** The turn of a command at its car: it blocks the car until `end`, or, after `sent`, until its result is known. */
export interface Turn {
  readonly key: string;
  readonly attempt: CommandAttempt;
  /** Whether another command was in front when this one was queued. */
  readonly waited: boolean;
  /** The record of the same command that another copy of the flow sends: this one is not sent; null in all other cases. */
  readonly joined: CommandRecord | null;
  /** In the queue, from before it is sent. */
  entry?: Entry | undefined;
}

/** The queue of a car, as this process knows it. */
class CarQueue {
  version: string | null = null;
  entries: readonly Entry[] = [];
  /** The commands of this process in it, by id. */
  readonly attempts = new Map<string, CommandAttempt>();
  /** The commands that were sent and answered, by id. */
  readonly logged = new Map<string, LoggedCommand>();
  /** Until when, in monotonic time, a command that was sent blocks the car, by id and time of sending. */
  readonly blocksUntil = new Map<string, number>();
  /** Called when the queue changes. */
  readonly waiting = new Set<() => void>();
}

interface QueueOptions {
  clock: Clock;
  /** Of the service: its cars are others than those of another service. */
  baseUrl: string;
  /** Where the queues outlive the process; by default they end with it. */
  store?: StateStore;
  /** Of this process in `store`. Default: no other process uses it. */
  presence?: Presence;
}

/**
 * One command at a time for each car. A command blocks the queue of its car until an answer says what became of it (v2 answers when
 * the car has). If the answer is only an acceptance (v1), or if none came, it blocks until any reader of its link gets a final status,
 * or for 150 s (docs/internals/contract.md 4).
 *
 * The queue of a car is a record `turn/<hash>`, changed by compare-and-set, so that several processes can share it. Another process drops a
 * waiting command by changing the record; the process of the command then cannot change it to `sent`.
 */
export class VehicleCommandQueue {
  readonly #options: QueueOptions;
  readonly #clock: Clock;
  readonly #store: StateStore;
  readonly #presence: Presence;
  /** From this monotonic time on, no command from before this process blocks a car. */
  readonly #restoresUntil: number;
  /** Commands enter their queues in the order in which they were asked for. */
  readonly #arrivals = new Serial();
  /** By key; without those that are empty. */
  readonly #cars = new Map<string, CarQueue>();
  /** Each restores the commands of an account, or does nothing where the log cannot be read yet. */
  readonly #restoring = new Set<() => Promise<void>>();

  constructor(options: QueueOptions) {
    const { clock, store = new MemoryStateStore(), presence = new LocalPresence(clock) } = options;
    this.#options = options;
    this.#clock = clock;
    this.#store = store;
    this.#presence = presence;
    this.#restoresUntil = clock.monotonic() + maxActingMs;
  }

  /**
   * Restores commands without a known end from before this process began. No command enters before `find` has found them. If the stored
   * state cannot be read, it is read again while they could still act; any other failure means that nothing is blocked.
   * @param find returns null while they are not known
   */
  restorePending(find: () => Promise<readonly LoggedCommand[] | null>): void {
    // A shared queue has outlived the process.
    if (this.#presence.isShared) return;
    const restore = async (): Promise<void> => {
      const asked = await find().catch((error: unknown) => (error instanceof StateFault ? null : []));
      const found = asked ?? (this.#clock.monotonic() < this.#restoresUntil ? null : []);
      if (found === null || !this.#restoring.has(restore)) return;
      for (const one of found) await this.#restore(one);
      this.#restoring.delete(restore);
    };
    this.#restoring.add(restore);
    void restore();
  }

  async #restore(logged: LoggedCommand): Promise<void> {
    const { id, vin, command, sentAt } = logged.record;
    const at = Date.parse(sentAt);
    if (this.#clock.now() - at >= maxActingMs) return;
    const key = this.#keyOf(vin);
    const entry: Entry = {
      id,
      command,
      what: '',
      member: '',
      sender: '',
      status: 'sent',
      why: null,
      waitsForCar: false,
      askedAt: at,
      until: at,
      sentAt: at,
      isAnswered: true,
      record: logged.record,
    };
    await this.#change(key, (entries) => (entries.some((known) => known.id === id) ? entries : [entry, ...entries]));
    this.#follow(key, id, logged);
  }

  /**
   * Waits until the command is the first of its car.
   * @throws VehicleError VEHICLE_UNAVAILABLE where it is refused, STORE_UNAVAILABLE, and the reason of the attempt's signal
   */
  async enter(request: QueueRequest): Promise<Turn> {
    const { route, client, attempt } = request;
    const { id, signal } = attempt;
    if (!this.#presence.isShared)
      await raceAbort(
        this.#arrivals.run(() => this.#untilRestored(signal)),
        signal,
      );
    signal.throwIfAborted();
    // After a pause of this process; and the store may have lost who has a turn.
    await this.#presence.renew();
    await this.#presence.settled(signal);
    const key = this.#keyOf(route.vin);
    try {
      let entered = await this.#append(key, request);
      if (attempt.unarmed !== null && entered !== 'same') throw attempt.unarmed;
      while (entered === 'same') {
        const joined = await this.#joined(key, request);
        if (joined !== null) return { key, attempt, waited: false, joined };
        if (attempt.unarmed !== null) throw attempt.unarmed;
        attempt.relimit();
        entered = await this.#append(key, request);
      }
      // A call to the store may have found that it was restarted.
      await this.#presence.settled(signal);
      if (entered === 'refused') {
        await this.#poll(key, client, signal);
        if ((await this.#append(key, request, false)) === 'refused')
          throw busy(this.#inFront(key)[0], this.#clock.now());
      }
      const waited = this.#inFront(key)[0]?.id !== id;
      while (this.#inFront(key)[0]?.id !== id) {
        if (!(await this.#pause(key, signal))) continue;
        await this.#read(key);
        // Only the second command of the queue polls, on behalf of all that wait.
        if (this.#inFront(key)[1]?.id === id) await this.#poll(key, client, signal);
      }
      signal.throwIfAborted();
      return { key, attempt, waited, joined: null };
    } catch (error) {
      // Also where it was not entered: the store may have taken it, and its answer was lost.
      await this.end({ key, attempt });
      throw error;
    }
  }

  async #untilRestored(signal: AbortSignal): Promise<void> {
    while (this.#restoring.size > 0) {
      await raceAbort(Promise.all([...this.#restoring].map((restore) => restore())), signal);
      if (this.#restoring.size > 0) await this.#clock.sleep(pollEveryMs, signal);
    }
  }

  /** Adds a command, and drops the first one where it only waits for the car. */
  async #append(
    key: string,
    { whenBusy, attempt, ...request }: QueueRequest,
    mayJoin = this.#presence.joinsCommands,
  ): Promise<'added' | 'refused' | 'same'> {
    const entry = this.#entryOf(attempt.id, request);
    let result: 'added' | 'refused' | 'same' = 'added';
    const append = (entries: readonly Entry[]): readonly Entry[] => {
      result = 'same';
      if (mayJoin && entries.some((one) => isSame(one, entry))) return entries;
      result = 'refused';
      if (attempt.unarmed !== null) return entries;
      const [head] = this.#inFront(key, entries);
      const isReplaced = head?.status === 'waiting' && head.waitsForCar;
      const left = isReplaced ? replaced(entries, this.#dropped(head, 'replaced')) : entries;
      result = whenBusy === 'refuse' && this.#inFront(key, left).length > 0 ? 'refused' : 'added';
      return result === 'refused' ? left : [...left, entry];
    };
    await this.#change(key, append, this.#presence.isShared);
    if (result === 'added') this.#carOf(key).attempts.set(attempt.id, attempt);
    return result;
  }

  #entryOf(id: string, { route, waitsForCar, waitMs, node }: Omit<QueueRequest, 'whenBusy' | 'attempt'>): Entry {
    const now = this.#now();
    return {
      id,
      command: route.command,
      what: whatOf(route),
      member: this.#presence.id,
      sender: senderOf(node, this.#presence),
      status: 'waiting',
      why: null,
      waitsForCar,
      askedAt: now,
      until: now + waitMs,
      sentAt: 0,
      isAnswered: false,
      record: null,
    };
  }

  /** Lets a newer command of the queue replace one that waits for the car. */
  async giveWay({ key, attempt: { id, signal } }: Turn): Promise<void> {
    await this.#change(key, (entries) => {
      const entry = entries.find((one) => one.id === id);
      return entry !== undefined && this.#inFront(key, entries).at(-1) !== entry
        ? replaced(entries, this.#dropped(entry, 'replaced'))
        : entries;
    });
    signal.throwIfAborted();
  }

  /** Waits, and notices meanwhile that another process drops the command. */
  async sleep({ key, attempt: { signal } }: Turn, ms: number): Promise<void> {
    if (!this.#presence.isShared) return this.#clock.sleep(ms, signal);
    const end = this.#clock.monotonic() + ms;
    for (let left = ms; left > 0; left = end - this.#clock.monotonic()) {
      await this.#clock.sleep(Math.min(left, pollEveryMs), signal);
      await this.#read(key).catch(() => undefined);
    }
  }

  /**
   * Records that this command is about to be sent. It keeps its place in the queue and blocks the car until `sent` or `end`.
   * @param record the one that is valid if no answer ever comes
   * @throws VehicleError CANCELLED where another process has dropped it; STORE_UNAVAILABLE
   */
  async claimSending(turn: Turn, record: CommandRecord): Promise<void> {
    const {
      key,
      attempt: { id, signal },
    } = turn;
    const entries = await this.#change(key, (before) => {
      const [head] = this.#inFront(key, before);
      const isNext = head?.id === id && head.status === 'waiting';
      return isNext ? replaced(before, { ...head, status: 'sent', sentAt: this.#now(), record }) : before;
    });
    signal.throwIfAborted();
    turn.entry = entries.find((entry) => entry.id === id);
    if (turn.entry?.status !== 'sent') throw lostTurn();
    if (this.#presence.isShared) void this.#keepSent(key, turn.entry);
  }

  /** Stores the command again if a restart of the store has lost it: the answer of a car may come after the 15 seconds in which a restarted store admits no command. */
  async #keepSent(key: string, entry: Entry): Promise<void> {
    const { id } = entry;
    const isOpen = (): boolean => this.#cars.get(key)?.attempts.has(id) === true;
    for (; isOpen(); await this.#clock.sleep(pollEveryMs))
      if (this.#presence.settlesInMs > 0)
        await this.#change(key, (entries) => withEntry(entries, entry)).catch(() => undefined);
  }

  /** Call it in the statement before the command is sent. @throws VehicleError CANCELLED if another process may have taken its turn */
  assertHeld(): void {
    if (!this.#presence.isSure) throw lostTurn();
  }

  /** While the car may still act on the command, it blocks the queue until its link gives a final status, or for 150 s. */
  async sent({ key, attempt: { id }, entry }: Turn, logged: LoggedCommand): Promise<void> {
    if (!logged.mayAct) return this.end({ key, attempt: { id } }, logged.record);
    // A clock that was set back must not block a car for longer.
    const age = Math.max(0, this.#clock.now() - Date.parse(logged.record.sentAt));
    const sentAt = this.#now() - age;
    this.#follow(key, id, logged);
    await this.#changeLate(key, (entries) => {
      // A store that has forgotten the command gets it again.
      const known = entry === undefined ? entries : withEntry(entries, entry);
      return known.map((one) =>
        one.id === id && one.status === 'sent' ? { ...one, sentAt, isAnswered: true, record: logged.record } : one,
      );
    });
    this.#carOf(key).attempts.delete(id);
  }

  #follow(key: string, id: string, logged: LoggedCommand): void {
    this.#carOf(key).logged.set(id, logged);
    logged.whenOver(() => void this.end({ key, attempt: { id } }, logged.record));
  }

  /**
   * Takes a command out of its queue. Another copy of the flow that asks for the same finds for some seconds more what became of it.
   * @param record null where it was not sent
   */
  async end(
    { key, attempt: { id } }: { key: string; attempt: { id: string } },
    record: CommandRecord | null = null,
  ): Promise<void> {
    const { attempts } = this.#carOf(key);
    const why = record === null && isCancelled(attempts.get(id)) ? 'cancelled' : null;
    attempts.delete(id);
    const isKept = this.#presence.group !== null;
    await this.#changeLate(key, (entries) => {
      const entry = entries.find((one) => one.id === id);
      if (entry === undefined || (isKept && entry.status === 'over')) return entries;
      return isKept && entry.sender !== ''
        ? replaced(entries, { ...this.#dropped(entry, why), record })
        : entries.filter((one) => one !== entry);
    });
  }

  /** Changes the queue now, or later if the store cannot be reached: no command must stay in the queue, and a failure here must not fail a command that was answered. */
  async #changeLate(key: string, change: (entries: readonly Entry[]) => readonly Entry[]): Promise<void> {
    await this.#presence.eventually(() => this.#change(key, change));
  }

  /**
   * The record of the same command that another copy of the flow sends (docs/several-node-reds.md), when it is answered.
   * @returns null where that one was not sent
   * @throws VehicleError CANCELLED where it was dropped, or the reason of the attempt's signal
   */
  async #joined(key: string, request: QueueRequest): Promise<CommandRecord | null> {
    const { signal, id: own } = request.attempt;
    const entry = this.#entryOf(own, request);
    let first = this.#carOf(key).entries.find((one) => isSame(one, entry));
    while (first !== undefined) {
      const { id, status, why, isAnswered, member } = first;
      if (why !== null) throw droppedError(why);
      const record = first.record === null ? null : parseRecord(first.record);
      if (status === 'over' || isAnswered) return record;
      const hasEnded = await this.#presence.hasEnded(member);
      if (hasEnded && record !== null) return record;
      // The answer may take longer than this one could have waited to be sent.
      if (status === 'sent') request.attempt.unlimit();
      if (hasEnded) await this.#drop(key, id);
      else await this.#clock.sleep(joinEveryMs, signal);
      await this.#read(key);
      first = this.#carOf(key).entries.find((one) => one.id === id);
      if (first === undefined && record !== null) return record;
    }
    throw new VehicleError(
      'CANCELLED',
      'The same command of another Node-RED disappeared from the shared store, so this one was not sent. Look at the car before you send it again.',
    );
  }

  /** Takes a command that was not sent out of the queue. */
  #drop(key: string, id: string): Promise<unknown> {
    return this.#change(key, (entries) => {
      const entry = entries.find((one) => one.id === id && one.status === 'waiting');
      return entry === undefined ? entries : replaced(entries, this.#dropped(entry));
    });
  }

  #dropped(entry: Entry, why: Entry['why'] = null): Entry {
    return { ...entry, status: 'over', why, until: this.#now() + joinedMs };
  }

  /** The commands that have not ended, the oldest first. */
  #inFront(key: string, entries = this.#carOf(key).entries): Entry[] {
    return entries.filter((entry) => entry.status !== 'over' && this.#mayBlock(this.#carOf(key), entry));
  }

  /** Whether a command still counts: one that can block the car, or one that is kept for another copy. */
  #mayBlock({ attempts, blocksUntil }: CarQueue, { id, status, until, sentAt }: Entry): boolean {
    const now = this.#now();
    if (status === 'over') return now < until;
    const attempt = attempts.get(id);
    if (status === 'waiting') return attempt !== undefined || now <= until + overdueMs;
    // This process waits for its answer.
    if (attempt?.status === 'sent') return true;
    const time = this.#clock.monotonic();
    const age = Math.max(0, now - sentAt);
    const key = `${id} ${sentAt}`;
    const blocks = blocksUntil.get(key) ?? time + maxActingMs - age;
    blocksUntil.set(key, blocks);
    return time < blocks;
  }

  async #read(key: string): Promise<void> {
    const { version } = this.#carOf(key);
    const stored = await readForUpdate(this.#store, key);
    // This process has written or read the queue meanwhile, and what was read here may be older.
    if (this.#carOf(key).version !== version) return;
    const entries = queueShape.safeParse(stored?.value);
    this.#setEntries(key, stored?.version ?? null, entries.data ?? []);
  }

  /**
   * Changes the queue as this process knows it; if another process has changed it meanwhile, reads it and tries again.
   * @param readsFirst reads the queue before the first try: saves a failed try if another process has probably changed it
   */
  #change(
    key: string,
    change: (entries: readonly Entry[]) => readonly Entry[],
    readsFirst = false,
  ): Promise<readonly Entry[]> {
    return retryOnConflict(async (isAgain) => {
      const isRead = isAgain || readsFirst;
      if (isRead) await this.#read(key);
      const { entries, version } = this.#carOf(key);
      const left = change(entries);
      if (left === entries) return isRead || !this.#presence.isShared ? entries : null;
      const condition = { expected: version };
      if (left.length === 0)
        return (await this.#store.remove(key, condition)) ? this.#setEntries(key, null, left) : null;
      const next = await this.#store.write(key, left, condition);
      return next === null ? null : this.#setEntries(key, next, left);
    });
  }

  #setEntries(key: string, version: string | null, entries: readonly Entry[]): readonly Entry[] {
    const car = this.#carOf(key);
    car.version = version;
    car.entries = entries.filter((entry) => this.#mayBlock(car, entry));
    for (const [id, attempt] of car.attempts) {
      const entry = entries.find((one) => one.id === id);
      if (entry === undefined || entry.status === 'over')
        attempt.cancel(entry?.why ? droppedError(entry.why) : lostTurn());
    }
    // In a group, commands that are over stay in the queue for a while, so the facts about removed commands are deleted one by one.
    for (const known of [car.logged, car.blocksUntil])
      for (const id of known.keys()) if (!entries.some((entry) => id.startsWith(entry.id))) known.delete(id);
    for (const wake of car.waiting) wake();
    if (entries.length + car.attempts.size + car.waiting.size === 0) this.#cars.delete(key);
    return car.entries;
  }

  #carOf(key: string): CarQueue {
    const car = this.#cars.get(key) ?? new CarQueue();
    this.#cars.set(key, car);
    return car;
  }

  /** Waits until the next poll is due. @returns false where the queue has changed before */
  async #pause(key: string, signal: AbortSignal): Promise<boolean> {
    const { waiting } = this.#carOf(key);
    const changed = new AbortController();
    const [head] = this.#inFront(key);
    const wake = (): void => {
      if (this.#inFront(key)[0]?.id !== head?.id) changed.abort();
    };
    waiting.add(wake);
    try {
      await withSignals([signal, changed.signal], (either) => this.#clock.sleep(pollEveryMs, either));
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      return false;
    } finally {
      waiting.delete(wake);
    }
  }

  /** Reads the link of the command in front; a poll that fails says nothing about the command. */
  async #poll(key: string, client: QueueRequest['client'], signal: AbortSignal): Promise<void> {
    const [head] = this.#inFront(key);
    if (head === undefined) return;
    if (head.status === 'waiting') {
      if (await this.#presence.hasEnded(head.member)) await this.#drop(key, head.id);
      return;
    }
    if (!head.isAnswered) return;
    const { logged: known } = this.#carOf(key);
    const logged = known.get(head.id) ?? LoggedCommand.adopt(parseRecord(head.record), '', this.#clock.now());
    known.set(head.id, logged);
    if (!logged.record.async?.href) return;
    try {
      await pollCommand(logged, client, { clock: this.#clock, signal });
    } catch (error) {
      if (signal.aborted) throw error;
    }
    if (isFinal(logged.record.outcome)) await this.end({ key, attempt: head }, logged.record);
  }

  #now(): number {
    return this.#presence.now();
  }

  #keyOf(vin: string): string {
    return `turn/${hashed(`${this.#options.baseUrl}\n${vin}`)}`;
  }
}

/**
 * Drops the waiting commands of a node, in whichever process of its group.
 * @throws StateFault
 */
export async function cancelWaiting(store: StateStore, presence: Presence, node: string): Promise<void> {
  const sender = senderOf(node, presence);
  if (sender === '') return;
  const isWaiting = (entry: Entry): boolean => entry.sender === sender && entry.status === 'waiting';
  for (const { key } of await store.entries('turn/'))
    await retryOnConflict(async () => {
      const stored = await store.read(key);
      const entries = queueShape.safeParse(stored?.value).data ?? [];
      if (!entries.some(isWaiting)) return '';
      const until = presence.now() + joinedMs;
      const left = entries.map((one) =>
        isWaiting(one) ? { ...one, status: 'over' as const, why: 'cancelled' as const, until } : one,
      );
      return store.write(key, left, { expected: stored?.version ?? null });
    });
}

const whatOf = ({ url, body = '' }: CommandRoute): string => hashed(`${url.href}\n${body}`);

const senderOf = (node: string | null, { group }: Presence): string =>
  node === null || group === null ? '' : `${group}/${node}`;

/** Whether two copies of a flow send one command. */
const isSame = (one: Entry, next: Entry): boolean =>
  one.sender !== '' &&
  one.sender === next.sender &&
  one.what === next.what &&
  one.member !== next.member &&
  // One that ended by itself and was not sent is left to the others.
  (one.status !== 'over' || one.why !== null || one.record !== null) &&
  next.askedAt - one.askedAt < joinedMs;

const replaced = (entries: readonly Entry[], changed: Entry): readonly Entry[] =>
  entries.map((one) => (one.id === changed.id ? changed : one));

export const cancelledByMessage = (): VehicleError =>
  new VehicleError('CANCELLED', 'The waiting command was cancelled by a message. It was not sent.');

/** A copy that waits with the same command must not send it. */
const isCancelled = (attempt: CommandAttempt | undefined): boolean =>
  attempt?.signal.aborted === true && asVehicleError(reasonOf(attempt.signal)).message === cancelledByMessage().message;

const withEntry = (entries: readonly Entry[], entry: Entry): readonly Entry[] =>
  entries.some(({ id }) => id === entry.id) ? entries : [entry, ...entries];

const droppedError = (why: NonNullable<Entry['why']>): VehicleError =>
  why === 'cancelled'
    ? cancelledByMessage()
    : new VehicleError('CANCELLED', 'A newer command for this car replaced this waiting one, so it was not sent.');

const lostTurn = (): VehicleError =>
  new VehicleError(
    'CANCELLED',
    'The other Node-REDs did not hear from this one for some seconds, so its command lost its turn and was not sent. Send it again.',
  );

const busy = (head: Entry | undefined, now: number): VehicleError => {
  const command = head?.command ?? '';
  const since = head?.isAnswered
    ? sentence`, sent at ${clockTime(Date.parse(parseRecord(head.record).sentAt), now)}`
    : '';
  return new VehicleError(
    'VEHICLE_UNAVAILABLE',
    sentence`Another command may still be under way to this car (${titleOf(command).toLowerCase()}${since}). This one was not sent. Wait at most 150 seconds and send it again, or let the node queue it.`,
    { status: { word: 'BUSY', command } },
  );
};
