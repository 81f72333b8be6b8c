/**
 * The day: what the adaptive profile costs and when it notices what happens, beside the fixed schedule.
 * After a build: node dist/test/bench/day.js
 */
import { live, requests, second, securityKinds, type Kind, type Notice, type Outcome } from '../support/day';
import { ordinaryDay, randomDay, troubledDay } from '../support/days';

const days = 500;
const kinds = {
  door: 'door opened',
  unlock: 'car unlocked',
  window: 'window opened',
  closed: 'window closed',
  engine: 'engine started',
  charging: 'charging started',
  charged: 'charging done',
  arrived: 'trip ended (position)',
} as const;
const print = (line = ''): void => void process.stdout.write(`${line}\n`);
const seconds = (ms: number | null | undefined): string =>
  ms === null ? 'never' : ms === undefined ? '-' : `${Math.round(ms / second)} s`;
const clock = (at: number): string => new Date(at).toISOString().slice(11, 19);
const row = (...cells: (string | number)[]): void =>
  print(cells.map((cell, i) => (i === 0 ? String(cell).padEnd(46) : String(cell).padStart(12))).join(''));
const later = (fixed: Notice, adaptive: Notice): boolean =>
  (adaptive.delay ?? Number.POSITIVE_INFINITY) > (fixed.delay ?? Number.POSITIVE_INFINITY);

const fixed = live(ordinaryDay, 'fixed', 'home');
const adaptive = live(ordinaryDay, 'adaptive', 'home');

print('The day: two trips, an outage, a charging evening, a window left open at 22:10, a night');
print();
row('requests', 'fixed', 'adaptive');
for (const read of requests) row(`  ${read}`, fixed.callsOf[read] ?? 0, adaptive.callsOf[read] ?? 0);
row('  together', fixed.calls, adaptive.calls);
row('  of the fixed schedule', '100 %', `${((100 * adaptive.calls) / fixed.calls).toFixed(1)} %`);
print();
row('noticed after', 'fixed', 'adaptive');
fixed.notices.forEach((notice, i) => {
  const { delay } = adaptive.notices[i] ?? {};
  row(`  ${clock(notice.happening.at)} ${notice.happening.what}`, seconds(notice.delay), seconds(delay));
});
print();

const runs = Array.from({ length: days }, (_, seed) => {
  const day = randomDay(seed);
  return { fixed: live(day, 'fixed', `car ${seed}`), adaptive: live(day, 'adaptive', `car ${seed}`) };
});
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const callsOf = (schedule: 'fixed' | 'adaptive'): number[] => runs.map((run) => run[schedule].calls);
const delays = (outcomes: Outcome[], kind: keyof typeof kinds): number[] =>
  outcomes.flatMap(({ notices }) =>
    notices.flatMap((notice) => (notice.kind === kind && notice.delay !== null ? [notice.delay] : [])),
  );
const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

print(`${days} random days: up to seven outings, things forgotten open or unlocked, outages`);
print();
row('requests a day', 'fixed', 'adaptive');
row('  median', median(callsOf('fixed')), median(callsOf('adaptive')));
row('  most', Math.max(...callsOf('fixed')), Math.max(...callsOf('adaptive')));
print();
row('noticed after, on average', 'fixed', 'adaptive', 'happened', 'later');
for (const [kind, words] of Object.entries(kinds) as [keyof typeof kinds, string][]) {
  const pairs = runs.flatMap((run) =>
    run.fixed.notices.flatMap((notice, i) =>
      notice.kind === kind ? [[notice, run.adaptive.notices[i] ?? notice] as const] : [],
    ),
  );
  const worse = pairs.filter(([before, after]) => later(before, after)).length;
  row(
    `  ${words}`,
    seconds(
      mean(
        delays(
          runs.map((run) => run.fixed),
          kind,
        ),
      ),
    ),
    seconds(
      mean(
        delays(
          runs.map((run) => run.adaptive),
          kind,
        ),
      ),
    ),
    pairs.length,
    worse,
  );
}
print();

const promised: readonly Kind[] = [...securityKinds, 'charging', 'charged'];
const half = adaptive.calls <= fixed.calls / 2;
const isPunctual = (all: readonly { fixed: Outcome; adaptive: Outcome }[], of: readonly Kind[]): boolean =>
  all.every((run) =>
    run.fixed.notices.every(
      (notice, i) => !of.includes(notice.kind) || !later(notice, run.adaptive.notices[i] ?? notice),
    ),
  );
const punctual = isPunctual([{ fixed, adaptive }, ...runs], promised);
const troubled = Array.from({ length: days }, (_, seed) => {
  const day = troubledDay(seed);
  return { fixed: live(day, 'fixed', `car ${seed}`), adaptive: live(day, 'adaptive', `car ${seed}`) };
});
const steadfast = isPunctual(troubled, securityKinds);
print(`at most half the requests on the day: ${half ? 'yes' : 'NO'}`);
print(
  `no opened door, unlocked car, window opened after unlocking, start or end of charging noticed later, on any day: ${punctual ? 'yes' : 'NO'}`,
);
print(
  `no opened door, unlocked car or window either on ${days} days with endpoints that fail alone, messages beside the polls and doors read more seldom: ${steadfast ? 'yes' : 'NO'}`,
);
if (!half || !punctual || !steadfast) process.exitCode = 1;
