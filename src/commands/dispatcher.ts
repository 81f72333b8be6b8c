import type { CommandOrder, SendOptions, VehicleClient } from '../client';
import type { Clock } from '../util/clock';
import { VehicleError, asVehicleError } from '../errors';
import type { CommandRecord } from '../record';
import { endingAt, withSignals } from '../util/abort';
import type { WatchReport } from '../watch/watch';
import { journalEntry, type Journal, type JournalChanges, type JournalEntry } from './journal';
import { isFinal, type QueueSlot, type VehicleCommandQueue } from './vehicle-command-queue';
import { waitUntilAvailable } from './wait-until-available';

export interface DispatchOptions extends SendOptions {
  /** The sender, for the journal. */
  sentBy?: string | null;
  /** While another command is under way to the same car. Default `refuse`. */
  whenBusy?: 'refuse' | 'queue';
  /** While the car takes no commands. Default `fail`: the command is sent all the same, unless `precheck` fails. */
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
  /** The journal could not be written. */
  onUnkept?: () => void;
}

/**
 * Sends the commands of an account: one at a time to each car, when the car can take them, each in the journal. A waiting command
 * does not survive a restart: nobody wants a car to unlock because a computer started.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    options.queue.restorePending(this.#pending());
  }

  /**
   * As VehicleClient.send, and it waits as the options say.
   * @throws VehicleError VEHICLE_UNAVAILABLE while another command is under way, if the car did not become available, or if the
   * longest wait has passed; CANCELLED if a newer command or `cancel` came first
   */
  async send(name: unknown, options: DispatchOptions): Promise<CommandRecord> {
    let left = false;
    const onLeave = (sent: CommandRecord): void => {
      options.onLeave?.(sent);
      left = true;
    };
    try {
      return await withSignals([options.signal, options.cancel], (before) =>
        this.#send(name, { ...options, onLeave }, before),
      );
    } catch (error) {
      throw options.signal?.aborted && !left ? stopped() : asVehicleError(error);
    }
  }

  async #send(
    name: unknown,
    { whenBusy = 'refuse', waitMs = 600_000, ...options }: DispatchOptions,
    before: AbortSignal,
  ): Promise<CommandRecord> {
    const { client, clock, queue } = this.#options;
    const startedAt = clock.now();
    // A command that is refused up to here does not disturb those that wait or are under way.
    const order = await client.order(name, options);
    const { command, vin } = order;
    const waitsForCar = options.whenUnavailable === 'wait';
    // Waiting for the car reads the accessibility anyway.
    const precheck = async (): Promise<void> => {
      if (options.precheck && !waitsForCar) await client.mustBeAccessible({ vin, signal: before });
    };
    await precheck();
    const slot = await endingAt(startedAt + waitMs, { clock, signal: before, reason: () => late(waitMs) }, (signal) =>
      queue.enter({ vin, command, whenBusy, client, signal }),
    );
    try {
      if (slot.waited) await precheck();
      if (waitsForCar)
        await this.#waitUntilAvailable(slot, {
          vin,
          deadline: startedAt + waitMs,
          signal: before,
          onWaiting: options.onWaiting,
        });
      const record = await this.#sendOrder(order, {
        ...options,
        maxWaitMs: startedAt + waitMs - clock.now(),
        onLeave: (sent) => {
          const age = clock.now() - startedAt;
          // The age is unknown if the clock was set back.
          if (age > waitMs || age < 0) throw late(waitMs);
          options.onLeave?.(sent);
        },
      });
      slot.sent(record);
      return record;
    } catch (error) {
      slot.end();
      throw error;
    }
  }

  /**
   * Takes over what a watch reports: the journal keeps it, and after a final status the next command may go. Fulfilled when it is
   * stored, so that a result is in the journal before it is told; never rejects.
   */
  async learned(report: WatchReport, settled: boolean): Promise<void> {
    const { journal, clock, queue } = this.#options;
    // A watch that ran out of time knows no end, and doors that are as they should be may have been so before.
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
    await this.#keep(journal.update(report.id, changes).then((known) => (known ? undefined : journal.add(entry))));
  }

  /** A command without a known end may still be under way, whatever its watch settled. */
  async #pending(): Promise<JournalEntry[]> {
    const { client, journal } = this.#options;
    const hasEnded = ({ outcome }: JournalEntry): boolean => outcome === 'succeeded' || outcome === 'failed';
    return (await journal.list()).filter(
      (entry) => !hasEnded(entry) && Date.parse(entry.sentAt) >= (client.service.since ?? 0),
    );
  }

  #waitUntilAvailable(
    slot: QueueSlot,
    {
      vin,
      deadline,
      signal,
      onWaiting,
    }: { vin: string; deadline: number; signal: AbortSignal; onWaiting: DispatchOptions['onWaiting'] },
  ): Promise<void> {
    const { client, clock } = this.#options;
    return slot.supersedable(signal, (until, throwIfSuperseded) =>
      waitUntilAvailable({
        client,
        vin,
        deadline,
        clock,
        signal: until,
        onWaiting: (reason) => {
          throwIfSuperseded();
          onWaiting?.(reason);
        },
      }),
    );
  }

  /**
   * The journal has the command before its first byte leaves, and its answer before the caller has it: whenever the process is
   * killed, the next one knows what may be under way.
   */
  async #sendOrder(
    order: CommandOrder,
    { sentBy = null, beforeSend, onLeave, ...options }: DispatchOptions,
  ): Promise<CommandRecord> {
    const { client, journal, clock } = this.#options;
    const now = (): Date => new Date(clock.now());
    let stored: string | null = null;
    let left = false;
    try {
      const record = await client.sendOrder(order, {
        ...options,
        beforeSend: async (sent) => {
          stored = sent.id;
          const entry = journalEntry({ ...sent, outcome: 'pending' }, sentBy, now());
          await Promise.all([this.#keep(journal.add(entry)), beforeSend?.(sent)]);
        },
        onLeave: (sent) => {
          onLeave?.(sent);
          left = true;
        },
      });
      await this.#keep(journal.add(journalEntry(record, sentBy, now())));
      return record;
    } catch (error) {
      if (left) await this.#keep(journal.update(stored ?? '', refusal(asVehicleError(error), now())));
      else if (stored !== null) await this.#keep(journal.remove(stored));
      throw error;
    }
  }

  /** A full disk must not stop a command. */
  async #keep(stored: Promise<unknown>): Promise<void> {
    try {
      await stored;
    } catch {
      this.#options.onUnkept?.();
    }
  }
}

const stopped = (): VehicleError =>
  new VehicleError('CANCELLED', 'The flow was stopped or redeployed before this command left. It was not sent.');

const late = (waitMs: number): VehicleError =>
  new VehicleError(
    'VEHICLE_UNAVAILABLE',
    `The command had waited for ${Math.round(waitMs / 1000)} seconds when it could have been sent, which is the longest that it may wait. It was not sent.`,
  );

const refusal = ({ message, operationId }: VehicleError, now: Date): JournalChanges => ({
  outcome: 'failed',
  reason: message,
  operationId,
  settledAt: now.toISOString(),
});
