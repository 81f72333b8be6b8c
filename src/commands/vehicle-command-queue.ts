import { meaningOf } from '../catalogue/outcomes';
import { titleOf } from '../catalogue/reads';
import type { VehicleClient } from '../client';
import type { Clock } from '../util/clock';
import { VehicleError } from '../errors';
import type { CommandRecord } from '../record';

/** No command is under way for longer than this (field notes 5: a command blocks for at most 150 s). */
const longestMs = 150_000;
/** How often the link of a command is looked at while another waits behind it. */
const lookEveryMs = 3_000;
/** A status that says nothing may be followed by one that does: this many looks must find it before it is the end. */
const looksAtAnUnclearStatus = 3;

/** What a lane must know of a command. */
type UnderWay = Pick<CommandRecord, 'id' | 'sentAt' | 'async'>;
type Recalled = Pick<CommandRecord, 'id' | 'vin' | 'command' | 'sentAt'>;

export interface LaneRequest {
  vin: string;
  command: string;
  whenBusy: 'refuse' | 'queue';
  /** Looks at the link of what is under way. */
  client: Pick<VehicleClient, 'commandStatus'>;
  signal: AbortSignal;
}

/** The right to send a command. */
export interface Turn {
  /** Whether another command was under way when it was asked for. */
  readonly waited: boolean;
  /**
   * Waits for the car: a newer command that comes takes its place meanwhile. `mustBeLast` throws where one is there already.
   * @throws VehicleError CANCELLED where a newer one came, and what the work throws
   */
  giveWay<Value>(
    signal: AbortSignal,
    work: (signal: AbortSignal, mustBeLast: () => void) => Promise<Value>,
  ): Promise<Value>;
  /** It was answered: with its end, or it is under way until its link or a watch tells one, or for 150 s. */
  sent(record: CommandRecord): void;
  end(): void;
}

/**
 * One command at a time to each car. A command is under way from its turn until the service has answered it (v2 answers when
 * the car has). Where the answer is only an acceptance (v1), or none came, it is so until its link or a watch tells an end, or for 150 s.
 */
export class Lanes {
  readonly #clock: Clock;
  readonly #since: number;
  /** What is under way to each car or waits, by VIN, the oldest first; never empty. */
  readonly #lanes = new Map<string, readonly Passage[]>();
  readonly #recalling = new Set<Promise<void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  /**
   * Commands of which no end is known, from before this process began; nothing enters until they are here. What cannot be
   * found out stands in nobody's way.
   */
  recall(found: Promise<readonly Recalled[]>): void {
    const recalled = found
      .then(
        (all) => all.forEach((one) => this.#recall(one)),
        () => undefined,
      )
      .then(() => void this.#recalling.delete(recalled));
    this.#recalling.add(recalled);
  }

  #recall({ vin, command, id, sentAt }: Recalled): void {
    const now = this.#clock.now();
    const at = Date.parse(sentAt);
    // What was sent since stands here already. A clock that was behind at the start makes a time of before lie ahead.
    if (Number.isNaN(at) || (at >= this.#since && at <= now) || now - at >= longestMs) return;
    if (this.#lane(vin).some((known) => known.record?.id === id)) return;
    const passage = new Passage(vin, command);
    passage.record = { id, sentAt: new Date(Math.min(at, now)).toISOString(), async: null };
    this.#lanes.set(vin, [passage, ...this.#lane(vin)]);
  }

  /**
   * @throws VehicleError VEHICLE_UNAVAILABLE where it is refused, and what the signal is aborted with
   */
  async enter({ vin, command, whenBusy, client, signal }: LaneRequest): Promise<Turn> {
    while (this.#recalling.size > 0) await Promise.all(this.#recalling);
    signal.throwIfAborted();
    for (const older of this.#lane(vin)) if (older.giveWay !== null) this.#replace(older);
    if (whenBusy === 'refuse' && this.#lane(vin).length > 0) {
      await this.#look(vin, client, signal);
      const [head] = this.#lane(vin);
      if (head !== undefined) throw busy(head);
    }
    const passage = new Passage(vin, command);
    const waited = this.#lane(vin).length > 0;
    this.#lanes.set(vin, [...this.#lane(vin), passage]);
    try {
      for (let head; (head = this.#lane(vin)[0]) !== passage;) {
        await this.#pause(head as Passage, signal);
        // One looks for all that wait.
        if (this.#lane(vin)[1] === passage) await this.#look(vin, client, signal);
      }
      signal.throwIfAborted();
    } catch (error) {
      this.#end(passage);
      throw error;
    }
    return {
      waited,
      giveWay: async (until, work) => {
        const own = new AbortController();
        passage.giveWay = own;
        const mustBeLast = (): void => {
          if (this.#lane(vin).at(-1) !== passage) throw replaced();
        };
        try {
          const value = await work(AbortSignal.any([until, own.signal]), mustBeLast);
          // The newer one may have come when the work was done and nobody had gone on with it yet.
          own.signal.throwIfAborted();
          return value;
        } finally {
          passage.giveWay = null;
        }
      },
      sent: (record) => {
        const { id, sentAt, async } = record;
        if (isEnd(record.requestStatus)) this.#end(passage);
        else passage.record = { id, sentAt, async: async && { ...async } };
      },
      end: () => this.#end(passage),
    };
  }

  /** A watch saw the end of it. */
  settled(id: string): void {
    for (const [head] of this.#lanes.values()) if (head?.record?.id === id) this.#end(head);
  }

  #lane(vin: string): readonly Passage[] {
    return this.#lanes.get(vin) ?? [];
  }

  #replace(passage: Passage): void {
    passage.giveWay?.abort(replaced());
    this.#end(passage);
  }

  #end(passage: Passage): void {
    const left = this.#lane(passage.vin).filter((one) => one !== passage);
    if (left.length > 0) this.#lanes.set(passage.vin, left);
    else this.#lanes.delete(passage.vin);
    passage.ended.abort();
  }

  /** Until the time of the next look, or until what is under way ends. */
  async #pause({ ended }: Passage, signal: AbortSignal): Promise<void> {
    try {
      await this.#clock.sleep(lookEveryMs, AbortSignal.any([signal, ended.signal]));
    } catch (error) {
      if (signal.aborted) throw error;
    }
  }

  /** Asks the link of what is under way; a look that fails tells nothing. */
  async #look(vin: string, client: LaneRequest['client'], signal: AbortSignal): Promise<void> {
    const [head] = this.#lane(vin);
    if (head === undefined || head.record === null) return;
    const age = this.#clock.now() - Date.parse(head.record.sentAt);
    // A clock that was set back must not hold a car for as long.
    if (age >= longestMs || age < 0) return this.#end(head);
    const requestStatus = await statusOf(head.record, client, signal);
    if (requestStatus === undefined) return;
    head.unclearLooks = meaningOf(requestStatus).outcome === 'undetermined' ? head.unclearLooks + 1 : 0;
    if (isEnd(requestStatus) || head.unclearLooks >= looksAtAnUnclearStatus) this.#end(head);
  }
}

/** Undefined where it cannot be told now. */
async function statusOf(
  record: UnderWay,
  client: LaneRequest['client'],
  signal: AbortSignal,
): Promise<string | null | undefined> {
  if (!record.async?.href) return undefined;
  try {
    return (await client.commandStatus(record, { signal })).requestStatus;
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}

/** Whether a status is the last word on a command: one that says nothing may be followed by another. */
export const isEnd = (requestStatus: string | null): boolean =>
  ['succeeded', 'failed'].includes(meaningOf(requestStatus).outcome);

const busy = ({ command, record }: Passage): VehicleError => {
  const since = record === null ? '' : `, sent at ${record.sentAt.slice(11, 16)} UTC`;
  return new VehicleError(
    'VEHICLE_UNAVAILABLE',
    `Another command may still be under way to this car (${titleOf(command).toLowerCase()}${since}). This one was not sent: wait for the end of the other, 150 seconds at most, or let the node queue it.`,
  );
};

const replaced = (): VehicleError =>
  new VehicleError(
    'CANCELLED',
    'A newer command for this car took the place of this one, which was waiting. It was not sent.',
  );

/** A command on its way through the lane of a car. */
class Passage {
  readonly vin: string;
  readonly command: string;
  /** Null until it was answered, or given up on. */
  record: UnderWay | null = null;
  /** How many looks in a row found a status that says nothing. */
  unclearLooks = 0;
  /** Set while it only waits for the car. */
  giveWay: AbortController | null = null;
  readonly ended = new AbortController();

  constructor(vin: string, command: string) {
    this.vin = vin;
    this.command = command;
  }
}

const all = new WeakMap<Clock, Map<string, Lanes>>();

/**
 * The lanes of a service, whichever account sends: a car takes one command at a time, and what is under way outlives the account
 * that sent it. Each clock has its own: a test that owns its time shares nothing with others.
 */
export function lanesOf(baseUrl: string, clock: Clock): Lanes {
  const byService = all.get(clock) ?? new Map<string, Lanes>();
  all.set(clock, byService);
  const lanes = byService.get(baseUrl) ?? new Lanes(clock);
  byService.set(baseUrl, lanes);
  return lanes;
}
