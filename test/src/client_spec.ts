import { strict as assert } from 'node:assert';
import { inspect } from 'node:util';
import { commandNames, MemoryStateStore, type VehicleError } from '../../src/index';
import { commands, type CommandRow } from '../../src/catalogue/commands';
import { readNames } from '../../src/catalogue/reads';
import type { ErrorCode } from '../../src/errors';
import { classicCar, demoCar, startSimulator, type FaultOptions, type Simulator } from '../support/simulator';
import { parseReads } from '../../src/inputs';
import { closeAccounts, openTestAccount, readSeveral, type SendingClient } from '../support/account';
import { carCommandNames } from '../support/commands';
import { ManualClock } from '../support/manual-clock';

const vin = demoCar.vin;
/** The interfaces of docs/internals/service.md 1. */
const specified = ['connected-v2', 'connected-v1', 'extended-v1'] as const;
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

    it('choose v2 where the specification offers it, and v1 for the rest, at a service as specified', async () => {
      for (const name of carCommandNames) {
        const { routes }: CommandRow = commands[name];
        const record = await another({ interfaces: specified }).send(name, { vin });
        const isListed = routes['connected-v2'] !== undefined && !routes['connected-v2'].unlisted;
        assert.equal(
          record.interface,
          isListed || routes['connected-v1'] === undefined ? 'connected-v2' : 'connected-v1',
          name,
        );
      }
    });

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

      it('can also be named as the service spells them', async () => {
        assert.equal((await client.send('HONK_AND_FLASH', { vin })).command, 'honk-flash');
        assert.equal((await client.send(' Engine_Start ', { vin, runtimeMinutes: 5 })).command, 'engine-start');
        assert.equal(service.requests.at(-1)?.body, '{"runtimeMinutes":5}');
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

    it('go over v2 alone where v1 is gone', async () => {
      ({ client } = openTestAccount(service, { service: 'volvo-cars', settings: { apiKeyHeader: 'vendor-api-key' } }));
      assert.equal((await client.send('honk', { vin })).interface, 'connected-v2');
    });

    it('refuse a name that the vehicle does not list, without sending it', async () => {
      await assert.rejects(client.send('self-destruct', { vin }), coded('INPUT_INVALID'));
      assert.ok(service.requests.every(({ method }) => method === 'GET'));
      for (const name of ['', undefined, 7, '../lock', 'a b'])
        await assert.rejects(client.send(name, { vin }), coded('INPUT_INVALID'));
    });

    it('are refused by a classic car that has no reduced guard', async () => {
      await assert.rejects(client.send('lock-reduced-guard', { vin: classicCar.vin }), coded('NOT_SUPPORTED'));
    });

    it('are not sent at all while the configuration is read only', async () => {
      const { dispatcher } = openTestAccount(service, { readOnly: true });
      for (const name of [...commandNames, 'self-destruct'])
        await assert.rejects(dispatcher.send(name, { vin, precheck: true }), coded('READ_ONLY'));
      assert.equal(service.requests.length, 0);
    });

    it('are not sent to an unavailable car if the accessibility is read first', async () => {
      service.car().set({ inUse: true });
      await assert.rejects(
        client.send('lock', { vin, precheck: true }),
        (error: VehicleError) => error.code === 'VEHICLE_UNAVAILABLE' && /in use/.test(error.message),
      );
      assert.ok(service.requests.every(({ method }) => method === 'GET'));
    });

    it('report a refusal of the car as a failed outcome, not as an error', async () => {
      service.car().set({ doors: { rearLeft: 'OPEN' } });
      const record = await client.send('lock', { vin });
      assert.equal(record.requestStatus, 'UNABLE_TO_LOCK_DOOR_OPEN');
      assert.equal(record.outcome, 'failed');
    });

    it('discard the kept answers of the car', async () => {
      await client.read('doors', { vin });
      await client.send('unlock', { vin });
      assert.equal((await client.read('doors', { vin })).vehicle.source, 'live');
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

    it('are undetermined and never repeated where nothing shows whether the car got them', async () => {
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

    it('fail with the code of the refusal, without a second try', async () => {
      const refused: [FaultOptions, ErrorCode][] = [
        [{ error: 'token-refused' }, 'SIGN_IN_REQUIRED'],
        [{ error: 'key-refused' }, 'API_KEY_REFUSED'],
        [{ error: 'quota' }, 'QUOTA_SPENT'],
        [{ error: 'rate-limited' }, 'RATE_LIMITED'],
        [{ status: 400, body: {} }, 'COMMAND_REFUSED'],
        [{ status: 422, body: { error: { message: 'INVALID', description: 'no' } } }, 'COMMAND_REFUSED'],
        [{ status: 409, body: {} }, 'VEHICLE_ERROR'],
        [{ status: 404, body: {} }, 'NOT_SUPPORTED'],
        [{ status: 503, body: { error: { message: 'x', description: 'Vehicle is in use' } } }, 'VEHICLE_UNAVAILABLE'],
      ];
      for (const [fault, code] of refused) {
        // Each with its own account: a spent quota and a refused key hold up the next request.
        ({ client } = openTestAccount(service, { clock: new ManualClock() }));
        service.clearRequests();
        service.faults.add({ match: { method: 'POST' }, times: 1, ...fault });
        await assert.rejects(client.send('lock', { vin }), coded(code), JSON.stringify(fault));
        assert.equal(posts().length, 1, JSON.stringify(fault));
      }
    });

    it('have the outcome that the status word names, with any status of HTTP', async () => {
      for (const status of [400, 403, 409, 422, 429, 500, 503, 504])
        for (const [word, outcome] of [
          ['COMPLETED', 'succeeded'],
          ['REJECTED', 'failed'],
          ['UNKNOWN', 'undetermined'],
          ['TELEPORTED', 'undetermined'],
          ['RUNNING', 'pending'],
        ] as const) {
          // Each with its own account: after a 429, the next command would wait.
          ({ client } = openTestAccount(service, { clock: new ManualClock() }));
          const body = { data: { vin, invokeStatus: word, message: 'as the service says' } };
          service.faults.add({ match: { method: 'POST' }, times: 1, status, body });
          const record = await client.send('lock', { vin });
          assert.deepEqual(
            [record.requestStatus, record.outcome, record.message],
            [word, outcome, 'as the service says'],
            `${status} ${word}`,
          );
        }
    });

    it('take no other member of a failed answer for a status word', async () => {
      const bodies = [{ status: 'COMPLETED' }, { data: { invokeStatus: '' } }, { invokeStatus: 7 }, ['COMPLETED']];
      for (const body of bodies) {
        service.faults.add({ match: { method: 'POST' }, times: 1, status: 400, body });
        await assert.rejects(client.send('lock', { vin }), coded('COMMAND_REFUSED'));
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

    it('that never left the machine fail with NETWORK', async () => {
      await service.close();
      await assert.rejects(client.send('lock', { vin }), coded('NETWORK'));
    });
  });

  describe('links', () => {
    beforeEach(async () => {
      service = await startSimulator();
      ({ client } = openTestAccount(service));
    });

    it('to another place than the service never get the token', async () => {
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

    it('is no VIN in lowercase with spaces around it', async () => {
      assert.equal((await client.read('windows', { vin: ` ${vin.toLowerCase()} ` })).vehicle.vin, vin);
    });

    it('that is no name of a read is refused', () => {
      for (const bad of ['', 'wndows', 'constructor', '__proto__', 'toString', null, 5, {}])
        for (const given of [bad, ['windows', bad]])
          assert.throws(() => parseReads(given), coded('INPUT_INVALID'), inspect(given));
    });

    it('is a car of another account', async () => {
      await assert.rejects(client.read('windows', { vin: 'YV1CT9551B1570982' }), coded('VEHICLE_NOT_LINKED'));
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

  describe('a read that meets a fault', () => {
    let clock: ManualClock;
    beforeEach(async () => {
      service = await startSimulator();
      clock = new ManualClock();
      ({ client } = openTestAccount(service, { clock }));
    });

    /** The read's end, with time moved on whenever it waits. */
    const outcome = async (read: Promise<unknown>): Promise<unknown> => {
      let over = false;
      const result = read
        .then(
          () => 'answered',
          (error: VehicleError) => error.code,
        )
        .finally(() => (over = true));
      await clock.advanceUntil(() => over, 250);
      return result;
    };

    it('ends with TIMEOUT where the service never answers', async () => {
      service.faults.add({ latencyMs: 1e9 });
      assert.equal(await outcome(client.read('windows', { vin })), 'TIMEOUT');
    });

    it('ends at once when it is cancelled', async () => {
      service.faults.add({ latencyMs: 1e9 });
      const abort = new AbortController();
      const read = client.read('windows', { vin, signal: abort.signal });
      abort.abort();
      await assert.rejects(read, coded('CANCELLED'));
    });
  });

  it('passes image addresses on and never keeps them', async () => {
    service = await startSimulator();
    ({ client } = openTestAccount(service));
    const first = await client.read('details', { vin });
    const second = await client.read('details', { vin });
    assert.match(first.payload.images.exteriorImageUrl ?? '', /^https?:/);
    assert.equal(second.vehicle.source, 'live');
    assert.equal(service.requests.length, 2);
  });
});
