import { strict as assert } from 'node:assert';
import {
  FollowedCommands,
  followCommand,
  MemoryStateStore,
  Pack,
  type CommandRecord,
  type FollowedCommand,
} from '../../src/index';
import { CommandLog } from '../../src/commands/log';
import type { FollowReport } from '../../src/commands/follow';
import { meaningOf, outcomes, statusWord } from '../../src/catalogue/outcomes';
import { byRule, demoCar } from '../../src/simulator/index';
import { accountOn, withSend } from '../support/account';
import { carCommandNames } from '../support/commands';
import { ManualClock } from '../support/manual-clock';
import type { Random } from '../support/random';
import { ServiceInProcess, type Mishap } from './service-in-process';

const { vin } = demoCar;
const unknownWords = ['TELEPORTED', 'NOT_COMPLETED', 'completed', ' Success ', 'unable_to_lock_door_open'] as const;
const words: [string, ...string[]] = [byRule, byRule, byRule, ...Object.keys(outcomes), ...unknownWords];
const second = 1_000;
/** What may come on top of the time limit: the poll that is in flight then, and the proof. */
const afterwardsMs = 41 * second;

/** What a history met, for the count at the end. */
export interface Met {
  outcome: FollowReport['outcome'] | 'cancelled' | 'not sent';
  verified: boolean | null;
  restarts: number;
  lostPolls: number;
  expired: boolean;
  unknownWord: boolean;
  /**
   * How often its result was sent after a restart, because the process ended before
   * the sending was noted.
   */
  toldAgain: number;
}

/**
 * One command in the life of a car, with all that can happen to it: states in any order, unknown
 * words, polls that are lost, restarts, links that expire, doors that are opened and locks that are
 * turned meanwhile. Throws if the result differs from docs/internals/contract.md 5.
 */
export async function liveThrough(random: Random): Promise<Met> {
  const clock = new ManualClock(Date.UTC(2026, 5, 1) + random.between(0, 1e6));
  const badLine = random.chance(0.5) ? random.pick([0.1, 0.4, 0.9]) : 0;
  const mishap = (): Mishap =>
    random.chance(badLine) ? random.pick(['lost', 'unheard', 'error', 'html', 'slow'] as const) : null;
  const service = new ServiceInProcess({ clock, dialect: random.pick(['plain', 'real']), cars: [demoCar] }, mishap);
  const { client } = withSend(
    accountOn(service, { pack: new Pack({ clock }), transport: service, random: () => random.next() }),
    clock,
  );
  prepare(random, service, clock);
  const settings = {
    timeoutMs: random.between(1, 180) * second,
    intervalMs: random.between(1, 10) * second,
    verify: random.chance(0.8),
  };
  const met: Met = {
    outcome: 'not sent',
    verified: null,
    restarts: 0,
    lostPolls: 0,
    expired: false,
    unknownWord: false,
    toldAgain: 0,
  };

  const live = async (): Promise<void> => {
    const sent = await client
      .send(random.pick(['lock', ...carCommandNames]), {
        vin,
        interface: random.pick(['auto', 'v1', 'v1']),
        unlockDuration: random.between(1, 120),
      })
      .catch(() => null);
    assert.ok(service.requests.filter(({ method }) => method === 'POST').length <= 1, 'a command was sent twice');
    if (sent === null) return;
    const record = random.chance(0.3) ? expiring(sent, clock.now() + random.between(0, 60) * second) : sent;
    await follow(record);
  };

  const follow = async (record: CommandRecord): Promise<void> => {
    const store = new MemoryStateStore();
    /** As the next process has them. */
    const commandsOf = (): FollowedCommands =>
      new FollowedCommands({ log: new CommandLog({ store }), node: 'n', clock, onFault: assert.fail });
    await commandsOf().begin(record, { topic: 'mine' }, 'a');
    const verdicts: FollowReport[] = [];
    const startedAt = clock.now();
    let cancelledAt: number | null = null;
    let upSince = startedAt;
    const cut = { times: 0, afterTelling: 0, noted: false };
    for (;;) {
      const commands = commandsOf();
      const [open] = await commands.open(assert.fail);
      if (open === undefined) break;
      const process = new AbortController();
      const dies =
        random.chance(0.5) && met.restarts < 4
          ? clock.after(random.between(0, 30) * second, () => process.abort())
          : null;
      const gone = random.chance(0.1)
        ? clock.after(random.between(0, 20) * second, () => ((cancelledAt = clock.now()), process.abort()))
        : null;
      const heardBefore = service.said.length;
      const { result } = open;
      const verdict = await followOnce(open, commands, process.signal, cut);
      dies?.();
      gone?.();
      if (verdict !== null) {
        verdicts.push(verdict);
        if (await commandsOf().hasSent(record.id)) cut.noted = true;
        if (result !== null) {
          met.toldAgain += 1;
          assert.deepEqual(verdict, verdicts[0], 'a verdict that is told again is the same');
          continue;
        }
        check(record, verdict, heardBefore);
        const inTime = clock.now() < Math.min(startedAt + settings.timeoutMs, expiryOf(record));
        assert.ok(
          !inTime || !record.async?.href || meaningOf(verdict.requestStatus).outcome !== 'pending',
          'a poll that fails is no end',
        );
        continue;
      }
      if (cancelledAt !== null) await commands.end(record.id);
      else {
        met.restarts += 1;
        await clock.sleep(random.between(0, 300) * second);
        upSince = clock.now();
      }
    }
    assert.equal(
      verdicts.length,
      cancelledAt === null || verdicts.length > 0 ? 1 + cut.afterTelling : 0,
      'a followed command has one result, and none if that was cancelled',
    );
    assert.ok(cut.noted || verdicts.length === 0, 'what is settled is remembered');
    met.outcome = verdicts[0]?.outcome ?? 'cancelled';
    met.verified = verdicts[0]?.verified ?? null;
    const end = Math.max(upSince, Math.min(startedAt + settings.timeoutMs, expiryOf(record))) + afterwardsMs;
    assert.ok(clock.now() <= end, `it took ${clock.now() - end} ms too long`);
  };

  /**
   * What the node does with a command that it follows, until its result or until its process ends.
   */
  const followOnce = async (
    open: FollowedCommand,
    commands: FollowedCommands,
    signal: AbortSignal,
    cut: { times: number; afterTelling: number },
  ): Promise<FollowReport | null> => {
    let verdict: FollowReport | null = null;
    try {
      const updates = followCommand(open.command, { ...open, client, clock, signal, ...settings });
      // A result that ended its process three times is dropped, so it does not
      // happen so often here.
      const dies = (): boolean => cut.times < 2 && random.chance(0.1) && (cut.times += 1) > 0;
      for await (const update of updates) {
        const { settled, report } = update;
        assert.equal(verdict, null, 'nothing follows a verdict');
        if (settled) {
          // The process may end at each of these steps.
          await commands.settle(open, update);
          if (dies()) return null;
          verdict = report;
          if (dies()) {
            cut.afterTelling += 1;
            return verdict;
          }
          await commands.markSent(open);
        } else {
          assert.notEqual(report.outcome, 'succeeded', 'a success is a verdict, not a change');
          await commands.change(open);
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return verdict;
  };

  const check = (record: CommandRecord, verdict: FollowReport, heardBefore: number): void => {
    const spoken = service.said
      .filter(({ request }) => request.method === 'POST' || request.url.pathname.includes('/requests/'))
      .map(({ response }) => response.body);
    const heard = (word: string | null): boolean =>
      word === null || spoken.some((body) => body.includes(JSON.stringify(word)));
    const meaning = meaningOf(verdict.requestStatus);
    met.expired ||= expiryOf(record) < clock.now();
    met.unknownWord ||= verdict.history.some(
      ({ requestStatus }) => requestStatus !== null && !Object.hasOwn(outcomes, statusWord(requestStatus)),
    );
    for (const { requestStatus } of verdict.history)
      assert.ok(heard(requestStatus), `the service never said ${String(requestStatus)}`);
    assert.equal(verdict.history.at(-1)?.requestStatus, verdict.requestStatus, 'the last state is the verdict’s');
    assert.deepEqual(
      verdict.history.map(({ at }) => at),
      verdict.history.map(({ at }) => at).sort(),
      'history goes forward',
    );
    assert.equal(
      verdict.outcome,
      meaning.outcome === 'pending' ? 'undetermined' : meaning.outcome,
      'the outcome is what the last status means',
    );
    if (verdict.outcome === 'succeeded')
      assert.ok(
        ['COMPLETED', 'SUCCESS'].includes(statusWord(verdict.requestStatus)),
        'no success without a success status',
      );
    assert.ok(verdict.reason.length > 10);
    assert.equal(
      verdict.verified,
      settings.verify ? truthOf(record, heardBefore) : null,
      'verified is what the car says',
    );
    assert.equal(verdict.elapsedMs, Math.floor(clock.now()) - Date.parse(record.sentAt));
  };

  /**
   * The proof of the last answer about the doors or the engine, if any: from the car
   * itself, not from the wire.
   */
  const truthOf = (record: CommandRecord, heardBefore: number): boolean | null => {
    const isEngine = record.command.startsWith('engine-');
    const path = isEngine ? '/engine-status' : '/doors';
    const last = service.said
      .slice(heardBefore)
      .findLast(({ request, response }) => request.url.pathname.endsWith(path) && response.status === 200);
    if (last === undefined) return null;
    const value = isEngine ? last.engine : last.lock;
    const measuredAt = isEngine ? last.engineMeasuredAt : last.lockMeasuredAt;
    if (measuredAt <= Date.parse(record.sentAt)) return null;
    const proofs: Record<string, Record<string, boolean>> = {
      lock: { LOCKED: true, UNLOCKED: false },
      'lock-reduced-guard': { LOCKED: true, UNLOCKED: false },
      unlock: { UNLOCKED: true },
      'engine-start': { RUNNING: true, STOPPED: false },
      'engine-stop': { STOPPED: true, RUNNING: false },
    };
    return proofs[record.command]?.[value ?? ''] ?? null;
  };

  let over = false;
  let failure: unknown;
  live()
    .catch((error: unknown) => (failure = error))
    .finally(() => (over = true));
  for (let minutes = 0; !over && minutes < 60; minutes += 1) await clock.advance(60 * second);
  if (failure !== undefined) throw failure as Error;
  assert.ok(over, 'a command has no result after an hour');
  assert.ok(service.requests.filter(({ method }) => method === 'POST').length <= 1, 'a command was sent twice');
  assert.ok(service.car.invocations.length <= 1, 'the car got a command twice');
  met.lostPolls = service.requests.length - service.said.length;
  return met;
}

/**
 * A car in any state, a plan for its next command, and people who open doors and
 * turn locks meanwhile.
 */
function prepare(random: Random, { car }: ServiceInProcess, clock: ManualClock): void {
  const doorWord = (): string => random.pick(['OPEN', 'CLOSED', 'CLOSED', 'CLOSED', 'AJAR', 'UNSPECIFIED']);
  const lockWord = (): string | null => random.pick(['LOCKED', 'UNLOCKED', 'UNLOCKED', 'UNSPECIFIED', null]);
  let at = 0;
  const steps = Array.from({ length: random.between(1, 6) }, (_, index) => {
    const status =
      index === 0 && random.chance(0.7) ? random.pick(['RUNNING', 'WAITING', 'SENT', 'UNKNOWN']) : random.pick(words);
    const step = { afterMs: at, status, ...(random.chance(0.3) && { acts: random.chance(0.5) }) };
    at += random.between(0, 60) * second;
    return step;
  });
  car.set({
    lock: lockWord(),
    doors: { frontLeft: doorWord(), tailGate: doorWord() },
    inUse: random.chance(0.1),
    asleep: random.chance(0.1),
    reachable: random.chance(0.9),
    classic: random.chance(0.1),
    extraCommands: [],
    commandPlan: {
      steps,
      answerAfterMs: random.between(0, 170) * second,
      effectAfterMs: random.chance(0.3) ? random.between(0, 20) * second : 0,
    },
  });
  for (let count = random.between(0, 5); count > 0; count -= 1) {
    clock.after(random.between(0, 240) * second, () => {
      const change = random.between(0, 3);
      if (change === 0) car.set({ lock: lockWord() });
      else if (change === 1) car.set({ doors: { rearLeft: doorWord() } });
      else if (change === 2) car.openTailgate();
      else car.report();
    });
  }
}

const expiring = (record: CommandRecord, at: number): CommandRecord => ({
  ...record,
  async: record.async && { ...record.async, expires: new Date(at).toISOString() },
});

const expiryOf = ({ async }: CommandRecord): number => (async?.expires ? Date.parse(async.expires) : Infinity);
