import { strict as assert } from 'node:assert';
import { electricCar, type Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow } from '../support/flow';

describe('The wallbox of a vehicle configuration', () => {
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ service, flow } = setUp), { cars: [electricCar] });

  const load = (wallbox: string): Promise<void> =>
    flow.load(
      { type: 'connected-vehicle-status', read: 'wallboxCharging' },
      { ...customVehicle(service, { vin: electricCar.vin }), wallbox },
      demoCredentials,
    );

  it('is read with the id that is entered there', async () => {
    await load(` ${electricCar.wallbox} `);
    const { payload } = await flow.ask();
    assert.deepEqual(payload, { value: true, unit: null, timestamp: null });
  });

  for (const [what, id] of [
    ['no id', ''],
    ['the id of something else', 'YV1CT9551B1570982'],
  ] as const)
    it(`gives a sentence and no request with ${what}`, async () => {
      await load(id);
      assert.equal((await flow.fail()).vehicle?.error?.['code'], 'CONFIG');
      assert.deepEqual(service.requests, []);
    });
});
