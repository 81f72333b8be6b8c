import type { VehicleClient } from '../client';
import { asVehicleError, type VehicleError } from '../errors';
import type { Clock } from '../util/clock';

export interface ReachableOptions {
  client: Pick<VehicleClient, 'mustBeAccessible'>;
  vin: string;
  /** Milliseconds since 1970: when it is given up. */
  deadline: number;
  clock: Clock;
  signal: AbortSignal;
  /** Called with the reason, in words, each time the car is found unavailable. */
  onWaiting: (reason: string) => void;
}

/** An asleep car may stay so for days: its accessibility is asked less and less often. */
const pauses = { firstMs: 5_000, growth: 1.5, longestMs: 60_000 } as const;

/**
 * Waits until the car can take a command, or until nobody can say that it cannot (specification 2.7).
 * @throws VehicleError VEHICLE_UNAVAILABLE with the reason in words when the time is up; what else accessibility throws and
 * waiting does not mend
 */
export async function untilReachable({
  client,
  vin,
  deadline,
  clock,
  signal,
  onWaiting,
}: ReachableOptions): Promise<void> {
  for (let pause: number = pauses.firstMs; ; pause = Math.min(pauses.longestMs, pause * pauses.growth)) {
    const failure = await lookOnce(client, vin, signal);
    if (failure === null) return;
    const now = clock.now();
    if (now >= deadline) throw failure;
    onWaiting(failure.message);
    const retryAt = failure.retryAt?.getTime() ?? 0;
    // A look at the last moment, too.
    await clock.sleep(Math.min(Math.max(pause, retryAt - now), deadline - now), signal);
  }
}

/** @returns why it must wait; null: no longer */
async function lookOnce(
  client: ReachableOptions['client'],
  vin: string,
  signal: AbortSignal,
): Promise<VehicleError | null> {
  try {
    await client.mustBeAccessible({ vin, signal });
    return null;
  } catch (error) {
    const failure = asVehicleError(error);
    if (!failure.retryable || signal.aborted) throw failure;
    return failure;
  }
}
