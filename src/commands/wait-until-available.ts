import type { VehicleClient } from '../client';
import { asVehicleError, type VehicleError } from '../errors';
import type { Clock } from '../util/clock';

export interface WaitUntilAvailableOptions {
  client: Pick<VehicleClient, 'assertAccessible'>;
  vin: string;
  /** Milliseconds since 1970: when the wait is given up. */
  deadline: number;
  clock: Clock;
  signal: AbortSignal;
  /** Called with the reason, in words, each time the car is found unavailable. */
  onWaiting: (reason: string) => void;
}

/** A sleeping car may stay asleep for days, so its accessibility is read less and less often. */
const pauses = { firstMs: 5_000, growth: 1.5, maxMs: 60_000 } as const;

/**
 * Waits until the car can take a command. An unknown accessibility ends the wait, too (docs/service.md 2.7).
 * @throws VehicleError VEHICLE_UNAVAILABLE with the reason in words when the time is up, and any failure of the read that a retry
 * does not mend
 */
export async function waitUntilAvailable(options: WaitUntilAvailableOptions): Promise<void> {
  const { client, vin, deadline, clock, signal, onWaiting } = options;
  for (let pause: number = pauses.firstMs; ; pause = Math.min(pauses.maxMs, pause * pauses.growth)) {
    const failure = await pollOnce(client, vin, signal);
    if (failure === null) return;
    const now = clock.now();
    if (now >= deadline) throw failure;
    onWaiting(failure.message);
    const retryAt = failure.retryAt?.getTime() ?? 0;
    // The car is also asked at the last moment.
    await clock.sleep(Math.min(Math.max(pause, retryAt - now), deadline - now), signal);
  }
}

/** @returns why the command must wait; null if it need not */
async function pollOnce(
  client: WaitUntilAvailableOptions['client'],
  vin: string,
  signal: AbortSignal,
): Promise<VehicleError | null> {
  try {
    await client.assertAccessible({ vin, signal });
    return null;
  } catch (error) {
    const failure = asVehicleError(error);
    if (!failure.retryable || signal.aborted) throw failure;
    return failure;
  }
}
