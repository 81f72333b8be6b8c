import { strict as assert } from 'node:assert';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeLong } from '../../support/long';
import { firstSeed, Random, times } from '../../support/random';
import { removeFolder } from '../../support/remove-folder';

/** A process that uses the directory as soon as it may (test/support/handing-process.ts). */
class Handing {
  readonly #child: ChildProcess;
  readonly waits: Promise<void>;
  readonly begun: Promise<void>;

  constructor(directory: string, log: string, name: string) {
    this.#child = fork(join(__dirname, '../../support/handing-process.js'), [directory, log, name]);
    const said = (word: string): Promise<void> =>
      new Promise((resolve) => this.#child.on('message', (text) => text === word && resolve()));
    this.waits = said('waiting');
    this.begun = said('begun');
  }

  async end(how: 'hand-over' | 'kill'): Promise<void> {
    const exit = once(this.#child, 'exit');
    if (how === 'kill') this.#child.kill('SIGKILL');
    else this.#child.send('end');
    await exit;
  }
}

describeLong('A directory that one process after the other uses', function () {
  this.timeout(times(60_000));
  const rounds = times(6);
  const root = mkdtempSync(join(tmpdir(), 'hand-overs-'));
  const log = join(root, 'log');
  const random = new Random(firstSeed);
  let count = 0;
  const start = (): Handing => new Handing(join(root, 'connected-vehicle'), log, String((count += 1)));
  let first: Handing | undefined;

  after(async () => {
    await first?.end('kill');
    await removeFolder(root);
  });

  it(`is handed on ${rounds} times by an end and ${rounds} times by a kill: each process gets it, and nothing is counted twice or refused`, async () => {
    first = start();
    await first.begun;
    for (const how of ['hand-over', 'kill'] as const)
      for (let round = 0; round < rounds; round += 1) {
        const second = start();
        // In half of the rounds the next process waits already; in the other
        // half it may be starting.
        if (round % 2 === 0) await second.waits;
        else for (let turns = random.between(0, 100); turns > 0; turns -= 1) await new Promise(setImmediate);
        await first.end(how);
        first = second;
        await first.begun;
      }
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    const numbers = lines.map((line) => Number(line.split(' ')[0]));
    assert.equal(new Set(numbers).size, numbers.length);
    assert.ok(!lines.some((line) => line.endsWith('refused')));
    const ownerOf = (line: string | undefined): string | undefined => line?.split(' ')[1];
    // A process that ends between its write and its line leaves out one number,
    // the last of its own.
    const wrong = lines.filter((line, index) => {
      const step = (numbers[index] ?? 0) - (numbers[index - 1] ?? 0);
      return step !== 1 && (step !== 2 || ownerOf(line) === ownerOf(lines[index - 1]));
    });
    assert.deepEqual(wrong, []);
    const owners = lines.filter((line, index) => ownerOf(line) !== ownerOf(lines[index - 1]));
    assert.equal(owners.length, count);
  });
});
