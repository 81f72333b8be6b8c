import { inSystem, isNoConsumption, unitInWords, unitOf, type UnitSystem } from '../catalogue/units';
import { isRecord } from '../util/json';
import { askedAtOf, keepAskedAt, unitOfPayload, type Reading } from './reading';

/**
 * A reading in the units of the vehicle configuration, on its way to a flow: the reading itself if
 * it has no other unit. What the pack keeps of the car stays as the car reported it.
 */
export function readingIn(system: UnitSystem, reading: Reading): Reading {
  const { vehicle } = reading;
  const payload = payloadIn(system, reading.payload);
  if (payload === reading.payload) return reading;
  const converted = { ...vehicle, unit: unitOfPayload(payload) ?? '' };
  const askedAt = askedAtOf(vehicle);
  return { payload, vehicle: askedAt === undefined ? converted : keepAskedAt(converted, askedAt) };
}

function payloadIn(system: UnitSystem, payload: unknown): unknown {
  if (!isRecord(payload)) return payload;
  if (Object.hasOwn(payload, 'value')) return measuredIn(system, payload);
  const members = Object.entries(payload).map(([name, member]) => [name, measuredIn(system, member)] as const);
  // fromEntries defines own properties, so a member called `__proto__` stays a member.
  return members.some(([name, member]) => member !== payload[name]) ? Object.fromEntries(members) : payload;
}

/**
 * One measured value. Zero liters per distance are no distance per liter: null, with
 * what the car reported.
 */
function measuredIn(system: UnitSystem, measured: unknown): unknown {
  if (!isRecord(measured)) return measured;
  const { value, unit } = measured;
  if (typeof unit !== 'string' || (value !== null && !Number.isFinite(value))) return measured;
  const word = unitInWords(unit) ?? '';
  const to = unitOf(system, word);
  if (to === word) return measured;
  if (typeof value !== 'number') return { ...measured, unit: to };
  const converted = inSystem(system, value, word);
  if (converted.value !== null) return { ...measured, ...converted };
  // A number that no unit of the system can hold stays as it is.
  if (!isNoConsumption(value, word, to)) return measured;
  return { ...measured, ...converted, raw: { value, unit }, reason: 'NO_CONSUMPTION' };
}
