import type { CommandRecord } from '../../src/index';
import { electricCar, demoCar, type CarChanges } from '../../src/simulator/index';
import type { FaultOptions } from '../support/simulator';
import type { FlowSetup, TimedFlow } from './timed-flow';

/** A case: the nodes, and what happens to them. */
export interface Case {
  title: string;
  setup: FlowSetup;
  run(timedFlow: TimedFlow): Promise<void>;
}

const command = (name: string, version: 'v1' | 'v2', more: Record<string, unknown> = {}): FlowSetup['node'] => ({
  type: 'connected-vehicle-command',
  command: name,
  interface: version,
  ...more,
});

/**
 * How the state of a command changes: its words, and the seconds after it was sent. A v2
 * answer has the last word.
 */
const states =
  (...steps: [word: string, after: number][]) =>
  ({ service }: TimedFlow): void => {
    for (const car of service.cars.values())
      car.set({
        commandPlan: {
          steps: steps.map(([status, after]) => ({ status, afterMs: after * 1000 })),
          answerAfterMs: (steps.at(-1)?.[1] ?? 0) * 1000,
        },
      });
  };

/** What happens; a number is the seconds that pass. */
type Step = number | ((timedFlow: TimedFlow) => unknown);

const inOrder =
  (...steps: readonly Step[]) =>
  async (timedFlow: TimedFlow): Promise<void> => {
    for (const step of steps) await (typeof step === 'number' ? timedFlow.pass(step) : step(timedFlow));
  };
const send =
  (...message: Parameters<TimedFlow['send']>) =>
  (timedFlow: TimedFlow): Promise<void> =>
    timedFlow.send(...message);
/** The record of the first command comes once more. */
const again =
  (into: string) =>
  (timedFlow: TimedFlow): Promise<void> =>
    timedFlow.send({ payload: timedFlow.flow.outputs[0]?.[0]?.payload }, into);
const stop = (timedFlow: TimedFlow): Promise<void> => timedFlow.stop();
const start = (timedFlow: TimedFlow): Promise<void> => timedFlow.start();
const restart = (timedFlow: TimedFlow): Promise<void> => timedFlow.restart();
const car =
  (changes: CarChanges) =>
  ({ service }: TimedFlow): unknown =>
    service.car().set(changes);
const fault =
  (options: FaultOptions) =>
  ({ service }: TimedFlow): unknown =>
    service.faults.add(options);

/** Sends one message, and waits until nothing more can come. */
const once = (prepare: Step = () => undefined, seconds = 400): Case['run'] => inOrder(prepare, send(), seconds);

/** A record as another Node-RED or another program wrote it, with a member of the flow's own. */
const foreignRecord = (timedFlow: TimedFlow, changes: Partial<CommandRecord> = {}): Record<string, unknown> => ({
  id: 'from elsewhere',
  command: 'flash',
  vin: timedFlow.service.car().vin,
  interface: 'connected-v1',
  sentAt: '2026-06-01T07:59:50.000Z',
  operationId: null,
  requestStatus: 'RUNNING',
  outcome: 'pending',
  message: '',
  async: null,
  garage: 'left',
  ...changes,
});

/** A v1 command that this Node-RED did not send, and its record. */
async function commandOfAnotherProgram(timedFlow: TimedFlow): Promise<Record<string, unknown>> {
  const { vin } = timedFlow.service.car();
  const answer = await fetch(`${timedFlow.service.url}/connected-vehicle/v1/vehicles/${vin}/commands/flash`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer demo-token',
      'vendor-api-key': 'demo-key',
      'content-type': 'application/vnd.vendor.api.connected-vehicle.flash.v1+json',
    },
  });
  const { data } = (await answer.json()) as { data: { async: CommandRecord['async'] } };
  return foreignRecord(timedFlow, { async: data.async, sentAt: '2026-06-01T08:00:00.000Z' });
}

const secondCar = electricCar.vin;
const twoCars = { cars: [demoCar, electricCar] };
const result = { verify: false };
const long = { timeout: 900 };
const forever = states(['RUNNING', 0]);
const post = { method: 'POST' };
const link = { method: 'GET', path: '/requests/' };

/** From docs/internals/contract.md 4 to 6: each value of each dimension, and most pairs of them. */
export const cases: Case[] = [
  // The end of a command, on both interfaces, with and without a proof, and with one
  // and two result nodes.
  {
    title: 'v1 lock, completed after two changes',
    setup: { node: command('lock', 'v1'), results: [{}] },
    run: once(states(['RUNNING', 0], ['WAITING', 10], ['COMPLETED', 30])),
  },
  {
    title: 'v2 lock, completed',
    setup: { node: command('lock', 'v2'), results: [{}] },
    run: once(states(['COMPLETED', 8])),
  },
  {
    title: 'v2 lock, completed, without a result node',
    setup: { node: command('lock', 'v2') },
    run: once(states(['COMPLETED', 8])),
  },
  {
    title: 'v1 flash, completed after the time of one of two result nodes',
    setup: { node: command('flash', 'v1'), results: [{}, { timeout: 10, interval: 2, verify: false }] },
    run: once(states(['RUNNING', 0], ['COMPLETED', 30])),
  },
  {
    title: 'v2 unlock, completed, proof for one of two result nodes',
    setup: { node: command('unlock', 'v2'), results: [{}, { verify: false }] },
    run: once(states(['BY_RULE', 4])),
  },
  {
    title: 'v1 unlock for 60 seconds, by a message',
    setup: { node: command('unlock', 'v1'), results: [{}] },
    run: inOrder(states(['RUNNING', 0], ['BY_RULE', 4]), send({ unlockDuration: 60 }), 400),
  },
  {
    title: 'v1 lock with an open door, read in the real dialect',
    setup: { node: command('lock', 'v1'), results: [{}], service: { dialect: 'real' } },
    run: once(car({ doors: { rearLeft: 'OPEN' }, lock: 'UNLOCKED' })),
  },
  {
    title: 'v2 lock with an open door, for two result nodes',
    setup: { node: command('lock', 'v2'), results: [{ verify: false }, {}] },
    run: once(car({ doors: { rearLeft: 'OPEN' }, lock: 'UNLOCKED' })),
  },
  {
    title: 'v1 lock, unknown for ever, though the doors are locked',
    setup: { node: command('lock', 'v1'), results: [{}] },
    run: once(states(['RUNNING', 0], ['UNKNOWN', 5])),
  },
  {
    title: 'v1 flash, unknown and then completed, for two result nodes',
    setup: { node: command('flash', 'v1'), results: [{}, { interval: 20 }] },
    run: once(states(['RUNNING', 0], ['UNKNOWN', 4], ['COMPLETED', 9])),
  },
  {
    title: 'v2 lock, unknown, without a proof',
    setup: { node: command('lock', 'v2'), results: [result] },
    run: once(states(['UNKNOWN', 4])),
  },
  {
    title: 'v1 honk, a word that nobody has named',
    setup: { node: command('honk', 'v1'), results: [result] },
    run: once(states(['RUNNING', 0], ['PARKED_ON_MARS', 4])),
  },
  {
    title: 'v2 lock-reduced-guard, the car is asleep',
    setup: { node: command('lock-reduced-guard', 'v2'), results: [{}] },
    run: once(states(['VEHICLE_IN_SLEEP', 4])),
  },
  {
    title: 'v1 lock, its link answers 404',
    setup: { node: command('lock', 'v1'), results: [{}] },
    run: inOrder(forever, fault({ match: link, times: 1 }), fault({ match: link, error: 'not-found' }), send(), 400),
  },
  {
    title: 'v1 flash, its link answers 404 for two result nodes without a proof',
    setup: { node: command('flash', 'v1'), results: [result, { ...result, interval: 60 }] },
    run: inOrder(forever, fault({ match: link, error: 'not-found' }), send(), 400),
  },
  {
    title: 'v1 lock, its link expires before the time of the result node',
    setup: { node: command('lock', 'v1'), results: [long] },
    run: inOrder(
      forever,
      fault({ match: post, members: { 'data.async.expires': { json: '2026-06-01T08:00:40Z' } } }),
      send(),
      400,
    ),
  },
  {
    title: 'v1 honk-flash, its link expires, for two result nodes without a proof',
    setup: { node: command('honk-flash', 'v1'), results: [{ ...result, timeout: 20 }, result] },
    run: inOrder(
      forever,
      fault({ match: post, members: { 'data.async.expires': { json: '2026-06-01T08:00:40Z' } } }),
      send(),
      400,
    ),
  },
  {
    title: 'v1 lock, running for ever',
    setup: { node: command('lock', 'v1'), results: [{ timeout: 60 }] },
    run: once(forever),
  },
  {
    title: 'v1 flash, running for ever, for two result nodes without a proof',
    setup: { node: command('flash', 'v1'), results: [result, { ...result, timeout: 40 }] },
    run: once(forever),
  },
  {
    title: 'v1 lock, its link cannot be read for a while',
    setup: { node: command('lock', 'v1'), results: [{}] },
    run: inOrder(states(['RUNNING', 0], ['COMPLETED', 10]), fault({ match: link, times: 9, status: 503 }), send(), 400),
  },
  {
    title: 'v2 lock, still running when it is answered',
    setup: { node: command('lock', 'v2'), results: [{}] },
    run: once(states(['RUNNING', 5])),
  },
  {
    title: 'v2 flash, not answered in time',
    setup: { node: command('flash', 'v2'), results: [{}] },
    run: once(fault({ match: post, latencyMs: 500_000 }), 900),
  },
  {
    title: 'v2 lock, the connection is cut after it took effect',
    setup: { node: command('lock', 'v2'), results: [{}] },
    run: inOrder(car({ lock: 'UNLOCKED' }), fault({ match: post, cut: 'after-effect' }), send(), 400),
  },
  {
    title: 'v1 lock, a gateway answers 504',
    setup: { node: command('lock', 'v1'), results: [{}] },
    run: once(fault({ match: post, status: 504 })),
  },
  {
    title: 'v2 lock, refused with 422',
    setup: { node: command('lock', 'v2'), results: [{}] },
    run: once(fault({ match: post, status: 422 })),
  },
  {
    title: 'v1 flash, not found',
    setup: { node: command('flash', 'v1'), results: [{}] },
    run: once(fault({ match: post, error: 'not-found' })),
  },
  {
    title: 'v2 climatization-start, completed',
    setup: { node: command('climatization-start', 'v2'), results: [{}] },
    run: once(states(['COMPLETED', 4])),
  },
  {
    title: 'v2 engine-start for 5 minutes, by a message, proved by the engine',
    setup: { node: command('', 'v2', { whenBusy: 'queue' }), results: [{}] },
    run: inOrder(states(['COMPLETED', 4]), send({ command: 'ENGINE_START', runtimeMinutes: 5 }), 200),
  },

  // What is in the way of a command.
  {
    title: 'v1 lock, while another one may still act; again after 150 seconds',
    setup: { node: command('lock', 'v1') },
    run: inOrder(forever, send(), 20, send(), 140, send(), 10),
  },
  {
    title: 'v1 lock, queued behind one that completes',
    setup: { node: command('lock', 'v1', { whenBusy: 'queue' }), results: [{}] },
    run: inOrder(states(['RUNNING', 0], ['COMPLETED', 20]), send(), send(), 200),
  },
  {
    title: 'v1 flash, cancelled while it is queued',
    setup: { node: command('flash', 'v1', { whenBusy: 'queue' }), results: [{}] },
    run: inOrder(forever, send(), send(), 10, send({ cancel: true }), 300),
  },
  {
    title: 'v2 lock, after one whose result the service does not know',
    setup: { node: command('lock', 'v2') },
    run: inOrder(states(['UNKNOWN', 2]), send(), 5, send(), 5),
  },
  {
    title: 'v2 lock, after one that the car answered with an error',
    setup: { node: command('lock', 'v2'), results: [result] },
    run: inOrder(
      fault({
        match: post,
        times: 1,
        status: 400,
        body: { error: { message: 'BAD_REQUEST', description: 'Error returned from car' } },
      }),
      send(),
      5,
      send(),
      30,
    ),
  },
  {
    title: 'v2 lock, after one that was delivered',
    setup: { node: command('lock', 'v2') },
    run: inOrder(states(['DELIVERED', 2]), send(), 5, send(), 5),
  },
  {
    title: 'v2 lock, waits for a car that takes no commands',
    setup: { node: command('lock', 'v2', { whenUnavailable: 'wait', deadline: 600 }), results: [{}] },
    run: inOrder(car({ inUse: true }), send(), 100, car({ inUse: false }), 300),
  },
  {
    title: 'v2 lock, replaced by an unlock while it waits for the car',
    setup: { node: command('', 'v2', { whenUnavailable: 'wait', waitUnlock: true }), results: [result] },
    run: inOrder(
      states(['BY_RULE', 2]),
      car({ inUse: true }),
      send({ command: 'lock' }),
      20,
      send({ command: 'unlock' }),
      20,
      car({ inUse: false }),
      120,
    ),
  },
  {
    title: 'v2 unlock, armed for 30 seconds, then not',
    setup: { node: command('unlock', 'v2', { arming: 30 }) },
    run: inOrder(send({ arm: true }), 40, send(), send({ arm: true }), send(), 20),
  },
  {
    title: 'commands that cannot be sent',
    setup: { node: command('', 'v2') },
    run: inOrder(
      send(),
      send({ command: 'make tea' }),
      send({ command: 'lock', vin: 'short' }),
      send({ command: 'unlock', unlockDuration: 121, interface: 'v1' }),
      send({ command: 'lock', interface: 'v3' }),
      send({ cancel: 'yes' }),
      send({ command: 'lock', vin: 'YV1ABCDEFGHJK0000' }),
      5,
    ),
  },
  {
    title: 'a command of a read-only vehicle',
    setup: { node: command('lock', 'v2'), vehicle: { readOnly: true } },
    run: once(),
  },
  {
    title: 'v2 lock, by a message without topic',
    setup: { node: command('lock', 'v2'), results: [{}] },
    run: inOrder(states(['COMPLETED', 2]), send({ topic: undefined }), 20),
  },

  // Ends by a message.
  {
    title: 'v1 flash to two cars, one cancelled by its id, the other one not',
    setup: { node: command('flash', 'v1'), results: [result], service: twoCars },
    async run(timedFlow) {
      forever(timedFlow);
      await timedFlow.send();
      await timedFlow.send({ vin: secondCar });
      await timedFlow.pass(5);
      const record = timedFlow.flow.outputs[0]?.[0]?.payload as CommandRecord;
      await timedFlow.send({ cancel: true, payload: { id: record.id } }, 'result 1');
      await timedFlow.send({ cancel: true, payload: { id: 'no such id' } }, 'result 1');
      await timedFlow.pass(300);
    },
  },
  {
    title: 'v1 flash to two cars, all cancelled in one of two result nodes',
    setup: { node: command('flash', 'v1'), results: [result, { ...result, timeout: 60 }], service: twoCars },
    run: inOrder(
      forever,
      send(),
      send({ vin: secondCar }),
      5,
      send({ cancel: true, payload: undefined }, 'result 1'),
      300,
    ),
  },

  {
    title: 'v2 lock, still running when it is answered, cancelled while the doors are read',
    setup: { node: command('lock', 'v2'), results: [{}, {}] },
    run: inOrder(states(['RUNNING', 5]), send(), 8, send({ cancel: true, payload: undefined }, 'result 2'), 60),
  },

  // Records that come twice, or from elsewhere.
  {
    title: 'v1 flash, its record twice while it runs, and once more after its end',
    setup: { node: command('flash', 'v1'), results: [result] },
    run: inOrder(states(['RUNNING', 0], ['COMPLETED', 30]), send(), again('result 1'), 60, again('result 1'), 10),
  },
  {
    title: 'a foreign record without a link, for a result node with a proof',
    setup: { node: command('flash', 'v1'), results: [{}] },
    async run(timedFlow) {
      await timedFlow.send({ payload: foreignRecord(timedFlow, { command: 'lock' }) }, 'result 1');
      await timedFlow.pass(300);
    },
  },
  {
    title: 'a foreign record with a link, for two result nodes',
    setup: { node: command('flash', 'v1'), results: [{}, { timeout: 20 }] },
    async run(timedFlow) {
      states(['RUNNING', 0], ['COMPLETED', 30])(timedFlow);
      const payload = await commandOfAnotherProgram(timedFlow);
      await timedFlow.send({ payload }, 'result 1');
      await timedFlow.send({ payload }, 'result 2');
      await timedFlow.pass(60);
    },
  },
  {
    title: 'a foreign record that has a result, with another case of its VIN',
    setup: { node: command('flash', 'v1'), results: [result] },
    async run(timedFlow) {
      const { vin } = timedFlow.service.car();
      const payload = foreignRecord(timedFlow, {
        vin: vin.toLowerCase(),
        requestStatus: 'COMPLETED',
        outcome: 'succeeded',
      });
      await timedFlow.send({ payload }, 'result 1');
      await timedFlow.pass(30);
    },
  },
  {
    title: 'foreign records that cannot be followed',
    setup: { node: command('flash', 'v1'), results: [{}] },
    async run(timedFlow) {
      const async = { status: 'RUNNING', id: '1', href: 'https://elsewhere.example/requests/1', expires: null };
      for (const payload of [
        foreignRecord(timedFlow, { async: async as never }),
        foreignRecord(timedFlow, { vin: 'short' }),
        { id: 'no record' },
        'COMPLETED',
      ])
        await timedFlow.send({ payload }, 'result 1');
      await timedFlow.pass(30);
    },
  },

  {
    title: 'v2 lock, its record twice for each of two result nodes, and once more after its end',
    setup: { node: command('lock', 'v2'), results: [{}, result] },
    run: inOrder(
      states(['UNKNOWN', 4]),
      send(),
      5,
      again('result 1'),
      again('result 2'),
      60,
      again('result 1'),
      again('result 2'),
      10,
    ),
  },
  {
    title: 'a foreign record of v2 without a result, for two result nodes, and cancelled by its id in one',
    setup: { node: command('lock', 'v2'), results: [{}, {}] },
    async run(timedFlow) {
      timedFlow.service.car().set({ lock: 'UNLOCKED' });
      const payload = foreignRecord(timedFlow, { command: 'lock', interface: 'connected-v2', requestStatus: null });
      for (const into of ['result 1', 'result 2']) await timedFlow.send({ payload }, into);
      await timedFlow.send({ cancel: true, payload: { id: 'from elsewhere' } }, 'result 1');
      await timedFlow.pass(60);
    },
  },
  // Restarts.
  {
    title: 'v1 lock, a restart while it is followed',
    setup: { node: command('lock', 'v1'), results: [{}] },
    run: inOrder(states(['RUNNING', 0], ['WAITING', 3], ['COMPLETED', 30]), send(), 10, restart, 60),
  },
  {
    title: 'v1 flash, a restart that lasts longer than the time of one of two result nodes',
    setup: { node: command('flash', 'v1'), results: [result, { ...result, timeout: 20 }] },
    run: inOrder(states(['RUNNING', 0], ['COMPLETED', 30]), send(), 5, stop, 90, start, 60),
  },
  {
    title: 'v1 lock, a restart while the doors are read, and its record once more after it',
    setup: { node: command('lock', 'v1'), results: [{ timeout: 20 }, { timeout: 20, verify: false }] },
    run: inOrder(forever, send(), 24, restart, again('result 1'), again('result 2'), 60),
  },
  {
    title: 'v2 lock, a restart before it is answered',
    setup: { node: command('lock', 'v2'), results: [{}] },
    run: inOrder(states(['COMPLETED', 30]), send(), 10, restart, 200),
  },
  {
    title: 'v2 lock, a restart after its result, and its record once more',
    setup: { node: command('lock', 'v2'), results: [result] },
    run: inOrder(states(['COMPLETED', 2]), send(), 20, restart, again('result 1'), 20),
  },
  {
    title: 'v1 flash, a restart while it is queued',
    setup: { node: command('flash', 'v1', { whenBusy: 'queue' }), results: [result] },
    run: inOrder(states(['RUNNING', 0], ['COMPLETED', 60]), send(), send(), 10, restart, 200),
  },
  {
    title: 'v2 lock, still running when it is answered, a restart while one of two result nodes reads the doors',
    setup: { node: command('lock', 'v2'), results: [{}, result] },
    run: inOrder(states(['RUNNING', 5]), send(), 6, restart, 60),
  },
  {
    title: 'a foreign record with a link, a restart while it is followed, and the record once more',
    setup: { node: command('flash', 'v1'), results: [result] },
    async run(timedFlow) {
      states(['RUNNING', 0], ['COMPLETED', 30])(timedFlow);
      const payload = await commandOfAnotherProgram(timedFlow);
      await timedFlow.send({ payload }, 'result 1');
      await timedFlow.pass(10);
      await timedFlow.restart();
      await timedFlow.send({ payload }, 'result 1');
      await timedFlow.pass(60);
    },
  },
  {
    title: 'v1 flash, cancelled after a restart',
    setup: { node: command('flash', 'v1'), results: [{}] },
    run: inOrder(forever, send(), 10, restart, send({ cancel: true, payload: undefined }, 'result 1'), 300),
  },
];
