import { strict as assert } from 'node:assert';
import { MemoryStateStore, type VehicleEvent } from '../../../src/index';
import { parseWallboxSessions } from '../../../src/wire/wallbox';
import { ManualClock } from '../../support/manual-clock';
import { itMetEverything, itOnHistories, times, type Random } from '../../support/random';
import { clientOf, openRunner, unsentOf, type EventRunner } from './event-runners';
import type { HistoryReading } from './oracle';

// The ends of the sessions of a wallbox against a second reader, which knows the whole history of
// the answers and reads them itself.
const histories = times(150);
const start = Date.UTC(2026, 5, 1, 8);
const minute = 60_000;
const day = 24 * 60 * minute;
const iso = (ms: number): string => new Date(ms).toISOString();
const { signal } = new AbortController();

/** What happens at the wallbox. */
interface Charge {
  id: string | null;
  from: number;
  /** Infinity: it is stuck. */
  to: number;
  kWh: unknown;
  toldAt: number;
  /** The wallbox reports its begin only with its end. */
  isSecret: boolean;
  connector: number;
}
type Raw = Record<string, unknown>;
interface Answered {
  at: number;
  raw: Raw[];
}

function randomCharges(random: Random): Charge[] {
  const charges: Charge[] = [];
  let at = start - random.between(0, 20) * 60 * minute;
  for (let count = random.between(1, 25); count > 0; count -= 1) {
    const before = charges.at(-1);
    const isPair = before !== undefined && random.chance(0.2);
    // Whole minutes, so that some end at once.
    const from = isPair ? before.from + random.pick([0, minute]) : at;
    const isStuck = random.chance(0.1);
    const to = isPair && random.chance(0.7) ? before.to : isStuck ? Infinity : from + random.between(1, 200) * minute;
    const late = random.pick([0, 0, 0, 10 * minute, 300 * minute, day]);
    charges.push({
      id: random.chance(0.1) ? null : String(random.chance(0.1) ? 7 : 95 + charges.length),
      from: random.chance(0.1) && !isPair ? from + random.between(1, 50_000) : from,
      to,
      kWh: random.pick([
        random.between(0, 4_000) / 100,
        random.between(0, 40),
        String(random.between(1, 9)),
        -2,
        null,
        'much',
      ]),
      toldAt: to + late,
      isSecret: random.chance(0.2),
      connector: isPair ? before.connector + 1 : 1,
    });
    at = (Number.isFinite(to) ? Math.max(at, to) : at) + random.between(0, 120) * minute;
  }
  return charges;
}

/** A text of a time, in one of the ways in which a service may write it. */
const written = (random: Random, ms: number): string =>
  random.chance(0.2) ? `${iso(ms + 2 * 60 * minute).slice(0, 23)}+02:00` : iso(ms);

function answersOf(random: Random, charges: readonly Charge[]): Answered[] {
  let at = start;
  return Array.from({ length: random.between(3, 30) }, () => {
    at += random.pick([minute, 5 * minute, 60 * minute, 7 * 60 * minute]);
    const raw = charges.flatMap(({ id, from, to, kWh, toldAt, isSecret, connector }): Raw[] => {
      const isOver = toldAt <= at;
      if (from > at || (isSecret && !isOver)) return [];
      const open = random.pick<Raw>([{}, { end: null }, { end: '9999-12-31T23:59:59Z' }, { end: 'later' }]);
      const end = isOver ? { end: written(random, to) } : open;
      return [{ transactionId: id, start: written(random, from), ...end, chargedEnergy: kWh, connectorId: connector }];
    });
    const mixed = raw.map((item) => ({ item, place: random.next() })).sort((one, other) => one.place - other.place);
    const items = mixed.map(({ item }) => item);
    // A session twice, and an answer without sessions.
    const [twice] = items;
    const answer = random.chance(0.1) && twice !== undefined ? [...items, twice] : items;
    return { at, raw: random.chance(0.05) ? [] : answer };
  });
}

const energyIn = ({ chargedEnergy: kWh }: Raw): number | null =>
  kWh === null || Number.isNaN(Number(kWh)) || Number(kWh) < 0 ? null : Number(kWh);

/**
 * A line for each session that has ended since the first answer, at the first answer that shows it.
 */
function expectedLines(answers: readonly Answered[]): string[] {
  const known = new Set<string>();
  let begin: number | null = null;
  return answers.flatMap(({ at, raw }, index) => {
    const ended = raw
      .map((item) => ({ item, begun: Date.parse(String(item['start'])), to: Date.parse(String(item['end'])) }))
      .filter(({ to }) => to <= at + 5 * minute);
    if (index === 0) begin = Math.max(0, ...ended.map(({ to }) => to));
    const lines: string[] = [];
    for (const { item, begun, to } of ended) {
      const name = `${String(item['transactionId'] ?? to)} ${begun} ${String(item['connectorId'])}`;
      if (!known.has(name) && index > 0 && to >= Number(begin))
        lines.push(`${at} ${String(item['transactionId'])} ${iso(begun)} ${iso(to)} ${energyIn(item)}`);
      known.add(name);
    }
    return lines;
  });
}

const lineOf = (at: number, { event, session, between, from, to }: VehicleEvent): string => {
  assert.deepEqual([event, from, to, between.until], ['charging-session-ended', session?.start, session?.end, to]);
  assert.ok(session?.open === false && between.since !== null && between.since <= between.until);
  return `${at} ${session.id} ${session.start} ${session.end} ${session.kWh}`;
};

describe('The ends of the sessions of a wallbox against their oracle', () => {
  const seen = { ended: 0, late: 0, atOnce: 0, stuck: 0, unknownEnergy: 0 };

  itOnHistories('are one event each, in their order, over restarts and kills', histories, async (random) => {
    const charges = randomCharges(random);
    const answers = answersOf(random, charges);
    const clock = new ManualClock(start);
    const store = new MemoryStateStore();
    let current: HistoryReading;
    const settings = { events: ['charging-session-ended'] };
    const open = (): Promise<EventRunner> => openRunner({ settings, client: clientOf(() => current), store, clock });
    let runner = await open();
    const sent: string[] = [];
    for (const { at, raw } of answers) {
      const { payload } = parseWallboxSessions(raw);
      current = { at, payloads: { wallboxSessions: payload }, receivedAt: { wallboxSessions: at } };
      clock.setTime(at);
      const { events } = await runner.poll(['wallboxSessions'], signal);
      const ends = events.map(({ to }) => String(to));
      assert.deepEqual(ends, ends.toSorted());
      let sending = events;
      if (random.chance(0.2)) {
        runner = await open();
        sending = await unsentOf(runner);
        assert.deepEqual(sending, events);
      }
      sent.push(...events.map((event) => lineOf(at, event)));
      await runner.markSent(sending);
      if (!random.chance(0.2)) continue;
      await runner.end();
      runner = await open();
      assert.deepEqual(await unsentOf(runner), []);
    }
    const expected = expectedLines(answers);
    assert.deepEqual(sent.toSorted(), expected.toSorted());
    seen.ended += sent.length;
    seen.unknownEnergy += sent.filter((line) => line.endsWith(' null')).length;
    const ends = sent.map((line) => line.split(' ')[3] ?? '');
    seen.atOnce += ends.length - new Set(ends).size;
    seen.late += ends.filter((end, index) => ends.slice(0, index).some((before) => before > end)).length;
    seen.stuck += charges.filter(({ to }) => to === Infinity).length;
  });

  itMetEverything(histories >= 50, histories / 20, () => seen);
});
