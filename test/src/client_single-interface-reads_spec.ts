import { strict as assert } from 'node:assert';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import {
  Pack,
  MemoryStateStore,
  type Account,
  type AccountOptions,
  type InterfaceName,
  type VehicleError,
} from '../../src/index';
import { chargingMemberNames, statisticsMemberNames } from '../../src/catalogue/reads';
import { accountOn, readSeveral } from '../support/account';
import { ManualClock } from '../support/manual-clock';
import { listen } from '../support/listening';

const vin = 'YV1CT9551B1570982';
const timestamp = '2026-09-25T15:40:12.045762046Z';
const number = (value: unknown, unit: string): object => ({ timestamp, unit, value });
const member = (value: unknown, unit?: string): object => ({
  status: 'OK',
  value,
  unit,
  updatedAt: '2025-03-04T10:14:08Z',
});

const bodies: Record<string, unknown> = {
  '/energy/v2/vehicles/{vin}/state': { batteryChargeLevel: member(87.3, 'percentage'), chargingStatus: member('DONE') },
  '/energy/v2/vehicles/{vin}/capabilities': { getEnergyState: { isSupported: true } },
  '/location/v1/vehicles/{vin}/location': {
    data: { geometry: { type: 'Point', coordinates: [11.9, 57.6] }, properties: { heading: '220' } },
  },
  '/connected-vehicle/v2/vehicles/{vin}/fuel': { data: { fuelAmount: number('47.3', 'l'), batteryChargeLevel: null } },
  '/connected-vehicle/v2/vehicles/{vin}/statistics': {
    data: {
      averageEnergyConsumption: number(22.6, 'kWh/100km'),
      distanceToEmptyTank: number(200, 'mi'),
      averageSpeedAutomatic: null,
    },
  },
  '/connected-vehicle/v2/vehicles/{vin}/tyres': {
    data: {
      frontLeft: { timestamp, unit: null, value: 'VERY_LOW_PRESSURE' },
      rearLeft: { timestamp, unit: null, value: 'NEW' },
    },
  },
};

describe('the reads of energy, location and whole groups', () => {
  let service: Server;
  let port: number;
  let requests: IncomingMessage[];
  let account: Account | undefined;
  let refusal: { status: number; body: unknown } | undefined;

  beforeEach(async () => {
    requests = [];
    refusal = undefined;
    service = createServer((request, response) => {
      requests.push(request);
      const body = bodies[(request.url ?? '').replace(vin, '{vin}')];
      response.writeHead(refusal?.status ?? (body === undefined ? 404 : 200), { 'content-type': 'application/json' });
      response.end(JSON.stringify(refusal?.body ?? body ?? { statusCode: 404, message: 'Resource not found' }));
    });
    port = await listen(service);
  });
  afterEach(async () => {
    await account?.close();
    account = undefined;
    await new Promise((resolve) => service.close(resolve));
  });

  const open = (
    interfaces?: readonly InterfaceName[],
    options: Partial<Omit<AccountOptions, 'service'>> = {},
  ): Account =>
    (account = accountOn({ url: `http://127.0.0.1:${port}` }, { ...(interfaces && { interfaces }), ...options }));

  it('answer charging, its ten members and the end of the charge with one request', async () => {
    const { client } = open();
    const reads = ['charging', ...chargingMemberNames, 'chargingDoneAt'] as const;
    const { payload, vehicle } = await readSeveral(client, reads, { vin });
    assert.deepEqual(Object.keys(payload), reads);
    assert.deepEqual((payload['charging'] as Record<string, unknown>)['chargingDoneAt'], payload['chargingDoneAt']);
    assert.equal(requests.length, 1);
    assert.deepEqual(vehicle.errors, []);
    assert.equal(vehicle.interface, 'energy-v2');
    const level = { value: 87.3, unit: 'percent', timestamp: '2025-03-04T10:14:08.000Z' };
    assert.deepEqual(payload['batteryChargeLevel'], level);
    assert.deepEqual((payload['charging'] as Record<string, unknown>)['batteryChargeLevel'], level);
    assert.deepEqual(payload['chargingPower'], { value: null, unit: null, timestamp: null, reason: 'MISSING' });
  });

  it('answer the single values of the statistics and their group with one request', async () => {
    const { client } = open(['connected-v2']);
    const { payload } = await readSeveral(client, ['statistics', 'tripMeter1', ...statisticsMemberNames], { vin });
    assert.equal(requests.length, 1);
    const at = '2026-09-25T15:40:12.045Z';
    assert.deepEqual(payload['averageEnergyConsumption'], {
      value: 22.6,
      unit: 'kilowatt-hours per 100 kilometers',
      timestamp: at,
    });
    assert.deepEqual(payload['distanceToEmptyTank'], { value: 200, unit: 'miles', timestamp: at });
    assert.equal((payload['averageSpeedAutomatic'] as { value: unknown }).value, null);
    assert.equal((payload['distanceToEmptyBattery'] as { value: unknown }).value, null);
  });

  describe('distanceToEmpty', () => {
    const statistics = '/connected-vehicle/v2/vehicles/{vin}/statistics';
    const details = '/connected-vehicle/v2/vehicles/{vin}';
    const before = bodies[statistics];
    const told = { distanceToEmptyTank: number(0, 'km'), distanceToEmptyBattery: number(250, 'km') };
    beforeEach(() => {
      bodies[statistics] = { data: told };
    });
    afterEach(() => {
      bodies[statistics] = before;
      delete bodies[details];
    });
    const range = async (store = new MemoryStateStore(), clock = new ManualClock()): Promise<unknown> => {
      await account?.close();
      const { client } = open(['connected-v2'], { pack: new Pack({ store, clock }), shareForMs: 0 });
      const first = (await client.read('distanceToEmpty', { vin })).payload.value;
      assert.deepEqual((await client.read('distanceToEmpty', { vin })).payload.value, first);
      return first;
    };
    const asked = (): number => requests.filter(({ url = '' }) => url.endsWith(vin)).length;

    it('is that of the tank, of the battery or unknown by the fuel type, which is asked for once', async () => {
      for (const [fuelType, value] of [
        ['PETROL/ELECTRIC', 0],
        ['ELECTRIC', 250],
        ['NONE', 250],
        ['STEAM', null],
        [null, null],
      ] as const) {
        requests = [];
        bodies[details] = { data: { vin, fuelType } };
        assert.deepEqual([await range(), asked()], [value, 1], String(fuelType));
      }
    });

    it('is unknown for a car without details, which are read again an hour later', async () => {
      const clock = new ManualClock();
      const store = new MemoryStateStore();
      assert.equal(await range(store, clock), null);
      assert.equal(asked(), 1);
      bodies[details] = { data: { vin, fuelType: 'ELECTRIC' } };
      await clock.advance(60 * 60_000);
      const { payload } = await (account ?? assert.fail()).client.read('distanceToEmpty', { vin });
      assert.equal(payload.value, 250);
    });
  });

  it('are refused in a clear sentence, without a request, if the service lacks the interface', async () => {
    const { client } = open(['connected-v1']);
    for (const name of ['charging', 'chargingPower', 'location', 'fuel', 'averageSpeedAutomatic', 'details'] as const)
      await assert.rejects(
        client.read(name, { vin }),
        (error: VehicleError) => error.code === 'NOT_SUPPORTED' && /\bthis service does not\b/i.test(error.message),
        name,
      );
    assert.equal(requests.length, 0);
  });
});
