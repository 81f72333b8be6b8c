import type { Reading } from '../car/reading';
import { sentence, wordSentence, type Sentence } from '../sentence';
import { LocalPresence, type Presence } from '../state/presence';
import {
  anyShape,
  readForUpdate,
  unlessAway,
  retryOnConflict,
  type StateStore,
  type Stored,
} from '../state/state-store';
import { iso } from '../util/clock';
import { Serial } from '../util/serial';
import { Command, maxActingMs, type Follower, type JournalEntry } from './command';

export interface CommandLogOptions {
  store: StateStore;
  /** The presence of this process in `store`. Default: no other process uses the store. */
  presence?: Presence;
  /** The number of commands that are kept, the newest ones. Default 1000. */
  limit?: number;
  /** Gets a sentence when stored commands could not be read. */
  warn?: (warning: Sentence) => void;
  /** Called when a command is added or changes. */
  onChange?: () => void;
}

/** The most commands that the journal of an account lists. */
const journalLength = 100;

/**
 * A record is on its way through other nodes to one that follows it for at most as
 * long as the car can act.
 */
const isOnTheWay = ({ origin }: Command, now: number): boolean =>
  !origin?.forwardedAt || Math.abs(now - Date.parse(origin.forwardedAt)) < maxActingMs;

/**
 * The commands of a Node-RED, one stored record each, `command/<id>`, entered before the first byte
 * leaves. The log is the only owner of its keys. What cannot be stored stays in memory, and is
 * stored with the next change of the command.
 */
export class CommandLog {
  readonly store: StateStore;
  readonly presence: Presence;
  readonly #options: Required<CommandLogOptions>;
  /** By id, the oldest first. */
  #commands = new Map<string, Command>();
  /**
   * The nodes of this process that begin to follow a command, by its id: the end of their writes.
   */
  readonly #beginning = new Map<string, Promise<unknown>>();
  readonly #reading = new Serial();
  /** How many stored commands could not be read. */
  #lost = 0;
  #order = 0;

  constructor(options: CommandLogOptions) {
    const { store, presence = new LocalPresence() } = options;
    this.store = store;
    this.presence = presence;
    this.#options = { limit: 1000, warn: () => undefined, onChange: () => undefined, ...options, presence };
  }

  /** Reads what is stored. @throws StateFault */
  ready(): Promise<void> {
    return this.#reading.run(() => this.#read());
  }

  async #read(): Promise<void> {
    const entries = await this.store.entries('command/');
    const stored = entries
      .flatMap((entry) => this.#parse(entry.key.slice('command/'.length), entry) ?? [])
      .sort((a, b) => a.order - b.order);
    const lost = entries.length - stored.length;
    if (lost > this.#lost)
      this.#options.warn(sentence`${lost} of ${entries.length} stored commands cannot be read and are left out.`);
    this.#lost = lost;
    this.#order = Math.max(this.#order, stored.at(-1)?.order ?? 0);
    const ids = new Set(stored.map(({ id }) => id));
    // A command that is not stored yet is newer than the stored ones.
    const others = [...this.#commands].filter(([id, one]) => !one.isStored && !ids.has(id));
    this.#commands = new Map([...stored.map((one) => [one.id, one] as const), ...others]);
  }

  /** The command that is known already, with what is stored now; null if that cannot be read. */
  #parse(id: string, entry: Stored, known = this.#commands.get(id)): Command | null {
    const { version } = entry;
    if (known?.version === version) return known;
    const stored = Command.parse(entry.value);
    if (stored === null) return null;
    known?.merge(stored);
    return Object.assign(known ?? Object.assign(stored, { isStored: true }), { version });
  }

  /** A command as it is stored now. @throws StateFault */
  async fetch(id: string): Promise<Command | undefined> {
    await this.#refresh(id);
    return this.find(id);
  }

  async #refresh(id: string, known = this.find(id)): Promise<void> {
    const { value, version } = await readForUpdate(this.store, `command/${id}`, anyShape);
    const command = version === null ? null : this.#parse(id, { value, version }, known);
    if (command) this.#commands.set(id, command);
    // What cannot be read is overwritten.
    else if (known !== undefined) known.version = version;
  }

  find(id: string): Command | undefined {
    return this.#commands.get(id);
  }

  /** Adds a command, and stores it. @throws StateFault */
  async add(command: Command, now: number): Promise<void> {
    this.#order = command.order = Math.max(now, this.#order + 1);
    if (command.origin?.by === '') command.origin.by = this.presence.id;
    await this.save(command);
    for (const [id, oldest] of this.#commands) {
      if (this.#commands.size <= this.#options.limit) break;
      if (!this.#isOpen(oldest)) await this.remove(id);
    }
  }

  /**
   * Changes a command. Fulfilled when it is stored as it is then.
   * @param change made again if another process has stored another change meanwhile; what it
   * returns is awaited, and with false nothing is stored
   * @returns false if `change` has returned it
   * @throws StateFault
   */
  async save(command: Command, change: () => Promise<boolean> | void = () => undefined): Promise<boolean> {
    this.#commands.set(command.id, command);
    this.#options.onChange();
    const { stored } = await retryOnConflict(async (isAgain) => {
      if (isAgain) await this.#refresh(command.id, command);
      if ((await change()) === false) return { stored: false };
      command.isStored = false;
      const version = await this.store.write(`command/${command.id}`, command, { expected: command.version });
      if (version === null) return null;
      command.version = version;
      return { stored: true };
    });
    if (stored) command.isStored = true;
    return stored;
  }

  /** @throws StateFault */
  async remove(id: string): Promise<void> {
    this.#commands.delete(id);
    this.#options.onChange();
    await this.store.remove(`command/${id}`);
  }

  /** A node begins to follow a command: `hasReachedFollower` waits for the end. */
  begins<Value>(id: string, beginning: Promise<Value>): Promise<Value> {
    const all = Promise.allSettled([this.#beginning.get(id), beginning]).then(() => {
      if (this.#beginning.get(id) === all) this.#beginning.delete(id);
    });
    this.#beginning.set(id, all);
    return beginning;
  }

  followedBy(node: string): Command[] {
    return [...this.#commands.values()].filter((one) => one.followerOf(node));
  }

  /** Whether a node follows the command, or has had its result. Fulfilled when that is stored. */
  async hasReachedFollower(id: string): Promise<boolean> {
    await this.#beginning.get(id);
    return this.find(id)?.hasReachedFollower === true;
  }

  /**
   * The commands for which a node has a record or a result to send, and which this process may
   * send: its own, and those of processes that have ended. A record that was forwarded is among
   * them while it may be on its way to a node that follows the command.
   * @param isStart false: only those of another process that has ended since. A node that knows
   * which commands it is sending itself needs no `false`
   * @throws StateFault
   */
  async openFor(node: string, now: number, isStart = true): Promise<Command[]> {
    await this.ready();
    const isOpen = (one: Command): boolean =>
      one.origin?.node === node ? !one.hasReachedFollower && isOnTheWay(one, now) : Boolean(one.followerOf(node));
    const open: Command[] = [];
    for (const one of [...this.#commands.values()].filter(isOpen)) {
      const isOwn = one.unsentOf(node)?.by === this.presence.id;
      if (isOwn ? isStart : await this.#takeOver(one, node)) open.push(one);
    }
    return open;
  }

  /**
   * Stores that this process sends what a node has to send for a command, unless another process
   * does that or has sent it.
   * @param follower set if the node begins to follow the command
   * @throws StateFault
   */
  assign(command: Command, node: string, follower?: Follower): Promise<boolean> {
    const { presence } = this;
    const by = presence.id;
    return this.save(command, async () => {
      const known = command.unsentOf(node);
      const hasNothing = known === null && follower === undefined;
      const isOthers = known !== null && known.by !== by && !(await presence.hasEnded(known.by));
      if (command.isDone(node) || hasNothing || isOthers) return false;
      if (follower) command.setFollower(node, { ...follower, by });
      else if (known) known.by = by;
      return true;
    });
  }

  /** What cannot be stored, although the store is there, is sent anyway. */
  #takeOver(command: Command, node: string): Promise<boolean> {
    return this.assign(command, node).catch(unlessAway(true));
  }

  /**
   * Whether a node may send what it has to send for a command. Call it in the statement before that
   * is sent. False if another process may have taken it over.
   */
  mayBeSent(command: Command, node: string): boolean {
    const { presence } = this;
    const by = command.unsentOf(node)?.by ?? '';
    return command.origin?.node === node ? presence.isStillOfNode(by) : presence.isStill(by);
  }

  /**
   * Makes sure that this process may send what a node has to send for a command: takes it over if
   * the process that had it has ended, such as the former id of this process.
   * @returns false if another process sends it, or has sent it
   * @throws StateFault while a shared store is away, so that this is unknown
   */
  async claim(command: Command, node: string): Promise<boolean> {
    if (this.mayBeSent(command, node)) return true;
    const known = command.unsentOf(node);
    try {
      await this.presence.renew();
      await this.#refresh(command.id, command);
    } catch (error) {
      return unlessAway(true)(error);
    }
    const unsent = command.unsentOf(node);
    // Another process has sent it.
    if (!unsent || unsent.forwardedAt !== known?.forwardedAt) return false;
    return unsent.by === this.presence.id || this.#takeOver(command, node);
  }

  /** Whether a node has something to send for it. */
  #isOpen = ({ isFollowed, hasReachedFollower, origin }: Command): boolean =>
    isFollowed || (!hasReachedFollower && origin?.forwardedAt === null);

  /**
   * The node has forwarded the record.
   * @param at when, if a node may still take it over; null if none will, and it
   * is not forwarded again
   * @throws StateFault
   */
  async markForwarded(command: Command, at: number | null): Promise<void> {
    if (command.origin === null) return;
    command.origin = at === null ? null : { ...command.origin, forwardedAt: iso(at) };
    await this.save(command).catch(async (error: unknown) => {
      await this.presence.eventually(() => this.save(command));
      throw error;
    });
  }

  /** A node that is deleted forwards nothing. @throws StateFault */
  async forgetNode(node: string): Promise<void> {
    await this.ready();
    for (const one of this.#commands.values()) if (one.origin?.node === node) await this.markForwarded(one, null);
  }

  /** The commands of an account on which the car may still act. @throws StateFault */
  async pending(account: string): Promise<Command[]> {
    await this.ready();
    return [...this.#commands.values()].filter((one) => one.account === account && one.mayAct);
  }

  /**
   * The journal of an account: its last 100 commands, newest first; copies, which the caller may
   * change.
   * @throws StateFault
   */
  async journal(account: string): Promise<JournalEntry[]> {
    await this.ready();
    const shown = [...this.#commands.values()].filter((one) => one.account === account && !one.isCleared);
    return shown
      .slice(-journalLength)
      .reverse()
      .map((one) => one.journalEntry());
  }

  /**
   * Empties the journal of an account. A command that a node still needs comes back with its
   * result.
   * @throws StateFault
   */
  async clear(account: string): Promise<void> {
    await this.ready();
    for (const command of [...this.#commands.values()].filter((one) => one.account === account)) {
      if (!this.#isOpen(command)) await this.remove(command.id);
      else {
        command.isCleared = true;
        await this.save(command);
      }
    }
  }
}

/**
 * The journal as a reading of `connected-vehicle-status` (docs/internals/contract.md 3): it comes
 * from no vehicle and no request.
 * @param redact removes secrets, which the service can repeat in its reasons
 */
export function journalReading(
  entries: readonly JournalEntry[],
  now: number,
  redact: (text: string) => string,
): Reading<(Omit<JournalEntry, 'reason'> & { reason: string | null })[]> {
  const payload = entries.map((entry) => ({ ...entry, reason: entry.reason && redact(wordSentence(entry.reason)) }));
  return {
    payload,
    vehicle: {
      vin: null,
      read: 'journal',
      interface: null,
      receivedAt: iso(now),
      measuredAt: null,
      source: 'live',
    },
  };
}
