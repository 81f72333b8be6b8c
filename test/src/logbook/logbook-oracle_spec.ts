import { strict as assert } from 'node:assert';
import { observed } from '../../../src/logbook/reducer';
import { emptyLog, type LogState, type Observation } from '../../../src/logbook/types';
import { valuesOf } from '../../../src/logbook/facts';
import type { LogRecord } from '../../../src/logbook/record';
import type { ReadName } from '../../../src/index';
import { isLong } from '../../support/long';
import { firstSeed, Random, times } from '../../support/random';
import { parseWallboxSessions } from '../../../src/wire/wallbox';
import { sessionsOf } from '../../../src/logbook/wallbox';
import { expectedLog, randomCarDay, type CarDay, type Expected, type Sample } from './oracle';
import { answerAt } from './wallbox-oracle';

// The logbook against a brute-force reader on random days. A failure names its seed; SEED=<seed>
// FACTOR=0 runs that day alone.
const days = times(isLong ? 2_000 : 60);
const start = Date.UTC(2026, 2, 28, 18);

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

function payloadOf({ read, at, stamp, running, odometer, charging, level, latitude }: Sample, day: CarDay): unknown {
  const timestamp = iso(stamp);
  switch (read) {
    case 'engineRunning':
      return { value: running ?? null, unit: null, timestamp };
    case 'odometer':
      return { value: odometer ?? null, unit: 'kilometers', timestamp };
    case 'location':
      return { latitude: latitude ?? null, longitude: latitude === undefined ? null : 10, timestamp };
    case 'wallboxSessions':
      return parseWallboxSessions(answerAt(day.sessions, at)).payload;
    case 'chargingStatus':
      return { value: charging == null ? null : charging ? 'CHARGING' : 'IDLE', unit: null, timestamp };
    case 'batteryChargeLevel':
      return { value: level ?? null, unit: 'percent', timestamp };
    case 'charging': {
      const sample = { at, stamp, charging: charging ?? null, level: level ?? null };
      return {
        chargingStatus: payloadOf({ read: 'chargingStatus', ...sample }, day),
        batteryChargeLevel: payloadOf({ read: 'batteryChargeLevel', ...sample }, day),
      };
    }
  }
}

function apply(state: LogState, sample: Sample, day: CarDay): LogState {
  const { read, at } = sample;
  const payload = payloadOf(sample, day);
  const sessions = read === 'wallboxSessions' ? sessionsOf(payload) : [];
  return observed(state, { at, receivedAt: at, values: valuesOf(read as ReadName, payload), sessions, tariff: null });
}

const comparedOf = ({
  from,
  to,
  bounds,
  odometer,
  km,
  batteryFrom,
  batteryTo,
  kWh,
  sources,
  reconstructed,
}: LogRecord): object => ({
  from: from.at,
  to: to.at,
  bounds,
  odometer,
  km,
  batteryFrom,
  batteryTo,
  reconstructed,
  // Of a trip, another test.
  kWh: km === null ? kWh : null,
  isMeasured: sources['kWh'] === 'wallbox',
});

const seconds = (ms: number): number => Math.round(ms / 1000);

function demandedOf({ from, to, seen, kWh, ...others }: Expected): object {
  const [first, last] = seen ?? [to, from];
  const bounds = { from: seconds(first - from), to: seconds(to - last) };
  return {
    from: iso(from),
    to: iso(to),
    bounds,
    ...others,
    kWh: kWh === null ? null : Number(kWh.toFixed(2)),
    reconstructed: seen === null,
  };
}

const detailsOf = (batteryCapacityKWH: number | null): Observation => ({
  at: start,
  receivedAt: start,
  values: valuesOf('details', { batteryCapacityKWH }),
  tariff: null,
});

describe('The logbook against a second reader', () => {
  it(`has the same trips and charges, over restarts (${days} days from seed ${firstSeed})`, function () {
    this.timeout(0);
    const met = {
      trips: 0,
      charges: 0,
      reconstructed: 0,
      withoutLevel: 0,
      wrongLevels: 0,
      none: 0,
      measured: 0,
      notMeasured: 0,
    };
    for (let seed = firstSeed; seed < firstSeed + days; seed += 1) {
      const random = new Random(seed);
      const day = randomCarDay(random, start);
      let state = observed(emptyLog, detailsOf(day.capacity));
      const compare = (samples: readonly Sample[]): ReturnType<typeof expectedLog> => {
        const expected = expectedLog({ ...day, samples });
        const why = `seed ${seed}, ${samples.length} answers: repeat with SEED=${seed} FACTOR=0`;
        assert.deepEqual(state.trips.map(comparedOf), expected.trips.map(demandedOf), why);
        assert.deepEqual(state.charges.map(comparedOf), expected.charges.map(demandedOf), why);
        return expected;
      };
      // In between, what a later answer corrects.
      const middle = random.between(0, day.samples.length - 1);
      for (const [index, sample] of day.samples.entries()) {
        state = apply(state, sample, day);
        if (random.chance(0.05)) state = JSON.parse(JSON.stringify(state)) as LogState;
        if (index === middle) compare(day.samples.slice(0, index + 1));
      }
      const { trips, charges, wrongLevels, none } = compare(day.samples);
      met.trips += trips.length;
      met.charges += charges.length;
      met.reconstructed += [...trips, ...charges].filter(({ seen }) => seen === null).length;
      met.wrongLevels += wrongLevels;
      met.none += none;
      met.measured += charges.filter(({ isMeasured }) => isMeasured).length;
      met.notMeasured += charges.filter(({ isMeasured, kWh }) => kWh !== null && !isMeasured).length;
      met.withoutLevel += trips.filter(({ batteryTo }) => batteryTo === null).length;
    }
    if (days >= 50) for (const [what, count] of Object.entries(met)) assert.ok(count > days / 50, `${what}: ${count}`);
  });
});
