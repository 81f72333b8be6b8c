import { openings } from '../catalogue/openings';
import { isRecord } from '../util/json';
import { isSeveral, readingsIn, type AnyReading, type Reading } from './reading';

/**
 * The payload of a reading without units and times, as a gauge, a chart or a switch needs it
 * (docs/internals/contract.md 3.1): the value of a single read; for windows and doors whether each
 * is open, and whether the car is locked; for a group the value of each member; for several reads
 * one of these for each. Unknown is null. Texts and lists that have no unit stay as they are.
 */
export const plainPayload = (reading: AnyReading): unknown =>
  isSeveral(reading)
    ? Object.fromEntries(readingsIn(reading).map((one) => [one.vehicle.read, plainOne(one)]))
    : plainOne(reading);

function plainOne({ payload, vehicle: { open, unknown = [], absent = [], locked = null } }: Reading): unknown {
  if (open !== undefined)
    return mapMembers(payload, (_member, name) =>
      name === openings.carLocked.name ? locked : [...unknown, ...absent].includes(name) ? null : open.includes(name),
    );
  if (!isRecord(payload) || Object.hasOwn(payload, 'value')) return valueOf(payload);
  const { timestamp: _timestamp, ...members } = payload;
  return mapMembers(members, valueOf);
}

const valueOf = (measured: unknown): unknown =>
  isRecord(measured) && Object.hasOwn(measured, 'value') ? measured['value'] : measured;

const mapMembers = (payload: unknown, map: (member: unknown, name: string) => unknown): unknown =>
  isRecord(payload)
    ? Object.fromEntries(Object.entries(payload).map(([name, member]) => [name, map(member, name)]))
    : payload;
