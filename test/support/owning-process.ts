import { DirectoryOwner, FileStateStore, WatchStore } from '../../src/index';

/**
 * The child of a test with two processes: uses a directory, stores a journal and an open watch in it, and lives until it is killed or
 * told to end. It tells each state of its use.
 */
const [, , directory = '', record = ''] = process.argv;

const owner = new DirectoryOwner({ directory });
const tell = (): void => void process.send?.(owner.state);

async function main(): Promise<void> {
  await owner.ready();
  if (record === '') return;
  const store = new FileStateStore({ directory, owner });
  await store.write('journal/v', { version: 1, entries: [] });
  const watches = new WatchStore(store, 'watches', 'n');
  await watches.put({
    record: JSON.parse(record) as never,
    startedAt: 0,
    history: [],
    msg: { topic: 'of the first' },
  });
}

process.on('message', () => process.exit());
void main().then(
  () => {
    owner.onChange(tell);
    tell();
  },
  () => {
    owner.onChange(tell);
    tell();
  },
);
