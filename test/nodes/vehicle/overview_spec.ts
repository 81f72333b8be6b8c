import { strict as assert } from 'node:assert';
import { type CommandRecord, type Reading, type ReadName } from '../../../src/index';
import { Overview } from '../../../nodes/runtime';

const vin = 'YV1CT9551B1570982';
const reading = (payload: unknown, receivedAt = '2026-11-22T10:00:00.000Z'): Reading => ({
  payload,
  vehicle: { vin, read: 'windows', interface: 'connected-v2', receivedAt, measuredAt: null, source: 'live' },
});
const member = (value: unknown, timestamp: unknown = null): object => ({ value, timestamp });

describe('What the tab "Cars" knows of a car', () => {
  let overview: Overview;
  let now: string;
  beforeEach(() => {
    now = '2026-11-22T10:00:05.000Z';
    overview = new Overview('demo', () => undefined);
  });
  const remember = (read: ReadName, whose: string, one: Reading): unknown =>
    overview.remember(read, whose, one, { at: Date.parse(now), skewMs: 0 });
  const observe = (read: ReadName, payload: unknown, receivedAt?: string): unknown =>
    remember(read, vin, reading(payload, receivedAt));
  const value = (name: string): unknown => (overview.car(vin).facts as Record<string, { value: unknown }>)[name]?.value;

  it('takes openings and the lock from groups and from single values, each with its time', () => {
    observe('windows', { frontLeft: member('OPEN', '2026-11-22T09:00:00.000Z'), rearLeft: member('AJAR') });
    observe('doors', { hood: member('CLOSED'), carLocked: member('LOCKED') });
    observe('rearRightWindowOpen', member(true));
    assert.deepEqual(['frontLeftWindow', 'rearLeftWindow', 'rearRightWindow', 'hood', 'carLocked'].map(value), [
      'open',
      'ajar',
      'open',
      'closed',
      true,
    ]);
    assert.deepEqual(overview.car(vin).facts['frontLeftWindow'], {
      value: 'open',
      unit: null,
      measuredAt: '2026-11-22T09:00:00.000Z',
      receivedAt: '2026-11-22T10:00:00.000Z',
    });
  });

  it('never calls an opening closed or a lock locked that the car does not report', () => {
    for (const word of [null, undefined, '', 'UNSPECIFIED', 'closed', 0, {}, ['CLOSED'], 'LOCKED?']) {
      observe('windows', { frontLeft: member(word) });
      observe('doors', { hood: member(word), carLocked: member(word) });
      assert.deepEqual(['frontLeftWindow', 'hood', 'carLocked'].map(value), [null, null, null], String(word));
    }
    observe('windows', { frontRight: null, rearLeft: 'CLOSED' });
    assert.deepEqual(['frontRightWindow', 'rearLeftWindow'].map(value), [undefined, undefined]);
  });

  it('knows what a car does not have', () => {
    observe('windows', { sunroof: member('UNSPECIFIED') });
    observe('doors', { tankLid: member('UNSPECIFIED') });
    assert.deepEqual(['sunroof', 'tankLid'].map(value), [null, 'absent']);
    const { payload, vehicle: info } = reading({ sunroof: member('UNSPECIFIED') });
    remember('windows', vin, { payload, vehicle: { ...info, absent: ['sunroof'] } });
    assert.equal(value('sunroof'), 'absent');
    for (const [state, shown] of [
      ['CLOSED', 'closed'],
      ['UNSPECIFIED', null],
      ['UNSPECIFIED', null],
    ]) {
      observe('doors', { tankLid: member(state) });
      assert.equal(value('tankLid'), shown, 'a car that told of it has it');
    }
  });

  it('takes a value that the service says the car cannot have for absent, and one that it does not find for unknown', () => {
    observe('charging', {
      batteryChargeLevel: { value: null, reason: 'NOT_SUPPORTED' },
      chargingStatus: { value: null, reason: 'PROPERTY_NOT_FOUND' },
    });
    assert.deepEqual(['batteryChargeLevel', 'chargingStatus'].map(value), ['absent', null]);
  });

  it('takes no answer in place of a newer one', () => {
    observe('carLocked', member(false), '2026-11-22T10:00:05.000Z');
    observe('carLocked', member(true), '2026-11-22T10:00:00.000Z');
    assert.equal(value('carLocked'), false);
  });

  it('takes a new answer after the clock of the machine was set back', () => {
    now = '2026-11-22T09:00:00.000Z';
    observe('carLocked', member(true), '2026-11-22T10:00:00.000Z');
    observe('carLocked', member(false), '2026-11-22T09:00:00.000Z');
    assert.equal(value('carLocked'), false);
  });

  it('keeps nothing of a position, of unknown members, of long texts and of bodies that are not objects', () => {
    observe('windows', Object.fromEntries([...Array(10_000).keys()].map((n) => [`w${n}`, member('OPEN')])));
    observe('windows', { __proto__: member('OPEN'), constructor: member('OPEN') });
    for (const payload of [null, [], 'OPEN', 7]) observe('windows', payload);
    observe('fuelAmount', { latitude: member(57.7), longitude: member(11.9) });
    assert.deepEqual(
      overview.cars.flatMap(({ facts }) => Object.keys(facts)),
      [],
    );
    observe('details', { descriptions: { model: 'x'.repeat(1000) } });
    assert.ok(JSON.stringify(overview.cars).length < 500);
  });

  it('keeps 20 cars, those that were read last', () => {
    const vins = [...Array(21).keys()].map((n) => `YV1CT9551B15709${String(n).padStart(2, '0')}`);
    for (const one of [...vins.slice(0, 20), vins[0], vins[20]])
      remember('carLocked', one ?? '', reading(member(true)));
    assert.deepEqual(
      overview.cars.map((car) => car.vin).sort(),
      vins.filter((one) => one !== vins[1]),
    );
  });

  it('lists a command until the last of the nodes that follow it has ended', () => {
    const record = { id: 'x', vin, command: 'lock', sentAt: '2026-11-22T10:00:00.000Z', requestStatus: null };
    const [one, other] = [overview.follow(record as CommandRecord), overview.follow(record as CommandRecord)];
    const listed = (): unknown[] => overview.followed.map(({ requestStatus }) => requestStatus);
    one.update('DELIVERED');
    assert.deepEqual(listed(), ['DELIVERED']);
    other.end();
    assert.deepEqual(listed(), ['DELIVERED']);
    one.update('COMPLETED');
    assert.deepEqual(listed(), ['COMPLETED']);
    one.end();
    assert.deepEqual(listed(), []);
  });

  it('keeps no car that was only asked for, and forgets none for it', () => {
    observe('carLocked', member(true));
    for (const n of Array(30).keys()) overview.car(`YV1CT9551B15709${String(n).padStart(2, '0')}`);
    assert.deepEqual(
      overview.cars.map((car) => car.vin),
      [vin],
    );
    assert.equal(value('carLocked'), true);
  });

  it('gives a car the same key when it comes back, another one in another configuration, and none that reveals its VIN', () => {
    const { key } = overview.car(vin);
    observe('carLocked', member(true));
    for (const n of Array(30).keys())
      remember('carLocked', `YV1CT9551B15709${String(n).padStart(2, '0')}`, reading(member(true)));
    assert.equal(value('carLocked'), undefined);
    observe('carLocked', member(true));
    assert.equal(overview.car(vin).key, key);
    assert.notEqual(new Overview('demo', () => undefined).car(vin).key, key);
    assert.ok(!key.includes(vin.slice(-6)));
  });
});
