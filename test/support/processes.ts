import { RedisPresence, Pack, resolveService, type Account } from '../../src/index';
import { asSentence } from '../../src/sentence';
import { demoCar } from '../../src/simulator/index';
import type { SimulatorOptions } from './simulator';
import type { TransportRequest } from '../../src/http/transport';
import {
  hashed,
  StateFault,
  type WriteCondition,
  type SharedStore,
  type Stored,
  type StoredEntry,
} from '../../src/state/state-store';
import { ServiceInProcess, type Mishap } from '../model/service-in-process';
import { accountOn } from './account';
import { ManualClock } from './manual-clock';
import { SharedMemory } from './shared-memory';

/** The way of one process to a store that others also use: it can be cut. */
class Line implements SharedStore {
  isCut: boolean;
  /** The answers to so many calls are lost on the way. */
  unheard = 0;
  /** How long an answer is on its way. */
  answersInMs = 0;
  /** The key of each call that went over it. */
  readonly calls: string[] = [];
  /** Of the values that went over it, as JSON. */
  bytes = 0;
  isDead = false;
  readonly #store: SharedMemory;
  readonly #clock: ManualClock;

  constructor(store: SharedMemory, clock: ManualClock, isCut: boolean) {
    this.#store = store;
    this.#clock = clock;
    this.isCut = isCut;
  }

  /** The process ends without a word. */
  kill(): void {
    this.isCut = this.isDead = true;
  }

  get settlesInMs(): number {
    return this.#store.settlesInMs;
  }

  get fault(): StateFault | null {
    return this.isCut ? away() : null;
  }

  onChange(listener: () => void): () => void {
    return this.#store.onChange(() => this.isCut || listener());
  }

  now = (): Promise<number> => this.#over('', () => this.#store.now());
  read = (key: string): Promise<Stored | null> => this.#over(key, () => this.#store.read(key));
  write = (key: string, value: unknown, condition?: WriteCondition): Promise<string | null> =>
    this.#over(key, () => this.#store.write(key, value, condition), value);
  remove = (key: string, condition?: WriteCondition): Promise<boolean> =>
    this.#over(key, () => this.#store.remove(key, condition));
  entries = (prefix: string): Promise<StoredEntry[]> => this.#over(prefix, () => this.#store.entries(prefix));

  async #over<T>(key: string, call: () => Promise<T>, sent?: unknown): Promise<T> {
    this.calls.push(key);
    if (this.isCut) throw away();
    const result = await call();
    if (this.answersInMs > 0) await this.#clock.sleep(this.answersInMs);
    if (this.unheard > 0) {
      this.unheard -= 1;
      throw away();
    }
    this.bytes += JSON.stringify([key, sent, result]).length;
    return result;
  }
}

const away = (): StateFault => new StateFault('unavailable', asSentence('The shared store is away.'));

/** A process of a test: a pack and its account, on a store that it shares with others. */
export interface Process {
  readonly line: Line;
  readonly pack: Pack;
  readonly presence: RedisPresence;
  readonly account: Account;
}

/** Several processes on one store, with one service and one clock. */
export class Processes {
  readonly clock = new ManualClock();
  readonly store = new SharedMemory(this.clock);
  readonly service: ServiceInProcess;
  readonly #ends: (() => Promise<void>)[] = [];

  constructor(
    mishap: (request: TransportRequest) => Mishap = () => null,
    options: Omit<SimulatorOptions, 'clock'> = {},
  ) {
    this.service = new ServiceInProcess({ dialect: 'real', cars: [demoCar], ...options, clock: this.clock }, mishap);
    const { baseUrl } = resolveService('custom', { baseUrl: this.service.url });
    // The car was commanded before: the first command of all waits for processes
    // that may have sent one.
    void this.store.write(`turn/${hashed(`${baseUrl}\n${demoCar.vin}`)}`, { holder: null, recent: [] });
  }

  /** @param group null for a process with flows of its own */
  start(
    group: string | null = 'flows',
    limits = { requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: 1e6 },
    isCut = false,
    apiKey = 'demo-key',
  ): Process {
    const { clock, service } = this;
    const line = new Line(this.store, clock, isCut);
    const presence = new RedisPresence({ store: line, group, clock });
    this.#ends.push(presence.use());
    const pack = new Pack({ clock, presence, store: line });
    const account = accountOn(service, {
      apiKey,
      id: 'vehicle',
      limits,
      pack,
      transport: {
        send: (request) => (line.isDead ? Promise.reject(away()) : service.send(request)),
        close: () => Promise.resolve(),
      },
    });
    return { line, pack, presence, account };
  }

  async end(): Promise<void> {
    await Promise.all(this.#ends.map((end) => end()));
  }
}
