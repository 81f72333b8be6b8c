import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSimulator, type Simulator } from '../support/simulator';
import { closeAccounts, openTestAccount } from '../support/account';
import { manyCars, vinOf } from './support/cars';
import { issueCertificate } from './support/certificates';
import { startNginx, type Nginx } from './support/nginx';
import { endWithLogs, newFolder } from './support/program';
import { printTable } from './support/table';

/**
 * Milliseconds after the command began: it connects at first, and the car answers 200 ms after it
 * got the command. The last one is the arrival of the command.
 */
const moments = [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 60, 100, 140, 180, 200, 210, Infinity];

/**
 * What the restart does: a fast end, a crash, and a reload, which lets requests in progress end.
 */
const ends = ['SIGTERM', 'SIGKILL', 'SIGHUP'] as const;

describe('A command while nginx restarts', function () {
  let service: Simulator;
  let nginx: Nginx;

  before(async () => {
    const { cert, key } = await issueCertificate(await newFolder('certificates'), ['service.test']);
    service = await startSimulator({ cars: manyCars(moments.length * ends.length) });
    nginx = await startNginx(
      (port) => `server {
        listen 127.0.0.1:${port} ssl;
        ssl_certificate ${cert};
        ssl_certificate_key ${key};
        location / { proxy_pass ${service.url}; }
      }`,
    );
  });

  after(async () => {
    await closeAccounts();
    await service?.close();
  });

  endWithLogs();

  /**
   * The result of one command with a restart at one moment: how often it arrived, whether the car
   * acted, what the pack reports.
   */
  async function commandAt(moment: number, end: (typeof ends)[number], vin: string) {
    const account = openTestAccount(service, { settings: { baseUrl: `https://service.test:${nginx.port}` } });
    const sent = account.dispatcher.send('lock', { vin }).then(
      ({ outcome }) => outcome,
      ({ code }: { code: string }) => code,
    );
    const arrivals = (): number =>
      service.requests.filter(({ method, path }) => method === 'POST' && path.includes(vin)).length;
    if (moment < Infinity) await sleep(moment);
    else while (arrivals() === 0) await sleep(1);
    if (end === 'SIGHUP') nginx.signal(end);
    else await nginx.restart(end);
    const result = await sent;
    // A command that arrived is carried out soon, although its sender has stopped waiting.
    const arrived = arrivals();
    const hasActed = (): boolean => service.car(vin).performed.length > 0;
    for (let waits = 0; arrived > 0 && !hasActed() && waits < 500; waits += 1) await sleep(10);
    await account.close();
    return { result, arrived, acted: hasActed() };
  }

  it('arrives at most once at each of 20 moments, and its result is never wrong', async () => {
    const rows: string[][] = [];
    const results = new Set<string>();
    let car = 0;
    for (const moment of moments) {
      const row = [moment < Infinity ? `${moment} ms` : 'arrival'];
      for (const end of ends) {
        const { result, arrived, acted } = await commandAt(moment, end, vinOf(car));
        car += 1;
        row.push(`${result}, ${arrived}${acted ? ', acted' : ''}`);
        results.add(result);
        const where = `${end} after ${moment} ms: ${row.at(-1)}`;
        assert.ok(arrived <= 1, where);
        if (result === 'succeeded') assert.ok(acted, where);
        else if (result !== 'undetermined') assert.ok(!acted && arrived === 0, where);
        // A reload cuts no request that nginx has taken; a connection without one may end.
        if (end === 'SIGHUP' && arrived === 1) assert.equal(result, 'succeeded', where);
      }
      rows.push(row);
    }
    printTable(['nginx ends', ...ends.map((end) => `${end}: result, POSTs`)], rows);
    assert.deepEqual(results, new Set(['succeeded', 'undetermined', 'NETWORK']));
  });
});
