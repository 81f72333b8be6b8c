import { isFinal, type Outcome } from '../catalogue/outcomes';
import type { ServiceProfile } from '../catalogue/services';
import type { VehicleClient } from '../client';
import { asVehicleError, type VehicleError } from '../errors';
import { sentence, wordSentence, type Sentence } from '../sentence';
import type { Signal } from '../util/cancellation';
import { endingAt } from '../util/abort';
import { iso, systemClock, type Clock } from '../util/clock';
import type { Command, StatusChange, Verdict } from './command';
import { readProof, shareMs, type ProofClient } from './proof';
import type { CommandRecord } from './record';
import { resultSentence } from './result-text';
import { minuteMs } from '../util/durations';

/** `msg.payload` of both outputs of a result node (docs/internals/contract.md 5). */
export interface FollowReport extends CommandRecord {
  /** One sentence for a driver. */
  reason: string;
  /**
   * Whether the doors or the engine confirm the command; null if they could not be
   * checked or prove nothing.
   */
  verified: boolean | null;
  /** Milliseconds since the command was sent. */
  elapsedMs: number;
  history: StatusChange[];
}

export interface FollowUpdate {
  /** True once, for the last update: the result. */
  settled: boolean;
  report: FollowReport;
  /** The reason of the report, to be translated for each reader. */
  reason: Sentence;
}

type FollowClient = ProofClient & Pick<VehicleClient, 'commandStatus'> & { service?: Pick<ServiceProfile, 'since'> };

export interface FollowOptions {
  client: FollowClient;
  /** The longest duration. Default 180 000. */
  timeoutMs?: number;
  /** Longest time between two polls. Default 5 000. */
  intervalMs?: number;
  /** Read the doors or the engine at the end. Default true. */
  verify?: boolean;
  /** Milliseconds since 1970; earlier than now if the command was followed before a restart. */
  startedAt?: number;
  /** What the flow added to the record. */
  added?: Record<string, unknown>;
  /** The result that was reached before. */
  result?: Verdict | null;
  signal?: Signal;
  clock?: Clock;
}

/** The pause before the first poll; each later one is longer by the factor `growth`. */
const firstPollMs = 2_000;
const growth = 1.5;
/** The time that a poll in flight gets when the time is over. */
const lastPollMs = 10_000;
/**
 * The number of polls in a row that must find an unclear status before it counts as the end,
 * because a clear one may follow.
 */
const maxUnclearPolls = 3;
/**
 * Follows a command to its end: an update for each change of its state, then the result, once. No
 * order of states is assumed, and a failed poll does not mean a failed command. Each follower of a
 * command has its own pauses, time limit and client; all of them share what a poll finds.
 * @throws VehicleError UNTRUSTED_LINK before the first poll; CANCELLED through the signal
 */
export async function* followCommand(
  command: Command,
  options: FollowOptions,
): AsyncGenerator<FollowUpdate, void, void> {
  const run = new FollowRun(command, options);
  try {
    while (run.mayLearn) if (await run.poll()) yield run.update(command.message);
  } finally {
    run.stop();
  }
  yield run.settled(options.result ?? (await run.conclude()));
}

interface PollOptions {
  clock: Clock;
  signal: Signal;
  /** A poll of somebody else that is younger makes a new one needless. Milliseconds. */
  maxAgeMs?: number;
}

/**
 * Reads the link of a command, and keeps the answer: one poll for all that follow it.
 * @throws VehicleError
 */
export async function pollCommand(
  command: Command,
  client: Pick<VehicleClient, 'commandStatus'>,
  { clock, signal, maxAgeMs = shareMs }: PollOptions,
): Promise<Outcome> {
  const now = clock.monotonic();
  if (now - command.polledAt >= maxAgeMs) {
    const invocation = await client.commandStatus(command.record, { maxAgeMs: shareMs, signal });
    command.polledAt = now;
    command.addStatus(invocation, clock.now());
  }
  return command.record.outcome;
}

/** One node that follows a command. */
class FollowRun {
  readonly #command: Command;
  readonly #options: FollowOptions;
  readonly #clock: Clock;
  readonly #interval: number;
  readonly #deadline: number;
  readonly #expires: number;
  /**
   * Whether the command is from before a restart of the (simulated) service, which no longer knows
   * it and whose car is a new one.
   */
  readonly #isOfFormerService: boolean;
  readonly stop: () => void;
  #wait: number;
  #hasPolled = false;
  #unclearPolls = 0;
  #seen: string | null;
  #failure: VehicleError | null = null;
  /** No later poll can succeed. */
  #isGone = false;
  /** A timer is not affected by a clock that is set back meanwhile. */
  #isTimedOut = false;

  constructor(command: Command, options: FollowOptions) {
    const { clock = systemClock, intervalMs = 5_000, timeoutMs = 3 * minuteMs } = options;
    const { record, states } = command;
    this.#command = command;
    this.#options = options;
    this.#clock = clock;
    this.#interval = intervalMs;
    // The time of one that is resumed counts from its first start, but not from the future if
    // the clock was set back.
    const startedAt = Math.min(options.startedAt ?? Infinity, clock.now());
    this.#expires = record.async?.expires ? Date.parse(record.async.expires) : Infinity;
    this.#deadline = Math.min(startedAt + timeoutMs, this.#expires);
    this.#isOfFormerService = Date.parse(record.sentAt) < (options.client.service?.since ?? 0);
    this.#wait = Math.min(firstPollMs, intervalMs);
    this.#seen = record.requestStatus;
    // The first status is as old as the command, as far as the service reports.
    if (states.length <= 1) command.states = [{ requestStatus: record.requestStatus, at: record.sentAt }];
    this.stop = clock.after(this.#deadline - clock.now(), () => (this.#isTimedOut = true));
  }

  get #left(): number {
    return this.#isTimedOut ? 0 : this.#deadline - this.#clock.now();
  }

  /**
   * Whether another poll may show more. After a restart, a command is polled once, however late.
   */
  get mayLearn(): boolean {
    const { outcome, async } = this.#command.record;
    if (this.#options.result != null || this.#isOfFormerService) return false;
    if (isFinal(outcome) || !async?.href || this.#isGone || this.#unclearPolls >= maxUnclearPolls) return false;
    return this.#left > 0 || !this.#hasPolled;
  }

  /**
   * Waits until the next poll is due, and polls.
   * @returns whether the status changed, and is not final
   */
  async poll(): Promise<boolean> {
    const { client, signal } = this.#options;
    const clock = this.#clock;
    const command = this.#command;
    const due = Math.max(this.#wait, retryDelay(this.#failure, clock.now()));
    const pause = Math.max(0, Math.min(this.#left, due));
    await clock.sleep(pause, signal);
    this.#hasPolled = true;
    this.#wait = Math.min(this.#interval, this.#wait * growth);
    try {
      const end = Math.max(this.#deadline, clock.now()) + lastPollMs;
      if (!isFinal(command.record.outcome))
        await endingAt(end, { clock, signal }, (ending) =>
          pollCommand(command, client, { clock, signal: ending, maxAgeMs: pause }),
        );
    } catch (error) {
      this.#fail(asVehicleError(error));
      return false;
    }
    const { outcome, requestStatus } = command.record;
    this.#failure = null;
    this.#unclearPolls = outcome === 'undetermined' ? this.#unclearPolls + 1 : 0;
    const changed = requestStatus !== this.#seen;
    this.#seen = requestStatus;
    return changed && !isFinal(outcome);
  }

  #fail(failure: VehicleError): void {
    const isCancelled = this.#options.signal?.aborted === true;
    if (failure.code === 'UNTRUSTED_LINK' || (failure.code === 'CANCELLED' && isCancelled)) throw failure;
    this.#failure = failure;
    // The time was over before the service had answered, or the link is gone.
    this.#isGone = failure.code === 'CANCELLED' || failure.httpStatus === 404 || failure.httpStatus === 410;
  }

  async conclude(): Promise<Verdict> {
    const { client, verify, signal } = this.#options;
    const command = this.#command;
    const { record, states } = command;
    const isForgotten = this.#isOfFormerService;
    const proof = verify === false || isForgotten ? null : await readProof(record, client, this.#clock, signal);
    const now = this.#clock.now();
    const reason =
      isForgotten && !isFinal(record.outcome)
        ? sentence`The demo car was restarted with Node-RED after the command was sent. The result of the command is unknown.`
        : resultSentence(command, proof, {
            expired: this.#deadline === this.#expires,
            lastFailure: this.#failure,
            now,
            lastChangeAt: states.at(-1)?.at,
          });
    const outcome = record.outcome === 'pending' ? 'undetermined' : record.outcome;
    return { outcome, reason, verified: proof?.verified ?? null, settledAt: iso(now) };
  }

  /** Copies, because the receiver may change them while the command is followed further. */
  update(reason: Sentence, now = this.#clock.now()): FollowUpdate {
    const { record, states } = this.#command;
    const { outcome, command, ...others } = record;
    // Node-RED previews the first members of an object: `outcome`, `command`, `reason`.
    const report = {
      outcome,
      command,
      reason: wordSentence(reason),
      ...this.#options.added,
      ...others,
      async: record.async && { ...record.async },
      verified: null,
      elapsedMs: Math.max(0, now - Date.parse(record.sentAt)),
      history: states.map((change) => ({ ...change })),
    };
    return { settled: false, report, reason };
  }

  settled({ outcome, reason, verified, settledAt }: Verdict): FollowUpdate {
    const { report } = this.update(reason, Date.parse(settledAt));
    if (outcome === 'failed') delete report.assumedUntil;
    return { settled: true, report: Object.assign(report, { outcome, verified }), reason };
  }
}

const retryDelay = (failure: VehicleError | null, now: number): number =>
  failure?.retryAt ? failure.retryAt.getTime() - now : 0;
