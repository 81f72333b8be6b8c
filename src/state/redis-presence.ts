import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import type { Signal } from '../util/cancellation';
import { systemClock, type Clock } from '../util/clock';
import { Listeners } from '../util/listeners';
import { noneFound, type Presence } from './presence';
import {
  MemoryStateStore,
  readForUpdate,
  retryOnConflict,
  type SharedStore,
  type StateFault,
  type StateStore,
} from './state-store';

interface RedisPresenceOptions {
  store: SharedStore;
  /** The name of this process for people: *Check* in another Node-RED shows it. */
  name?: string;
  /** Names the copies of the same flows; null, the default, if each process has its own flows. */
  group?: string | null;
  /**
   * Whether the same command from the same node of two copies is one command.
   * Default: true in a group.
   */
  joinsCommands?: boolean;
  clock?: Clock;
}

const tickMs = 1_000;
const lookAtStoreMs = 3_000;
const beatMs = 5_000;
const doubtMs = 10_000;
const silentMs = 15_000;

const processSchema = z.lazy(() => z.object({ name: z.string() }));
const leaderSchema = z.lazy(() => z.object({ id: z.string() }));

const nothing = (): void => undefined;
const noLead = { id: '', version: '' };

/** Another process, as this one sees it. */
interface Seen {
  version: string;
  /** When this version was first seen, by the monotonic clock of this process. */
  since: number;
  name: string;
}

/**
 * This process among those that use a store on Redis or Valkey. The record `process/<id>` is
 * written every 5 seconds. A process that finds the record of another one unchanged for 15 seconds
 * of its own monotonic time removes it on condition of its version. A process whose own record was
 * removed begins again with another id. No key has an expiry (`PX`, `EXISTS`): that would be
 * counted by the wall clock of the store, and a step forward of that clock would end processes that
 * live.
 *
 * A process is sure of its record for 10 seconds since the start of its last beat, by whichever of
 * monotonic time, wall time and the time since the machine was started has advanced most, because
 * monotonic time stops while a machine sleeps. What must hold is: sure for 10 s < ended after 15 s
 * <= 15 s in which nothing is sent after the store restarted.
 *
 * The record `leader/<group>` has the id of the process that does the background work of its group.
 * A process writes it, on condition of its version, if it names no process or one that has ended.
 */
export class RedisPresence implements Presence {
  readonly role = 'active';
  readonly maxAhead = 0;
  readonly forOthers = (work: () => void): void => work();
  readonly earlierFoundAt = noneFound;
  readonly restoreSlots = nothing;
  readonly canDoWithout = (): boolean => false;
  readonly #store: SharedStore;
  readonly #group: string | null;
  readonly joinsCommands: boolean;
  readonly slots: StateStore;
  readonly armings: StateStore;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();
  readonly #leadChanged = new Listeners<[isLeading: boolean]>();
  readonly #othersGone = new Listeners();
  readonly onGone = this.#othersGone.add;
  readonly #idChanged = new Listeners();
  readonly #owed = new Set<() => Promise<unknown>>();
  #users = 0;
  #ending = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #isLeading: boolean;
  /** The record of the group as this process wrote it; `noLead` if another one has it. */
  #lead = noLead;
  #seekingLead: Promise<void> | null = null;
  #id = newId();
  /** The version of the own record; null before the first beat. */
  #version: string | null = null;
  #beatAt: readonly number[] = [];
  #beating: Promise<void> | null = null;
  /** How far the clock of the store is ahead of the monotonic clock; null before the first beat. */
  #storeAheadMs: number | null = null;
  /** When the other processes were last seen, by the monotonic clock. */
  #lookedAt = -Infinity;

  constructor(options: RedisPresenceOptions) {
    const { store, name = '', group = null, clock = systemClock } = options;
    this.#store = store;
    this.slots = store;
    this.armings = group === null ? new MemoryStateStore() : store;
    this.#group = group;
    this.#isLeading = group === null;
    this.joinsCommands = group !== null && options.joinsCommands !== false;
    this.#name = name;
    this.#clock = clock;
  }

  use(): () => Promise<void> {
    this.#users += 1;
    if (this.#users === 1) {
      this.#ending = new AbortController();
      const { signal } = this.#ending;
      this.#running = this.#running.then(() => this.#run(signal));
    }
    let isOver = false;
    return async () => {
      if (isOver) return;
      isOver = true;
      this.#users -= 1;
      if (this.#users === 0) await this.#end();
    };
  }

  get others(): string[] {
    return [...this.#seen.values()].map(({ name }) => name);
  }

  get id(): string {
    return this.#id;
  }

  get fault(): StateFault | null {
    return this.#store.fault;
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  sharedId(id: string, vin?: string): string {
    return this.#group === null || vin === undefined ? id : `${id}/${vin}`;
  }

  senderOf(node: string | null): string {
    return this.joinsCommands && node !== null ? `${this.#group}/${node}` : '';
  }

  async settled(signal?: Signal): Promise<boolean> {
    let hasWaited = false;
    for (let ms; (ms = this.#store.settlesInMs) > 0; hasWaited = true)
      await this.#clock.sleep(Math.min(ms, lookAtStoreMs), signal);
    return hasWaited;
  }

  onChange(listener: () => void): () => void {
    const ends = [this.#store.onChange(listener), this.#idChanged.add(listener)];
    return () => ends.forEach((end) => end());
  }

  /**
   * By the clock of the store: the monotonic time of this machine and the difference that the beats
   * have measured; before the first one, its own clock.
   */
  now(): number {
    return this.#storeAheadMs === null ? this.#clock.now() : this.#clock.monotonic() + this.#storeAheadMs;
  }

  ageOf({ savedAt }: { savedAt: number }): number {
    return Math.max(0, this.now() - savedAt);
  }

  isStill(id: string): boolean {
    return id === this.#id && this.#isSure;
  }

  isStillOfNode(id: string): boolean {
    return this.#group === null || this.isStill(id);
  }

  /**
   * Whether the last beat is less than 10 seconds old: then no other process can
   * have removed its record.
   */
  get #isSure(): boolean {
    const now = this.#times();
    const passed = Math.max(...this.#beatAt.map((at, index) => (now[index] ?? Infinity) - at));
    return this.#beatAt.length > 0 && passed < doubtMs;
  }

  async eventually(change: () => Promise<unknown>): Promise<void> {
    this.#owed.add(change);
    await change().then(
      () => this.#owed.delete(change),
      () => undefined,
    );
  }

  onLeading(listener: (isLeading: boolean) => void): () => void {
    listener(this.#isLeading);
    if (this.#group === null) return nothing;
    const end = this.#leadChanged.add(listener);
    void this.#seekLead();
    return () => {
      end();
      if (this.#leadChanged.isEmpty) void this.#endLead();
    };
  }

  async hasEnded(id: string): Promise<boolean> {
    return id !== this.#id && !this.#seen.has(id) && (id === '' || (await this.#store.read(`process/${id}`)) === null);
  }

  async renew(): Promise<void> {
    if (!this.#isSure) await this.#beat();
  }

  async #end(): Promise<void> {
    this.#ending.abort();
    await this.#running;
    await this.#beating?.catch(() => undefined);
    // It was begun again meanwhile.
    if (this.#users > 0) return;
    this.#beatAt = [];
    const expected = this.#version;
    if (expected !== null) await this.#store.remove(`process/${this.#id}`, { expected }).catch(() => undefined);
  }

  async #run(signal: Signal): Promise<void> {
    for (let beatenAt = -Infinity; !signal.aborted;) {
      const now = this.#clock.monotonic();
      // A timer can fire a moment early.
      const isDue = now - beatenAt > beatMs - tickMs / 2;
      if (isDue) beatenAt = now;
      // `store.fault` has the reason of a failure.
      if (isDue || !this.#isSure) await this.#beat().catch(() => undefined);
      if (isDue && this.#isSure) for (const change of this.#owed) await this.eventually(change);
      const isAnySilent = [...this.#seen.values()].some(({ since }) => now - since >= silentMs);
      const isLookDue = isAnySilent || now - this.#lookedAt > lookAtStoreMs - tickMs / 2;
      const isAnyGone = isLookDue && (await this.#endSilent().catch(() => false));
      this.#noteLeading();
      // Not awaited: a slow store must not delay the next beat.
      if (isDue || isAnyGone) void this.#seekLead();
      if (isAnyGone) this.#othersGone.notify();
      await this.#clock.sleep(tickMs, signal).catch(() => undefined);
    }
  }

  /**
   * Takes the lead, or makes sure of it, if anything here waits for it. Never rejects: the
   * next beat tries again.
   */
  #seekLead(): Promise<void> {
    if (this.#leadChanged.isEmpty) return Promise.resolve();
    this.#seekingLead ??= this.#seekLeadOnce()
      .catch(() => undefined)
      .finally(() => (this.#seekingLead = null));
    return this.#seekingLead;
  }

  async #seekLeadOnce(): Promise<void> {
    await this.renew();
    const id = this.#id;
    this.#lead = await retryOnConflict(async () => {
      const { value, version: expected } = await readForUpdate(this.#store, this.#leaderKey, leaderSchema);
      const leader = value?.id ?? '';
      if (this.#lead.id === id && this.#lead.version === expected) return this.#lead;
      if (leader !== id && !(await this.hasEnded(leader))) return noLead;
      const version = await this.#store.write(this.#leaderKey, { id }, { expected });
      return version === null ? null : { id, version };
    });
    if (this.#leadChanged.isEmpty) await this.#endLead();
    else this.#noteLeading();
  }

  /** Lets another process lead. */
  async #endLead(): Promise<void> {
    const lead = this.#lead;
    this.#lead = noLead;
    this.#noteLeading();
    if (lead !== noLead) await this.eventually(() => this.#store.remove(this.#leaderKey, { expected: lead.version }));
  }

  #noteLeading(): void {
    if (this.#group === null) return;
    const isLeading = this.isStill(this.#lead.id);
    if (isLeading === this.#isLeading) return;
    this.#isLeading = isLeading;
    this.#leadChanged.notify(isLeading);
  }

  get #leaderKey(): string {
    return `leader/${this.#group}`;
  }

  /** One beat at a time. */
  #beat(): Promise<void> {
    this.#beating ??= this.#beatOnce().finally(() => (this.#beating = null));
    return this.#beating;
  }

  async #beatOnce(): Promise<void> {
    const begun = this.#times();
    const write = (expected: string | null): Promise<string | null> =>
      this.#store.write(`process/${this.#id}`, { name: this.#name }, { expected });
    let version = await write(this.#version);
    // Only this process writes the record: it has another version if the answer to a beat was lost.
    const stored = version === null ? await this.#store.read(`process/${this.#id}`) : null;
    if (stored !== null) version = await write(stored.version);
    if (version === null) {
      // Another process has ended this one.
      this.#beatAt = [];
      [this.#id, this.#version] = [newId(), null];
      version = await write(null);
      this.#idChanged.notify();
    }
    this.#version = version;
    await this.#measureStoreClock();
    this.#beatAt = begun;
  }

  /**
   * The store read its clock between the request and the answer. If this process or the network is
   * slow, this range is wide: the known difference stays if it is in the range; otherwise the
   * nearest end is taken.
   */
  async #measureStoreClock(): Promise<void> {
    const asked = this.#clock.monotonic();
    const now = await this.#store.now();
    const [least, most] = [now - this.#clock.monotonic(), now - asked];
    this.#storeAheadMs = Math.min(most, Math.max(least, this.#storeAheadMs ?? (least + most) / 2));
  }

  /**
   * Looks at the other processes, and ends those that are silent.
   * @returns whether one of them is gone
   */
  async #endSilent(): Promise<boolean> {
    const found = await this.#store.entries('process/');
    const now = this.#clock.monotonic();
    // Time in which this process did not look does not count as silence of the others.
    const unseenMs = Math.max(0, now - this.#lookedAt - beatMs);
    this.#lookedAt = now;
    const gone = new Set(this.#seen.keys());
    for (const { key, value, version } of found) {
      const id = key.slice('process/'.length);
      if (id === this.#id) continue;
      const before = this.#seen.get(id);
      const since = before?.version === version ? before.since + unseenMs : now;
      if (now - since >= silentMs && (await this.#store.remove(key, { expected: version }))) continue;
      gone.delete(id);
      this.#seen.set(id, { version, since, name: processSchema.safeParse(value).data?.name ?? '' });
    }
    for (const id of gone) this.#seen.delete(id);
    return gone.size > 0;
  }

  #times = (): readonly number[] => [this.#clock.monotonic(), this.#clock.now(), this.#clock.uptime()];
}

const newId = (): string => randomBytes(12).toString('base64url');
