import { randomUUID } from 'node:crypto';
import { isFinal, isUnderWay, meaningOf } from '../catalogue/outcomes';
import { VehicleError } from '../errors';
import { UnconfirmedCommandError, type ReadyToPost } from '../http/requests';
import { sentence, type Sentence } from '../sentence';
import { linkSignals, reasonOf } from '../util/abort';
import type { Clock } from '../util/clock';
import { parseInvocation, type Invocation } from '../wire/invocations';
import { noAnswer, recordOf, unanswered, type CommandRecord } from './record';
import type { CommandRoute } from './route';

/**
 * The progress of a command. `waiting`: not sent yet. `sent`: sent, and not answered yet. `answered`: an answer or a refusal
 * ended it. `unconfirmed`: the car may still act. `dropped`: never sent.
 */
type AttemptStatus = 'waiting' | 'sent' | 'answered' | 'unconfirmed' | 'dropped';

interface AttemptOptions {
  clock: Clock;
  /** Aborted when the sender is closed. Then a waiting command is dropped, and a sent one no longer waits for its answer. */
  signal?: AbortSignal | undefined;
}

/** v1 answers at once; v2 answers when the car did, after up to 150 s (docs/internals/vendor-api.md 1.9). */
const timeoutMs = { 'connected-v1': 60_000, 'connected-v2': 160_000 } as const;

/** One command on its way: it is sent once, or not at all. Owns its deadline and its cancellation; call `end` when it is over. */
export class CommandAttempt {
  readonly id = randomUUID();
  /** Decides at the last moment, besides the deadline and the cancellation: throws if the command must not leave. */
  check: (() => void) | null = null;
  /** Awaited before the command is sent: rejects if it must not be. */
  confirm: (() => Promise<void>) | null = null;
  /** Why the command may not be sent, but only join the same one of another copy of the flow (docs/several-node-reds.md); null if it may be sent. */
  unarmed: VehicleError | null = null;
  /** Why the car takes no command now: the error if the deadline passes meanwhile. */
  unavailable: VehicleError | null = null;
  /** Why the record has no answer; null if there is one. */
  fault: Sentence | null = null;
  readonly #clock: Clock;
  readonly #owner: AbortSignal | undefined;
  readonly #own = new AbortController();
  /** Aborted when the command must not be sent any more. It means nothing once it was sent. */
  readonly signal: AbortSignal;
  readonly #unlink: () => void;
  status: AttemptStatus = 'waiting';
  #sentAt: number;
  #limit: { ms: number; now: number; monotonic: number; stopTimer: () => void } | null = null;

  constructor({ clock, signal }: AttemptOptions) {
    this.#clock = clock;
    this.#owner = signal;
    ({ signal: this.signal, unlink: this.#unlink } = linkSignals(signal, this.#own.signal));
    this.#sentAt = clock.now();
  }

  /** Whether its sender was closed before it was sent. */
  get wasStopped(): boolean {
    return this.#owner?.aborted === true && (this.status === 'waiting' || this.status === 'dropped');
  }

  /** Has no effect once the command was sent. */
  cancel(reason: VehicleError): void {
    this.#own.abort(reason);
  }

  /** The command may wait so long from now on. */
  startDeadline(ms: number): void {
    this.#limit = { ms, now: this.#clock.now(), monotonic: this.#clock.monotonic(), stopTimer: () => undefined };
    this.resumeDeadline();
  }

  /** It waits for an answer now, and not to be sent. */
  pauseDeadline(): void {
    this.#limit?.stopTimer();
  }

  /** It waits to be sent again, and no longer than it could before. */
  resumeDeadline(): void {
    if (this.#limit === null) return;
    const { ms } = this.#limit;
    this.pauseDeadline();
    this.#limit.stopTimer = this.#clock.after(Math.max(0, this.#remainingMs()), () =>
      this.#own.abort(this.unavailable ?? late(ms)),
    );
  }

  /** Until when it may wait, in monotonic time. */
  get deadline(): number {
    return this.#clock.monotonic() + this.#remainingMs();
  }

  /** The record that is valid if no answer comes. */
  begin(route: CommandRoute): CommandRecord {
    this.#sentAt = this.#clock.now();
    return this.#record(route, unanswered(noAnswer()));
  }

  #record(route: CommandRoute, invocation: Invocation): CommandRecord {
    return recordOf(route, invocation, { id: this.id, sentAt: this.#sentAt });
  }

  /** Asked immediately before the first byte may leave this machine. @throws VehicleError why it must not */
  mayLeave(): void {
    if (this.signal.aborted) throw reasonOf(this.signal);
    if (this.#limit !== null && this.#remainingMs() < 0) throw late(this.#limit.ms);
    this.check?.();
    this.status = 'sent';
    this.#sentAt = this.#clock.now();
  }

  /**
   * Sends the command once.
   * @param mayLeave asked last before the first byte may leave this machine
   * @returns its record; `undetermined` if the command may have reached the service and no answer came
   * @throws VehicleError if it was not sent or was refused
   */
  async send(route: CommandRoute, ready: ReadyToPost, mayLeave: () => void): Promise<CommandRecord> {
    try {
      const request = { ...route, timeoutMs: timeoutMs[route.interface], signal: this.#owner, mayLeave };
      const answer = await ready.post(request);
      const invocation = parseInvocation(answer.body, answer.receivedAt);
      const { requestStatus, async } = invocation;
      // Whether the command is over with this answer (docs/internals/contract.md 4).
      const isOver = async?.href ? isFinal(meaningOf(requestStatus).outcome) : !isUnderWay(requestStatus);
      this.status = isOver ? 'answered' : 'unconfirmed';
      return this.#record(route, { ...invocation, operationId: invocation.operationId ?? answer.operationId });
    } catch (error) {
      if (!(error instanceof UnconfirmedCommandError)) {
        if (this.status === 'sent') this.status = 'answered';
        throw error;
      }
      const { reason, isAnswerOfCar } = error;
      this.status = isAnswerOfCar ? 'answered' : 'unconfirmed';
      this.fault = isAnswerOfCar ? reason.sentence : noAnswer(reason);
      return this.#record(route, unanswered(this.fault, reason.operationId));
    }
  }

  end(): void {
    if (this.status === 'waiting') this.status = 'dropped';
    this.pauseDeadline();
    this.#unlink();
  }

  /** Monotonic time stops while a machine sleeps, and wall time can be set back. */
  #remainingMs(): number {
    if (this.#limit === null) return Infinity;
    const { ms, now, monotonic } = this.#limit;
    return ms - Math.max(this.#clock.now() - now, this.#clock.monotonic() - monotonic);
  }
}

/** A waiting command was cancelled by a message: a copy of the flow that waits with the same one must not send it. */
export class CancelledByMessage extends VehicleError {
  constructor() {
    super('CANCELLED', 'The waiting command was cancelled by a message. It was not sent.');
  }
}

const late = (ms: number): VehicleError =>
  new VehicleError(
    'VEHICLE_UNAVAILABLE',
    sentence`The command could not be sent within ${Math.round(ms / 1000)} seconds, so it was dropped. Send it again, or let it wait longer.`,
  );
