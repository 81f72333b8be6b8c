import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, type CommandRecord } from '../../src/index';
import { startSimulator, type Simulator } from '../support/simulator';
import { closeAccounts, openTestAccount } from '../support/account';
import { ManualClock } from '../support/manual-clock';
import { manyCars, vinOf } from './support/cars';
import { issueCertificate } from './support/certificates';
import { startNginx, type Nginx } from './support/nginx';
import { endWithLogs, newFolder } from './support/program';
import * as requests from './support/requests';
import { startSquid, type Squid, type SquidOptions } from './support/squid';
import { printTable } from './support/table';
import { failureOf } from '../support/failure';

/** Names that only squid can resolve. */
const hosts = ['service.example', 'identity.example'];

describe('squid as the proxy', function () {
  let service: Simulator;
  let nginx: Nginx;
  let squid: Squid;
  let cars = 0;
  /** A car that no other test has used. */
  let vin: string;

  before(async () => {
    service = await startSimulator({ cars: manyCars(60) });
    const { cert, key } = await issueCertificate(await newFolder('certificates'), [
      'service.example',
      'identity.example',
    ]);
    nginx = await startNginx(
      (port) => `server {
        listen 127.0.0.1:${port} ssl;
        ssl_certificate ${cert};
        ssl_certificate_key ${key};
        location / { proxy_pass ${service.url}; }
      }`,
    );
  });

  beforeEach(() => {
    service.clearRequests();
    vin = vinOf((cars += 1));
  });

  afterEach(async () => {
    await closeAccounts();
    service.faults.clear();
    delete process.env['HTTPS_PROXY'];
    await squid?.stop('SIGKILL');
  });

  after(() => service?.close());

  endWithLogs();

  /** squid, and the environment that names it. */
  async function start(options: Partial<SquidOptions> = {}, address = (url: string): string => url): Promise<void> {
    squid = await startSquid({ hosts, ...options });
    process.env['HTTPS_PROXY'] = address(squid.url);
  }

  const open = (changes: Parameters<typeof openTestAccount>[1] = {}): Account =>
    openTestAccount(service, { settings: { baseUrl: `https://service.example:${nginx.port}` }, ...changes });

  const readOdometer = (account: Account): Promise<unknown> => requests.readOdometer(account, vin);
  const lock = (account: Account): Promise<CommandRecord> => requests.lock(account, vin);

  const arrived = (): number => service.requests.filter(({ method }) => method === 'POST').length;

  it('takes a read, a command and the token endpoint to hosts that squid alone can find', async () => {
    await start();
    const [audience, identity] = ['service.example', 'identity.example'].map(
      (host) => `https://${host}:${nginx.port}`,
    ) as [string, string];
    const tokens = await requests.tokensOf(service, audience, identity);
    const account = open({ tokens });
    for (let read = 0; read < 5; read += 1) assert.equal(await readOdometer(account), 51_234);
    assert.equal((await lock(account)).outcome, 'succeeded');
    assert.deepEqual(service.car(vin).performed, ['lock']);
    // A tunnel is logged when it ends.
    await account.close();
    await squid.stop();
    const tunnels = await squid.requests();
    assert.deepEqual(
      new Set(tunnels),
      new Set([`CONNECT identity.example:${nginx.port} 200`, `CONNECT service.example:${nginx.port} 200`]),
    );
    assert.ok(tunnels.length >= 3 && tunnels.length < 7, 'reads share tunnels, and the command has its own');
  });

  describe('with a password', () => {
    const user = { name: 'alice', password: 'p@ss: 100%' };
    const login = (text: string) => (url: string) => url.replace('http://', `http://${text}@`);

    it('takes the name and the password from the address', async () => {
      await start({ user }, login(`alice:${encodeURIComponent(user.password)}`));
      const account = open();
      assert.equal(await readOdometer(account), 51_234);
      assert.equal((await lock(account)).outcome, 'succeeded');
    });

    for (const [what, text] of [
      ['wrong', 'alice:guess'],
      ['missing', ''],
    ] as const) {
      it(`names HTTPS_PROXY if the password is ${what}, sends nothing, and tries it once for each request`, async () => {
        await start({ user }, text === '' ? undefined : login(text));
        const account = open();
        for (const work of [readOdometer, lock]) {
          const { code, message } = await failureOf(work(account));
          assert.equal(code, 'NETWORK');
          assert.match(message, /^The proxy 127.* password .*407.*HTTPS_PROXY/);
        }
        assert.equal(service.requests.length, 0);
        // Its log is complete when it ends.
        await squid.stop();
        assert.deepEqual(await squid.requests(), Array(2).fill(`CONNECT service.example:${nginx.port} 407`));
      });
    }
  });

  it('names HTTPS_PROXY if squid does not run, sends nothing, and continues when it runs', async () => {
    await start();
    await squid.stop();
    const account = open();
    for (const work of [readOdometer, lock]) {
      const { code, message } = await failureOf(work(account));
      assert.equal(code, 'NETWORK');
      assert.match(message, /proxy .*HTTPS_PROXY/);
    }
    await squid.start();
    assert.equal(await readOdometer(account), 51_234);
    assert.equal((await lock(account)).outcome, 'succeeded');
    assert.equal(arrived(), 1);
  });

  it('answers every read if squid ends idle tunnels', async () => {
    await start({ more: 'read_timeout 1 second' });
    const account = open();
    for (let read = 0; read < 4; read += 1) {
      assert.equal(await readOdometer(account), 51_234);
      await sleep(900 + 200 * read);
    }
    // A tunnel is logged when it has ended.
    while ((await squid.requests()).length === 0) await sleep(20);
  });

  it('answers a read whose tunnel is cut, through the squid that runs next', async () => {
    await start();
    // The pauses between its tries last until squid runs again.
    const clock = new ManualClock();
    const account = open({ clock });
    assert.equal(await readOdometer(account), 51_234);
    service.faults.add({ match: { method: 'GET' }, latencyMs: 5_000, times: 1 });
    const read = readOdometer(account);
    while (service.requests.length < 2) await sleep(5);
    await squid.restart('SIGKILL');
    assert.equal(await clock.until(read, 100), 51_234);
  });

  it('sends a command once while squid is killed at each of 10 moments, and its result is never wrong', async () => {
    await start();
    const rows: string[][] = [];
    const results = new Set<string>();
    const posts = (): number =>
      service.requests.filter(({ method, path }) => method === 'POST' && path.includes(vin)).length;
    // The last moment is when the service has got it.
    for (const moment of [0, 2, 5, 10, 15, 20, 40, 100, 260, Infinity]) {
      vin = vinOf((cars += 1));
      const account = open();
      const sent = lock(account).then(
        ({ outcome }) => outcome,
        ({ code }: { code: string }) => code,
      );
      if (moment < Infinity) await sleep(moment);
      else while (posts() === 0) await sleep(1);
      await squid.restart('SIGKILL');
      const result = await sent;
      const hasActed = (): boolean => service.car(vin).performed.length > 0;
      for (let waits = 0; posts() > 0 && !hasActed() && waits < 500; waits += 1) await sleep(10);
      rows.push([
        moment < Infinity ? `${moment} ms` : 'its arrival',
        `${result}, ${posts()}${hasActed() ? ', acted' : ''}`,
      ]);
      results.add(result);
      const where = rows.at(-1)?.join(': ');
      assert.ok(posts() <= 1, where);
      if (result === 'succeeded') assert.ok(hasActed(), where);
      else if (result !== 'undetermined') assert.ok(!hasActed() && posts() === 0, where);
    }
    printTable(['squid is killed after', 'result, POSTs'], rows);
    assert.ok(results.has('undetermined') && results.size > 1);
  });
});
