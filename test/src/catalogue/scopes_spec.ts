import { strict as assert } from 'node:assert';
import { scopesOfCommand, scopesOfRead, scopesOfService, services } from '../../../src/index';
import { everyScope } from '../../../src/simulator/index';

const { alive } = services['volvo-cars'];
const all = services.custom.alive;

describe('The scopes', () => {
  it('of a service with every interface are the 22 of specification 5, and nothing else', () => {
    const scopes = scopesOfService(all);
    assert.equal(scopes.length, 22);
    for (const scope of scopes) assert.ok(scope === 'openid' || /^(conve|exve):/.test(scope), scope);
  });

  it('of volvo-cars are those of connected v2: what is asked for at sign-in has no scope of a dead interface', () => {
    const scopes = scopesOfService(alive);
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

  it('of a read are those of the interface that answers it', () => {
    assert.deepEqual(scopesOfRead('fuelAmount', all), ['exve:fuel_status']);
    assert.deepEqual(scopesOfRead('fuelAmount', alive), ['conve:fuel_status', 'conve:battery_charge_level']);
    assert.deepEqual(scopesOfRead('cabOpen', alive), []);
    assert.deepEqual(scopesOfRead('doors', alive), ['conve:doors_status', 'conve:lock_status']);
    assert.deepEqual(scopesOfRead('details', ['connected-v1']), []);
  });

  it('of a command that only the vehicle lists are those of the list', () => {
    assert.deepEqual(scopesOfCommand('climatization-start', alive), ['conve:commands']);
    assert.deepEqual(scopesOfCommand('honk', alive), ['conve:honk_flash']);
  });
});
