import { setMaxListeners } from 'node:events';
import { titleOf } from '../catalogue/reads';
import type { VehicleClient } from '../client';
import { VehicleError } from '../errors';
import { clockTime, sentence } from '../sentence';
import type { CommandAttempt } from './attempt';
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
  attempt: CommandAttempt;
}

/** The turn of a command at its car: it may be sent, and then blocks the queue until `end` of the queue, or as `sent` says. */
export class Turn {
  readonly vin: string;
  readonly command: string;
  /** Null for a command from before this process began. */
  readonly attempt: CommandAttempt | null;
  /** Whether another command was in front when this one was queued. */
  waited = false;
  /** Set while the command only waits for the car: a newer command for the car cancels it. */
  isReplaceable = false;
  /** Null until the command is answered or given up. */
  logged: LoggedCommand | null = null;
  /** In monotonic time. */
  blocksUntil = Infinity;
  readonly ended = new AbortController();

  constructor(vin: string, command: string, attempt: CommandAttempt | null) {
    this.vin = vin;
    this.command = command;
    this.attempt = attempt;
    // Every command behind this one listens to it, and there may be many.
    setMaxListeners(0, this.ended.signal);
  }
}

/**
 * One command at a time for each car. A command blocks the queue of its car until an answer says what became of it (v2 answers when
 * the car has). If the answer is only an acceptance (v1), or if none came, it blocks until its link gives a final status, whoever reads
 * it, or for 150 s (docs/internals/contract.md 4).
 */
export class VehicleCommandQueue {
  readonly #clock: Clock;
  readonly #since: number;
  /** From this monotonic time on, no command from before this process blocks a car. */
  readonly #restoresUntil: number;
  /** The commands of each car by VIN, the oldest first; never empty. */
  readonly #turns = new Map<string, readonly Turn[]>();
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
    if (this.#turnsOf(vin).some((known) => known.logged?.id === id)) return;
    const turn = new Turn(vin, command, null);
    this.#turns.set(vin, [turn, ...this.#turnsOf(vin)]);
    this.sent(turn, logged);
  }

  /**
   * Waits until the command is the first of its car.
   * @throws VehicleError VEHICLE_UNAVAILABLE where it is refused, and the reason of the attempt's signal
   */
  async enter({ vin, command, whenBusy, client, attempt }: QueueRequest): Promise<Turn> {
    const { signal } = attempt;
    while (this.#restoring.size > 0) {
      await raceAbort(Promise.all([...this.#restoring].map((restore) => restore())), signal);
      if (this.#restoring.size > 0) await this.#clock.sleep(pollEveryMs, signal);
    }
    signal.throwIfAborted();
    for (const older of this.#turnsOf(vin)) if (older.isReplaceable) this.#replace(older);
    if (whenBusy === 'refuse' && this.#turnsOf(vin).length > 0) {
      await this.#poll(vin, client, signal);
      const [head] = this.#turnsOf(vin);
      if (head !== undefined) throw busy(head, this.#clock.now());
    }
    const turn = new Turn(vin, command, attempt);
    turn.waited = this.#turnsOf(vin).length > 0;
    this.#turns.set(vin, [...this.#turnsOf(vin), turn]);
    try {
      for (let head; (head = this.#turnsOf(vin)[0]) !== turn;) {
        await this.#pause(head as Turn, signal);
        // Only the second command of the queue polls, on behalf of all that wait.
        if (this.#turnsOf(vin)[1] === turn) await this.#poll(vin, client, signal);
      }
      signal.throwIfAborted();
      return turn;
    } catch (error) {
      this.end(turn);
      throw error;
    }
  }

  /** Cancels a command that waits for the car where a newer one is queued already. */
  replaceIfOlder(turn: Turn): void {
    if (this.#turnsOf(turn.vin).at(-1) !== turn) this.#replace(turn);
  }

  #replace(turn: Turn): void {
    turn.attempt?.cancel(
      new VehicleError('CANCELLED', 'A newer command for this car replaced this waiting one, so it was not sent.'),
    );
    this.end(turn);
  }

  /** While the car may still act on the command, it blocks the queue until its link gives a final status, or for 150 s. */
  sent(turn: Turn, logged: LoggedCommand): void {
    turn.logged = logged;
    // A clock that was set back must not block a car for longer.
    const age = Math.max(0, this.#clock.now() - Date.parse(logged.record.sentAt));
    turn.blocksUntil = this.#clock.monotonic() + maxActingMs - age;
    logged.whenOver(() => this.end(turn));
  }

  end(turn: Turn): void {
    const left = this.#turnsOf(turn.vin).filter((one) => one !== turn);
    if (left.length > 0) this.#turns.set(turn.vin, left);
    else this.#turns.delete(turn.vin);
    turn.ended.abort();
  }

  #turnsOf(vin: string): readonly Turn[] {
    return this.#turns.get(vin) ?? [];
  }

  /** Waits until the next poll is due or the command in front ends. */
  async #pause({ ended }: Turn, signal: AbortSignal): Promise<void> {
    try {
      await withSignals([signal, ended.signal], (either) => this.#clock.sleep(pollEveryMs, either));
    } catch (error) {
      if (signal.aborted) throw error;
    }
  }

  /** Reads the link of the command in front; a poll that fails says nothing about the command. */
  async #poll(vin: string, client: QueueRequest['client'], signal: AbortSignal): Promise<void> {
    const [head] = this.#turnsOf(vin);
    if (head?.logged == null) return;
    if (this.#clock.monotonic() >= head.blocksUntil) return this.end(head);
    if (!head.logged.record.async?.href) return;
    try {
      await pollCommand(head.logged, client, { clock: this.#clock, signal });
    } catch (error) {
      if (signal.aborted) throw error;
    }
  }
}

const busy = ({ command, logged }: Turn, now: number): VehicleError => {
  const since = logged === null ? '' : sentence`, sent at ${clockTime(Date.parse(logged.record.sentAt), now)}`;
  return new VehicleError(
    'VEHICLE_UNAVAILABLE',
    sentence`Another command may still be under way to this car (${titleOf(command).toLowerCase()}${since}). This one was not sent. Wait at most 150 seconds and send it again, or let the node queue it.`,
    { status: { word: 'BUSY', command } },
  );
};
