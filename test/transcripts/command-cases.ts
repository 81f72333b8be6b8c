import type { CommandRecord } from '../../src/index';
import { electricCar, demoCar } from '../../src/simulator/index';
import type { Cast, Stage } from './stage';

/** A case: the nodes, and what happens to them. */
export interface Case {
  title: string;
  cast: Cast;
  play(stage: Stage): Promise<void>;
}

const command = (name: string, version: 'v1' | 'v2', more: Record<string, unknown> = {}): Cast['node'] => ({
  type: 'connected-vehicle-command',
  command: name,
  interface: version,
  ...more,
});

/** How the state of a command changes: its words, and the seconds after it was sent. A v2 answer has the last word. */
const states =
  (...steps: [word: string, after: number][]) =>
  ({ service }: Stage): void => {
    for (const car of service.cars.values())
      car.set({
        commandPlan: {
          steps: steps.map(([status, after]) => ({ status, afterMs: after * 1000 })),
          answerAfterMs: (steps.at(-1)?.[1] ?? 0) * 1000,
        },
      });
  };

/** Sends one message, and waits until nothing more can come. */
const once =
  (prepare: (stage: Stage) => void = () => undefined, seconds = 400) =>
  async (stage: Stage): Promise<void> => {
    prepare(stage);
    await stage.send();
    await stage.pass(seconds);
  };

/** A record as another Node-RED or another program wrote it, with a member of the flow's own. */
const foreignRecord = (stage: Stage, changes: Partial<CommandRecord> = {}): Record<string, unknown> => ({
  id: 'from elsewhere',
  command: 'flash',
  vin: stage.service.car().vin,
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
async function commandOfAnotherProgram(stage: Stage): Promise<Record<string, unknown>> {
  const { vin } = stage.service.car();
  const answer = await fetch(`${stage.service.url}/connected-vehicle/v1/vehicles/${vin}/commands/flash`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer demo-token',
      'vendor-api-key': 'demo-key',
      'content-type': 'application/vnd.vendor.api.connected-vehicle.flash.v1+json',
    },
  });
  const { data } = (await answer.json()) as { data: { async: CommandRecord['async'] } };
  return foreignRecord(stage, { async: data.async, sentAt: '2026-06-01T08:00:00.000Z' });
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
  // The end of a command, on both interfaces, with and without a proof, and with one and two result nodes.
  {
    title: 'v1 lock, completed after two changes',
    cast: { node: command('lock', 'v1'), results: [{}] },
    play: once(states(['RUNNING', 0], ['WAITING', 10], ['COMPLETED', 30])),
  },
  {
    title: 'v2 lock, completed',
    cast: { node: command('lock', 'v2'), results: [{}] },
    play: once(states(['COMPLETED', 8])),
  },
  {
    title: 'v2 lock, completed, without a result node',
    cast: { node: command('lock', 'v2') },
    play: once(states(['COMPLETED', 8])),
  },
  {
    title: 'v1 flash, completed after the time of one of two result nodes',
    cast: { node: command('flash', 'v1'), results: [{}, { timeout: 10, interval: 2, verify: false }] },
    play: once(states(['RUNNING', 0], ['COMPLETED', 30])),
  },
  {
    title: 'v2 unlock, completed, proof for one of two result nodes',
    cast: { node: command('unlock', 'v2'), results: [{}, { verify: false }] },
    play: once(states(['BY_RULE', 4])),
  },
  {
    title: 'v1 unlock for 60 seconds, by a message',
    cast: { node: command('unlock', 'v1'), results: [{}] },
    async play(stage) {
      states(['RUNNING', 0], ['BY_RULE', 4])(stage);
      await stage.send({ unlockDuration: 60 });
      await stage.pass(400);
    },
  },
  {
    title: 'v1 lock with an open door, read in the real dialect',
    cast: { node: command('lock', 'v1'), results: [{}], service: { dialect: 'real' } },
    play: once((stage) => stage.service.car().set({ doors: { rearLeft: 'OPEN' }, lock: 'UNLOCKED' })),
  },
  {
    title: 'v2 lock with an open door, for two result nodes',
    cast: { node: command('lock', 'v2'), results: [{ verify: false }, {}] },
    play: once((stage) => stage.service.car().set({ doors: { rearLeft: 'OPEN' }, lock: 'UNLOCKED' })),
  },
  {
    title: 'v1 lock, unknown for ever, though the doors are locked',
    cast: { node: command('lock', 'v1'), results: [{}] },
    play: once(states(['RUNNING', 0], ['UNKNOWN', 5])),
  },
  {
    title: 'v1 flash, unknown and then completed, for two result nodes',
    cast: { node: command('flash', 'v1'), results: [{}, { interval: 20 }] },
    play: once(states(['RUNNING', 0], ['UNKNOWN', 4], ['COMPLETED', 9])),
  },
  {
    title: 'v2 lock, unknown, without a proof',
    cast: { node: command('lock', 'v2'), results: [result] },
    play: once(states(['UNKNOWN', 4])),
  },
  {
    title: 'v1 honk, a word that nobody has named',
    cast: { node: command('honk', 'v1'), results: [result] },
    play: once(states(['RUNNING', 0], ['PARKED_ON_MARS', 4])),
  },
  {
    title: 'v2 lock-reduced-guard, the car is asleep',
    cast: { node: command('lock-reduced-guard', 'v2'), results: [{}] },
    play: once(states(['VEHICLE_IN_SLEEP', 4])),
  },
  {
    title: 'v1 lock, its link answers 404',
    cast: { node: command('lock', 'v1'), results: [{}] },
    play: once((stage) => {
      forever(stage);
      stage.service.faults.add({ match: link, times: 1 });
      stage.service.faults.add({ match: link, error: 'not-found' });
    }),
  },
  {
    title: 'v1 flash, its link answers 404 for two result nodes without a proof',
    cast: { node: command('flash', 'v1'), results: [result, { ...result, interval: 60 }] },
    play: once((stage) => {
      forever(stage);
      stage.service.faults.add({ match: link, error: 'not-found' });
    }),
  },
  {
    title: 'v1 lock, its link expires before the time of the result node',
    cast: { node: command('lock', 'v1'), results: [long] },
    play: once((stage) => {
      forever(stage);
      stage.service.faults.add({ match: post, members: { 'data.async.expires': { json: '2026-06-01T08:00:40Z' } } });
    }),
  },
  {
    title: 'v1 honk-flash, its link expires, for two result nodes without a proof',
    cast: { node: command('honk-flash', 'v1'), results: [{ ...result, timeout: 20 }, result] },
    play: once((stage) => {
      forever(stage);
      stage.service.faults.add({ match: post, members: { 'data.async.expires': { json: '2026-06-01T08:00:40Z' } } });
    }),
  },
  {
    title: 'v1 lock, running for ever',
    cast: { node: command('lock', 'v1'), results: [{ timeout: 60 }] },
    play: once(forever),
  },
  {
    title: 'v1 flash, running for ever, for two result nodes without a proof',
    cast: { node: command('flash', 'v1'), results: [result, { ...result, timeout: 40 }] },
    play: once(forever),
  },
  {
    title: 'v1 lock, its link cannot be read for a while',
    cast: { node: command('lock', 'v1'), results: [{}] },
    play: once((stage) => {
      states(['RUNNING', 0], ['COMPLETED', 10])(stage);
      stage.service.faults.add({ match: link, times: 9, status: 503 });
    }),
  },
  {
    title: 'v2 lock, still running when it is answered',
    cast: { node: command('lock', 'v2'), results: [{}] },
    play: once(states(['RUNNING', 5])),
  },
  {
    title: 'v2 flash, not answered in time',
    cast: { node: command('flash', 'v2'), results: [{}] },
    play: once((stage) => void stage.service.faults.add({ match: post, latencyMs: 500_000 }), 900),
  },
  {
    title: 'v2 lock, the connection is cut after it took effect',
    cast: { node: command('lock', 'v2'), results: [{}] },
    play: once((stage) => {
      stage.service.car().set({ lock: 'UNLOCKED' });
      stage.service.faults.add({ match: post, cut: 'after-effect' });
    }),
  },
  {
    title: 'v1 lock, a gateway answers 504',
    cast: { node: command('lock', 'v1'), results: [{}] },
    play: once((stage) => void stage.service.faults.add({ match: post, status: 504 })),
  },
  {
    title: 'v2 lock, refused with 422',
    cast: { node: command('lock', 'v2'), results: [{}] },
    play: once((stage) => void stage.service.faults.add({ match: post, status: 422 })),
  },
  {
    title: 'v1 flash, not found',
    cast: { node: command('flash', 'v1'), results: [{}] },
    play: once((stage) => void stage.service.faults.add({ match: post, error: 'not-found' })),
  },
  {
    title: 'v2 climatization-start, completed',
    cast: { node: command('climatization-start', 'v2'), results: [{}] },
    play: once(states(['COMPLETED', 4])),
  },
  {
    title: 'v2 engine-start for 5 minutes, by a message, proved by the engine',
    cast: { node: command('', 'v2', { whenBusy: 'queue' }), results: [{}] },
    async play(stage) {
      states(['COMPLETED', 4])(stage);
      await stage.send({ command: 'ENGINE_START', runtimeMinutes: 5 });
      await stage.pass(200);
    },
  },

  // What is in the way of a command.
  {
    title: 'v1 lock, while another one may still act; again after 150 seconds',
    cast: { node: command('lock', 'v1') },
    async play(stage) {
      forever(stage);
      await stage.send();
      await stage.pass(20);
      await stage.send();
      await stage.pass(140);
      await stage.send();
      await stage.pass(10);
    },
  },
  {
    title: 'v1 lock, queued behind one that completes',
    cast: { node: command('lock', 'v1', { whenBusy: 'queue' }), results: [{}] },
    async play(stage) {
      states(['RUNNING', 0], ['COMPLETED', 20])(stage);
      await stage.send();
      await stage.send();
      await stage.pass(200);
    },
  },
  {
    title: 'v1 flash, cancelled while it is queued',
    cast: { node: command('flash', 'v1', { whenBusy: 'queue' }), results: [{}] },
    async play(stage) {
      forever(stage);
      await stage.send();
      await stage.send();
      await stage.pass(10);
      await stage.send({ cancel: true });
      await stage.pass(300);
    },
  },
  {
    title: 'v2 lock, after one whose result the service does not know',
    cast: { node: command('lock', 'v2') },
    async play(stage) {
      states(['UNKNOWN', 2])(stage);
      await stage.send();
      await stage.pass(5);
      await stage.send();
      await stage.pass(5);
    },
  },
  {
    title: 'v2 lock, after one that the car answered with an error',
    cast: { node: command('lock', 'v2'), results: [result] },
    async play(stage) {
      stage.service.faults.add({
        match: post,
        times: 1,
        status: 400,
        body: { error: { message: 'BAD_REQUEST', description: 'Error returned from car' } },
      });
      await stage.send();
      await stage.pass(5);
      await stage.send();
      await stage.pass(30);
    },
  },
  {
    title: 'v2 lock, after one that was delivered',
    cast: { node: command('lock', 'v2') },
    async play(stage) {
      states(['DELIVERED', 2])(stage);
      await stage.send();
      await stage.pass(5);
      await stage.send();
      await stage.pass(5);
    },
  },
  {
    title: 'v2 lock, waits for a car that takes no commands',
    cast: { node: command('lock', 'v2', { whenUnavailable: 'wait', deadline: 600 }), results: [{}] },
    async play(stage) {
      stage.service.car().set({ inUse: true });
      await stage.send();
      await stage.pass(100);
      stage.service.car().set({ inUse: false });
      await stage.pass(300);
    },
  },
  {
    title: 'v2 lock, replaced by an unlock while it waits for the car',
    cast: { node: command('', 'v2', { whenUnavailable: 'wait', waitUnlock: true }), results: [result] },
    async play(stage) {
      states(['BY_RULE', 2])(stage);
      stage.service.car().set({ inUse: true });
      await stage.send({ command: 'lock' });
      await stage.pass(20);
      await stage.send({ command: 'unlock' });
      await stage.pass(20);
      stage.service.car().set({ inUse: false });
      await stage.pass(120);
    },
  },
  {
    title: 'v2 unlock, armed for 30 seconds, then not',
    cast: { node: command('unlock', 'v2', { arming: 30 }) },
    async play(stage) {
      await stage.send({ arm: true });
      await stage.pass(40);
      await stage.send();
      await stage.send({ arm: true });
      await stage.send();
      await stage.pass(20);
    },
  },
  {
    title: 'commands that cannot be sent',
    cast: { node: command('', 'v2') },
    async play(stage) {
      await stage.send();
      await stage.send({ command: 'make tea' });
      await stage.send({ command: 'lock', vin: 'short' });
      await stage.send({ command: 'unlock', unlockDuration: 121, interface: 'v1' });
      await stage.send({ command: 'lock', interface: 'v3' });
      await stage.send({ cancel: 'yes' });
      await stage.send({ command: 'lock', vin: 'YV1ABCDEFGHJK0000' });
      await stage.pass(5);
    },
  },
  {
    title: 'a command of a read-only vehicle',
    cast: { node: command('lock', 'v2'), vehicle: { readOnly: true } },
    play: once(),
  },
  {
    title: 'v2 lock, by a message without topic',
    cast: { node: command('lock', 'v2'), results: [{}] },
    async play(stage) {
      states(['COMPLETED', 2])(stage);
      await stage.send({ topic: undefined });
      await stage.pass(20);
    },
  },

  // Ends by a message.
  {
    title: 'v1 flash to two cars, one cancelled by its id, the other one not',
    cast: { node: command('flash', 'v1'), results: [result], service: twoCars },
    async play(stage) {
      forever(stage);
      await stage.send();
      await stage.send({ vin: secondCar });
      await stage.pass(5);
      const record = stage.flow.outputs[0]?.[0]?.payload as CommandRecord;
      await stage.send({ cancel: true, payload: { id: record.id } }, 'result 1');
      await stage.send({ cancel: true, payload: { id: 'no such id' } }, 'result 1');
      await stage.pass(300);
    },
  },
  {
    title: 'v1 flash to two cars, all cancelled in one of two result nodes',
    cast: { node: command('flash', 'v1'), results: [result, { ...result, timeout: 60 }], service: twoCars },
    async play(stage) {
      forever(stage);
      await stage.send();
      await stage.send({ vin: secondCar });
      await stage.pass(5);
      await stage.send({ cancel: true, payload: undefined }, 'result 1');
      await stage.pass(300);
    },
  },

  {
    title: 'v2 lock, still running when it is answered, cancelled while the doors are read',
    cast: { node: command('lock', 'v2'), results: [{}, {}] },
    async play(stage) {
      states(['RUNNING', 5])(stage);
      await stage.send();
      await stage.pass(8);
      await stage.send({ cancel: true, payload: undefined }, 'result 2');
      await stage.pass(60);
    },
  },

  // Records that come twice, or from elsewhere.
  {
    title: 'v1 flash, its record twice while it runs, and once more after its end',
    cast: { node: command('flash', 'v1'), results: [result] },
    async play(stage) {
      states(['RUNNING', 0], ['COMPLETED', 30])(stage);
      await stage.send();
      const payload = stage.flow.outputs[0]?.[0]?.payload;
      await stage.send({ payload }, 'result 1');
      await stage.pass(60);
      await stage.send({ payload }, 'result 1');
      await stage.pass(10);
    },
  },
  {
    title: 'a foreign record without a link, for a result node with a proof',
    cast: { node: command('flash', 'v1'), results: [{}] },
    async play(stage) {
      await stage.send({ payload: foreignRecord(stage, { command: 'lock' }) }, 'result 1');
      await stage.pass(300);
    },
  },
  {
    title: 'a foreign record with a link, for two result nodes',
    cast: { node: command('flash', 'v1'), results: [{}, { timeout: 20 }] },
    async play(stage) {
      states(['RUNNING', 0], ['COMPLETED', 30])(stage);
      const payload = await commandOfAnotherProgram(stage);
      await stage.send({ payload }, 'result 1');
      await stage.send({ payload }, 'result 2');
      await stage.pass(60);
    },
  },
  {
    title: 'a foreign record that has a result, with another case of its VIN',
    cast: { node: command('flash', 'v1'), results: [result] },
    async play(stage) {
      const { vin } = stage.service.car();
      const payload = foreignRecord(stage, {
        vin: vin.toLowerCase(),
        requestStatus: 'COMPLETED',
        outcome: 'succeeded',
      });
      await stage.send({ payload }, 'result 1');
      await stage.pass(30);
    },
  },
  {
    title: 'foreign records that cannot be followed',
    cast: { node: command('flash', 'v1'), results: [{}] },
    async play(stage) {
      const async = { status: 'RUNNING', id: '1', href: 'https://elsewhere.example/requests/1', expires: null };
      for (const payload of [
        foreignRecord(stage, { async: async as never }),
        foreignRecord(stage, { vin: 'short' }),
        { id: 'no record' },
        'COMPLETED',
      ])
        await stage.send({ payload }, 'result 1');
      await stage.pass(30);
    },
  },

  {
    title: 'v2 lock, its record twice for each of two result nodes, and once more after its end',
    cast: { node: command('lock', 'v2'), results: [{}, result] },
    async play(stage) {
      states(['UNKNOWN', 4])(stage);
      await stage.send();
      await stage.pass(5);
      const payload = stage.flow.outputs[0]?.[0]?.payload;
      for (const into of ['result 1', 'result 2']) await stage.send({ payload }, into);
      await stage.pass(60);
      for (const into of ['result 1', 'result 2']) await stage.send({ payload }, into);
      await stage.pass(10);
    },
  },
  {
    title: 'a foreign record of v2 without a result, for two result nodes, and cancelled by its id in one',
    cast: { node: command('lock', 'v2'), results: [{}, {}] },
    async play(stage) {
      stage.service.car().set({ lock: 'UNLOCKED' });
      const payload = foreignRecord(stage, { command: 'lock', interface: 'connected-v2', requestStatus: null });
      for (const into of ['result 1', 'result 2']) await stage.send({ payload }, into);
      await stage.send({ cancel: true, payload: { id: 'from elsewhere' } }, 'result 1');
      await stage.pass(60);
    },
  },
  // Restarts.
  {
    title: 'v1 lock, a restart while it is followed',
    cast: { node: command('lock', 'v1'), results: [{}] },
    async play(stage) {
      states(['RUNNING', 0], ['WAITING', 3], ['COMPLETED', 30])(stage);
      await stage.send();
      await stage.pass(10);
      await stage.restart();
      await stage.pass(60);
    },
  },
  {
    title: 'v1 flash, a restart that lasts longer than the time of one of two result nodes',
    cast: { node: command('flash', 'v1'), results: [result, { ...result, timeout: 20 }] },
    async play(stage) {
      states(['RUNNING', 0], ['COMPLETED', 30])(stage);
      await stage.send();
      await stage.pass(5);
      await stage.stop();
      await stage.pass(90);
      await stage.start();
      await stage.pass(60);
    },
  },
  {
    title: 'v1 lock, a restart while the doors are read, and its record once more after it',
    cast: { node: command('lock', 'v1'), results: [{ timeout: 20 }, { timeout: 20, verify: false }] },
    async play(stage) {
      forever(stage);
      await stage.send();
      const payload = stage.flow.outputs[0]?.[0]?.payload;
      await stage.pass(24);
      await stage.restart();
      await stage.send({ payload }, 'result 1');
      await stage.send({ payload }, 'result 2');
      await stage.pass(60);
    },
  },
  {
    title: 'v2 lock, a restart before it is answered',
    cast: { node: command('lock', 'v2'), results: [{}] },
    async play(stage) {
      states(['COMPLETED', 30])(stage);
      await stage.send();
      await stage.pass(10);
      await stage.restart();
      await stage.pass(200);
    },
  },
  {
    title: 'v2 lock, a restart after its result, and its record once more',
    cast: { node: command('lock', 'v2'), results: [result] },
    async play(stage) {
      states(['COMPLETED', 2])(stage);
      await stage.send();
      await stage.pass(20);
      const payload = stage.flow.outputs[0]?.[0]?.payload;
      await stage.restart();
      await stage.send({ payload }, 'result 1');
      await stage.pass(20);
    },
  },
  {
    title: 'v1 flash, a restart while it is queued',
    cast: { node: command('flash', 'v1', { whenBusy: 'queue' }), results: [result] },
    async play(stage) {
      states(['RUNNING', 0], ['COMPLETED', 60])(stage);
      await stage.send();
      await stage.send();
      await stage.pass(10);
      await stage.restart();
      await stage.pass(200);
    },
  },
  {
    title: 'v2 lock, still running when it is answered, a restart while one of two result nodes reads the doors',
    cast: { node: command('lock', 'v2'), results: [{}, result] },
    async play(stage) {
      states(['RUNNING', 5])(stage);
      await stage.send();
      await stage.pass(6);
      await stage.restart();
      await stage.pass(60);
    },
  },
  {
    title: 'a foreign record with a link, a restart while it is followed, and the record once more',
    cast: { node: command('flash', 'v1'), results: [result] },
    async play(stage) {
      states(['RUNNING', 0], ['COMPLETED', 30])(stage);
      const payload = await commandOfAnotherProgram(stage);
      await stage.send({ payload }, 'result 1');
      await stage.pass(10);
      await stage.restart();
      await stage.send({ payload }, 'result 1');
      await stage.pass(60);
    },
  },
  {
    title: 'v1 flash, cancelled after a restart',
    cast: { node: command('flash', 'v1'), results: [{}] },
    async play(stage) {
      forever(stage);
      await stage.send();
      await stage.pass(10);
      await stage.restart();
      await stage.send({ cancel: true, payload: undefined }, 'result 1');
      await stage.pass(300);
    },
  },
];
