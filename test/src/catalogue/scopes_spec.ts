import { strict as assert } from 'node:assert';
import { accessNames, services } from '../../../src/index';
import { parseScopes, signInScopes } from '../../../src/catalogue/scopes';
import { everyScope } from '../../support/simulator';

const { availableInterfaces } = services['volvo-cars'];

describe('The scopes', () => {
  it('of the interfaces of the specification are the 22 of docs/internals/service.md 5 and those of the groups', () => {
    const scopes = signInScopes(['connected-v1', 'connected-v2', 'extended-v1']).scopes;
    const groups =
      'battery_charge_level brake_status diagnostics_engine_status diagnostics_workshop engine_status fuel_status trip_statistics tyre_status warnings';
    for (const group of groups.split(' ')) assert.ok(scopes.includes(`conve:${group}`), group);
    assert.equal(scopes.length, 22 + groups.split(' ').length);
    for (const scope of scopes) assert.ok(scope === 'openid' || /^(conve|exve):/.test(scope), scope);
  });

  it('of a sign-in follow `access`: climate, engine, charging and location only if they are chosen', () => {
    const added = {
      lock: ['conve:lock'],
      unlock: ['conve:unlock'],
      'honk-flash': ['conve:honk_flash'],
      climate: ['conve:climatization_start_stop'],
      engine: ['conve:engine_start_stop'],
      charging: ['energy:state:read', 'energy:capability:read'],
      location: ['location:read'],
      wallbox: ['energy_device:wallbox:read', 'energy_device:wallbox:write', 'energy_device:wallbox:control'],
    };
    const without = signInScopes(availableInterfaces, { access: [] }).scopes;
    assert.ok(without.includes('conve:doors_status'));
    for (const name of accessNames)
      assert.deepEqual(
        signInScopes(availableInterfaces, { access: [name] })
          .scopes.filter((scope) => !without.includes(scope))
          .sort(),
        [...added[name]].sort(),
      );
    assert.deepEqual(
      signInScopes(availableInterfaces).scopes.sort(),
      signInScopes(availableInterfaces, { access: ['lock', 'unlock', 'honk-flash'] }).scopes.sort(),
    );
  });

  it('of a read-only sign-in hold none of a command, and still those of the reads', () => {
    const scopes = signInScopes(availableInterfaces, { access: accessNames, readOnly: true }).scopes;
    for (const scope of Object.values(['conve:lock', 'conve:unlock', 'conve:honk_flash', 'conve:engine_start_stop']))
      assert.ok(!scopes.includes(scope), scope);
    assert.ok(scopes.includes('location:read') && scopes.includes('energy:state:read'));
    const brief = signInScopes(['connected-v1'], { access: ['location', 'lock'], readOnly: true });
    // That of the list of commands is also that of a link to follow.
    assert.ok(brief.scopes.includes('conve:commands'));
    assert.deepEqual(brief.optional, []);
  });

  it('that a person adds are those between the spaces, as they are written and each once', () => {
    assert.deepEqual(parseScopes(' B:x\n a b:x a B:x\t'), ['B:x', 'a', 'b:x']);
    assert.deepEqual(parseScopes(' '), []);
    for (const text of ['a,b', 'a, b', 'a;b', '"a"', 'a\\b', 'ä', 'a\u0000'])
      assert.deepEqual([parseScopes(text), signInScopes([], { moreScopes: text }).scopes], [null, ['openid']], text);
    const every = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
    assert.deepEqual(
      every.filter((character) => parseScopes(character) === null),
      ['"', ',', ';', '\\'],
    );
  });

  it('that a person adds are last, without those that are asked for already, and can be left out', () => {
    const { scopes, optional } = signInScopes(['connected-v2'], {
      access: ['lock'],
      moreScopes: 'x openid conve:lock y',
    });
    assert.deepEqual(scopes.slice(-2), ['x', 'y']);
    assert.equal(new Set(scopes).size, scopes.length);
    assert.deepEqual(optional, [
      { access: 'lock', scopes: ['conve:lock'] },
      { access: 'more', scopes: ['x', 'y'] },
    ]);
  });

  it('of volvo-cars are those of connected v2: what is asked for at sign-in has no scope of a dead interface', () => {
    const scopes = signInScopes(availableInterfaces).scopes;
    assert.deepEqual(
      scopes.filter((scope) => scope.startsWith('exve:')),
      [],
    );
    for (const scope of [
      'openid',
      'conve:honk_flash',
      'conve:fuel_status',
      'conve:tyre_status',
      'conve:vehicle_relation',
    ])
      assert.ok(scopes.includes(scope), scope);
    for (const scope of scopes) assert.ok(everyScope.includes(scope), scope);
    assert.equal(new Set(scopes).size, scopes.length);
  });
});
