import * as z from 'zod/mini';
import { isOfWallbox } from '../catalogue/commands';
import { isFinal } from '../catalogue/outcomes';
import { titleOf } from '../catalogue/reads';
import type { VehicleClient } from '../client';
import { VehicleError } from '../errors';
import { clockTime, sentence } from '../sentence';
import type { Presence } from '../state/presence';
import { hashed, readForUpdate, StateFault, retryOnConflict } from '../state/state-store';
import { raceAbort, withSignals } from '../util/abort';
import { getOrMake } from '../util/get-or-make';
import { Cancellation, type Signal } from '../util/cancellation';
import type { Clock } from '../util/clock';
import { Serial } from '../util/serial';
import { CancelledByMessage, type CommandAttempt } from './attempt';
import { pollCommand } from './follow';
import { Command, maxActingMs } from './command';
import { parseRecord, type CommandRecord } from './record';
import type { CommandRoute } from './route';
import { minuteMs } from '../util/durations';

/**
 * How often a waiting command looks at the slot and at the link of its holder, and how often a
 * holder makes sure that it has the slot.
 */
const lookAtSlotMs = 3_000;
/**
 * A slot that the store has lost is written again by its holder in this time: a look, and
 * the store's answers.
 */
const reclaimMs = 5_000;
/**
 * The same command of the same node that another process asks for within this time counts as one
 * command.
 */
const joinedMs = 10_000;
/**
 * An ended command is kept for this time after a process learned of it, because another copy may
 * stand in line with the same command.
 */
const recentMs = minuteMs;
/** A waiting holder is overtaken this time after its last moment. */
const overdueMs = minuteMs;
/**
 * No command of a process that runs has the slot for longer after it was sent: a store that went
 * back to an older copy names one that has ended.
 */
const staleMs = 2 * maxActingMs;
/** How often a command that joined another one looks whether that one is answered. */
const joinEveryMs = 1_000;

/**
 * A command, as other processes must know it. Times are in milliseconds since 1970, by
 * the clock of the store.
 */
const commandShape = z.object({
  /** The id of the attempt and of the record. */
  id: z.string(),
  command: z.string(),
  /** A hash of the address and the body: equal for the same command. Empty without a sender. */
  fingerprint: z.string(),
  /** The process that sends it. */
  by: z.string(),
  /**
   * The node that sends it, the same in all copies of the flow; empty if each of them sends its
   * own command.
   */
  sender: z.string(),
  askedAt: z.number(),
  /** Once it was sent. */
  record: z.nullable(z.unknown()),
});
const holderShape = z.extend(commandShape, {
  /** `answered`: the car may still act on it. */
  status: z.enum(['waiting', 'sent', 'answered']),
  /**
   * Which newer commands take its slot while it waits for the car. `arriving`: one that asks for
   * its turn from now on. `all`: also one that stands in line; it is set once the car was found
   * unavailable.
   */
  givesWayTo: z.enum(['none', 'arriving', 'all']),
  /** Until when it may wait. */
  until: z.number(),
  /** When a process began to read its link. */
  polledAt: z.number(),
});
const endedShape = z.extend(commandShape, {
  /** Why it was dropped before it was sent. */
  why: z.nullable(z.enum(['replaced', 'cancelled'])),
  /** Until when an earlier version keeps this. */
  until: z.number(),
});
const slotShape = z.lazy(() =>
  z.object({
    holder: z.nullable(holderShape),
    recent: z.array(endedShape),
    /**
     * Whether the store has lost the slot, and perhaps a command in progress that is not written
     * again yet: the next command waits for that.
     */
    mayHaveLost: z.optional(z.boolean()),
  }),
);

type Holder = z.infer<typeof holderShape>;
type Ended = z.infer<typeof endedShape>;
type Slot = z.infer<typeof slotShape>;

/**
 * What a command finds: it has the slot now (`mayHaveLost`: the store may have lost the command of
 * another process that had it); another one has it; it is free, but this one is not armed; or
 * another copy of the flow sends the same one.
 */
type Found =
  | { kind: 'taken'; mayHaveLost: boolean }
  | { kind: 'busy' }
  | { kind: 'free' }
  | { kind: 'twin'; twin: Holder | Ended };

interface TurnRequest {
  route: CommandRoute;
  whenBusy: 'refuse' | 'queue';
  waitsForCar: boolean;
  waitMs: number;
  /** The `sharedId` of the node that sends it; null if no node does. */
  node: string | null;
  /** Reads the link of the command that has the slot. */
  client: Pick<VehicleClient, 'commandStatus'>;
  attempt: CommandAttempt;
}

/**
 * The turn of a command at its car. Once taken, it blocks the car until `end`, or, after
 * `markAnswered`, until its result is known.
 */
export class Turn {
  readonly id: string;
  /** Whether another command was in front when this one asked for its turn. */
  waited = false;
  /**
   * The record of the same command that another copy of the flow sends: this one is not
   * sent. Otherwise null.
   */
  joined: CommandRecord | null = null;
  /** As this process has stored it, or is about to. */
  holder: Holder;
  /** Whether the store may name it as the holder of the slot. */
  mayBeStored = false;
  /** Whether the same command of another process was here last, which may have been sent since. */
  followsTwin = false;
  /**
   * The process that stored that it is about to be sent: after a long pause, this
   * process has another id.
   */
  sentBy = '';
  /** When it was sent, in monotonic time. */
  leftAt: number | null = null;
  /** Once it is about to be sent. */
  command: Command | null = null;
  /** Aborted when it has ended. */
  readonly over = new Cancellation();
  /** Ends a pause in line. */
  wake: () => void = () => undefined;
  /** How often the slot had become free when this command looked last. */
  frees = 0;

  constructor(
    readonly car: Car,
    /** Null for a command of a former run. */
    readonly attempt: CommandAttempt | null,
    holder: Holder,
  ) {
    this.id = holder.id;
    this.holder = holder;
  }
}

/** The slot of a car as it was read or written last. */
interface Known {
  slot: Slot;
  version: string | null;
  /**
   * Nothing is stored that can be read: no command has used the slot yet, or the store has lost it.
   */
  isMissing: boolean;
}

const missingSlot: Slot = { holder: null, recent: [], mayHaveLost: true };

/** A car and its slot, as this process knows them. */
class Car {
  known: Known = { slot: missingSlot, version: null, isMissing: true };
  /** The command of this process that has the slot. */
  own: Turn | null = null;
  /** The commands of this process that wait for the slot, the oldest first. */
  readonly line: Turn[] = [];
  /** The first looks of commands keep their order. */
  readonly arrivals = new Serial();
  /** Since when, in monotonic time, this process knows that the holder was sent. */
  sentSince = 0;
  /** Since when, in monotonic time, this process knows each command that has ended. */
  endedSince: ReadonlyMap<string, number> = new Map();
  /** A command of another process that has the slot and was answered. */
  answered: Command | null = null;
  frees = 0;

  constructor(readonly key: string) {}

  /** Lets the first command in line look at once. */
  wakeLine(): void {
    this.frees += 1;
    this.line[0]?.wake();
  }
}

/**
 * One command at a time for each car: the slot of a car is a record `turn/<hash>`, which a command
 * takes and releases by a conditional write. A command that was sent keeps it until an answer shows
 * the outcome (v2 answers when the car has). If the answer is only an acceptance (v1), or if none
 * came, it keeps it until any reader of its link gets a final status, or for 150 s
 * (docs/internals/contract.md 4).
 *
 * Waiting commands stand in line in their process. No clock of a store decides whether a car may
 * still act: a holder that was sent blocks the car while its process runs, for 300 s at most, and
 * for 150 s if its process has ended, of the monotonic time of each process that knows of it. A
 * holder whose slot the store has lost writes it again; so a process that finds no slot while
 * others run waits for that before it sends.
 */
export class Turns {
  readonly #baseUrl: string;
  readonly #clock: Clock;
  readonly #presence: Presence;
  /** From this monotonic time on, no command from before this process blocks a car. */
  readonly #restoresUntil: number;
  readonly #cars = new Map<string, Car>();
  /** What this process has sent with a sender, and when it ended, in monotonic time. */
  #ended: { at: number; storeAgain: () => Promise<unknown> }[] = [];
  /** Fulfilled when the commands are known that may be in progress from before this process. */
  #restored: Promise<void> = Promise.resolve();

  /** @param baseUrl the address of the service: the same VIN at another service is another car */
  constructor({ clock, baseUrl, presence }: { clock: Clock; baseUrl: string; presence: Presence }) {
    this.#baseUrl = baseUrl;
    this.#clock = clock;
    this.#presence = presence;
    this.#restoresUntil = clock.monotonic() + maxActingMs;
    // The time for which a command of an ended process blocks its car counts from now, even if no
    // command asks for the car meanwhile.
    const noteSlots = (): void => void this.#noteSlots().catch(() => undefined);
    presence.onGone(noteSlots);
    // A store that was away may have lost what has ended: another copy would send it again.
    presence.onChange(() => {
      if (presence.fault !== null) return;
      for (const { at, storeAgain } of this.#ended)
        if (this.#clock.monotonic() - at < recentMs) void presence.eventually(storeAgain);
    });
    noteSlots();
  }

  async #noteSlots(): Promise<void> {
    // Read again: a command of this process may have taken the slot meanwhile.
    for (const { key, value } of await this.#presence.slots.entries('turn/'))
      if (slotShape.safeParse(value).data?.holder) await this.#read(this.#carAt(key));
  }

  /**
   * Restores commands without a known end from before this process began. No command takes a slot
   * before `find` has found them. If the stored state cannot be read, it is read again while they
   * could still act; any other failure means that nothing is blocked.
   * @param find returns null while they are not known
   */
  restorePending(find: () => Promise<readonly Command[] | null>): void {
    this.#presence.restoreSlots(() => {
      const before = this.#restored;
      const restoring = this.#restoreAll(find);
      this.#restored = before.then(() => restoring);
    });
  }

  async #restoreAll(find: () => Promise<readonly Command[] | null>): Promise<void> {
    const look = (): Promise<readonly Command[] | null> =>
      find().catch((error: unknown) => (error instanceof StateFault ? null : []));
    let found = await look();
    while (found === null && this.#clock.monotonic() < this.#restoresUntil) {
      await this.#clock.sleep(lookAtSlotMs);
      found = await look();
    }
    for (const one of found ?? []) await this.#restore(one);
  }

  async #restore(restored: Command): Promise<void> {
    const { record } = restored;
    // A clock that was set back must not block a car for longer.
    const age = Math.max(0, this.#clock.now() - Date.parse(record.sentAt));
    if (age >= maxActingMs) return;
    const car = this.#carAt(this.#keyOf(record));
    const { id, command } = record;
    const given = { id, command, fingerprint: '', by: this.#presence.id, sender: '', record } as const;
    const times = { askedAt: 0, until: 0, polledAt: 0 } as const;
    const turn = new Turn(car, null, { ...given, ...times, status: 'answered', givesWayTo: 'none' });
    Object.assign(turn, { command: restored, leftAt: this.#clock.monotonic() - age, mayBeStored: true });
    const { own } = car;
    // The command of this process, or a newer one of before.
    if (own !== null && (own.attempt !== null || (own.leftAt ?? 0) >= (turn.leftAt ?? 0))) return;
    car.own = turn;
    await this.#change(car, ({ slot }) => ({ ...slot, holder: turn.holder }));
    restored.whenOver(() => void this.end(turn));
  }

  /**
   * Waits until the command has the slot of its car.
   * @throws VehicleError VEHICLE_UNAVAILABLE if it is refused, STORE_UNAVAILABLE, and the reason of
   * the attempt's signal
   */
  async take(request: TurnRequest): Promise<Turn> {
    const { attempt, route } = request;
    const { signal } = attempt;
    await raceAbort(this.#restored, signal);
    signal.throwIfAborted();
    // After a pause of this process; and the store may have lost who has a slot.
    await this.#presence.renew();
    await this.#presence.settled(signal);
    const car = this.#carAt(this.#keyOf(route));
    const turn = new Turn(car, attempt, this.#holderOf(request));
    try {
      turn.joined = await this.#enter(turn, request);
      signal.throwIfAborted();
      return turn;
    } catch (error) {
      await this.end(turn);
      throw error;
    } finally {
      if (car.line.includes(turn)) {
        car.line.splice(car.line.indexOf(turn), 1);
        car.wakeLine();
      }
    }
  }

  /** Copies of a flow that got one message wait differently until here. */
  #holderOf({ route, attempt, waitsForCar, waitMs, node }: TurnRequest): Holder {
    const now = this.#presence.now();
    const sender = this.#presence.senderOf(node);
    return {
      id: attempt.id,
      command: route.command,
      fingerprint: sender && hashed(`${route.url.href}\n${route.body ?? ''}`),
      by: this.#presence.id,
      sender,
      askedAt: now - attempt.age,
      record: null,
      status: 'waiting',
      givesWayTo: waitsForCar ? 'arriving' : 'none',
      until: now + waitMs,
      polledAt: 0,
    };
  }

  /**
   * @returns null when it has the slot; else the record of the same command, which another
   * copy of the flow sends
   */
  async #enter(turn: Turn, request: TurnRequest): Promise<CommandRecord | null> {
    const { attempt, whenBusy, client } = request;
    const { whyUnarmed } = attempt;
    const { car } = turn;
    let found = await car.arrivals.run(async () => {
      const first = await this.#look(turn, true);
      if (first.kind === 'busy' && whenBusy === 'queue' && whyUnarmed === null) car.line.push(turn);
      return first;
    });
    turn.waited = found.kind !== 'taken';
    if (whyUnarmed !== null) return this.#joinOnly(turn, request, whyUnarmed, found);
    for (let wasPolled = false; found.kind !== 'taken';) {
      if (found.kind === 'twin') {
        const joined = await this.#join(turn, attempt, found.twin);
        if (joined !== null) return joined;
        found = await this.#look(turn);
      } else if (whenBusy === 'queue') found = await this.#waitInLine(turn, request, found);
      else {
        if (wasPolled) throw busy(car.known.slot.holder ?? car.line[0]?.holder, this.#clock.now());
        await this.#poll(car, client, attempt.signal);
        wasPolled = true;
        found = await this.#look(turn);
      }
    }
    return null;
  }

  /** @throws VehicleError `whyUnarmed`, if no armed copy of the flow sends the same command */
  async #joinOnly(
    turn: Turn,
    { attempt, whenBusy }: TurnRequest,
    whyUnarmed: VehicleError,
    first: Found,
  ): Promise<CommandRecord> {
    // The armed copy may wait for its turn, and has none yet if both got the
    // message at the same moment.
    let looks = lookAtSlotMs / joinEveryMs;
    for (let found = first; ; found = await this.#look(turn)) {
      if (found.kind === 'twin') {
        const joined = await this.#join(turn, attempt, found.twin);
        if (joined !== null) return joined;
        continue;
      }
      const mayComeLater = found.kind === 'busy' && whenBusy === 'queue';
      if (!mayComeLater && (looks -= 1) < 0) throw whyUnarmed;
      await this.#clock.sleep(joinEveryMs, attempt.signal);
    }
  }

  /**
   * Waits until the next look is due.
   * @returns what it finds; `found` if another command of this process is in front
   */
  async #waitInLine(turn: Turn, { attempt, client }: TurnRequest, found: Found): Promise<Found> {
    const { car } = turn;
    // One that had joined another has no place yet.
    if (!car.line.includes(turn)) car.line.push(turn);
    await this.#pause(turn, attempt.signal);
    if (car.line[0] !== turn) return found;
    await attempt.confirm?.();
    const next = await this.#look(turn);
    if (next.kind === 'busy') await this.#poll(car, client, attempt.signal);
    return next;
  }

  /** Takes the slot if it is free, or if its holder gives way. */
  async #look(turn: Turn, isArriving = false): Promise<Found> {
    const { car, attempt } = turn;
    turn.frees = car.frees;
    const found = await retryOnConflict(() => this.#tryToTake(turn, isArriving), this.#clock);
    if (found.kind !== 'taken') return found;
    let { mayHaveLost } = found;
    if (mayHaveLost) await this.#clock.sleep(reclaimMs, attempt?.signal);
    // More than once if it is this read that finds that the store was restarted.
    while ((await this.#presence.settled(attempt?.signal)) || mayHaveLost) {
      mayHaveLost = false;
      const { slot } = await this.#read(car);
      const why = slot.recent.find(({ id }) => id === turn.id)?.why;
      if (why) throw droppedError(why);
      // The command that the store had lost has ended meanwhile.
      const twin = slot.recent.find((one) => isSame(one, turn.holder));
      if (twin !== undefined) {
        await this.#release(car, { ...turn.holder, record: null }, null);
        return { kind: 'twin', twin };
      }
      if (slot.holder?.id !== turn.id) return { kind: 'busy' };
    }
    turn.followsTwin = false;
    car.own = turn;
    this.#presence.forOthers(() => void this.#keep(turn));
    return found;
  }

  /** @returns null if another process was faster */
  async #tryToTake(turn: Turn, isArriving: boolean): Promise<Found | null> {
    const { car, attempt } = turn;
    await this.#presence.renew();
    // This process may have got another id while the command waited.
    turn.holder = { ...turn.holder, by: this.#presence.id };
    const own = turn.holder;
    const known = await this.#read(car);
    const { holder, recent } = known.slot;
    const mayHaveLost = known.slot.mayHaveLost === true || turn.followsTwin;
    const isWaitDue = mayHaveLost && this.#presence.others.length > 0;
    const isOver = holder === null || holder.id === turn.id || (await this.#isOver(car, holder));
    const twin = [...(isOver ? [] : [holder]), ...recent].find((one) => isSame(one, own));
    if (twin !== undefined) return { kind: 'twin', twin };
    const isFirst = car.line.length === 0 || car.line[0] === turn;
    if (!isFirst || this.#isOwnInProgress(turn, recent) || !(isOver || givesWay(holder, own, isArriving)))
      return { kind: 'busy' };
    if (attempt?.whyUnarmed != null) return { kind: 'free' };
    turn.mayBeStored = true;
    const ended =
      holder === null || holder.id === turn.id ? recent : this.#withEnded(recent, holder, isOver ? null : 'replaced');
    // One that replaced it would not know that it has to wait for a command
    // that the store has lost.
    const next: Holder = isWaitDue ? { ...own, givesWayTo: 'none' } : own;
    const written = await this.#write(car, known, { holder: next, recent: ended, mayHaveLost });
    return written && { kind: 'taken', mayHaveLost: isWaitDue };
  }

  /** Whether another command of this process is in progress, which the store may have lost. */
  #isOwnInProgress({ car, id }: Turn, recent: readonly Ended[]): boolean {
    const { own } = car;
    if (own === null || own.id === id || !isSent(own.holder)) return false;
    return this.#actsForMs(own) > 0 && !hasOutcome(recent, own.id);
  }

  /** Whether a holder no longer blocks the car. */
  async #isOver(car: Car, { id, by, status, until }: Holder): Promise<boolean> {
    if (car.own?.id === id) return this.#actsForMs(car.own) <= 0;
    const hasEnded = await this.#presence.hasEnded(by);
    if (status === 'waiting') return hasEnded || this.#presence.now() > until + overdueMs;
    return this.#clock.monotonic() - car.sentSince >= (hasEnded ? maxActingMs : staleMs);
  }

  /** For how long the car may still act on a command of this process. */
  #actsForMs({ holder, leftAt }: Turn): number {
    return holder.status === 'answered' && leftAt !== null ? leftAt + maxActingMs - this.#clock.monotonic() : Infinity;
  }

  /** Waits until the slot is released in this process, or the next look is due. */
  async #pause(turn: Turn, signal: Signal): Promise<void> {
    const { car } = turn;
    if (turn.frees !== car.frees) {
      turn.frees = car.frees;
      return;
    }
    const woken = new AbortController();
    turn.wake = () => woken.abort();
    // Only the first one in line looks; each other one is woken when it is the first.
    const pauseMs = car.line[0] === turn ? lookAtSlotMs : maxActingMs;
    await withSignals([signal, woken.signal], (either) => this.#clock.sleep(pauseMs, either)).catch(() =>
      signal.throwIfAborted(),
    );
  }

  /**
   * The record of the same command that another copy of the flow sends (docs/several-node-reds.md),
   * when it is answered.
   * @returns null if that one was not sent; then this one may wait as long as before
   * @throws VehicleError CANCELLED if it was dropped, or the reason of the attempt's signal
   */
  async #join(turn: Turn, attempt: CommandAttempt, { id }: Holder | Ended): Promise<CommandRecord | null> {
    for (let record: CommandRecord | null = null; ;) {
      const { holder, recent } = (await this.#read(turn.car)).slot;
      const ended = recent.find((one) => one.id === id);
      if (ended !== undefined) {
        if (ended.why !== null) throw droppedError(ended.why);
        if (ended.record !== null) return parseRecord(ended.record);
        attempt.resumeDeadline();
        return null;
      }
      if (holder?.id !== id) {
        if (record !== null) return record;
        if (holder === null && !recent.some((one) => isSame(one, turn.holder))) throw disappeared();
        // Another one has taken the slot back. The same one may have been sent meanwhile, and also
        // takes it back.
        turn.followsTwin = true;
        attempt.resumeDeadline();
        return null;
      }
      if (holder.status !== 'waiting') record = parseRecord(holder.record);
      if (holder.status === 'answered' || (await this.#presence.hasEnded(holder.by))) return record;
      // The store went back to a command that has ended.
      if (record !== null && this.#clock.monotonic() - turn.car.sentSince >= staleMs) return record;
      // The answer may take longer than this one could have waited to be sent.
      if (holder.status === 'sent') attempt.pauseDeadline();
      await this.#clock.sleep(joinEveryMs, attempt.signal);
      if (holder.status === 'waiting') await attempt.confirm?.();
    }
  }

  /** Lets a newer command replace one that waits for the car. */
  async giveWay(turn: Turn): Promise<void> {
    if (turn.holder.givesWayTo !== 'all') {
      turn.holder = { ...turn.holder, givesWayTo: 'all' };
      await this.#change(turn.car, ({ slot }) =>
        slot.holder?.id === turn.id ? { ...slot, holder: turn.holder } : slot,
      );
      turn.car.wakeLine();
    }
    turn.attempt?.signal.throwIfAborted();
  }

  /**
   * Records that this command is about to be sent. It keeps the slot until `markAnswered` or `end`.
   * @param command with the record that is valid if no answer comes
   * @throws VehicleError CANCELLED if it has lost the slot; STORE_UNAVAILABLE
   */
  async markSent(turn: Turn, command: Command): Promise<void> {
    const { car, attempt, id } = turn;
    const { record } = command;
    turn.command = command;
    const holder: Holder = { ...turn.holder, by: this.#presence.id, status: 'sent', record };
    const isNext = ({ holder: now }: Slot): boolean => now?.id === id && now.status === 'waiting';
    const { slot } = await this.#change(car, ({ slot: before }) =>
      isNext(before) ? { ...before, holder, mayHaveLost: false } : before,
    );
    attempt?.signal.throwIfAborted();
    if (slot.holder?.id !== id) throw lostTurn();
    turn.holder = holder;
    turn.sentBy = holder.by;
  }

  /**
   * Call it in the statement before the command is sent.
   * @throws VehicleError CANCELLED if another process may have taken its slot
   */
  throwIfMayNotLeave(turn: Turn): void {
    if (!this.#presence.isStill(turn.sentBy) || turn.car.own !== turn) throw lostTurn();
    turn.leftAt = this.#clock.monotonic();
  }

  /**
   * The command keeps the slot while the car may still act on it: until its link returns a final
   * status, or for 150 s.
   */
  async markAnswered(turn: Turn, command: Command): Promise<void> {
    turn.holder = { ...turn.holder, status: 'answered', record: command.record };
    if (!command.mayAct || this.#actsForMs(turn) <= 0) return this.end(turn);
    command.whenOver(() => void this.end(turn));
    await this.#presence.eventually(() => this.#hold(turn));
  }

  /**
   * Releases the slot. Another copy of the flow that asks for the same finds the
   * outcome of the command.
   */
  async end(turn: Turn): Promise<void> {
    const { car, attempt, command } = turn;
    const isSent = attempt === null || attempt.isSent;
    const record = isSent && command !== null ? command.record : null;
    turn.over.abort();
    turn.command = null;
    if (car.own === turn) car.own = null;
    const why = record === null && attempt?.signal.reason instanceof CancelledByMessage ? 'cancelled' : null;
    const holder = { ...turn.holder, record };
    if (record !== null && holder.sender !== '') {
      const at = this.#clock.monotonic();
      const storeAgain = (): Promise<unknown> => this.#release(car, holder, null);
      this.#ended = [...this.#ended.filter((one) => at - one.at < recentMs), { at, storeAgain }];
    }
    // It is released even if it was not taken: the store may have stored it, and its answer was
    // lost.
    if (turn.mayBeStored) await this.#presence.eventually(() => this.#release(car, holder, why));
    car.wakeLine();
  }

  /**
   * Writes the slot again if the store has lost it, cancels a waiting command that has lost the
   * slot or that a message has canceled, and ends the turn when the command is over.
   */
  async #keep(turn: Turn): Promise<void> {
    const { attempt, over } = turn;
    for (;;) {
      const pause = Math.min(lookAtSlotMs, Math.max(0, this.#actsForMs(turn)));
      const isOver = await this.#clock.sleep(pause, over).then(
        () => over.aborted,
        () => true,
      );
      if (isOver) return;
      if (this.#actsForMs(turn) <= 0) return this.end(turn);
      // `presence.fault` shows that the store cannot be reached.
      const known = await this.#hold(turn).catch(() => null);
      if (known === null) continue;
      if (turn.holder.status !== 'waiting') {
        // Another process has read that it is over.
        if (hasOutcome(known.slot.recent, turn.id)) return this.end(turn);
        continue;
      }
      await attempt?.confirm?.().catch((error: unknown) => {
        if (error instanceof VehicleError && !(error instanceof StateFault)) attempt.cancel(error);
      });
    }
  }

  /**
   * Writes the command into its slot, if it is not stored there as it is now. A command that was
   * sent takes it back from one that waits.
   */
  #hold(turn: Turn): Promise<Known> {
    if (turn.holder.by !== this.#presence.id) turn.holder = { ...turn.holder, by: this.#presence.id };
    const { car, id, over } = turn;
    return this.#change(
      car,
      ({ slot, isMissing }) => {
        const { status, by } = turn.holder;
        const { holder, recent } = slot;
        // While it waits, `markSent` may have stored more than this process knows yet.
        const isStored =
          holder?.id === id &&
          ((status === 'waiting' && holder.status !== 'waiting') || (holder.status === status && holder.by === by));
        const isOver = over.aborted || hasOutcome(recent, id);
        const isOwn = holder?.id === id || isMissing || (status !== 'waiting' && !isSent(holder));
        if (isStored || isOver || !isOwn) return slot;
        // One that was sent is the one that was lost; another one may follow one that was answered.
        const mayHaveLost = slot.mayHaveLost === true && status !== 'sent';
        return { ...slot, holder: turn.holder, mayHaveLost };
      },
      true,
    );
  }

  /**
   * Makes the slot of a command free. If the store has lost a command that was sent, it still gets
   * the outcome, because another copy of the flow would send the command again.
   * @param isKept whether another process may need its outcome
   */
  #release(car: Car, ended: Holder, why: Ended['why'], isKept?: boolean): Promise<Known> {
    const { id, record, sender } = ended;
    return this.#change(car, ({ slot }) => {
      const { holder, recent } = slot;
      if (holder?.id === id)
        return { ...slot, holder: null, recent: this.#withEnded(recent, { ...holder, record }, why, isKept) };
      const isLost = record !== null && sender !== '' && !hasOutcome(recent, id);
      return isLost ? { ...slot, recent: this.#withEnded(recent, ended, why) } : slot;
    });
  }

  #withEnded(
    recent: readonly Ended[],
    { id, command, fingerprint, by, sender, askedAt, record }: Holder,
    why: Ended['why'],
    isKept = sender !== '' || why !== null,
  ): Ended[] {
    if (!isKept) return [...recent];
    const until = this.#presence.now() + recentMs;
    const others = recent.filter((one) => one.id !== id);
    return [...others, { id, command, fingerprint, by, sender, askedAt, record, why, until }];
  }

  async #read(car: Car): Promise<Known> {
    const { known } = car;
    const { value, version } = await readForUpdate(this.#presence.slots, car.key, slotShape);
    // This process has written or read the slot meanwhile, and what was read here may be older.
    return car.known === known ? this.#accept(car, value, version) : car.known;
  }

  /** @returns null if another process was faster */
  async #write(car: Car, { version: expected }: Known, { recent, ...slot }: Slot): Promise<Known | null> {
    // Not by the clock of the store: if it is set, a copy would send a command again.
    const since = this.#clock.monotonic() - recentMs;
    const value = { ...slot, recent: recent.filter(({ id }) => (car.endedSince.get(id) ?? Infinity) > since) };
    const version = await this.#presence.slots.write(car.key, value, { expected });
    return version === null ? null : this.#accept(car, value, version);
  }

  /**
   * Changes the slot as this process knows it; if another process has changed it meanwhile,
   * reads it and tries again.
   * @param readsFirst the slot may have changed
   */
  #change(car: Car, change: (known: Known) => Slot, readsFirst = false): Promise<Known> {
    return retryOnConflict(async (isAgain) => {
      const isRead = isAgain || readsFirst;
      const known = isRead ? await this.#read(car) : car.known;
      const slot = change(known);
      if (slot === known.slot) return isRead ? known : null;
      return this.#write(car, known, slot);
    }, this.#clock);
  }

  /** @param slot null if nothing is stored that can be read */
  #accept(car: Car, slot: Slot | null, version: string | null): Known {
    const before = car.known.slot.holder;
    car.known = { slot: slot ?? missingSlot, version, isMissing: slot === null };
    const { holder, recent } = car.known.slot;
    const { endedSince } = car;
    car.endedSince = new Map(recent.map(({ id }) => [id, endedSince.get(id) ?? this.#clock.monotonic()]));
    if (holder?.id !== before?.id || isSent(holder) !== isSent(before)) {
      car.sentSince = this.#clock.monotonic();
      car.answered = null;
    }
    const { own } = car;
    // A slot that the store has lost is not lost to another command.
    if (slot && own !== null && own.holder.status === 'waiting' && holder?.id !== own.id) {
      const why = recent.find(({ id }) => id === own.id)?.why;
      own.attempt?.cancel(why ? droppedError(why) : lostTurn());
    }
    return car.known;
  }

  /**
   * Reads the link of the holder, in one process at a time; a failed poll shows
   * nothing about the command.
   */
  async #poll(car: Car, client: TurnRequest['client'], signal: Signal): Promise<void> {
    const { holder } = car.known.slot;
    if (holder?.status !== 'answered') return;
    const { id } = holder;
    const command =
      (car.own?.id === id ? car.own.command : car.answered) ??
      Command.adopt(parseRecord(holder.record), '', this.#clock.now());
    car.answered = command;
    if (!command.record.async?.href || !(await this.#claimPoll(car, id))) return;
    try {
      await pollCommand(command, client, { clock: this.#clock, signal });
    } catch (error) {
      if (signal.aborted) throw error;
    }
    const { record } = command;
    if (!isFinal(record.outcome)) return;
    await this.#release(car, { ...holder, record }, null, true);
    car.wakeLine();
  }

  /** Whether no other process has read the link since the last look. */
  #claimPoll(car: Car, id: string): Promise<boolean> {
    return retryOnConflict(async (isAgain) => {
      const known = isAgain ? await this.#read(car) : car.known;
      const { holder } = known.slot;
      const polledAt = this.#presence.now();
      // A timer can fire early.
      if (holder?.id !== id || Math.abs(polledAt - holder.polledAt) < lookAtSlotMs - joinEveryMs / 2) return false;
      return (await this.#write(car, known, { ...known.slot, holder: { ...holder, polledAt } })) && true;
    }, this.#clock);
  }

  #carAt(key: string): Car {
    return getOrMake(this.#cars, key, () => new Car(key));
  }

  /**
   * A wallbox has its own turn: the car can accept a command meanwhile, and several
   * cars have one wallbox.
   */
  #keyOf({ vin, wallbox = vin }: { vin: string; wallbox?: string | undefined }): string {
    return `turn/${hashed(`${this.#baseUrl}\n${wallbox}`)}`;
  }
}

const isSent = (holder: Holder | null): boolean => holder !== null && holder.status !== 'waiting';

/** Whether a holder that waits for the car is replaced by a newer command. */
const givesWay = (holder: Holder, next: Holder, isArriving: boolean): boolean =>
  holder.status === 'waiting' &&
  next.askedAt >= holder.askedAt &&
  (holder.givesWayTo === 'all' || (isArriving && holder.givesWayTo === 'arriving'));

/** An entry without a record was dropped before it was sent: the command may be sent later. */
const hasOutcome = (recent: readonly Ended[], id: string): boolean =>
  recent.some((one) => one.id === id && one.record !== null);

/** Whether two copies of a flow send one command. */
const isSame = (one: Holder | Ended, next: Holder): boolean =>
  one.sender !== '' &&
  one.sender === next.sender &&
  one.fingerprint === next.fingerprint &&
  one.by !== next.by &&
  // If one ended without being sent, and no message or newer command dropped it,
  // another copy may send it.
  ('status' in one || one.why !== null || one.record !== null) &&
  Math.abs(next.askedAt - one.askedAt) < joinedMs;

const droppedError = (why: NonNullable<Ended['why']>): VehicleError =>
  why === 'cancelled'
    ? new CancelledByMessage()
    : new VehicleError('CANCELLED', 'A newer command for this car replaced this waiting one, so it was not sent.');

const lostTurn = (): VehicleError =>
  new VehicleError(
    'CANCELLED',
    'The other Node-REDs did not hear from this one for some seconds, so its command lost its turn and was not sent. Send it again.',
  );

const disappeared = (): VehicleError =>
  new VehicleError(
    'CANCELLED',
    'The same command of another Node-RED disappeared from the shared store, so this one was not sent. Check the car before you send it again.',
  );

const busy = (holder: Holder | undefined, now: number): VehicleError => {
  const command = holder?.command ?? '';
  const since =
    holder?.status === 'answered'
      ? sentence`, sent at ${clockTime(Date.parse(parseRecord(holder.record).sentAt), now)}`
      : '';
  const title = titleOf(command).toLowerCase();
  return new VehicleError(
    'VEHICLE_UNAVAILABLE',
    isOfWallbox(command)
      ? sentence`Another command to this wallbox may still be in progress (${title}${since}), so this one was not sent. Send it again after at most 150 seconds, or let the node queue it.`
      : sentence`Another command to this car may still be in progress (${title}${since}), so this one was not sent. Send it again after at most 150 seconds, or let the node queue it.`,
    { status: { word: 'BUSY', command } },
  );
};
