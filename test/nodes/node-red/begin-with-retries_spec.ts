import { strict as assert } from 'node:assert';
import type { Simulator } from '../../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow } from '../../support/flow';
import type { ManualClock } from '../../support/manual-clock';

const minute = 60_000;

describe('A node that polls and cannot begin when it starts', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ clock, service, flow } = setUp));

  const load = (config: Record<string, unknown>): Promise<void> =>
    flow.load(
      { poll: 60, vin: 'car', vinType: 'global', ...config },
      customVehicle(service, { vin: '' }),
      demoCredentials,
    );
  const pass = (ms: number): Promise<void> => clock.advanceInSteps(ms);
  const setCar = (vin: string): void => flow.node('n').context().global.set('car', vin);
  const codes = (): unknown[] => flow.caught.map(({ vehicle }) => vehicle?.error?.['code']);

  for (const config of [
    { type: 'connected-vehicle-event', events: ['window-opened'] },
    { type: 'connected-vehicle-guard', watch: ['window'] },
    { type: 'connected-vehicle-status', read: 'windows' },
  ]) {
    it(`polls soon after the flow has set its vehicle, and reports once that it is missing (${config.type})`, async () => {
      await load(config);
      await flow.until(() => flow.caught.length > 0);
      await pass(5 * minute);
      assert.deepEqual(codes(), ['INPUT_INVALID']);
      setCar(service.car().vin);
      await pass(4 * minute);
      assert.ok(service.requests.length >= 2, `${service.requests.length} requests`);
      assert.ok(service.requests.length <= 5, `${service.requests.length} requests`);
      assert.deepEqual(codes(), ['INPUT_INVALID']);
    });

    it(`reports another reason (${config.type})`, async () => {
      await load(config);
      await flow.until(() => flow.caught.length > 0);
      setCar('none');
      await pass(5 * minute);
      assert.deepEqual(codes(), ['INPUT_INVALID', 'VIN_INVALID']);
    });

    it(`tries again within seconds after the start (${config.type})`, async () => {
      await load(config);
      await flow.until(() => flow.caught.length > 0);
      setCar(service.car().vin);
      await pass(15_000);
      assert.ok(service.requests.length >= 1);
    });

    it(`does not try again after it is closed (${config.type})`, async () => {
      await load(config);
      await flow.until(() => flow.caught.length > 0);
      await flow.unload();
      assert.equal(clock.sleeping, 0);
    });
  }
});
