import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programOf } from './parts';
import { freePort, newFolder, startProgram, type Program } from './program';

export interface Squid extends Program {
  /** For `HTTPS_PROXY`. */
  readonly url: string;
  /** The tunnels, opened or refused, of its log: `CONNECT service.example:443 200`. */
  requests(): Promise<string[]>;
  /** Ends it with this signal, and starts it on the same port with the same configuration. */
  restart(name?: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
}

export interface SquidOptions {
  /** Names that squid alone can resolve: they lead to this machine. */
  hosts: readonly string[];
  /** Who may use it; default: everybody. */
  user?: { name: string; password: string };
  /** More lines of its configuration; before what allows requests. */
  more?: string;
}

/** squid as one process with its helpers, in its own folder. */
export async function startSquid({ hosts, user, more = '' }: SquidOptions): Promise<Squid> {
  const folder = await newFolder('squid');
  const port = await freePort();
  // As root, it works as the user `proxy`, which must reach its folder.
  await chmod(folder, 0o777);
  const file = (name: string): string => join(folder, name);
  await writeFile(file('hosts'), hosts.map((host) => `127.0.0.1 ${host}\n`).join(''));
  if (user !== undefined) {
    const { stdout } = await promisify(execFile)(await programOf('openssl'), ['passwd', '-apr1', user.password]);
    await writeFile(file('users'), `${user.name}:${stdout}`);
  }
  const access =
    user === undefined
      ? 'http_access allow all'
      : `auth_param basic program /usr/lib/squid/basic_ncsa_auth ${file('users')}
auth_param basic children 1
auth_param basic realm the office
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all`;
  await writeFile(
    file('squid.conf'),
    `http_port 127.0.0.1:${port}
visible_hostname squid.test
hosts_file ${file('hosts')}
pid_filename ${file('squid.pid')}
logformat short %rm %ru %>Hs
access_log stdio:${file('access.log')} logformat=short
buffered_logs off
cache_log ${file('cache.log')}
cache_store_log none
cache deny all
coredump_dir ${folder}
netdb_filename none
pinger_enable off
shutdown_lifetime 0 seconds
dns_nameservers 127.0.0.1
dns_timeout 1 second
${more}
${access}
`,
  );
  const command = await programOf('squid');
  const launch = (): Promise<Program> =>
    startProgram({ name: 'squid', command, args: ['-N', '-f', file('squid.conf')], folder, port });
  let program = await launch();
  return {
    get pid() {
      return program.pid;
    },
    port,
    url: `http://127.0.0.1:${port}`,
    log: () => program.log(),
    async requests() {
      return (await readFile(file('access.log'), 'utf8')).split('\n').filter((line) => line.startsWith('CONNECT '));
    },
    signal: (name) => program.signal(name),
    stop: (name) => program.stop(name),
    async start() {
      program = await launch();
    },
    async restart(name) {
      await program.stop(name);
      program = await launch();
    },
  };
}
