import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CanaryRun } from './canary-process';
import { removeFolder } from './remove-folder';

/** What was looked through, and what was found. */
export interface CanaryReport {
  /** Different secrets that were in use. */
  secrets: number;
  vins: number;
  requests: number;
  /** `output`: lines on stdout and stderr. */
  searched: CanaryRun['searched'] & { output: number };
  hits: string[];
  /** What NODE_DEBUG=connected-vehicle printed. */
  debug: string[];
}

const timeLimitMs = { whole: 20 * 60_000, some: 230_000, leak: 230_000 };

/**
 * Runs the canary in its own process, whose home, working directory and temporary files are in its
 * own folder, and searches everything that it wrote.
 * @throws Error with its output if it ended without a report
 */
export async function runCanary(scenario: keyof typeof timeLimitMs): Promise<CanaryReport> {
  const folder = await mkdtemp(join(tmpdir(), 'canary-'));
  try {
    const [home, temporary] = [join(folder, 'home'), join(folder, 'temporary')];
    for (const made of [home, temporary]) await mkdir(made);
    const places = { HOME: home, USERPROFILE: home, TMPDIR: temporary, TMP: temporary, TEMP: temporary };
    const child = fork(join(__dirname, 'canary-process.js'), [scenario, folder], {
      env: { ...process.env, ...places, NODE_DEBUG: 'connected-vehicle' },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const timeLimit = setTimeout(() => child.kill('SIGKILL'), timeLimitMs[scenario]);
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.setEncoding('utf8').on('data', (text: string) => (output[name] += text));
    let run: CanaryRun | undefined;
    child.on('message', (message) => (run = message as CanaryRun));
    await once(child, 'close');
    clearTimeout(timeLimit);
    if (run === undefined) throw new Error(`The canary ended early.\n${output.stdout}\n${output.stderr}`);
    const { secrets, vins, requests, searched } = run;
    const hits = [...run.hits];
    for (const [name, text] of Object.entries(output))
      for (const word of [...secrets, ...vins]) {
        const at = text.indexOf(word);
        if (at >= 0) hits.push(`${name}: ${text.slice(Math.max(0, at - 80), at + word.length)}`);
      }
    const lines = `${output.stdout}\n${output.stderr}`.split('\n').filter((line) => line !== '').length;
    const debug = output.stderr.split('\n').filter((line) => line.startsWith('CONNECTED-VEHICLE'));
    return {
      secrets: secrets.length,
      vins: vins.length,
      requests,
      searched: { ...searched, output: lines },
      hits,
      debug,
    };
  } finally {
    await removeFolder(folder);
  }
}
