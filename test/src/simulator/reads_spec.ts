import { strict as assert } from 'node:assert';
import { classicCar, demoCar, electricCar } from '../../../src/simulator';
import { Bench } from './support';

const v1 = '/connected-vehicle/v1/vehicles';
const v2 = '/connected-vehicle/v2/vehicles';
const extended = '/extended-vehicle/v1/vehicles';
const start = '2026-06-01T08:00:00.000Z';

describe('the simulated service, read in the plain dialect', () => {
  const bench = new Bench();
  beforeEach(() => bench.start({ cars: [demoCar, classicCar, electricCar] }));
  afterEach(() => bench.simulator.close());

  it('shows pictures for a quarter of an hour', async () => {
    const url = String((await bench.get(`${v2}/{vin}`)).body['data']?.['images']?.['exteriorImageUrl']);
    const picture = await bench.raw(url);
    assert.equal(picture.status, 200);
    assert.equal(picture.headers.get('content-type'), 'image/svg+xml');
    const left = await bench.raw(url.replace('angle=0', 'angle=7'));
    assert.equal(left.status, 200);
    assert.notEqual(left.text, picture.text);
    await bench.clock.advance(15 * 60_000);
    assert.equal((await bench.raw(url)).status, 403);
    assert.equal((await bench.raw('/images/nothing')).status, 404);
  });

  it('has the resource of an opening true for open and ajar, false for closed, and null for any other word', async () => {
    const opened = async (name: string) =>
      (await bench.get(`${extended}/{vin}/resources/${name}`)).body['resourceValue']?.['value'];
    for (const [word, open] of [
      ['OPEN', true],
      ['AJAR', true],
      ['CLOSED', false],
      ['UNSPECIFIED', null],
      [null, null],
    ] as const) {
      bench.simulator.car().set({ windows: { rearRight: word }, doors: { hood: word } });
      assert.deepEqual([await opened('rearRightWindowOpen'), await opened('hoodOpen')], [open, open], String(word));
    }
  });
});

describe('the simulated service, read in the real dialect', () => {
  const bench = new Bench();
  beforeEach(() => bench.start({ dialect: 'real' }));
  afterEach(() => bench.simulator.close());

  it('wraps v1 in status and operation id, and keeps the names of the specification there', async () => {
    const { body } = await bench.getV1(`${v1}/{vin}/doors`);
    assert.equal(body['status'], 200);
    assert.match(String(body['operationId']), /^[\da-f-]{36}$/);
    assert.deepEqual(body['data']?.['tailGate'], { value: 'CLOSED', timestamp: start });
    assert.equal('tankLid' in (body['data'] as object), false);
  });

  it('lists commands in capitals, with relative addresses that lack the interface', async () => {
    const { data } = (await bench.get(`${v2}/{vin}/commands`)).body;
    assert.deepEqual(
      data,
      [
        ['LOCK', 'lock'],
        ['LOCK_REDUCED_GUARD', 'lock-reduced-guard'],
        ['UNLOCK', 'unlock'],
        ['FLASH', 'flash'],
        ['HONK', 'honk'],
        ['HONK_AND_FLASH', 'honk-flash'],
        ['CLIMATIZATION_START', 'climatization-start'],
        ['CLIMATIZATION_STOP', 'climatization-stop'],
        ['ENGINE_START', 'engine-start'],
        ['ENGINE_STOP', 'engine-stop'],
      ].map(([command, path]) => ({ command, href: `/v2/vehicles/${bench.vin}/commands/${path}` })),
    );
  });

  it('serves the further groups of v2 from the same car', async () => {
    const car = bench.simulator.car().set({
      engineRunning: true,
      resources: {
        fuelAmount: 12,
        tripMeter1: 219.7,
        oilLevel: 'VERY_HIGH',
        frontLeftTyrePressure: 'LOWHARD',
        serviceWarningStatus: 'TIME_EXCEEDED',
        serviceWarningTrigger: 'DISTANCE',
        bulbFailure: 'LOW_BEAM_LEFT',
        odometer: null,
      },
    });
    assert.equal(car.resource('engineRunning'), true);
    const member = async (group: string, name: string) =>
      (await bench.get(`${v2}/{vin}/${group}`)).body['data']?.[name];
    const leaf = (value: unknown, unit: string | null = null) => ({
      timestamp: '2026-06-01T08:00:00.000000000Z',
      unit,
      value,
    });
    assert.deepEqual(await member('fuel', 'fuelAmount'), leaf(12, 'l'));
    assert.equal(await member('fuel', 'batteryChargeLevel'), null);
    assert.deepEqual(await member('statistics', 'tripMeterManual'), { ...leaf(219.7, 'km'), timestamp: start });
    assert.deepEqual(await member('engine', 'oilLevelWarning'), leaf('TOO_HIGH'));
    assert.deepEqual(await member('engine-status', 'engineStatus'), leaf('RUNNING'));
    assert.deepEqual(await member('tyres', 'frontLeft'), leaf('VERY_LOW_PRESSURE'));
    assert.deepEqual(await member('tyres', 'rearLeft'), leaf('NO_WARNING'));
    assert.deepEqual(await member('diagnostics', 'serviceWarning'), leaf('DISTANCE_DRIVEN_OVERDUE_FOR_SERVICE'));
    assert.deepEqual(await member('diagnostics', 'timeToService'), leaf(7, 'months'));
    assert.deepEqual(await member('warnings', 'lowBeamLeftWarning'), leaf('FAILURE'));
    assert.deepEqual(await member('warnings', 'lowBeamRightWarning'), leaf('NO_WARNING'));
    assert.deepEqual(await member('brakes', 'brakeFluidLevelWarning'), leaf('NO_WARNING'));
    assert.equal(await member('odometer', 'odometer'), null);
  });
});
