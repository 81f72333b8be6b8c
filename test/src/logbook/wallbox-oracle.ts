import type { Random } from '../../support/random';

/**
 * The charging sessions of a wallbox in a random day, and which charge of the car has which of
 * them, once more. It shares no code with src/logbook.
 */
export interface BoxSession {
  from: number;
  to: number;
  /** Before it the service does not list it. */
  listedFrom: number;
  begin: 'given' | 'missing';
  end: 'given' | 'never' | 'unreadable';
  kWh: number | null;
  connector: number;
}

interface Phase {
  kind: 'parked' | 'driving' | 'charging';
  from: number;
  to: number;
  level: [number, number];
}

const second = 1_000;
const minute = 60 * second;

/**
 * The car charges here or elsewhere, other cars charge here, too, and what the box tells is late,
 * open, split, wrong or not there.
 */
export function randomSessions(random: Random, phases: readonly Phase[], capacity: number): BoxSession[] {
  const sessions: BoxSession[] = [];
  const isOdd = random.chance(0.7);
  const add = (from: number, to: number, kWh: number): void => {
    const odd = (): boolean => isOdd && random.chance(0.12);
    sessions.push({
      from,
      to: Math.max(from + second, to),
      listedFrom: odd() ? from + random.between(60, 900) * minute : from,
      begin: odd() && random.chance(0.3) ? 'missing' : 'given',
      end: odd() ? random.pick(['never', 'never', 'unreadable']) : 'given',
      kWh: odd() ? random.pick([null, -kWh - 1]) : kWh,
      connector: odd() ? 2 : 1,
    });
  };
  for (const { kind, from, to, level } of phases) {
    const begin = from + random.between(-120, 120) * second;
    const end = to + random.between(-300, 300) * second;
    if (kind !== 'charging') {
      // Another car.
      if (isOdd && random.chance(0.25)) add(begin, end, random.between(0, 400) / 10);
      continue;
    }
    // At another box.
    if (isOdd && random.chance(0.1)) continue;
    const kWh = Math.round((level[1] - level[0]) * capacity * random.between(90, 125)) / 10_000;
    const middle = begin + Math.round((end - begin) / (2 * second)) * second;
    if (isOdd && random.chance(0.1)) {
      add(begin, middle, kWh / 2);
      add(middle + second, end, kWh / 2);
    } else add(begin, end, isOdd && random.chance(0.1) ? kWh * random.pick([0.3, 3]) : kWh);
    if (isOdd && random.chance(0.1)) add(middle, end, random.between(0, 400) / 10);
  }
  return sessions;
}

/** As the vendor writes them. */
export const answerAt = (sessions: readonly BoxSession[], at: number): object[] =>
  sessions
    .filter(({ from, listedFrom }) => Math.max(from, listedFrom) <= at)
    .map(({ from, to, begin, end, kWh, connector }, index) => {
      const isOpen = end === 'never' || to > at;
      return {
        wallboxId: 'WBVA1ABCD-WB24.01.2500001234',
        transactionId: String(index),
        idToken: 'APP',
        start: begin === 'given' ? new Date(from).toISOString() : null,
        end: isOpen ? null : end === 'given' ? new Date(to).toISOString() : 'soon',
        chargedEnergy: isOpen && kWh !== null ? kWh / 2 : kWh,
        connectorId: connector,
      };
    });

/** A charge of the car as the box is compared with it. */
export interface Compared {
  from: number;
  to: number;
  firstSeen: number;
  /**
   * The percent charged, as it was known from one place of the history to the
   * next; null: not known.
   */
  rises: readonly { index: number; percent: number | null }[];
  /** The place in the history from which on it is known to be none. */
  noneSince: number;
}

interface Span {
  from: number;
  to: number;
  isCut: boolean;
  kWh: number | null;
}

function spansAt(sessions: readonly BoxSession[], at: number): Span[] {
  const listed = sessions.filter(({ from, listedFrom }) => Math.max(from, listedFrom) <= at);
  const beginOf = ({ begin, from }: BoxSession): number => (begin === 'given' ? from : -Infinity);
  return listed.map((one) => {
    const hasEnd = one.end === 'given' && one.to <= at;
    const to = hasEnd ? one.to : Infinity;
    // The next driver at the same plug.
    const next = listed
      .filter((other) => other.connector === one.connector && beginOf(other) > beginOf(one))
      .reduce((first, other) => Math.min(first, beginOf(other)), Infinity);
    const kWh = hasEnd && one.kWh !== null && one.kWh >= 0 ? one.kWh : null;
    return { from: beginOf(one), to: Math.min(to, next), isCut: next < to, kWh };
  });
}

const isAtOnce = ({ from, to, firstSeen }: Compared, session: Span): boolean =>
  session.from < to && session.to > (session.isCut ? firstSeen : from);

function fits(kWh: number | null, percent: number | null, capacity: number): boolean {
  if (kWh === null || percent === null) return false;
  const [low, high] = [percent - 2, percent + 2].map((rise) => (rise * capacity) / 100);
  return kWh >= 0.8 * low! && kWh <= 1.4 * high!;
}

/**
 * The kilowatt-hours that the box has measured of each charge, by every answer in turn; null:
 * not known from the box.
 * @param answers when, and at which place of the history, its sessions were read
 */
export function measuredOf(
  charges: readonly Compared[],
  answers: readonly { index: number; at: number }[],
  sessions: readonly BoxSession[],
  capacity: number,
): (number | null)[] {
  return charges.map((charge) => {
    let measured: number | null = null;
    const steps = [
      ...charge.rises.map(({ index, percent }) => ({ index, percent })),
      ...answers.map(({ index, at }) => ({ index, at })),
    ].sort((one, other) => one.index - other.index);
    let known: number | null = null;
    for (const step of steps) {
      if (step.index < charge.rises[0]!.index) continue;
      if ('percent' in step) {
        known = step.percent;
        if (!fits(measured, known, capacity)) measured = null;
        continue;
      }
      const spans = spansAt(sessions, step.at);
      const mine = spans.filter((span) => isAtOnce(charge, span));
      const [span] = mine;
      if (span === undefined || mine.length > 1 || !fits(span.kWh, known, capacity)) continue;
      const rivals = charges.filter(
        (other) => other.rises[0]!.index < step.index && step.index < other.noneSince && isAtOnce(other, span),
      );
      if (rivals.length === 1) measured = span.kWh;
    }
    return measured;
  });
}
