import { strict as assert } from 'node:assert';
import { useClock } from '../../nodes/runtime';
import type { Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, type Flow, type Received, setUpRealTimeFlow } from '../support/flow';
import { ManualClock } from '../support/manual-clock';

const type = 'connected-vehicle-command';

describe(type, () => {
  let service: Simulator;
  let flow: Flow;

  setUpRealTimeFlow((setUp) => {
    ({ service, flow } = setUp);
    service.car().set({
      commandPlan: { answerAfterMs: 0 },
      extraCommands: ['climatization-start', 'climatization-stop', 'engine-start', 'engine-stop'],
    });
  });

  const load = (config: Record<string, unknown> = {}, vehicle: Record<string, unknown> = {}): Promise<void> =>
    flow.load({ type, command: '', ...config }, customVehicle(service, vehicle), demoCredentials);
  const posts = (): number => service.requests.filter(({ method }) => method === 'POST').length;

  it('sends the chosen command with its settings', async () => {
    await load({ command: 'unlock', interface: 'v1', unlockDuration: '45' });
    await flow.ask();
    assert.equal(service.requests.at(-1)?.body, '{"unlockDuration":45}');
  });

  it('sends a command with the settings of the message', async () => {
    await load({ unlockDuration: 45, runtimeMinutes: 15 });
    await flow.ask({ command: 'engine-start', runtimeMinutes: 5 });
    await flow.ask({ command: 'unlock', interface: 'v1', unlockDuration: 30 });
    const bodies = service.requests.filter(({ method }) => method === 'POST').map(({ body }) => body);
    assert.deepEqual(bodies, ['{"runtimeMinutes":5}', '{"unlockDuration":30}']);
  });

  it('reports a failure to the Catch node if its status cannot be shown', async () => {
    await load();
    flow.node('n').status = () => {
      throw new Error('EMFILE');
    };
    assert.equal((await flow.fail({ command: '?' })).vehicle?.error?.['code'], 'INPUT_INVALID');
  });

  it('asks first whether the car can take a command, if that is chosen', async () => {
    service.car().set({ inUse: true });
    await load({ command: 'lock', precheck: true });
    assert.equal((await flow.fail()).vehicle?.error?.['code'], 'VEHICLE_UNAVAILABLE');
    assert.equal(posts(), 0);
  });

  for (const [what, spoil] of [
    ['takes no new property', (msg: object) => Object.preventExtensions(msg)],
    ['is frozen', (msg: object) => Object.freeze(msg)],
    [
      'has a payload that cannot be written',
      (msg: object) => Object.defineProperty(msg, 'payload', { value: 1, enumerable: true }),
    ],
  ] as const) {
    it(`passes on the record if the message ${what}`, async () => {
      await load({ command: 'flash' });
      assert.equal(
        ((await flow.ask(spoil({ _msgid: 'm' }) as Record<string, unknown>)).payload as Record<string, unknown>)[
          'command'
        ],
        'flash',
      );
      assert.ok(await flow.fail(spoil({ _msgid: 'm', command: '?' }) as Record<string, unknown>));
      assert.equal(posts(), 1);
    });
  }

  it('repeats no token and no VIN that the service says', async () => {
    const { vin } = service.car();
    service.faults.add({
      match: { method: 'POST' },
      status: 200,
      body: { data: { invokeStatus: 'REJECTED', message: `token demo-token-of-this-test of ${vin}` } },
    });
    await flow.load({ type, command: 'lock' }, customVehicle(service), {
      ...demoCredentials,
      accessToken: 'demo-token-of-this-test',
    });
    const { message } = (await flow.ask()).payload as Record<string, string>;
    assert.ok(message && !message.includes('demo-token-of-this-test') && !message.includes(vin), message);
  });

  describe('with care', () => {
    const code = (msg: Received | undefined): unknown => msg?.vehicle?.error?.['code'];

    it('waits for the car if that is chosen, shows that it waits, and forgets the command when asked to', async () => {
      service.car().set({ powerSaving: true });
      await load({ command: 'lock', whenUnavailable: 'wait' });
      flow.send();
      await flow.until(() => flow.badges.some(({ shape, fill }) => shape === 'ring' && fill === 'yellow'));
      assert.equal(code(await flow.fail({ cancel: true })), 'CANCELLED');
      assert.equal(posts(), 0);
    });

    it('cancels a command whose settings are not evaluated yet', async () => {
      await load({ command: '"flash"', commandType: 'jsonata' });
      flow.send();
      flow.send({ cancel: true });
      assert.equal(code(await flow.until(() => flow.caught[0] ?? flow.outputs[0]?.[0])), 'CANCELLED');
      assert.equal(posts(), 0);
    });

    it('ends a waiting command with a deploy', async () => {
      service.car().set({ powerSaving: true });
      await load({ command: 'lock', whenUnavailable: 'wait' });
      flow.send();
      await flow.until(() => flow.badges.some(({ shape, fill }) => shape === 'ring' && fill === 'yellow'));
      await flow.unload();
      service.car().set({ powerSaving: false });
      await load({ command: '', whenUnavailable: 'wait' });
      await flow.ask({ command: 'flash' });
      assert.equal(posts(), 1);
    });

    it('never lets an unlock wait unless that is also chosen', async () => {
      service.car().set({ powerSaving: true });
      await load({ whenUnavailable: 'wait' });
      for (const command of ['unlock', 'UNLOCK'])
        assert.equal(code(await flow.fail({ command })), 'VEHICLE_UNAVAILABLE');
      await flow.unload();
      await load({ command: 'unlock', whenUnavailable: 'wait', waitUnlock: true });
      flow.send();
      await flow.until(() => flow.badges.some(({ shape, fill }) => shape === 'ring' && fill === 'yellow'));
      assert.equal(posts(), 0);
    });

    it('never queues an unlock unless that is chosen, and then only as long as its arming holds', async () => {
      const clock = new ManualClock();
      useClock(clock);
      try {
        service.car().set({ commandPlan: { answerAfterMs: 60 } });
        await load({ whenBusy: 'queue', interface: 'v2' });
        flow.send({ command: 'lock' });
        assert.equal(code(await flow.fail({ command: 'unlock' })), 'VEHICLE_UNAVAILABLE');
        await flow.until(() => flow.outputs[0]?.[0]);
        await flow.unload();
        service.car().set({ commandPlan: { answerAfterMs: 300 } });
        await load({ whenBusy: 'queue', interface: 'v2', waitUnlock: true, arming: 30 });
        flow.send({ arm: true });
        flow.send({ command: 'lock' });
        flow.send({ command: 'unlock' });
        await clock.whenSleeping();
        await clock.advance(30_000);
        assert.equal(code(await flow.until(() => flow.caught[1])), 'INPUT_INVALID');
        assert.deepEqual(
          service.requests.filter(({ method }) => method === 'POST').map(({ path }) => path.split('/').at(-1)),
          ['lock', 'lock'],
        );
      } finally {
        useClock(undefined);
      }
    });

    for (const command of ['engine-start', 'ENGINE_START', 'unlock']) {
      it(`sends ${command} only when it was armed, once`, async () => {
        await load({ arming: 30 });
        assert.equal(code(await flow.fail({ command })), 'INPUT_INVALID');
        flow.send({ arm: true });
        await flow.until(() => flow.badges.at(-1)?.text?.includes('30'));
        assert.ok((await flow.ask({ command })).payload);
        assert.equal(code(await flow.fail({ command })), 'INPUT_INVALID');
        assert.equal(posts(), 1);
        await flow.ask({ command: 'engine-stop' });
      });
    }

    it('shows an arming as long as it holds', async () => {
      const clock = new ManualClock();
      useClock(clock);
      try {
        await load({ arming: 30 });
        for (const end of [
          () => clock.advance(30_000),
          async () => flow.send({ arm: false }),
          async () => flow.send({ cancel: true }),
        ]) {
          flow.send({ arm: true });
          await flow.until(() => flow.badges.at(-1)?.text?.includes('30'));
          await end();
          await flow.until(() => !flow.badges.at(-1)?.text);
        }
        flow.send({ arm: true });
        await flow.fail({ command: 'lock', vin: '1234' });
        await flow.until(() => flow.badges.at(-1)?.fill === 'red');
        await clock.advance(30_000);
        assert.equal(flow.badges.at(-1)?.fill, 'red', 'what else stands there stays');
      } finally {
        useClock(undefined);
      }
    });

    it('sends an unlock that may not wait soon or not at all', async () => {
      const clock = new ManualClock();
      useClock(clock);
      try {
        await load({ interface: 'v2' }, { commandsPerMinute: 1 });
        await flow.ask({ command: 'flash', interface: 'v2' });
        const { error } = (await flow.fail({ command: 'unlock' })).vehicle ?? {};
        assert.equal(error?.['code'], 'RATE_LIMITED');
        assert.ok(error?.['retryAt']);
        assert.equal(posts(), 1);
      } finally {
        useClock(undefined);
      }
    });

    it('unlocks once for each arming', async () => {
      await load({ arming: 30, interface: 'v1' });
      assert.equal(code(await flow.fail({ command: 'unlock' })), 'INPUT_INVALID');
      flow.send({ arm: true, command: 'unlock' });
      await flow.until(() => flow.completed.length === 1);
      assert.equal(posts(), 0);
      assert.ok((await flow.ask({ command: 'unlock' })).payload);
      assert.equal(code(await flow.fail({ command: 'unlock' })), 'INPUT_INVALID');
      assert.equal(posts(), 1);
    });

    it('locks without arming, and takes an arming back', async () => {
      await load({ arming: 30 });
      assert.ok((await flow.ask({ command: 'lock' })).payload);
      flow.send({ arm: true });
      flow.send({ cancel: true });
      assert.equal(code(await flow.fail({ command: 'unlock' })), 'INPUT_INVALID');
    });

    it('sends nothing for a message that carries arm or cancel, with any value', async () => {
      await load({ command: 'unlock', arming: 30 });
      for (const odd of ['true', 1, null, {}]) {
        assert.equal(code(await flow.fail({ arm: odd })), 'INPUT_INVALID');
        assert.equal(code(await flow.fail({ cancel: odd })), 'INPUT_INVALID');
      }
      flow.send({ arm: true });
      flow.send({ cancel: false });
      flow.send({ arm: false });
      await flow.until(() => flow.completed.length === 3);
      assert.equal(code(await flow.fail({})), 'INPUT_INVALID');
      assert.equal(posts(), 0);
    });

    it('sends nothing for an arming message if there is nothing to arm', async () => {
      await load({ command: 'unlock' });
      assert.equal(code(await flow.fail({ arm: true })), 'INPUT_INVALID');
      assert.equal(posts(), 0);
    });
  });
});
