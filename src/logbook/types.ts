import type { KnownValue } from '../car/known-values';
import type { FactName, LogValue, Value } from './facts';
import type { LogRecord, Terms } from './record';
import type { Session } from './wallbox';

/** The values of an answer, as they are observed: times in milliseconds since 1970. */
export interface Observation extends Terms {
  at: number;
  receivedAt: number;
  askedAt?: number | undefined;
  /** How far the clock behind the timestamps is ahead of `at`. */
  skewMs?: number;
  values: readonly Value[];
  /** The charging sessions of the wallbox. */
  sessions?: readonly Session[];
}

/** Values that belong to an end of a trip. */
export const endNames = ['level', 'fuel', 'position', 'meter', 'automatic', 'sinceCharge', 'fuelAutomatic'] as const;
export type EndName = (typeof endNames)[number];
export type EndValues = Partial<Record<EndName, LogValue>>;

/** The car where it is parked: what is known of it without a trip in between. */
export interface Parked {
  odometer: number;
  /** When the car is known to have been there last, and when that was received. */
  at: number;
  receivedAt: number;
  /** What was received or measured before belongs to the trip before. */
  arrivedAt: number;
  measuredFrom: number;
  values: EndValues;
}

/** A trip, or somebody in a car that stands, until the odometer shows which. */
export interface Drive {
  /** The last time before it at which nobody used the car; null: not known. */
  from: number | null;
  seen: [first: number, last: number];
  /** Null: it has not ended. */
  endedAt: number | null;
}

/** A trip that has ended: the values of its end are filled in as they are read. */
export interface Arrival {
  from: Parked;
  odometer: number;
  at: number;
  drive: Drive | null;
  /** The car was charged between the values of both ends. */
  isCharged: boolean;
  to: EndValues;
}

/** A rise of the level between two times; the price that applied if it is the same at all places. */
export interface Part {
  from: number;
  to: number;
  percent: number;
  price: number | null;
}

/** A charge that continues, or one that has ended and of which no level was read since. */
export interface Charge {
  /** The last time before it at which the car did not charge. */
  from: number;
  seen: [first: number, last: number] | null;
  endedAt: number | null;
  odometer: number | null;
  levels: { from: number; to: number; at: number } | null;
  /** The first level that is read decides about the one before: the car may have been driven in between. */
  isFirst: boolean;
  parts: readonly Part[];
}

/** Plain JSON. */
export interface LogState {
  facts: Readonly<Partial<Record<FactName, KnownValue<LogValue>>>>;
  parked: Parked | null;
  drive: Drive | null;
  arrival: Arrival | null;
  charge: Charge | null;
  /** When the reconstructed charges were received that came after the last sign that the car had not moved. */
  unseen: readonly number[];
  /** The end of the last charge: the odometer, and when it was received. */
  charged: { odometer: number | null; receivedAt: number } | null;
  /** Oldest first. */
  trips: readonly LogRecord[];
  charges: readonly LogRecord[];
}

export const emptyLog: LogState = {
  facts: {},
  parked: null,
  drive: null,
  arrival: null,
  charge: null,
  unseen: [],
  charged: null,
  trips: [],
  charges: [],
};
