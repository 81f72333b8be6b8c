import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { VehicleClient } from '../../src/client';
import { followCommand } from '../../src/commands/follow';
import { CommandLog } from '../../src/commands/log';
import type { CommandRecord } from '../../src/commands/record';
import { FollowedCommands } from '../../src/commands/followed-commands';
import { VehicleError } from '../../src/errors';
import { resolveService } from '../../src/http/addresses';
import { FileStateStore } from '../../src/state/file-state-store';
import { sleepOn, type Clock } from '../../src/util/clock';

/**
 * The child of the test that kills: follows commands as the node does, with its store and with pauses a thousand times too short, and
 * writes each verdict into a log. It kills itself at the step of this number, as far as it comes.
 */
const [, , directory = '', logFile = '', count = '0', lastStep = '0'] = process.argv;

const clock: Clock = {
  now: () => Date.now(),
  // As fast as the pauses, so that a pause that is over is also over for who measures it.
  monotonic: () => performance.now() * 1000,
  uptime: () => performance.now(),
  after(ms, callback) {
    // The time limit of a watch keeps its length, so that a busy machine does not end the watch.
    const timer = setTimeout(callback, ms < 60_000 ? ms / 1000 : ms);
    return () => clearTimeout(timer);
  },
  sleep: (ms, signal) => sleepOn(clock, ms, signal),
};

const line = (text: string): void => appendFileSync(logFile, `${text}\n`);

let steps = 0;
function step(): void {
  steps += 1;
  if (steps === Number(lastStep)) process.kill(process.pid, 'SIGKILL');
}

/** Every look finds the command a little further; the doors say nothing. */
function clientOf(looks: number): Pick<VehicleClient, 'commandStatus' | 'read' | 'service'> {
  let seen = 0;
  return {
    service: resolveService('custom', { baseUrl: 'http://127.0.0.1:1' }),
    commandStatus() {
      step();
      seen += 1;
      const requestStatus = seen < looks ? (seen % 2 === 0 ? 'RUNNING' : 'WAITING') : 'COMPLETED';
      return Promise.resolve({ requestStatus, operationId: null, message: null, async: null, readyUntil: null });
    },
    read: () => Promise.reject(new VehicleError('NETWORK', 'There are no doors here.')),
  };
}

const recordOf = (index: number): CommandRecord => ({
  id: `command-${index}`,
  command: 'flash',
  vin: 'YV4952NA4F120DEMO',
  interface: 'connected-v1',
  sentAt: new Date().toISOString(),
  operationId: null,
  requestStatus: 'RUNNING',
  outcome: 'pending',
  message: '',
  async: { status: 'RUNNING', id: String(index), href: `/requests/${index}`, expires: null },
});

async function main(): Promise<void> {
  const log = new CommandLog({ store: new FileStateStore({ directory }) });
  const ofNode = (): FollowedCommands => new FollowedCommands({ log, node: 'n', clock, onFault: () => line('fault') });
  const former = ofNode();
  line('start');
  const begun = existsSync(logFile) ? readFileSync(logFile, 'utf8') : '';
  for (let index = 0; index < Number(count); index += 1) {
    if (begun.includes(`begin command-${index}\n`)) continue;
    await former.begin(recordOf(index), {}, 'a');
    line(`begin command-${index}`);
    step();
  }
  // As after a deploy.
  const commands = ofNode();
  await Promise.all(
    (await commands.open(() => line('lost'))).map(async (open, index) => {
      const { id } = open.command;
      const options = { ...open, startedAt: Date.now(), client: clientOf(2 + (index % 5)), clock };
      for await (const update of followCommand(open.command, options)) {
        const { settled, report } = update;
        step();
        if (!settled) {
          await commands.change(open);
          continue;
        }
        // As the node: the result is stored, the message leaves, and when it has left the subscription ends.
        await commands.settle(open, update);
        step();
        setImmediate(() => line(`verdict ${id} ${report.outcome} after ${report.elapsedMs}`));
        await new Promise((resolve) => setImmediate(resolve));
        step();
        await commands.delivered(open);
        line(`ended ${id}`);
      }
    }),
  );
}

void main().then(() => process.disconnect());
