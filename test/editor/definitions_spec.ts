import { strict as assert } from 'node:assert';
import type { ObjectExpression } from 'acorn';
import { vehicleCredentials } from '../../nodes/runtime';
import { browserBytes } from '../support/browser-bytes';
import {
  definition,
  icons,
  languages,
  literal,
  page,
  propertiesOf,
  registration,
  template,
  types,
  type HeldNode,
} from '../support/editor-halves';
import { nodeOptions } from '../support/node-options';

/** Properties that a list of the form's own holds. */
const listed = new Set(['reads', 'watch', 'minutesFor', 'access', 'interfaces', 'events', 'places', 'conditions']);

/** Names that the editor keeps for itself. */
const reserved =
  /^(.|id|type|wires|inputs|outputs|changed|dirty|moved|selected|users|valid|validationErrors|inputLabels|outputLabels|_config|_def|_orig)$/;

const defaultsOf = (type: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(definition(type).defaults).map(([name, { value }]) => [name, value]));

describe('The editor halves', () => {
  for (const type of types) {
    describe(type, () => {
      it('can be read by a parser that runs nothing: type, category, color, icon and defaults', () => {
        const { name, properties } = registration(type);
        assert.equal(name, type);
        for (const property of ['category', 'color', 'icon'] as const)
          assert.equal(literal(properties.get(property)!), definition(type)[property]);
        const defaults = propertiesOf(properties.get('defaults') as ObjectExpression);
        const values = [...defaults].map(([property, object]) => [
          property,
          literal(propertiesOf(object as ObjectExpression).get('value')!),
        ]);
        assert.deepEqual(Object.fromEntries(values), structuredClone(defaultsOf(type)));
      });

      it('takes no name that the editor keeps for itself', () => {
        assert.deepEqual(
          Object.keys(defaultsOf(type)).filter((name) => reserved.test(name)),
          [],
        );
      });

      it('explains what is invalid: each validator declares the two arguments that let it return a reason', () => {
        const { defaults, credentials = {} } = definition(type);
        for (const { validate } of [...Object.values(defaults), ...Object.values(credentials)])
          assert.ok(validate === undefined || validate.length === 2);
      });

      it('has its icon beside it, and a color that its label can be read on', () => {
        const { icon, color } = definition(type);
        assert.ok(icons.includes(icon), icon);
        assert.ok(contrast(color, '#333333') >= 4.5, color);
      });

      it('has a field for each property, and a label for each field', () => {
        const form = template(type);
        const { category, defaults, credentials = {} } = definition(type);
        const prefix = category === 'config' ? 'node-config-input-' : 'node-input-';
        const fields = [...form.matchAll(/<(?:input|select|textarea)[^>]*\sid="([^"]*)"/g)].map(([, id]) => id);
        const hidden = new Set([...form.matchAll(/<input type="hidden" id="([^"]*)"/g)].map(([, id]) => id));
        const own = [...Object.keys(defaults), ...Object.keys(credentials)].filter((name) => !listed.has(name));
        for (const name of own) assert.ok(fields.includes(prefix + name), name);
        for (const id of fields) {
          const isNamed = form.includes(`<label for="${id}"`) || new RegExp(`id="${id}"[^>]*aria-label`).test(form);
          assert.ok(isNamed || hidden.has(id), id);
        }
        assert.equal(fields.length, (form.match(/<(input|select|textarea)/g) ?? []).length);
      });

      it('asks for each secret in a field that hides it', () => {
        for (const [name, { type: kind }] of Object.entries(definition(type).credentials ?? {}))
          assert.match(template(type), new RegExp(`<input type="${kind}" id="node-config-input-${name}"`), name);
        // The client id is not a secret: it is in the address of every sign-in.
        const readable = Object.entries(definition(type).credentials ?? {}).filter(
          ([, { type: kind }]) => kind === 'text',
        );
        assert.deepEqual(
          readable.map(([name]) => name),
          type === 'connected-vehicle' ? ['clientId'] : [],
        );
      });
    });
  }

  for (const [type, shape] of Object.entries(nodeOptions)) {
    it(`${type} stores what its runtime half reads, with defaults that it takes`, () => {
      const defaults = structuredClone(defaultsOf(type));
      assert.deepEqual(shape.parse(defaults), defaults);
      // Empty, these two are the profile's own; the form shows what that is for `custom`.
      // A new configuration also reads charging and position; one that is older than
      // the property does not.
      const access = ['lock', 'unlock', 'honk-flash'];
      const profile = type === 'connected-vehicle' ? { apiKeyHeader: '', mediaTypeVendor: '', access } : {};
      // A new command node locks; a flow that names no command takes it from the message.
      const command = type === 'connected-vehicle-command' ? { command: '' } : {};
      // A new node sends at any time; a flow that is older than the choice has quiet hours alone.
      const hours = 'hours' in defaults ? { hours: 'not' } : {};
      assert.deepEqual(shape.parse({}), { ...defaults, ...profile, ...command, ...hours });
    });
  }

  it('are all in the list of their options', () => {
    assert.deepEqual(Object.keys(nodeOptions), types);
  });

  it('ask for the credentials that the runtime half reads', () => {
    assert.deepEqual(
      Object.keys(definition('connected-vehicle').credentials ?? {}),
      Object.keys(vehicleCredentials.parse({})),
    );
  });

  it('share one color and one heading of the palette', () => {
    const shown = types.filter((type) => type !== 'connected-vehicle').map((type) => definition(type));
    assert.deepEqual(new Set(types.map((type) => definition(type).color)).size, 1);
    assert.deepEqual([...new Set(shown.map(({ category }) => category))], ['connected vehicle']);
  });

  it('load the shared script before their own, so that they work in any order', () => {
    for (const type of types) {
      const [, source] = /<script src="([^"]*)"><\/script>/.exec(page(type)) ?? [];
      assert.equal(source, 'resources/@connected-vehicle/node-red/connected-vehicle.js', type);
    }
  });

  it('take less than 130 KB in English and 140 KB in another language, not compressed', () => {
    for (const language of languages) {
      const bytes = Object.values(browserBytes(language)).reduce((sum, part) => sum + part, 0);
      assert.ok(bytes < (language === 'en-US' ? 130 : 140) * 1024, `${language}: ${(bytes / 1024).toFixed(1)} KB`);
    }
  });

  it('name each port', () => {
    for (const { inputs = 0, outputs = 0, inputLabels, outputLabels } of types.map((type) => definition(type))) {
      if (inputs > 0) assert.match(inputLabels?.() ?? '', /port\./);
      for (let port = 0; port < outputs; port += 1) assert.match(outputLabels?.(port) ?? '', /port\./);
    }
  });
});

type Verdict = [type: string, property: string, node: object, says: true | string, ...values: unknown[]];

const ofCar = 'connected-vehicle';
const [ofStatus, ofCommand, ofGuard, ofEvent] = ['status', 'command', 'guard', 'event'].map(
  (type) => `${ofCar}-${type}`,
) as [string, string, string, string];
const custom = { service: 'custom' };
const volvo = { service: 'volvo-cars' };
const demo = { service: 'demo' };
const vins = ['', 'YV1CT9551B1570982', ' yv1ct9551b1570982 '];
const noVins = ['YV1CT9551B157098', 'YV1CT9551B15709822', 'YV1CT9551B157098-', '<b>'];
const addresses = (text: string): string[] => text.trim().split(/\s+/);
const otherPaths = addresses(`http://localhost http://localhost:1880/callback
  https://red.example/connected-vehicle/callback/ https://red.example/?to=/connected-vehicle/callback`);
const refusedRedirects = [
  'https://red.example/connected- vehicle/callback',
  ...addresses(`http://127.0.0.1:1880/connected-vehicle/callback http://homeassistant.local:1880/connected-vehicle/callback
    http://localhost.example/ http://LOCALHOST:1880/ HTTPS://red.example/ https://red.example/#top
    https://user:word@red.example/ https:/red.example/connected-vehicle/callback localhost:1880`),
];
const safeAddresses = addresses(`https://api.example.com https://api.example.com:8443/base
  http://localhost:8080 http://127.0.0.1:8080 http://[::1]:8080`);
const insecureAddresses = addresses(`http://example.com http://localhost.example.com http://127.0.0.1.example.com
  ftp://example.com javascript:alert(1)`);
const redirects = addresses(`https://red.example/a/connected-vehicle/callback?b=c
  http://localhost/red/connected-vehicle/callback`);

/**
 * The answer of a validator for values of a property: true, or the key of its reason; one without a
 * dot is shared by the forms.
 */
const verdicts: Record<string, Verdict[]> = {
  'take a VIN of 17 letters and digits in either case, spaces around it, and no VIN at all': [
    ofCar,
    ofStatus,
    ofCommand,
  ].flatMap((type): Verdict[] => [
    [type, 'vin', {}, true, ...vins],
    [type, 'vin', {}, 'vin', ...noVins],
  ]),
  'take a base URL with https, or with http on this machine, and only if the service is custom': [
    [ofCar, 'baseUrl', custom, true, ...safeAddresses],
    [ofCar, 'baseUrl', custom, 'addressInsecure', ...insecureAddresses],
    [ofCar, 'baseUrl', custom, 'address', '', 'example.com', 'https://'],
    [ofCar, 'baseUrl', custom, 'addressSecret', 'https://user:word@example.com'],
    [ofCar, 'baseUrl', demo, true, ''],
  ],
  'take empty sign-in addresses, because pasted tokens need none': ['authorizeUrl', 'tokenUrl'].flatMap(
    (property): Verdict[] => [
      [ofCar, property, custom, true, ''],
      [ofCar, property, custom, 'addressInsecure', 'http://example.com'],
    ],
  ),
  'take a redirect URL that services accept, which compare it as text, and that Node-RED answers at': [
    [ofCar, 'redirectUrl', volvo, true, '', ' http://localhost:1/connected-vehicle/callback ', ...redirects],
    [ofCar, 'redirectUrl', volvo, 'redirectPath', ...otherPaths],
    [ofCar, 'redirectUrl', volvo, 'redirectUrl', ...refusedRedirects],
    [ofCar, 'redirectUrl', custom, 'redirectUrl', ...refusedRedirects],
    [ofCar, 'redirectUrl', demo, true, ...otherPaths, ...refusedRedirects],
  ],
  'ask for an API key wherever there is a service': [
    [ofCar, 'apiKey', demo, true, ''],
    [ofCar, 'apiKey', volvo, 'apiKey', ' '],
    [ofCar, 'apiKey', custom, true, '__PWRD__'],
  ],
  'ask for client ID and client secret if a driver signs in to Volvo Cars': ['clientId', 'clientSecret'].flatMap(
    (name): Verdict[] => [
      [ofCar, name, volvo, 'client', ' '],
      [ofCar, name, volvo, true, 'x'],
      [ofCar, name, demo, true, ''],
      [ofCar, name, custom, true, ''],
    ],
  ),
  'take a header name and a media type vendor that a request can carry': [
    [ofCar, 'apiKeyHeader', custom, true, 'vcc-api-key', ''],
    [ofCar, 'apiKeyHeader', custom, 'apiKeyHeader', 'a key', 'key:', 'schlüssel'],
    [ofCar, 'mediaTypeVendor', custom, true, 'volvocars'],
    [ofCar, 'mediaTypeVendor', custom, 'mediaTypeVendor', 'a b', 'a/b', 'a.b'],
  ],
  'take an unlock duration of 1 to 120 whole seconds, or none': [
    [ofCommand, 'unlockDuration', {}, true, '', '1', 120, '120'],
    [ofCommand, 'unlockDuration', {}, 'between', '0', '121', '1.5', 'ten', ' '],
  ],
  'take whole numbers from their minimum up': [
    [ofStatus, 'poll', {}, true, '0'],
    [ofStatus, 'poll', {}, 'atLeast', '-1', '', '1.5', 'x'],
    [ofGuard, 'poll', {}, 'atLeast', 0.01, '0.5'],
    [`${ofCommand}-status`, 'timeout', {}, 'atLeast', '0'],
    [`${ofCommand}-status`, 'interval', {}, 'atLeast', '0'],
    [ofCar, 'requestsPerDay', {}, true, 10_000],
    [ofCar, 'commandsPerMinute', {}, 'atLeast', '0'],
  ],
  'take hours as two times of day, or none if the flow has none': [ofGuard, ofEvent].flatMap((type): Verdict[] => [
    [type, 'quietHours', {}, true, '', ' ', '22:00-07:00', '9:30 – 17:45'],
    ...[undefined, 'only', 'not'].flatMap((hours): Verdict[] => [
      [type, 'quietHours', { hours }, 'hours', '22-7', '24:00-07:00', 'night'],
      [type, 'quietHours', { hours }, 'hoursEqual', '22:00-22:00', '7:00-07:00'],
    ]),
    [type, 'quietHours', { hours: 'only' }, 'hours', ''],
    // It leaves nothing out, and is not used.
    [type, 'quietHours', { hours: 'not' }, true, ''],
    [type, 'quietHours', { hours: 'always' }, true, 'night'],
    [type, 'timeZone', {}, true, '', 'Europe/Berlin', ' America/New_York '],
    [type, 'timeZone', {}, 'timeZone', 'Berlin', 'Nowhere/Land', '+02:00'],
  ]),
  'take minutes of single kinds, and at least one thing to watch': [
    [ofGuard, 'minutesFor', {}, true, {}, { lock: 3 }, { lock: '3', window: 0 }],
    [ofGuard, 'minutesFor', {}, `${ofGuard}.reason.minutesFor`, { lock: 'abc' }, { lock: -1 }, { window: '1.5' }],
    [ofGuard, 'watch', {}, `${ofGuard}.reason.nothing`, []],
    [ofGuard, 'watch', {}, true, ['window']],
  ],
  'judge a value of a typed input by its own rule, and a source by whether it is named': [
    [ofStatus, 'vin', { vinType: 'flow' }, true, 'car.vin'],
    [ofStatus, 'vin', { vinType: 'flow' }, 'source', ' '],
    [ofStatus, 'vin', { vinType: 'str' }, 'vin', 'car.vin'],
    [ofCommand, 'unlockDuration', { unlockDurationType: 'msg' }, true, 'seconds'],
    [ofGuard, 'minutes', { minutesType: 'env' }, true, 'MINUTES'],
    [ofGuard, 'minutes', { minutesType: 'num' }, `${ofGuard}.label.after: ${ofCar}.reason.atLeast`, 'ten'],
    [ofStatus, 'poll', { readType: 'msg' }, `${ofStatus}.reason.pollMessage`, '60'],
    [ofStatus, 'poll', { readType: 'msg' }, true, '0'],
  ],
  'ask for at least one read if several are wanted': [
    [ofStatus, 'reads', { read: 'windows' }, true, []],
    [ofStatus, 'reads', { read: 'several' }, `${ofStatus}.noReads`, []],
    [ofStatus, 'reads', { read: 'several' }, true, ['doors']],
    [ofStatus, 'read', {}, `${ofStatus}.noReads`, ''],
    [ofStatus, 'read', {}, true, 'windows'],
  ],
};

describe('The validators', () => {
  const validate = (type: string, property: string, value: unknown, node: object = {}): unknown => {
    const { defaults, credentials } = definition(type);
    return (defaults[property] ?? credentials?.[property])?.validate?.call({ ...defaultsOf(type), ...node }, value, {});
  };
  const shared = 'connected-vehicle.reason.';

  for (const [title, rows] of Object.entries(verdicts))
    it(title, () => {
      for (const [type, property, node, says, ...values] of rows) {
        const expected = says === true || says.includes('.') ? says : shared + says;
        for (const value of values)
          assert.equal(
            validate(type, property, value, node),
            expected,
            `${type} ${property}: ${JSON.stringify(value)}`,
          );
      }
    });

  it('say before the deploy, in the words of the status, what a configuration lacks', () => {
    const judge = (service: string, credentials?: object) =>
      validate('connected-vehicle', 'access', [], { service, ...(credentials && { credentials }) });
    const tokens = { has_accessToken: false, clientId: '' };
    assert.equal(judge('volvo-cars'), true, 'it is not known yet what is stored');
    assert.equal(judge('volvo-cars', {}), 'connected-vehicle.cause.API_KEY_MISSING', 'nothing is stored');
    assert.equal(judge('volvo-cars', { apiKey: 'imported', accessToken: 'imported' }), true);
    assert.equal(judge('demo', { ...tokens, has_apiKey: false }), true);
    assert.equal(judge('volvo-cars', { ...tokens, has_apiKey: false }), 'connected-vehicle.cause.API_KEY_MISSING');
    assert.equal(judge('custom', { ...tokens, has_apiKey: true }), 'connected-vehicle.cause.NOT_SIGNED_IN');
    for (const given of [{ has_accessToken: true }, { clientId: 'client' }])
      assert.equal(judge('volvo-cars', { ...tokens, has_apiKey: true, ...given }), true);
  });

  it('say of each node, in the words of its status, why its car cannot work', () => {
    const car = { id: 'car', type: 'connected-vehicle', service: 'volvo-cars', vin: 'YV1CT9551B1570982' };
    const judge = (type: string, value: string, held: object = car, vin = '') =>
      definition(type, [held as HeldNode]).defaults['vehicle']?.validate?.call({ type, vin }, value, {});
    for (const type of types.filter((one) => one !== 'connected-vehicle')) {
      assert.equal(judge(type, 'car'), true, type);
      const isOfMessage = type === 'connected-vehicle-command-status';
      if (isOfMessage) for (const value of ['', '_ADD_']) assert.equal(judge(type, value), true, 'as in the message');
      for (const value of isOfMessage ? ['deleted'] : ['', '_ADD_', 'deleted'])
        assert.equal(judge(type, value), 'connected-vehicle.cause.NO_VEHICLE', `${type} ${value}`);
      assert.equal(judge(type, 'car', { ...car, d: true }), 'connected-vehicle.cause.NO_VEHICLE');
      assert.equal(judge(type, 'car', { ...car, valid: false, validationErrors: ['why'] }), 'why');
    }
    const nameless = { ...car, vin: '' };
    for (const type of ['connected-vehicle-guard', 'connected-vehicle-event']) {
      assert.equal(judge(type, 'car', nameless), 'connected-vehicle.cause.NO_CAR', type);
      assert.equal(judge(type, 'car', nameless, 'YV1CT9551B1570982'), true);
      assert.equal(judge(type, 'car', { ...nameless, service: 'demo' }), true);
    }
    assert.equal(judge('connected-vehicle-status', 'car', nameless), true, 'a message can name the car');
  });

  it('show a fault if the nodes of a vehicle, with the edited one, would spend more than its quota', () => {
    const vehicle = (changes: object) => ({
      id: 'car',
      type: 'connected-vehicle',
      service: 'custom',
      requestsPerDay: 3000,
      polling: 'fixed',
      ...changes,
    });
    const status = (id: string, read: string, poll: number | string) => ({
      id,
      type: 'connected-vehicle-status',
      vehicle: 'car',
      vin: '',
      read,
      reads: [],
      poll,
    });
    const guard = { id: 'guard', type: 'connected-vehicle-guard', vehicle: 'car', vin: '', poll: 120 };
    const judge = (nodes: HeldNode[], edited: HeldNode, poll: string, changes: object = {}) =>
      definition(edited.type, [vehicle(changes), ...nodes]).defaults['poll']?.validate?.call(edited, poll, {});
    const doors = status('doors', 'doors', 0);
    const fuel = status('fuel', 'fuelAmount', 0);
    assert.equal(judge([doors], doors, '60'), true);
    assert.equal(judge([doors], doors, '28'), `${shared}calls`);
    assert.equal(judge([doors], doors, '1', { service: 'demo' }), true, 'the simulated service has no quota');
    assert.equal(judge([doors, guard], doors, '60'), true, 'what the guard asks for is asked for once');
    assert.equal(judge([doors, status('windows', 'windows', 60), fuel], doors, '60'), true);
    assert.equal(
      judge([status('doors', 'doors', 60), status('windows', 'windows', 60), fuel], fuel, '60'),
      `${shared}calls`,
    );
    assert.equal(
      judge([status('doors', 'doors', 60), status('windows', 'windows', 60), guard], guard, '59'),
      `${shared}calls`,
    );
    const ofWindows = { ...guard, watch: ['window'] };
    assert.equal(judge([ofWindows], ofWindows, '29'), true, 'a guard of windows alone reads no doors');
    const ofAll = { ...guard, watch: ['window', 'door'] };
    assert.equal(judge([ofAll], ofAll, '29'), `${shared}calls`);
    // In the adaptive profile, the doors are also read at their own seconds; what they keep
    // watch for, more rarely.
    assert.equal(judge([doors], doors, '20', { polling: 'adaptive' }), `${shared}calls`);
    assert.equal(judge([doors, status('windows', 'windows', 60), fuel], doors, '60', { polling: 'adaptive' }), true);
    assert.equal(
      judge([doors, status('windows', 'windows', 60), status('fuel', 'fuelAmount', 60)], doors, '60'),
      `${shared}calls`,
    );
    assert.equal(
      judge([doors, status('windows', 'windows', 60), status('fuel', 'fuelAmount', 60)], doors, '60', {
        polling: 'adaptive',
      }),
      true,
    );
    const windows = status('windows', 'windows', 0);
    assert.equal(judge([windows], windows, '20', { polling: 'adaptive' }), `${shared}calls`, 'nobody reads the doors');
    // What does not meet is counted alone.
    assert.equal(
      judge([doors, { ...status('old', 'doors', 60), interface: 'v1' }, fuel], doors, '50'),
      `${shared}calls`,
    );
    assert.equal(judge([doors, status('again', 'doors', 50)], doors, '50', { shareFor: '0' }), `${shared}calls`);
    assert.equal(judge([doors, { ...status('again', 'doors', 50), vin: 'YV1' }], doors, '50', { vin: 'YV1' }), true);
    assert.equal(judge([guard], guard, '60'), true);
    const parkedGuard = { ...guard, onlyWhileNotInUse: true };
    assert.equal(judge([parkedGuard], parkedGuard, '60'), `${shared}calls`);
    // Resources of one group are one request; version 1 asks the extended
    // interface for each of them.
    const both = [status('hood', 'hoodOpen', 60), status('tailgate', 'tailGateOpen', 60)];
    const bothOfV1 = both.map((node) => ({ ...node, interface: 'v1' }));
    for (const service of ['custom', 'volvo-cars'])
      assert.equal(judge([...both, fuel], fuel, '60', { service }), true, service);
    assert.equal(judge([...bothOfV1, fuel], fuel, '60'), `${shared}calls`);
    const withoutExtended = { interfaces: ['connected-v1', 'connected-v2'] };
    assert.equal(judge([...bothOfV1, fuel], fuel, '60', withoutExtended), true);
    assert.equal(judge([doors], doors, '1', { service: 'demo' }), true, 'a simulated car has no quota');
    // The quota of a day is counted for each API.
    const [charging, location] = [status('charging', 'charging', 60), status('location', 'location', 60)];
    assert.equal(judge([status('doors', 'doors', 60), charging, location], charging, '30'), true);
    assert.equal(judge([status('doors', 'doors', 60), charging], charging, '28'), `${shared}callsEnergy`);
    assert.equal(judge([status('doors', 'doors', 60), location], location, '28'), `${shared}callsLocation`);
    assert.equal(judge([doors, charging, location], doors, '28'), `${shared}calls`);
  });

  it('take a node that lacks properties, because it is older or was written by hand', () => {
    for (const type of types) {
      const { defaults } = definition(type);
      // Without a car, a node cannot work.
      for (const [property, { validate }] of Object.entries(defaults).filter(([name]) => name !== 'vehicle'))
        assert.equal(validate?.call({}, undefined, {}) ?? true, true, `${type}.${property}`);
      assert.equal(typeof definition(type).label.call({}), 'string');
    }
  });

  it('name a guard and an event node by what they watch, as long as that is short', () => {
    const labelOf = (type: string, node: object): unknown => definition(type).label.call(node);
    const ofGuard = (watch?: string[], name = ''): unknown => labelOf('connected-vehicle-guard', { name, watch });
    const guard = 'connected-vehicle-guard';
    assert.equal(ofGuard(['lock', 'window']), `${guard}.kind.window, ${guard}.kind.lock`);
    for (const watch of [undefined, [], ['window', 'door', 'lock'], ['rearRightWindow']])
      assert.equal(ofGuard(watch), `${guard}.palette.name`, String(watch));
    assert.equal(ofGuard(['window'], 'Mine'), 'Mine');
    const event = 'connected-vehicle-event';
    assert.equal(labelOf(event, { events: ['locked'] }), `${event}.event.locked`);
    assert.equal(labelOf(event, { events: ['locked', 'unlocked'] }), `${event}.palette.name`);
    // The stub of the texts fills nothing in.
    assert.equal(labelOf(event, { events: ['arrived'], places: [{ name: 'Home' }] }), `${event}.at.arrived`);
    for (const places of [undefined, [], [{}], [{ name: '' }], [{ name: 'Home' }, { name: 'Work' }], 'Home', [null]])
      assert.equal(labelOf(event, { events: ['arrived'], places }), `${event}.event.arrived`, JSON.stringify(places));
  });

  it('name a status node by the first two of its reads, and a condition by its first row', () => {
    const labelOf = (type: string, node: object): unknown => definition(type).label.call(node);
    const status = 'connected-vehicle-status';
    const title = (name: string): string => `${status}.read.${name}`;
    const several = (...reads: string[]): unknown => labelOf(status, { read: 'several', reads });
    assert.equal(several(), `${status}.palette.name`);
    assert.equal(several('odometer'), title('odometer'));
    assert.equal(several('odometer', 'doors'), `${title('odometer')}, ${title('doors')}`);
    assert.equal(several('odometer', 'doors', 'windows'), `${title('odometer')}, ${title('doors')}, …`);
    const condition = 'connected-vehicle-condition';
    const level = { value: 'batteryChargeLevel', operator: '<=', operand: 30 };
    const ofRows = (...conditions: unknown[]): unknown => labelOf(condition, { conditions });
    assert.equal(ofRows(level), `${title('batteryChargeLevel')} ≤ 30 ${status}.unit.percent`);
    assert.match(String(ofRows(level, level)), /percent, …$/);
    const source = { ...level, operand: 'limit', operandType: 'msg' };
    assert.equal(ofRows(source), `${title('batteryChargeLevel')} ≤ msg.limit`);
    const place = { value: 'location', operator: 'within', operand: { name: 'Home' } };
    assert.equal(ofRows(place), `${title('location')} ${condition}.operator.within Home`);
    for (const unfinished of [{}, null, { value: 'odometer' }, { ...level, operand: '' }, 'none'])
      assert.equal(ofRows(unfinished), `${condition}.palette.name`, JSON.stringify(unfinished));
  });

  it('name the car in the label of a node without a name, if there are two', () => {
    const car = { id: 'car', type: 'connected-vehicle', name: 'My car' };
    const other = { id: 'other', type: 'connected-vehicle', name: 'Wife car' };
    const labelsOf = (held: HeldNode[], node: object): string[] =>
      types
        .filter((type) => type !== 'connected-vehicle')
        .map((type) => definition(type, held).label.call({ vehicle: 'other', ...node }));
    for (const label of labelsOf([car, other], {})) assert.match(label, / · Wife car$/);
    for (const [held, node] of [
      [[other], {}],
      [[{ ...car, d: true }, other], {}],
      [[car, other], { vehicle: '' }],
      [[car, other], { name: 'Mine' }],
    ] as [HeldNode[], object][])
      for (const label of labelsOf(held, node)) assert.doesNotMatch(label, / · /);
  });

  it('say what is missing in conditions of any shape', () => {
    const reasonOf = (conditions: unknown) => validate('connected-vehicle-condition', 'conditions', conditions);
    const reason = 'connected-vehicle-condition.reason.';
    for (const none of [[], 'none', null, { 0: {} }]) assert.equal(reasonOf(none), `${reason}nothing`);
    for (const row of [null, 'none', {}, { value: 5 }, { value: null }, { value: ['windows', 'rear'] }])
      assert.equal(reasonOf([row]), `${reason}row`, JSON.stringify(row));
    const limited = (operand: string) => reasonOf([{ value: 'odometer', operator: '<', operand }]);
    assert.deepEqual(['far', '30', '${LIMIT}'].map(limited), [`${reason}row`, true, true]);
  });

  it('take a tariff whose places the vehicle configuration has', () => {
    const home = { name: 'Home', latitude: 57.7, longitude: 11.9 };
    const places = [home];
    const reasonOf = (tariff: unknown) =>
      validate('connected-vehicle', 'tariff', typeof tariff === 'string' ? tariff : JSON.stringify(tariff), { places });
    for (const tariff of ['', '0.35', 'price', '{', { perKWh: 0.3 }, { perKWh: 0.3, places: [] }])
      assert.equal(reasonOf(tariff), true, JSON.stringify(tariff));
    const withPlace = (place: unknown) => reasonOf({ perKWh: 0.3, places: [place] });
    assert.equal(withPlace({ name: 'Home', perKWh: 0.2 }), true);
    assert.equal(withPlace({ ...home, name: 'Work', perKWh: 0.2 }), true, 'a place of its own');
    assert.equal(withPlace({ name: 'Work', perKWh: 0.2 }), `${shared}noPlace`);
    for (const wrong of [{ perKWh: 0.2 }, { ...home, latitude: 91 }, { name: '' }, null, 'Home'])
      assert.equal(withPlace(wrong), `${shared}place`, JSON.stringify(wrong));
  });
});

/** The contrast of two colours as the accessibility guidelines count it. */
function contrast(light: string, dark: string): number {
  const luminance = (colour: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const part = parseInt(colour.slice(at, at + 2), 16) / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  return (luminance(light) + 0.05) / (luminance(dark) + 0.05);
}
