import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/**
 * A module of the benchmarks in its own process; it is given `input` as JSON and
 * answers with one message.
 */
export async function measured<Result>(
  name: string,
  input: unknown = {},
  flags: readonly string[] = [],
): Promise<Result> {
  const child = start(name, input, flags);
  try {
    return await answerOf<Result>(child, name);
  } finally {
    await end(child);
  }
}

export interface ServiceProcess {
  url: string;
  /** Of the first car. */
  vin: string;
  vins: readonly string[];
  /** Sockets and requests since the last time that they were asked for. */
  counts(): Promise<Counts>;
  /** Waits for this number of requests, and counts from 0 again. */
  slow(times: number): Promise<Counts>;
  stop(): Promise<void>;
}

export interface Counts {
  requests: number;
  mostInFlight: number;
  sockets: number;
}

/**
 * The simulated service in its own process, as every benchmark needs it: it must not share a core's
 * time with what is measured.
 */
export async function startService(cars = 1): Promise<ServiceProcess> {
  const child = start('service-process', { cars });
  const { url, vins } = await answerOf<{ url: string; vins: string[] }>(child, 'the simulated service');
  const [vin = ''] = vins;
  const ask = async (message: { slow: number }): Promise<Counts> => {
    const answered = once(child, 'message');
    child.send(message);
    const [counts] = (await answered) as [Counts];
    return counts;
  };
  return {
    url,
    vin,
    vins,
    counts: () => ask({ slow: 0 }),
    slow: (times) => ask({ slow: times }),
    stop: () => end(child),
  };
}

const start = (name: string, input: unknown, flags: readonly string[] = []): ChildProcess =>
  fork(join(__dirname, `${name}.js`), [JSON.stringify(input)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [...flags],
  });

async function answerOf<Result>(child: ChildProcess, name: string): Promise<Result> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${name} ended without an answer`)));
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [Result];
  ended.catch(() => undefined);
  return message;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}

/** The input of a child. */
export const inputOf = <Input>(): Input => JSON.parse(process.argv[2] ?? '{}') as Input;

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
