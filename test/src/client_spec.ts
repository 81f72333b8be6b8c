import { strict as assert } from 'node:assert';
import { commandNames, type VehicleError } from '../../src/index';
import { commands, type Command } from '../../src/catalogue/commands';
import { groupedResources } from '../../src/catalogue/groups';
import {
  connectedReadNames,
  reads,
  resourceNames,
  resources,
  type Resource,
  readNames,
} from '../../src/catalogue/reads';
import { readScopes } from '../../src/catalogue/scopes';
import type { ErrorCode } from '../../src/errors';
import { classicCar, demoCar, startSimulator, type FaultOptions, type Simulator } from '../support/simulator';
import { parseReads } from '../../src/inputs';
import { closeAccounts, openTestAccount, readSeveral, type SendingClient } from '../support/account';
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
  afterEach(async () => {
    await closeAccounts();
    await service.close();
  });

  for (const dialect of ['plain', 'real'] as const) {
    describe(`against the ${dialect} dialect`, () => {
      beforeEach(async () => {
        service = await startSimulator({ dialect, cars: [demoCar, classicCar] });
        service.car().set({
          resources: {
            washerFluidLevel: 'NORMAL',
            frontLeftTyrePressure: 'NORMAL',
            serviceWarningStatus: 'TIME_FOR_SERVICE',
          },
        });
        ({ client } = openTestAccount(service));
      });

      for (const name of connectedReadNames) {
        for (const [iface, choice] of [
          ['connected-v1', 'v1'],
          ['connected-v2', 'v2'],
        ] as const) {
          const route = reads[name].routes.find((one) => one.interface === iface);
          if (route === undefined) {
            it(`refuses ${name} on ${choice} before anything is sent`, async () => {
              await assert.rejects(client.read(name, { vin, interface: choice }), coded('NOT_SUPPORTED'));
              assert.equal(service.requests.length, 0);
            });
            continue;
          }
          it(`reads ${name} on ${choice} with the three mandatory headers`, async () => {
            const { payload, vehicle } = await client.read(name, { vin, interface: choice });
            assert.equal(vehicle.interface, iface);
            assert.equal(vehicle.read, name);
            assert.equal(vehicle.source, 'live');
            assert.ok(payload);
            const { headers, path } = service.requests[0] ?? assert.fail('nothing was asked');
            assert.equal(headers['authorization'], 'Bearer demo-token');
            assert.equal(headers['vendor-api-key'], 'demo-key');
            assert.equal(headers['accept'], route.accept.replace('{vendor}', 'vendor'));
            assert.equal(path.endsWith(route.path.replace('{vin}', vin)), true);
          });
        }
      }

      for (const name of resourceNames) {
        const resource: Resource = resources[name];
        const newest = groupedResources[name].group === null ? 'extended-v1' : 'connected-v2';
        for (const [choice, iface] of [
          ['auto', newest],
          ['v1', 'extended-v1'],
        ] as const)
          it(`reads the resource ${name} with the choice ${choice} on ${iface}, as its row types it`, async () => {
            const { payload, vehicle } = await client.read(name, { vin, interface: choice });
            assert.equal(vehicle.interface, iface);
            assert.equal(
              typeof payload.value,
              { boolean: 'boolean', enum: 'string', double: 'number', integer: 'number', number: 'number' }[
                resource.kind
              ],
            );
            if (resource.kind === 'enum') assert.ok(resource.values.includes(payload.value as string));
            assert.equal(payload.unit, 'unit' in resource ? resource.unit : null);
            assert.match(payload.timestamp ?? '', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
          });
        it(`reads the resource ${name} on extended-v1 at a service as specified`, async () => {
          ({ client } = openTestAccount(service, { interfaces: specified }));
          assert.equal((await client.read(name, { vin })).vehicle.interface, 'extended-v1');
        });
      }

      it('sees an opened window in every read that can show it', async () => {
        service.car().set({ windows: { frontLeft: 'OPEN', rearRight: 'CLOSED' } });
        for (const choice of ['v1', 'v2'] as const) {
          const { payload, vehicle } = await client.read('windows', { vin, interface: choice, maxAgeMs: 0 });
          assert.equal(payload['frontLeft']?.value, 'OPEN');
          assert.deepEqual(vehicle.open, ['frontLeft']);
          assert.equal(vehicle.allClosed, false);
        }
        assert.equal((await client.read('frontLeftWindowOpen', { vin })).payload.value, true);
      });

      it('reads the lock the same way on every interface', async () => {
        for (const [lock, locked] of [
          ['LOCKED', true],
          ['UNLOCKED', false],
        ] as const) {
          service.car().set({ lock });
          for (const choice of ['v1', 'v2'] as const) {
            const { vehicle } = await client.read('doors', { vin, interface: choice, maxAgeMs: 0 });
            assert.equal(vehicle.locked, locked);
          }
          assert.equal((await client.read('carLocked', { vin, maxAgeMs: 0 })).payload.value, locked);
        }
      });

      it('lists commands in the form that the command node takes', async () => {
        const { payload } = await client.read('commands', { vin });
        assert.ok(payload.some(({ command }) => command === 'lock-reduced-guard'));
        assert.ok(payload.some(({ command }) => command === 'honk-flash'));
      });
    });
  }

  describe('scopes', () => {
    beforeEach(async () => {
      service = await startSimulator();
    });

    for (const name of readNames) {
      it(`the row of ${name} names just the scopes that the service asks for`, async () => {
        const needed = [...readScopes(name)];
        ({ client } = openTestAccount(service, { token: service.issueToken({ scopes: needed }) }));
        await client.read(name, { vin });
        for (const missing of needed) {
          ({ client } = openTestAccount(service, {
            token: service.issueToken({ scopes: needed.filter((scope) => scope !== missing) }),
          }));
          // The fuel type is in the details, which were read before.
          if (name === 'distanceToEmpty' && missing === 'conve:vehicle_relation') continue;
          await assert.rejects(client.read(name, { vin }), coded('SCOPE_MISSING'));
        }
      });
    }
  });

  describe('commands', () => {
    beforeEach(async () => {
      service = await startSimulator({ dialect: 'real', cars: [demoCar, classicCar], clock: new ManualClock() });
      service.car().set({ windows: { rearRight: 'CLOSED' } });
      service.car().set({ commandPlan: { answerAfterMs: 0 }, extraCommands });
      ({ client } = openTestAccount(service));
    });

    for (const name of commandNames) {
      const { routes }: Command = commands[name];
      for (const [iface, choice] of [
        ['connected-v1', 'v1'],
        ['connected-v2', 'v2'],
      ] as const) {
        const route = routes[iface];
        if (route === undefined) {
          it(`refuses ${name} on ${choice} before anything is sent`, async () => {
            await assert.rejects(client.send(name, { vin, interface: choice }), coded('NOT_SUPPORTED'));
            assert.equal(service.requests.length, 0);
          });
          continue;
        }
        it(`sends ${name} on ${choice}, once`, async () => {
          const record = await client.send(name, {
            vin,
            interface: choice,
            unlockDuration: name === 'unlock' ? 30 : undefined,
          });
          const sent = service.requests.filter(({ method }) => method === 'POST');
          assert.equal(sent.length, 1);
          assert.equal(sent[0]?.headers['content-type'], route.contentType.replace('{vendor}', 'vendor'));
          const bodies = { unlockDuration: '{"unlockDuration":30}', runtimeMinutes: '{"runtimeMinutes":15}' };
          assert.equal(sent[0]?.body, route.body === undefined ? '' : bodies[route.body]);
          assert.equal(record.command, name);
          assert.equal(record.interface, iface);
          assert.equal(record.vin, vin);
          assert.ok(record.operationId);
          assert.equal(record.outcome, choice === 'v1' ? 'pending' : 'succeeded');
          assert.equal(record.async === null, choice === 'v2');
        });
      }
    }

    it('choose v2, whose answer is final', async () => {
      for (const name of commandNames) {
        const record = await client.send(name, { vin });
        assert.deepEqual([record.interface, record.outcome, record.async], ['connected-v2', 'succeeded', null], name);
      }
    });

    it('choose v2 where the specification offers it, and v1 for the rest, at a service as specified', async () => {
      ({ client } = openTestAccount(service, { interfaces: specified }));
      for (const name of commandNames) {
        const { routes }: Command = commands[name];
        const record = await client.send(name, { vin });
        const isListed = routes['connected-v2'] !== undefined && !routes['connected-v2'].unlisted;
        assert.equal(
          record.interface,
          isListed || routes['connected-v1'] === undefined ? 'connected-v2' : 'connected-v1',
          name,
        );
      }
    });

    describe('whose address a list of the vehicle names, too', () => {
      const posts = (): string[] =>
        service.requests.filter(({ method }) => method === 'POST').map(({ path }) => path.replace(vin, '{vin}'));
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
        assert.deepEqual(posts(), ['/connected-vehicle/v2/vehicles/{vin}/commands/lock']);
      });

      for (const href of [
        '/v2/vehicles/{vin}/commands/flash',
        'https://evil.example/x',
        '/v2/vehicles/{vin}/commands/unlock',
        '/v2/x/engine%2Dstart',
        null,
        7,
      ]) {
        it(`go to the address of the specification instead of ${String(href)}`, async () => {
          listAs('LOCK', typeof href === 'string' ? href.replace('{vin}', vin) : href);
          await client.read('commands', { vin });
          await client.send('lock', { vin });
          assert.deepEqual(posts(), ['/connected-vehicle/v2/vehicles/{vin}/commands/lock']);
        });
      }

      it('are named as the service spells them, too', async () => {
        assert.equal((await client.send('HONK_AND_FLASH', { vin })).command, 'honk-flash');
        assert.equal((await client.send(' Engine_Start ', { vin, runtimeMinutes: 5 })).command, 'engine-start');
        assert.equal(service.requests.at(-1)?.body, '{"runtimeMinutes":5}');
      });
    });

    for (const minutes of [0, 16, 1.5, 'ten', -1, true, Number.NaN]) {
      it(`refuses to run the engine for ${String(minutes)} minutes before anything is sent`, async () => {
        await assert.rejects(client.send('engine-start', { vin, runtimeMinutes: minutes }), coded('INPUT_INVALID'));
        assert.equal(service.requests.length, 0);
      });
    }

    it('go over v2 alone where v1 is gone', async () => {
      ({ client } = openTestAccount(service, { service: 'volvo-cars', settings: { apiKeyHeader: 'vendor-api-key' } }));
      assert.equal((await client.send('honk', { vin })).interface, 'connected-v2');
    });

    for (const [what, duration] of [
      ['0', 0],
      ['121', 121],
      ['1.5', 1.5],
      ['"ten"', 'ten'],
      ['-1', -1],
      ['true', true],
      ['NaN', Number.NaN],
    ] as const) {
      it(`refuses an unlock duration of ${what} before anything is sent`, async () => {
        for (const choice of ['v1', 'v2', 'auto'] as const) {
          await assert.rejects(
            client.send('unlock', { vin, interface: choice, unlockDuration: duration }),
            coded('INPUT_INVALID'),
          );
        }
        assert.equal(service.requests.length, 0);
      });
    }

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
      it(`are undetermined and never repeated after ${JSON.stringify(fault)}`, async () => {
        service.faults.add({ match: { method: 'POST' }, ...fault });
        const record = await client.send('lock', { vin });
        assert.equal(record.outcome, 'undetermined');
        assert.equal(record.requestStatus, null);
        assert.equal(service.requests.filter(({ method }) => method === 'POST').length, 1);
      });
    }

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
      it(`fail with ${code} after ${JSON.stringify(fault)}, without a second try`, async () => {
        service.faults.add({ match: { method: 'POST' }, times: 1, ...fault });
        await assert.rejects(client.send('lock', { vin }), coded(code));
        assert.equal(service.requests.filter(({ method }) => method === 'POST').length, 1);
      });
    }

    for (const status of [400, 403, 409, 422, 429, 500, 503, 504]) {
      for (const [word, outcome] of [
        ['COMPLETED', 'succeeded'],
        ['REJECTED', 'failed'],
        ['UNKNOWN', 'undetermined'],
        ['TELEPORTED', 'undetermined'],
        ['RUNNING', 'pending'],
      ] as const) {
        it(`have the outcome that the status word ${word} names, though the answer is HTTP ${status}`, async () => {
          const body = { data: { vin, invokeStatus: word, message: 'as the service says' } };
          service.faults.add({ match: { method: 'POST' }, status, body });
          const record = await client.send('lock', { vin });
          assert.deepEqual(
            [record.requestStatus, record.outcome, record.message],
            [word, outcome, 'as the service says'],
          );
        });
      }
    }

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

    for (const href of [
      'https://evil.example/x',
      '//evil.example/x',
      '/\\evil.example/x',
      'http://127.0.0.1:1/x',
      'javascript:alert(1)',
      'file:///etc/passwd',
    ]) {
      it(`to ${href} never get the token`, async () => {
        await assert.rejects(client.commandStatus({ async: { href } }), coded('UNTRUSTED_LINK'));
        assert.equal(service.requests.length, 0);
      });
    }
  });

  describe('bad input', () => {
    beforeEach(async () => {
      service = await startSimulator();
      ({ client } = openTestAccount(service));
    });

    for (const bad of [
      undefined,
      null,
      '',
      'short',
      'YV4952NA4F120DEM!',
      'YV4952NA4F120DEMO1',
      '../../../etc/pass',
      17,
      {},
      ['YV4952NA4F120DEMO'],
    ]) {
      it(`refuses ${JSON.stringify(bad)} as a VIN before anything is sent`, async () => {
        for (const name of readNames.filter((read) => read !== 'vehicles'))
          await assert.rejects(client.read(name, { vin: bad }), coded('VIN_INVALID'));
        for (const name of commandNames) await assert.rejects(client.send(name, { vin: bad }), coded('VIN_INVALID'));
        assert.equal(service.requests.length, 0);
      });
    }

    it('takes a VIN in small letters with blanks around it', async () => {
      assert.equal((await client.read('windows', { vin: ` ${vin.toLowerCase()} ` })).vehicle.vin, vin);
    });

    for (const bad of ['', 'wndows', 'constructor', '__proto__', 'toString', null, 5, {}]) {
      it(`refuses ${JSON.stringify(bad)} as a read`, () => {
        assert.throws(() => parseReads(bad), coded('INPUT_INVALID'));
        assert.throws(() => parseReads(['windows', bad]), coded('INPUT_INVALID'));
      });
    }

    it('fails for a car of another account', async () => {
      await assert.rejects(client.read('windows', { vin: 'YV1CT9551B1570982' }), coded('VEHICLE_NOT_LINKED'));
    });
  });

  describe('several reads', () => {
    beforeEach(async () => {
      service = await startSimulator();
      ({ client } = openTestAccount(service));
    });

    it('give all 45 at once over six sockets at most', async () => {
      const { payload, vehicle } = await readSeveral(client, readNames, { vin });
      assert.deepEqual(Object.keys(payload).sort(), [...readNames].sort());
      assert.deepEqual(vehicle.errors, []);
      assert.ok(service.connections.peak <= 6, `${service.connections.peak} sockets`);
    });

    it('give what worked and list what failed', async () => {
      service.faults.add({ match: { path: '/windows' }, error: 'not-supported' });
      const { payload, vehicle } = await readSeveral(client, ['doors', 'windows', 'fuelAmount'], { vin });
      assert.deepEqual(Object.keys(payload), ['doors', 'fuelAmount']);
      assert.deepEqual(
        vehicle.errors.map(({ read, code }) => ({ read, code })),
        [{ read: 'windows', code: 'NOT_SUPPORTED' }],
      );
      assert.equal(vehicle.reads.doors?.locked, true);
    });

    it('fail only when every one failed', async () => {
      service.faults.add({ error: 'token-refused' });
      await assert.rejects(readSeveral(client, ['doors', 'windows'], { vin }), coded('SIGN_IN_REQUIRED'));
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

    for (const fault of [
      { cut: 'before-headers' },
      { cut: 'mid-body' },
      { html: true },
      { error: 'outage-text' },
      { error: 'gateway-timeout' },
      { error: 'token-refused' },
      { error: 'key-refused' },
    ] as FaultOptions[]) {
      it(`tries again after one ${JSON.stringify(fault)}`, async () => {
        service.faults.add({ times: 1, ...fault });
        assert.equal(await outcome(client.read('windows', { vin })), 'answered');
        assert.equal(service.requests.length, 2);
      });
    }

    const lasting: [FaultOptions, ErrorCode, number][] = [
      [{ html: true }, 'BAD_RESPONSE', 3],
      [{ hugeBytes: 2 ** 21 }, 'BAD_RESPONSE', 1],
      [{ error: 'outage-text' }, 'SERVICE_ERROR', 3],
      [{ error: 'token-refused' }, 'SIGN_IN_REQUIRED', 2],
      [{ error: 'key-refused' }, 'API_KEY_REFUSED', 2],
      [{ error: 'scope-missing' }, 'SCOPE_MISSING', 1],
      [{ error: 'not-linked' }, 'VEHICLE_NOT_LINKED', 1],
      [{ error: 'not-supported' }, 'NOT_SUPPORTED', 1],
      [{ error: 'quota' }, 'QUOTA_SPENT', 1],
      [{ redirect: 'https://evil.example/' }, 'SERVICE_ERROR', 1],
    ];
    for (const [fault, code, tries] of lasting) {
      it(`gives up with ${code} after ${tries} where ${JSON.stringify(fault)} stays`, async () => {
        service.faults.add(fault);
        assert.equal(await outcome(client.read('windows', { vin })), code);
        assert.equal(service.requests.length, tries);
      });
    }

    for (const [what, options, requests] of [
      ['that keeps failing in the same way is tried once, because the next one is its retry', {}, [3, 1, 1, 3, 1]],
      [
        'on behalf of a command is tried three times, however often it has failed',
        { forCommand: true },
        [3, 3, 3, 3, 3],
      ],
    ] as const)
      it(what, async () => {
        const counts: number[] = [];
        for (const error of ['outage-text', 'outage-text', 'outage-text', 'bad-json', 'bad-json'] as const) {
          service.faults.clear();
          service.faults.add(error === 'bad-json' ? { html: true } : { error });
          service.clearRequests();
          await outcome(client.read('windows', { vin, ...options }));
          counts.push(service.requests.length);
        }
        assert.deepEqual(counts, requests);
        service.faults.clear();
        assert.equal(await outcome(client.read('windows', { vin })), 'answered');
        service.faults.add({ html: true });
        service.clearRequests();
        await clock.advance(10_000);
        assert.equal(await outcome(client.read('windows', { vin })), 'BAD_RESPONSE');
        assert.equal(service.requests.length, 3);
      });

    it('waits as long as a 429 says and then goes on', async () => {
      service.faults.add({ times: 1, error: 'rate-limited', retryAfter: 20 });
      const before = clock.now();
      assert.equal(await outcome(client.read('windows', { vin })), 'answered');
      assert.ok(clock.now() - before >= 20_000);
    });

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

    for (const nulls of ['values', 'members'] as const) {
      it(`reads nulls for ${nulls} as unknown everywhere`, async () => {
        service.faults.add({ nulls });
        assert.equal((await client.read('windows', { vin })).vehicle.allClosed, null);
        assert.equal((await client.read('doors', { vin })).vehicle.locked, null);
        for (const name of resourceNames) assert.equal((await client.read(name, { vin })).payload.value, null, name);
      });
    }
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
