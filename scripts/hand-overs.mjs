// 300 hand-overs and 300 kills between two processes on one directory: no number is counted twice or lost, and the next process begins
// within a second. Arguments: rounds of each kind (300).
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const rounds = Number(process.argv[2] ?? 300);
const child = fileURLToPath(new URL('../dist/test/support/handing-process.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'hand-overs-'));
const log = join(root, 'log');
let count = 0;
const start = () => {
  const one = fork(child, [join(root, 'connected-vehicle'), log, String((count += 1))], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const said = (word) =>
    new Promise((resolve) => one.on('message', (text) => text === word && resolve(performance.now())));
  one.waits = said('waiting');
  one.begun = said('begun');
  return one;
};

const times = { 'hand-over': [], kill: [] };
let first = start();
await first.begun;
try {
  for (const kind of ['hand-over', 'kill'])
    for (let round = 0; round < rounds; round += 1) {
      const second = start();
      // In half of the rounds the next process waits already; in the other half it may be starting.
      if (round % 2 === 0) await second.waits;
      else await new Promise((wake) => setTimeout(wake, Math.random() * 100));
      const exit = once(first, 'exit');
      if (kind === 'kill') first.kill('SIGKILL');
      else first.send('end');
      await exit;
      const since = performance.now();
      const ms = (await second.begun) - since;
      if (round % 2 === 0) times[kind].push(ms);
      first = second;
    }
} finally {
  first.kill('SIGKILL');
  await once(first, 'exit');
}

const lines = readFileSync(log, 'utf8').trim().split('\n');
const numbers = lines.map((line) => Number(line.split(' ')[0]));
// A process that is killed between its write and its line leaves a gap of one; no number comes twice.
const twice = numbers.length - new Set(numbers).size;
const gaps = numbers.slice(1).filter((number, index) => number !== numbers[index] + 1).length;
const refused = lines.filter((line) => line.endsWith('refused')).length;
const [owners] = [lines.filter((line, index) => line.split(' ')[1] !== lines[index - 1]?.split(' ')[1]).length];
rmSync(root, { recursive: true, force: true });
const middle = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)]?.toFixed(1);
const last = (list) => Math.max(...list).toFixed(1);
console.table({
  'hand-overs': rounds,
  kills: rounds,
  processes: count,
  'periods of use': owners,
  'numbers counted': numbers.length,
  'counted twice': twice,
  'written and not logged (killed in between)': gaps,
  'writes refused': refused,
  'median ms until the waiting process has written, hand-over': middle(times['hand-over']),
  'median ms until the waiting process has written, kill': middle(times.kill),
  'longest ms, hand-over': last(times['hand-over']),
  'longest ms, kill': last(times.kill),
});
const longest = Math.max(...times['hand-over'], ...times.kill);
if (twice > 0 || refused > 0 || owners !== count || gaps > rounds || longest > 1_000) process.exitCode = 1;
