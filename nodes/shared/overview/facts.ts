import type { ReadName, Reading } from '../../../src/index';
import { isRecord } from '../input/input-handler';

/** A value as a flow read it last. Times are ISO-8601. */
export interface Fact {
  /** Null: the car or the service does not tell. */
  value: string | number | boolean | null;
  unit: string | null;
  /** When the car reported it; null where the service does not say. */
  measuredAt: string | null;
  /** When it was read. */
  receivedAt: string;
}

const windows = ['frontLeft', 'frontRight', 'rearLeft', 'rearRight', 'sunroof'] as const;
const doors = ['frontLeft', 'frontRight', 'rearLeft', 'rearRight', 'hood', 'tailGate', 'tankLid'] as const;

/** Not every car has one, and the service then says `UNSPECIFIED` instead of leaving it out (docs/field-notes.md 1.5). */
const optional = new Set<string>(['windows.sunroof', 'doors.tankLid']);

type OpeningName = `windows.${(typeof windows)[number]}` | `doors.${(typeof doors)[number]}`;

/** The single values by the names of their reads and of the members of a group. */
const singles = {
  frontLeftWindowOpen: 'windows.frontLeft',
  frontRightWindowOpen: 'windows.frontRight',
  rearLeftWindowOpen: 'windows.rearLeft',
  rearRightWindowOpen: 'windows.rearRight',
  frontLeftDoorOpen: 'doors.frontLeft',
  frontRightDoorOpen: 'doors.frontRight',
  rearLeftDoorOpen: 'doors.rearLeft',
  rearRightDoorOpen: 'doors.rearRight',
  hoodOpen: 'doors.hood',
  tailGateOpen: 'doors.tailGate',
  carLocked: 'lock',
  engineRunning: 'engineRunning',
  fuelAmount: 'fuelAmount',
  distanceToEmpty: 'distanceToEmpty',
  batteryChargeLevel: 'batteryChargeLevel',
  electricRange: 'electricRange',
  distanceToEmptyBattery: 'electricRange',
  chargingStatus: 'chargingStatus',
  chargerConnectionStatus: 'chargerConnectionStatus',
  estimatedChargingTimeToTargetBatteryChargeLevel: 'chargingMinutes',
  odometer: 'odometer',
} as const satisfies Record<string, OpeningName | string>;

export type FactName = OpeningName | (typeof singles)[keyof typeof singles] | 'availability' | 'model';
export type Facts = Partial<Record<FactName, Fact>>;

const maxText = 60;

/** What a reading says about the things that the tab shows; nothing else of it is kept. */
export function factsOf(read: ReadName, { payload, vehicle }: Reading): Facts {
  const facts: Facts = {};
  if (!isRecord(payload)) return facts;
  const put = (name: FactName, member: unknown): void => {
    if (!isRecord(member)) return;
    facts[name] = {
      value: valueOf(name, member['value']),
      unit: textOf(member['unit']),
      measuredAt: timeOf(member['timestamp']),
      receivedAt: vehicle.receivedAt,
    };
  };
  const putSingle = (name: string, member: unknown): void => {
    if (Object.hasOwn(singles, name)) put(singles[name as keyof typeof singles], member);
  };

  if (read === 'windows') {
    for (const name of windows) if (Object.hasOwn(payload, name)) put(`windows.${name}`, payload[name]);
  } else if (read === 'doors') {
    for (const name of doors) if (Object.hasOwn(payload, name)) put(`doors.${name}`, payload[name]);
    put('lock', payload['carLocked']);
  } else if (read === 'accessibility') {
    // The reason says more than UNAVAILABLE, and there is none while the car is available.
    put('availability', { ...payload, value: payload['unavailableReason'] ?? payload['value'] });
  } else if (read === 'details') {
    const { descriptions, modelYear } = payload;
    const model = isRecord(descriptions) ? textOf(descriptions['model']) : null;
    const year = typeof modelYear === 'number' ? String(modelYear) : '';
    if (model !== null) put('model', { value: `${model} ${year}`.trim() });
  } else if (Object.hasOwn(payload, 'value')) {
    putSingle(read, payload);
  } else {
    for (const [name, member] of Object.entries(payload)) putSingle(name, member);
  }
  return facts;
}

/** Only words that are known mean something; any other one is as good as none. */
function valueOf(name: FactName, value: unknown): Fact['value'] {
  if (name.includes('.')) {
    if (value === 'OPEN' || value === true) return 'open';
    if (value === 'AJAR') return 'ajar';
    if (value === 'CLOSED' || value === false) return 'closed';
    return value === 'UNSPECIFIED' && optional.has(name) ? 'absent' : null;
  }
  if (name === 'lock') {
    if (value === 'LOCKED' || value === true) return true;
    return value === 'UNLOCKED' || value === false ? false : null;
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return typeof value === 'boolean' ? value : textOf(value);
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, maxText) : null;

const timeOf = (value: unknown): string | null =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : null;
