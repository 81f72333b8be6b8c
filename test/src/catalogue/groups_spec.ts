import { strict as assert } from 'node:assert';
import { burnsFuel, groupedResources, type GroupedResource } from '../../../src/catalogue/groups';
import { resourceNames, resources, type Resource } from '../../../src/catalogue/reads';

const rows = Object.entries(groupedResources) as [keyof typeof groupedResources, GroupedResource][];

describe('the groups of connected v2', () => {
  it('have a row for each of the 39 resources, and no other', () => {
    assert.deepEqual(Object.keys(groupedResources).sort(), [...resourceNames].sort());
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
});
