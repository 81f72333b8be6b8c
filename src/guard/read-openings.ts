import type { VehicleClient } from '../client';
import { asVehicleError, type VehicleError } from '../errors';
import type { GuardReading, OpeningRead } from './reducer';
import type { DuePoll } from '../polling/poller';
import type { Accessibility } from '../wire/readings';

export type GuardRead = OpeningRead | 'accessibility';

export interface GuardLook {
  client: Pick<VehicleClient, 'windows' | 'doors' | 'accessibility'>;
  vin: string;
  /** What to read; `accessibility` tells whether the car is in use. */
  reads: readonly GuardRead[];
  signal: AbortSignal;
  /** Set where the poller asks. */
  poll?: Pick<DuePoll, 'maxAgeMs' | 'failed'> | undefined;
}

/**
 * A look at the car for a guard, through the shared reads of the account.
 * @returns what it brought, and why what is missing failed
 * @throws VehicleError CANCELLED through the signal; what else the signal carries is a failure of the reads
 */
export async function lookAtCar({
  client,
  vin,
  reads,
  signal,
  poll,
}: GuardLook): Promise<{ heard: Omit<GuardReading, 'at'>; failures: Map<GuardRead, VehicleError> }> {
  const heard: Omit<GuardReading, 'at'> = { type: 'reading' };
  const failures = new Map<GuardRead, VehicleError>();
  const options = { vin, signal, ...(poll && { maxAgeMs: poll.maxAgeMs }) };
  const note = (read: GuardRead, error: unknown): void => {
    const failure = asVehicleError(error);
    if (signal.aborted && failure.code === 'CANCELLED') throw failure;
    failures.set(read, failure);
    poll?.failed(read, failure);
  };
  const opening = async (read: OpeningRead): Promise<void> => {
    try {
      heard[read] = (await client[read](options)).payload;
    } catch (error) {
      note(read, error);
      heard.failed = [...(heard.failed ?? []), read];
    }
  };
  const inUse = async (): Promise<void> => {
    try {
      heard.inUse = isInUse((await client.accessibility(options)).payload);
    } catch (error) {
      note('accessibility', error);
      heard.inUse = null;
    }
  };
  await Promise.all(reads.map((read) => (read === 'accessibility' ? inUse() : opening(read))));
  return { heard, failures };
}

/** Whether somebody uses the car (specification 2.7); null where it cannot be told. */
export function isInUse({
  value,
  unavailableReason,
}: Pick<Accessibility, 'value' | 'unavailableReason'>): boolean | null {
  if (value === 'AVAILABLE') return false;
  if (value !== 'UNAVAILABLE') return null;
  return unavailableReason === null || unavailableReason === 'UNSPECIFIED' ? null : unavailableReason === 'CAR_IN_USE';
}
