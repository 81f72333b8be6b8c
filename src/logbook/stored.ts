import * as z from 'zod/mini';
import { knownValueShapeOf } from '../car/known-values';
import { isRecord } from '../util/json';
import { factNames } from './facts';
import { parseRecords } from './record';
import { emptyLog, openShape, valueShape, type LogState } from './types';

const factShape = z.lazy(() => knownValueShapeOf(valueShape));

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
