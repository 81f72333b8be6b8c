import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { programOf } from './parts';
import { newFolder, startProgram, type Program } from './program';

/** mosquitto on a port, in its own folder. What its clients published is lost when it ends. */
export async function startMosquitto(port: number): Promise<Program> {
  const folder = await newFolder('mosquitto');
  const configuration = join(folder, 'mosquitto.conf');
  await writeFile(
    configuration,
    `listener ${port} 127.0.0.1
allow_anonymous true
persistence false
log_dest file ${join(folder, 'mosquitto.log')}
${process.getuid?.() === 0 ? 'user root' : ''}
`,
  );
  return startProgram({
    name: 'mosquitto',
    command: await programOf('mosquitto'),
    args: ['-c', configuration],
    folder,
    port,
  });
}
