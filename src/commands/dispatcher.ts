import { isFinal, isUnderWay, meaningOf } from '../catalogue/outcomes';
import { interfaceNames } from '../catalogue/reads';
import type { VehicleClient, VehicleObserver } from '../client';
import { asVehicleError, VehicleError } from '../errors';
import { addressOf } from '../http/addresses';
import type { Requests } from '../http/requests';
import type { Clock } from '../util/clock';
import { CommandAttempt } from './attempt';
import type { WatchReport } from './follow';
import { journalEntry, type Journal, type JournalChanges, type JournalEntry } from './journal';
import type { CommandRecord } from './record';
import { commandRoute, type CommandInput, type CommandRoute } from './route';
import type { QueueSlot, VehicleCommandQueue } from './vehicle-command-queue';
import { waitUntilAvailable } from './wait-until-available';

export interface DispatchOptions extends CommandInput {
  /** The sender, for the journal. */
  sentBy?: string | null;
  /** Read the accessibility first, and do not send the command to a car that is unavailable. */
  precheck?: boolean;
  /** Whether a command is refused or queued while another one is under way to the same car. Default `refuse`. */
  whenBusy?: 'refuse' | 'queue';
  /** Whether a command waits while the car takes none. Default `fail`: it is sent all the same, unless `precheck` fails. */
  whenUnavailable?: 'fail' | 'wait';
  /** The longest wait for the queue, the car and the quota together, in milliseconds. Default 600 000. */
  waitMs?: number | undefined;
  /** Called with the reason, in words, each time the car is found unavailable. */
  onWaiting?: (reason: string) => void;
  /**
   * Awaited before the command is sent, with the record that is valid if no answer ever comes. The caller stores it here, so that it is
   * durable before the command leaves. If the promise rejects, the command is not sent.
   */
  beforeSend?: (record: CommandRecord) => Promise<void> | void;
}

export interface DispatcherOptions {
  client: VehicleClient;
  requests: Pick<Requests, 'post' | 'forget'>;
  observer: Pick<VehicleObserver, 'commandSent'>;
  /** No command is sent while set (docs/message-contract.md 2). */
  readOnly: boolean;
  queue: VehicleCommandQueue;
  journal: Journal;
  clock: Clock;
  /** Called when the journal could not be written. */
  onSaveFailed?: () => void;
}

/**
 * Sends the commands of an account: one at a time to each car, when the car can take them, and records each in the journal. A waiting
 * command does not survive a restart, because a car must not unlock because a computer started.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #running = new Map<CommandAttempt, Promise<CommandRecord>>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    options.queue.restorePending(this.#pending());
  }

  /**
   * Sends a command once, and waits for the queue and the car as the options say.
   * @returns the invocation record; `undetermined` where the command may have reached the service and no answer came
   * @throws VehicleError VEHICLE_UNAVAILABLE while another command is under way, if the car did not become available, or if the
   * longest wait has passed; CANCELLED if a newer command or a cancellation came first
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
      attempt.end();
      throw attempt.wasStopped ? stopped() : asVehicleError(error);
    } finally {
      attempt.end();
      this.#running.delete(attempt);
    }
  }

  /** Drops the commands that wait, and waits until the journal has the others: their requests end with the transport. */
  async close(): Promise<void> {
    for (const attempt of this.#running.keys()) attempt.cancel(stopped());
    await Promise.allSettled(this.#running.values());
  }

  async #send(
    name: unknown,
    { whenBusy = 'refuse', waitMs = 600_000, ...options }: DispatchOptions,
    attempt: CommandAttempt,
  ): Promise<CommandRecord> {
    const { client, queue, readOnly } = this.#options;
    const { signal } = attempt;
    attempt.limit(waitMs);
    if (readOnly) throw readOnlyError();
    // A command that is refused up to here does not affect the commands that wait or are under way.
    const route = await commandRoute(name, options, client, signal);
    const { command, vin } = route;
    const waitsForCar = options.whenUnavailable === 'wait';
    // Waiting for the car reads the accessibility anyway.
    const precheck = async (): Promise<void> => {
      if (options.precheck && !waitsForCar) await client.assertAccessible({ vin, signal });
    };
    await precheck();
    const slot = await queue.enter({ vin, command, whenBusy, client, signal });
    try {
      if (slot.waited) await precheck();
      if (waitsForCar) await this.#waitUntilAvailable(slot, vin, attempt, options.onWaiting);
      const record = await this.#sendRecorded(route, attempt, options);
      if (attempt.status === 'answered') slot.end();
      else slot.sent(record);
      return record;
    } catch (error) {
      slot.end();
      throw error;
    }
  }

  /** Sends a command at once: without its turn, and without the journal. */
  post(
    route: CommandRoute,
    attempt: CommandAttempt,
    begin?: (record: CommandRecord) => Promise<void>,
  ): Promise<CommandRecord> {
    const { requests } = this.#options;
    const left = (): void => this.#carChanges(route.vin);
    return attempt.send(route, { requests, left, ...(begin && { begin }) }).finally(() => {
      // The car has acted since the command left.
      if (attempt.status !== 'dropped') this.#carChanges(route.vin);
    });
  }

  /** A command changes the answers of every interface, because all of them show the same car. */
  #carChanges(vin: string): void {
    const { client, observer, requests } = this.#options;
    observer.commandSent(vin);
    for (const iface of interfaceNames)
      requests.forget(addressOf(client.service, iface, '/vehicles/{vin}', { vin }).href);
  }

  /**
   * Applies a report of a watch: the journal keeps it, and after a final status the next command may be sent. The promise is fulfilled
   * when the report is stored, so that a result is in the journal before the node sends it; it never rejects.
   */
  async applyReport(report: WatchReport, settled: boolean): Promise<void> {
    const { journal, clock, queue } = this.#options;
    // Only the status proves the end of a command: a watch can time out, and the doors may have been locked before the command.
    if (isFinal(meaningOf(report.requestStatus).outcome)) queue.markFinished(report.id);
    const states = report.history;
    const verdict = {
      outcome: report.outcome,
      reason: report.reason,
      verified: report.verified,
      settledAt: new Date(clock.now()).toISOString(),
    };
    const changes = settled ? { states, ...verdict } : { states, outcome: report.outcome };
    // The process may have ended before the command was in the journal.
    const entry = { ...journalEntry(report, null, new Date(clock.now())), ...changes };
    await this.#save(journal.update(report.id, changes).then((known) => (known ? undefined : journal.add(entry))));
  }

  /** The commands that may still be under way: those without a known end, even if their watch is settled. A v1 command has a link. */
  async #pending(): Promise<JournalEntry[]> {
    const { client, journal } = this.#options;
    const hasEnded = ({ outcome, interface: iface, states }: JournalEntry): boolean =>
      isFinal(outcome) || (iface !== 'connected-v1' && !isUnderWay(states.at(-1)?.requestStatus ?? null));
    return (await journal.list()).filter(
      (entry) => !hasEnded(entry) && Date.parse(entry.sentAt) >= (client.service.since ?? 0),
    );
  }

  async #waitUntilAvailable(
    slot: QueueSlot,
    vin: string,
    attempt: CommandAttempt,
    onWaiting: DispatchOptions['onWaiting'],
  ): Promise<void> {
    const { client, clock } = this.#options;
    await slot.supersedable(attempt.signal, (signal, throwIfSuperseded) =>
      waitUntilAvailable({
        client,
        vin,
        clock,
        signal,
        onWaiting: (failure) => {
          throwIfSuperseded();
          attempt.unavailable = failure;
          onWaiting?.(failure.message);
        },
      }),
    );
    attempt.unavailable = null;
  }

  /**
   * The journal has the command before its first byte leaves, and its answer before the caller has it. So after a crash at any moment,
   * the next process knows the commands that may be under way.
   */
  async #sendRecorded(
    route: CommandRoute,
    attempt: CommandAttempt,
    { sentBy = null, beforeSend }: DispatchOptions,
  ): Promise<CommandRecord> {
    const { journal, clock } = this.#options;
    const now = (): Date => new Date(clock.now());
    let isStored = false;
    try {
      const record = await this.post(route, attempt, async (begun) => {
        isStored = true;
        const entry = journalEntry({ ...begun, outcome: 'pending' }, sentBy, now());
        // In this order: what is in the journal gets a result, also where the process is killed between the two.
        await beforeSend?.(begun);
        await this.#save(journal.add(entry));
      });
      await this.#save(journal.add(journalEntry(record, sentBy, now())));
      return record;
    } catch (error) {
      if (attempt.status !== 'dropped')
        await this.#save(journal.update(attempt.id, refusal(asVehicleError(error), now())));
      else if (isStored) await this.#save(journal.remove(attempt.id));
      throw error;
    }
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

const stopped = (): VehicleError =>
  new VehicleError('CANCELLED', 'The flow was stopped or redeployed before this command was sent. Send it again.');

const readOnlyError = (): VehicleError =>
  new VehicleError(
    'READ_ONLY',
    'The vehicle configuration is read-only, so no command is sent. Untick “Read-only” there to allow commands.',
  );

const refusal = ({ message, operationId }: VehicleError, now: Date): JournalChanges => ({
  outcome: 'failed',
  reason: message,
  operationId,
  settledAt: now.toISOString(),
});
