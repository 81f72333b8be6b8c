import type { VehicleClient } from '../client';
import { asVehicleError, type VehicleError } from '../errors';
import type { Clock } from '../util/clock';

interface WaitUntilAvailableOptions {
  client: Pick<VehicleClient, 'assertAccessible'>;
  vin: string;
  clock: Clock;
  signal: AbortSignal;
  /** Called each time the car is found unavailable. */
  onWaiting: (failure: VehicleError) => void;
}

/** A sleeping car may stay asleep for days, so its accessibility is read less and less often. */
const pauses = { firstMs: 5_000, growth: 1.5, maxMs: 60_000 } as const;

/**
 * Waits until the car can take a command. An unknown accessibility ends the wait, too (docs/service.md 2.7).
 * @throws VehicleError the reason of the signal, and any failure of the read that a retry does not mend
 */
export async function waitUntilAvailable(options: WaitUntilAvailableOptions): Promise<void> {
  const { client, vin, clock, signal, onWaiting } = options;
  for (let pause: number = pauses.firstMs; ; pause = Math.min(pauses.maxMs, pause * pauses.growth)) {
    const failure = await pollOnce(client, vin, signal);
    if (failure === null) return;
    onWaiting(failure);
    const retryAt = failure.retryAt?.getTime() ?? 0;
    await clock.sleep(Math.max(pause, retryAt - clock.now()), signal);
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
