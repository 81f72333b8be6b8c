import { strict as assert } from 'node:assert';
import { groupedResources } from '../../src/catalogue/groups';
import type { VehicleClient } from '../../src/client';
import { resourceNames } from '../../src/catalogue/reads';
import { demoCar, startSimulator, type Simulator } from '../support/simulator';
import { closeAccounts, openTestAccount, readSeveral } from '../support/account';

const vin = demoCar.vin;
const mapped = resourceNames.filter((name) => groupedResources[name].group !== null);
const unmapped = resourceNames.filter((name) => groupedResources[name].group === null);

describe('the extended resources of a service without the extended interface', () => {
  let service: Simulator;
  let client: VehicleClient;

  beforeEach(async () => {
    service = await startSimulator({
      dialect: 'real',
      cars: [{ ...demoCar, resources: { bulbFailure: 'HIGH_BEAM_LEFT' } }],
    });
    ({ client } = openTestAccount(service, { service: 'volvo-cars', settings: { apiKeyHeader: 'vendor-api-key' } }));
  });
  afterEach(async () => {
    await closeAccounts();
    await service.close();
  });

  it('are read in at most eleven requests and one for the fuel type, and those without an equivalent are named', async () => {
    const { payload, vehicle } = await readSeveral(client, resourceNames, { vin });
    assert.ok(service.requests.length <= 12, `${service.requests.length} requests`);
    assert.ok(service.requests.every(({ path }) => path.startsWith('/connected-vehicle/v2/')));
    assert.deepEqual(Object.keys(payload).sort(), [...mapped].sort());
    assert.deepEqual(
      vehicle.errors.map(({ read, code }) => [read, code]).sort(),
      unmapped.map((name) => [name, 'NOT_SUPPORTED']).sort(),
    );
    for (const { message } of vehicle.errors)
      assert.match(
        message,
        /is offered by the extended vehicle interface, which this service no longer has; connected v2 /,
      );
  });
});
