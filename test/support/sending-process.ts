import { appendFileSync } from 'node:fs';
import {
  CommandAttempt,
  FileStateStore,
  openAccount,
  Pack,
  pastedToken,
  resolveService,
  type Clock,
  VehicleError,
} from '../../src/index';
import { sleepOn } from '../../src/util/clock';

/**
 * The child of the test that kills: sends commands and writes each answer into a log. Each step is reported to the parent, which kills at one of
 * them. `check` lists the journal instead, and tries one command.
 */
const [, , mode = '', directory = '', baseUrl = '', vin = '', log = '', hours = '0'] = process.argv;

/** Each round is an hour later, when no command of the rounds before can still be in progress. */
const clock: Clock = {
  now: () => Date.now() + Number(hours) * 3_600_000,
  monotonic: () => performance.now(),
  uptime: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  sleep: (ms, signal) => sleepOn(clock, ms, signal),
};

const step = (): void => void process.send?.('step');

async function main(): Promise<void> {
  const store = new FileStateStore({ directory });
  const write = store.write.bind(store);
  store.write = (...change) => (step(), write(...change));
  const account = openAccount({
    service: resolveService('custom', { baseUrl }),
    apiKey: 'demo-key',
    tokens: pastedToken('demo-token'),
    limits: { requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: 1e6 },
    pack: new Pack({ clock, store }),
    id: 'a',
  });
  const send = (): ReturnType<typeof account.dispatcher.send> => {
    const attempt = Object.assign(new CommandAttempt({ clock }), { check: step });
    return account.dispatcher.send('lock', { vin, interface: 'v2' }, attempt);
  };
  if (mode === 'check') {
    const entries = await account.journal();
    const refusal = await send().then(
      () => null,
      (error: unknown) => (error instanceof VehicleError ? error.code : 'unexpected'),
    );
    process.send?.({ entries: entries.map(({ id, outcome, sentAt }) => ({ id, outcome, sentAt })), refusal });
  } else
    for (;;) {
      const { id, outcome } = await send();
      appendFileSync(log, `${id} ${outcome}\n`);
      step();
    }
  await account.close();
}

void main().then(() => process.disconnect());
