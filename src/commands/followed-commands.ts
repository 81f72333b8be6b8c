import { VehicleError } from '../errors';
import { maxTries } from '../state/outbox';
import type { Clock } from '../util/clock';
import type { FollowUpdate } from './follow';
import { keptProperties } from './kept-properties';
import type { CommandLog } from './log';
import { Command, type Follower } from './command';
import type { CommandRecord } from './record';

/** A command that a node follows. `msg` and `added` are whole as long as the process runs. */
export interface FollowedCommand extends Omit<Follower, 'by'> {
  command: Command;
}

interface FollowedCommandsOptions {
  log: CommandLog;
  /** The id of the node. A former node of the same id must have ended. */
  node: string;
  clock: Clock;
  /**
   * Called if a change could not be stored. The command is still followed, and
   * its result still sent.
   */
  onFault: () => void;
}

/**
 * The commands that a node follows, each in `followers` of its record from before the first poll
 * until the result was sent. The result is stored before it is sent: a process that is killed on
 * the way sends the same result again, rather than none.
 */
export class FollowedCommands {
  readonly #options: FollowedCommandsOptions;
  #isCleared = false;
  /** Those of this node, by their id. A former node of the same id has others. */
  readonly #own = new Map<string, FollowedCommand>();

  constructor(options: FollowedCommandsOptions) {
    this.#options = options;
  }

  /**
   * Begins to follow a command, which is adopted if the log does not know it. Fulfilled
   * when that is stored.
   * @param account the log's name for the account of the node
   * @returns null if the result was sent before, or if another copy of the flow follows it
   * @throws VehicleError INPUT_INVALID if the record names another car than the log
   */
  begin(record: CommandRecord, msg: Record<string, unknown>, account: string): Promise<FollowedCommand | null> {
    // Before anything is awaited: the node that sent the record asks next whether another one
    // follows the command.
    return this.#options.log.begins(record.id, this.#begin(record, msg, account));
  }

  async #begin(record: CommandRecord, msg: Record<string, unknown>, account: string): Promise<FollowedCommand | null> {
    const { log, node, clock } = this.#options;
    await this.#try(async () => {
      await log.presence.renew();
      // What this process has read or stored needs no read: if another one has changed it since,
      // the write of `assign` finds that out.
      if (log.find(record.id)?.isStored !== true) await log.fetch(record.id);
    });
    const known = log.find(record.id);
    if (known !== undefined && known.record.vin !== record.vin) throw otherCar();
    const now = clock.now();
    const command = known ?? Command.adopt(record, account, now);
    const others = Object.entries(record).filter(([name]) => !Object.hasOwn(command.record, name));
    const added: Record<string, unknown> = Object.fromEntries(others);
    const followed = { command, startedAt: now, msg, added, result: null, tries: 0 };
    if (command.isDone(node)) return null;
    if (this.#isCleared) return followed;
    const isOwn = await this.#try(async () => {
      if (known === undefined) await log.add(command, now);
      return log.assign(command, node, this.#stored(followed));
    });
    if (isOwn === false) return null;
    // What could not be stored is stored with the next change.
    if (!command.followerOf(node)) command.setFollower(node, this.#stored(followed));
    this.#own.set(record.id, followed);
    return followed;
  }

  /** Whether the node has sent the result of a command. */
  async hasSent(id: string): Promise<boolean> {
    const { log, node } = this.#options;
    await this.#try(() => log.fetch(id));
    return log.find(id)?.isDone(node) === true;
  }

  /** Stores the progress of a command. */
  async change({ command }: Pick<FollowedCommand, 'command'>): Promise<void> {
    await this.#try(() => this.#options.log.save(command));
  }

  /**
   * Stores a result, or one more try to send it; the caller sends it next.
   * @returns false if another copy of the flow has taken the command over because this process was
   * silent: that copy sends the result
   * @throws StateFault while a shared store is away, so that this is unknown
   */
  async settle(followed: FollowedCommand, { report, reason }: Omit<FollowUpdate, 'settled'>): Promise<boolean> {
    const { log, node } = this.#options;
    const { command, result, tries } = followed;
    if (!this.#own.has(command.id) || !(await log.claim(command, node))) {
      this.#own.delete(command.id);
      return false;
    }
    const settledAt = Date.parse(command.record.sentAt) + report.elapsedMs;
    const verdict = result ?? command.keepVerdict({ ...report, reason }, settledAt);
    const follower = { ...this.#stored(followed), result: verdict, tries: tries + 1 };
    await this.#keep(command, () => command.setFollower(node, follower));
    return true;
  }

  /**
   * Whether a stored result may be sent. Call it in the statement before the result is sent. If it
   * is false, call `settle` again, because another process may send the result.
   */
  mayBeSent({ command }: FollowedCommand): boolean {
    return this.#options.log.mayBeSent(command, this.#options.node);
  }

  /** The result was sent. */
  async markSent(followed: FollowedCommand): Promise<void> {
    const { command } = followed;
    this.#own.delete(command.id);
    await this.#keep(command, () => command.markDone(this.#options.node), true);
  }

  /**
   * The node was closed before the result was sent. A deploy is not a crash, so
   * the try does not count.
   */
  async release(followed: FollowedCommand): Promise<void> {
    const { command } = followed;
    const { node } = this.#options;
    const { result } = command.followerOf(node) ?? followed;
    const follower = { ...this.#stored(followed), result };
    await this.#keep(command, () => command.setFollower(node, follower));
  }

  /**
   * Stores what changes for this node.
   * @param isLast it is stored later if it cannot be stored now
   */
  async #keep(command: Command, change: () => void, isLast = false): Promise<void> {
    const { log } = this.#options;
    const save = (): Promise<boolean> =>
      log.save(command, () => {
        // The record has arrived: the node that sent it has nothing left to forward.
        command.origin = null;
        change();
      });
    await this.#try(save);
    if (isLast && !command.isStored) await log.presence.eventually(save);
  }

  /** Ends without a result. */
  async end(id: string): Promise<void> {
    const { log, node } = this.#options;
    const command = log.find(id);
    this.#own.delete(id);
    if (command !== undefined) await this.#keep(command, () => command.removeFollower(node));
  }

  /**
   * The commands that were followed when the process ended. A result that was tried
   * too often is dropped.
   * @param onLost called for each result that is dropped
   * @throws StateFault
   */
  async open(onLost: () => void): Promise<FollowedCommand[]> {
    const { log, node, clock } = this.#options;
    const open: FollowedCommand[] = [];
    for (const command of await log.openFor(node, clock.now())) {
      const follower = command.followerOf(node);
      // A node that is created again takes over the commands of its predecessor; this node follows
      // the command already.
      if (!follower || this.#own.has(command.id)) continue;
      const followed = { ...follower, command };
      if (follower.result !== null && follower.tries >= maxTries) {
        await this.#keep(command, () => command.markDone(node));
        onLost();
      } else open.push(followed);
    }
    for (const followed of open) this.#own.set(followed.command.id, followed);
    return open;
  }

  /** Removes everything of a deleted node; nothing is stored later. */
  async clear(): Promise<void> {
    const { log, node } = this.#options;
    this.#isCleared = true;
    for (const { id } of log.followedBy(node)) await this.end(id);
  }

  #stored({ command, startedAt, msg, added, result, tries }: FollowedCommand): Follower {
    const { log, node } = this.#options;
    const { by = log.presence.id } = command.followerOf(node) ?? {};
    return { by, startedAt, msg: keptProperties(msg), added: keptProperties(added), result, tries };
  }

  /** @returns undefined if it has failed */
  async #try<T>(change: () => Promise<T>): Promise<T | undefined> {
    try {
      return await change();
    } catch {
      this.#options.onFault();
      return undefined;
    }
  }
}

const otherCar = (): VehicleError =>
  new VehicleError(
    'INPUT_INVALID',
    'msg.payload names another car than the one to which this command was sent. Pass the record on unchanged.',
  );
