import * as z from 'zod/mini';
import { VehicleError } from '../errors';
import { asSentence } from '../sentence';
import { Outbox } from '../state/outbox';
import { removeAll } from '../state/state-store';
import type { Clock } from '../util/clock';
import type { FollowReport } from './follow';
import { keptProperties } from './kept-properties';
import type { CommandLog } from './log';
import { LoggedCommand } from './logged-command';
import { parseRecord, type CommandRecord } from './record';

/** A command that a node follows. */
export interface Subscription {
  command: LoggedCommand;
  /** Milliseconds since 1970. */
  startedAt: number;
  /** The message that brought the record. */
  msg: Record<string, unknown>;
  /** What the flow added to the record. */
  added: Record<string, unknown>;
  /** A result that was stored and perhaps not sent. */
  result: FollowReport | null;
}

const storedShape = z.lazy(() =>
  z.object({
    startedAt: z.number(),
    msg: z.record(z.string(), z.unknown()),
    added: z.record(z.string(), z.unknown()),
  }),
);

const reportShape = z.lazy(() =>
  z.looseObject({
    reason: z.string(),
    verified: z.nullable(z.boolean()),
    elapsedMs: z.number(),
    history: z.array(z.object({ requestStatus: z.nullable(z.string()), at: z.string() })),
  }),
);

interface SubscriptionsOptions {
  log: CommandLog;
  /** The id of the node. A former node of the same id must have ended. */
  node: string;
  clock: Clock;
  /** Called where the disk does not keep a change: it must not end the following of a command, nor hold back its result. */
  onFault: () => void;
}

/**
 * The commands that a node follows: a small record for each, `follow/<node>/<id>`, from before its first poll until its result was sent.
 * The result stands in the record of the command, and is stored before it is sent: a process that is killed on the way sends the same
 * result again, rather than none. A command with a result and without a subscription has been delivered.
 */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #prefix: string;
  #isCleared = false;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    // A name with a slash must not be among the names that begin with another one.
    this.#prefix = `follow/${encodeURIComponent(options.node)}/`;
  }

  /**
   * Begins to follow a command, which is adopted where the log does not know it. Fulfilled when that is stored.
   * @param account the log's name for the account of the node
   * @returns null where the result was delivered before
   * @throws VehicleError INPUT_INVALID where the record names another car than the log
   */
  async begin(record: CommandRecord, msg: Record<string, unknown>, account: string): Promise<Subscription | null> {
    const { log, node, clock } = this.#options;
    const { id } = record;
    let isStored = (): void => undefined;
    // Before anything is awaited: the node that sent the record asks next whether another one follows the command.
    log.follow(id, node, new Promise<void>((resolve) => (isStored = resolve)));
    try {
      await this.#try(() => log.ready());
      const known = log.find(id);
      if (known !== undefined && known.record.vin !== record.vin) throw otherCar();
      if (this.#hasResult(known)) return this.#unfollow(id);
      const now = clock.now();
      const command = known ?? LoggedCommand.adopt(record, account, now);
      if (known === undefined && !this.#isCleared) await this.#try(() => log.add(command, now));
      const subscription = { command, startedAt: now, msg, added: addedTo(command.record, record), result: null };
      const stored = { startedAt: now, msg: keptProperties(msg), added: keptProperties(subscription.added) };
      if (!this.#isCleared) await this.#try(() => log.store.write(this.#prefix + id, stored));
      return subscription;
    } catch (error) {
      this.#unfollow(id);
      throw error;
    } finally {
      isStored();
    }
  }

  /** Whether the node has had the result of a command. */
  async hasDelivered(id: string): Promise<boolean> {
    const { log } = this.#options;
    await this.#try(() => log.ready());
    return this.#hasResult(log.find(id));
  }

  #hasResult = (command: LoggedCommand | undefined): boolean =>
    Object.hasOwn(command?.results ?? {}, this.#options.node);

  #unfollow(id: string): null {
    this.#options.log.follow(id, this.#options.node, null);
    return null;
  }

  /** Stores what became of a command on its way. */
  async change({ command }: Subscription): Promise<void> {
    await this.#try(() => this.#options.log.save(command));
  }

  /** Stores a result, or that its sending begins again; it is sent next. @param reason that of the report, to be worded for each reader */
  async settle(
    { command, result }: Subscription,
    report: FollowReport,
    reason = asSentence(report.reason),
  ): Promise<void> {
    const { log, clock } = this.#options;
    if (result === null) command.settle({ ...report, reason }, clock.now());
    this.#setOutbox(
      command,
      result === null ? new Outbox<FollowReport>().with([report]) : this.#outboxOf(command).retried(),
    );
    command.origin = null;
    await this.#try(() => log.save(command));
  }

  /** The result was sent. */
  async delivered({ command }: Subscription): Promise<void> {
    const { log } = this.#options;
    if (!command.isStored) await this.#try(() => log.save(command));
    try {
      await log.store.remove(this.#prefix + command.id);
    } catch {
      // A subscription that is left over must not send the result again.
      this.#setOutbox(command, new Outbox());
      await this.#try(() => log.save(command));
    }
    this.#unfollow(command.id);
  }

  /** The node was closed before the result was sent. A deploy is no crash, so the try does not count. */
  async heldBack({ command }: Subscription): Promise<void> {
    this.#setOutbox(command, this.#outboxOf(command).ended());
    await this.#try(() => this.#options.log.save(command));
  }

  /** Ends without a result. */
  async end(id: string): Promise<void> {
    const { log } = this.#options;
    await this.#try(() => log.handedOn(id, null));
    await this.#try(() => log.store.remove(this.#prefix + id));
    this.#unfollow(id);
  }

  /**
   * The commands that were followed when the process ended. A result that was tried too often is dropped.
   * @param onLost called for each that cannot be followed
   * @throws StateFault
   */
  async open(onLost: (what: 'damaged' | 'undelivered') => void): Promise<Subscription[]> {
    const { log } = this.#options;
    await log.ready();
    const open: Subscription[] = [];
    for (const { key, value } of await log.store.entries(this.#prefix)) {
      const id = key.slice(this.#prefix.length);
      const stored = storedShape.safeParse(value);
      const command = log.find(id);
      const result = command === undefined ? 'damaged' : this.#resultOf(command);
      if (stored.success && command !== undefined && typeof result !== 'string') {
        open.push({ ...stored.data, command, result });
        continue;
      }
      if (!stored.success) await log.store.write(`unreadable/${key}`, value);
      await log.store.remove(key);
      this.#unfollow(id);
      if (result !== 'delivered') onLost(typeof result === 'string' ? result : 'damaged');
    }
    return open;
  }

  /** The result that is not sent yet; null where there is none. */
  #resultOf(command: LoggedCommand): FollowReport | null | 'undelivered' | 'delivered' {
    if (!this.#hasResult(command)) return null;
    const unsent = this.#outboxOf(command);
    if (unsent.entries.length === 0) return 'delivered';
    return unsent.retried().messages[0] ?? 'undelivered';
  }

  #outboxOf = ({ results, record }: LoggedCommand): Outbox<FollowReport> =>
    Outbox.parse(results[this.#options.node], (stored) => {
      const report = reportShape.safeParse(stored);
      return report.success ? { ...parseRecord(stored), ...report.data, vin: record.vin } : null;
    });

  #setOutbox(command: LoggedCommand, outbox: Outbox<FollowReport>): void {
    command.results = { ...command.results, [this.#options.node]: [...outbox.entries] };
  }

  /** Removes everything of a deleted node; nothing is stored later. */
  async clear(): Promise<void> {
    const { log, node } = this.#options;
    this.#isCleared = true;
    for (const id of log.followedBy(node)) await this.end(id);
    await this.#try(() => removeAll(log.store, this.#prefix));
  }

  async #try(change: () => Promise<unknown>): Promise<void> {
    try {
      await change();
    } catch {
      this.#options.onFault();
    }
  }
}

/** The members of a record that the log does not know. */
const addedTo = (known: CommandRecord, record: CommandRecord): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !Object.hasOwn(known, name)));

const otherCar = (): VehicleError =>
  new VehicleError(
    'INPUT_INVALID',
    'The record in msg.payload names another car than the command of this id. Send the record as the “car command” node gave it.',
  );
