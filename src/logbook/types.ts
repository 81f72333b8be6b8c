import * as z from 'zod/mini';
import { positionShape, time, type KnownValue } from '../car/known-values';
import type { FactName, LogValue, Value } from './facts';
import type { LogRecord, Terms } from './record';
import type { ChargingSession } from './wallbox';

/** The values of an answer, as they are observed: times in milliseconds since 1970. */
export interface Observation extends Terms {
  at: number;
  /** When the logbook got it: `at`, or later if the answer was deferred. */
  appliedAt?: number;
  receivedAt: number;
  askedAt?: number | undefined;
  /** How far the clock behind the timestamps is ahead of `at`. */
  skewMs?: number;
  values: readonly Value[];
  sessions?: readonly ChargingSession[];
}

export const endNames = ['level', 'fuel', 'position', 'meter', 'automatic', 'sinceCharge', 'fuelAutomatic'] as const;
export type EndName = (typeof endNames)[number];
export type EndValues = Partial<Record<EndName, LogValue>>;

const number = z.nullable(z.number());
export const valueShape: z.ZodMiniType<LogValue> = z.union([z.number(), z.boolean(), positionShape]);
const values: z.ZodMiniType<EndValues> = z.record(z.string(), valueShape);
const firstAndLast = z.tuple([time, time]);

/** The car where it is parked: what is known of it without a trip in between. */
const parkedShape = z.lazy(() =>
  z.object({
    odometer: z.number(),
    /** When the car is known to have been there last, and when that was received. */
    at: time,
    receivedAt: time,
    /** What was received or measured before belongs to the trip before. */
    arrivedAt: z.number(),
    measuredFrom: time,
    values,
  }),
);
export type Parked = z.infer<typeof parkedShape>;

/** A trip, or somebody in a car that stands, until the odometer shows which. */
const driveShape = z.lazy(() =>
  z.object({
    /** The last time before it at which nobody used the car; null: not known. */
    from: z.nullable(time),
    seen: firstAndLast,
    /** Null: it has not ended. */
    endedAt: z.nullable(time),
  }),
);
export type Drive = z.infer<typeof driveShape>;

/** A trip that has ended: the values of its end are filled in as they are read. */
const arrivalShape = z.lazy(() =>
  z.object({
    from: parkedShape,
    odometer: z.number(),
    at: time,
    drive: z.nullable(driveShape),
    /** The car was charged between the values of both ends. */
    isCharged: z.boolean(),
    to: values,
  }),
);
export type Arrival = z.infer<typeof arrivalShape>;

/**
 * A rise of the level between two times; the price that applied if it is the same at all places.
 */
const partShape = z.lazy(() => z.object({ from: time, to: time, percent: z.number(), price: number }));
export type Part = z.infer<typeof partShape>;

const levelsShape = z.lazy(() => z.nullable(z.object({ from: z.number(), to: z.number(), at: time })));
const chargedShape = z.lazy(() => z.nullable(z.object({ odometer: number, receivedAt: time })));

/** A charge that continues, or one that has ended and of which the next level can say more. */
const chargeShape = z.lazy(() =>
  z.object({
    /** The last time before it at which the car did not charge. */
    from: time,
    seen: z.nullable(firstAndLast),
    endedAt: z.nullable(time),
    odometer: number,
    levels: levelsShape,
    /** The first level decides about the one before: the car may have been driven. */
    isFirst: z.boolean(),
    parts: z.array(partShape),
    /** As it was before the last level, which the next one can deny. Null: that level stays. */
    before: z.nullable(z.object({ levels: levelsShape, isFirst: z.boolean(), parts: z.number() })),
    /** No level was read since the end: the first one is that of the end. */
    needsEndLevel: z.boolean(),
    /** The last charge before one that was not seen, which the next level can deny. */
    chargedBefore: chargedShape,
  }),
);
export type Charge = z.infer<typeof chargeShape>;

/** What continues. What is damaged in the store is left out. */
export const openShape = z.lazy(() =>
  z.object({
    parked: z.catch(z.nullable(parkedShape), null),
    drive: z.catch(z.nullable(driveShape), null),
    arrival: z.catch(z.nullable(arrivalShape), null),
    charge: z.catch(z.nullable(chargeShape), null),
    /** When the reconstructed charges since the last sign of a parked car were received. */
    unseen: z.catch(z.array(z.number()), []),
    /** The end of the last charge: the odometer, and when it was received. */
    charged: z.catch(chargedShape, null),
  }),
);

/** Plain JSON. */
export interface LogState extends z.infer<typeof openShape> {
  facts: Readonly<Partial<Record<FactName, KnownValue<LogValue>>>>;
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
