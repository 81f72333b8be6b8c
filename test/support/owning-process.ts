import { DirectoryOwner } from '../../src/state/owner';
import { systemClock } from '../../src/util/clock';

/**
 * The child of a test with two processes: uses a directory, stores a command that is followed in
 * it, and lives until it is killed or asked to end. It reports each state of its use.
 */
const [, , directory = '', record = ''] = process.argv;

const owner = new DirectoryOwner({ directory });
const tell = (): void => void process.send?.(owner.role);

async function main(): Promise<void> {
  await owner.ready();
  if (record === '') return;
  // The test of the use alone starts many children.
  const { CommandLog } = await import('../../src/commands/log.js');
  const { FileStateStore } = await import('../../src/state/file-state-store.js');
  const { FollowedCommands } = await import('../../src/commands/followed-commands.js');
  const store = new FileStateStore({ directory, owner });
  const log = new CommandLog({ store });
  const commands = new FollowedCommands({ log, node: 'n', clock: systemClock, onFault: () => process.exit(1) });
  await commands.begin(JSON.parse(record) as never, { topic: 'of the first' }, 'v');
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
