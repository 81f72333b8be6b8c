import * as z from 'zod/mini';
import { knownValueShapeOf, positionShape, time } from '../car/known-values';
import { isRecord } from '../util/json';
import { factNames, type LogValue } from './facts';
import { parseRecords } from './record';
import { emptyLog, type LogState } from './types';

const number = z.nullable(z.number());
const valueShape: z.ZodMiniType<LogValue> = z.union([z.number(), z.boolean(), positionShape]);
const factShape = z.lazy(() => knownValueShapeOf(valueShape));
const values = z.record(z.string(), valueShape);
const seen = z.tuple([time, time]);
const parkedShape = z.lazy(() =>
  z.object({ odometer: z.number(), at: time, receivedAt: time, arrivedAt: z.number(), measuredFrom: time, values }),
);
const driveShape = z.lazy(() => z.object({ from: z.nullable(time), seen, endedAt: z.nullable(time) }));
const levels = z.lazy(() => z.nullable(z.object({ from: z.number(), to: z.number(), at: time })));
const chargedShape = z.lazy(() => z.nullable(z.object({ odometer: number, receivedAt: time })));

const openShape = z.lazy(() =>
  z.object({
    parked: z.catch(z.nullable(parkedShape), null),
    drive: z.catch(z.nullable(driveShape), null),
    arrival: z.catch(
      z.nullable(
        z.object({
          from: parkedShape,
          odometer: z.number(),
          at: time,
          drive: z.nullable(driveShape),
          isCharged: z.boolean(),
          to: values,
        }),
      ),
      null,
    ),
    charge: z.catch(
      z.nullable(
        z.object({
          from: time,
          seen: z.nullable(seen),
          endedAt: z.nullable(time),
          odometer: number,
          levels,
          isFirst: z.boolean(),
          parts: z.array(z.object({ from: time, to: time, percent: z.number(), price: number })),
          before: z.nullable(z.object({ levels, isFirst: z.boolean(), parts: z.number() })),
          waits: z.boolean(),
          last: chargedShape,
        }),
      ),
      null,
    ),
    unseen: z.catch(z.array(z.number()), []),
    charged: z.catch(chargedShape, null),
  }),
);

/** The stored logbook as far as it can be read. Never throws. */
export function parseLog(stored: unknown): LogState {
  if (!isRecord(stored)) return emptyLog;
  const given = isRecord(stored['facts']) ? stored['facts'] : {};
  const facts = Object.fromEntries(
    factNames.flatMap((name) => {
      const fact = factShape.safeParse(given[name]).data;
      return fact === undefined ? [] : [[name, fact]];
    }),
  );
  const [trips, charges] = [parseRecords(stored['trips']), parseRecords(stored['charges'])];
  const open = openShape.safeParse(stored).data ?? emptyLog;
  // Their last records are filled in further.
  const arrival = trips.length === 0 ? null : open.arrival;
  const charge = open.charge?.endedAt != null && charges.length === 0 ? null : open.charge;
  return { ...open, arrival, charge, facts, trips, charges };
}
