import { strict as assert } from 'node:assert';
import { getEventListeners } from 'node:events';
import { VehicleError } from '../../../src/errors';
import { endingAt, linkSignals, raceAbort, reasonOf, withSignals } from '../../../src/util/abort';
import { ManualClock } from '../../support/manual-clock';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('linked signals', () => {
  it('abort with the reason of the first that is aborted', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const { signal } = linkSignals(one.signal, undefined, other.signal);
    assert.equal(signal.aborted, false);
    const reason = new VehicleError('TIMEOUT', 'Too late.');
    other.abort(reason);
    one.abort();
    assert.equal(reasonOf(signal), reason);
  });

  it('abort at once if a signal is aborted already', () => {
    const lasting = new AbortController().signal;
    assert.equal(linkSignals(lasting, AbortSignal.abort('gone')).signal.reason, 'gone');
    assert.equal(listeners(lasting), 0);
  });

  it('leave nothing at a lasting signal, however the work ends', async () => {
    const lasting = new AbortController().signal;
    const clock = new ManualClock();
    assert.equal(await withSignals([lasting], async () => listeners(lasting)), 1);
    await assert.rejects(
      withSignals([lasting, undefined], () => Promise.reject(new Error('failed'))),
      /failed/,
    );
    const options = { clock, signal: lasting };
    assert.equal(await endingAt(clock.now() + 1_000, options, async (signal) => signal.aborted), false);
    assert.equal(listeners(lasting), 0);
    assert.equal(clock.sleeping, 0);
  });

  it('release those who wait for work that continues, and leave nothing behind', async () => {
    const { signal } = new AbortController();
    assert.equal(await raceAbort(Promise.resolve('done'), signal), 'done');
    await assert.rejects(raceAbort(Promise.reject(new Error('failed')), signal), /failed/);
    assert.equal(await raceAbort(Promise.resolve('done'), undefined), 'done');
    assert.equal(listeners(signal), 0);
    const never = new Promise<never>(() => undefined);
    const reason = new VehicleError('TIMEOUT', 'Too late.');
    await assert.rejects(raceAbort(never, AbortSignal.abort(reason)), reason);
    const waiting = new AbortController();
    const released = assert.rejects(raceAbort(never, waiting.signal), { code: 'CANCELLED' });
    waiting.abort();
    await released;
  });

  it('end work at a moment, with its reason', async () => {
    const clock = new ManualClock();
    const reason = new VehicleError('TIMEOUT', 'Too late.');
    const work = endingAt(clock.now() + 1_000, { clock, reason: () => reason }, (signal) => clock.sleep(5_000, signal));
    const failed = assert.rejects(work, reason);
    await clock.advance(1_000);
    await failed;
  });
});
