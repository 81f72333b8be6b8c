import { VehicleError } from '../errors';

/** Why a caller gave up: a signal that carries an error of ours (a time limit) says more than "cancelled". */
export const reasonOf = (signal: AbortSignal): VehicleError =>
  signal.reason instanceof VehicleError ? signal.reason : new VehicleError('CANCELLED', 'The request was cancelled before it was answered.', { cause: signal.reason });

/** Aborted when one of them is; undefined where there is none. */
export function eitherOf(...signals: (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((signal) => signal !== undefined);
  return given.length > 1 ? AbortSignal.any(given) : given[0];
}
