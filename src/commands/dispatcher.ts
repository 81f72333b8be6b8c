import type { SendOptions, VehicleClient } from '../client';
import { VehicleError, asVehicleError } from '../errors';
import { parseCommandName, parseUnlockDuration } from '../inputs';
import type { Clock } from '../clock';
import { journalEntry, type Journal } from './journal';
import { Lanes } from './lanes';
import { untilReachable } from './reachable';
import type { CommandRecord } from './record';
import { parseVin } from '../vin';
import type { WatchReport } from '../watch';

export interface DispatchOptions extends SendOptions {
  /** Who sends it, for the journal. */
  sentBy?: string | null;
  /** What to do while another command of this account is under way to the same car. Default `refuse`. */
  whenBusy?: 'refuse' | 'queue';
  /** Wait so many milliseconds for a car that takes no commands now; absent: do not. */
  waitMs?: number | undefined;
  /** Called with the reason, in words, each time the car is found unavailable. */
  onWaiting?: (reason: string) => void;
}

export interface DispatcherOptions {
  client: VehicleClient;
  journal: Journal;
  clock: Clock;
  /** The journal could not be written. */
  onUnkept?: () => void;
}

const replaced = (): VehicleError => new VehicleError('CANCELLED', 'A newer command for this car took the place of this one, which was waiting. It was not sent.');

/**
 * Sends the commands of an account with care: one at a time to each car, to a car that can take them, each in the journal.
 * A waiting command is not kept over a restart: nobody wants a car to unlock because a computer started.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #lanes: Lanes;
  /** The command that waits for each car, by VIN. */
  readonly #waiting = new Map<string, AbortController>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#lanes = new Lanes(options);
  }

  /**
   * As VehicleClient.send, and besides:
   * @throws VehicleError VEHICLE_UNAVAILABLE while another command is under way, or where the car did not become available;
   * CANCELLED where a newer command or `cancel` came first
   */
  async send(name: unknown, { sentBy = null, whenBusy = 'refuse', waitMs, onWaiting, cancel, ...options }: DispatchOptions): Promise<CommandRecord> {
    const { client, clock } = this.#options;
    client.mustBeWritable();
    const command = parseCommandName(name);
    const vin = parseVin(options.vin);
    if (command === 'unlock') parseUnlockDuration(options.unlockDuration);
    const signals = [options.signal, cancel].filter((signal) => signal !== undefined);

    this.#waiting.get(vin)?.abort(replaced());
    if (waitMs !== undefined) {
      const own = new AbortController();
      this.#waiting.set(vin, own);
      try {
        await untilReachable({ client, vin, waitMs, clock, signal: AbortSignal.any([...signals, own.signal]), ...(onWaiting && { onWaiting }) });
      } finally {
        if (this.#waiting.get(vin) === own) this.#waiting.delete(vin);
      }
    }
    const turn = await this.#lanes.enter(vin, command, whenBusy, AbortSignal.any(signals));
    const sentAt = clock.now();
    try {
      const record = await client.send(command, { ...options, vin, ...(cancel && { cancel }) });
      this.#enter(record, sentBy);
      turn.sent(record);
      return record;
    } catch (error) {
      turn.end();
      this.#enterRefusal(asVehicleError(error), { command, vin, sentAt, sentBy });
      throw error;
    }
  }

  /** What a watch learned of a command: the journal has it, and a settled one makes way for the next. */
  learned(report: WatchReport, settled: boolean): void {
    const { journal, clock } = this.#options;
    if (settled) this.#lanes.settled(report.id);
    const states = report.history;
    const verdict = { outcome: report.outcome, reason: report.reason, verified: report.verified, settledAt: new Date(clock.now()).toISOString() };
    this.#keep(journal.update(report.id, settled ? { states, ...verdict } : { states, outcome: report.outcome }));
  }

  #enter(record: CommandRecord, sentBy: string | null): void {
    this.#keep(this.#options.journal.add(journalEntry(record, sentBy, new Date(this.#options.clock.now()))));
  }

  /** Only what the service was asked belongs into the journal. */
  #enterRefusal(error: VehicleError, { command, vin, sentAt, sentBy }: { command: string; vin: string; sentAt: number; sentBy: string | null }): void {
    if (error.httpStatus === null) return;
    const at = new Date(sentAt).toISOString();
    this.#keep(
      this.#options.journal.add({
        id: `${command} ${at}`,
        command,
        vin,
        interface: null,
        sentBy,
        sentAt: at,
        operationId: error.operationId,
        states: [],
        outcome: 'failed',
        reason: error.message,
        verified: null,
        settledAt: new Date(this.#options.clock.now()).toISOString(),
      }),
    );
  }

  /** A full disk must not stop a command. */
  #keep(stored: Promise<unknown>): void {
    stored.catch(() => this.#options.onUnkept?.());
  }
}
