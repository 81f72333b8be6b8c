import { strict as assert } from 'node:assert';
import type { Account, CommandRecord } from '../../../src/index';
import { VehicleError } from '../../../src/index';

export const readOdometer = async (account: Account, vin: string): Promise<unknown> => {
  const { payload } = await account.read('odometer', { vin, maxAgeMs: 0 });
  // A cast: the payload of this read.
  return (payload as { value: unknown }).value;
};

export const lock = (account: Account, vin: string): Promise<CommandRecord> => account.dispatcher.send('lock', { vin });

export const failureOf = async (work: Promise<unknown>): Promise<VehicleError> => {
  const [result] = await Promise.allSettled([work]);
  assert.equal(result?.status, 'rejected', JSON.stringify(result));
  const { reason } = result as PromiseRejectedResult;
  assert.ok(reason instanceof VehicleError, String(reason));
  return reason;
};
