import { strict as assert } from 'node:assert';
import { createServer, type Server } from 'node:http';
import { type VehicleError, type Account, type AccountOptions } from '../../src/index';
import { wallboxMemberNames } from '../../src/catalogue/reads';
import { closeAccounts, openTestAccount, readSeveral } from '../support/account';
import { ManualClock } from '../support/manual-clock';
import { requestProblems } from '../support/openapi';
import { failureOf } from '../support/failure';
import { listen } from '../support/listening';

const vin = 'YV1CT9551B1570982';
const wallbox = 'WBVA1ABCD-WB24.01.2500001234';
const reads = ['wallboxSessions', ...wallboxMemberNames] as const;
const day = 24 * 60 * 60_000;

/** Noon of the 15th in the zone of the process. */
const now = new Date(2026, 10, 15, 12).getTime();
const at = (ms: number): string => new Date(now + ms).toISOString();

interface Session {
  [name: string]: unknown;
  start: string;
  end: string | null;
  chargedEnergy: unknown;
}
const session = (changes: Partial<Session> = {}): Session => ({
  wallboxId: wallbox,
  transactionId: '1001',
  idToken: 'APP',
  start: at(-3 * 60 * 60_000),
  end: at(-60 * 60_000),
  chargedEnergy: 7.25,
  connectorId: 1,
  ...changes,
});

describe('A wallbox', () => {
  let server: Server;
  let port: number;
  let asked: string[];
  let problems: string[];
  let status: number;
  let body: unknown;
  let account: Account | undefined;

  beforeEach(async () => {
    [asked, problems, status, body] = [[], [], 200, [session()]];
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => (text += String(chunk)));
      request.on('end', () => {
        asked.push(`${request.method} ${request.url}`);
        problems.push(...requestProblems(request.method ?? '', request.url ?? '', text));
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      });
    });
    port = await listen(server);
  });
  afterEach(async () => {
    await closeAccounts();
    await new Promise((closed) => server.close(closed));
    assert.deepEqual(problems, [], 'against the OpenAPI document of the vendor');
  });

  const open = (
    options: Partial<Omit<AccountOptions, 'service' | 'pack'>> = {},
    clock = new ManualClock(now),
  ): Account => (account = openTestAccount({ url: `http://127.0.0.1:${port}` }, { clock, wallbox, ...options }));
  const read = async (name: (typeof reads)[number]): Promise<unknown> =>
    (await open().client.read(name, { vin })).payload;
  const failure = (options: Partial<Omit<AccountOptions, 'service' | 'pack'>> = {}): Promise<VehicleError> =>
    failureOf(open(options).client.read('wallboxSessions', { vin }));

  it('gives its five reads with one request, of the last 31 days', async () => {
    const { payload, vehicle } = await readSeveral(open().client, reads, { vin });
    assert.equal(asked.length, 1);
    const { searchParams, pathname } = new URL(asked[0]?.slice(4) ?? '', 'http://service');
    assert.equal(pathname, `/energy-device/v1/wallbox/${wallbox}/chargingsessions`);
    assert.deepEqual(
      [searchParams.get('start'), searchParams.get('end')],
      [new Date(2026, 9, 16), new Date(2026, 10, 16)].map((one) => one.toISOString()),
    );
    assert.deepEqual(vehicle.errors, []);
    assert.equal(vehicle.interface, 'energy-device-v1');
    assert.deepEqual(payload, {
      wallboxSessions: [
        {
          id: '1001',
          start: at(-3 * 60 * 60_000),
          end: at(-60 * 60_000),
          open: false,
          kWh: 7.25,
          connector: 1,
          token: 'APP',
        },
      ],
      wallboxCharging: { value: false, unit: null, timestamp: null },
      wallboxEnergyToday: { value: 7.25, unit: 'kilowatt-hours', timestamp: null },
      wallboxEnergyMonth: { value: 7.25, unit: 'kilowatt-hours', timestamp: null },
      wallboxEnergyTotal: { value: 7.25, unit: 'kilowatt-hours', timestamp: null },
    });
  });

  it('counts for a daily quota of its own', async () => {
    await open().client.read('wallboxSessions', { vin });
    const { apis } = account?.quota() ?? assert.fail();
    assert.deepEqual(
      Object.entries(apis).map(([api, { usedToday }]) => [api, usedToday]),
      [
        ['connected', 0],
        ['energy', 0],
        ['location', 0],
        ['energy-device', 1],
      ],
    );
  });

  it('adds up the sessions that began in the day, the month and the 31 days, newest first', async () => {
    const midnight = new Date(2026, 10, 15).getTime() - now;
    const first = new Date(2026, 10, 1).getTime() - now;
    body = [
      session({ transactionId: 'before', start: at(first - 1), chargedEnergy: 100.1 }),
      session({ transactionId: 'month', start: at(first), chargedEnergy: 10.1 }),
      session({ transactionId: 'night', start: at(midnight - 1), end: at(0), chargedEnergy: 1.1 }),
      session({ transactionId: 'today', start: at(midnight), chargedEnergy: 0.1 }),
    ];
    const { payload } = await readSeveral(open().client, reads, { vin });
    const valueOf = (name: string): unknown => (payload as Record<string, { value: unknown }>)[name]?.value;
    assert.deepEqual(wallboxMemberNames.map(valueOf), [false, 0.1, 11.3, 111.4]);
    assert.deepEqual(
      (payload['wallboxSessions'] as { id: string }[]).map(({ id }) => id),
      ['today', 'night', 'month', 'before'],
    );
  });

  it('has its sessions in one order, by time and not by its writing, whatever order the service gives', async () => {
    const sessions = [
      session({ transactionId: 'same', start: at(-60_000), end: at(0) }),
      session({ transactionId: 'other', start: at(-60_000), end: at(0) }),
      session({ transactionId: 'far', start: '+012026-11-15T00:00:00Z', end: null }),
      session({ transactionId: 'none', start: 'once' }),
      session({ transactionId: 'zone', start: `${at(-30_000).slice(0, 19)}+00:00`, end: at(0) }),
    ];
    const ids = async (): Promise<unknown[]> =>
      ((await read('wallboxSessions')) as { id: unknown }[]).map(({ id }) => id);
    body = sessions;
    const found = await ids();
    assert.deepEqual([found[0], found.slice(1, 3).sort()], ['zone', ['other', 'same']]);
    await account?.close();
    body = sessions.toReversed();
    assert.deepEqual(await ids(), found);
  });

  const unknown = (reason: string): object => ({ value: null, unit: null, timestamp: null, reason });

  it('cannot tell whether it charges from a session that is open for three days', async () => {
    body = [session({ start: at(-3 * day), end: null })];
    assert.deepEqual(await read('wallboxCharging'), unknown('OPEN_FOR_DAYS'));
    body = [session({ start: at(1 - 3 * day), end: null })];
    assert.deepEqual(await read('wallboxCharging'), { value: true, unit: null, timestamp: null });
  });

  it('cannot tell what an odd session says, and nothing else', async () => {
    const odd: [Partial<Session>, reasons: (string | number | boolean)[]][] = [
      [{ chargedEnergy: -1 }, [false, 'NEGATIVE', 'NEGATIVE', 'NEGATIVE']],
      [{ chargedEnergy: null }, [false, 'MISSING', 'MISSING', 'MISSING']],
      [{ chargedEnergy: 'much' }, [false, 'UNREADABLE', 'UNREADABLE', 'UNREADABLE']],
      [{ start: 'once' }, [false, 'UNREADABLE', 'UNREADABLE', 7.25]],
      [{ end: 'later' }, ['UNREADABLE', 7.25, 7.25, 7.25]],
      [{ start: at(-15 * day), chargedEnergy: -1 }, [false, 0, 0, 'NEGATIVE']],
    ];
    for (const [changes, expected] of odd) {
      body = [session(changes)];
      const { payload } = await readSeveral(open().client, reads, { vin });
      const found = wallboxMemberNames.map((name) => {
        const { value, reason } = payload[name] as { value: unknown; reason?: string };
        return value ?? reason;
      });
      assert.deepEqual(found, expected, JSON.stringify(changes));
      await account?.close();
    }
    const [{ kWh, reason } = assert.fail()] = (await read('wallboxSessions')) as { kWh: unknown; reason: unknown }[];
    assert.deepEqual([kWh, reason], [null, 'NEGATIVE']);
  });

  it('asks for nothing without an id, and with one of another form', async () => {
    const none = await failure({ wallbox: ' ' });
    assert.deepEqual([none.code, none.message.includes('no list')], ['CONFIG', true]);
    for (const id of ['4711', 'YV1CT9551B1570982', '../user', `${wallbox}/pause`, 'WBVA1ABCD']) {
      const { code, message } = await failure({ wallbox: id });
      assert.deepEqual([code, message.includes('WBVA1ABCD-WB24.01.2500001234')], ['CONFIG', true], id);
    }
    assert.deepEqual(asked, []);
    await open({ wallbox: ` ${wallbox.toLowerCase()} ` }).client.read('wallboxCharging', { vin });
    assert.equal(asked.length, 1);
  });

  it('of another account is named so', async () => {
    body = {};
    status = 403;
    const refused = await failure();
    assert.deepEqual([refused.code, refused.retryable], ['SCOPE_MISSING', false]);
    assert.match(refused.message, /energy_device:wallbox:read.* belongs to another account/);
    status = 404;
    const missing = await failure();
    assert.deepEqual([missing.code, missing.retryable], ['VEHICLE_NOT_LINKED', false]);
    assert.match(missing.message, /no wallbox with this ID/);
  });

  it('says in words why it cannot be read', async () => {
    const codes = {
      WALLBOX_OFFLINE: ['VEHICLE_UNAVAILABLE', /offline/],
      WALLBOX_IN_COOLDOWN: ['VEHICLE_UNAVAILABLE', /few minutes/],
      WALLBOX_INCORRECT_STATUS: ['VEHICLE_UNAVAILABLE', /current state/],
      NOT_SUPPORTED_BY_WALLBOX: ['NOT_SUPPORTED', /does not offer/],
      UNKNOWN_ERROR: ['VEHICLE_ERROR', /does not name/],
    } as const;
    for (status of [409, 422])
      for (const [code, [expected, words]] of Object.entries(codes)) {
        body = { message: 'Operation failed', code };
        const found = await failure();
        assert.equal(found.code, expected, code);
        assert.match(found.message, words);
      }
    for (const [answered, code] of [
      [400, 'INPUT_INVALID'],
      [409, 'VEHICLE_ERROR'],
    ] as const) {
      [status, body] = [answered, { code: 'NEW' }];
      const found = await failure();
      assert.equal(found.code, code);
      assert.doesNotMatch(found.message, /\bcar\b/);
    }
  });
});
