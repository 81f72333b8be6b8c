import type { ChildProcess } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { mkdtempSync, readdirSync, truncateSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { demoCar, startSimulator, type Invocation, type RecordedRequest, type Simulator } from '../support/simulator';
import { signInWithEditor } from '../support/editor-client';
import type { Random } from '../support/random';
import { forkNodeRed, linkCheckout } from '../support/real-node-red';
import { RedisServer } from '../support/redis-server';
import { removeFolder } from '../support/remove-folder';
import { StoreLine } from '../support/store-line';

const second = 1_000;
const minute = 60 * second;
/** A process that was killed is missed, and what it read is read by another one, within this. */
const takeOverMs = 20 * second;
/**
 * The same command in two copies of the flow is one command within this
 * (docs/several-node-reds.md).
 */
const joinedMs = 10 * second;
const limits = { requestsPerMinute: 1_500, commandsPerMinute: 450 };
const vins = Array.from({ length: 40 }, (_, index) => `${demoCar.vin.slice(0, -2)}${String(10 + index)}`);
const polledVins = vins.slice(0, 5);

export interface RealFleetOptions {
  processes: number;
  commands: number;
  /** By SIGKILL; the process is started again at once. */
  kills: number;
  /** Of 40 seconds each, by SIGSTOP. */
  pauses: number;
  /** Of the connection between a process and the store, for up to 15 seconds. */
  cuts: number;
  /** Of the store, which is killed, and keeps everything. */
  restarts: number;
  /** Restarts of the store after which its last second is missing. */
  losses: number;
  /** After so many minutes nothing new is asked. */
  minutes: number;
}

export interface RealFleetReport {
  /** What was done and seen, by its name. */
  table: Record<string, number | string>;
  /** What must not happen. */
  failures: string[];
}

/** One process of a copy of the flows, from its start to its death. */
interface Life {
  copy: Copy;
  startedAt: number;
  diedAt: number | null;
  /** When it was paused or cut off. */
  disturbedAt: number[];
  died: Promise<unknown>;
}

interface Asked {
  vin: string;
  command: 'unlock' | 'engine-start';
  /** In the body of the command: the service sees it. */
  marker: number;
  at: number;
  /** Who got the message, and when it entered the flow. */
  lives: Map<Life, number | null>;
  results: { at: number; life: Life; outcome: string }[];
  codes: { code: string; life: Life }[];
  settle: () => void;
  settled: Promise<void>;
}

const codesOf = ({ codes }: Asked): string[] => codes.map(({ code }) => code);

type Said =
  { entered: number } | { result: number; outcome: string } | { failed: number; code: string } | { read: string };

/**
 * A Node-RED that is killed, stopped and started again in its user directory, with its own
 * connection to the store.
 */
class Copy {
  life: Life | null = null;
  isPaused = false;
  /** Until then it is left alone, so that one process sees the death of the others. */
  safeUntil = 0;
  readonly #userDir: string;
  readonly #onSaid: (said: Said, life: Life) => void;
  #child: ChildProcess | null = null;
  #port = 0;

  constructor(
    readonly line: StoreLine,
    userDir: string,
    onSaid: (said: Said, life: Life) => void,
  ) {
    this.#userDir = userDir;
    this.#onSaid = onSaid;
  }

  async prepare(flows: readonly object[], credentials: object): Promise<void> {
    await mkdir(this.#userDir, { recursive: true });
    await linkCheckout(this.#userDir);
    await writeFile(join(this.#userDir, 'flows.json'), JSON.stringify(flows));
    // Node-RED encrypts it when it first saves.
    await writeFile(join(this.#userDir, 'flows_cred.json'), JSON.stringify(credentials));
  }

  async start(): Promise<void> {
    const child = forkNodeRed(this.#userDir, {
      connectedVehicle: { store: `redis://127.0.0.1:${this.line.port}`, group: 'flows' },
      disableEditor: true,
      nodesExcludes: unused,
      // What fails is counted.
      logging: { console: { level: 'off', metrics: false, audit: false } },
    });
    this.#child = child;
    const died = once(child, 'exit');
    const life: Life = { copy: this, startedAt: Date.now(), diedAt: null, disturbedAt: [], died };
    // The first message of the process.
    const started = once(child, 'message') as Promise<[{ port: number }]>;
    await Promise.race([started.then(([{ port }]) => (this.#port = port)), died]);
    if (child.exitCode !== null) throw new Error('Node-RED did not start');
    if (child.signalCode !== null) return;
    child.on('message', (said: Said) => this.#onSaid(said, life));
    this.life = life;
  }

  signIn(configuration: object): Promise<void> {
    return signInWithEditor(`http://127.0.0.1:${this.#port}/connected-vehicle/v/`, configuration, credentials);
  }

  send(node: string, msg: object): void {
    this.#child?.send({ node, msg });
  }

  async kill(): Promise<void> {
    const { life } = this;
    this.life = null;
    this.isPaused = false;
    if (life !== null) life.diedAt = Date.now();
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  async pause(ms: number, signal: AbortSignal): Promise<void> {
    this.isPaused = true;
    this.life?.disturbedAt.push(Date.now());
    this.#child?.kill('SIGSTOP');
    await sleep(ms, undefined, { signal }).catch(() => undefined);
    this.#child?.kill('SIGCONT');
    this.isPaused = false;
  }

  async cut(state: 'cut' | 'held', ms: number, signal: AbortSignal): Promise<void> {
    this.life?.disturbedAt.push(Date.now());
    this.line.set(state);
    await sleep(ms, undefined, { signal }).catch(() => undefined);
    this.line.set('open');
  }

  get isUp(): boolean {
    return this.life !== null && !this.isPaused;
  }

  async end(): Promise<void> {
    await this.kill();
    await this.line.close();
  }
}

/** Of Node-RED's own nodes the flows need two: without the others it starts in half the time. */
const unused = readdirSync(join(dirname(require.resolve('@node-red/nodes/package.json')), 'core'), { recursive: true })
  .map((name) => String(name).split(/[\\/]/).at(-1) ?? '')
  .filter((name) => name.endsWith('.js') && !/^(10-function|25-catch)\.js$/.test(name));

const credentials = { apiKey: 'demo-key', clientId: 'demo-client', clientSecret: 'demo-secret' };

const configurationOf = (url: string): object => ({
  service: 'custom',
  baseUrl: url,
  authorizeUrl: `${url}/as/authorization.oauth2`,
  tokenUrl: `${url}/as/token.oauth2`,
  vin: vins[0],
  access: ['unlock', 'engine'],
  requestsPerDay: 1e6,
  shareFor: 0,
  ...limits,
});

const flowsFor = (url: string): object[] => {
  const say = (id: string, value: string, wires: string[] = []): object => ({
    id,
    z: 'tab',
    type: 'function',
    func: `global.get('report')(${value}); return msg;`,
    outputs: 1,
    wires: [wires],
  });
  const car = { z: 'tab', vehicle: 'v' };
  return [
    { id: 'tab', type: 'tab', label: 'fleet' },
    { id: 'v', type: 'connected-vehicle', ...configurationOf(url) },
    say('in', '{ entered: msg.ask }', ['c']),
    {
      ...car,
      id: 'c',
      type: 'connected-vehicle-command',
      command: '',
      whenBusy: 'queue',
      deadline: 60,
      waitUnlock: true,
      wires: [['r']],
    },
    {
      ...car,
      id: 'r',
      type: 'connected-vehicle-command-status',
      timeout: 170,
      interval: 1,
      verify: false,
      wires: [['result'], []],
    },
    say('result', '{ result: msg.ask, outcome: msg.payload.outcome }'),
    { id: 'caught', z: 'tab', type: 'catch', scope: ['c', 'r'], wires: [['failed']] },
    say('failed', "{ failed: msg.ask, code: msg.vehicle?.error?.code ?? 'none' }"),
    ...polledVins.map((vin, index) => ({
      ...car,
      id: `p${index}`,
      type: 'connected-vehicle-status',
      vin,
      read: 'odometer',
      poll: 2,
      emit: 'always',
      wires: [['read']],
    })),
    say('read', '{ read: msg.vehicle.vin }'),
    { ...car, id: 'f', type: 'connected-vehicle-status', read: 'doors', wires: [[]] },
  ];
};

/**
 * Real Node-REDs with the same flows and one account, on one store, command 40 cars of one service,
 * while they are killed, paused and cut off from the store, and the store is restarted. What counts
 * is what the service saw.
 */
export async function runRealFleet(random: Random, options: RealFleetOptions): Promise<RealFleetReport> {
  const fleet = new RealFleet(random, options);
  try {
    await fleet.start();
    await fleet.run();
    return fleet.report();
  } finally {
    await fleet.end();
  }
}

/** Not a disturbance: none is still in progress. */
const allWell = 'all are well';

class RealFleet {
  readonly #random: Random;
  readonly #options: RealFleetOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), 'real-fleet-'));
  readonly #ending = new AbortController();
  readonly #asked: Asked[] = [];
  readonly #markers = new Map<string, number>();
  readonly #requests: RecordedRequest[] = [];
  readonly #done: Record<string, number> = {};
  /** By VIN: who read it last, and when its reader was killed. */
  readonly #readers = new Map<string, Life>();
  readonly #orphans = new Map<string, { at: number; isCalm: boolean }>();
  readonly #takeOvers: { ms: number; isCalm: boolean }[] = [];
  /** Of the store, the connections to it, or by a pause. */
  #disturbedUntil = 0;
  /** When a process was killed last. */
  #killedAt = 0;
  #copies: Copy[] = [];
  #simulator!: Simulator;
  #store!: RedisServer;
  #isLogComplete = true;
  /** The sizes of the files of the store, every 200 ms. */
  #sizes: { at: number; files: Map<string, number> }[] = [];
  /** When the store lost its last second, and how much it was at most. */
  readonly #losses: number[] = [];
  #mostLostMs = 0;
  #startedAt = 0;
  #ms = 0;

  constructor(random: Random, options: RealFleetOptions) {
    this.#random = random;
    this.#options = options;
    setMaxListeners(0, this.#ending.signal);
  }

  async start(): Promise<void> {
    this.#simulator = await startSimulator({
      cars: vins.map((vin) => ({ vin, extraCommands: ['engine-start'] })),
      accessTokenLifeSeconds: 45,
      refreshGraceSeconds: 60,
      limits,
    });
    this.#store = await RedisServer.start();
    const { url } = this.#simulator;
    for (let index = 0; index < this.#options.processes; index += 1) {
      const copy = new Copy(await StoreLine.open(this.#store.port), join(this.#folder, String(index)), this.#hear);
      this.#copies.push(copy);
      await copy.prepare(flowsFor(url), { v: credentials });
    }
    await Promise.all(this.#copies.map((copy) => copy.start()));
    await this.#copies[0]?.signIn(configurationOf(url));
    const watch = setInterval(() => this.#watch(), 200);
    this.#ending.signal.addEventListener('abort', () => clearInterval(watch));
  }

  async run(): Promise<void> {
    const { minutes } = this.#options;
    this.#startedAt = Date.now();
    const until = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(minutes * minute)]);
    const events = this.#events();
    const asking = [...vins, ...vins].map((vin) => this.#ask(vin, events.length, until));
    await Promise.all([...asking, this.#disturb(events, until)]);
    this.#ms = Date.now() - this.#startedAt;
    for (const copy of this.#copies) copy.line.set('open');
    const last = Date.now() + 4 * minute;
    while (Date.now() < last && !this.#ending.signal.aborted && this.#open().length > 0) await this.#pause(500);
    this.#watch();
  }

  /**
   * The second part of the run has kills only, so that take-overs can be measured; it
   * begins when all are well.
   */
  #events(): string[] {
    const { kills, pauses, cuts, restarts, losses, commands } = this.#options;
    const repeat = (count: number, name: string): string[] => Array.from({ length: count }, () => name);
    const mixed = [
      ...repeat(Math.ceil(kills * 0.6), 'kills'),
      ...repeat(pauses, 'pauses of 40 s'),
      ...repeat(cuts, 'cuts from the store'),
      ...repeat(restarts, 'restarts of the store'),
      ...repeat(losses, 'restarts of the store without its last second'),
      ...repeat(Math.ceil(commands / 1_000), 'bursts of reads'),
    ]
      .map((name) => ({ name, at: this.#random.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ name }) => name);
    return [...mixed, allWell, ...repeat(Math.floor(kills * 0.4), 'kills')];
  }

  #pause = (ms: number): Promise<unknown> =>
    sleep(ms, undefined, { signal: this.#ending.signal }).catch(() => undefined);

  get #progress(): number {
    return this.#asked.length / this.#options.commands;
  }

  /** Asks one command after the other for a car, in step with the disturbances. */
  async #ask(vin: string, events: number, until: AbortSignal): Promise<void> {
    const random = this.#random;
    for (;;) {
      const fired = Object.values(this.#done).reduce((sum, count) => sum + count, 0);
      if (until.aborted || this.#asked.length >= this.#options.commands) return;
      const up = this.#copies.filter(({ isUp }) => isUp);
      const [first] = up;
      if (first === undefined || this.#progress > (fired + 1) / (events + 1)) {
        await this.#pause(100);
        continue;
      }
      const copy = random.pick([first, ...up.slice(1)]);
      const other = random.chance(0.1) ? up.find((one) => one !== copy) : undefined;
      const asked = this.#newCommand(vin);
      for (const one of [copy, ...(other ? [other] : [])]) {
        if (one.life === null) continue;
        asked.lives.set(one.life, null);
        const body = asked.command === 'unlock' ? 'unlockDuration' : 'runtimeMinutes';
        one.send('in', {
          ask: this.#asked.indexOf(asked),
          vin,
          command: asked.command,
          interface: asked.command === 'unlock' ? 'v1' : 'v2',
          [body]: asked.marker,
        });
      }
      const lives = [...asked.lives.keys()];
      await Promise.race([asked.settled, this.#pause(minute), Promise.all(lives.map(({ died }) => died))]);
      await this.#pause(random.between(0, 500));
    }
  }

  #newCommand(vin: string): Asked {
    const random = this.#random;
    const ms = random.chance(0.85)
      ? random.between(200, 1_500)
      : random.chance(0.85) || this.#options.losses > 0
        ? random.between(3, 10) * second
        : random.between(20, 50) * second;
    const steps = [
      { afterMs: 0, status: 'RUNNING' },
      { afterMs: ms, status: 'COMPLETED' },
    ];
    this.#simulator.car(vin).set({ commandPlan: { steps, answerAfterMs: ms } });
    const command = random.chance(1 / 6) ? 'engine-start' : 'unlock';
    const count = this.#markers.get(`${vin} ${command}`) ?? 0;
    this.#markers.set(`${vin} ${command}`, count + 1);
    const marker = (count % (command === 'unlock' ? 120 : 15)) + 1;
    let settle = (): void => undefined;
    const settled = new Promise<void>((resolve) => (settle = resolve));
    const asked = { vin, command, marker, at: Date.now(), lives: new Map(), results: [], codes: [], settle, settled };
    this.#asked.push(asked as Asked);
    return asked as Asked;
  }

  #hear = (said: Said, life: Life): void => {
    const at = Date.now();
    if ('read' in said) {
      const orphan = this.#orphans.get(said.read);
      if (orphan !== undefined) this.#takeOvers.push({ ms: at - orphan.at, isCalm: orphan.isCalm });
      this.#orphans.delete(said.read);
      this.#readers.set(said.read, life);
      return;
    }
    const asked = this.#asked['entered' in said ? said.entered : 'result' in said ? said.result : said.failed];
    if (asked === undefined) return;
    if ('entered' in said) asked.lives.set(life, at);
    else if ('result' in said) asked.results.push({ at, life, outcome: said.outcome });
    else asked.codes.push({ code: said.code, life });
    if (asked.results.length > 0 || asked.codes.length === asked.lives.size) asked.settle();
  };

  async #disturb(events: readonly string[], until: AbortSignal): Promise<void> {
    const under: Promise<unknown>[] = [];
    for (const [index, name] of events.entries()) {
      while (!until.aborted && this.#progress < index / events.length) await this.#pause(50);
      if (until.aborted) break;
      under.push(...(await this.#event(name, until)));
      this.#done[name] = (this.#done[name] ?? 0) + 1;
    }
    await Promise.all(under);
  }

  /** @returns what continues after it */
  async #event(name: string, until: AbortSignal): Promise<Promise<unknown>[]> {
    const random = this.#random;
    const signal = this.#ending.signal;
    while (name === allWell && !until.aborted && Date.now() < this.#disturbedUntil) await this.#pause(100);
    if (name === allWell) return [];
    const disturb = (ms: number): number => {
      this.#disturbedUntil = Math.max(this.#disturbedUntil, Date.now() + ms);
      for (const orphan of this.#orphans.values()) orphan.isCalm = false;
      return ms;
    };
    if (name === 'bursts of reads') {
      for (const copy of this.#copies)
        for (let reads = 0; reads < 300 && copy.isUp; reads += 1) copy.send('f', { vin: vins[reads % vins.length] });
      return [];
    }
    if (name === 'restarts of the store') {
      disturb(20 * second);
      await this.#store.stop();
      await this.#pause(random.between(0, 2_000));
      await this.#store.restart();
      return [];
    }
    if (name === 'restarts of the store without its last second') {
      disturb(20 * second);
      await this.#forgetLastSecond();
      return [];
    }
    const victim = await this.#victim(until);
    if (victim === null) return [];
    if (name === 'pauses of 40 s') return [victim.pause(disturb(40 * second), signal)];
    if (name === 'cuts from the store')
      return [victim.cut(random.pick(['cut', 'held'] as const), disturb(random.between(100, 15_000)), signal)];
    const { life } = victim;
    for (const [vin, reader] of this.#readers)
      if (reader === life && !this.#orphans.has(vin))
        this.#orphans.set(vin, { at: Date.now(), isCalm: Date.now() > this.#disturbedUntil });
    this.#killedAt = Date.now();
    await victim.kill();
    return [victim.start()];
  }

  /**
   * A process that may be killed: another one, whose turn changes every 45 s, lives on for some
   * time. If there is no other one, it has sent commands again after its last start.
   */
  async #victim(until: AbortSignal): Promise<Copy | null> {
    for (; !until.aborted; await this.#pause(50)) {
      const now = Date.now();
      const up = this.#copies.filter(({ isUp }) => isUp);
      const isWatched = up.some(({ safeUntil }) => safeUntil > now + takeOverMs);
      const [first, ...rest] = up.filter(({ safeUntil }) => safeUntil < now);
      if (first === undefined) continue;
      if (this.#copies.length === 1) {
        if (now - (first.life?.startedAt ?? now) > takeOverMs && !this.#isRefreshOpen()) return first;
        continue;
      }
      const readers = new Set([...this.#readers.values()].map(({ copy }) => copy));
      const reader = [first, ...rest].find((copy) => readers.has(copy));
      if (isWatched)
        return reader !== undefined && this.#random.chance(0.5) ? reader : this.#random.pick([first, ...rest]);
      const chosen = this.#random.pick([first, ...rest]);
      chosen.safeUntil = now + 45 * second + takeOverMs;
    }
    return null;
  }

  /**
   * Whether the only process was killed so soon after a refresh that the store may not have it,
   * because it was away or forgot it, and its next life has not refreshed: the service accepts the
   * former refresh token for a minute, and a pause of 40 s more would leave too little of it.
   */
  #isRefreshOpen(): boolean {
    const last = this.#requests.findLast(({ path }) => path === '/as/token.oauth2');
    return last !== undefined && this.#killedAt >= last.at && this.#killedAt < last.at + takeOverMs;
  }

  /** As a machine that lost its power does with `appendfsync everysec`. */
  async #forgetLastSecond(): Promise<void> {
    const isKnown = (): boolean => this.#sizes.some(({ at }) => at <= Date.now() - second);
    while (!isKnown() && !this.#ending.signal.aborted) await this.#pause(100);
    await this.#store.stop();
    const killedAt = Date.now();
    this.#losses.push(killedAt);
    const before = this.#sizes.findLast(({ at }) => at <= killedAt - second);
    this.#mostLostMs = Math.max(this.#mostLostMs, killedAt - (before?.at ?? 0));
    for (const [path, size] of before?.files ?? []) if (path.endsWith('.incr.aof')) truncateSync(path, size);
    // A file can be shorter now than it was: a size of before would fill the next one with zeros.
    this.#sizes = [];
    await this.#store.restart();
  }

  /** Collects what the service has recorded, and the sizes of the files of the store. */
  #watch(): void {
    const { requests } = this.#simulator;
    const last = this.#requests.at(-1);
    const from = last === undefined ? 0 : requests.lastIndexOf(last) + 1;
    if (from === 0 && this.#requests.length > 0 && requests.length === 1_000) this.#isLogComplete = false;
    for (const request of requests.slice(from)) {
      request.headers = {};
      this.#requests.push(request);
    }
    if (this.#options.losses === 0) return;
    const folder = join(this.#store.folder, 'appendonlydir');
    const files = new Map(readdirSync(folder).map((name) => [join(folder, name), statSync(join(folder, name)).size]));
    this.#sizes = [...this.#sizes.slice(-20), { at: Date.now(), files }];
  }

  /** The commands that the service took, by the command that was asked for. */
  #sent(): Map<Asked, Invocation[]> {
    const sent = new Map<Asked, Invocation[]>();
    const known = new Map<string, Asked[]>();
    for (const asked of this.#asked) {
      const key = `${asked.vin} ${asked.command} ${asked.marker}`;
      known.set(key, [...(known.get(key) ?? []), asked]);
    }
    for (const [vin, car] of this.#simulator.cars)
      for (const invocation of car.invocations) {
        const { command, unlockDuration, runtimeMinutes, receivedAt } = invocation;
        const marker = command === 'unlock' ? unlockDuration : runtimeMinutes;
        const asked = known.get(`${vin} ${command} ${marker}`)?.findLast(({ at }) => at <= receivedAt);
        if (asked === undefined) throw new Error(`nobody asked for ${command} ${marker} of ${vin}`);
        sent.set(asked, [...(sent.get(asked) ?? []), invocation]);
      }
    return sent;
  }

  /** The commands of which something has to come. */
  #open(sent = this.#sent()): Asked[] {
    return this.#asked.filter((asked) => {
      if (asked.results.length > 0) return false;
      if (sent.has(asked)) return asked.codes.length === 0;
      return [...asked.lives.keys()].some(
        (life) => life.diedAt === null && !asked.codes.some((code) => code.life === life),
      );
    });
  }

  report(): RealFleetReport {
    const { commands, kills } = this.#options;
    const failures: string[] = [];
    const counts: Record<string, number> = {};
    const count = (name: string, by = 1): void => void (counts[name] = (counts[name] ?? 0) + by);
    const zero = (name: string, cases: readonly string[]): void => {
      count(name, cases.length);
      failures.push(...cases.map((one) => `${name}: ${one}`));
    };
    const time = (at: number): string => ((at - this.#startedAt) / second).toFixed(2);
    const losses = this.#losses.map(time).join(', ') || 'no time';
    const describe = (asked: Asked): string => {
      const lives = [...asked.lives].map(
        ([{ copy, startedAt, diedAt, disturbedAt }, at]) =>
          `copy ${this.#copies.indexOf(copy)} (${time(startedAt)}-${diedAt ? time(diedAt) : ''}, disturbed ${disturbedAt.map(time).join(' ')}) at ${at ? time(at) : 'never'}`,
      );
      const results = asked.results.map(
        ({ at, life, outcome }) => `${outcome} from copy ${this.#copies.indexOf(life.copy)} at ${time(at)}`,
      );
      const received = (sent.get(asked) ?? []).map(
        ({ receivedAt, timeline }) => `${time(receivedAt)}-${time(timeline.at(-1)?.at ?? receivedAt)}`,
      );
      return `${asked.command} ${asked.marker} of ${asked.vin}, asked at ${time(asked.at)} of ${lives.join(', ')}; the service got it at ${received.join(', ') || 'no time'}; results: ${results.join(', ') || 'none'}; codes: ${codesOf(asked).join(', ') || 'none'}; the store forgot at ${losses}`;
    };
    const sent = this.#sent();
    const hasForgotten = (asked: Asked, until: number): boolean =>
      this.#losses.some((at) => at >= asked.at && at <= until);

    /**
     * The copies without a code were killed, and the one that sent it after the store had lost it,
     * or in the second that the store lost afterwards.
     */
    const wasForgotten = (asked: Asked): boolean => {
      const silent = [...asked.lives.keys()].filter((life) => !asked.codes.some((code) => code.life === life));
      const diedAt = Math.max(...silent.map((life) => life.diedAt ?? Infinity));
      return silent.length > 0 && diedAt < Infinity && hasForgotten(asked, diedAt + this.#mostLostMs);
    };

    const atOnce: string[] = [];
    const ofInvocation = new Map([...sent].flatMap(([asked, all]) => all.map((one) => [one, asked] as const)));
    const whose = (invocation: Invocation): string => {
      const asked = ofInvocation.get(invocation);
      return asked === undefined ? 'unknown' : describe(asked);
    };
    for (const { invocations } of this.#simulator.cars.values()) {
      let [first] = invocations;
      for (const next of invocations.slice(1)) {
        const end = first?.timeline.at(-1)?.at ?? 0;
        if (first !== undefined && next.receivedAt < end) atOnce.push(`${whose(first)} AND ${whose(next)}`);
        if ((next.timeline.at(-1)?.at ?? 0) > end) first = next;
      }
    }
    zero('commands at the same time for one car', atOnce);

    const twice: Asked[] = [];
    for (const [asked, invocations] of sent) {
      if (invocations.length < 2) continue;
      const [first = 0, next = 0] = [...asked.lives.values()].filter((at) => at !== null).sort((a, b) => a - b);
      // A copy that was paused got its message so late that it is a separate command.
      if (invocations.length === 2 && next - first >= joinedMs - second)
        count('asked twice, 10 s apart, and sent twice');
      else twice.push(asked);
    }
    zero('commands sent twice', twice.map(describe));

    const open = new Set(this.#open(sent));
    const wrong: Asked[] = [];
    const late: Asked[] = [];
    const doubled: Asked[] = [];
    for (const asked of this.#asked) {
      const [first, ...more] = asked.results;
      const isSent = sent.has(asked);
      count('asked');
      if (isSent) count('sent');
      if (first !== undefined) {
        count(`one result or more: ${first.outcome}`);
        if (isSent ? first.outcome === 'failed' : first.outcome !== 'undetermined') wrong.push(asked);
        const isExplained = (at: number): boolean => {
          const { diedAt, disturbedAt } = first.life;
          return (diedAt !== null && diedAt <= at) || disturbedAt.some((from) => Math.abs(at - from) < minute);
        };
        const mayBeTwo = (sent.get(asked)?.length ?? 0) > 1;
        if (more.length > 0 && !mayBeTwo)
          if (more.every(({ at }) => isExplained(at))) count('results twice, after the copy that sent it was killed');
          else if (more.every(({ at }) => hasForgotten(asked, at))) count('results twice, because the store forgot');
          else doubled.push(asked);
      } else if (isSent && wasForgotten(asked))
        count('no result: the store forgot it, and then its process was killed');
      else if (isSent && asked.codes.length > 0) wrong.push(asked);
      else if (open.has(asked)) late.push(asked);
      else if (asked.codes.length > 0) count(`not sent: ${codesOf(asked).join(' and ')}`);
      else if (!isSent) count('not sent: it waited in a process that was killed');
      else late.push(asked);
    }
    zero('results that do not fit', wrong.map(describe));
    zero('results twice without a reason', doubled.map(describe));
    zero('neither result nor code', late.map(describe));

    const refreshes = this.#requests.filter(({ path }) => path === '/as/token.oauth2');
    const refused = refreshes.filter(({ status }) => status >= 400);
    zero(
      'sign-ins lost',
      refused.map(({ at, status }) => `a refresh at ${time(at)} was answered with ${status}`),
    );
    const tokens = new Set(refreshes.map(({ body }) => new URLSearchParams(body).get('refresh_token')));
    const excess = this.#requests.filter(({ status }) => status === 429 || status === 403);
    zero(
      'requests over the quota',
      excess.map(
        ({ at, path }) =>
          `${path} at ${time(at)}; the store forgot at ${losses}; a process was killed last at ${time(this.#killedAt)}`,
      ),
    );
    const counted = this.#requests.filter(({ path, status }) => !path.startsWith('/as/') && status !== 429);
    const inAMinute = (isCounted: (request: RecordedRequest) => boolean): number => {
      const times = counted.filter(isCounted).map(({ at }) => at);
      let [first, most] = [0, 0];
      times.forEach((at, index) => {
        while (at - (times[first] ?? 0) >= minute) first += 1;
        most = Math.max(most, index - first + 1);
      });
      return most;
    };
    if (!this.#isLogComplete) failures.push('the log of the service has a gap');
    const calm = this.#takeOvers.filter(({ isCalm }) => isCalm).map(({ ms }) => ms);
    const seconds = (list: number[]): string =>
      list.length === 0
        ? 'none'
        : [Math.min(...list), list.sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? NaN, Math.max(...list)]
            .map((ms) => (ms / second).toFixed(1))
            .join(' / ');
    if (this.#asked.length < commands || (this.#done['kills'] ?? 0) < kills)
      count('not reached in the time: commands', commands - this.#asked.length);
    return {
      failures,
      table: {
        processes: this.#options.processes,
        minutes: (this.#ms / minute).toFixed(1),
        ...Object.fromEntries(Object.entries(this.#done).filter(([name]) => name !== allWell)),
        ...(this.#losses.length > 0 && {
          'seconds lost by the store, at most': (this.#mostLostMs / second).toFixed(1),
        }),
        ...Object.fromEntries(Object.entries(counts).sort(([a], [b]) => a.localeCompare(b))),
        refreshes: refreshes.length,
        'refresh tokens used again within 60 s': refreshes.length - tokens.size,
        [`most requests in 60 s (of ${limits.requestsPerMinute})`]: inAMinute(() => true),
        [`most commands in 60 s (of ${limits.commandsPerMinute})`]: inAMinute(({ method }) => method === 'POST'),
        'requests in all': this.#requests.length,
        [`seconds until another one reads after a kill: least / median / most of ${calm.length}`]: seconds(calm),
        [`the same where the store was away or a copy paused, too: ${this.#takeOvers.length - calm.length}`]: seconds(
          this.#takeOvers.filter(({ isCalm }) => !isCalm).map(({ ms }) => ms),
        ),
      },
    };
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.allSettled(this.#copies.map((copy) => copy.end()));
    await this.#store?.end();
    await this.#simulator?.close();
    await removeFolder(this.#folder);
  }
}
