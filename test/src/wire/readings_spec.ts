import { strict as assert } from 'node:assert';
import { resourceNames, resources, type Resource, type ResourceName } from '../../../src/catalogue/reads';
import type { VehicleError } from '../../../src/errors';
import {
  parseAccessibility,
  parseDetails,
  parseOpenings,
  parseResource,
  parseVehicles,
} from '../../../src/wire/readings';
import { toTimestamp } from '../../../src/wire/schemas';

const context = { interface: 'connected-v1', isFitted: null, burnsFuel: null, receivedAt: 0 } as const;
const parseWindows = (body: unknown) => parseOpenings('windows', body, context);
const parseDoors = (body: unknown) => parseOpenings('doors', body, context);

const at = '2026-08-21T08:01:46.865571Z';
const atIso = '2026-08-21T08:01:46.865Z';
const member = (value: unknown): object => ({ value, timestamp: at, unit: null });

describe('windows and doors', () => {
  const closedV1 = {
    frontLeft: member('CLOSED'),
    frontRight: member('CLOSED'),
    rearLeft: member('CLOSED'),
    rearRight: member('CLOSED'),
  };

  const unreadable: [what: string, value: unknown][] = [
    ['missing', undefined],
    ['null', null],
    ['an object with null inside', { value: null, timestamp: null }],
    ['null with a time', member(null)],
    ['UNSPECIFIED', member('UNSPECIFIED')],
    ['a new word', member('HALF')],
    ['a lower-case word', member('closed')],
    ['a number', member(0)],
    ['false', member(false)],
    ['a nested object', member({ value: 'CLOSED' })],
    ['a bare word', 'CLOSED'],
    ['a list', [member('CLOSED')]],
    ['an empty word', member('')],
  ];

  it('never reads a member without a known word as closed, locked or unlocked, and still reads its neighbors', () => {
    for (const [what, value] of unreadable) {
      const { payload, openness } = parseWindows({ data: { ...closedV1, rearLeft: value } });
      assert.deepEqual(openness, { open: [], unknown: ['rearLeft'], allClosed: null }, what);
      assert.equal(payload['frontRight']?.value, 'CLOSED', what);
      // An unknown value has no time.
      if (payload['rearLeft']?.value === null) assert.equal(payload['rearLeft'].timestamp, null, what);
      const doors = { carLocked: value, ...closedV1, tailGate: member('CLOSED'), hood: member('CLOSED') };
      const expected = { open: [], unknown: ['carLocked'], allClosed: true, locked: null };
      assert.deepEqual(parseDoors({ data: doors }).openness, expected, what);
    }
  });

  it('has only unknown values for an empty body, and rejects a body of another kind', () => {
    assert.equal(parseWindows({}).openness?.allClosed, null);
    assert.equal(parseWindows({ data: null }).openness?.allClosed, null);
    for (const body of [[], 'CLOSED', 7, null, undefined, { data: [] }, { data: 'x' }]) {
      assert.throws(
        () => parseWindows(body),
        (error: VehicleError) => error.code === 'BAD_RESPONSE',
      );
    }
  });

  it('does not believe a body that contradicts itself about a member', () => {
    const doors = parseDoors({
      data: {
        ...closedV1,
        frontLeftDoor: member('OPEN'),
        carLocked: member('LOCKED'),
        centralLock: member('UNLOCKED'),
        tailGate: member('CLOSED'),
        tailgate: member('CLOSED'),
        hood: member('CLOSED'),
      },
    });
    assert.deepEqual(doors.openness, { open: [], unknown: ['carLocked', 'frontLeft'], allClosed: null, locked: null });
    assert.equal(
      parseDoors({ data: { carLocked: member('UNLOCKED'), centralLock: member('UNSPECIFIED') } }).openness?.locked,
      false,
    );
  });

  it('lets no member reach the prototype', () => {
    const { payload } = parseDoors(
      JSON.parse('{"data":{"__proto__":{"value":"OPEN"},"constructor":{"value":"OPEN"}}}'),
    );
    assert.equal(payload['constructor']?.value, 'OPEN');
    assert.equal(Object.getPrototypeOf(payload), Object.prototype);
  });
});

describe('timestamps', () => {
  const timestamps: [input: unknown, expected: string | null][] = [
    ['2026-08-21T08:01:46.865571Z', '2026-08-21T08:01:46.865Z'],
    ['2024-12-17T23:15:12.123Z', '2024-12-17T23:15:12.123Z'],
    ['2023-02-11T18:19:16Z', '2023-02-11T18:19:16.000Z'],
    ['2023-02-11T18:19:16', '2023-02-11T18:19:16.000Z'],
    ['2023-02-11T20:19:16+02:00', '2023-02-11T18:19:16.000Z'],
    [1_599_996_619, '2020-09-13T11:30:19.000Z'],
    [1_599_233_422_000, '2020-09-04T15:30:22.000Z'],
    ['1599233422000', '2020-09-04T15:30:22.000Z'],
    [' 1599996619 ', '2020-09-13T11:30:19.000Z'],
    [' 2023-02-11T18:19:16Z ', '2023-02-11T18:19:16.000Z'],
    [1e11, '5138-11-16T09:46:40.000Z'],
    [1e14, '5138-11-16T09:46:40.000Z'],
    [8.64e18, '+275760-09-13T00:00:00.000Z'],
    [8.65e18, null],
    ['x1599996619', null],
    ['1599996619s', null],
    [1_599_233_422_000_000, '2020-09-04T15:30:22.000Z'],
    ['yesterday', null],
    ['2026-13-45T99:99:99Z', null],
    ['', null],
    [0, null],
    [-5, null],
    [Number.NaN, null],
    [null, null],
    [undefined, null],
    [{}, null],
  ];

  it('are read as text or as a number of seconds, milliseconds or microseconds', () => {
    for (const [input, expected] of timestamps) assert.equal(toTimestamp(input), expected, String(input));
  });
});

/** A value on the wire that fits the row, as text and as JSON. */
const sample = (resource: Resource): { text: string; value: unknown } => {
  if (resource.kind === 'boolean') return { text: 'true', value: true };
  if (resource.kind === 'enum') return { text: resource.values[0] as string, value: resource.values[0] };
  return resource.kind === 'double' ? { text: '6.5', value: 6.5 } : { text: '42', value: 42 };
};

describe('extended resources', () => {
  it('are read in every envelope, as text and as JSON', () => {
    for (const name of resourceNames) {
      const resource: Resource = resources[name];
      const { text, value } = sample(resource);
      const unit = 'unit' in resource ? resource.unit : null;
      const expected = { value, unit, timestamp: '2023-06-12T08:00:00.000Z' };
      for (const wire of [text, value])
        for (const timestamp of [1_686_556_800_000, 1_686_556_800, '2023-06-12T08:00:00.000000Z']) {
          const measured = { value: wire, timestamp, unit: null };
          for (const body of [
            { [name]: measured },
            { data: { [name]: measured } },
            { resourceValue: measured },
            { data: measured },
            measured,
          ])
            assert.deepEqual(parseResource(name, body).payload, expected, name);
        }
    }
  });

  it('are unknown if the value is missing, null, empty or of another type', () => {
    const numbers = ['', ' ', 'full', '1e', true, '0x10'];
    const odd = {
      enum: [5, true],
      boolean: [0, 1, 'maybe', 'CLOSED!'],
      double: numbers,
      integer: numbers,
      number: numbers,
    };
    for (const name of resourceNames) {
      for (const value of [undefined, null, '', {}, [], ...odd[resources[name].kind]])
        assert.equal(
          parseResource(name, { [name]: { value } }).payload.value,
          null,
          `${name} ${JSON.stringify(value)}`,
        );
      for (const body of [{}, { [name]: null }]) assert.equal(parseResource(name, body).payload.value, null, name);
    }
  });

  const value = (name: ResourceName, wire: unknown): unknown =>
    parseResource(name, { [name]: { value: wire } }).payload.value;

  it('passes on a new word and shows what did not fit', () => {
    assert.equal(value('brakeFluid', 'VERY_VERY_LOW'), 'VERY_VERY_LOW');
    assert.deepEqual(parseResource('fuelAmount', { fuelAmount: { value: 'plenty' } }).payload, {
      value: null,
      unit: 'liters',
      timestamp: null,
      raw: { value: 'plenty', unit: null },
    });
  });
});

describe('details, lists and accessibility', () => {
  it('reads details with missing members, null or text', () => {
    assert.deepEqual(
      parseDetails({
        data: {
          vin: 'V',
          modelYear: '2024',
          gearbox: null,
          images: null,
          descriptions: { model: 'EX30', upholstery: 'null' },
        },
      }).payload,
      {
        vin: 'V',
        modelYear: 2024,
        gearbox: null,
        fuelType: null,
        externalColour: null,
        images: { exteriorImageUrl: null, internalImageUrl: null, sides: {} },
        descriptions: { model: 'EX30', steering: null, upholstery: null },
      },
    );
    assert.equal(parseDetails({ data: { batteryCapacityKWH: 66.5 } }).payload.batteryCapacityKWH, 66.5);
    const { images } = parseDetails({ data: { images: { exteriorImageUrl: '', internalImageUrl: ' ' } } }).payload;
    assert.deepEqual(images, { exteriorImageUrl: null, internalImageUrl: null, sides: {} });
  });

  it('reads details that share nothing with those of another car, because a flow can change them', () => {
    const [one, other] = [parseDetails({ data: {} }), parseDetails({ data: {} })];
    Object.assign(one.payload.descriptions, { model: 'EX30' });
    Object.assign(one.payload.images, { exteriorImageUrl: 'https://example.test' });
    assert.equal(other.payload.descriptions.model, null);
    assert.equal(other.payload.images.exteriorImageUrl, null);
    assert.equal(parseDetails({ data: {} }).payload.descriptions.model, null);
  });

  const sidesOf = (exteriorImageUrl: unknown) =>
    parseDetails({ data: { images: { exteriorImageUrl, internalImageUrl: '' } } }).payload.images.sides;

  it('names the pictures of all eight sides by the angle in the address of one, whose other parts it keeps', () => {
    const address = (angle: number): string =>
      `https://cas.volvocars.com/image/default.png?market=gb&w=1920&bg=00000000&angle=${angle}&fallback`;
    assert.deepEqual(sidesOf(address(5)), {
      frontRight: address(0),
      right: address(1),
      backRight: address(2),
      front: address(3),
      frontLeft: address(4),
      backLeft: address(5),
      back: address(6),
      left: address(7),
    });
  });

  it('names the pictures of six sides by the word in the path of the address of one', () => {
    const address = (side: string): string =>
      `https://wizz.volvocars.com/images/2024/123/exterior/v2/${side}/a.png?w=1`;
    assert.deepEqual(sidesOf(address('threeQuartersFrontLeft')), {
      right: address('right'),
      front: address('front'),
      frontLeft: address('threeQuartersFrontLeft'),
      backLeft: address('threeQuartersRearLeft'),
      back: address('rear'),
      left: address('left'),
    });
  });

  it('names no pictures of sides for an address of another form, or of another scheme than http and https', () => {
    for (const address of [
      '',
      null,
      7,
      'front',
      'https://wizz.volvocars.com/images/default.png?angled=1',
      'https://wizz.volvocars.com/images/constructor/default.png',
      'javascript:alert(1)//x?angle=0',
      'data:image/svg+xml,x?angle=0',
      'file:///images/front/default.png',
    ])
      assert.deepEqual(sidesOf(address), {}, String(address));
  });

  it('does not mistake a missing list for an empty one', () => {
    for (const body of [{}, { data: null }, { data: {} }, 'x']) {
      assert.throws(
        () => parseVehicles(body),
        (error: VehicleError) => error.code === 'BAD_RESPONSE',
      );
    }
  });

  it('finds the reason inside, beside, and nowhere', () => {
    const status = { value: 'UNAVAILABLE', timestamp: at };
    const expected = { value: 'UNAVAILABLE', unavailableReason: 'CAR_IN_USE', timestamp: atIso };
    assert.deepEqual(
      parseAccessibility({ data: { availabilityStatus: { ...status, unavailableReason: 'CAR_IN_USE' } } }).payload,
      expected,
    );
    assert.deepEqual(
      parseAccessibility({
        data: { availabilityStatus: status, unavailableReason: { value: 'CAR_IN_USE', unit: null } },
      }).payload,
      expected,
    );
    assert.equal(
      parseAccessibility({ data: { availabilityStatus: { ...status, unavailableReason: null } } }).payload
        .unavailableReason,
      null,
    );
    assert.deepEqual(parseAccessibility({ data: {} }).payload, {
      value: null,
      unavailableReason: null,
      timestamp: null,
    });
  });
});
