import { strict as assert } from 'node:assert';
import { CommandAttempt, VehicleError, type CommandRecord } from '../../src/index';
import { meaningOf } from '../../src/catalogue/outcomes';
import { demoCar } from '../../src/simulator/index';
import { Processes, type Process } from '../support/processes';
import type { Random } from '../support/random';

const { vin } = demoCar;
const second = 1_000;
const minute = 60 * second;
const most = { requestsPerDay: 1e6, requestsPerMinute: 100, commandsPerMinute: 10 };
/** After this no command is still in progress (docs/internals/contract.md 4). */
const longestMs = 150 * second;

/** What histories met, for the count at the end. */
export interface FleetMet {
  asked: number;
  sent: number;
  joined: number;
  reads: number;
  kills: number;
  cuts: number;
  mostInAMinute: number;
}

interface Left {
  at: number;
  record: CommandRecord | null;
  isEnded: boolean;
}

/**
 * Ten minutes of one car that several processes with the same flows read and command over one
 * store, while processes are killed, and cut off from the store, and answers of the store are
 * lost. Throws if two commands to the car are in progress at once, one is sent twice, or the quota
 * of the key is exceeded.
 */
export async function runFleet(random: Random, count: number): Promise<FleetMet> {
  const badLine = random.chance(0.5) ? 0.2 : 0;
  const requests: number[] = [];
  const all = new Processes(() => {
    requests.push(all.clock.now());
    return random.chance(badLine) ? random.pick(['lost', 'unheard', 'error', 'slow'] as const) : null;
  });
  const limits = { ...most, requestsPerMinute: random.pick([10, 40, 100]) };
  const group = random.chance(0.7) ? 'flows' : null;
  const processes = Array.from({ length: count }, () => all.start(group, limits));
  const met: FleetMet = { asked: 0, sent: 0, joined: 0, reads: 0, kills: 0, cuts: 0, mostInAMinute: 0 };
  const left: Left[] = [];
  const failures: unknown[] = [];
  all.service.car.set({
    commandPlan: {
      steps: [
        { afterMs: 0, status: 'RUNNING' },
        { afterMs: random.between(1, 200) * second, status: random.pick(['COMPLETED', 'REJECTED', 'TIMEOUT']) },
      ],
      answerAfterMs: random.between(0, 120) * second,
    },
  });

  const isUnderWay = ({ at, record, isEnded }: Left, now: number): boolean => {
    if (now - at >= longestMs) return false;
    if (!isEnded || record === null) return !isEnded;
    if (record.requestStatus === null) return true;
    if (record.outcome !== 'pending') return false;
    const invocation = all.service.car.invocations.find(({ id }) => record.async?.id === id);
    return invocation !== undefined && meaningOf(invocation.statusAt(now)).outcome === 'pending';
  };

  const ask = async (process: Process, command: string): Promise<void> => {
    met.asked += 1;
    let own: Left | null = null;
    const attempt = new CommandAttempt({ clock: all.clock });
    attempt.check = () => {
      const now = all.clock.now();
      if (own !== null) failures.push(new Error('a command was sent twice'));
      if (left.some((before) => isUnderWay(before, now))) failures.push(new Error('two commands are under way'));
      left.push((own = { at: now, record: null, isEnded: false }));
    };
    const options = {
      vin,
      interface: random.pick(['v1', 'v2'] as const),
      whenBusy: random.pick(['refuse', 'queue', 'queue'] as const),
      whenUnavailable: random.pick(['fail', 'wait'] as const),
      waitMs: random.between(10, 300) * second,
      origin: { node: command, msg: {} },
    };
    /** What `attempt.check` has set, which the compiler does not see. */
    const sent = (): Left | null => own;
    try {
      const record = await process.account.dispatcher.send(command, options, attempt);
      if (sent() === null) met.joined += 1;
      else met.sent += 1;
      Object.assign(sent() ?? {}, { record });
    } catch (error) {
      if (!(error instanceof VehicleError)) failures.push(error);
    } finally {
      Object.assign(sent() ?? {}, { isEnded: true });
    }
  };

  const alive = (): Process => random.pick(processes as [Process, ...Process[]]);
  for (let commands = random.between(4, 14); commands > 0; commands -= 1)
    all.clock.after(random.between(0, 480) * second, () => {
      const command = random.pick(['lock', 'unlock', 'honk', 'flash']);
      void ask(alive(), command);
      // The message also reaches another copy of the flow.
      if (group !== null && random.chance(0.3)) void ask(alive(), command);
    });
  for (let bursts = random.between(0, 12); bursts > 0; bursts -= 1)
    all.clock.after(random.between(0, 540) * second, () => {
      const { account } = alive();
      for (let reads = random.between(1, 40); reads > 0; reads -= 1)
        void account.client
          .read('doors', { vin: `${vin.slice(0, -2)}${10 + reads}`, maxAgeMs: 0 })
          .catch(() => undefined);
    });
  const readOn = async ({ account, line }: Process, until: number): Promise<void> => {
    while (all.clock.now() < until && !line.isDead)
      await account.client.read('doors', { vin, maxAgeMs: 0 }).catch(() => all.clock.sleep(second));
  };
  for (let readers = random.between(0, 6); readers > 0; readers -= 1)
    all.clock.after(random.between(0, 300) * second, () => {
      void readOn(alive(), all.clock.now() + random.between(1, 240) * second);
    });
  for (let cuts = random.between(0, 6); cuts > 0; cuts -= 1)
    all.clock.after(random.between(0, 480) * second, () => {
      const { line } = alive();
      met.cuts += 1;
      line.isCut = true;
      all.clock.after(random.between(1, 240) * second, () => (line.isCut = line.isDead));
    });
  for (let losses = random.between(0, 10); losses > 0; losses -= 1)
    all.clock.after(random.between(0, 480) * second, () => (alive().line.unheard = random.between(1, 3)));
  for (let kills = random.between(0, 3); kills > 0; kills -= 1)
    all.clock.after(random.between(0, 480) * second, () => {
      const index = random.between(0, processes.length - 1);
      met.kills += 1;
      processes[index]?.line.kill();
      processes[index] = all.start(group, limits);
    });
  for (let naps = random.between(0, 4); naps > 0; naps -= 1)
    all.clock.after(random.between(0, 480) * second, () => all.service.car.set({ inUse: random.chance(0.5) }));

  for (let minutes = 0; minutes < 10 && failures.length === 0; minutes += 1) await all.clock.advance(minute);
  await all.end();
  if (failures.length > 0) throw failures[0] as Error;
  met.reads = requests.length - left.length;
  let first = 0;
  requests.forEach((time, index) => {
    while (time - (requests[first] ?? 0) >= minute) first += 1;
    met.mostInAMinute = Math.max(met.mostInAMinute, index - first + 1);
  });
  assert.ok(met.mostInAMinute <= limits.requestsPerMinute, `${met.mostInAMinute} requests in a minute`);
  return met;
}

const cars = Array.from({ length: 1_000 }, (_, index) => ({ ...demoCar, vin: `YV4952NA4F1${100_000 + index}` }));

/**
 * What processes ask of one store, with 10 API keys: while nothing happens, with 1,000 cars
 * that are read every two minutes and locked once an hour, and while each process reads as
 * often as the keys allow.
 */
export async function askOfStore(count: number): Promise<Record<string, { operations: number; bytes: number }>> {
  const all = new Processes(() => null, { cars: [demoCar, ...cars] });
  const processes = Array.from({ length: count }, (_, index) => all.start(null, most, false, `key-${index % 10}`));
  const measure = async (ms: number): Promise<{ operations: number; bytes: number }> => {
    for (const { line } of processes) [line.calls.length, line.bytes] = [0, 0];
    await all.clock.advance(ms);
    const sum = (of: (process: Process) => number): number =>
      Math.round((processes.reduce((total, process) => total + of(process), 0) / ms) * second);
    return { operations: sum(({ line }) => line.calls.length), bytes: sum(({ line }) => line.bytes) };
  };
  await all.clock.advance(20 * second);
  const idle = await measure(minute);
  const day = new AbortController();
  const repeat = async (everyMs: number, firstMs: number, work: () => Promise<unknown>): Promise<void> => {
    for (let wait = firstMs; !day.signal.aborted; wait = everyMs) {
      await all.clock.sleep(wait, day.signal).catch(() => undefined);
      if (!day.signal.aborted) await work().catch(() => undefined);
    }
  };
  cars.forEach(({ vin: own }, index) => {
    const process = processes[index % count];
    if (process === undefined) return;
    const { client, dispatcher } = process.account;
    const options = { vin: own, interface: 'v2', origin: { node: own, msg: {} } } as const;
    void repeat(2 * minute, index * 120, () => client.read('doors', { vin: own, maxAgeMs: 0 }));
    void repeat(60 * minute, index * 3_600, () =>
      dispatcher.send('lock', options, new CommandAttempt({ clock: all.clock })),
    );
  });
  await all.clock.advance(2 * minute);
  const ordinary = await measure(3 * minute);
  day.abort();
  const until = all.clock.now() + 3 * minute;
  const readOn = async ({ account }: Process): Promise<void> => {
    while (all.clock.now() < until)
      await account.client.read('doors', { vin, maxAgeMs: 0 }).catch(() => all.clock.sleep(second));
  };
  for (const process of processes) void readOn(process);
  await all.clock.advance(minute);
  const reading = await measure(minute);
  await all.end();
  return {
    idle,
    '1,000 cars, a read every 2 min and a command an hour': ordinary,
    'as often as 10 keys allow': reading,
  };
}
