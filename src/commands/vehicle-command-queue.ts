import { setMaxListeners } from 'node:events';
import { isFinal } from '../catalogue/outcomes';
import { titleOf } from '../catalogue/reads';
import type { VehicleClient } from '../client';
import { VehicleError } from '../errors';
import { clockTime, sentence } from '../sentence';
import { pollCommand } from './follow';
import { maxActingMs, type LoggedCommand } from './logged-command';
import { StateFault } from '../state/state-store';
import { raceAbort, withSignals } from '../util/abort';
import type { Clock } from '../util/clock';

/** How often the link of a command, or a log that cannot be read, is read while another command waits behind it. */
const pollEveryMs = 3_000;

interface QueueRequest {
  vin: string;
  command: string;
  whenBusy: 'refuse' | 'queue';
  /** Reads the link of the command in front. */
  client: Pick<VehicleClient, 'commandStatus'>;
  signal: AbortSignal;
}

/** The right to send a command to a car. */
export interface QueueSlot {
  /** Whether another command was in front when this one was queued. */
  readonly waited: boolean;
  /**
   * Runs `work`, which waits for the car. Meanwhile a newer command for the car supersedes this one; `throwIfSuperseded` throws
   * if there already is one.
   * @throws VehicleError CANCELLED where a newer command came, and what `work` throws
   */
  supersedable<Value>(
    signal: AbortSignal,
    work: (signal: AbortSignal, throwIfSuperseded: () => void) => Promise<Value>,
  ): Promise<Value>;
  /** The command may still act: it blocks the queue until its link gives a final status, or for 150 s. */
  sent(command: LoggedCommand): void;
  end(): void;
}

/**
 * One command at a time for each car. A command blocks the queue of its car until an answer says what became of it (v2 answers when
 * the car has). If the answer is only an acceptance (v1), or if none came, it blocks until its link gives a final status, whoever reads
 * it, or for 150 s (docs/message-contract.md 4).
 */
export class VehicleCommandQueue {
  readonly #clock: Clock;
  readonly #since: number;
  /** From this monotonic time on, no command from before this process blocks a car. */
  readonly #restoresUntil: number;
  /** The commands of each car by VIN, the oldest first; never empty. */
  readonly #entries = new Map<string, readonly QueueEntry[]>();
  /** Each restores the commands of an account, or does nothing where the log cannot be read yet. */
  readonly #restoring = new Set<() => Promise<void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
    this.#restoresUntil = clock.monotonic() + maxActingMs;
  }

  /**
   * Restores commands without a known end from before this process began. No command enters before `find` has found them. If the stored
   * state cannot be read, it is read again while they could still act; any other failure means that nothing is blocked.
   */
  restorePending(find: () => Promise<readonly LoggedCommand[]>): void {
    const restore = async (): Promise<void> => {
      const found = await find().catch((error: unknown) =>
        error instanceof StateFault && this.#clock.monotonic() < this.#restoresUntil ? null : [],
      );
      if (found !== null && this.#restoring.delete(restore)) for (const one of found) this.#restore(one);
    };
    this.#restoring.add(restore);
    void restore();
  }

  #restore(logged: LoggedCommand): void {
    const { id, vin, command, sentAt } = logged.record;
    const now = this.#clock.now();
    const at = Date.parse(sentAt);
    // Commands sent since start-up are already queued. If the clock was behind at start-up, older ones can carry a future timestamp.
    if (Number.isNaN(at) || (at >= this.#since && at <= now) || now - at >= maxActingMs) return;
    if (this.#queueFor(vin).some((known) => known.logged?.id === id)) return;
    const entry = new QueueEntry(vin, command);
    this.#block(entry, logged);
    this.#entries.set(vin, [entry, ...this.#queueFor(vin)]);
  }

  /**
   * Waits until the command is the first of its car.
   * @throws VehicleError VEHICLE_UNAVAILABLE where it is refused, and the reason of the signal
   */
  async enter({ vin, command, whenBusy, client, signal }: QueueRequest): Promise<QueueSlot> {
    while (this.#restoring.size > 0) {
      await raceAbort(Promise.all([...this.#restoring].map((restore) => restore())), signal);
      if (this.#restoring.size > 0) await this.#clock.sleep(pollEveryMs, signal);
    }
    signal.throwIfAborted();
    for (const older of this.#queueFor(vin)) if (older.supersede !== null) this.#supersede(older);
    if (whenBusy === 'refuse' && this.#queueFor(vin).length > 0) {
      await this.#poll(vin, client, signal);
      const [head] = this.#queueFor(vin);
      if (head !== undefined) throw busy(head, this.#clock.now());
    }
    const entry = new QueueEntry(vin, command);
    const waited = this.#queueFor(vin).length > 0;
    this.#entries.set(vin, [...this.#queueFor(vin), entry]);
    try {
      for (let head; (head = this.#queueFor(vin)[0]) !== entry;) {
        await this.#pause(head as QueueEntry, signal);
        // Only the second command of the queue polls, on behalf of all that wait.
        if (this.#queueFor(vin)[1] === entry) await this.#poll(vin, client, signal);
      }
      signal.throwIfAborted();
    } catch (error) {
      this.#end(entry);
      throw error;
    }
    return {
      waited,
      supersedable: async (until, work) => {
        const own = new AbortController();
        entry.supersede = own;
        const throwIfSuperseded = (): void => {
          if (this.#queueFor(vin).at(-1) !== entry) throw superseded();
        };
        try {
          const value = await withSignals([until, own.signal], (signal) => work(signal, throwIfSuperseded));
          // A newer command may have come after the work was done and before this continues.
          own.signal.throwIfAborted();
          return value;
        } finally {
          entry.supersede = null;
        }
      },
      sent: (logged) => this.#block(entry, logged),
      end: () => this.#end(entry),
    };
  }

  /** From now on the link of the command, or the time, ends its turn. */
  #block(entry: QueueEntry, logged: LoggedCommand): void {
    entry.logged = logged;
    // A clock that was set back must not block a car for longer.
    const age = Math.max(0, this.#clock.now() - Date.parse(logged.record.sentAt));
    entry.blocksUntil = this.#clock.monotonic() + maxActingMs - age;
    logged.onFinal.push(() => this.#end(entry));
  }

  #queueFor(vin: string): readonly QueueEntry[] {
    return this.#entries.get(vin) ?? [];
  }

  #supersede(entry: QueueEntry): void {
    entry.supersede?.abort(superseded());
    this.#end(entry);
  }

  #end(entry: QueueEntry): void {
    const left = this.#queueFor(entry.vin).filter((one) => one !== entry);
    if (left.length > 0) this.#entries.set(entry.vin, left);
    else this.#entries.delete(entry.vin);
    entry.ended.abort();
  }

  /** Waits until the next poll is due or the command in front ends. */
  async #pause({ ended }: QueueEntry, signal: AbortSignal): Promise<void> {
    try {
      await withSignals([signal, ended.signal], (either) => this.#clock.sleep(pollEveryMs, either));
    } catch (error) {
      if (signal.aborted) throw error;
    }
  }

  /** Reads the link of the command in front; a poll that fails says nothing about the command. */
  async #poll(vin: string, client: QueueRequest['client'], signal: AbortSignal): Promise<void> {
    const [head] = this.#queueFor(vin);
    if (head?.logged == null) return;
    if (this.#clock.monotonic() >= head.blocksUntil) return this.#end(head);
    if (!head.logged.record.async?.href) return;
    try {
      const outcome = await pollCommand(head.logged, client, { clock: this.#clock, signal });
      if (isFinal(outcome)) this.#end(head);
    } catch (error) {
      if (signal.aborted) throw error;
    }
  }
}

const busy = ({ command, logged }: QueueEntry, now: number): VehicleError => {
  const since = logged === null ? '' : sentence`, sent at ${clockTime(Date.parse(logged.record.sentAt), now)}`;
  return new VehicleError(
    'VEHICLE_UNAVAILABLE',
    sentence`Another command may still be under way to this car (${titleOf(command).toLowerCase()}${since}). This one was not sent. Wait at most 150 seconds and send it again, or let the node queue it.`,
    { status: { word: 'BUSY', command } },
  );
};

const superseded = (): VehicleError =>
  new VehicleError('CANCELLED', 'A newer command for this car replaced this waiting one, so it was not sent.');

class QueueEntry {
  readonly vin: string;
  readonly command: string;
  /** Null until the command is answered or given up. */
  logged: LoggedCommand | null = null;
  /** In monotonic time. */
  blocksUntil = Infinity;
  /** Set while the command only waits for the car. */
  supersede: AbortController | null = null;
  readonly ended = new AbortController();

  constructor(vin: string, command: string) {
    this.vin = vin;
    this.command = command;
    // Every command behind this one listens to it, and there may be many.
    setMaxListeners(0, this.ended.signal);
  }
}
