import { randomUUID } from 'node:crypto';
import { VehicleError } from '../errors';
import { sentence } from '../sentence';
import { linkSignals, reasonOf } from '../util/abort';
import type { Signal } from '../util/cancellation';
import type { Clock } from '../util/clock';

interface AttemptOptions {
  clock: Clock;
  /**
   * Aborted when the sender is closed. Then a waiting command is dropped, and a sent one no longer
   * waits for its answer.
   */
  signal?: Signal | undefined;
}

/**
 * One command on its way to its first byte: it is sent once, or not at all. Owns its deadline and
 * its cancellation; call `end` when it is over.
 */
export class CommandAttempt {
  readonly id = randomUUID();
  /**
   * Decides at the last moment, besides the deadline and the cancellation: throws if the
   * command must not leave.
   */
  check: (() => void) | null = null;
  /** Awaited before the command is sent: rejects if it must not be. */
  confirm: (() => Promise<void>) | null = null;
  /**
   * Why the command may not be sent, but only join the same one of another copy of the flow
   * (docs/several-node-reds.md); null if it may be sent.
   */
  whyUnarmed: VehicleError | null = null;
  /** Why the car accepts no command now: the error if the deadline passes meanwhile. */
  whyUnavailable: VehicleError | null = null;
  /** Whether its first byte may have left this machine. */
  isSent = false;
  /** When it was sent; before that, when it was asked for. Milliseconds since 1970. */
  sentAt: number;
  readonly #clock: Clock;
  readonly #askedAt: { monotonic: number; uptime: number };
  /** Aborted when its sender is closed. */
  readonly closing: Signal | undefined;
  readonly #own = new AbortController();
  /** Aborted when the command must no longer be sent. It means nothing once it was sent. */
  readonly signal: Signal;
  readonly #unlink: () => void;
  #limit: { ms: number; now: number; monotonic: number; stopTimer: () => void } | null = null;

  constructor({ clock, signal }: AttemptOptions) {
    this.#clock = clock;
    this.#askedAt = { monotonic: clock.monotonic(), uptime: clock.uptime() };
    this.closing = signal;
    ({ signal: this.signal, unlink: this.#unlink } = linkSignals(signal, this.#own.signal));
    this.sentAt = clock.now();
  }

  /** Milliseconds since it was asked for, even if this process was paused or its machine slept. */
  get age(): number {
    const { monotonic, uptime } = this.#askedAt;
    // Monotonic time stops while a machine sleeps. Wall time does not count: with a clock that is
    // set ahead, the same command of two copies of the flow would be two.
    return Math.max(this.#clock.monotonic() - monotonic, this.#clock.uptime() - uptime);
  }

  /** Whether its sender was closed before it was sent. */
  get wasStopped(): boolean {
    return this.closing?.aborted === true && !this.isSent;
  }

  /** Has no effect once the command was sent. */
  cancel(reason: VehicleError): void {
    this.#own.abort(reason);
  }

  /** The command may wait for this time from now on. */
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
      this.#own.abort(this.whyUnavailable ?? late(ms)),
    );
  }

  /** Until when it may wait, in monotonic time. */
  get deadline(): number {
    return this.#clock.monotonic() + this.#remainingMs();
  }

  /**
   * Asked immediately before the first byte may leave this machine.
   * @throws VehicleError why it must not
   */
  throwIfMayNotLeave(): void {
    if (this.signal.aborted) throw reasonOf(this.signal);
    if (this.#limit !== null && this.#remainingMs() < 0) throw late(this.#limit.ms);
    this.check?.();
    this.isSent = true;
    this.sentAt = this.#clock.now();
  }

  end(): void {
    this.pauseDeadline();
    this.#unlink();
  }

  /**
   * Monotonic time stops while a machine sleeps, and wall time can be set back. A clock that is set
   * ahead drops the command, because it must never be sent late.
   */
  #remainingMs(): number {
    if (this.#limit === null) return Infinity;
    const { ms, now, monotonic } = this.#limit;
    return ms - Math.max(this.#clock.now() - now, this.#clock.monotonic() - monotonic);
  }
}

/**
 * A waiting command was canceled by a message: a copy of the flow that waits with the same
 * one must not send it.
 */
export class CancelledByMessage extends VehicleError {
  constructor() {
    super('CANCELLED', 'The waiting command was canceled by a message. It was not sent.');
  }
}

const late = (ms: number): VehicleError =>
  new VehicleError(
    'VEHICLE_UNAVAILABLE',
    sentence`The command could not be sent within ${Math.round(ms / 1000)} seconds, so it was dropped. Send it again, or let it wait longer.`,
  );
