import type { GuardReading } from './events';
import { openingKeys, openings, whatItSays } from './openings';
import { neverTold, type GuardState, type OpeningState } from './state';

/** A timestamp older than this comes from a clock that was never set, not from a window that was never closed. */
const believable = 366 * 24 * 60 * 60_000;

/** Takes what a reading says into the state: of what is not watched too, for it may be asked about. */
export function hear(state: GuardState, reading: GuardReading): void {
  for (const key of openingKeys) {
    const { read, name, kind } = openings[key];
    const members = reading[read];
    if (members === undefined && !reading.failed?.includes(read)) continue;
    const opening = (state.openings[key] ??= neverTold());
    const member = members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined;
    const says = whatItSays(kind, member?.value);
    if (says === null) opening.untoldSince ??= reading.at;
    else take(opening, reading.at, says, timeOf(member?.timestamp, reading));
  }
}

/**
 * When the car was asked (specification 2.3), by the clock of the service, so that what was measured later stays later; a
 * stamp from after the hearing cannot be. null where it is missing or not to be believed.
 */
function timeOf(timestamp: unknown, { at, skewMs = 0 }: GuardReading): number | null {
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : NaN;
  // NaN fails it.
  return time > at - believable ? Math.min(time, at + Math.max(0, skewMs)) : null;
}

function take(opening: OpeningState, at: number, says: 'open' | 'closed', measuredAt: number | null): void {
  // Old news: timestamps may run backwards between two answers (field notes 6.2), and how the car was says nothing of how it is.
  if (measuredAt !== null && opening.measuredAt !== null && measuredAt < opening.measuredAt) return;
  opening.measuredAt = measuredAt ?? opening.measuredAt;
  opening.untoldSince = null;
  opening.untoldSaid = false;
  const then = Math.min(measuredAt ?? at, at);
  if (says === 'closed') {
    opening.closedAt = Math.max(then, opening.closedAt ?? 0);
    opening.openSince = null;
    opening.alerted = false;
  } else {
    opening.openSince ??= then >= (opening.closedAt ?? 0) ? then : at;
  }
}
