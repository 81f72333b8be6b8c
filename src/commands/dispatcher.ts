import type { CommandOrder, SendOptions, VehicleClient } from '../client';
import type { Clock } from '../util/clock';
import { VehicleError, asVehicleError } from '../errors';
import type { CommandRecord } from '../record';
import { eitherOf, endingAt } from '../util/abort';
import type { WatchReport } from '../watch/watch';
import { journalEntry, type Journal, type JournalChanges, type JournalEntry } from './journal';
import { isEnd, type Lanes, type Turn } from './vehicle-command-queue';
import { untilReachable } from './wait-until-available';

export interface DispatchOptions extends SendOptions {
  /** Who sends it, for the journal. */
  sentBy?: string | null;
  /** What to do while another command is under way to the same car. Default `refuse`. */
  whenBusy?: 'refuse' | 'queue';
  /** What to do while the car takes no commands. Default `fail`: it is sent all the same, or `precheck` says why not. */
  whenUnavailable?: 'fail' | 'wait';
  /** How long it may wait, for its turn, the car and the quota together, in milliseconds. Default 600 000. */
  waitMs?: number | undefined;
  /** Called with the reason, in words, each time the car is found unavailable. */
  onWaiting?: (reason: string) => void;
}

export interface DispatcherOptions {
  client: VehicleClient;
  lanes: Lanes;
  journal: Journal;
  clock: Clock;
  /** The journal could not be written. */
  onUnkept?: () => void;
}

/**
 * Sends the commands of an account with care: one at a time to each car, to a car that can take them, each in the journal.
 * A waiting command is not kept over a restart: nobody wants a car to unlock because a computer started.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    options.lanes.recall(this.#underWay());
  }

  /**
   * As VehicleClient.send, and besides:
   * @throws VehicleError VEHICLE_UNAVAILABLE while another command is under way, or where the car did not become available, or where
   * its time to wait has passed; CANCELLED where a newer command or `cancel` came first
   */
  async send(name: unknown, options: DispatchOptions): Promise<CommandRecord> {
    let left = false;
    const onLeave = (sent: CommandRecord): void => {
      options.onLeave?.(sent);
      left = true;
    };
    try {
      return await this.#send(name, { ...options, onLeave });
    } catch (error) {
      throw options.signal?.aborted && !left ? stopped() : asVehicleError(error);
    }
  }

  async #send(
    name: unknown,
    { whenBusy = 'refuse', waitMs = 600_000, ...options }: DispatchOptions,
  ): Promise<CommandRecord> {
    const { client, clock, lanes } = this.#options;
    const before = eitherOf(options.signal, options.cancel) ?? never;
    const startedAt = clock.now();
    // Whatever is refused up to here leaves what waits or is under way as it was.
    const order = await client.order(name, options);
    const { command, vin } = order;
    const waitsForCar = options.whenUnavailable === 'wait';
    // Who waits for the car asks anyway.
    const precheck = async (): Promise<void> => {
      if (options.precheck && !waitsForCar) await client.mustBeAccessible({ vin, signal: before });
    };
    await precheck();
    const turn = await endingAt(startedAt + waitMs, { clock, signal: before, reason: () => late(waitMs) }, (signal) =>
      lanes.enter({ vin, command, whenBusy, client, signal }),
    );
    try {
      if (turn.waited) await precheck();
      if (waitsForCar)
        await this.#untilReachable(turn, {
          vin,
          deadline: startedAt + waitMs,
          signal: before,
          onWaiting: options.onWaiting,
        });
      const record = await this.#sendOrder(order, {
        ...options,
        patienceMs: startedAt + waitMs - clock.now(),
        onLeave: (sent) => {
          const age = clock.now() - startedAt;
          // A clock that was set back tells no time at all.
          if (age > waitMs || age < 0) throw late(waitMs);
          options.onLeave?.(sent);
        },
      });
      turn.sent(record);
      return record;
    } catch (error) {
      turn.end();
      throw error;
    }
  }

  /** What a watch learned of a command: the journal has it, and one that has ended makes way for the next. */
  learned(report: WatchReport, settled: boolean): void {
    const { journal, clock, lanes } = this.#options;
    // A watch whose time is up knows of no end, and doors that are as they should be may have been so before.
    if (isEnd(report.requestStatus)) lanes.settled(report.id);
    const states = report.history;
    const verdict = {
      outcome: report.outcome,
      reason: report.reason,
      verified: report.verified,
      settledAt: new Date(clock.now()).toISOString(),
    };
    const changes = settled ? { states, ...verdict } : { states, outcome: report.outcome };
    // The process may have ended before the command stood in the journal.
    const entry = { ...journalEntry(report, null, new Date(clock.now())), ...changes };
    this.#keep(journal.update(report.id, changes).then((known) => (known ? undefined : journal.add(entry))));
  }

  /** What nobody knows the end of may still be under way, whatever was settled about it. */
  async #underWay(): Promise<JournalEntry[]> {
    const { client, journal } = this.#options;
    const hasEnded = ({ outcome }: JournalEntry): boolean => outcome === 'succeeded' || outcome === 'failed';
    return (await journal.list()).filter(
      (entry) => !hasEnded(entry) && Date.parse(entry.sentAt) >= (client.service.since ?? 0),
    );
  }

  #untilReachable(
    turn: Turn,
    {
      vin,
      deadline,
      signal,
      onWaiting,
    }: { vin: string; deadline: number; signal: AbortSignal; onWaiting: DispatchOptions['onWaiting'] },
  ): Promise<void> {
    const { client, clock } = this.#options;
    return turn.giveWay(signal, (until, mustBeLast) =>
      untilReachable({
        client,
        vin,
        deadline,
        clock,
        signal: until,
        onWaiting: (reason) => {
          mustBeLast();
          onWaiting?.(reason);
        },
      }),
    );
  }

  /** The journal is told of it before the service is, and again of the answer. */
  async #sendOrder(
    order: CommandOrder,
    { sentBy = null, onLeave, ...options }: DispatchOptions,
  ): Promise<CommandRecord> {
    const { client, journal, clock } = this.#options;
    const now = (): Date => new Date(clock.now());
    let left: CommandRecord | null = null;
    try {
      const record = await client.sendOrder(order, {
        ...options,
        onLeave: (sent) => {
          onLeave?.(sent);
          left = sent;
          this.#keep(journal.add(journalEntry({ ...sent, outcome: 'pending' }, sentBy, now())));
        },
      });
      this.#keep(journal.add(journalEntry(record, sentBy, now())));
      return record;
    } catch (error) {
      if (left !== null) this.#keep(journal.update((left as CommandRecord).id, refusal(asVehicleError(error), now())));
      throw error;
    }
  }

  /** A full disk must not stop a command. */
  #keep(stored: Promise<unknown>): void {
    stored.catch(() => this.#options.onUnkept?.());
  }
}

const never = new AbortController().signal;

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
