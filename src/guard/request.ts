import { VehicleError } from '../errors';
import { sentence } from '../sentence';
import { watchNames, type WatchName } from '../catalogue/openings';
import { isEmpty, isRecord, itemsIn } from '../util/json';
import { guardReadingOf } from './apply-reading';
import { minutesOf } from './options';
import type { GuardRead, GuardReading } from './types';

interface GuardRequest {
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
  const values = isRecord(vehicle) ? guardReadingIn(vehicle, payload) : null;
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

/**
 * The reading in `msg.vehicle` (docs/internals/contract.md 3); null if the message carries none.
 */
function guardReadingIn(vehicle: Record<string, unknown>, payload: unknown): Omit<GuardReading, 'at'> | null {
  const { reads, errors, source } = vehicle;
  const isSeveral = isRecord(reads) && isRecord(payload);
  const infos = isSeveral ? reads : { [String(vehicle['read'])]: vehicle };
  const payloads = isSeveral ? payload : { [String(vehicle['read'])]: payload };
  const answers = new Map<GuardRead, { payload: unknown; vehicle: Record<string, unknown> }>();
  const failed: GuardRead[] = [];
  for (const read of ['windows', 'doors', 'accessibility'] as const) {
    const info = infos[read];
    const vehicleOfRead = isRecord(info) ? info : {};
    const isKept = source === 'kept' || vehicleOfRead['source'] === 'kept';
    if (isRecord(payloads[read]) && !isKept) answers.set(read, { payload: payloads[read], vehicle: vehicleOfRead });
    else if (info !== undefined || itemsIn(errors).some((failure) => isRecord(failure) && failure['read'] === read))
      failed.push(read);
  }
  return answers.size + failed.length === 0 ? null : guardReadingOf(answers, failed);
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
 * The openings that a question names, from a message: one name or a list. None means
 * all watched openings.
 * @throws VehicleError INPUT_INVALID
 */
function parseWatchNames(input: unknown): WatchName[] {
  if (isEmpty(input)) return [];
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
