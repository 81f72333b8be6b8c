import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { systemClock, type Clock } from '../util/clock';
import { LocalPresence, type Presence } from './presence';
import { readForUpdate, type SharedStore, type StateFault } from './state-store';

/** A right that one process has at a time, for example to poll for a node. */
interface Claim {
  /** Whether this process holds it: asked in the last statement before something is sent. */
  isHeld(): boolean;
  /** Never rejects. */
  release(): Promise<void>;
}

interface MembershipOptions {
  store: SharedStore;
  /** The name of this process for people: *Check* in another Node-RED shows it. */
  name?: string;
  /** Names the copies of the same flows; null, the default, if each process has flows of its own. */
  group?: string | null;
  /** Whether the same command from the same node of two copies is one command. Default: true in a group. */
  joinsCommands?: boolean;
  clock?: Clock;
}

const tickMs = 1_000;
const lookMs = 3_000;
const beatMs = 5_000;
const doubtMs = 10_000;
const silentMs = 15_000;

const memberSchema = z.lazy(() => z.object({ name: z.string() }));
const claimSchema = z.lazy(() => z.object({ member: z.string() }));

/** Another member, as this process sees it. */
interface Seen {
  version: string;
  /** When this version was first seen, by the monotonic clock of this process. */
  since: number;
  name: string;
}

/**
 * The membership of this process in a shared store, and its claims. The record `member/<id>` is written every 5 seconds. A member that finds
 * it unchanged for 15 seconds of its own monotonic time removes it on condition of its version. A member whose own record was removed begins again
 * with another id and without claims. A claim is the record `claim/<name>` with the id of a member; a claim whose member has ended may be taken.
 *
 * A member believes in its claims for 10 seconds since the start of its last beat, by whichever of monotonic time, wall time and the time
 * since the machine was started has advanced most, because monotonic time stops while a machine sleeps.
 */
export class Membership implements Presence {
  readonly role = 'active';
  readonly isShared = true;
  readonly amongCopies: Presence;
  readonly #store: SharedStore;
  readonly group: string | null;
  readonly joinsCommands: boolean;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();
  readonly #held = new Map<string, { member: string; version: string }>();
  readonly #waiting = new Set<(mayBeFree: boolean) => void>();
  readonly #onGone = new Set<() => void>();
  readonly #onForgotten = new Set<() => void>();
  readonly #owed = new Set<() => Promise<unknown>>();
  #users = 0;
  #ending = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #id = newId();
  /** Of the own record; null before the first beat. */
  #version: string | null = null;
  #beatAt: readonly number[] = [];
  #beating: Promise<void> | null = null;
  /** How far the clock of the store is ahead of the monotonic clock; null before the first beat. */
  #ahead: number | null = null;
  /** When the other members were last seen, by the monotonic clock. */
  #lookedAt = -Infinity;

  constructor(options: MembershipOptions) {
    const { store, name = '', group = null, clock = systemClock } = options;
    this.#store = store;
    this.group = group;
    this.amongCopies = group === null ? new LocalPresence(clock) : this;
    this.joinsCommands = group !== null && options.joinsCommands !== false;
    this.#name = name;
    this.#clock = clock;
  }

  /**
   * Begins the membership, or uses the one that another part of this process has begun.
   * @returns ends this use, once; the last end removes the member, so that others may take its claims at once
   */
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

  /** The names of the other members at the last look. */
  get others(): string[] {
    return [...this.#seen.values()].map(({ name }) => name);
  }

  /** Names this process. It changes when another member has removed the record of this process because it was silent. */
  get id(): string {
    return this.#id;
  }

  get fault(): StateFault | null {
    return this.#store.fault;
  }

  get settlesInMs(): number {
    return this.#store.settlesInMs;
  }

  async settled(signal: AbortSignal): Promise<void> {
    for (let ms; (ms = this.settlesInMs) > 0;) await this.#clock.sleep(Math.min(ms, lookMs), signal);
  }

  onChange(listener: () => void): () => void {
    return this.#store.onChange(listener);
  }

  /** By the clock of the store: the monotonic time of this machine and the difference at the last beat; before the first one, its own clock. */
  now(): number {
    return this.#ahead === null ? this.#clock.now() : this.#clock.monotonic() + this.#ahead;
  }

  isStill(id: string): boolean {
    return id === this.#id && this.isSure;
  }

  /** Whether the last beat is less than 10 seconds old: then no other member can have removed this one. */
  get isSure(): boolean {
    const now = this.#times();
    const passed = Math.max(...this.#beatAt.map((at, index) => (now[index] ?? Infinity) - at));
    return this.#beatAt.length > 0 && passed < doubtMs;
  }

  /**
   * Takes a claim that has no holder, or whose holder has gone.
   * @param name any text; the store keeps its hash
   * @returns null if another member, or another part of this process, holds it
   * @throws StateFault
   */
  async claim(name: string): Promise<Claim | null> {
    await this.renew();
    if (!this.isSure) return null;
    const store = this.#store;
    const key = `claim/${name}`;
    const stored = await readForUpdate(store, key);
    const holder = claimSchema.safeParse(stored?.value).data?.member;
    if (this.#held.get(name)?.member === this.#id) return null;
    if (holder !== undefined && holder !== this.#id && !(await this.hasEnded(holder))) return null;
    const member = this.#id;
    const version = await store.write(key, { member }, { expected: stored?.version ?? null });
    if (version === null) return null;
    const held = { member, version };
    this.#held.set(name, held);
    return {
      isHeld: () => this.#held.get(name) === held && this.isStill(member),
      release: async () => {
        if (this.#held.get(name) === held) this.#held.delete(name);
        await this.eventually(() => store.remove(key, { expected: version }));
      },
    };
  }

  async eventually(change: () => Promise<unknown>): Promise<void> {
    this.#owed.add(change);
    await change().then(
      () => this.#owed.delete(change),
      () => undefined,
    );
  }

  hold(name: string, onChange: (isHeld: boolean) => void, signal: AbortSignal): void {
    let claim: Claim | null = null;
    let wasHeld = false;
    let isTrying = false;
    const look = (mayBeFree: boolean): void => {
      const isHeld = claim?.isHeld() === true;
      if (isHeld !== wasHeld) onChange((wasHeld = isHeld));
      if (!isHeld && mayBeFree && !isTrying) void attempt();
    };
    const attempt = async (): Promise<void> => {
      isTrying = true;
      // The next look tries again.
      const taken = await this.claim(name).catch(() => null);
      isTrying = false;
      if (taken === null) return;
      if (signal.aborted) return taken.release();
      claim = taken;
      look(false);
    };
    if (signal.aborted) return;
    this.#waiting.add(look);
    signal.addEventListener('abort', () => {
      this.#waiting.delete(look);
      void claim?.release();
    });
    look(true);
  }

  onGone(call: () => void, signal: AbortSignal): void {
    this.#onGone.add(call);
    signal.addEventListener('abort', () => this.#onGone.delete(call));
  }

  onForgotten(call: () => void): () => void {
    this.#onForgotten.add(call);
    return () => void this.#onForgotten.delete(call);
  }

  /** Whether a member has ended, or was ended because it was silent. @throws StateFault */
  async hasEnded(id: string): Promise<boolean> {
    return id !== this.#id && !this.#seen.has(id) && (id === '' || (await this.#store.read(`member/${id}`)) === null);
  }

  /** Renews the membership, so that `isHeld` of a claim can be true after a pause. @throws StateFault */
  async renew(): Promise<void> {
    if (!this.isSure) await this.#beat();
  }

  async #end(): Promise<void> {
    this.#ending.abort();
    await this.#running;
    await this.#beating?.catch(() => undefined);
    // It was begun again meanwhile.
    if (this.#users > 0) return;
    this.#beatAt = [];
    const expected = this.#version;
    if (expected !== null) await this.#store.remove(`member/${this.#id}`, { expected }).catch(() => undefined);
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (let beatenAt = -Infinity; !signal.aborted;) {
      const now = this.#clock.monotonic();
      // A timer can fire a moment early.
      const isDue = now - beatenAt > beatMs - tickMs / 2;
      if (isDue) beatenAt = now;
      // `store.fault` has the reason of a failure.
      if (isDue || !this.isSure) await this.#beat().catch(() => undefined);
      if (isDue && this.isSure) for (const change of this.#owed) await this.eventually(change);
      const isAnySilent = [...this.#seen.values()].some(({ since }) => now - since >= silentMs);
      const isLookDue = isAnySilent || now - this.#lookedAt > lookMs - tickMs / 2;
      const isAnyGone = isLookDue && (await this.#endSilent().catch(() => false));
      for (const look of this.#waiting) look(isDue || isAnyGone);
      if (isAnyGone) for (const call of this.#onGone) call();
      await this.#clock.sleep(tickMs, signal).catch(() => undefined);
    }
  }

  /** One beat at a time. */
  #beat(): Promise<void> {
    this.#beating ??= this.#beatOnce().finally(() => (this.#beating = null));
    return this.#beating;
  }

  async #beatOnce(): Promise<void> {
    const begun = this.#times();
    const write = (expected: string | null): Promise<string | null> =>
      this.#store.write(`member/${this.#id}`, { name: this.#name }, { expected });
    let version = await write(this.#version);
    // Only this process writes the record: it has another version if the answer to a beat was lost.
    const stored = version === null ? await this.#store.read(`member/${this.#id}`) : null;
    if (stored !== null) version = await write(stored.version);
    if (version === null) {
      // Another member has ended this one.
      this.#beatAt = [];
      this.#held.clear();
      [this.#id, this.#version] = [newId(), null];
      version = await write(null);
      for (const call of this.#onForgotten) call();
    }
    this.#version = version;
    this.#ahead = (await this.#store.now()) - this.#clock.monotonic();
    this.#beatAt = begun;
  }

  /** Looks at the other members, and ends those that are silent. @returns whether one of them is gone */
  async #endSilent(): Promise<boolean> {
    const found = await this.#store.entries('member/');
    const now = this.#clock.monotonic();
    // Time in which this process did not look does not count as silence of the others.
    const unseenMs = Math.max(0, now - this.#lookedAt - beatMs);
    this.#lookedAt = now;
    const gone = new Set(this.#seen.keys());
    for (const { key, value, version } of found) {
      const id = key.slice('member/'.length);
      if (id === this.#id) continue;
      const before = this.#seen.get(id);
      const since = before?.version === version ? before.since + unseenMs : now;
      if (now - since >= silentMs && (await this.#store.remove(key, { expected: version }))) continue;
      gone.delete(id);
      this.#seen.set(id, { version, since, name: memberSchema.safeParse(value).data?.name ?? '' });
    }
    for (const id of gone) this.#seen.delete(id);
    return gone.size > 0;
  }

  #times = (): readonly number[] => [this.#clock.monotonic(), this.#clock.now(), this.#clock.uptime()];
}

const newId = (): string => randomBytes(12).toString('base64url');
