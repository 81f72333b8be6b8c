// `npm run matrix`: the tests of the nodes and of the package with other versions of Node and Node-RED, installed into .cache/matrix,
// and those of the editor with Node-RED 5. Each is run in its long form, if it has one (test/support/long.ts).
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mocha } from './mocha.mjs';
import { npm, npmFirst } from './npm.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const ofRuntime = ['nodes', 'package'];
// `npm test` runs those of the editor with Node-RED 4.1. No version of Node changes what a browser does.
const legs = [
  { node: '22', nodeRed: '5', folders: [...ofRuntime, 'editor'] },
  { node: '24', nodeRed: '5', folders: ofRuntime },
  { node: '24', nodeRed: '4.1', folders: ofRuntime },
];

const run = (command, args, options = {}) =>
  new Promise((resolve, reject) => {
    spawn(command, args, { cwd: root, stdio: 'inherit', ...options })
      .on('error', reject)
      .on('close', resolve);
  });

/** The npm package that contains the Node binary; the package `node` would download it in an install script, which is switched off. */
const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** @returns its folder */
async function install(name, version) {
  const folder = join(root, '.cache/matrix', `${name}-${version}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true }));
  const code = await run(
    npm,
    [
      ...npmFirst,
      'install',
      `${name}@${version}`,
      '--prefer-offline',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--no-save',
    ],
    { cwd: folder },
  );
  if (code !== 0) throw new Error(`${name}@${version} cannot be installed`);
  return join(folder, 'node_modules');
}

async function testOn({ node, nodeRed, folders }) {
  const bin = join(await install(nodePackage, node), nodePackage, 'bin');
  const modules = await install('node-red', nodeRed);
  const env = {
    ...process.env,
    LONG: 'true',
    PATH: bin + delimiter + process.env.PATH,
    NODE_RED_PATH: createRequire(join(modules, 'index.js')).resolve('node-red'),
  };
  console.log(`\nNode ${node}, Node-RED ${nodeRed}: tests of ${folders.join(', ')}`);
  return run(
    join(bin, 'node'),
    [
      ...mocha,
      '--timeout',
      '60000',
      '--reporter',
      'scripts/tally.cjs',
      '--forbid-only',
      ...folders.map((folder) => `dist/test/${folder}/**/*_spec.js`),
    ],
    { env },
  );
}

for (const leg of legs) if ((await testOn(leg)) !== 0) process.exitCode = 1;
