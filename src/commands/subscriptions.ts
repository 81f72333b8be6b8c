import * as z from 'zod/mini';
import { VehicleError } from '../errors';
import { maxTries } from '../state/outbox';
import { readForUpdate, removeAll, unlessAway, retryOnConflict } from '../state/state-store';
import type { Clock } from '../util/clock';
import type { FollowUpdate } from './follow';
import { keptProperties } from './kept-properties';
import type { CommandLog } from './log';
import { LoggedCommand, type NodeResult } from './logged-command';
import type { CommandRecord } from './record';

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
  result: NodeResult | null;
}

const storedShape = z.lazy(() =>
  z.object({
    startedAt: z.number(),
    /** The process that follows it. */
    member: z.catch(z.string(), ''),
    msg: z.record(z.string(), z.unknown()),
    added: z.record(z.string(), z.unknown()),
  }),
);

type Stored = z.infer<typeof storedShape>;

interface SubscriptionsOptions {
  log: CommandLog;
  /** The id of the node. A former node of the same id must have ended. */
  node: string;
  clock: Clock;
  /** Called if a change could not be stored. The command is still followed, and its result still sent. */
  onFault: () => void;
}

/**
 * The commands that a node follows: a small record for each, `follow/<node>/<id>`, from before its first poll until its result was sent.
 * The record of the command holds the result, and is stored before it is sent: a process that is killed on the way sends the same
 * result again, rather than none. A command with a result and without a subscription has been delivered.
 */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #prefix: string;
  #isCleared = false;
  /** The subscriptions of this process, by the id of the command. If the answer of a shared store was lost, it is unknown whether the store has them. */
  readonly #own = new Map<string, Stored>();

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
      await this.#try(async () => {
        await log.presence.renew();
        await log.fetch(id);
      });
      const known = log.find(id);
      if (known !== undefined && known.record.vin !== record.vin) throw otherCar();
      if (this.#resultOf(known) !== null) return this.#unfollow(id);
      const now = clock.now();
      const command = known ?? LoggedCommand.adopt(record, account, now);
      if (known === undefined && !this.#isCleared) await this.#try(() => log.add(command, now));
      const others = Object.entries(record).filter(([name]) => !Object.hasOwn(command.record, name));
      const added: Record<string, unknown> = Object.fromEntries(others);
      const subscription = { command, startedAt: now, msg, added, result: null };
      const stored = {
        startedAt: now,
        member: log.presence.id,
        msg: keptProperties(msg),
        added: keptProperties(added),
      };
      let isFollowed = false;
      if (!this.#isCleared) {
        this.#own.set(id, stored);
        await this.#try(async () => (isFollowed = !(await this.#claim(id, stored))));
      }
      // Another copy of the flow follows it, and sends the result.
      return isFollowed ? this.#unfollow(id) : subscription;
    } catch (error) {
      this.#unfollow(id);
      throw error;
    } finally {
      isStored();
    }
  }

  /** @returns false where another process has changed it */
  async #write(id: string, value: Stored, expected: string | null): Promise<boolean> {
    return (await this.#options.log.store.write(this.#prefix + id, value, { expected })) !== null;
  }

  /** Stores a subscription, over one of a process that has ended or of a former node. @returns false where another process follows the command */
  #claim(id: string, own: Stored): Promise<boolean> {
    const { store, presence } = this.#options.log;
    return retryOnConflict(async (isAgain) => {
      const stored = isAgain ? await readForUpdate(store, this.#prefix + id) : null;
      const holder = storedShape.safeParse(stored?.value).data?.member ?? presence.id;
      if (holder !== presence.id && !(await presence.hasEnded(holder))) return false;
      return (await this.#write(id, own, stored?.version ?? null)) || null;
    });
  }

  /** Whether the node has had the result of a command. */
  async hasDelivered(id: string): Promise<boolean> {
    const { log } = this.#options;
    await this.#try(() => log.fetch(id));
    return this.#resultOf(log.find(id)) !== null;
  }

  #unfollow(id: string): null {
    this.#own.delete(id);
    this.#options.log.follow(id, this.#options.node, null);
    return null;
  }

  /** Stores what became of a command on its way. */
  async change({ command }: Pick<Subscription, 'command'>): Promise<void> {
    await this.#try(() => this.#options.log.save(command));
  }

  /**
   * Stores a result, or one more try to send it; the caller sends it next.
   * @returns false if another copy of the flow has taken the command over because this process was silent: that copy sends the result
   * @throws StateFault while a shared store is away, so that this is unknown
   */
  async settle({ command, result }: Subscription, { report, reason }: Omit<FollowUpdate, 'settled'>): Promise<boolean> {
    if (!(await this.#isOwn(command.id))) return this.#unfollow(command.id) !== null;
    const settledAt = Date.parse(command.record.sentAt) + report.elapsedMs;
    this.#keep(command, {
      ...(result ?? command.keepVerdict({ ...report, reason }, settledAt)),
      tries: (result?.tries ?? 0) + 1,
    });
    command.origin = null;
    await this.change({ command });
    return true;
  }

  /** Whether a stored result may be sent. Call it in the statement before the result is sent. If it is false, call `settle` again, because another process may send the result. */
  mayBeSent({ command }: Subscription): boolean {
    return this.#options.log.presence.isStill(this.#own.get(command.id)?.member ?? '');
  }

  /** Whether this process still follows the command. @throws StateFault `unavailable` */
  async #isOwn(id: string): Promise<boolean> {
    const { log } = this.#options;
    try {
      await log.presence.renew();
      const own = this.#own.get(id);
      const member = log.presence.id;
      const stored = await log.store.read(this.#prefix + id);
      if (stored === null) await log.fetch(id);
      const holder = storedShape.safeParse(stored?.value).data?.member;
      // If the store has no subscription, it never had it, has lost it, or another copy of the flow has sent the result.
      const isLeft =
        stored === null ? this.#resultOf(log.find(id)) === null : holder === own?.member || holder === member;
      if (own === undefined || !isLeft) return false;
      const isTaken = holder === member || (await this.#write(id, { ...own, member }, stored?.version ?? null));
      if (isTaken) own.member = member;
      return isTaken;
    } catch (error) {
      return unlessAway(true)(error);
    }
  }

  /** The result was sent. */
  async delivered({ command }: Subscription): Promise<void> {
    const { log } = this.#options;
    if (!command.isStored) await this.change({ command });
    try {
      await log.store.remove(this.#prefix + command.id);
    } catch {
      // A subscription that is left over must not send the result again.
      this.#keep(command, { tries: null });
      await this.change({ command });
      if (!command.isStored) await log.presence.eventually(() => log.save(command));
    }
    this.#unfollow(command.id);
  }

  /** The node was closed before the result was sent. A deploy is not a crash, so the try does not count. */
  async postpone({ command }: Subscription): Promise<void> {
    this.#keep(command, { tries: (this.#resultOf(command)?.tries ?? 1) - 1 });
    await this.change({ command });
  }

  /** Ends without a result. */
  async end(id: string): Promise<void> {
    const { log } = this.#options;
    await this.#try(() => log.markForwarded(id, null));
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
    const open: (Subscription & Stored)[] = [];
    for (const { key, value, version } of await log.store.entries(this.#prefix)) {
      const id = key.slice(this.#prefix.length);
      const stored = storedShape.safeParse(value);
      if (stored.success && !(await this.#takeOver(id, stored.data, version))) continue;
      const command = log.find(id);
      const result = this.#resultOf(command);
      const isLost = result !== null && (result.tries === null || result.tries >= maxTries);
      if (stored.success && command !== undefined && !isLost) {
        open.push({ ...stored.data, member: log.presence.id, command, result });
        continue;
      }
      if (!stored.success) await log.store.write(`unreadable/${key}`, value);
      await log.store.remove(key);
      this.#unfollow(id);
      if (result?.tries !== null) onLost(isLost ? 'undelivered' : 'damaged');
    }
    for (const { command, result: _result, ...own } of open) this.#own.set(command.id, own);
    return open;
  }

  /** Assigns a subscription to this process if the process that it belongs to has ended. @returns false if another process follows the command */
  async #takeOver(id: string, stored: Stored, version: string): Promise<boolean> {
    const { presence } = this.#options.log;
    // A node that is created again takes over the commands of its predecessor; this node follows the command already.
    if (this.#own.has(id)) return false;
    if (stored.member === presence.id) return true;
    if (!(await presence.hasEnded(stored.member))) return false;
    return this.#write(id, { ...stored, member: presence.id }, version).catch(unlessAway(true));
  }

  #resultOf(command: LoggedCommand | undefined): NodeResult | null {
    const { node } = this.#options;
    return command !== undefined && Object.hasOwn(command.results, node) ? (command.results[node] ?? null) : null;
  }

  #keep(command: LoggedCommand, changes: NodeResult | Pick<NodeResult, 'tries'>): void {
    const { node } = this.#options;
    // Tries alone are changed where a result is kept, or mark that none is left to send.
    command.results = { ...command.results, [node]: { ...command.results[node], ...changes } as NodeResult };
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

const otherCar = (): VehicleError =>
  new VehicleError(
    'INPUT_INVALID',
    'The record in msg.payload names another car than the command of this id. Send the record as the “car command” node gave it.',
  );
