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
  const pass = (ms: number): Promise<void> => clock.advanceInSteps(ms, 5_000);
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

  it('polls what a variable chooses from the next poll after it has changed, and nothing else (connected-vehicle-status)', async () => {
    const choose = (chosen: unknown): void => flow.node('n').context().global.set('chosen', chosen);
    const sent = (): unknown[] => (flow.outputs[0] ?? []).map(({ vehicle }) => vehicle?.['read']);
    const asked = (): Set<unknown> => new Set(service.requests.map(({ path }) => path.split('/').at(-1)));
    const config = { type: 'connected-vehicle-status', read: 'chosen', readType: 'global', emit: 'always' };
    await load({ ...config, vin: service.car().vin, vinType: 'str' });
    for (const [chosen, requests] of [
      ['windows', ['windows']],
      [
        ['doors', 'odometer'],
        ['doors', 'odometer'],
      ],
      ['diagnostics', ['diagnostics']],
    ] as const) {
      choose(chosen);
      await pass(minute);
      service.clearRequests();
      flow.outputs[0]?.splice(0);
      await pass(5 * minute);
      assert.ok(sent().length >= 4, `${sent().length} messages`);
      for (const read of sent()) assert.deepEqual(read, chosen);
      assert.deepEqual(asked(), new Set(requests));
    }
    await flow.unload();
    assert.equal(clock.sleeping, 0);
  });
});
