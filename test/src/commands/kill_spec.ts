import { strict as assert } from 'node:assert';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startSimulator, type Simulator } from '../../support/simulator';
import { Random, times } from '../../support/random';
import { removeFolder } from '../../support/remove-folder';

const child = resolve(__dirname, '../../support/sending-process.js');

interface Checked {
  entries: { id: string; outcome: string; sentAt: string }[];
  refusal: string | null;
}

describe('a process that is killed while it sends commands', () => {
  let directory: string;
  let service: Simulator;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'kill-'));
    service = await startSimulator();
    service.car().set({ commandPlan: { answerAfterMs: 15 } });
  });
  afterEach(async () => {
    await service.close();
    await removeFolder(directory);
  });

  const posts = (): { status: number }[] => service.requests.filter(({ method }) => method === 'POST');
  const run = (mode: string, hours: number): ReturnType<typeof fork> =>
    fork(child, [mode, directory, service.url, service.car().vin, join(directory, 'log'), String(hours)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });

  it('has every sent command in the journal after a kill, each with its reported outcome, and none pending', async function () {
    this.timeout(times(240_000));
    const random = new Random(7);
    const rounds = times(3);
    let open = 0;
    // And until one of the kills came between a command and its answer.
    for (let round = 0; round < rounds || open === 0; round += 1) {
      const began = Date.now() + round * 3_600_000;
      const sender = run('send', round);
      let left = random.between(1, 12);
      // Also between two steps: a kill some moments later falls into the writes and the requests.
      const delay = random.between(0, 20);
      sender.on('message', () => {
        left -= 1;
        if (left === 0) setTimeout(() => sender.kill('SIGKILL'), delay);
      });
      await once(sender, 'exit');
      const sent = posts().length;
      const told = existsSync(join(directory, 'log')) ? readFileSync(join(directory, 'log'), 'utf8').trim() : '';
      const toldLines = told === '' ? [] : told.split('\n');

      const checker = run('check', round);
      const [checked] = (await once(checker, 'message').then(async function skipSteps(message): Promise<unknown[]> {
        return message[0] === 'step' ? once(checker, 'message').then(skipSteps) : message;
      })) as [Checked];
      await once(checker, 'exit');
      const outcomes = new Map(checked.entries.map(({ id, outcome }) => [id, outcome]));
      assert.ok(outcomes.size >= Math.min(100, sent), `${sent} were sent, and the journal has ${outcomes.size}`);
      for (const line of toldLines.slice(-50)) {
        const [id = '', outcome] = line.split(' ');
        assert.equal(outcomes.get(id), outcome);
      }
      assert.deepEqual(
        checked.entries.filter(({ outcome }) => outcome === 'pending'),
        [],
      );
      // The command without a known end holds the next one back.
      const newest = checked.entries[0];
      // A kill before the first command of the round leaves one of an earlier round as the newest, which no longer holds anything back.
      const isOpen = newest?.outcome === 'undetermined' && Date.parse(newest.sentAt) >= began;
      open += isOpen ? 1 : 0;
      assert.equal(checked.refusal, isOpen ? 'VEHICLE_UNAVAILABLE' : null);
    }
  });
});
