import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import {
  FileStateStore,
  followWatch,
  resolveService,
  type Clock,
  type CommandRecord,
  VehicleError,
  WatchStore,
  type VehicleClient,
} from '../../src/index';
import { sleepOn } from '../../src/util/clock';

/**
 * The child of the test that kills: follows commands as the node does, with its store and with pauses a thousand times too short, and
 * writes each verdict into a log. Each step is told to the parent, which kills at one of them.
 */
const [, , directory = '', log = '', count = '0'] = process.argv;

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    // The time limit of a watch keeps its length, so that a busy machine does not end the watch.
    const timer = setTimeout(callback, ms < 60_000 ? ms / 1000 : ms);
    return () => clearTimeout(timer);
  },
  sleep: (ms, signal) => sleepOn(clock, ms, signal),
};

const line = (text: string): void => appendFileSync(log, `${text}\n`);
const tell = (): void => void process.send?.('step');

/** Every look finds the command a little further; the doors say nothing. */
function clientOf(looks: number): Pick<VehicleClient, 'commandStatus' | 'read' | 'service'> {
  let seen = 0;
  return {
    service: resolveService('custom', { baseUrl: 'http://127.0.0.1:1' }),
    commandStatus() {
      tell();
      seen += 1;
      const requestStatus = seen < looks ? (seen % 2 === 0 ? 'RUNNING' : 'WAITING') : 'COMPLETED';
      return Promise.resolve({ requestStatus, operationId: null, message: null, async: null, readyUntil: null });
    },
    read: () => Promise.reject(new VehicleError('NETWORK', 'There are no doors here.')),
  };
}

const recordOf = (index: number): CommandRecord => ({
  id: `command-${index}`,
  command: 'flash',
  vin: 'YV4952NA4F120DEMO',
  interface: 'connected-v1',
  sentAt: new Date().toISOString(),
  operationId: null,
  requestStatus: 'RUNNING',
  outcome: 'pending',
  message: '',
  async: { status: 'RUNNING', id: String(index), href: `/requests/${index}`, expires: null },
});

async function main(): Promise<void> {
  const store = new WatchStore(new FileStateStore({ directory }), 'watches', 'n');
  line('start');
  const begun = existsSync(log) ? readFileSync(log, 'utf8') : '';
  for (let index = 0; index < Number(count); index += 1) {
    if (begun.includes(`begin command-${index}\n`)) continue;
    await store.put({ record: recordOf(index), startedAt: Date.now(), history: [], msg: {} });
    line(`begin command-${index}`);
    tell();
  }
  await Promise.all(
    (await store.open()).map(async (open, index) => {
      const { id } = open.record;
      if (await store.hasEnded(id)) return store.end(id);
      for await (const { settled, report } of followWatch(
        { ...open, startedAt: Date.now() },
        { client: clientOf(2 + (index % 5)), clock },
      )) {
        tell();
        if (!settled) {
          await store.put({ ...open, history: report.history });
          continue;
        }
        // As the node: the verdict is written down, the message leaves, and when it has left the watch has ended.
        await store.put({ ...open, history: report.history, delivery: { report, tries: 1 } });
        tell();
        setImmediate(() => line(`verdict ${id} ${report.outcome} after ${report.elapsedMs}`));
        await new Promise((resolve) => setImmediate(resolve));
        tell();
        await store.end(id);
        line(`ended ${id}`);
      }
    }),
  );
}

void main().then(() => process.disconnect());
