import { chargingMemberNames, type ChargingMemberName } from '../../catalogue/reads';
import { perMile } from '../../catalogue/units';
import type { CarState } from './state';
import { hourMs, minuteMs } from '../../util/durations';

/**
 * The drive battery: how its charge grows, and the energy state that follows from it
 * (docs/internals/vendor-api.md 12.2, 12.3, 16).
 * Pure functions of the car's state; `Car` decides when they apply.
 */

/** A value with its unit, or the code of the reason why there is none. */
type EnergyValue = { value: number | string; unit?: string } | { code: string };

/** The messages that were seen with each code (docs/internals/vendor-api.md 12.2). */
export const energyMessages: Readonly<Record<string, string>> = {
  NOT_SUPPORTED: 'Resource is not supported for this vehicle',
  PROPERTY_NOT_SUPPORTED: 'Property is not supported for this vehicle',
  PROPERTY_NOT_FOUND: 'No valid value could be found for the requested property',
  ERROR_READING_PROPERTY: 'Failed to retrieve property.',
};

/** Above this level the power falls, in a straight line to a fifth at 100 percent. */
const taperFrom = 80;
const taperedTo = 0.2;

/** Watts that the battery accepts at a level. */
function powerAt(level: number, { power }: CarState['battery']): number {
  const above = Math.max(0, level - taperFrom) / (100 - taperFrom);
  return Math.round(power * (1 - (1 - taperedTo) * above));
}

export const nextPercent = (level: number): number => Math.floor(level) + 1;

/** Milliseconds to the next whole percent, with the power of the beginning of the step. */
export function stepMs(level: number, { battery }: CarState): number {
  const wattHours = ((nextPercent(level) - level) / 100) * battery.capacityKWH * 1000;
  return ((wattHours / powerAt(level, battery)) * hourMs) / battery.timeLapse;
}

function minutesToTarget(state: CarState): number {
  let ms = 0;
  for (let level = state.battery.level ?? 0; level < state.battery.target; level = nextPercent(level))
    ms += stepMs(level, state);
  return Math.round(ms / minuteMs);
}

/** The word of `chargingStatus`. Only `CHARGING` means that the level rises. */
export function chargingStatus({ plugIn, battery, charger }: CarState): string {
  if (!plugIn || charger.connection === 'DISCONNECTED') return 'IDLE';
  if (charger.connection !== 'CONNECTED') return 'ERROR';
  if (battery.level === null) return 'IDLE';
  if (battery.level >= battery.target) return 'DONE';
  if (!charger.hasPower) return 'IDLE';
  return charger.scheduled ? 'SCHEDULED' : 'CHARGING';
}

function powerStatus(state: CarState, status: string): string {
  const { charger, energy } = state;
  if (status === 'ERROR') return 'FAULT';
  if (charger.connection === 'DISCONNECTED' || !charger.hasPower) return 'NO_POWER_AVAILABLE';
  if (status === 'DONE' && energy.faultWhenDone) return 'FAULT';
  return status === 'CHARGING' ? 'PROVIDING_POWER' : 'POWER_AVAILABLE_BUT_NOT_ACTIVATED';
}

export const hasTank = ({ details }: CarState): boolean => details.fuelType !== 'ELECTRIC';

/** The range in kilometers that the charge is good for; null if the level is unknown. */
export const rangeKm = ({ plugIn, battery }: CarState): number | null =>
  plugIn && battery.level !== null ? Math.round((battery.fullRange * Math.floor(battery.level)) / 100) : null;

const rounded = (level: number, tenths: boolean): number => (tenths ? Math.floor(level * 10) / 10 : Math.floor(level));

export function energyState(state: CarState): Record<ChargingMemberName, EnergyValue> {
  const { battery, charger, energy } = state;
  const status = chargingStatus(state);
  const isCharging = status === 'CHARGING';
  const unknown = { code: 'PROPERTY_NOT_FOUND' };
  const range = rangeKm(state);
  const unit = energy.distanceUnit;
  const values: Record<ChargingMemberName, EnergyValue> = {
    batteryChargeLevel:
      battery.level === null ? unknown : { value: rounded(battery.level, energy.tenths), unit: 'percentage' },
    electricRange: range === null ? unknown : { value: unit === 'km' ? range : Math.round(range / perMile), unit },
    chargerConnectionStatus: { value: charger.connection },
    chargingStatus: { value: status },
    chargingType: { value: charger.connection === 'CONNECTED' ? charger.type : 'NONE' },
    chargerPowerStatus: { value: powerStatus(state, status) },
    estimatedChargingTimeToTargetBatteryChargeLevel: {
      value: isCharging ? minutesToTarget(state) : 0,
      unit: 'minutes',
    },
    chargingCurrentLimit: { value: battery.currentLimit, unit: 'ampere' },
    targetBatteryChargeLevel: { value: battery.target, unit: 'percentage' },
    chargingPower:
      isCharging || !energy.powerOnlyWhileCharging
        ? { value: isCharging ? powerAt(battery.level ?? 0, battery) : 0, unit: 'watts' }
        : unknown,
  };
  for (const member of chargingMemberNames) {
    const code = state.plugIn ? energy.errors[member] : 'NOT_SUPPORTED';
    if (code !== undefined && code !== null) values[member] = { code };
  }
  return values;
}

/** Whether the service claims a member, which can be wrong (docs/internals/vendor-api.md 12.4). */
export function isClaimed({ plugIn, energy }: CarState, member: ChargingMemberName): boolean {
  const code = energy.errors[member] ?? '';
  return energy.capabilities[member] ?? (plugIn && !code.endsWith('NOT_SUPPORTED'));
}
