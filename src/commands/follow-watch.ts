import { isFinal, meaningOf } from '../catalogue/outcomes';
import type { VehicleClient } from '../client';
import { linkSignals } from '../util/abort';
import { systemClock } from '../util/clock';
import { watchCommand, type WatchOptions, type WatchReport, type WatchUpdate } from './follow';
import type { OpenWatch } from './watch-store';

type FollowOptions = Omit<WatchOptions, 'startedAt' | 'history'> & {
  client: Pick<VehicleClient, 'service'>;
  /** Ends the watch, as `signal` does. */
  cancel?: AbortSignal;
};

/**
 * Resumes an open watch. A result that is stored and perhaps not delivered is returned again; else the watch goes on as watchCommand does.
 * @throws as watchCommand
 */
export async function* followWatch(open: OpenWatch, options: FollowOptions): AsyncGenerator<WatchUpdate, void, void> {
  const result = open.delivery?.report ?? resultAfterRestart(open, options);
  if (result !== null) return yield { settled: true, report: result };
  const { signal, unlink } = linkSignals(options.signal, options.cancel);
  try {
    yield* watchCommand(open.record, { ...options, signal, startedAt: open.startedAt, history: open.history });
  } finally {
    unlink();
  }
}

/**
 * The result of a command from before a restart of the (simulated) service, which no longer knows the command and whose car is a new
 * one. Null if the service was not restarted.
 */
function resultAfterRestart(
  { record, history: kept }: OpenWatch,
  { client, clock = systemClock }: FollowOptions,
): WatchReport | null {
  const sentAt = Date.parse(record.sentAt);
  if (!(sentAt < (client.service.since ?? 0))) return null;
  const history = kept.length > 0 ? kept : [{ requestStatus: record.requestStatus, at: record.sentAt }];
  const requestStatus = history.at(-1)?.requestStatus ?? null;
  const { outcome, sentence } = meaningOf(requestStatus);
  const report = { ...record, requestStatus, verified: null, elapsedMs: Math.max(0, clock.now() - sentAt), history };
  if (isFinal(outcome)) return { ...report, outcome, reason: sentence };
  return { ...report, outcome: 'undetermined', reason: `${restarted} The result of the command is unknown.` };
}

const restarted = 'The demo car was restarted with Node-RED after the command was sent.';
