import { strict as assert } from 'node:assert';
import { VehicleError } from '../../src/index';

/** The error of work that has to fail. */
export const failureOf = (work: Promise<unknown>): Promise<VehicleError> =>
  work.then(
    () => assert.fail('It did not fail.'),
    (error: unknown) => (error instanceof VehicleError ? error : assert.fail(String(error))),
  );
