import { meaningOf } from '../catalogue/outcomes';
import type { VehicleClient } from '../client';
import { systemClock } from '../util/clock';
import { watchCommand, type WatchOptions, type WatchReport, type WatchUpdate } from './watch';
import type { OpenWatch } from './watch-store';

type FollowOptions = Omit<WatchOptions, 'startedAt' | 'history'> & { client: Pick<VehicleClient, 'service'> };

/**
 * Resumes an open watch: with a result that was found and perhaps not delivered, else as watchCommand does.
 * @throws as watchCommand
 */
export async function* followWatch(open: OpenWatch, options: FollowOptions): AsyncGenerator<WatchUpdate, void, void> {
  const verdict = open.telling?.report ?? verdictOfBefore(open, options);
  if (verdict !== null) yield { settled: true, report: verdict };
  else yield* watchCommand(open.record, { ...options, startedAt: open.startedAt, history: open.history });
}

/** A service that started anew knows nothing of the command, and its car proves nothing. Null where it has run all the time. */
function verdictOfBefore(
  { record, history: kept }: OpenWatch,
  { client, clock = systemClock }: FollowOptions,
): WatchReport | null {
  const sentAt = Date.parse(record.sentAt);
  if (!(sentAt < (client.service.since ?? 0))) return null;
  const history = kept.length > 0 ? kept : [{ requestStatus: record.requestStatus, at: record.sentAt }];
  const requestStatus = history.at(-1)?.requestStatus ?? null;
  const { outcome, sentence } = meaningOf(requestStatus);
  const told = { ...record, requestStatus, verified: null, elapsedMs: Math.max(0, clock.now() - sentAt), history };
  if (outcome === 'succeeded' || outcome === 'failed') return { ...told, outcome, reason: sentence };
  return { ...told, outcome: 'undetermined', reason: `${anew} What became of the command is not known.` };
}

const anew = 'The demo car has started anew since the command was sent, as it does with Node-RED.';
