import { strict as assert } from 'node:assert';
import { Cancellation } from '../../../src/util/cancellation';

describe('a cancellation', () => {
  /** Adds a listener for each name, which notes its name in the returned list. */
  function heardBy(cancellation: Cancellation, names: readonly string[]): string[] {
    const heard: string[] = [];
    for (const name of names) cancellation.addEventListener('abort', () => void heard.push(name));
    return heard;
  }

  it('calls each of its listeners once, in their order', () => {
    for (const names of [[], ['one'], ['one', 'two', 'three']]) {
      const cancellation = new Cancellation();
      const heard = heardBy(cancellation, names);
      cancellation.abort();
      cancellation.abort();
      assert.deepEqual(heard, names);
    }
  });

  it('calls no listener that was removed, also by the one before it', () => {
    const cancellation = new Cancellation();
    const heard: string[] = [];
    const only = (): void => void heard.push('only');
    cancellation.addEventListener('abort', only);
    const last = (): void => void heard.push('last');
    cancellation.removeEventListener('abort', last);
    cancellation.removeEventListener('abort', only);
    cancellation.addEventListener('abort', () => cancellation.removeEventListener('abort', last));
    cancellation.addEventListener('abort', last);
    cancellation.abort();
    assert.deepEqual(heard, []);
  });

  it('calls no listener that another one adds meanwhile', () => {
    const cancellation = new Cancellation();
    const heard: string[] = [];
    const late = (): void => void heard.push('late');
    cancellation.addEventListener('abort', () => cancellation.addEventListener('abort', late));
    cancellation.addEventListener('abort', () => void heard.push('second'));
    cancellation.abort();
    assert.deepEqual(heard, ['second']);
  });

  it('throws its reason as soon as it is aborted', () => {
    const cancellation = new Cancellation();
    cancellation.throwIfAborted();
    const reason = new Error('closed');
    cancellation.abort(reason);
    assert.throws(() => cancellation.throwIfAborted(), reason);
    assert.equal(cancellation.reason, reason);
  });
});
