import type { Random } from '../../support/random';
import { measuredOf, randomSessions, type BoxSession, type Compared } from './wallbox-oracle';

/**
 * A random day of a car and what was read of it, and the logbook of these readings once more, by
 * brute force over all of them. It shares no code with src/logbook.
 */
export interface Sample {
  read:
    | 'engineRunning'
    | 'odometer'
    | 'charging'
    | 'chargingStatus'
    | 'batteryChargeLevel'
    | 'location'
    | 'wallboxSessions';
  /** When it was received. */
  at: number;
  /** The time that the service gives, if it gives one. */
  stamp: number | null;
  running?: boolean;
  odometer?: number;
  charging?: boolean | null;
  level?: number | null;
  latitude?: number;
}

export interface TrueTrip {
  from: number;
  to: number;
}

export interface CarDay {
  samples: Sample[];
  trips: TrueTrip[];
  charges: TrueTrip[];
  /** Kilowatt-hours, known from the beginning on; null: never. */
  capacity: number | null;
  /** Of the wallbox. */
  sessions: BoxSession[];
}

const second = 1_000;
const minute = 60 * second;
const moment = 5_000;

interface Phase {
  kind: 'parked' | 'driving' | 'charging';
  from: number;
  to: number;
  odometer: [number, number];
  level: [number, number];
  place: number;
}

function phasesOf(random: Random, start: number, end: number): Phase[] {
  const phases: Phase[] = [];
  let [time, odometer, level, place] = [start, random.between(0, 90_000), random.between(20, 95), 50];
  while (time < end) {
    const before = phases.at(-1)?.kind;
    const kind = before !== 'driving' && random.chance(0.5) ? 'driving' : random.chance(0.35) ? 'charging' : 'parked';
    const minutes = kind === 'parked' ? random.between(2, 300) : random.between(2, 120);
    const km = kind === 'driving' ? random.between(0, minutes) : 0;
    const perMinute = random.pick([1 / 3, 1 / 3, 2, 5]);
    const change = kind === 'driving' ? -km / 4 : kind === 'charging' ? minutes * perMinute : 0;
    const to = time + minutes * minute + random.between(0, 59) * 1000;
    const next = Math.max(1, Math.min(100, level + change));
    if (kind === 'driving') place = random.between(50, 60);
    phases.push({ kind, from: time, to, odometer: [odometer, odometer + km], level: [level, next], place });
    [time, odometer, level] = [to, odometer + km, next];
  }
  return phases;
}

const along = ([from, to]: [number, number], { from: start, to: end }: Phase, at: number): number =>
  Math.floor(from + ((to - from) * (at - start)) / (end - start));

/**
 * Each read has its own interval, comes late, or not at all for hours; values are missing or wrong;
 * stamps are missing or older.
 */
export function randomCarDay(random: Random, start: number): CarDay {
  const end = start + 24 * 60 * minute;
  const phases = phasesOf(random, start, end);
  const [hasStamps, outage] = [random.chance(0.5), start + random.between(0, 1440) * minute];
  const outageEnd = outage + (random.chance(0.5) ? random.between(10, 400) * minute : 0);
  const lost = random.pick([0, 0, 0.1, 0.4]);
  const [wrong, fraction] = [random.pick([0, 0, 0.02, 0.1]), random.pick([0, 0, 0.4, 0.6])];
  const samples: Sample[] = [];
  const battery = random.chance(0.7) ? (['charging'] as const) : (['chargingStatus', 'batteryChargeLevel'] as const);
  const reads = ['engineRunning', 'odometer', ...battery, 'location'] as const;
  const together = random.chance(0.6) ? random.pick([2, 2, 5, 15, 30]) : null;
  for (const read of reads) {
    const every = (together ?? random.pick([2, 5, 10, 30])) * minute;
    for (let due = start; due < end; due += every) {
      const at = due + (random.chance(0.2) ? random.between(0, 90) * 1000 : random.between(0, 2) * 1000);
      const phase = phases.find(({ to }) => at < to);
      if (phase === undefined || (at >= outage && at < outageEnd) || random.chance(lost)) continue;
      const stamp = hasStamps && random.chance(0.9) ? Math.max(phase.from, at - random.between(0, 200) * 1000) : null;
      const when = stamp ?? at;
      const misses = random.chance(0.05);
      const sample: Sample = { read, at, stamp };
      if (read === 'engineRunning' && !misses) sample.running = phase.kind === 'driving';
      if (read === 'odometer' && !misses) {
        sample.odometer = along(phase.odometer, phase, when) + (random.chance(0.5) ? fraction : 0);
        if (random.chance(wrong))
          sample.odometer = random.pick([0, 0, 7, sample.odometer + 5_000, Math.max(0, sample.odometer - 20)]);
      }
      if (read === 'location' && !misses && phase.kind !== 'driving') sample.latitude = phase.place;
      if (read === 'charging' || read === 'batteryChargeLevel') {
        const level = along(phase.level, phase, when);
        const odd = [0, 50, 53, 99, Math.min(100, level + random.between(2, 40)), Math.max(0, level - 3)] as const;
        sample.level = misses ? null : random.chance(wrong) ? random.pick(odd) : level;
      }
      if (read === 'charging' || read === 'chargingStatus')
        sample.charging = random.chance(0.05) ? null : phase.kind === 'charging';
      samples.push(sample);
    }
  }
  const capacity = random.pick([80, 80, 80, null]);
  const sessions = random.chance(0.7) ? randomSessions(random, phases, capacity ?? 80) : [];
  const everyAnswer = random.pick([10, 30, 60, 240]) * minute;
  for (let due = start + random.between(0, 59) * second; due < end; due += everyAnswer)
    if (!random.chance(lost)) samples.push({ read: 'wallboxSessions', at: due, stamp: null });
  samples.sort((one, other) => one.at - other.at);
  const of = (kind: Phase['kind']): TrueTrip[] => phases.filter((phase) => phase.kind === kind);
  return { samples, trips: of('driving'), charges: of('charging'), capacity, sessions };
}

/** What is compared of a record. */
export interface Expected {
  from: number;
  to: number;
  seen: [number, number] | null;
  odometer: number | null;
  km: number | null;
  batteryFrom: number | null;
  batteryTo: number | null;
  kWh: number | null;
  /** By the wallbox. */
  isMeasured: boolean;
}

interface Told<Value> {
  /** The place in the history. */
  index: number;
  at: number;
  stamp: number | null;
  /** The newest stamp so far: a value without one keeps it. */
  newestStamp: number | null;
  /** When the run of equal values began. */
  runStart: number;
  /** How many answers the run has so far. */
  runLength: number;
  value: Value;
}
const timeOf = ({ at, stamp }: Told<unknown>): number => Math.min(stamp ?? at, at);

/**
 * The known values of a fact in the order of the history; one with an older stamp
 * than before is none.
 */
function told<Value>(samples: readonly Sample[], valueOf: (sample: Sample) => Value | null | undefined): Told<Value>[] {
  const list: Told<Value>[] = [];
  for (const [index, sample] of samples.entries()) {
    const { at, stamp } = sample;
    const value = valueOf(sample);
    const before = list.at(-1);
    if (value === null || value === undefined) continue;
    if (stamp !== null && stamp < (before?.newestStamp ?? -Infinity)) continue;
    const same = before?.value === value ? before : null;
    const [runStart, runLength] = [same?.runStart ?? at, (same?.runLength ?? 0) + 1];
    list.push({ index, at, stamp, newestStamp: stamp ?? before?.newestStamp ?? null, runStart, runLength, value });
  }
  return list;
}

function lastBefore<Value>(list: readonly Told<Value>[], index: number): Told<Value> | undefined {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.index ?? 0) <= index) low = middle + 1;
    else high = middle;
  }
  return list[low - 1];
}

/** The moments at which the history shows the odometer of the parked car. */
interface Shown {
  index: number;
  value: number;
  time: number;
  at: number;
  runStart: number;
}

/** @returns also how many levels of charges were wrong, and how many charges were none */
export function expectedLog({
  samples,
  capacity,
  sessions,
}: Pick<CarDay, 'capacity' | 'sessions'> & { samples: readonly Sample[] }) {
  const usage = told(samples, ({ running }) => running);
  const odometers = told(samples, ({ odometer }) => (odometer === 0 ? null : odometer));
  const levels = told(samples, ({ level }) => level);
  const statuses = told(samples, ({ charging }) => charging);
  const shown: Shown[] = [];
  // In hundredths of a kilometer.
  const hundredths = (km: number): number => Math.round(km * 100);
  for (let index = 0; index < samples.length; index += 1) {
    const [use, odometer] = [lastBefore(usage, index), lastBefore(odometers, index)];
    if (use?.index !== index && odometer?.index !== index) continue;
    if (use === undefined || odometer === undefined || use.value) continue;
    const first = odometer.runStart;
    if (odometer.at < use.runStart - moment || first > use.at + moment) continue;
    // The car stands at the number that was shown there first, until it has made a whole kilometer.
    // A lower number, or one that is higher than a car can have come since, has to come twice.
    const here = shown.at(-1)?.value ?? odometer.value;
    const stood = shown.filter(({ value }) => value === here).map(({ time }) => time);
    if (odometer.runLength === 1 && isOdd(odometer, here, Math.max(...stood))) continue;
    const isHere = odometer.value >= here && hundredths(odometer.value) < hundredths(here) + 100;
    const value = isHere ? here : odometer.value;
    shown.push({ index, value, time: timeOf(odometer), at: odometer.at, runStart: first });
  }
  const charges = chargesOf(samples, { usage, odometers, levels, statuses, shown });
  const answers = [...samples.entries()].flatMap(([index, { read, at }]) =>
    read === 'wallboxSessions' ? [{ index, at }] : [],
  );
  const measured = capacity === null ? [] : measuredOf(charges.map(comparedOf), answers, sessions, capacity);
  for (const [place, { record, rises }] of charges.entries()) {
    const [percent, kWh] = [rises.at(-1)!.percent, measured[place] ?? null];
    const ofLevel = percent === null || capacity === null ? null : (percent * capacity) / 100;
    Object.assign(record, { kWh: kWh ?? ofLevel, isMeasured: kWh !== null });
  }
  return {
    trips: tripsOf({ usage, levels, statuses, shown }, charges),
    charges: charges.filter(({ noneSince }) => noneSince === Infinity).map(({ record }) => record),
    wrongLevels: charges.reduce((sum, { wrongLevels }) => sum + wrongLevels, 0),
    none: charges.filter(({ noneSince }) => noneSince < Infinity).length,
  };
}

const comparedOf = ({ record: { from, to, seen }, rises, noneSince }: FoundCharge): Compared => ({
  from,
  to,
  firstSeen: seen?.[0] ?? to,
  rises,
  noneSince,
});

const isOdd = (odometer: Told<number>, here: number, since: number): boolean =>
  odometer.value < here || odometer.value - here > 50 + Math.max(0, timeOf(odometer) - since) / 12_000;

interface Lists {
  usage: Told<boolean>[];
  odometers: Told<number>[];
  levels: Told<number>[];
  statuses: Told<boolean>[];
  shown: Shown[];
}

function tripsOf(
  { usage, levels, statuses, shown }: Omit<Lists, 'odometers'>,
  charges: readonly FoundCharge[],
): Expected[] {
  const trips: Expected[] = [];
  // What belongs to the place where the car stands: received since, and not measured before.
  let window = { received: 0, measured: 0 };
  let stood: Shown[] = [];
  const newest = (list: Told<number>[], place: typeof window, upToIndex: number, upTo: number): number | null => {
    const last = lastBefore(list, upToIndex);
    const stamp = last?.newestStamp ?? null;
    return last !== undefined &&
      last.at >= place.received &&
      last.at <= upTo &&
      (stamp === null || stamp >= place.measured)
      ? last.value
      : null;
  };
  for (const one of shown) {
    const before = stood.at(-1);
    if (before === undefined || one.value < before.value) {
      [window, stood] = [{ received: 0, measured: 0 }, [one]];
      continue;
    }
    if (one.value === before.value) {
      stood.push(one);
      continue;
    }
    const drives = usage.filter(({ index, value }) => value && index > before.index && index <= one.index);
    const times = drives.map(timeOf);
    const seen: [number, number] | null = times.length === 0 ? null : [times[0] ?? 0, Math.max(...times)];
    const lastFalse = usage.findLast(({ index }) => index < (drives[0]?.index ?? 0));
    const ended = usage.find(({ index }) => index > (drives.at(-1)?.index ?? Infinity));
    const known = Math.max(...stood.map(({ time }) => time));
    const from =
      seen === null ? known : Math.min(Math.max(known, lastFalse?.value === false ? timeOf(lastFalse) : 0), seen[0]);
    const to =
      seen === null ? one.time : Math.max(Math.min(one.time, Math.max(timeOf(ended ?? usage[0]!), seen[1])), seen[1]);
    const batteryFrom = stood.reduce<number | null>((value, place) => {
      const within = levels.filter(({ index, at }) => index < one.index && at <= place.at + moment);
      const index = Math.max(place.index, within.at(-1)?.index ?? 0);
      return (
        newest(levels, window, index, place.at + moment) ??
        newest(levels, window, place.index, place.at + moment) ??
        value
      );
    }, null);
    const lastUse = lastBefore(usage, one.index);
    const received = (seen === null || lastUse === undefined ? one.runStart : lastUse.runStart) - moment;
    window = { received, measured: seen === null ? known : seen[1] };
    stood = [one];
    // Until somebody uses the car again, or the odometer of the parked car is another one.
    const closes = Math.min(
      usage.find(({ index, value }) => value && index > one.index)?.index ?? Infinity,
      shown.find(({ index, value }) => index > one.index && value !== one.value)?.index ?? Infinity,
    );
    let batteryTo: number | null = null;
    for (let index = one.index; batteryTo === null && index < closes && index < 10_000; index += 1) {
      const isCharged =
        lastBefore(statuses, index)?.value === true ||
        charges.some(
          ({ endIndex, endReceived, noneSince }) =>
            endIndex <= index && index < noneSince && endReceived > window.received,
        );
      if (!isCharged) batteryTo = newest(levels, window, index, Infinity);
      if (index > (levels.at(-1)?.index ?? 0)) break;
    }
    trips.push({
      from,
      to: Math.max(from, to),
      seen,
      odometer: one.value,
      km: Math.round((one.value - before.value) * 100) / 100,
      batteryFrom,
      batteryTo,
      kWh: null,
      isMeasured: false,
    });
  }
  return trips;
}

interface FoundCharge {
  record: Expected;
  endIndex: number;
  endReceived: number;
  /** Where a level showed that it was none. */
  noneSince: number;
  wrongLevels: number;
  /** The percent charged, as it was known from one place of the history to the next. */
  rises: Compared['rises'];
}

/** The level before a charge, if it counts, and the levels of the charge that count. */
interface Kept {
  before: { value: number; time: number } | null;
  inside: Told<number>[];
}

/**
 * The lowest and the highest level. The charge begins anew with a first level below the one before
 * it, and with one that no car can charge to in the time.
 */
function spanOf({ before, inside }: Kept): { low: number; high: number } | null {
  let span = before && { low: before.value, high: before.value };
  let time = before?.time ?? 0;
  for (const [place, level] of inside.entries()) {
    const isFast = span !== null && level.value - span.high >= 3 + Math.max(0, timeOf(level) - time) / 12_000;
    const isAnew = span === null || (place === 0 && level.value < span.low) || (span.low === span.high && isFast);
    span = isAnew ? { low: level.value, high: level.value } : { ...span!, high: Math.max(span!.high, level.value) };
    time = timeOf(level);
  }
  return span;
}

/** What a level shows about the one before it: three percent apart is another level. */
function answerOf(kept: Kept, { value }: Told<number>): 'the last is wrong' | 'this is wrong' | 'fits' {
  if (kept.inside.length === 0) return 'fits';
  const [all, others] = [spanOf(kept)!.high, spanOf({ ...kept, inside: kept.inside.slice(0, -1) })?.high ?? Infinity];
  const isLower = value <= all - 3;
  if (value > others - 3 && (isLower || all <= others - 3)) return 'the last is wrong';
  return isLower ? 'this is wrong' : 'fits';
}

function withLevel(kept: Kept, level: Told<number>, hasDriven: (level: Told<number>) => boolean): Kept {
  const answer = answerOf(kept, level);
  if (answer === 'this is wrong') return kept;
  const inside = answer === 'fits' ? kept.inside : kept.inside.slice(0, -1);
  const isLower = inside.length === 0 && level.value < (kept.before?.value ?? 0);
  return { before: isLower && hasDriven(level) ? null : kept.before, inside: [...inside, level] };
}

function chargesOf(samples: readonly Sample[], { usage, odometers, levels, statuses, shown }: Lists): FoundCharge[] {
  const found: FoundCharge[] = [];
  // The charges that were seen: each run of “charges”, until it does not or the odometer moves.
  const hasLeft = (odometer: Told<number>, before: number, since: number): boolean =>
    Math.round((odometer.value - before) * 100) >= 100 && (odometer.runLength > 1 || !isOdd(odometer, before, since));
  const runs: { first: number; last: number; end: Told<unknown> | null; byOdometer: boolean }[] = [];
  let open: (typeof runs)[number] | null = null;
  let odometerAtStart: number | undefined;
  for (let index = 0; index < samples.length; index += 1) {
    const at = <Value>(list: readonly Told<Value>[]): Told<Value> | undefined =>
      [lastBefore(list, index)].find((one) => one?.index === index);
    const [status, odometer] = [at(statuses), at(odometers)];
    const charged =
      open === null ? [] : statuses.filter((one) => one.value && one.index >= open!.first && one.index < index);
    const isGone =
      odometer !== undefined && hasLeft(odometer, odometerAtStart ?? Infinity, Math.max(...charged.map(timeOf)));
    if (open !== null && isGone) {
      [open.end, open.byOdometer, open] = [odometer, true, null];
    } else if (status?.value === true) {
      if (open === null) {
        open = { first: index, last: index, end: null, byOdometer: false };
        odometerAtStart = lastBefore(odometers, index)?.value;
        runs.push(open);
      }
      open.last = index;
    } else if (status?.value === false && open !== null) [open.end, open] = [status, null];
  }
  const moves = movesOf({ usage, shown });
  /** Somebody drives, or has driven and the odometer was not read since. */
  const isUsed = (index: number): boolean => {
    const confirmed = shown.findLast((one) => one.index <= index)?.index ?? -1;
    return (
      lastBefore(usage, index)?.value === true ||
      usage.some((one) => one.value && one.index > confirmed && one.index <= index)
    );
  };
  /** The indexes whose levels belong to a charge that was seen. */
  const used = new Set<number>();
  for (const run of runs) {
    const before = lastBefore(levels, run.first - 1);
    const trues = statuses.filter(({ index, value }) => value && index >= run.first && index <= run.last);
    const seen: [number, number] = [timeOf(trues[0]!), Math.max(...trues.map(timeOf))];
    const previous = lastBefore(statuses, run.first - 1);
    const from = previous?.value === false ? Math.min(timeOf(previous), seen[0]) : seen[0];
    const endIndex = run.end?.index ?? Infinity;
    const inside = levels.filter(({ index }) => index >= run.first && index <= endIndex);
    // After the end: the first level, unless another charge begins or the odometer shows that the
    // car has left, and the next one, if it shows that the last one is wrong.
    const start = lastBefore(odometers, run.first)?.value ?? Infinity;
    const next = runs[runs.indexOf(run) + 1]?.first ?? Infinity;
    const ended = run.end === null ? Infinity : Math.max(timeOf(run.end), seen[1]);
    const left = odometers.find((one) => one.index > endIndex && hasLeft(one, start, ended))?.index ?? Infinity;
    const hasLast = run.byOdometer || inside.some(({ index }) => index === endIndex);
    const after = levels.filter(({ index }) => index > endIndex && index < Math.min(next, left));
    const last = hasLast ? undefined : after.shift();
    for (const { index } of [...inside, ...(last === undefined ? [] : [last])]) used.add(index);
    if (run.end === null) continue;
    const counts = (level: Told<number> | undefined, those: readonly string[]): level is Told<number> =>
      level !== undefined && !isUsed(level.index) && those.includes(answerOf(kept, level));
    let kept: Kept = {
      before: before ? { value: before.value, time: Math.max(timeOf(before), from) } : null,
      inside: [],
    };
    const hasDriven = (level: Told<number>): boolean =>
      isUsed(level.index) || (before !== undefined && arrivedBetween(moves, shown, before, level));
    for (const level of inside) kept = withLevel(kept, level, hasDriven);
    const isOpen = hasLast ? !run.byOdometer : counts(last, ['fits', 'the last is wrong']);
    const riseOf = (): number | null => [spanOf(kept)].map((span) => span && span.high - span.low)[0] ?? null;
    const rises = [{ index: endIndex, percent: riseOf() }];
    const takeLate = (level: Told<number>): void => {
      kept = withLevel(kept, level, hasDriven);
      rises.push({ index: level.index, percent: riseOf() });
    };
    if (!hasLast && isOpen) takeLate(last!);
    if (isOpen && counts(after[0], ['the last is wrong'])) takeLate(after[0]);
    const span = spanOf(kept);
    const wrongLevels = inside.filter((level) => !kept.inside.includes(level)).length;
    const to = Math.max(timeOf(run.end), seen[1]);
    const odometer = lastBefore(odometers, run.first)?.value ?? null;
    const record = {
      from,
      to: Math.max(from, to),
      seen,
      odometer,
      km: null,
      batteryFrom: span?.low ?? null,
      batteryTo: span?.high ?? null,
      kWh: null,
      isMeasured: false,
    };
    found.push({ record, endIndex, endReceived: run.end.at, noneSince: Infinity, wrongLevels, rises });
  }
  for (const level of levels) {
    const before = lastBefore(levels, level.index - 1);
    if (used.has(level.index) || before === undefined || level.value - before.value < 3) continue;
    // One low number between others is no charge.
    if (before.runLength === 1) continue;
    if (isUsed(level.index)) continue;
    const from = Math.min(timeOf(before), timeOf(level));
    const odometer = lastBefore(odometers, level.index)?.value ?? null;
    let kept: Kept = { before: { value: before.value, time: timeOf(before) }, inside: [level] };
    // No car charges so fast.
    if (spanOf(kept)?.low !== before.value) continue;
    // The next level, unless a charge or a drive begins.
    const next = levels[levels.indexOf(level) + 1];
    const ends = Math.min(
      runs.find(({ first }) => first > level.index)?.first ?? Infinity,
      odometers.find((one) => one.index > level.index && hasLeft(one, odometer ?? Infinity, timeOf(level)))?.index ??
        Infinity,
    );
    const denies = next !== undefined && next.index < ends && !isUsed(next.index) && answerOf(kept, next) !== 'fits';
    if (denies && answerOf(kept, next) === 'the last is wrong') kept = withLevel(kept, next, () => false);
    const { low, high } = spanOf(kept)!;
    const isDriven = drivenBetween(moves, shown, before, level);
    found.push({
      record: {
        from,
        to: timeOf(level),
        seen: null,
        odometer,
        km: null,
        batteryFrom: isDriven ? null : before.value,
        batteryTo: high,
        kWh: null,
        isMeasured: false,
      },
      endIndex: level.index,
      endReceived: level.at,
      noneSince: denies && high - low < 3 ? next.index : Infinity,
      wrongLevels: kept.inside.includes(level) ? 0 : 1,
      rises: [
        { index: level.index, percent: isDriven ? null : level.value - before.value },
        ...(kept.inside.includes(level) ? [] : [{ index: next!.index, percent: isDriven ? null : high - low }]),
      ],
    });
  }
  return found.sort((one, other) => one.endIndex - other.endIndex);
}

interface Move {
  last: Shown;
  one: Shown;
  isSeen: boolean;
  arrived: number;
}

function movesOf({ usage, shown }: Pick<Lists, 'usage' | 'shown'>): Move[] {
  return shown.flatMap((one, place) => {
    const last = shown[place - 1];
    if (last === undefined || one.value <= last.value) return [];
    const isSeen = usage.some(({ index, value }) => value && index > last.index && index <= one.index);
    const use = lastBefore(usage, one.index)!;
    return [{ last, one, isSeen, arrived: (isSeen ? use.runStart : one.runStart) - moment }];
  });
}

/**
 * Whether the odometer has shown by the second level that the car has come to another place
 * since the first one.
 */
function arrivedBetween(
  moves: readonly Move[],
  shown: readonly Shown[],
  before: Told<number>,
  level: Told<number>,
): boolean {
  const done = moves.findLast(({ one }) => one.index <= level.index);
  const back = shown.findLast(({ index }) => index <= level.index);
  return done !== undefined && back?.value === done.one.value && done.arrived > before.at;
}

/** Whether a trip of which nothing was seen can have been between two levels. */
function drivenBetween(
  moves: readonly Move[],
  shown: readonly Shown[],
  before: Told<number>,
  level: Told<number>,
): boolean {
  if (arrivedBetween(moves, shown, before, level)) return true;
  const coming = moves.find(({ one }) => one.index > level.index);
  return coming !== undefined && !coming.isSeen && level.at > coming.last.at + moment;
}
