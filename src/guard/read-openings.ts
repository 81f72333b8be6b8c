import type { VehicleClient } from '../client';
import { inUseOf } from '../catalogue/accessibility';
import { asVehicleError, type VehicleError } from '../errors';
import type { OpeningRead } from '../catalogue/openings';
import type { DuePoll } from '../polling/poller';
import type { GuardReading, OpeningMembers } from './types';

export type GuardRead = OpeningRead | 'accessibility';

export interface ReadOpeningsOptions {
  client: Pick<VehicleClient, 'read'>;
  vin: string;
  /** `accessibility` shows whether the car is in use. */
  reads: readonly GuardRead[];
  signal: AbortSignal;
  /** Set where the poller asks. */
  poll?: Pick<DuePoll, 'maxAgeMs' | 'failed'> | undefined;
}

/**
 * Reads the car for a guard, through the shared reads of the account.
 * @returns the reading, and why the missing parts failed
 * @throws VehicleError CANCELLED through the signal; any other reason of the signal is a failure of the reads
 */
export async function readOpenings({
  client,
  vin,
  reads,
  signal,
  poll,
}: ReadOpeningsOptions): Promise<{ reading: Omit<GuardReading, 'at'>; failures: Map<GuardRead, VehicleError> }> {
  const receivedAt: NonNullable<GuardReading['receivedAt']> = {};
  const reading: Omit<GuardReading, 'at'> = { type: 'reading', receivedAt };
  const failures = new Map<GuardRead, VehicleError>();
  const options = { vin, signal, ...(poll && { maxAgeMs: poll.maxAgeMs }) };
  const onFailure = (read: GuardRead, error: unknown): void => {
    const failure = asVehicleError(error);
    if (signal.aborted && failure.code === 'CANCELLED') throw failure;
    failures.set(read, failure);
    poll?.failed(read, failure);
  };
  const readOne = async (read: GuardRead): Promise<void> => {
    try {
      const { payload, vehicle } = await client.read(read, options);
      receivedAt[read] = Date.parse(vehicle.receivedAt);
      if (read === 'accessibility') reading.inUse = inUseOf(payload);
      else {
        // The client gives these reads as members.
        reading[read] = payload as OpeningMembers;
        if (read === 'windows') reading.hasSunroof = hasUnknownSunroof(vehicle.unknown);
      }
    } catch (error) {
      onFailure(read, error);
      if (read === 'accessibility') reading.inUse = null;
      else reading.failed = [...(reading.failed ?? []), read];
    }
  };
  await Promise.all(reads.map(readOne));
  return { reading, failures };
}

/** True if only the sunroof is unknown: then the car has one (src/catalogue/openings.ts). */
export const hasUnknownSunroof = (unknown: unknown): boolean =>
  Array.isArray(unknown) && unknown.length === 1 && unknown[0] === 'sunroof';
