import { strict as assert } from 'node:assert';
import {
  CarRunner,
  Guard,
  MemoryStateStore,
  VehicleError,
  type CarRunnerOptions,
  type Reading,
} from '../../../src/index';
import { askedAtOf, keepAskedAt } from '../../../src/car/reading';
import type { ReadName } from '../../../src/catalogue/reads';
import { closeAccounts, openTestAccount } from '../../support/account';
import { ManualClock } from '../../support/manual-clock';
import { firstSeed, Random, times } from '../../support/random';
import { startSimulator } from '../../support/simulator';
import { openRunner, vin } from './event-runners';

const histories = times(20);
const second = 1_000;
const { signal } = new AbortController();
const runnerOptions = { vin, onSaveFailed: () => undefined, onDropped: () => undefined };

/**
 * A car without timestamps. It answers with its state at the time of the question, up
 * to 150 seconds later.
 */
class SlowCar {
  readonly clock = new ManualClock();
  isOpen = false;
  /** How often it was opened and closed. */
  opened = 0;
  closed = 0;
  readonly client: CarRunnerOptions['client'];

  constructor(random: Random) {
    this.client = {
      clockSkewMs: 0,
      read: async (read: ReadName): Promise<Reading> => {
        const askedAt = this.clock.now();
        const [lock, window] = this.isOpen ? ['UNLOCKED', 'OPEN'] : ['LOCKED', 'CLOSED'];
        await this.clock.sleep(random.between(0, 150) * second);
        if (random.chance(0.05)) throw new VehicleError('SERVICE_ERROR', 'The service did not answer.');
        const receivedAt = new Date(this.clock.now()).toISOString();
        return {
          payload: read === 'doors' ? { carLocked: { value: lock } } : { frontLeft: { value: window } },
          vehicle: keepAskedAt({ vin, read, interface: null, receivedAt, measuredAt: null, source: 'live' }, askedAt),
        };
      },
    };
  }

  toggle(): void {
    this.isOpen = !this.isOpen;
    if (this.isOpen) this.opened += 1;
    else this.closed += 1;
  }
}

/**
 * An hour of polls, each half a minute after the one before, whether or not that one was answered.
 */
async function live<Event>(car: SlowCar, random: Random, poll: () => Promise<readonly Event[]>): Promise<Event[]> {
  const events: Event[] = [];
  const polls: Promise<unknown>[] = [];
  for (let round = 0; round < 120; round += 1) {
    if (random.chance(0.06)) car.toggle();
    polls.push(poll().then((found) => events.push(...found)));
    await car.clock.advance(30 * second);
  }
  await car.clock.advance(150 * second);
  await Promise.all(polls);
  return events;
}

describe('Answers without timestamps that overtake each other', () => {
  it(`give no event without a change of the car (${histories} histories from seed ${firstSeed})`, async function () {
    this.timeout(0);
    for (let seed = firstSeed; seed < firstSeed + histories; seed += 1) {
      const random = new Random(seed);
      const car = new SlowCar(random);
      const { client, clock } = car;
      const settings = { events: ['unlocked', 'locked'] };
      const runner = await openRunner({ settings, client, clock, store: new MemoryStateStore() });
      const events = await live(car, random, async () => (await runner.poll(['doors'], signal)).events);
      const count = (name: string): number => events.filter(({ event }) => event === name).length;
      assert.ok(count('unlocked') <= car.opened && count('locked') <= car.closed, `seed ${seed}`);
    }
  });

  it(`give no alert and no all clear without a change of the car (${histories} histories from seed ${firstSeed})`, async function () {
    this.timeout(0);
    for (let seed = firstSeed; seed < firstSeed + histories; seed += 1) {
      const random = new Random(seed);
      const car = new SlowCar(random);
      const { client, clock } = car;
      const guard = new Guard({ minutes: 0, watch: ['frontLeftWindow'], repeat: 0 });
      const options = { ...runnerOptions, client, clock, store: new MemoryStateStore(), key: 'guard/node' };
      const runner = await CarRunner.open(guard, options);
      const events = await live(car, random, async () => (await runner.poll(['windows'], signal)).events);
      const count = (name: string): number => events.filter(({ type }) => type === name).length;
      assert.ok(count('alert') <= car.opened && count('clear') <= car.closed, `seed ${seed}`);
    }
  });

  it('know when they were asked for, also if another reader asked', async () => {
    const clock = new ManualClock();
    const service = await startSimulator({ clock });
    try {
      const { client } = openTestAccount(service, { clock, shareForMs: 5_000 });
      const asked = clock.now();
      service.faults.add({ latencyMs: 20 * second, times: 1 });
      const reading = client.read('doors', { vin: service.car().vin });
      while (clock.sleeping === 0 || service.requests.length === 0)
        await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(20 * second);
      assert.equal(askedAtOf((await reading).vehicle), asked);
      assert.equal(Date.parse((await reading).vehicle.receivedAt), asked + 20 * second);
      await clock.advance(3 * second);
      assert.equal(askedAtOf((await client.read('doors', { vin: service.car().vin })).vehicle), asked);
    } finally {
      await closeAccounts();
      await service.close();
    }
  });
});
