import { meaningOf } from '../catalogue/outcomes';
import { titleOf } from '../catalogue/reads';
import type { VehicleClient } from '../client';
import type { Clock } from '../clock';
import { VehicleError } from '../errors';
import type { CommandRecord } from './record';

/** No command is under way for longer than this (field notes 5: a command blocks for at most 150 s). */
const longestMs = 150_000;
/** How often a queued command looks at the link of the one before it. */
const lookEveryMs = 3_000;

/** The right to send a command. */
export interface Turn {
  /** It was answered: a pending one is under way until its link says otherwise. */
  sent(record: CommandRecord): void;
  end(): void;
}

/**
 * One command at a time to each car. A command is under way from its turn until the service has answered it (v2 answers when
 * the car has) and, where the answer is only an acceptance (v1), until its link or a watch tells an end, or for 150 s.
 */
export class Lanes {
  readonly #client: Pick<VehicleClient, 'commandStatus'>;
  readonly #clock: Clock;
  /** The newest command of each car, by VIN. */
  readonly #newest = new Map<string, Passage>();
  /** What is under way by the id of its record. */
  readonly #sent = new Map<string, Passage>();

  constructor({ client, clock }: { client: Pick<VehicleClient, 'commandStatus'>; clock: Clock }) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * @throws VehicleError VEHICLE_UNAVAILABLE where it is refused, and what the signal is aborted with
   */
  async enter(vin: string, command: string, whenBusy: 'refuse' | 'queue', signal: AbortSignal): Promise<Turn> {
    signal.throwIfAborted();
    const before = this.#newest.get(vin);
    if (before !== undefined && !before.over && whenBusy === 'refuse') {
      await this.#look(before, signal);
      if (!before.over) throw busy(before);
      return this.enter(vin, command, whenBusy, signal);
    }
    const passage = new Passage(command, before);
    this.#newest.set(vin, passage);
    try {
      if (before !== undefined) await this.#until(before, signal);
      signal.throwIfAborted();
    } catch (error) {
      passage.end();
      throw error;
    }
    return {
      sent: (record) => {
        if (record.outcome !== 'pending' || !record.async?.href) return passage.end();
        passage.record = record;
        this.#sent.set(record.id, passage);
      },
      end: () => passage.end(),
    };
  }

  /** A watch came to the end of it. */
  settled(id: string): void {
    this.#sent.get(id)?.end();
    this.#sent.delete(id);
  }

  async #until(before: Passage, signal: AbortSignal): Promise<void> {
    while (!before.over) {
      await this.#pause(before, signal);
      await this.#look(before, signal);
    }
  }

  /** Until the time of the next look, or until something ends. */
  async #pause(before: Passage, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const forget = before.onEnd(() => ended.abort());
    try {
      await this.#clock.sleep(lookEveryMs, AbortSignal.any([signal, ended.signal]));
    } catch (error) {
      if (!ended.signal.aborted) throw error;
    } finally {
      forget();
    }
  }

  /** Asks the links of what is under way up to there; a look that fails tells nothing. */
  async #look(passage: Passage, signal: AbortSignal): Promise<void> {
    for (const record of passage.underWay()) {
      const known = this.#clock.now() - Date.parse(record.sentAt) >= longestMs || (await this.#hasEnded(record, signal));
      if (known) this.settled(record.id);
    }
  }

  async #hasEnded(record: CommandRecord, signal: AbortSignal): Promise<boolean> {
    try {
      const { requestStatus } = await this.#client.commandStatus(record, { signal });
      return requestStatus !== null && meaningOf(requestStatus).outcome !== 'pending';
    } catch (error) {
      if (signal.aborted) throw error;
      return false;
    }
  }
}

const busy = ({ command, record }: Passage): VehicleError => {
  const since = record === null ? '' : `, sent at ${record.sentAt.slice(11, 16)} UTC`;
  return new VehicleError('VEHICLE_UNAVAILABLE', `Another command is still under way to this car (${titleOf(command).toLowerCase()}${since}). This one was not sent; wait for the end of the other, or let the node queue.`);
};

/** A command on its way through the lane, and the one that was in front of it. */
class Passage {
  readonly command: string;
  record: CommandRecord | null = null;
  #before: Passage | undefined;
  #ended = false;
  readonly #listeners = new Set<() => void>();

  constructor(command: string, before: Passage | undefined) {
    this.command = command;
    this.#before = before;
  }

  /** One that was given up while it waited is over only when those before it are. */
  get over(): boolean {
    if (this.#before?.over === true) this.#before = undefined;
    return this.#ended && this.#before === undefined;
  }

  /** What was sent and has not ended, the oldest first. */
  underWay(): CommandRecord[] {
    return [...(this.#before?.underWay() ?? []), ...(this.record !== null && !this.#ended ? [this.record] : [])];
  }

  end(): void {
    this.#ended = true;
    for (const listener of this.#listeners) listener();
  }

  /** @returns takes the listener away */
  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener);
    const further = this.#before?.onEnd(listener);
    return () => {
      this.#listeners.delete(listener);
      further?.();
    };
  }
}
