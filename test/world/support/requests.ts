import type { Account, CommandRecord } from '../../../src/index';

export const readOdometer = async (account: Account, vin: string): Promise<unknown> => {
  const { payload } = await account.read('odometer', { vin, maxAgeMs: 0 });
  // A cast: the payload of this read.
  return (payload as { value: unknown }).value;
};

export const lock = (account: Account, vin: string): Promise<CommandRecord> => account.dispatcher.send('lock', { vin });
