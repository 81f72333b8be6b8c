import { strict as assert } from 'node:assert';
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator, type Simulator } from '../support/simulator';
import { ManualClock } from '../support/manual-clock';
import { FileStateStore, MemoryStateStore, pastedToken } from '../../src/index';
import { closeAccounts, openTestAccount } from '../support/account';
import { removeFolder } from '../support/remove-folder';

const key = 'demo-key';

describe('accounts', () => {
  let service: Simulator;
  let directory: string;
  let vin: string;

  beforeEach(async () => {
    service = await startSimulator();
    vin = service.car().vin;
    directory = mkdtempSync(join(tmpdir(), 'accounts-'));
  });
  afterEach(async () => {
    await closeAccounts();
    await service.close();
    await removeFolder(directory);
  });

  it('with the same key and owner answer each other', async () => {
    const [one, other] = [
      openTestAccount(service, { tokenOwner: 'me' }),
      openTestAccount(service, { tokenOwner: 'me' }),
    ];
    const readings = await Promise.all([one.client.read('windows', { vin }), other.client.read('windows', { vin })]);
    assert.equal((await other.client.read('windows', { vin })).vehicle.source, 'shared');
    assert.deepEqual(readings.map(({ vehicle }) => vehicle.source).sort(), ['live', 'shared']);
    assert.equal(service.requests.length, 1);
  });

  for (const { name, seconds, polls } of [
    { name: 'demo', seconds: 120, polls: 8 },
    { name: 'demo', seconds: 5, polls: 24 },
    { name: 'custom', seconds: 120, polls: 1 },
  ] as const)
    it(`of the service ${name} poll ${polls} times in two minutes for a node that asks for ${seconds} seconds`, async () => {
      const clock = new ManualClock();
      const { poller } = openTestAccount(service, { service: name, clock });
      let count = 0;
      poller.start({ vin, reads: ['windows'], everyMs: seconds * 1000 }, () => (count += 1));
      await clock.advance(120_000);
      count = 0;
      await clock.advance(120_000);
      assert.equal(count, polls);
    });

  it('keep for a command’s own questions what is reserved for commands', async () => {
    const { client } = openTestAccount(service, {
      shareForMs: 0,
      limits: { requestsPerDay: 100, requestsPerMinute: 1_000, commandsPerMinute: 10 },
    });
    service.car().set({ commandPlan: { answerAfterMs: 0 } });
    for (let i = 0; i < 96; i += 1) await client.read('doors', { vin });
    await assert.rejects(client.read('doors', { vin }), { code: 'QUOTA_SPENT' });
    assert.equal((await client.send('lock', { vin, interface: 'v2', precheck: true })).outcome, 'succeeded');
  });

  it('count a request when it is sent, however long its token takes', async () => {
    const clock = new ManualClock();
    let give = (_token: string): void => undefined;
    const token = new Promise<string>((resolve) => (give = resolve));
    const tokens = {
      get: () => token,
      fresh: null,
      onUnauthorized: () => Promise.resolve(false),
      describe: () => pastedToken('demo-token').describe(),
      close: () => Promise.resolve(),
    };
    const account = openTestAccount(service, { clock, tokens });
    const reading = account.client.read('windows', { vin });
    await clock.advance(10_000);
    assert.equal(account.quota().usedThisMinute, 0);
    give('demo-token');
    await reading;
    assert.equal(account.quota().usedThisMinute, 1);
  });

  it('of other owners count against one quota, and read for themselves', async () => {
    const [one, other] = [
      openTestAccount(service, { tokenOwner: 'me' }),
      openTestAccount(service, { tokenOwner: 'you' }),
    ];
    await one.client.read('windows', { vin });
    assert.equal((await other.client.read('windows', { vin })).vehicle.source, 'live');
    assert.equal(one.quota().usedToday, 2);
    assert.equal(other.quota().usedToday, 2);
  });

  it('have stored the outcome of a command when they are closed', async () => {
    const writes: unknown[] = [];
    const store = new MemoryStateStore();
    const write = store.write.bind(store);
    store.write = async (key, value, condition) => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      if (key.startsWith('command/')) writes.push(key);
      return write(key, value, condition);
    };
    const account = openTestAccount(service, { store, id: 'a' });
    service.faults.add({ match: { method: 'POST' }, latencyMs: 1e9 });
    const sent = account.dispatcher.send('lock', { vin, interface: 'v2' });
    while (!service.requests.some(({ method }) => method === 'POST'))
      await new Promise((resolve) => setImmediate(resolve));
    await account.close();
    assert.equal(writes.length, 2);
    for (const { key } of await store.entries('command/')) await store.remove(key);
    assert.equal((await sent).outcome, 'undetermined');
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(await store.entries('command/'), []);
  });

  it('say that nobody is signed in, and not that another account commands the car', async () => {
    const [one, other] = [openTestAccount(service), openTestAccount(service, { tokens: pastedToken('') })];
    service.car().set({ commandPlan: { steps: [{ afterMs: 0, status: 'RUNNING' }] } });
    await one.dispatcher.send('lock', { vin, interface: 'v1' });
    await assert.rejects(other.dispatcher.send('flash', { vin }), { code: 'TOKEN_MISSING' });
    await assert.rejects(one.dispatcher.send('flash', { vin }), { code: 'VEHICLE_UNAVAILABLE' });
  });

  it('know after a restart what was used, without the key in any file', async () => {
    const open = () => openTestAccount(service, { store: new FileStateStore({ directory }), tokenOwner: 'me' });
    const before = open();
    await before.client.read('windows', { vin });
    // Opened again while the last one still writes.
    const closing = before.close();
    const after = open();
    await after.client.read('doors', { vin });
    await closing;
    assert.equal(after.quota().usedToday, 2);
    await after.close();
    const names = readdirSync(directory, { recursive: true }) as string[];
    const files = names.map((name) => join(directory, name)).filter((path) => statSync(path).isFile());
    assert.ok(files.length > 0);
    for (const file of files) {
      assert.doesNotMatch(file + readFileSync(file, 'utf8'), new RegExp(key));
      assert.equal(statSync(file).mode & 0o777, 0o600);
    }
  });
});
