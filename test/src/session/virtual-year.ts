import * as diskFiles from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../src/util/clock';
import { sleepOn } from '../../../src/util/clock';
import { VehicleError } from '../../../src/errors';
import { createTokenSource } from '../../../src/session/create-token-source';
import { Session } from '../../../src/session/session';
import { GrantStore, signInKey } from '../../../src/session/grant-store';
import type { OAuthClient, Send } from '../../../src/session/oauth';
import type { TokenSource } from '../../../src/http/token-source';
import { Seal } from '../../../src/state/seal';
import { RedisPresence } from '../../../src/state/redis-presence';
import { LocalPresence } from '../../../src/state/presence';
import type { RedisStateStore } from '../../../src/state/redis-store';
import { StateFault, type SharedStore, type StateStore } from '../../../src/state/state-store';
import { asSentence } from '../../../src/sentence';
import { ManualClock } from '../../support/manual-clock';
import { Random } from '../../support/random';
import { startSimulator, type Simulator } from '../../support/simulator';
import { createTransport, type Transport } from '../../../src/http/transport';
import { openRedis, RedisServer } from '../../support/redis-server';
import { removeFolder } from '../../support/remove-folder';
import { unsyncedFiles } from '../../support/sealed-files';
import { saveSignIn } from '../../support/saved-sign-in';

/**
 * A year of a sign-in that two configurations of a Node-RED share, in minutes: on one clock that
 * moves only when nothing is at work, with the simulated identity service, real files, and a
 * process and connections that are cut at any step. Or of several such processes on a real Redis,
 * which are also cut off from it; their machine sleeps between most reads, because each process
 * asks the store each second.
 */
export interface YearOptions {
  days: number;
  /** Of the random numbers. */
  seed: number;
  /**
   * Seconds for which the service takes a rotated refresh token once more; 0: never
   * (docs/internals/vendor-api.md 4.2).
   */
  graceSeconds: number;
  /** `anywhere`: also while an answer is on its way, or not saved yet; `outside`: never there. */
  cuts: 'anywhere' | 'outside';
  /** The number of processes that share a Redis. By default there is one, on files. */
  processes?: number;
}

export interface YearReport {
  reads: number;
  /** Reads that got no token, because of an outage. */
  without: number;
  refreshes: number;
  cutConnections: number;
  killedProcesses: number;
  /** Grants that came to their end, as every one does after six months. */
  endedGrants: number;
  /**
   * Lost, although the store held the newest refresh token that the service had issued: the
   * fault would be ours.
   */
  lost: number;
  /**
   * Lost, because an answer with a rotated token never came, or came to a process that
   * died before the save.
   */
  lostUnheard: number;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const secret = 'credential secret';

/** Chances, per request to the token endpoint or per read. */
const chance = {
  cutBefore: 0.02,
  cutAfter: 0.02,
  serverFault: 0.01,
  kill: 0.01,
  outage: 0.0001,
  holiday: 0.0001,
  both: 0.2,
  storeCut: 0.01,
  unheardByStore: 0.0005,
  sleep: 0.98,
  check: 0.02,
  refused: 0.05,
  accepted: 0.7,
};

export async function virtualYear(options: YearOptions): Promise<YearReport> {
  const year = new Year(options);
  try {
    await year.open();
    await year.run();
    return year.report;
  } finally {
    await year.close();
  }
}

class Year {
  readonly report: YearReport = {
    reads: 0,
    without: 0,
    refreshes: 0,
    cutConnections: 0,
    killedProcesses: 0,
    endedGrants: 0,
    lost: 0,
    lostUnheard: 0,
  };
  readonly #options: YearOptions;
  readonly #random: () => number;
  readonly #world = new World('2026-01-01T00:00:00Z');
  /** Its key is derived once for all processes, outside of the time that is watched. */
  readonly #seal = new Seal(secret);
  readonly #transport: Transport = createTransport();
  #processes: SimulatedProcess[] = [];
  #simulator!: Simulator;
  #server: RedisServer | null = null;
  /** The processes use it one after the other, or together. */
  #state!: StateStore;
  #shared: RedisStateStore | null = null;
  #directory = '';
  #diedAt = -Infinity;
  #grantEnds = 0;
  /** The newest refresh token that the service has issued. */
  #newest = '';
  #outageUntil = 0;
  #signedOut = false;

  constructor(options: YearOptions) {
    this.#options = options;
    const random = new Random(options.seed);
    this.#random = () => random.next();
  }

  async open(): Promise<void> {
    const { graceSeconds } = this.#options;
    this.#simulator = await startSimulator({
      clock: this.#world,
      refreshGraceSeconds: graceSeconds,
      accessTokenLifeSeconds: 299,
    });
    this.#directory = await diskFiles.mkdtemp(join(tmpdir(), 'virtual-year-'));
    await this.#seal.seal('', '');
    if (this.#options.processes === undefined) this.#state = unsyncedFiles([this.#seal], this.#directory);
    else {
      this.#server = await RedisServer.start('--appendonly', 'no');
      this.#state = this.#shared = openRedis(this.#server.url, { clock: this.#world });
    }
    await this.#signIn();
    this.#startAll();
  }

  async close(): Promise<void> {
    for (const process of this.#processes) process.kill();
    await this.#shared?.close();
    await this.#server?.end();
    await this.#transport.close();
    await this.#simulator.close();
    await removeFolder(this.#directory);
  }

  async run(): Promise<void> {
    const end = this.#world.now() + this.#options.days * day;
    while (this.#world.now() < end) {
      await this.#pass(this.#gap());
      if (this.#random() < chance.outage) this.#outageUntil = this.#world.now() + this.#between(5 * minute, 12 * hour);
      if (this.#random() < chance.holiday) await this.#holiday();
      const which = this.#random() < 0.5 ? 0 : 1;
      if (this.#random() < chance.kill) this.#killSoon(this.#any());
      if (this.#shared !== null && this.#random() < chance.storeCut)
        this.#any()?.cutOffFor(this.#between(second, 2 * minute));
      await this.#world.settled(this.#random() < chance.both ? [this.#read(0), this.#read(1)] : [this.#read(which)]);
      if (this.#signedOut) await this.#signInAgain();
    }
  }

  /** A read every few minutes, now and then a break of hours. */
  #gap(): number {
    return this.#random() < 0.01 ? this.#between(hour, 10 * hour) : this.#between(10 * second, 10 * minute);
  }

  /**
   * With a shared store, the machine sleeps most of the time, but not right after a read or a
   * death: a refresh is repeated within the grace period.
   */
  async #pass(ms: number): Promise<void> {
    const awake = 10 * second;
    if (this.#shared === null || this.#random() >= chance.sleep) return this.#world.runFor(ms);
    await this.#world.runFor(Math.min(ms, awake));
    const isCalm = this.#world.now() - this.#diedAt > minute;
    const asleep = isCalm ? Math.max(0, ms - 2 * awake) : 0;
    this.#world.skip(asleep);
    await this.#world.runFor(Math.max(0, ms - awake - asleep));
  }

  #any(): SimulatedProcess | undefined {
    return this.#processes[Math.floor(this.#random() * this.#processes.length)];
  }

  /** The processes stopped properly, for less than a grant lives unused. */
  async #holiday(): Promise<void> {
    await this.#stop();
    await this.#world.runFor(this.#between(day, 4 * day));
    this.#startAll();
  }

  async #stop(): Promise<void> {
    const processes = this.#processes;
    this.#processes = [];
    await this.#world.settled(processes.map((process) => process.stop()));
  }

  #startAll(): void {
    this.#processes = Array.from({ length: this.#options.processes ?? 1 }, () => this.#start());
  }

  async #signIn(): Promise<void> {
    this.#newest = this.#simulator.issueRefreshToken();
    const session = new Session({ store: this.#grants(), send: this.#send, clock: this.#world });
    await saveSignIn(session, this.#client(), configNodeId, this.#newest);
    const end = new Date(this.#world.now());
    this.#grantEnds = end.setUTCMonth(end.getUTCMonth() + 6);
  }

  #start(): SimulatedProcess {
    return new SimulatedProcess({
      world: this.#world,
      random: this.#random,
      state: this.#state,
      shared: this.#shared,
      client: this.#client(),
      send: this.#send,
      mayDieUnheard: this.#options.cuts === 'anywhere',
    });
  }

  /** Is killed within its next steps, and is started again by its supervisor. */
  #killSoon(process: SimulatedProcess | undefined): void {
    process?.dieAfter(Math.floor(this.#random() * 45), () => {
      this.#diedAt = this.#world.now();
      this.report.killedProcesses += 1;
      const restart = (): void => {
        const place = this.#processes.indexOf(process);
        if (place >= 0) this.#processes[place] = this.#start();
      };
      this.#world.after(this.#between(second, 30 * second), restart);
    });
  }

  async #read(index: number, process = this.#any()): Promise<void> {
    if (process === undefined || !process.alive) return;
    this.report.reads += 1;
    try {
      const source = process.sources[index] ?? process.sources[0];
      const token = await process.orDeath(source.get());
      if (token === null) return;
      if (this.#random() < chance.check) await this.#check(token);
      if (this.#random() < chance.accepted) source.onAccepted?.(token);
      // A 401 by chance (docs/internals/vendor-api.md 6.2): a token is renewed while it lives.
      if (this.#random() < chance.refused) await process.orDeath(source.onUnauthorized(token));
    } catch (error) {
      if (!(error instanceof VehicleError)) throw error;
      if (error.code === 'SIGN_IN_REQUIRED') this.#signedOut = true;
      else if (error.retryAt === null) throw error;
      else this.report.without += 1;
    }
  }

  /** The vehicle interface takes what we were given. */
  async #check(token: string): Promise<void> {
    const headers = { accept: 'application/json', authorization: `Bearer ${token}`, 'vendor-api-key': 'demo-key' };
    const url = new URL('/connected-vehicle/v2/vehicles', this.#simulator.url);
    const { status } = await this.#world.during(
      this.#transport.send({ method: 'GET', url, headers, timeoutMs: 10_000 }),
    );
    if (status !== 200) throw new Error(`The service answered ${status} to a token that was given as good.`);
  }

  /** A person signs in again. */
  async #signInAgain(): Promise<void> {
    if (await this.#recovers()) return;
    if (this.#world.now() >= this.#grantEnds) this.report.endedGrants += 1;
    else if ((await this.#stored()) === this.#newest) this.report.lost += 1;
    else this.report.lostUnheard += 1;
    await this.#stop();
    this.#signedOut = false;
    await this.#signIn();
    this.#startAll();
  }

  /**
   * A process that has the newest token, and was cut off from the shared store, stores it
   * when the store is back.
   */
  async #recovers(): Promise<boolean> {
    if (this.#shared === null) return false;
    await this.#world.runFor(5 * minute);
    this.#signedOut = false;
    for (const process of this.#processes) await this.#world.settled([this.#read(0, process)]);
    return !this.#signedOut;
  }

  async #stored(): Promise<string | undefined> {
    return (await this.#grants().read(signInKey(this.#client(), configNodeId)))?.grant.refreshToken;
  }

  #grants(): GrantStore {
    return new GrantStore({ state: this.#state });
  }

  #client(): OAuthClient {
    return {
      audience: this.#simulator.url,
      tokenUrl: `${this.#simulator.url}/as/token.oauth2`,
      clientId: 'demo-client',
      clientSecret: 'demo-secret',
    };
  }

  readonly #send: Send = async (request) => {
    const luck = this.#random();
    if (this.#world.now() < this.#outageUntil) return this.#cut();
    if (luck < chance.cutBefore + chance.serverFault) request.mayLeave?.();
    if (luck < chance.cutBefore) return this.#cut();
    if (luck < chance.cutBefore + chance.serverFault)
      return { status: 503, headers: {}, body: '<html>Service unavailable</html>' };
    const response = await this.#transport.send(request);
    this.report.refreshes += 1;
    this.#newest = /"refresh_token":"([^"]+)"/.exec(response.body)?.[1] ?? this.#newest;
    if (this.#options.cuts === 'anywhere' && luck > 1 - chance.cutAfter) return this.#cut();
    return response;
  };

  #cut(): never {
    this.report.cutConnections += 1;
    throw new VehicleError('NETWORK', 'The service could not be reached (ECONNRESET).');
  }

  #between(least: number, most: number): number {
    return least + this.#random() * (most - least);
  }
}

const configNodeId = 'config';

interface ProcessOptions {
  world: World;
  random: () => number;
  state: StateStore;
  /** The same store, if it is shared. */
  shared: SharedStore | null;
  client: OAuthClient;
  send: Send;
  /** Also between the answer of the service and the save. */
  mayDieUnheard: boolean;
}

/**
 * A process as the store and the service see it: its use of files, network and clock ends with it.
 */
class SimulatedProcess {
  /** Two who use the same sign-in. */
  readonly sources: readonly [TokenSource, TokenSource];
  alive = true;
  readonly #world: World;
  readonly #mayDieUnheard: boolean;
  readonly #death: Promise<null>;
  #die = (): void => undefined;
  #stepsLeft = Infinity;
  /** A refresh token has been sent, and what came of it is not saved. */
  #unheard = false;
  /** From the shared store. */
  #cutOffUntil = 0;
  readonly #isShared: boolean;
  readonly #random: () => number;
  readonly #endPresence: () => Promise<void>;

  constructor(options: ProcessOptions) {
    this.#world = options.world;
    this.#mayDieUnheard = options.mayDieUnheard;
    this.#death = new Promise((resolve) => (this.#die = () => resolve(null)));
    const { random, state, shared, client } = options;
    this.#random = random;
    this.#isShared = shared !== null;
    const clock = this.#clock();
    const presence =
      shared === null ? new LocalPresence(clock) : new RedisPresence({ store: this.#stepwiseShared(shared), clock });
    this.#endPresence = presence.use();
    const store = new GrantStore({ state: this.#stepwise(state) });
    const send: Send = (request) => this.#send(() => options.send(request));
    const session = new Session({ store, send, presence, clock, random });
    const source = (): TokenSource => createTokenSource({ client, configNodeId, session });
    this.sources = [source(), source()];
  }

  /** Ends as Node-RED does when it is asked to. */
  async stop(): Promise<void> {
    await this.orDeath(Promise.all(this.sources.map((source) => source.close())).then(() => this.#endPresence()));
    this.#end();
  }

  kill(): void {
    this.#end();
    this.#die();
  }

  dieAfter(steps: number, then: () => void): void {
    if (this.#stepsLeft < Infinity) return;
    this.#stepsLeft = steps;
    void this.#death.then(then);
  }

  cutOffFor(ms: number): void {
    this.#cutOffUntil = this.#world.now() + ms;
  }

  orDeath<T>(work: Promise<T>): Promise<T | null> {
    return Promise.race([work, this.#death]);
  }

  #end(): void {
    this.alive = false;
  }

  /**
   * One step of the process: after its end, no answer reaches the process and nothing new begins.
   * @param isBeat of the presence, which continues all the time
   */
  async #step<T>(work: () => Promise<T>, isBeat = false): Promise<T> {
    const isOver = (): boolean => (isBeat ? !this.alive : this.#countsDown());
    if (isOver()) await never;
    try {
      const result = await this.#world.during(work());
      if (isOver()) await never;
      return result;
    } catch (error) {
      if (!this.alive) await never;
      throw error;
    }
  }

  #countsDown(): boolean {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft < 0 && this.alive && (this.#mayDieUnheard || !this.#unheard)) this.kill();
    return !this.alive;
  }

  #send<T>(work: () => Promise<T>): Promise<T> {
    return this.#step(async () => {
      this.#unheard = true;
      return work().catch((error: unknown) => {
        this.#unheard = false;
        throw error;
      });
    });
  }

  /**
   * A process can die before and after each operation of the store; the store itself
   * leaves no half value.
   */
  #stepwise(state: StateStore): StateStore {
    const over = <T>(key: string, work: () => Promise<T>): Promise<T> =>
      this.#step(() => this.#reach(work), key.startsWith('process/'));
    return {
      read: (key) => over(key, () => state.read(key)),
      write: (key, value, options) =>
        over(key, async () => {
          const version = await state.write(key, value, options);
          if (!key.startsWith('process/')) this.#unheard = false;
          return version;
        }),
      remove: (key, condition) => over(key, () => state.remove(key, condition)),
      entries: (prefix) => over(prefix, () => state.entries(prefix)),
    };
  }

  #stepwiseShared(shared: SharedStore): SharedStore {
    return {
      ...this.#stepwise(shared),
      get settlesInMs() {
        return shared.settlesInMs;
      },
      get fault() {
        return shared.fault;
      },
      onChange: (listener) => shared.onChange(listener),
      now: () => this.#step(() => this.#reach(() => shared.now()), true),
    };
  }

  /** A shared store can be away, and its answers can be lost. */
  async #reach<T>(work: () => Promise<T>): Promise<T> {
    if (this.#world.now() < this.#cutOffUntil) throw away();
    const result = await work();
    if (this.#isShared && this.#random() < chance.unheardByStore) throw away();
    return result;
  }

  #clock(): Clock {
    const clock: Clock = {
      now: () => this.#world.now(),
      monotonic: () => this.#world.monotonic(),
      uptime: () => this.#world.uptime(),
      after: (ms, callback) => this.#world.after(ms, () => void (this.alive && callback())),
      sleep: (ms, signal) => sleepOn(clock, ms, signal),
    };
    return clock;
  }
}

const away = (): StateFault => new StateFault('unavailable', asSentence('The shared store is away.'));

const never = new Promise<never>(() => undefined);

/**
 * A clock that moves from timer to timer, and only when no file is being read and
 * no answer is awaited.
 */
class World extends ManualClock {
  #busy = 0;
  #rest = (): void => undefined;

  async during<T>(work: Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await work;
    } finally {
      this.#busy -= 1;
      if (this.#busy === 0) this.#rest();
    }
  }

  runFor(ms: number): Promise<void> {
    return this.advance(ms, () => this.#quiet());
  }

  /** Time passes until all of it is done. */
  async settled(works: readonly Promise<unknown>[]): Promise<void> {
    let pending = true;
    const all = Promise.all(works).finally(() => (pending = false));
    all.catch(() => undefined);
    for (;;) {
      await this.#quiet();
      if (!pending) return void (await all);
      if (this.nextDue === Infinity) throw new Error('Somebody waits for nothing.');
      await this.runFor(Math.max(0, this.nextDue - this.monotonic()));
    }
  }

  async #quiet(): Promise<void> {
    for (let turns = 0; turns < 3; turns++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#busy === 0) continue;
      await new Promise<void>((resolve) => (this.#rest = resolve));
      turns = -1;
    }
  }
}
