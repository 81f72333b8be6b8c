import { strict as assert } from 'node:assert';
import { VehicleError } from '../../src/index';
import { StateFault } from '../../src/state/state-store';

/** The error of work that has to fail. */
export const failureOf = (work: Promise<unknown>): Promise<VehicleError> =>
  work.then(
    () => assert.fail('It did not fail.'),
    (error: unknown) => (error instanceof VehicleError ? error : assert.fail(String(error))),
  );

/** For `assert.rejects`: a shared store is unavailable, which it reports in these words. */
export const isUnavailable =
  (words: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof StateFault, String(error));
    assert.deepEqual([error.fault, error.code], ['unavailable', 'STORE_UNAVAILABLE']);
    assert.match(error.message, words);
    return true;
  };
