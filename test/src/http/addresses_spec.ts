import { strict as assert } from 'node:assert';
import type { InterfaceName, VehicleError } from '../../../src/index';
import { followLink, mediaType, noInterface, resolveService, urlOf } from '../../../src/http/addresses';

const refused = (error: VehicleError): boolean => error.code === 'CONFIG';

describe('a service profile', () => {
  for (const baseUrl of [
    '',
    'car.example',
    'http://car.example',
    'ftp://car.example',
    'https://user:pw@car.example',
    'https://car.example/?a=b',
    'https://car.example/#x',
    'https://car.example/x#',
    'https://car.example/?',
    'http://127.0.0.1.evil.example',
    'javascript:alert(1)',
  ]) {
    it(`refuses ${JSON.stringify(baseUrl)} as a base URL`, () =>
      assert.throws(() => resolveService('custom', { baseUrl }), refused));
  }

  for (const baseUrl of [
    'https://car.example',
    'https://car.example/proxy/',
    'http://127.0.0.1:8080',
    'http://localhost:1',
    'http://[::1]:8080',
  ]) {
    it(`takes ${baseUrl} as a base URL`, () =>
      assert.equal(resolveService('custom', { baseUrl }).baseUrl, baseUrl.replace(/\/$/, '')));
  }

  it('keeps the query of the addresses of a sign-in, and refuses a fragment or a user there', () => {
    const of = (address: string): string[] => {
      const service = { baseUrl: 'https://car.example', authorizeUrl: address, tokenUrl: address };
      const { authorizeUrl, tokenUrl } = resolveService('custom', service);
      return [authorizeUrl, tokenUrl];
    };
    const address = 'https://id.example/as?realm=cars';
    assert.deepEqual(of(address), [address, address]);
    for (const wrong of [`${address}#x`, 'https://me@id.example/as', 'http://id.example/as?realm=cars'])
      assert.throws(() => of(wrong), refused);
  });

  for (const apiKeyHeader of ['authorization', 'Accept', 'content-length', 'host', 'a b', 'x\r\ny', 'ключ']) {
    it(`refuses ${JSON.stringify(apiKeyHeader)} as the name of the key header`, () =>
      assert.throws(() => resolveService('custom', { baseUrl: 'https://car.example', apiKeyHeader }), refused));
  }

  it('refuses an invalid media type vendor', () =>
    assert.throws(() => resolveService('custom', { baseUrl: 'https://car.example', mediaTypeVendor: 'a/b' }), refused));

  it('has the settings without spaces, and without settings those of the service', () => {
    const volvo = resolveService('volvo-cars', { baseUrl: ' ', tokenUrl: ' https://id.example/token ' });
    assert.equal(volvo.baseUrl, 'https://api.volvocars.com');
    assert.equal(volvo.tokenUrl, 'https://id.example/token');
    assert.equal(resolveService('custom', { baseUrl: ' https://car.example//x// ' }).baseUrl, 'https://car.example//x');
  });

  it('has the interfaces that are chosen, in their own order, and all if none is', () => {
    const baseUrl = 'https://car.example';
    const of = (interfaces: readonly InterfaceName[]) =>
      resolveService('custom', { baseUrl, interfaces }).availableInterfaces;
    assert.deepEqual(of(['energy-v2', 'connected-v1']), ['connected-v1', 'energy-v2']);
    assert.deepEqual(of([]), [
      'connected-v2',
      'connected-v1',
      'extended-v1',
      'energy-v2',
      'location-v1',
      'energy-device-v1',
    ]);
  });

  it('gives each interface its address, with what is filled in escaped, and media types with its vendor', () => {
    const service = resolveService('custom', { baseUrl: 'https://car.example/proxy', mediaTypeVendor: 'maker' });
    const addresses: [iface: InterfaceName, path: string][] = [
      ['connected-v1', '/connected-vehicle/v1'],
      ['connected-v2', '/connected-vehicle/v2'],
      ['extended-v1', '/extended-vehicle/v1'],
      ['energy-v2', '/energy/v2'],
      ['location-v1', '/location/v1'],
      ['energy-device-v1', '/energy-device/v1'],
    ];
    for (const [iface, path] of addresses)
      assert.equal(
        urlOf(service, iface, '/vehicles/{vin}/commands/{command}', { vin: 'A/B', other: 'x' }).href,
        `https://car.example/proxy${path}/vehicles/A%2FB/commands/`,
      );
    assert.equal(mediaType(service, 'application/vnd.{vendor}.v1+json'), 'application/vnd.maker.v1+json');
  });

  it('follows links of its own host, and completes one that lacks the first part', () => {
    const follow = (href: string): string =>
      followLink(resolveService('custom', { baseUrl: 'https://car.example/proxy' }), href).href;
    assert.equal(follow('https://car.example/requests/1'), 'https://car.example/requests/1');
    assert.equal(follow('/v2/vehicles/x'), 'https://car.example/proxy/connected-vehicle/v2/vehicles/x');
    assert.equal(follow('/v10/vehicles'), 'https://car.example/proxy/connected-vehicle/v10/vehicles');
    assert.equal(follow('/energy/v2/x'), 'https://car.example/energy/v2/x');
    assert.equal(follow('requests/1'), 'https://car.example/proxy/requests/1');
    assert.throws(() => follow('https://['), { code: 'UNTRUSTED_LINK' });
  });

  const lacking: [has: InterfaceName[], choice: 'auto' | 'v1' | 'v2', sentence: string][] = [
    [[], 'auto', 'This service does not offer doors: none of its interfaces has it.'],
    [['connected-v2'], 'v1', 'doors is not part of v1. Choose v2 or auto.'],
    [['connected-v1'], 'v2', 'doors is not part of v2. Choose v1 or auto.'],
    [['connected-v1'], 'v1', 'This service does not have v1 of the connected interface. Choose v2 or auto.'],
    [['connected-v2'], 'v2', 'This service does not have v2 of the connected interface. Choose v1 or auto.'],
  ];
  for (const [has, choice, sentence] of lacking)
    it(`says what to choose if no interface has a read: ${choice} of ${has.join()}`, () => {
      const { code, message } = noInterface('doors', new Set(has), choice);
      assert.deepEqual([code, message], ['NOT_SUPPORTED', sentence]);
    });

  for (const href of [
    'https://evil.example/x',
    'https://:secret@car.example/x',
    'blob:https://car.example/x',
    'filesystem:https://car.example/x',
    'http://car.example/x',
    '//evil.example/x',
    'https://user@car.example/x',
    'javascript:alert(1)',
  ]) {
    it(`follows no link to ${href}`, () =>
      assert.throws(() => followLink(resolveService('custom', { baseUrl: 'https://car.example' }), href), {
        code: 'UNTRUSTED_LINK',
      }));
  }
});
