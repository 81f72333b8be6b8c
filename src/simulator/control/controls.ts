import type { CarPart } from './car-view-state';
import type { CarClick, SimulatedCarView } from './click';

/** The controls of a demo car besides its drawing, for the page of the simulated service and for the tab "Cars" alike. */

/** The part of a car that the controls show. */
type ShownCar = Omit<SimulatedCarView, 'vin' | 'latitude' | 'longitude'>;

interface CarSwitch {
  /** Null: unknown. Undefined: the car does not have it. */
  isOn(car: ShownCar): boolean | null | undefined;
  /** Switches it on or off. */
  click(on: boolean): CarClick;
}

export const carSwitches = {
  lock: { isOn: ({ locked }) => locked, click: (on) => ({ part: 'lock', to: on ? 'locked' : 'unlocked' }) },
  plug: { isOn: ({ plugged }) => plugged, click: (on) => ({ part: 'plug', to: on }) },
  // A car with a battery and no tank has no engine.
  engine: {
    isOn: ({ engineRunning, fuel, level }) => (fuel === undefined && level !== undefined ? undefined : engineRunning),
    click: (on) => ({ part: 'engine', to: on }),
  },
  climate: { isOn: ({ climateRunning }) => climateRunning === true, click: (on) => ({ part: 'climate', to: on }) },
  asleep: { isOn: ({ asleep }) => asleep, click: (on) => ({ part: 'asleep', to: on }) },
  inUse: { isOn: ({ inUse }) => inUse, click: (on) => ({ part: 'inUse', to: on }) },
  noInternet: { isOn: ({ noInternet }) => noInternet, click: (on) => ({ part: 'noInternet', to: on }) },
  fast: {
    isOn: ({ level, timeLapse }) => (level === undefined ? undefined : timeLapse > 1),
    click: (on) => ({ part: 'timeLapse', to: on ? 100 : 1 }),
  },
} as const satisfies Record<string, CarSwitch>;

type CarSwitchName = keyof typeof carSwitches;
export const carSwitchNames = Object.keys(carSwitches) as CarSwitchName[];

export const carSliders = {
  level: { max: 100, unit: '%' },
  fuel: { max: 70, unit: 'l' },
} as const satisfies Partial<Record<keyof ShownCar, { max: number; unit: string }>>;

/** The state that a click gives to an opening; `toggle`: the other one. */
export const clickModes = ['toggle', 'ajar', 'unknown'] as const;
export type ClickMode = (typeof clickModes)[number];

/** A click on a part of the drawing. */
export const clickOn = (part: CarPart, mode: ClickMode): CarClick =>
  part === 'lock' || part === 'plug' || mode === 'toggle' ? { part } : { part, to: mode };
