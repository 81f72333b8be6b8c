import { appendFileSync } from 'node:fs';
import { FileStateStore } from '../../src/state/file-state-store';
import { DirectoryOwner } from '../../src/state/owner';

/**
 * The child of the proof of hand-overs: as soon as it may use the directory, it counts up in one
 * key, on condition of the version, and writes each number into a log that all processes share. It
 * reports when it waits, and when it has counted first.
 */
const [, , directory = '', log = '', name = ''] = process.argv;

async function main(): Promise<void> {
  const owner = new DirectoryOwner({ directory });
  process.on('message', () => process.exit());
  while (owner.role !== 'active') {
    await new Promise<void>((look) => void owner.onChange(look));
    if (owner.role === 'standby') process.send?.('waiting');
  }
  const store = new FileStateStore({ directory, owner });
  for (let isFirst = true; ; isFirst = false) {
    const stored = await store.read('guard/count');
    const next = Number(stored?.value ?? 0) + 1;
    const version = await store.write('guard/count', next, { expected: stored?.version ?? null });
    appendFileSync(log, `${next} ${name}${version === null ? ' refused' : ''}\n`);
    if (isFirst) process.send?.('begun');
    await new Promise((wake) => setImmediate(wake));
  }
}

void main();
