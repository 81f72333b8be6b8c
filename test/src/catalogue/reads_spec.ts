import { strict as assert } from 'node:assert';
import { needsOfCommand, needsOfRead } from '../../../src/index';
import { proofReadOf } from '../../../src/catalogue/commands';
import {
  interfaceNames,
  requestNameOf,
  routeOf,
  type InterfaceChoice,
  type InterfaceName,
  type ReadName,
} from '../../../src/catalogue/reads';
import { scopesOfRead } from '../../../src/catalogue/scopes';

const living: readonly InterfaceName[] = ['connected-v2', 'energy-v2', 'location-v1'];
/** Those of docs/internals/service.md 1. */
const specified: readonly InterfaceName[] = ['connected-v2', 'connected-v1', 'extended-v1'];

describe('What can be read', () => {
  const routes: [name: ReadName, available: readonly InterfaceName[], choice: InterfaceChoice, path: string | null][] =
    [
      ['windows', interfaceNames, 'auto', 'connected-v2 /vehicles/{vin}/windows'],
      ['windows', interfaceNames, 'v1', 'connected-v1 /vehicles/{vin}/windows'],
      ['windows', interfaceNames, 'v2', 'connected-v2 /vehicles/{vin}/windows'],
      ['windows', ['connected-v1'], 'auto', 'connected-v1 /vehicles/{vin}/windows'],
      ['windows', ['connected-v1'], 'v2', null],
      ['details', interfaceNames, 'v1', null],
      ['fuel', interfaceNames, 'v1', null],
      ['odometer', interfaceNames, 'auto', 'connected-v2 /vehicles/{vin}/odometer'],
      ['odometer', interfaceNames, 'v1', 'extended-v1 /vehicles/{vin}/resources/odometer'],
      ['odometer', interfaceNames, 'v2', 'connected-v2 /vehicles/{vin}/odometer'],
      ['odometer', specified, 'auto', 'extended-v1 /vehicles/{vin}/resources/odometer'],
      ['odometer', specified, 'v2', 'extended-v1 /vehicles/{vin}/resources/odometer'],
      ['windows', specified, 'auto', 'connected-v2 /vehicles/{vin}/windows'],
      ['cabOpen', interfaceNames, 'auto', 'extended-v1 /vehicles/{vin}/resources/cabOpen'],
      ['odometer', living, 'v1', 'connected-v2 /vehicles/{vin}/odometer'],
      ['cabOpen', living, 'auto', null],
      ['chargingPower', living, 'v1', 'energy-v2 /vehicles/{vin}/state'],
    ];
  it('is asked at the newest interface that has it, or the one that is chosen', () => {
    for (const [name, available, choice, path] of routes) {
      const route = routeOf(name, available, choice);
      const found = route === undefined ? null : `${route.interface} ${route.path}`;
      assert.equal(found, path, `${name} ${choice} of ${available.join(', ')}`);
    }
  });

  it('needs an access and scopes of the interface that answers', () => {
    assert.deepEqual(needsOfRead('charging', living), {
      access: 'charging',
      scopes: ['energy:state:read'],
      versions: null,
    });
    assert.deepEqual(needsOfRead('location', living), {
      access: 'location',
      scopes: ['location:read'],
      versions: null,
    });
    assert.deepEqual(needsOfRead('distanceToEmpty', living), {
      access: null,
      scopes: ['conve:trip_statistics', 'conve:vehicle_relation'],
      versions: null,
    });
    assert.deepEqual(scopesOfRead('doors', interfaceNames), ['conve:doors_status', 'conve:lock_status']);
    assert.equal(requestNameOf('windows', interfaceNames, 'v1'), 'windows v1');
  });
});

describe('A command', () => {
  it('has the versions of the interface that offer it, and the read that shows its effect', () => {
    for (const [name, access, v1, v1First, proof] of [
      ['lock', 'lock', true, false, 'doors'],
      ['lock-reduced-guard', 'lock', false, false, 'doors'],
      ['flash', 'honk-flash', true, true, null],
      ['climatization-start', 'climate', false, false, null],
      ['engine-start', 'engine', false, false, 'engine-status'],
    ] as const) {
      const needs = needsOfCommand(name, interfaceNames);
      assert.deepEqual([needs.access, needs.versions], [access, { v1, v2: true, v1First: false }], name);
      assert.deepEqual(needsOfCommand(name, specified).versions, { v1, v2: true, v1First }, name);
      assert.equal(proofReadOf(name), proof, name);
      assert.equal(needsOfCommand(name, ['connected-v1']).scopes.length, v1 ? 1 : 0, name);
    }
  });
});
