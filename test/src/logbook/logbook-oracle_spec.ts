import { strict as assert } from 'node:assert';
import { observed } from '../../../src/logbook/reducer';
import { emptyLog, type LogState } from '../../../src/logbook/types';
import { valuesOf } from '../../../src/logbook/facts';
import type { LogRecord } from '../../../src/logbook/record';
import type { ReadName } from '../../../src/index';
import { isLong } from '../../support/long';
import { firstSeed, Random, times } from '../../support/random';
import { expectedLog, randomCarDay, type Expected, type Sample } from './oracle';

// The logbook against a brute-force reader on random days. A failure names its seed; SEED=<seed> FACTOR=0 runs that day alone.
const days = times(isLong ? 2_000 : 60);
const start = Date.UTC(2026, 2, 28, 18);

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

function payloadOf({ read, stamp, running, odometer, charging, level, latitude }: Sample): unknown {
  const timestamp = iso(stamp);
  switch (read) {
    case 'engineRunning':
      return { value: running ?? null, unit: null, timestamp };
    case 'odometer':
      return { value: odometer ?? null, unit: 'kilometers', timestamp };
    case 'location':
      return { latitude: latitude ?? null, longitude: latitude === undefined ? null : 10, timestamp };
    case 'charging':
      return {
        chargingStatus: { value: charging == null ? null : charging ? 'CHARGING' : 'IDLE', unit: null, timestamp },
        batteryChargeLevel: { value: level ?? null, unit: 'percent', timestamp },
      };
  }
}

const apply = (state: LogState, sample: Sample, at = sample.at): LogState =>
  observed(state, { at, receivedAt: at, values: valuesOf(sample.read as ReadName, payloadOf(sample)), tariff: null });

const comparedOf = ({ from, to, bounds, odometer, km, batteryFrom, batteryTo, reconstructed }: LogRecord): object => ({
  from: from.at,
  to: to.at,
  bounds,
  odometer,
  km,
  batteryFrom,
  batteryTo,
  reconstructed,
});

const seconds = (ms: number): number => Math.round(ms / 1000);

function demandedOf({ from, to, seen, ...others }: Expected): object {
  const [first, last] = seen ?? [to, from];
  const bounds = { from: seconds(first - from), to: seconds(to - last) };
  return { from: iso(from), to: iso(to), bounds, ...others, reconstructed: seen === null };
}

describe('The logbook against a second reader', () => {
  it(`has the same trips and charges, over restarts (${days} days from seed ${firstSeed})`, function () {
    this.timeout(0);
    const met = { trips: 0, charges: 0, reconstructed: 0, withoutLevel: 0, wrongLevels: 0, none: 0 };
    for (let seed = firstSeed; seed < firstSeed + days; seed += 1) {
      const random = new Random(seed);
      const { samples } = randomCarDay(random, start);
      let state = emptyLog;
      for (const sample of samples) {
        state = apply(state, sample);
        if (random.chance(0.05)) state = JSON.parse(JSON.stringify(state)) as LogState;
      }
      const { trips, charges, wrongLevels, none } = expectedLog(samples);
      const why = `seed ${seed}: repeat with SEED=${seed} FACTOR=0`;
      assert.deepEqual(state.trips.map(comparedOf), trips.map(demandedOf), why);
      assert.deepEqual(state.charges.map(comparedOf), charges.map(demandedOf), why);
      met.trips += trips.length;
      met.charges += charges.length;
      met.reconstructed += [...trips, ...charges].filter(({ seen }) => seen === null).length;
      met.wrongLevels += wrongLevels;
      met.none += none;
      met.withoutLevel += trips.filter(({ batteryTo }) => batteryTo === null).length;
    }
    if (days >= 50) for (const [what, count] of Object.entries(met)) assert.ok(count > days / 50, `${what}: ${count}`);
  });
});
