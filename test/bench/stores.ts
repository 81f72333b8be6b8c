import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CommandAttempt,
  FileStateStore,
  RedisPresence,
  openAccount,
  Pack,
  pastedToken,
  resolveService,
  systemClock,
  type Account,
} from '../../src/index';
import type { SharedStore } from '../../src/state/state-store';
import { askOfStore } from '../model/fleet-history';
import { startSimulator, type Simulator } from '../support/simulator';
import { openRedis, RedisServer } from '../support/redis-server';
import { removeFolder } from '../support/remove-folder';
import { median } from './processes';
import type { Row } from './table';

const limits = { requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: 1e6 };

/** Counts the calls to a store, and how many of them waited one for the other. */
class Counted {
  calls = 0;
  trips = 0;
  #rounds = 0;

  reset(): void {
    this.calls = this.trips = 0;
    this.#rounds += 1;
  }

  over(store: SharedStore): SharedStore {
    const count = async <T>(key: string, call: () => Promise<T>): Promise<T> => {
      // A beat continues beside the work.
      if (key === '' || key.startsWith('process/')) return call();
      const trip = this.trips + 1;
      const round = this.#rounds;
      this.calls += 1;
      const result = await call();
      if (round === this.#rounds) this.trips = Math.max(this.trips, trip);
      return result;
    };
    return {
      get settlesInMs() {
        return store.settlesInMs;
      },
      get fault() {
        return store.fault;
      },
      onChange: (listener) => store.onChange(listener),
      now: () => count('', () => store.now()),
      read: (key) => count(key, () => store.read(key)),
      write: (key, value, condition) => count(key, () => store.write(key, value, condition)),
      remove: (key, condition) => count(key, () => store.remove(key, condition)),
      entries: (prefix) => count(prefix, () => store.entries(prefix)),
    };
  }
}

/**
 * What a read and a command of the interface v2 cost with a shared store on Redis, and the time of
 * the command against files.
 */
export async function stores({ rounds = 40 } = {}): Promise<Row[]> {
  const service = await startSimulator();
  service.car().set({ commandPlan: { steps: [{ afterMs: 0, status: 'COMPLETED' }], answerAfterMs: 0 } });
  const server = await RedisServer.start();
  const directory = mkdtempSync(join(tmpdir(), 'bench-store-'));
  const redis = openRedis(server.url);
  const counted = new Counted();
  const presences = [1, 2].map(
    () => new RedisPresence({ store: counted.over(redis), group: 'bench', clock: systemClock }),
  );
  const endUses = presences.map((presence) => presence.use());
  const [shared, other] = presences.map((presence) =>
    open(service, new Pack({ presence, store: counted.over(redis) })),
  ) as [Account, Account];
  const files = open(service, new Pack({ store: new FileStateStore({ directory }) }));
  try {
    // For 15 seconds after it has found a server, a store sends nothing.
    await redis.write('bench/a', 1);
    await systemClock.sleep(redis.settlesInMs);
    const { vin } = service.car();
    const send = async (account: Account): Promise<number> => {
      const { dispatcher } = account;
      const began = performance.now();
      // The same command of another node is another command.
      const origin = { node: `bench ${[shared, other].indexOf(account)}`, msg: {} };
      const options = { vin, interface: 'v2', origin } as const;
      await dispatcher.send('lock', options, new CommandAttempt({ clock: systemClock }));
      return performance.now() - began;
    };
    await shared.client.read('doors', { vin, maxAgeMs: 0 });
    counted.reset();
    for (let reads = 0; reads < rounds; reads += 1) await shared.client.read('doors', { vin, maxAgeMs: 0 });
    const callsOfReads = counted.calls;
    // While others run, the first command to a car that the store does not know looks again after
    // five seconds, which is one round trip more.
    await send(shared);
    const onRedis: number[] = [];
    const onFiles: number[] = [];
    let trips = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (const account of [shared, other]) {
        counted.reset();
        onRedis.push(await send(account));
        trips = Math.max(trips, counted.trips);
      }
      onFiles.push(await send(files));
    }
    return [
      { what: 'shared store: calls for a read, mean', value: callsOfReads / rounds, atMost: 1 },
      { what: 'shared store: round trips for a command of two processes in turn, most', value: trips, atMost: 5 },
      {
        what: 'a command with Redis against files',
        value: median(onRedis) / median(onFiles),
        unit: 'times',
      },
    ];
  } finally {
    await Promise.all([shared, other, files].map((account) => account.close()));
    await Promise.all(endUses.map((end) => end()));
    await redis.close();
    await server.end();
    await service.close();
    await removeFolder(directory);
  }
}

/**
 * What processes with 10 API keys ask of one store together, in virtual time
 * (docs/several-node-reds.md).
 */
export async function fleets(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const count of [10, 50, 200])
    for (const [name, { operations, bytes }] of Object.entries(await askOfStore(count)))
      rows.push(
        { what: `${count} Node-REDs: calls a second, ${name}`, value: operations },
        { what: `${count} Node-REDs: bytes a second, ${name}`, value: bytes },
      );
  return rows;
}

function open(service: Simulator, pack: Pack): Account {
  return openAccount({
    service: resolveService('custom', { baseUrl: service.url }),
    apiKey: 'demo-key',
    tokens: pastedToken('demo-token'),
    id: 'vehicle',
    limits,
    pack,
  });
}
