import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { programOf } from './parts';
import { freePort, newFolder, startProgram, type Program } from './program';

export interface Nginx extends Program {
  /** Holds its logs. */
  readonly folder: string;
  /** Ends it with this signal, and starts it on the same port with the same configuration. */
  restart(name?: NodeJS.Signals): Promise<void>;
}

/**
 * nginx with a master and a worker process, in its own folder.
 * @param http the inside of the block `http`, with the port to listen on
 */
export async function startNginx(http: (port: number) => string): Promise<Nginx> {
  const folder = await newFolder('nginx');
  const port = await freePort();
  await mkdir(join(folder, 'temp'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path temp/${name};`)
    .join(' ');
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid nginx.pid;
error_log error.log notice;
events { worker_connections 512; }
http {
  ${temporary}
  access_log access.log;
  ${http(port)}
}
`,
  );
  const command = await programOf('nginx');
  const start = (): Promise<Program> =>
    startProgram({
      name: 'nginx',
      command,
      args: ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')],
      folder,
      port,
    });
  let program = await start();
  return {
    folder,
    get pid() {
      return program.pid;
    },
    port,
    log: () => program.log(),
    signal: (name) => program.signal(name),
    stop: (name) => program.stop(name),
    async restart(name) {
      await program.stop(name);
      program = await start();
    },
  };
}
