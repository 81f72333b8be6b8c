import type { Clock } from './clock';
import { VehicleError } from '../errors';
import { Cancellation, type Signal } from './cancellation';

/**
 * The error of a caller that gave up: a signal's own VehicleError (a time limit) is more
 * exact than "canceled".
 */
export const reasonOf = (signal: Pick<Signal, 'reason'>): VehicleError =>
  signal.reason instanceof VehicleError
    ? signal.reason
    : new VehicleError('CANCELLED', 'The request was canceled before it was answered.', { cause: signal.reason });

/**
 * Stops waiting for `work` when the signal is aborted; the work itself continues.
 * @throws the reason of the signal
 */
export function raceAbort<Value>(work: Promise<Value>, signal: Signal | undefined): Promise<Value> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(reasonOf(signal));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const end = (settle: () => void): void => {
      signal.removeEventListener('abort', stop);
      settle();
    };
    work.then(
      (value) => end(() => resolve(value)),
      (error: unknown) => end(() => reject(error)),
    );
  });
}

/**
 * A signal that is aborted as soon as one of `signals` is, until `unlink` is called.
 * `AbortSignal.any` is not suitable: on Node 20 each call leaves a record behind that lives as long
 * as its signals, and the signal of a node lives for months.
 */
export function linkSignals(...signals: (Signal | undefined)[]): { signal: Signal; unlink(): void } {
  const linked = new Cancellation();
  const unlink = (): void => {
    for (const signal of signals) signal?.removeEventListener('abort', abort);
  };
  const abort = (): void => {
    unlink();
    linked.abort(signals.find((signal) => signal?.aborted)?.reason);
  };
  for (const signal of signals) signal?.addEventListener('abort', abort);
  if (signals.some((signal) => signal?.aborted)) abort();
  return { signal: linked, unlink };
}

/** Runs `work` with a signal that is aborted as soon as one of `signals` is. */
export async function withSignals<Value>(
  signals: readonly (Signal | undefined)[],
  work: (signal: Signal) => Promise<Value>,
): Promise<Value> {
  const { signal, unlink } = linkSignals(...signals);
  try {
    return await work(signal);
  } finally {
    unlink();
  }
}

/**
 * Runs `work` with a signal that is also aborted at a moment of wall time: with
 * `reason` if there is one.
 */
export async function endingAt<Value>(
  at: number,
  { clock, signal, reason }: { clock: Clock; signal?: Signal | undefined; reason?: () => VehicleError },
  work: (signal: Signal) => Promise<Value>,
): Promise<Value> {
  const end = new AbortController();
  const cancel = clock.after(at - clock.now(), () => end.abort(reason?.()));
  try {
    return await withSignals([signal, end.signal], work);
  } finally {
    cancel();
  }
}
