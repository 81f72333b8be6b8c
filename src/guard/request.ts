import { hasUnknownSunroof } from '../car/equipment';
import { inUseOf } from '../catalogue/accessibility';
import { VehicleError } from '../errors';
import { sentence } from '../sentence';
import { watchNames, type OpeningRead, type WatchName } from '../catalogue/openings';
import { isRecord } from '../util/json';
import { minutesOf } from './options';
import type { GuardReading } from './types';

/** The request in a message to a guard. */
export interface GuardRequest {
  /** The reading of a status node, and its vehicle. */
  reading?: { vin: unknown; values: Omit<GuardReading, 'at'> };
  /** Minutes, or null until it is closed. */
  snooze?: number | null;
  ask?: { only: WatchName[] };
}

/**
 * @param msg a message with the reading of a status node, `snooze`, or `ask` and `only`
 * @throws VehicleError INPUT_INVALID
 */
export function parseGuardRequest(msg: Readonly<Record<string, unknown>>): GuardRequest {
  const { vehicle, payload } = msg;
  const values = isRecord(vehicle) ? readingOf(vehicle, payload) : null;
  return {
    ...(values !== null && { reading: { vin: isRecord(vehicle) ? vehicle['vin'] : undefined, values } }),
    ...(msg['snooze'] !== undefined && { snooze: parseSnooze(msg['snooze']) }),
    ...((isAsked(msg['ask']) || msg['topic'] === 'ask') && { ask: { only: parseWatchNames(msg['only']) } }),
  };
}

function isAsked(ask: unknown): boolean {
  if (ask === undefined || ask === null || typeof ask === 'boolean') return ask === true;
  throw new VehicleError('INPUT_INVALID', 'msg.ask must be true, as a boolean. Send a message with msg.ask = true.');
}

/** The reading in `msg.vehicle` (docs/message-contract.md 3); null where the message carries none. */
function readingOf(vehicle: Record<string, unknown>, payload: unknown): Omit<GuardReading, 'at'> | null {
  const several = isRecord(vehicle['reads']) && isRecord(payload);
  const infos = several ? (vehicle['reads'] as Record<string, unknown>) : { [String(vehicle['read'])]: vehicle };
  const values = several ? payload : { [String(vehicle['read'])]: payload };
  const failures: unknown[] = Array.isArray(vehicle['errors']) ? vehicle['errors'] : [];
  const kept = (info: unknown): boolean =>
    vehicle['source'] === 'kept' || (isRecord(info) && info['source'] === 'kept');
  const reading: Omit<GuardReading, 'at'> = { type: 'reading' };
  const receivedAt: NonNullable<GuardReading['receivedAt']> = {};
  for (const read of ['windows', 'doors', 'accessibility'] as const) {
    const info = infos[read];
    const received = isRecord(info) ? Date.parse(String(info['receivedAt'])) : Number.NaN;
    if (!Number.isNaN(received)) receivedAt[read] = received;
  }
  const failed: OpeningRead[] = [];
  for (const read of ['windows', 'doors'] as const) {
    const value = values[read];
    const info = infos[read];
    if (isRecord(value) && !kept(info)) {
      reading[read] = value as GuardReading['windows'];
      if (read === 'windows' && isRecord(info)) reading.hasSunroof = hasUnknownSunroof(info['unknown']);
    } else if (infos[read] !== undefined || failures.some((failure) => isRecord(failure) && failure['read'] === read))
      failed.push(read);
  }
  if (failed.length > 0) reading.failed = failed;
  if (infos['accessibility'] !== undefined)
    reading.inUse = kept(infos['accessibility']) ? null : inUseOf(values['accessibility']);
  return Object.keys(reading).length > 1 ? { ...reading, receivedAt } : null;
}

/**
 * The minutes of a snooze from a message: a number, or `until-closed` (null).
 * @throws VehicleError INPUT_INVALID
 */
export function parseSnooze(input: unknown): number | null {
  if (input === 'until-closed') return null;
  const minutes = minutesOf(input, 'A snooze');
  if (typeof minutes === 'number') return minutes;
  throw new VehicleError('INPUT_INVALID', sentence`${minutes} Send minutes, or "until-closed".`);
}

/**
 * The openings that a question names, from a message: one name or a list. None means all watched openings.
 * @throws VehicleError INPUT_INVALID
 */
function parseWatchNames(input: unknown): WatchName[] {
  if (input === undefined || input === null || input === '') return [];
  return (Array.isArray(input) ? input : [input]).map((given: unknown) => {
    const name = watchNames.find((known) => known === given);
    if (name === undefined)
      throw new VehicleError(
        'INPUT_INVALID',
        sentence`There is no such opening. Send one of these names, or a list: ${watchNames}.`,
      );
    return name;
  });
}
