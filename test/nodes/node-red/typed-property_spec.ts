import { strict as assert } from 'node:assert';
import { classicCar, demoCar, type Simulator } from '../../support/simulator';
import type { Flow } from '../../support/flow';
import { customVehicle, demoCredentials, setUpRealTimeFlow } from '../../support/flow';
import { withEnvironment } from '../../support/environment';

const status = 'connected-vehicle-status';
const command = 'connected-vehicle-command';

describe('A property that can come from another source', () => {
  let service: Simulator;
  let flow: Flow;

  setUpRealTimeFlow((setUp) => ({ service, flow } = setUp), { cars: [demoCar, classicCar] });

  const load = (config: Record<string, unknown>): Promise<void> =>
    flow.load(config, customVehicle(service, { vin: demoCar.vin }), demoCredentials);

  it('is the stored value in a flow that knows no types', async () => {
    await load({ type: status, read: 'odometer', vin: classicCar.vin });
    const { vehicle } = await flow.ask();
    assert.deepEqual([vehicle?.['read'], vehicle?.['vin']], ['odometer', classicCar.vin]);
  });

  it('comes from the message, the flow, the global context, the environment or an expression', async () => {
    const sources: Record<string, string> = {
      msg: 'car.vin',
      flow: 'vin',
      global: 'vin',
      env: 'CAR_OF_THE_TEST',
      jsonata: '$uppercase(car.vin)',
    };
    await withEnvironment({ CAR_OF_THE_TEST: classicCar.vin }, async () => {
      for (const [vinType, vin] of Object.entries(sources)) {
        await load({ type: status, read: 'odometer', vin, vinType });
        flow.node('n').context().flow.set('vin', classicCar.vin);
        flow.node('n').context().global.set('vin', classicCar.vin);
        const { vehicle } = await flow.ask({ car: { vin: classicCar.vin } });
        assert.equal(vehicle?.['vin'], classicCar.vin, vinType);
        await flow.unload();
      }
    });
  });

  it('gives one read or a list of reads', async () => {
    await load({ type: status, read: 'wanted', readType: 'msg' });
    assert.equal((await flow.ask({ wanted: 'odometer' })).vehicle?.['read'], 'odometer');
    assert.deepEqual((await flow.ask({ wanted: ['odometer', 'windows'] })).vehicle?.['read'], ['odometer', 'windows']);
  });

  it('gives way to the property of the message that the contract names', async () => {
    await load({ type: status, read: 'wanted', readType: 'flow' });
    flow.node('n').context().flow.set('wanted', 'odometer');
    assert.equal((await flow.ask({ read: 'windows' })).vehicle?.['read'], 'windows');
    assert.equal((await flow.ask()).vehicle?.['read'], 'odometer');
  });

  it('names the command and the seconds of an unlock', async () => {
    await load({
      type: command,
      command: 'wanted',
      commandType: 'flow',
      interface: 'v1',
      unlockDuration: 'seconds',
      unlockDurationType: 'msg',
    });
    flow.node('n').context().flow.set('wanted', 'unlock');
    const { payload } = await flow.ask({ seconds: 30 });
    assert.equal((payload as { command: string }).command, 'unlock');
    assert.equal((await flow.fail({ seconds: 300 })).vehicle?.error?.['code'], 'INPUT_INVALID');
  });

  it('never lets a command go to the default car because its source is empty', async () => {
    await load({ type: command, command: 'lock', vin: 'car', vinType: 'flow' });
    const before = service.requests.length;
    const { vehicle } = await flow.fail();
    assert.equal(vehicle?.error?.['code'], 'INPUT_INVALID');
    assert.match(String(vehicle?.error?.['message']), /flow\.car for “vin” of this node has no value/);
    assert.equal(service.requests.length, before, 'nothing was sent');
  });

  it('never lets a command go to the default car because its source holds only spaces', async () => {
    await load({ type: command, command: 'flash', vin: 'vin', vinType: 'flow' });
    flow.node('n').context().flow.set('vin', '  ');
    assert.equal((await flow.ask()).vehicle?.error?.['code'], 'INPUT_INVALID');
    assert.equal(service.requests.length, 0);
  });

  for (const empty of ['', ' ', null]) {
    it(`holds if the property of the message is empty: ${JSON.stringify(empty)}`, async () => {
      const msg = { vin: empty, interface: empty };
      await load({ type: command, command: 'flash', vin: classicCar.vin });
      assert.equal((await flow.ask({ ...msg })).vehicle?.['vin'], classicCar.vin);
      await flow.unload();
      await load({ type: status, vin: classicCar.vin });
      assert.equal((await flow.ask({ ...msg })).vehicle?.['vin'], classicCar.vin);
    });
  }

  it('shortens a VIN that was entered as the name of its source', async () => {
    for (const vin of ['ABCDEFGHJKLMNPRST', 'abcdefghjklmnprst', '12345678901234567', classicCar.vin]) {
      await load({ type: status, read: 'odometer', vin, vinType: 'env' });
      const message = String((await flow.fail()).vehicle?.error?.['message']);
      assert.match(message, /^env\.…\w{6} for “vin” of this node has no value/);
      await flow.unload();
      flow.caught = [];
    }
  });

  it('says what is wrong with an expression', async () => {
    await load({ type: status, read: '$nonsense(', readType: 'jsonata' });
    const { vehicle } = await flow.fail();
    assert.equal(vehicle?.error?.['code'], 'INPUT_INVALID');
    assert.match(
      String(vehicle?.error?.['message']),
      /The expression for “read” of this node cannot be evaluated\. .*\S/,
    );
  });

  it('says why an expression fails while it is evaluated', async () => {
    await load({ type: status, read: 'odometer', vin: '$number("none")', vinType: 'jsonata' });
    const { vehicle } = await flow.fail();
    assert.match(
      String(vehicle?.error?.['message']),
      /Correct it in the node\. Unable to cast value to a number: "none"/,
    );
  });

  it('gives an event node its level and its vehicle when it starts', async () => {
    const event = { type: 'connected-vehicle-event', poll: 0 };
    await withEnvironment({ LEVEL_OF_THE_TEST: 'low' }, async () => {
      const battery = { ...event, events: ['battery-below'], level: 'LEVEL_OF_THE_TEST', levelType: 'env' };
      await load(battery);
      assert.match(String((await flow.fail()).vehicle?.error?.['message']), /level must be a number from 1 to 100/);
      await flow.unload();
      process.env['LEVEL_OF_THE_TEST'] = '30';
      await load(battery);
      await flow.until(() => flow.completed.length > 0);
      await flow.unload();
    });
    const before = service.requests.length;
    await load({ ...event, events: ['locked'], vin: `"${classicCar.vin}"`, vinType: 'jsonata' });
    flow.send();
    await flow.until(() => flow.badges.some(({ fill }) => fill === 'green'));
    assert.ok(service.requests.slice(before).every(({ path }) => path.includes(classicCar.vin)));
  });

  it('is the stored value of an event node that knows no types', async () => {
    await load({ type: 'connected-vehicle-event', events: ['locked'], level: 30, poll: 0, vin: classicCar.vin });
    flow.send();
    await flow.until(() => flow.badges.some(({ fill }) => fill === 'green'));
    assert.ok(service.requests.every(({ path }) => path.includes(classicCar.vin)));
  });

  it('gives a guard its minutes when it starts', async () => {
    await withEnvironment({ MINUTES_OF_THE_TEST: 'ten' }, async () => {
      const guard = {
        type: 'connected-vehicle-guard',
        minutes: 'MINUTES_OF_THE_TEST',
        minutesType: 'env',
        poll: 0,
      };
      await load(guard);
      assert.equal((await flow.fail()).vehicle?.error?.['code'], 'CONFIG', 'it is not a number');
      await flow.unload();
      process.env['MINUTES_OF_THE_TEST'] = '0';
      await load(guard);
      flow.send({ ask: true });
      const alert = await flow.until(() => flow.outputs[0]?.[0]);
      assert.equal((alert.payload as { openings: { minutes: number }[] }).openings[0]?.minutes, 0);
    });
  });
});
