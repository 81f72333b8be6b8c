import { strict as assert } from 'node:assert';
import {
  CommandAttempt,
  Membership,
  openAccount,
  Pack,
  pastedToken,
  resolveService,
  type Account,
  type CommandRecord,
  type RedisStateStore,
  type VehicleError,
} from '../../../src/index';
import { demoCar } from '../../../src/simulator/index';
import { ServiceInProcess } from '../../model/service-in-process';
import { describeLong } from '../../support/long';
import { ManualClock } from '../../support/manual-clock';
import { describeOnRedis, loadRedis, openRedis, RedisServer } from '../../support/redis-server';

const { vin } = demoCar;
const second = 1_000;

/*
 * Two Node-REDs on a real Redis, whose wall clock is set and whose values are lost while the car acts on a command. The service counts.
 */
describeLong('commands over a Redis that forgets, or whose clock is set', () => {
  describeOnRedis('with two processes', () => {
    let server: RedisServer;
    let clock: ManualClock;
    let service: ServiceInProcess;
    let stores: RedisStateStore[];
    let ends: (() => Promise<void>)[];
    /** How far the clock of the server was set forward, as both processes see it. */
    let aheadSeconds: number;

    beforeEach(async () => {
      clock = new ManualClock(Date.now());
      service = new ServiceInProcess({ dialect: 'real', cars: [demoCar], clock }, () => null);
      [stores, ends] = [[], []];
      aheadSeconds = 0;
      server = await RedisServer.start();
    });
    afterEach(async () => {
      const ending = Promise.all(ends.map((end) => end()));
      await clock.advanceInSteps(2 * second);
      await ending;
      for (const store of stores) await store.close();
      await server.end();
    });

    /** The pack knows the clock of the server by the replies to TIME alone: no value in the store ends by itself. */
    const loadStepped: typeof loadRedis = () => ({
      createClient: (options) => {
        const client = loadRedis().createClient(options);
        const sendCommand = client.sendCommand.bind(client);
        client.sendCommand = async (args) => {
          const reply = await sendCommand(args);
          const asksForTime = args[0] === 'TIME' || args[1]?.includes("redis.call('TIME')");
          if (!asksForTime || !Array.isArray(reply)) return reply;
          const [seconds, ...rest] = reply as unknown[];
          return [String(Number(seconds) + aheadSeconds), ...rest];
        };
        return client;
      },
    });
    const start = (name: string, group: string | null): Account => {
      const store = openRedis(server.url, { clock, load: loadStepped, scope: group ?? name });
      stores.push(store);
      const presence = new Membership({ store, group, clock });
      ends.push(presence.use());
      return openAccount({
        service: resolveService('custom', { baseUrl: service.url }),
        apiKey: 'demo-key',
        tokens: pastedToken('demo-token'),
        id: 'vehicle',
        limits: { requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: 1e6 },
        pack: new Pack({ clock, presence, store }),
        transport: { send: (request) => service.send(request), close: () => Promise.resolve() },
        random: () => 0,
      });
    };
    const send = ({ dispatcher }: Account, command: string, iface: 'v1' | 'v2'): Promise<CommandRecord> => {
      const options = { vin, interface: iface, origin: { node: command, msg: {} } } as const;
      const sent = dispatcher.send(command, options, new CommandAttempt({ clock }));
      sent.catch(() => undefined);
      return sent;
    };
    const posts = (): string[] =>
      service.requests.filter(({ method }) => method === 'POST').map(({ url }) => url.pathname.split('/').at(-1) ?? '');
    const isBusy = async (account: Account): Promise<void> => {
      const refused = send(account, 'unlock', 'v2').then(
        () => assert.fail('It was sent.'),
        (error: unknown) => error as VehicleError,
      );
      await clock.advanceInSteps(25 * second);
      assert.equal((await refused).status?.word, 'BUSY');
    };

    /** The first one's command acts for 110 seconds; meanwhile this happens, and the second one may send nothing. */
    const blocksWhile = async (group: string | null, iface: 'v1' | 'v2', happens: () => unknown): Promise<void> => {
      const [one, other] = [start('one', group), start('other', group)];
      await clock.advanceInSteps(20 * second);
      service.car.set({ commandPlan: { answerAfterMs: second } });
      const before = send(one, 'honk', 'v2');
      await clock.advanceInSteps(10 * second);
      assert.equal((await before).outcome, 'succeeded');
      const end = { afterMs: 110 * second, status: 'COMPLETED' };
      const steps = [{ afterMs: 0, status: 'RUNNING' }, end];
      service.car.set({ commandPlan: { steps, answerAfterMs: iface === 'v1' ? 0 : 110 * second } });
      const first = send(one, 'lock', iface);
      await clock.advanceInSteps(2 * second);
      assert.deepEqual(posts(), ['honk', 'lock']);
      await happens();
      await isBusy(other);
      await isBusy(other);
      assert.deepEqual(posts(), ['honk', 'lock']);
      await clock.advanceInSteps(100 * second);
      await first;
      const next = send(other, 'unlock', 'v1');
      await clock.advanceInSteps(10 * second);
      await next;
      assert.deepEqual(posts(), ['honk', 'lock', 'unlock']);
    };

    for (const iface of ['v1', 'v2'] as const) {
      for (const [change, seconds] of [
        ['back by an hour', -3_600],
        ['forward by 30 seconds', 30],
        ['forward by 5 minutes', 300],
        ['forward by an hour', 3_600],
      ] as const)
        it(`one at a time where its clock is set ${change} (${iface})`, () =>
          blocksWhile('flows', iface, () => (aheadSeconds = seconds)));
      for (const group of ['flows', null]) {
        const where = `${group === null ? 'without a group' : 'in a group'} (${iface})`;
        it(`one at a time where all of its values are lost, ${where}`, () =>
          blocksWhile(group, iface, () => server.send('FLUSHALL')));
        it(`one at a time where the slots of the cars are lost, ${where}`, () =>
          blocksWhile(group, iface, () => server.send('DEL', 'connected-vehicle:turn')));
      }
    }
  });
});
