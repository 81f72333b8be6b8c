import { lockState, openingKeys, openings, openingState } from '../catalogue/openings';
import { unknownOpening, type GuardState, type OpeningState } from './state';
import type { GuardReading } from './types';

/** An older timestamp comes from a clock that was never set, not from a window that was never closed. */
const maxStampAgeMs = 366 * 24 * 60 * 60_000;

/** Applies a reading to the state, including openings that are not watched: a question may be about them. */
export function applyReading(state: GuardState, reading: GuardReading): void {
  for (const key of openingKeys) {
    const { read, name, kind } = openings[key];
    const members = reading[read];
    if (members === undefined && !reading.failed?.includes(read)) continue;
    const opening = (state.openings[key] ??= unknownOpening());
    const member = members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined;
    if (kind === 'sunroof' && reading.hasSunroof === true) opening.isFitted = true;
    const value = (kind === 'lock' ? lockState : openingState)(member?.value);
    if (value === null) opening.unknownSince ??= reading.at;
    else applyValue(opening, reading.at, value, measuredAtOf(member?.timestamp, reading));
  }
}

/**
 * When the car was asked (docs/service.md 2.3), on the service's clock, so that later measurements stay later. A timestamp cannot lie
 * after the reading. null where it is missing or not credible.
 */
function measuredAtOf(timestamp: unknown, { at, skewMs = 0 }: GuardReading): number | null {
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : NaN;
  // NaN fails the comparison.
  return time > at - maxStampAgeMs ? Math.min(time, at + Math.max(0, skewMs)) : null;
}

function applyValue(opening: OpeningState, at: number, value: 'open' | 'closed', measuredAt: number | null): void {
  // Timestamps may run backwards between two answers (docs/field-notes.md 6.2): an older state is ignored.
  if (measuredAt !== null && opening.measuredAt !== null && measuredAt < opening.measuredAt) return;
  opening.measuredAt = measuredAt ?? opening.measuredAt;
  opening.unknownSince = null;
  opening.unknownReported = false;
  const then = Math.min(measuredAt ?? at, at);
  if (value === 'closed') {
    opening.closedAt = Math.max(then, opening.closedAt ?? 0);
    opening.openSince = null;
    opening.alerted = false;
  } else {
    opening.openSince ??= then >= (opening.closedAt ?? 0) ? then : at;
  }
}
