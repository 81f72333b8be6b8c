import { isFinal, isUnderWay } from '../catalogue/outcomes';
import type { PreparedCommand, SendOptions, SentCommand, VehicleClient } from '../client';
import type { Clock } from '../util/clock';
import { VehicleError, asVehicleError } from '../errors';
import type { CommandRecord } from '../record';
import { endingAt, withSignals } from '../util/abort';
import type { WatchReport } from './follow';
import { journalEntry, type Journal, type JournalChanges, type JournalEntry } from './journal';
import type { QueueSlot, VehicleCommandQueue } from './vehicle-command-queue';
import { waitUntilAvailable } from './wait-until-available';

export interface DispatchOptions extends SendOptions {
  /** The sender, for the journal. */
  sentBy?: string | null;
  /** Whether a command is refused or queued while another one is under way to the same car. Default `refuse`. */
  whenBusy?: 'refuse' | 'queue';
  /** Whether a command waits while the car takes none. Default `fail`: it is sent all the same, unless `precheck` fails. */
  whenUnavailable?: 'fail' | 'wait';
  /** The longest wait for the queue, the car and the quota together, in milliseconds. Default 600 000. */
  waitMs?: number | undefined;
  /** Called with the reason, in words, each time the car is found unavailable. */
  onWaiting?: (reason: string) => void;
}

export interface DispatcherOptions {
  client: VehicleClient;
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

  constructor(options: DispatcherOptions) {
    this.#options = options;
    options.queue.restorePending(this.#pending());
  }

  /**
   * Sends a command as VehicleClient.send does, and waits for the queue and the car as the options say.
   * @throws VehicleError VEHICLE_UNAVAILABLE while another command is under way, if the car did not become available, or if the
   * longest wait has passed; CANCELLED if a newer command or `cancel` came first
   */
  async send(name: unknown, options: DispatchOptions): Promise<CommandRecord> {
    let hasLeft = false;
    const onLeave = (sent: CommandRecord): void => {
      options.onLeave?.(sent);
      hasLeft = true;
    };
    try {
      return await withSignals([options.signal, options.cancel], (unsentSignal) =>
        this.#sendInTime(name, { ...options, onLeave }, unsentSignal),
      );
    } catch (error) {
      throw options.signal?.aborted && !hasLeft ? stopped() : asVehicleError(error);
    }
  }

  /** @throws VehicleError where the longest wait has passed: why the car took no command, if that is what the command waited for */
  async #sendInTime(
    name: unknown,
    { waitMs = 600_000, onLeave, ...options }: DispatchOptions,
    signal: AbortSignal,
  ): Promise<CommandRecord> {
    const { clock } = this.#options;
    const begun = { now: clock.now(), monotonic: clock.monotonic() };
    // Monotonic time stops while a machine sleeps, and wall time can be set back.
    const age = (): number => Math.max(clock.now() - begun.now, clock.monotonic() - begun.monotonic);
    let unavailable: VehicleError | null = null;
    return endingAt(begun.now + waitMs, { clock, signal, reason: () => unavailable ?? late(waitMs) }, (unsentSignal) =>
      this.#send(
        name,
        {
          ...options,
          cancel: unsentSignal,
          onLeave: (record) => {
            if (age() > waitMs) throw late(waitMs);
            onLeave?.(record);
          },
        },
        { unsentSignal, timeLeft: () => waitMs - age(), foundUnavailable: (failure) => (unavailable = failure) },
      ),
    );
  }

  async #send(
    name: unknown,
    { whenBusy = 'refuse', ...options }: DispatchOptions,
    { unsentSignal, timeLeft, foundUnavailable }: Waiting,
  ): Promise<CommandRecord> {
    const { client, queue } = this.#options;
    // A command that is refused up to here does not affect the commands that wait or are under way.
    const prepared = await client.prepare(name, { ...options, signal: unsentSignal });
    const { command, vin } = prepared;
    const waitsForCar = options.whenUnavailable === 'wait';
    // Waiting for the car reads the accessibility anyway.
    const precheck = async (): Promise<void> => {
      if (options.precheck && !waitsForCar) await client.assertAccessible({ vin, signal: unsentSignal });
    };
    await precheck();
    const slot = await queue.enter({ vin, command, whenBusy, client, signal: unsentSignal });
    try {
      if (slot.waited) await precheck();
      if (waitsForCar) {
        await this.#waitUntilAvailable(slot, vin, unsentSignal, (failure) => {
          foundUnavailable(failure);
          options.onWaiting?.(failure.message);
        });
        foundUnavailable(null);
      }
      const { record, isAnswered } = await this.#sendPrepared(prepared, { ...options, maxWaitMs: timeLeft() });
      if (isAnswered) slot.end();
      else slot.sent(record);
      return record;
    } catch (error) {
      slot.end();
      throw error;
    }
  }

  /**
   * Applies a report of a watch: the journal keeps it, and after a final status the next command may be sent. The promise is fulfilled
   * when the report is stored, so that a result is in the journal before the node sends it; it never rejects.
   */
  async applyReport(report: WatchReport, settled: boolean): Promise<void> {
    const { journal, clock, queue } = this.#options;
    // Only the status proves the end of a command: a watch can time out, and the doors may have been locked before the command.
    if (isFinal(report.requestStatus)) queue.markFinished(report.id);
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
      outcome === 'succeeded' ||
      outcome === 'failed' ||
      (iface !== 'connected-v1' && !isUnderWay(states.at(-1)?.requestStatus ?? null));
    return (await journal.list()).filter(
      (entry) => !hasEnded(entry) && Date.parse(entry.sentAt) >= (client.service.since ?? 0),
    );
  }

  #waitUntilAvailable(
    slot: QueueSlot,
    vin: string,
    signal: AbortSignal,
    onWaiting: (failure: VehicleError) => void,
  ): Promise<void> {
    const { client, clock } = this.#options;
    return slot.supersedable(signal, (until, throwIfSuperseded) =>
      waitUntilAvailable({
        client,
        vin,
        clock,
        signal: until,
        onWaiting: (failure) => {
          throwIfSuperseded();
          onWaiting(failure);
        },
      }),
    );
  }

  /**
   * The journal has the command before its first byte leaves, and its answer before the caller has it. So after a crash at any moment,
   * the next process knows the commands that may be under way.
   */
  async #sendPrepared(
    prepared: PreparedCommand,
    { sentBy = null, beforeSend, onLeave, ...options }: DispatchOptions,
  ): Promise<SentCommand> {
    const { client, journal, clock } = this.#options;
    const now = (): Date => new Date(clock.now());
    let stored: string | null = null;
    let hasLeft = false;
    try {
      const sent = await client.sendPrepared(prepared, {
        ...options,
        beforeSend: async (record) => {
          stored = record.id;
          const entry = journalEntry({ ...record, outcome: 'pending' }, sentBy, now());
          await Promise.all([this.#save(journal.add(entry)), beforeSend?.(record)]);
        },
        onLeave: (record) => {
          onLeave?.(record);
          hasLeft = true;
        },
      });
      await this.#save(journal.add(journalEntry(sent.record, sentBy, now())));
      return sent;
    } catch (error) {
      if (hasLeft) await this.#save(journal.update(stored ?? '', refusal(asVehicleError(error), now())));
      else if (stored !== null) await this.#save(journal.remove(stored));
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

/** How long a command may still wait. */
interface Waiting {
  /** Aborted when the command was cancelled or its longest wait has passed. */
  unsentSignal: AbortSignal;
  /** Milliseconds. */
  timeLeft: () => number;
  /** Takes why the car takes no command; null when it does again. */
  foundUnavailable: (failure: VehicleError | null) => void;
}

const stopped = (): VehicleError =>
  new VehicleError('CANCELLED', 'The flow was stopped or redeployed before this command was sent. Send it again.');

const late = (waitMs: number): VehicleError =>
  new VehicleError(
    'VEHICLE_UNAVAILABLE',
    `The command could not be sent within ${Math.round(waitMs / 1000)} seconds, so it was dropped. Send it again, or let it wait longer.`,
  );

const refusal = ({ message, operationId }: VehicleError, now: Date): JournalChanges => ({
  outcome: 'failed',
  reason: message,
  operationId,
  settledAt: now.toISOString(),
});
