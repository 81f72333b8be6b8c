import { commandRow } from '../catalogue/commands';
import { interfaces } from '../catalogue/reads';
import type { VehicleClient, VehicleObserver } from '../client';
import { asVehicleError, VehicleError } from '../errors';
import type { ReadyToPost, Requests } from '../http/requests';
import type { Signal } from '../util/cancellation';
import type { Clock } from '../util/clock';
import { CommandAttempt } from './attempt';
import type { CommandLog } from './log';
import { Command, maxActingMs, type Sender } from './command';
import { begunRecord, endOf, type CommandEnd, type CommandRecord } from './record';
import { commandRoute, type CommandInput, type CommandRoute } from './route';
import type { Turn, Turns } from './turns';
import { minuteMs } from '../util/durations';

export interface DispatchOptions extends CommandInput, Sender {
  /** Read the accessibility first, and do not send the command to a car that is unavailable. */
  precheck?: boolean;
  /**
   * Whether a command is refused or waits for its turn while another one is in progress at the same
   * car. Default `refuse`.
   */
  whenBusy?: 'refuse' | 'queue';
  /**
   * Whether a command waits while the car accepts none. Default `fail`: it is sent anyway,
   * unless `precheck` fails.
   */
  whenUnavailable?: 'fail' | 'wait';
  /**
   * The longest wait for the turn, the car and the quota together, in
   * milliseconds. Default 600 000.
   */
  waitMs?: number | undefined;
  /** Called with the reason, in words, each time the car is found unavailable. */
  onWaiting?: (reason: string) => void;
}

interface DispatcherOptions {
  client: VehicleClient;
  requests: Pick<Requests, 'ready' | 'forget' | 'assertSignedIn' | 'expectCommand'>;
  observers: readonly Pick<VehicleObserver, 'commandSent'>[];
  /** No command is sent while set (docs/internals/contract.md 2). */
  readOnly: boolean;
  turns: Turns;
  log: CommandLog;
  /** The name of the account in the log. */
  account: string;
  clock: Clock;
  onLocked: (vin: string) => void;
  /** Called when a command could not be stored. */
  onSaveFailed?: () => void;
}

/**
 * v1 answers at once; v2 answers when the car did, after up to 150 s
 * (docs/internals/vendor-api.md 1.9).
 */
const timeoutMs = { 'connected-v1': minuteMs, 'connected-v2': 160_000, 'energy-device-v1': minuteMs } as const;

const defaultWaitMs = 10 * minuteMs;

/** A sleeping car may stay asleep for days, so its accessibility is read less and less often. */
const pauses = { firstMs: 5_000, growth: 1.5, maxMs: minuteMs } as const;

/**
 * Sends the commands of an account: one at a time to each car, when the car is available, and
 * enters each into the log. A waiting command does not survive a restart, because a car must not
 * unlock because a computer started.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #running = new Map<CommandAttempt, Promise<CommandRecord>>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    options.turns.restorePending(() => this.#pending());
  }

  /**
   * Sends a command once, and waits for its turn and the car as the options define.
   * @returns the invocation record; `undetermined` if the command may have reached the
   * service and no answer came
   * @throws VehicleError VEHICLE_UNAVAILABLE while another command is in progress, if the car did
   * not become available, or if the longest wait has passed; CANCELLED if a newer command or a
   * cancellation came first
   */
  async send(
    name: unknown,
    options: DispatchOptions,
    attempt = new CommandAttempt({ clock: this.#options.clock }),
  ): Promise<CommandRecord> {
    const sending = this.#send(name, options, attempt);
    this.#running.set(attempt, sending);
    try {
      return await sending;
    } catch (error) {
      throw attempt.wasStopped ? stopped() : asVehicleError(error);
    } finally {
      attempt.end();
      this.#running.delete(attempt);
    }
  }

  /**
   * Drops the commands that wait, and waits until the log has the others: their requests
   * end with the transport.
   */
  async close(): Promise<void> {
    for (const attempt of this.#running.keys()) attempt.cancel(stopped());
    await Promise.allSettled(this.#running.values());
  }

  /**
   * The log has the command before its first byte leaves, and its answer before the caller has it.
   * So after a crash at any moment, the next process knows the commands that may be in progress.
   */
  async #send(name: unknown, given: DispatchOptions, attempt: CommandAttempt): Promise<CommandRecord> {
    const { account, client, clock, log, readOnly, requests, turns } = this.#options;
    const { id, signal } = attempt;
    attempt.startDeadline(given.waitMs ?? defaultWaitMs);
    if (readOnly) throw isReadOnly();
    // A command that is refused up to here does not affect the commands that
    // wait or are in progress.
    const route = await commandRoute(name, given, client, { signal, now: clock.now() });
    const isForCar = route.wallbox === undefined;
    // A sleeping car says nothing about the wallbox.
    const options: DispatchOptions = isForCar ? given : { ...given, precheck: false, whenUnavailable: 'fail' };
    const turn = await this.#takeTurn(route, options, attempt);
    if (turn.joined !== null) return turn.joined;
    try {
      if (turn.waited) await this.#precheck(route, options, signal);
      if (options.whenUnavailable === 'wait') await this.#untilAvailable(route, turn, attempt, options.onWaiting);
      const ready = await requests.ready({
        api: interfaces[route.interface].api,
        deadline: attempt.deadline,
        signal,
      });
      const now = clock.now();
      const command = new Command(begunRecord(route, { id, sentAt: now }), account, options, now);
      await Promise.all([this.#save(log.add(command, now)), turns.markSent(turn, command), attempt.confirm?.()]);
      command.answer(await this.#post(route, turn, ready, attempt), clock.now());
      await Promise.all([this.#save(log.save(command)), turns.markAnswered(turn, command)]);
      command.whenOver(() => this.#noteLock(command));
      return command.record;
    } catch (error) {
      await this.#abandon(turn, attempt, asVehicleError(error));
      throw error;
    }
  }

  async #takeTurn(route: CommandRoute, options: DispatchOptions, attempt: CommandAttempt): Promise<Turn> {
    const { client, requests, turns } = this.#options;
    const { whenBusy = 'refuse', waitMs = defaultWaitMs, origin, whenUnavailable } = options;
    await this.#precheck(route, options, attempt.signal);
    requests.expectCommand();
    try {
      const node = origin?.node ?? null;
      const waitsForCar = whenUnavailable === 'wait';
      return await turns.take({ route, whenBusy, waitsForCar, waitMs, node, client, attempt });
    } catch (error) {
      if (asVehicleError(error).status?.word !== 'BUSY') throw error;
      // Without a sign-in, this one could not be sent after the other one either.
      const unsent = await requests.assertSignedIn(attempt.signal).then(() => null, asVehicleError);
      throw unsent?.code === 'TOKEN_MISSING' ? unsent : error;
    }
  }

  /** Waiting for the car reads the accessibility anyway. */
  async #precheck({ vin }: CommandRoute, options: DispatchOptions, signal: Signal): Promise<void> {
    if (options.precheck && options.whenUnavailable !== 'wait')
      await this.#options.client.assertAccessible({ vin, signal });
  }

  /** @throws VehicleError if it was not sent or was refused */
  async #post(route: CommandRoute, turn: Turn, ready: ReadyToPost, attempt: CommandAttempt): Promise<CommandEnd> {
    const mayLeave = (): void => {
      this.#options.turns.throwIfMayNotLeave(turn);
      attempt.throwIfMayNotLeave();
      this.#carChanges(route);
    };
    const request = { ...route, timeoutMs: timeoutMs[route.interface], signal: attempt.closing, mayLeave };
    try {
      return await endOf(route, ready.post(request), attempt);
    } finally {
      // The car may have acted since the command left.
      if (attempt.isSent) this.#carChanges(route);
    }
  }

  async #abandon(turn: Turn, { isSent }: CommandAttempt, failure: VehicleError): Promise<void> {
    const { clock, log, turns } = this.#options;
    const { command } = turn;
    if (isSent) command?.refuse(failure, clock.now());
    const stored = command && this.#save(isSent ? log.save(command) : log.remove(command.id));
    await Promise.all([stored, turns.end(turn)]);
  }

  /**
   * A command changes the answers of every interface, because all of them show the same car, which
   * a wallbox charges.
   */
  #carChanges({ vin, wallbox }: CommandRoute): void {
    const { observers, requests } = this.#options;
    for (const observer of observers) observer.commandSent(vin);
    requests.forget(`/vehicles/${vin}`);
    if (wallbox !== undefined) requests.forget(`/wallbox/${encodeURIComponent(wallbox)}`);
  }

  #noteLock({ record: { command, vin, outcome } }: Command): void {
    if (outcome === 'succeeded' && commandRow(command)?.access === 'lock') this.#options.onLocked(vin);
  }

  /**
   * The commands that may still be in progress; null while those of an earlier version may be,
   * which are not known. A simulated service knows nothing from before it was started.
   */
  async #pending(): Promise<Command[] | null> {
    const { client, clock, log, account } = this.#options;
    const earlierAt = (await log.presence.earlierFoundAt()) ?? -Infinity;
    if (client.service.since === undefined && clock.monotonic() - earlierAt < maxActingMs) return null;
    const pending = await log.pending(account);
    return pending.filter(({ record }) => Date.parse(record.sentAt) >= (client.service.since ?? 0));
  }

  /**
   * Waits until the car is available. An unknown accessibility also ends the wait
   * (docs/internals/service.md 2.7).
   */
  async #untilAvailable(
    { vin }: CommandRoute,
    turn: Turn,
    attempt: CommandAttempt,
    onWaiting: DispatchOptions['onWaiting'],
  ): Promise<void> {
    const { client, clock, turns } = this.#options;
    const { signal } = attempt;
    for (let pause: number = pauses.firstMs; ; pause = Math.min(pauses.maxMs, pause * pauses.growth)) {
      const failure = await client.assertAccessible({ vin, signal }).then(() => null, asVehicleError);
      if (failure?.retryable) await turns.giveWay(turn);
      signal.throwIfAborted();
      if (failure === null) break;
      if (!failure.retryable) throw failure;
      attempt.whyUnavailable = failure;
      onWaiting?.(failure.message);
      await clock.sleep(Math.max(pause, (failure.retryAt?.getTime() ?? 0) - clock.now()), signal);
    }
    attempt.whyUnavailable = null;
  }

  /** A full disk must not stop a command. */
  async #save(stored: Promise<unknown>): Promise<void> {
    try {
      await stored;
    } catch {
      this.#options.onSaveFailed?.();
    }
  }
}

const isReadOnly = (): VehicleError =>
  new VehicleError(
    'READ_ONLY',
    'The vehicle configuration is read-only, so no command is sent. Untick “Read-only” there to allow commands.',
  );

const stopped = (): VehicleError =>
  new VehicleError('CANCELLED', 'The flow was stopped or redeployed before this command was sent. Send it again.');
