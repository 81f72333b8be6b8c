import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisStateStore, systemClock } from '../../src/index';
import type { RedisModule, RedisStateStoreOptions } from '../../src/state/redis-store';
import type { OwnClock } from './own-clock';
import { removeFolder } from './remove-folder';
import { authority } from './test-certificate';

type Client = ReturnType<RedisModule['createClient']>;

/** The package `@redis/client`, of which the pack declares only what it uses. */
interface WholeModule {
  createClient(): Client & { duplicate(options: Record<string, unknown>): Client };
}

let prepared: ReturnType<WholeModule['createClient']> | undefined;

/**
 * The client as a user installs it beside the pack. A new client defines all commands of Redis,
 * which takes longer than most tests; a duplicate of a client has them.
 */
export const loadRedis = (): RedisModule => ({
  createClient(options) {
    // A cast: `RedisModule` declares only what the pack uses.
    prepared ??= (require('@redis/client') as WholeModule).createClient();
    return prepared.duplicate(options);
  },
});

const executable = process.env['REDIS_SERVER'] ?? 'redis-server';
/** In CI, the tests fail if it is missing. */
const isMissing = process.env['CI'] !== 'true' && spawnSync(executable, ['--version']).error !== undefined;
const note = isMissing ? ` (pending: there is no ${executable}; the variable REDIS_SERVER can name another)` : '';

/** A suite that needs `redis-server`, and is skipped without one. */
export const describeOnRedis = (title: string, suite: (this: Mocha.Suite) => void): Mocha.Suite | void =>
  (isMissing ? describe.skip : describe)(title + note, suite);

/** A test that needs `redis-server`, and is skipped without one. */
export const itOnRedis = (title: string, test: Mocha.AsyncFunc): Mocha.Test =>
  (isMissing ? it.skip : it)(title + note, test);

/** A separate `redis-server`, on a free port of this machine and with its own folder. */
export class RedisServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'redis-'));
  readonly #options: readonly string[];
  #process: ChildProcess | null = null;

  private constructor(
    readonly port: number,
    options: readonly string[],
    readonly environment: Readonly<Record<string, string>> = {},
  ) {
    this.#options = options;
  }

  /** @param options of the command line: `--requirepass`, `secret` */
  static async start(...options: string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), options);
    await server.restart();
    return server;
  }

  /** One whose clock the test sets. */
  static async startWithClock({ environment }: OwnClock): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), [], environment);
    await server.restart();
    return server;
  }

  /**
   * One that speaks TLS.
   * @param options of the command line: `--tls-auth-clients`, `no`, if it asks for no
   * certificate of a client
   */
  static async startTls(certificate: { key: string; cert: string }, ...options: string[]): Promise<RedisServer> {
    const port = await freePort();
    const files = ['--tls-key-file', 'key.pem', '--tls-cert-file', 'cert.pem', '--tls-ca-cert-file', 'ca.pem'];
    const server = new RedisServer(port, ['--port', '0', '--tls-port', String(port), ...files, ...options]);
    const contents = { ...certificate, ca: authority };
    for (const [name, text] of Object.entries(contents)) writeFileSync(join(server.folder, `${name}.pem`), text);
    await server.restart();
    return server;
  }

  /** A primary server, and a replica that has all of it. */
  static async startPair(): Promise<[primary: RedisServer, replica: RedisServer]> {
    const primary = await RedisServer.start();
    return [primary, await primary.startReplica()];
  }

  /** A replica that has all that this server has. */
  async startReplica(): Promise<RedisServer> {
    const replica = await RedisServer.start('--replicaof', '127.0.0.1', String(this.port));
    while (!(await this.hasReplica())) await new Promise((resolve) => setTimeout(resolve, 20));
    return replica;
  }

  async hasReplica(): Promise<boolean> {
    return String(await this.send('INFO', 'replication')).includes('state=online');
  }

  /** The replica takes the place of this server, which becomes its replica. */
  async failOver(replica: RedisServer): Promise<void> {
    await replica.send('REPLICAOF', 'NO', 'ONE');
    await this.send('REPLICAOF', '127.0.0.1', String(replica.port));
    while (!(await replica.hasReplica())) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it again after `stop`: it reads what it has written. */
  async restart(): Promise<void> {
    const given = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder, '--save', ''];
    given.push('--appendonly', 'yes', '--appendfsync', 'always', '--repl-diskless-sync-delay', '0');
    const child = spawn(executable, [...given, ...this.#options], {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: this.folder,
      env: { ...process.env, ...this.environment },
    });
    this.#process = child;
    let log = '';
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (text: Buffer) => {
        log += text.toString();
        if (/Ready to accept connections/.test(log)) resolve();
      });
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`redis-server has ended: ${log}`)));
    });
  }

  /** Ends it as it was killed. @param signal SIGSTOP and SIGCONT do not end it */
  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await once(child, 'exit');
  }

  /** Sends a command and gives its reply. */
  async send(...args: string[]): Promise<unknown> {
    const client = loadRedis().createClient({ url: this.url, socket: { reconnectStrategy: false } });
    client.on('error', () => undefined);
    await client.connect();
    return client.sendCommand(args).finally(() => client.destroy());
  }

  async end(): Promise<void> {
    await this.stop('SIGCONT');
    await this.stop();
    await removeFolder(this.folder);
  }
}

/** The store of a process. */
export const openRedis = (url: string, options: Partial<RedisStateStoreOptions> = {}): RedisStateStore =>
  new RedisStateStore({ url, scope: 'a', load: loadRedis, secret: () => 'secret', clock: systemClock, ...options });

/** Not one that the system gives to connections, which could take it before the server does. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
