import { strict as assert } from 'node:assert';
import { CommandAttempt, Pack, VehicleError, type Account, type CommandRecord } from '../../src/index';
import { meaningOf } from '../../src/catalogue/outcomes';
import type { DispatchOptions } from '../../src/commands/dispatcher';
import { accountOn, follow } from '../support/account';
import { demoCar } from '../../src/simulator/index';
import { ManualClock } from '../support/manual-clock';
import type { Random } from '../support/random';
import { ServiceInProcess, type Mishap } from './service-in-process';

const { vin } = demoCar;
const second = 1_000;
const minute = 60 * second;
/**
 * What a command may take besides its wait: its turn at the budget, connecting, and
 * the answer of the car.
 */
const afterwardsMs = 300 * second;
/** After this no command is still in progress (docs/internals/vendor-api.md 5). */
const longestMs = 150 * second;

/** What a history met, for the count at the end. */
export interface DispatchesMet {
  sent: number;
  lost: number;
  refusedByTheService: number;
  busy: number;
  late: number;
  replaced: number;
  cancelled: number;
  disarmed: number;
  queued: number;
}

/** One requested command, and its outcome. */
interface Asked {
  options: DispatchOptions;
  askedAt: number;
  mayWait: boolean;
  /** The time at which its first byte left. */
  leftAt: number | null;
  /** When it was answered, or given up on. */
  endedAt: number | null;
  record: CommandRecord | null;
  calledOffAt: number;
  disarmedAt: number;
}

/**
 * Some minutes of a car that several nodes of one or two configurations send commands to: they
 * queue, wait for the car, are called off, lose their arming, meet a bad line and deploys. Throws
 * if a command leaves that must not, or two are in progress at once.
 */
export async function sendAround(random: Random): Promise<DispatchesMet> {
  const clock = new ManualClock(Date.UTC(2026, 5, 1) + random.between(0, 1e6));
  const badLine = random.chance(0.5) ? random.pick([0.1, 0.3, 0.6]) : 0;
  const mishap = (): Mishap =>
    random.chance(badLine) ? random.pick(['lost', 'unheard', 'error', 'html', 'slow', 'connecting'] as const) : null;
  const service = new ServiceInProcess({ clock, dialect: random.pick(['plain', 'real']), cars: [demoCar] }, mishap);
  const pack = new Pack({ clock });
  const open = (): Account =>
    accountOn(service, {
      limits: { requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: random.pick([3, 10, 1e6]) },
      pack,
      transport: service,
      random: () => random.next(),
    });
  const accounts = Array.from({ length: random.between(1, 2) }, open);
  const met: DispatchesMet = {
    sent: 0,
    lost: 0,
    refusedByTheService: 0,
    busy: 0,
    late: 0,
    replaced: 0,
    cancelled: 0,
    disarmed: 0,
    queued: 0,
  };
  const all: Asked[] = [];
  const left: Asked[] = [];
  const failures: unknown[] = [];
  let running = 0;

  service.car.set({
    commandPlan: {
      steps: [
        { afterMs: 0, status: 'RUNNING' },
        { afterMs: random.between(1, 200) * second, status: random.pick(['COMPLETED', 'REJECTED', 'TIMEOUT']) },
      ],
      answerAfterMs: random.between(0, 150) * second,
    },
  });

  const check = (asked: Asked): void => {
    const now = clock.now();
    assert.equal(asked.leftAt, null, 'a command was sent twice');
    assert.ok(now <= asked.askedAt + (asked.options.waitMs ?? 0) || !asked.mayWait, 'it left after its time to wait');
    assert.ok(now <= asked.calledOffAt, 'it left though it was called off');
    assert.ok(now < asked.disarmedAt, 'it left though its arming had run out');
    const before = left.at(-1);
    if (before !== undefined) assert.ok(!isUnderWay(before, now), 'two commands are under way to one car');
    asked.leftAt = now;
    left.push(asked);
  };

  /** As the car itself knows it, not as its slot does. */
  const isUnderWay = ({ leftAt, endedAt, record }: Asked, now: number): boolean => {
    if (endedAt === null) return true;
    if (record === null || leftAt === null || now - leftAt >= longestMs) return false;
    if (record.requestStatus === null) return true;
    if (record.outcome !== 'pending') return false;
    const invocation = service.car.invocations.find(({ id }) => record.async?.id === id);
    return invocation !== undefined && meaningOf(invocation.statusAt(now)).outcome === 'pending';
  };

  const ask = async (): Promise<void> => {
    const account = random.pick(accounts as [Account, ...Account[]]);
    const deployed = new AbortController();
    const attempt = new CommandAttempt({ clock, signal: deployed.signal });
    const asked: Asked = {
      options: {},
      askedAt: clock.now(),
      mayWait: false,
      leftAt: null,
      endedAt: null,
      record: null,
      calledOffAt: Infinity,
      disarmedAt: Infinity,
    };
    if (random.chance(0.2)) asked.disarmedAt = clock.now() + random.between(1, 120) * second;
    const callOff = (isDeploy: boolean): (() => void) =>
      clock.after(random.between(0, 120) * second, () => {
        if (!isDeploy || asked.leftAt === null) asked.calledOffAt = Math.min(asked.calledOffAt, clock.now());
        if (isDeploy) deployed.abort();
        else attempt.cancel(new VehicleError('CANCELLED', 'Called off.'));
      });
    const stops = [random.chance(0.15) ? callOff(false) : null, random.chance(0.1) ? callOff(true) : null];
    asked.options = {
      vin,
      interface: random.pick(['auto', 'v1', 'v1', 'v2']),
      whenBusy: random.pick(['refuse', 'queue', 'queue']),
      whenUnavailable: random.pick(['fail', 'fail', 'wait']),
      waitMs: random.between(1, 300) * second,
      precheck: random.chance(0.3),
    };
    attempt.check = () => {
      if (clock.now() >= asked.disarmedAt) throw new VehicleError('INPUT_INVALID', 'Disarmed.');
      try {
        check(asked);
      } catch (error) {
        failures.push(error);
      }
    };
    asked.mayWait = asked.options.whenUnavailable === 'wait' || asked.options.whenBusy === 'queue';
    all.push(asked);
    try {
      asked.record = await account.dispatcher.send(
        random.pick(['lock', 'unlock', 'honk', 'flash', 'lock', 'self-destruct', '']),
        asked.options,
        attempt,
      );
      assert.notEqual(asked.leftAt, null, 'a record of what never left');
      met.sent += 1;
      if (asked.record.requestStatus === null) met.lost += 1;
      if (clock.now() - asked.askedAt > 0 && asked.mayWait) met.queued += 1;
      if (random.chance(0.5)) void followIt(account, asked.record, random.between(1, 200) * second);
    } catch (error) {
      if (!(error instanceof VehicleError)) throw error;
      if (asked.leftAt !== null) {
        assert.notEqual(
          error.httpStatus,
          null,
          `${error.code}: ${error.message}: what left and was not answered has a record`,
        );
        met.refusedByTheService += 1;
      } else if (/may still be in progress/.test(error.message)) met.busy += 1;
      else if (/could not be sent within \d+ seconds/.test(error.message)) met.late += 1;
      else if (/replaced this waiting one/.test(error.message)) met.replaced += 1;
      else if (error.code === 'CANCELLED') met.cancelled += 1;
      else if (error.message === 'Disarmed.') met.disarmed += 1;
    } finally {
      asked.endedAt = clock.now();
      for (const stop of stops) stop?.();
      assert.ok(asked.endedAt - asked.askedAt <= (asked.options.waitMs ?? 0) + afterwardsMs, 'it took too long');
    }
  };

  const followIt = async ({ client }: Account, record: CommandRecord, timeoutMs: number): Promise<void> => {
    for await (const { settled } of follow(record, { client, clock, timeoutMs, log: pack.log })) if (settled) return;
  };

  for (let count = random.between(2, 10); count > 0; count -= 1) {
    clock.after(random.between(0, 5 * 60) * second, () => {
      running += 1;
      ask()
        .catch((error: unknown) => failures.push(error))
        .finally(() => (running -= 1));
    });
  }
  for (let count = random.between(0, 6); count > 0; count -= 1) {
    clock.after(random.between(0, 8 * 60) * second, () =>
      service.car.set({ inUse: random.chance(0.6), reachable: random.chance(0.8) }),
    );
  }
  if (random.chance(0.3)) {
    clock.after(random.between(0, 5 * 60) * second, () => {
      const [old] = accounts.splice(0, 1, open());
      void old?.close();
    });
  }

  for (let minutes = 0; minutes < 30 && failures.length === 0; minutes += 1) await clock.advance(minute);
  if (failures.length > 0) throw failures[0] as Error;
  assert.equal(running, 0, 'a command has no end');
  assert.equal(
    service.requests.filter(({ method }) => method === 'POST').length,
    left.length,
    'what is sent is what left',
  );
  assert.ok(service.car.invocations.length <= left.length, 'the car got a command twice');
  await mustBeFree(accounts[0] as Account, service, clock);
  return met;
}

/** Half an hour later nothing blocks the next command. */
async function mustBeFree({ dispatcher }: Account, { car }: ServiceInProcess, clock: ManualClock): Promise<void> {
  car.set({ inUse: false, reachable: true, commandPlan: { answerAfterMs: 0 } });
  let refusal: string | null = null;
  const sent = dispatcher.send('flash', { vin, interface: 'v1' }).then(
    () => null,
    (error: VehicleError) => (refusal = error.message),
  );
  await clock.advance(5 * minute);
  await sent;
  assert.doesNotMatch(refusal ?? '', /in progress/, 'the slot of the car is still taken');
}
