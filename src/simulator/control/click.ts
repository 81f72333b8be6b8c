/** Clicks on parts of the drawn car, which need not know its whole state. */

import * as z from 'zod/mini';
import { openings, type OpeningRow } from '../../catalogue/openings';
import { meaningOf } from '../../catalogue/outcomes';
import { VehicleError } from '../../errors';
import { byName } from '../../util/json';
import { chargingStatus, hasTank } from '../car/battery';
import type { Car } from '../car/car';
import type { CarChanges } from '../car/changes';
import type { CarState } from '../car/state';
import { demoFaultNames, demoFaultOf, demoFaults, type DemoFault } from './demo-faults';
import type { Faults } from '../service/faults';
import { openingNames, type CarViewState, type OpeningName, type OpeningState } from '../../drawing/car-view-state';

const openingWords = { open: 'OPEN', ajar: 'AJAR', closed: 'CLOSED' } as const;
const lockWords = { locked: 'LOCKED', unlocked: 'UNLOCKED', unknown: 'UNSPECIFIED' } as const;

const openingState = z.optional(z.enum(['open', 'ajar', 'closed', 'unknown']));
const onOff = z.optional(z.boolean());

/** Without `to`, the part changes to its other state. */
const click = z.discriminatedUnion('part', [
  z.strictObject({ part: z.enum(openingNames), to: openingState }),
  z.strictObject({ part: z.literal('lock'), to: z.optional(z.enum(['locked', 'unlocked', 'unknown'])) }),
  z.strictObject({ part: z.enum(['plug', 'wallbox', 'engine', 'asleep', 'inUse', 'noInternet']), to: onOff }),
  z.strictObject({ part: z.literal('climate'), to: onOff }),
  z.strictObject({ part: z.literal('level'), to: z.number().check(z.minimum(0), z.maximum(100)) }),
  z.strictObject({ part: z.literal('fuel'), to: z.number().check(z.minimum(0), z.maximum(100)) }),
  /** How many times faster than the clock the battery charges. */
  z.strictObject({ part: z.literal('timeLapse'), to: z.number().check(z.minimum(1), z.maximum(1000)) }),
  /** A trip home, of 12 km within half a minute. */
  z.strictObject({ part: z.literal('drive') }),
  z.strictObject({ part: z.literal('reset') }),
  /** The next request to the service fails in this way. */
  z.strictObject({ part: z.literal('fault'), name: z.enum(demoFaultNames), to: onOff }),
]);
export type CarClick = z.input<typeof click>;

const home = { km: 12, minutes: 0.5, latitude: 57.6889, longitude: 11.968, altitude: 24, heading: 90 };

/** @throws VehicleError INPUT_INVALID */
export function parseClick(input: unknown): CarClick {
  const parsed = click.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new VehicleError('INPUT_INVALID', 'The simulated car has no such part, or the part no such state.');
}

/**
 * Does to the car, or to its service, what a click asks for.
 * @throws VehicleError INPUT_INVALID
 */
export function clickCar(car: Car, faults: Faults, input: CarClick): void {
  if (input.part === 'fault') clickFault(faults, input.name, input.to);
  else if (input.part === 'drive') car.drive(home);
  else if (input.part === 'reset') car.reset();
  else if (input.part === 'climate') car.switchClimate(input.to ?? car.climateUntil === null);
  else car.set(changesOf(car, input));
}

function clickFault(faults: Faults, name: DemoFault, to?: boolean): void {
  const waiting = faults.list.filter((fault) => demoFaultOf(fault) === name);
  const isSet = waiting.length > 0;
  const wanted = to ?? !isSet;
  if (wanted && !isSet) faults.add({ ...demoFaults[name], times: 1 });
  if (!wanted) for (const { id } of waiting) faults.remove(id);
}

type SimpleClick = Exclude<CarClick, { part: 'drive' | 'reset' | 'climate' | 'fault' }>;

function changesOf({ state }: Car, input: SimpleClick): CarChanges {
  switch (input.part) {
    case 'lock':
      return { lock: lockWords[input.to ?? (state.lock === 'LOCKED' ? 'unlocked' : 'locked')] };
    case 'plug':
      return {
        charger: { connection: (input.to ?? state.charger.connection !== 'CONNECTED') ? 'CONNECTED' : 'DISCONNECTED' },
      };
    case 'wallbox':
      return { charger: { hasPower: input.to ?? !state.charger.hasPower } };
    case 'engine':
      return { engineRunning: input.to ?? state.engineRunning !== true };
    case 'asleep':
      return { asleep: input.to ?? !state.asleep };
    case 'inUse':
      return { inUse: input.to ?? !state.inUse };
    case 'noInternet':
      return { reachable: !(input.to ?? state.reachable) };
    case 'level':
      return { battery: { level: input.to } };
    case 'fuel':
      return { resources: { fuelAmount: input.to } };
    case 'timeLapse':
      return { battery: { timeLapse: input.to } };
    default: {
      const { read, name } = openings[input.part];
      const to = input.to ?? (openingOf(state, input.part) === 'closed' ? 'open' : 'closed');
      return { [read]: { [name]: to === 'unknown' ? null : openingWords[to] } };
    }
  }
}

function openingOf(state: CarState, key: OpeningName): OpeningState {
  const { read, name }: OpeningRow = openings[key];
  const words: Readonly<Record<string, string | null>> = state[read];
  return (['open', 'ajar', 'closed'] as const).find((to) => openingWords[to] === words[name]) ?? 'unknown';
}

export type SimulatedCarView = ReturnType<typeof viewOf>;

export function viewOf(car: Car) {
  const { state } = car;
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  const last = car.invocations.at(-1);
  const drawn: CarViewState = {
    ...byName(openingNames, (name) => openingOf(state, name)),
    ...(!hasTank(state) && { tankLid: 'absent' }),
    // A car without a sunroof always reports this.
    ...(state.windows.sunroof === 'UNSPECIFIED' && { sunroof: 'absent' }),
    locked: state.lock === 'LOCKED' ? true : state.lock === 'UNLOCKED' ? false : null,
    ...(state.plugIn && {
      plugged: state.charger.connection === 'CONNECTED',
      chargingStatus: chargingStatus(state),
      level: state.battery.level === null ? null : Math.floor(state.battery.level),
    }),
    ...(hasTank(state) && { fuel: number(car.resource('fuelAmount')) }),
    engineRunning: state.engineRunning,
    climateRunning: car.climateUntil !== null,
  };
  return {
    ...drawn,
    vin: car.vin,
    model: state.details.descriptions.model ?? '',
    odometer: number(car.resource('odometer')),
    range: number(car.resource('distanceToEmpty')),
    /** Whether its wallbox supplies power. */
    ...(state.wallbox !== null && { wallbox: state.charger.hasPower }),
    target: state.battery.target,
    timeLapse: state.battery.timeLapse,
    asleep: state.asleep,
    inUse: state.inUse,
    noInternet: !state.reachable,
    driving: car.isDriving,
    /** The page makes the car flash or honk for it. By its id, a command is shown once. */
    lastCommand: last
      ? {
          id: last.id,
          command: last.command,
          outcome: meaningOf(car.statusOf(last)).outcome,
          acted: last.actedAt !== null,
        }
      : null,
  };
}
