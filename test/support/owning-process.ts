import { FileStateStore, WatchStore } from '../../src/index';
import { ownDirectory } from '../../src/state/directory-owner';

/** The child of a test with two processes: owns a directory, stores a journal and an open watch in it, and lives until it is killed. */
const [, , directory = '', record = '{}'] = process.argv;

async function main(): Promise<void> {
  const isOwner = await ownDirectory(directory, { beatMs: 40 });
  const store = new FileStateStore({ directory });
  if (isOwner) {
    await store.write('journal/v', { version: 1, entries: [] });
    const watches = new WatchStore(store, 'watches', 'n');
    await watches.put({
      record: JSON.parse(record) as never,
      startedAt: 0,
      history: [],
      msg: { topic: 'of the first' },
    });
  }
  process.send?.({ isOwner });
  setInterval(() => undefined, 1_000);
}

void main();
