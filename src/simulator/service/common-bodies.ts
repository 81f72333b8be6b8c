import { chargingMemberNames, type ChargingMemberName } from '../../catalogue/reads';
import { energyMessages, energyState, isClaimed, type EnergyValue } from '../car/battery';
import type { Car } from '../car/car';
import type { ResourceValue } from '../car/resources';
import { putMember, withDigits } from './dialect';
import type { Group, GroupMember } from '../car/groups';

/** The bodies that both dialects have: energy, location, and the groups of connected v2 (docs/energy-location-api.md 2 to 4). */

export function energyBody(car: Car): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const values = energyState(car.state);
  for (const name of chargingMemberNames)
    putMember(body, name, car, `energy.${name}`, () => memberBody(car, name, values[name]));
  return body;
}

function memberBody(car: Car, name: ChargingMemberName, value: EnergyValue): object {
  if ('code' in value) return { status: 'ERROR', code: value.code, message: energyMessages[value.code] ?? value.code };
  return { status: 'OK', ...value, updatedAt: withDigits(car.measuredAt(`energy.${name}`), 0) };
}

export function capabilitiesBody(car: Car): Record<string, unknown> {
  const inner: Record<string, unknown> = {
    isSupported: chargingMemberNames.some((name) => isClaimed(car.state, name)),
  };
  for (const name of chargingMemberNames) {
    // The one name that differs from the state's.
    const key = name === 'chargingStatus' ? 'chargingSystemStatus' : name;
    putMember(inner, key, car, `capabilities.${name}`, () => ({ isSupported: isClaimed(car.state, name) }));
  }
  return { getEnergyState: inner };
}

export function locationBody(car: Car, operationId: string): Record<string, unknown> {
  const { longitude, latitude, altitude, heading } = car.state.location;
  const geometry: Record<string, unknown> = { type: 'Point' };
  putMember(geometry, 'coordinates', car, 'location.coordinates', () => [
    longitude,
    latitude,
    ...(altitude === null ? [] : [altitude]),
  ]);
  const properties: Record<string, unknown> = {};
  putMember(properties, 'timestamp', car, 'location.timestamp', () => withDigits(car.measuredAt('location'), 9));
  if (heading !== null) putMember(properties, 'heading', car, 'location.heading', () => String(Math.round(heading)));
  const body: Record<string, unknown> = {};
  putMember(body, 'data', car, 'location', () => ({ type: 'Feature', geometry, properties }));
  // Without dashes here.
  return { ...body, operationId: operationId.replaceAll('-', ''), status: 200 };
}

/** The data node of a group of v2 (docs/energy-location-api.md 4): nanoseconds everywhere but in the statistics. */
export function groupBody(car: Car, name: string, { members: table }: Group): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const digits = name === 'statistics' ? 3 : 9;
  for (const [key, member] of Object.entries(table)) {
    putMember(body, key, car, `${name}.${key}`, () => {
      const value = groupValue(car, member);
      const { from, of } = member;
      // The whole member is null, as the charge of a petrol car is.
      if (value === null && from === undefined) return null;
      const measuredAt = from === undefined ? car.measuredAt(of?.path ?? '') : car.resourceMeasuredAt(from);
      return { timestamp: withDigits(measuredAt, digits), unit: member.unit ?? null, value };
    });
  }
  return body;
}

function groupValue(car: Car, { word: derive, words, from, of }: GroupMember): ResourceValue {
  const value = from === undefined ? (of?.value(car.state) ?? null) : car.resource(from);
  if (value === null) return null;
  if (derive !== undefined) return derive((name) => car.resource(name));
  return words === undefined ? value : (words[String(value)] ?? 'UNSPECIFIED');
}
