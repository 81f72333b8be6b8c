import { strict as assert } from 'node:assert';
import { burnsFuel, groupedResources, groups, type GroupedResource } from '../../../src/catalogue/groups';
import { requestNameOf, resourceNames, resources, type Resource } from '../../../src/catalogue/reads';

const rows = Object.entries(groupedResources) as [keyof typeof groupedResources, GroupedResource][];

describe('the groups of connected v2', () => {
  it('have a row for each of the 39 resources, and no other', () => {
    assert.deepEqual(Object.keys(groupedResources).sort(), [...resourceNames].sort());
  });

  it('serve all resources that they have in at most 11 requests', () => {
    const used = new Set(rows.flatMap(([, { group }]) => (group === null ? [] : [group])));
    assert.ok(used.size <= 11);
    assert.deepEqual([...used].sort(), Object.keys(groups).sort());
  });

  it('leave out exactly the resources that connected v2 lacks, each with a reason', () => {
    const left = rows.flatMap(([name, row]) => (row.group === null ? [[name, row.reason] as const] : []));
    assert.deepEqual(
      left.map(([name]) => name),
      ['backupBatteryRemaining', 'cabOpen', 'engineCoolantTemp', 'externalTemp', 'mainBatteryStatus', 'oilPressure'],
    );
    for (const [, reason] of left) assert.match(reason, /^connected v2 /);
  });

  it('promise only values that docs/internals/service.md 2.8 names', () => {
    for (const [name, row] of rows) {
      const resource: Resource = resources[name];
      if ('words' in row) {
        for (const value of Object.values(row.words)) {
          assert.ok(
            resource.kind === 'enum'
              ? typeof value === 'string' && resource.values.includes(value)
              : typeof value === 'boolean',
            `${name}: ${value}`,
          );
        }
      }
      if ('bulbs' in row) {
        assert.ok(resource.kind === 'enum');
        for (const value of [...Object.values(row.bulbs), row.several])
          assert.ok(value === null || resource.values.includes(value), `${name}: ${value}`);
      }
      if ('members' in row && !('words' in row)) assert.ok('unit' in resource, name);
    }
  });

  it('name the scopes of connected v2', () => {
    for (const { scopes } of Object.values(groups)) {
      assert.ok(scopes.length > 0 && scopes.every((scope) => scope.startsWith('conve:')));
    }
  });

  for (const [fuelType, burns] of [
    ['PETROL', true],
    ['DIESEL', true],
    ['PETROL/ELECTRIC', true],
    ['DIESEL/ELECTRIC', true],
    [' petrol ', true],
    ['ELECTRIC', false],
    ['NONE', false],
    ['HYDROGEN', null],
    ['', null],
    [null, null],
  ] as const) {
    it(`know that a car with the fuel type ${JSON.stringify(fuelType)} ${burns === null ? 'may or may not burn' : burns ? 'burns' : 'does not burn'} fuel`, () =>
      assert.equal(burnsFuel(fuelType), burns));
  }

  it('say which reads one request answers', () => {
    assert.equal(requestNameOf('tripMeter1', ['connected-v2']), 'statistics');
    assert.equal(requestNameOf('rearLeftWindowOpen', ['connected-v2']), requestNameOf('windows', ['connected-v2']));
    assert.equal(requestNameOf('oilPressure', ['connected-v2']), 'oilPressure');
    assert.equal(requestNameOf('tripMeter1', ['connected-v1', 'extended-v1']), 'tripMeter1');
    assert.equal(requestNameOf('averageSpeedAutomatic', ['connected-v2']), 'statistics');
    assert.equal(requestNameOf('fuel', ['connected-v2']), requestNameOf('fuelAmount', ['connected-v2']));
    assert.equal(requestNameOf('chargingPower', ['energy-v2']), 'charging');
    assert.equal(requestNameOf('chargingCapabilities', ['energy-v2']), 'chargingCapabilities');
    assert.equal(requestNameOf('location', ['location-v1']), 'location');
  });
});
