import { strict as assert } from 'node:assert';
import { inspect } from 'node:util';
import { commandNames, MemoryStateStore, type VehicleError } from '../../src/index';
import { readNames } from '../../src/catalogue/reads';
import type { ErrorCode } from '../../src/errors';
import { classicCar, demoCar, startSimulator, type FaultOptions, type Simulator } from '../support/simulator';
import { parseReads } from '../../src/inputs';
import { closeAccounts, openTestAccount, readSeveral, type SendingClient } from '../support/account';
import { ManualClock } from '../support/manual-clock';

const vin = demoCar.vin;
const extraCommands = ['climatization-start', 'climatization-stop', 'engine-start', 'engine-stop'];
const coded =
  (code: ErrorCode) =>
  (error: VehicleError): boolean =>
    error.code === code;

describe('the client', () => {
  let service: Simulator;
  let client: SendingClient;
  const posts = (): Simulator['requests'] => service.requests.filter(({ method }) => method === 'POST');
  afterEach(async () => {
    await closeAccounts();
    await service.close();
  });

  describe('commands', () => {
    beforeEach(async () => {
      service = await startSimulator({ dialect: 'real', cars: [demoCar, classicCar], clock: new ManualClock() });
      service.car().set({ windows: { rearRight: 'CLOSED' } });
      service.car().set({ commandPlan: { answerAfterMs: 0 }, extraCommands });
      ({ client } = openTestAccount(service));
    });
    /** A client of another Node-RED, which knows of no command that may still be in progress. */
    const another = (more: Parameters<typeof openTestAccount>[1] = {}): SendingClient =>
      openTestAccount(service, { store: new MemoryStateStore(), ...more }).client;

    describe('whose address a list of the vehicle also names', () => {
      const addresses = (): string[] => posts().map(({ path }) => path.replace(vin, '{vin}'));
      const listAs = (command: string, href: unknown): void => {
        service.faults.add({
          match: { method: 'GET', path: '/commands' },
          times: 1,
          status: 200,
          body: { data: [{ command, href }] },
        });
      };

      it('go to the address of the specification, though a flow changed the list that it got', async () => {
        const { payload } = await client.read('commands', { vin });
        for (const offer of payload) offer.href = `/connected-vehicle/v2/vehicles/${vin}/commands/flash`;
        await client.send('lock', { vin });
        assert.deepEqual(addresses(), ['/connected-vehicle/v2/vehicles/{vin}/commands/lock']);
      });

      it('go to the address of the specification, whatever the list has instead', async () => {
        const hrefs = ['/v2/vehicles/{vin}/commands/unlock', 'https://evil.example/x', '/v2/x/engine%2Dstart', null, 7];
        for (const href of hrefs) {
          listAs('LOCK', typeof href === 'string' ? href.replace('{vin}', vin) : href);
          await client.read('commands', { vin });
          await client.send('lock', { vin });
        }
        assert.deepEqual(
          addresses(),
          hrefs.map(() => '/connected-vehicle/v2/vehicles/{vin}/commands/lock'),
        );
      });
    });

    it('refuse a duration that is no whole number in its range before anything is sent', async () => {
      for (const bad of [-1, 0, 1.5, 'ten', true, Number.NaN, 16, 121]) {
        const what = inspect(bad);
        await assert.rejects(client.send('engine-start', { vin, runtimeMinutes: bad }), coded('INPUT_INVALID'), what);
        if (bad !== 16)
          for (const choice of ['v1', 'v2', 'auto'] as const)
            await assert.rejects(
              client.send('unlock', { vin, interface: choice, unlockDuration: bad }),
              coded('INPUT_INVALID'),
              what,
            );
      }
      assert.equal(service.requests.length, 0);
    });

    it('refuse a name that the vehicle does not list, without sending it', async () => {
      await assert.rejects(client.send('self-destruct', { vin }), coded('INPUT_INVALID'));
      assert.ok(service.requests.every(({ method }) => method === 'GET'));
      for (const name of ['', undefined, 7, '../lock', 'a b'])
        await assert.rejects(client.send(name, { vin }), coded('INPUT_INVALID'));
    });

    it('are not sent when they are cancelled while the accessibility is read', async () => {
      const cancel = new AbortController();
      service.faults.add({ match: { path: '/command-accessibility' }, latencyMs: 1e9 });
      const sending = client.send('unlock', { vin, precheck: true, cancel: cancel.signal });
      cancel.abort();
      await assert.rejects(sending, coded('CANCELLED'));
      await assert.rejects(client.send('unlock', { vin, cancel: cancel.signal }), coded('CANCELLED'));
      assert.ok(service.requests.every(({ method }) => method === 'GET'));
    });

    it('are undetermined and never repeated if nothing shows whether the car got them', async () => {
      const uncertain: FaultOptions[] = [
        { status: 500, body: {} },
        { error: 'car-error' },
        { error: 'outage-text' },
        ...[408, 425, 499, 502, 503, 504, 507, 511, 520, 524, 530, 598, 599].map((status) => ({ status, body: {} })),
        { status: 503, body: '<html>Service Unavailable</html>' },
        { cut: 'before-headers' },
        { cut: 'after-headers' },
        { cut: 'mid-body' },
        { cut: 'after-effect' },
        { error: 'gateway-timeout' },
        { html: true },
      ];
      for (const fault of uncertain) {
        service.clearRequests();
        service.faults.clear();
        service.faults.add({ match: { method: 'POST' }, ...fault });
        const { outcome, requestStatus } = await another().send('lock', { vin });
        assert.deepEqual([outcome, requestStatus, posts().length], ['undetermined', null, 1], JSON.stringify(fault));
      }
    });

    it('hand on no operation id that is none', async () => {
      service.faults.add({
        match: { method: 'POST' },
        status: 200,
        headers: { 'x-operationid': 'Bearer demo-token' },
        body: { operationId: 'Bearer demo-token', data: { invokeStatus: 'REJECTED' } },
      });
      assert.equal((await client.send('lock', { vin })).operationId, null);
    });
  });

  describe('links', () => {
    beforeEach(async () => {
      service = await startSimulator();
      ({ client } = openTestAccount(service));
    });

    it('to an address outside the service never get the token', async () => {
      for (const href of [
        'https://evil.example/x',
        '//evil.example/x',
        '/\\evil.example/x',
        'http://127.0.0.1:1/x',
        'javascript:alert(1)',
        'file:///etc/passwd',
      ])
        await assert.rejects(client.commandStatus({ async: { href } }), coded('UNTRUSTED_LINK'), href);
      assert.equal(service.requests.length, 0);
    });
  });

  describe('bad input', () => {
    beforeEach(async () => {
      service = await startSimulator();
      ({ client } = openTestAccount(service));
    });

    it('that is no VIN is refused before anything is sent', async () => {
      const bads = [
        undefined,
        null,
        '',
        'short',
        'YV4952NA4F120DEM!',
        'YV4952NA4F120DEMO1',
        '../../../etc/pass',
        17,
        {},
      ];
      for (const bad of [...bads, [vin]]) {
        for (const name of readNames.filter((read) => read !== 'vehicles'))
          await assert.rejects(client.read(name, { vin: bad }), coded('VIN_INVALID'), `${name} ${inspect(bad)}`);
        for (const name of commandNames)
          await assert.rejects(client.send(name, { vin: bad }), coded('VIN_INVALID'), `${name} ${inspect(bad)}`);
      }
      assert.equal(service.requests.length, 0);
    });

    it('that is no name of a read is refused', () => {
      for (const bad of ['', 'wndows', 'constructor', '__proto__', 'toString', null, 5, {}])
        for (const given of [bad, ['windows', bad]])
          assert.throws(() => parseReads(given), coded('INPUT_INVALID'), inspect(given));
    });
  });

  describe('several reads', () => {
    beforeEach(async () => {
      service = await startSimulator();
      ({ client } = openTestAccount(service));
    });

    it('give all 45 at once over six sockets at most', async () => {
      const wallbox = 'WBVA1ABCD-WB24.01.2500001234';
      service.car().set({ wallbox });
      ({ client } = openTestAccount(service, { wallbox }));
      const { payload, vehicle } = await readSeveral(client, readNames, { vin });
      assert.deepEqual(Object.keys(payload).sort(), [...readNames].sort());
      assert.deepEqual(vehicle.errors, []);
      assert.ok(service.connections.peak <= 6, `${service.connections.peak} sockets`);
    });
  });
});
