import { inUseOf } from '../catalogue/accessibility';
import { lockState, openingKeys, openings, openingState } from '../catalogue/openings';
import { askedAtOf } from '../car/reading';
import { isOlder, timesOf, type ValueTimes } from '../car/times';
import { unknownOpening, type GuardState, type GuardedOpening } from './state';
import type { GuardRead, GuardReading, OpeningMembers } from './types';

/** An answer to a read, of the client or in a message. */
interface Answer {
  payload: unknown;
  vehicle: { receivedAt?: unknown; unknown?: unknown };
}

/** @param failed reads without an answer, or only a kept one */
export function guardReadingOf(
  answers: Iterable<readonly [read: GuardRead, answer: Answer]>,
  failed: readonly GuardRead[],
): Omit<GuardReading, 'at'> {
  const receivedAt: NonNullable<GuardReading['receivedAt']> = {};
  const reading: Omit<GuardReading, 'at'> = {
    type: 'reading',
    receivedAt,
    failed: failed.filter((read) => read !== 'accessibility'),
  };
  if (failed.includes('accessibility')) reading.inUse = null;
  for (const [read, { payload, vehicle }] of answers) {
    const received = Date.parse(String(vehicle.receivedAt));
    if (!Number.isNaN(received)) receivedAt[read] = received;
    const asked = askedAtOf(vehicle);
    if (asked !== undefined) (reading.askedAt ??= {})[read] = asked;
    if (read === 'accessibility') reading.inUse = inUseOf(payload);
    // The client returns windows and doors as members, and each member is
    // checked when it is applied.
    else reading[read] = payload as OpeningMembers;
    // A sunroof that alone is unknown is there: a reading leaves out the sunroof of a car that has
    // none. If other windows are also unknown, that shows nothing.
    if (read === 'windows') reading.hasSunroof = Array.isArray(vehicle.unknown) && vehicle.unknown.join() === 'sunroof';
  }
  return reading;
}

/**
 * Applies a reading to the state, including openings that are not watched: a
 * question may be about them.
 */
export function applyReading(state: GuardState, reading: GuardReading): void {
  for (const key of openingKeys) {
    const { read, name, kind } = openings[key];
    const members = reading[read];
    if (members === undefined && !reading.failed?.includes(read)) continue;
    const opening = (state.openings[key] ??= unknownOpening());
    const member = members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined;
    if (kind === 'sunroof' && reading.hasSunroof === true) opening.isFitted = true;
    const value = (kind === 'lock' ? lockState : openingState)(member?.value);
    const times = timesOf(value === null ? null : member?.timestamp, {
      ...reading,
      receivedAt: members === undefined ? reading.at : reading.receivedAt?.[read],
      askedAt: members === undefined ? reading.at : reading.askedAt?.[read],
    });
    if (isOlder(times, { measuredAt: opening.measuredAt, askedAt: opening.askedAt ?? 0 })) continue;
    // A failed read shows nothing about the car: an answer from before it is still news.
    if (members !== undefined) opening.askedAt = times.askedAt;
    if (value === null) opening.unknownSince ??= reading.at;
    else applyValue(opening, reading.at, value, times);
  }
}

function applyValue(opening: GuardedOpening, at: number, value: 'open' | 'closed', times: ValueTimes): void {
  opening.measuredAt = times.measuredAt ?? opening.measuredAt;
  opening.unknownSince = null;
  opening.unknownReported = false;
  const then = Math.min(times.measuredAt ?? times.receivedAt, at);
  if (value === 'closed') {
    opening.closedAt = Math.max(then, opening.closedAt ?? 0);
    opening.openSince = null;
    opening.alerted = false;
  } else {
    opening.openSince ??= then >= (opening.closedAt ?? 0) ? then : at;
  }
}
