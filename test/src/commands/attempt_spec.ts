import { strict as assert } from 'node:assert';
import { asSentence, VehicleError } from '../../../src/index';
import { CommandAttempt } from '../../../src/commands/attempt';
import type { CommandRecord } from '../../../src/commands/record';
import type { CommandRoute } from '../../../src/commands/route';
import { UnconfirmedCommandError } from '../../../src/http/requests';
import { ManualClock } from '../../support/manual-clock';

const start = Date.parse('2026-06-01T08:00:00Z');
const route: CommandRoute = {
  command: 'lock',
  vin: 'YV1CT9551B1570982',
  interface: 'connected-v2',
  url: new URL('https://car.example/lock'),
  contentType: 'application/json',
  body: undefined,
  unlockSeconds: undefined,
  scopes: [],
};
type Steps = Parameters<CommandAttempt['send']>[1];
type Post = Steps['requests']['post'];
const answerOf = (body: object): Awaited<ReturnType<Post>> =>
  // What else an answer has does not matter to a command.
  ({ body, receivedAt: start, operationId: 'of the header' }) as unknown as Awaited<ReturnType<Post>>;

describe('The sending of a command', () => {
  let clock: ManualClock;
  let steps: string[];
  beforeEach(() => {
    clock = new ManualClock(start);
    steps = [];
  });
  const posting = (settle: () => Awaited<ReturnType<Post>>) => {
    const requests: Parameters<Post>[0][] = [];
    const post: Post = async (request) => {
      requests.push(request);
      await request.beforeSend?.();
      await clock.advance(1_000);
      request.mayLeave?.();
      steps.push('sent');
      return settle();
    };
    return { requests, post };
  };
  const send = (attempt: CommandAttempt, settle: () => Awaited<ReturnType<Post>>, more: Partial<Steps> = {}) =>
    attempt.send(route, { requests: { post: posting(settle).post }, ...more });

  it('enters it first, then leaves, once all have agreed', async () => {
    const owner = new AbortController();
    const attempt = new CommandAttempt({ clock, signal: owner.signal });
    let entered: CommandRecord | null = null;
    attempt.startDeadline(30_000);
    attempt.check = () => void steps.push('check');
    attempt.confirm = async () => void (await steps.push('confirm'));
    const { requests, post } = posting(() => answerOf({ data: { invokeStatus: 'COMPLETED' } }));
    await clock.advance(10_000);
    const record = await attempt.send(route, {
      requests: { post },
      begin: async (begun) => void (await (entered = begun)),
      mayLeave: () => void steps.push('mayLeave'),
      left: () => void steps.push('left'),
    });
    assert.deepEqual(steps, ['confirm', 'mayLeave', 'check', 'left', 'sent']);
    const [request] = requests;
    const { api, timeoutMs, signal, unsentSignal, deadline, url } = request ?? assert.fail();
    assert.deepEqual(
      [api, timeoutMs, deadline, url],
      ['connected', 160_000, clock.monotonic() - 1_000 + 20_000, route.url],
    );
    assert.deepEqual([signal, unsentSignal], [owner.signal, attempt.signal]);
    assert.deepEqual([record.outcome, record.operationId, record.id], ['succeeded', 'of the header', attempt.id]);
    assert.equal(record.sentAt, '2026-06-01T08:00:11.000Z');
    const { outcome, requestStatus, id, sentAt } = entered ?? assert.fail();
    assert.deepEqual(
      [outcome, requestStatus, id, sentAt],
      ['undetermined', null, attempt.id, '2026-06-01T08:00:10.000Z'],
    );
    attempt.end();
    assert.deepEqual([attempt.status, clock.sleeping], ['answered', 0]);
  });

  it('takes a minute on v1, and has no deadline without a limit', async () => {
    const { requests, post } = posting(() => answerOf({ async: { status: 'RUNNING', href: '/x' }, operationId: 'op' }));
    const attempt = new CommandAttempt({ clock });
    const record = await attempt.send({ ...route, interface: 'connected-v1' }, { requests: { post } });
    assert.deepEqual([requests[0]?.timeoutMs, requests[0]?.deadline, record.operationId], [60_000, Infinity, 'op']);
  });

  const statuses: [body: object, status: string][] = [
    [{ invokeStatus: 'COMPLETED' }, 'answered'],
    [{ invokeStatus: 'DELIVERED' }, 'answered'],
    [{ invokeStatus: 'SENT' }, 'unconfirmed'],
    [{}, 'unconfirmed'],
    [{ async: { status: 'COMPLETED', href: '/x' } }, 'answered'],
    [{ async: { status: 'DELIVERED', href: '/x' } }, 'unconfirmed'],
    [{ async: { status: 'DELIVERED', href: '' } }, 'answered'],
  ];
  for (const [body, status] of statuses)
    it(`is ${status} after ${JSON.stringify(body)}`, async () => {
      const attempt = new CommandAttempt({ clock });
      await send(attempt, () => answerOf(body));
      assert.deepEqual([attempt.status, attempt.fault], [status, null]);
    });

  it('is over where the car itself has refused it, and may have acted where no answer came', async () => {
    const reason = new VehicleError('VEHICLE_ERROR', 'The car says no.', { operationId: 'op', httpStatus: 500 });
    for (const isAnswerOfCar of [true, false]) {
      const attempt = new CommandAttempt({ clock });
      const { outcome, message, operationId } = await send(attempt, () => {
        throw new UnconfirmedCommandError(reason, isAnswerOfCar);
      });
      assert.deepEqual([outcome, operationId], ['undetermined', 'op']);
      assert.match(
        message,
        isAnswerOfCar ? /^The car says no\.$/ : /answered with an error \(HTTP 500\).*not sent again/,
      );
      assert.deepEqual([attempt.status, attempt.fault !== null], [isAnswerOfCar ? 'answered' : 'unconfirmed', true]);
    }
  });

  it('is answered where it was refused after it had left, and dropped where it had not', async () => {
    const refusal = new VehicleError('COMMAND_REFUSED', 'No.');
    const refused = new CommandAttempt({ clock });
    await assert.rejects(
      send(refused, () => {
        throw refusal;
      }),
      refusal,
    );
    const dropped = new CommandAttempt({ clock });
    const steps = [
      { begin: () => Promise.reject(refusal) },
      {
        mayLeave: () => {
          throw refusal;
        },
      },
    ];
    for (const step of steps)
      await assert.rejects(
        send(dropped, () => assert.fail(), step),
        refusal,
      );
    dropped.confirm = () => Promise.reject(refusal);
    await assert.rejects(
      send(dropped, () => assert.fail()),
      refusal,
    );
    assert.deepEqual([refused.status, dropped.status], ['answered', 'dropped']);
  });

  it('does not leave after it was canceled, or later than it may wait', async () => {
    const canceled = new CommandAttempt({ clock });
    const reason = new VehicleError('CANCELLED', 'Enough.');
    canceled.cancel(reason);
    assert.throws(() => canceled.mayLeave(), reason);
    const late = new CommandAttempt({ clock });
    late.startDeadline(30_000);
    clock.skip(30_000);
    late.mayLeave();
    assert.equal(late.status, 'sent', 'at the last moment');
    const over = new CommandAttempt({ clock });
    over.startDeadline(30_000);
    clock.skip(30_001);
    assert.throws(() => over.mayLeave(), { code: 'VEHICLE_UNAVAILABLE', message: /within 30 seconds/ });
    const asleep = new CommandAttempt({ clock });
    asleep.startDeadline(30_000);
    clock.setTime(clock.now() + 30_001);
    assert.throws(() => asleep.mayLeave(), /within 30 seconds/, 'the machine was asleep');
    asleep.pauseDeadline();
    asleep.resumeDeadline();
    await clock.advance(0);
    assert.equal(asleep.signal.aborted, true, 'it waited for the answer to another one');
    for (const attempt of [canceled, late, over, asleep]) attempt.end();
    assert.equal(clock.sleeping, 0);
  });

  it('is dropped when its time is over, with the reason of the car where it has given one', async () => {
    const reasons = [null, new VehicleError('VEHICLE_UNAVAILABLE', asSentence('The car is in use.'))];
    for (const unavailable of reasons) {
      const attempt = new CommandAttempt({ clock });
      attempt.startDeadline(30_000);
      attempt.unavailable = unavailable;
      await clock.advance(29_999);
      assert.equal(attempt.signal.aborted, false);
      await clock.advance(1);
      assert.equal(attempt.signal.aborted, true);
      assert.throws(() => attempt.mayLeave(), unavailable === null ? /within 30 seconds/ : /The car is in use/);
      attempt.end();
      assert.equal(attempt.status, 'dropped');
    }
  });

  it('was stopped where its sender was closed before it left, and hears nothing of it after its end', async () => {
    const owner = new AbortController();
    const [waiting, sent, dropped] = [1, 2, 3].map(() => new CommandAttempt({ clock, signal: owner.signal }));
    sent?.mayLeave();
    dropped?.end();
    assert.deepEqual([waiting?.wasStopped, sent?.wasStopped, dropped?.wasStopped], [false, false, false]);
    owner.abort();
    assert.deepEqual([waiting?.wasStopped, sent?.wasStopped, dropped?.wasStopped], [true, false, true]);
    assert.deepEqual([waiting?.signal.aborted, dropped?.signal.aborted], [true, false]);
    assert.throws(() => waiting?.mayLeave(), { code: 'CANCELLED' });
    assert.equal(new CommandAttempt({ clock }).wasStopped, false);
    await Promise.resolve();
  });
});
