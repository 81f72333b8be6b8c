import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeFolder } from '../../support/remove-folder';

/** How to run a foreign program. */
export interface ProgramOptions {
  /** Shown in errors and before its log. */
  name: string;
  /** Absolute path. */
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string | undefined>>;
  /** The folder in which it runs; `log` shows its files that end in `.log`. */
  folder: string;
  /** It runs once this port of 127.0.0.1 takes connections. */
  port: number;
  /** How long `stop` waits until it ends the program with SIGKILL. Default 30,000. */
  graceMs?: number;
}

export interface Program {
  readonly pid: number;
  readonly port: number;
  /** Everything that it wrote, and its files of log. */
  log(): Promise<string>;
  /** Sends a signal to the program itself, not to its children. */
  signal(name: NodeJS.Signals): void;
  /**
   * Ends it and all its children with this signal (default SIGTERM), and with
   * SIGKILL what does not end.
   */
  stop(name?: NodeJS.Signals): Promise<void>;
}

/** The programs that run, so that none outlives the process of the tests. */
const running = new Map<Program, () => void>();

process.on('exit', () => running.forEach((kill) => kill()));
for (const name of ['SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));

/**
 * Starts a program in a process group of its own and waits until it listens.
 * @throws Error with its log if it ended or did not listen within 90 s
 */
export async function startProgram({
  name,
  command,
  args,
  env,
  folder,
  port,
  graceMs = 30_000,
}: ProgramOptions): Promise<Program> {
  const child = spawn(command, [...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (written = (written + text).slice(-100_000)));
  await once(child, 'spawn');
  const pid = child.pid as number;
  const ended = once(child, 'exit');

  const program: Program = {
    pid,
    port,
    async log() {
      const files = (await readdir(folder)).filter((file) => file.endsWith('.log')).sort();
      const texts = await Promise.all(
        files.map(async (file) => `-- ${file}\n${(await readFile(join(folder, file), 'utf8')).slice(-4000)}`),
      );
      return [`== ${name} (port ${port})`, written, ...texts].filter((text) => text !== '').join('\n');
    },
    signal: (name) => void child.kill(name),
    async stop(name = 'SIGTERM') {
      if (hasEnded(child)) killGroup(pid, 'SIGKILL');
      else {
        child.kill(name);
        const cancel = new AbortController();
        const late = sleep(graceMs, undefined, { signal: cancel.signal }).then(
          () => killGroup(pid, 'SIGKILL'),
          () => undefined,
        );
        await ended;
        cancel.abort();
        await late;
        // Its children, which a killed program leaves behind.
        killGroup(pid, 'SIGKILL');
      }
      running.delete(program);
    },
  };
  running.set(program, () => killGroup(pid, 'SIGKILL'));
  try {
    await untilListening(port, () => hasEnded(child));
  } catch (error) {
    await program.stop('SIGKILL');
    throw new Error(`${name} did not start.\n${await program.log()}`, { cause: error });
  }
  return program;
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** A group without a process is not an error. */
function killGroup(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Resolves when a port of 127.0.0.1 takes connections. */
async function untilListening(port: number, hasFailed: () => boolean = () => false): Promise<void> {
  const end = performance.now() + 90_000;
  while (!(await isListening(port))) {
    if (hasFailed()) throw new Error('It has ended.');
    if (performance.now() > end) throw new Error(`Nothing listens on port ${port}.`);
    await sleep(20);
  }
}

export const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
      .on('connect', () => {
        socket.destroy();
        resolve(true);
      })
      .on('error', () => resolve(false));
  });

/**
 * A port that nothing listens on, below the range from which the system chooses ports for others.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error('There is no free port.');
}

/** A separate folder below the folder for temporary files; removed after the tests of the file. */
export async function newFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `world-${name}-`));
  folders.push(folder);
  return folder;
}

const folders: string[] = [];

/**
 * What a spec of the world calls at its top: shows the logs when a test has failed, and ends and
 * removes what is left over.
 */
export function endWithLogs(): void {
  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    for (const program of running.keys()) console.error(await program.log());
  });
  after(async () => {
    await Promise.all([...running.keys()].map((program) => program.stop()));
    await Promise.all(folders.splice(0).map(removeFolder));
  });
}
