import type { Clock } from './clock';
import { VehicleError } from '../errors';

/** Why a caller gave up: a signal that carries an error of ours (a time limit) says more than "cancelled". */
export const reasonOf = (signal: AbortSignal): VehicleError =>
  signal.reason instanceof VehicleError
    ? signal.reason
    : new VehicleError('CANCELLED', 'The request was cancelled before it was answered.', { cause: signal.reason });

/** Aborted when one of them is; undefined where there is none. */
export function eitherOf(...signals: (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((signal) => signal !== undefined);
  return given.length > 1 ? AbortSignal.any(given) : given[0];
}

/** Does `work` with a signal that is aborted at a time, too: with `reason`, or as any end. */
export async function endingAt<Value>(
  at: number,
  { clock, signal, reason }: { clock: Clock; signal?: AbortSignal | undefined; reason?: () => VehicleError },
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const end = new AbortController();
  const cancel = clock.after(at - clock.now(), () => end.abort(reason?.()));
  try {
    return await work(signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]));
  } finally {
    cancel();
  }
}
