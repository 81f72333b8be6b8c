// `npm run test:external [-- part…]`: the tests with software of others. Those of test/world run
// against nginx, squid and others, which must be installed; those of the nodes, the package and the
// editor run with other versions of Node.js and Node-RED, which are installed into .cache/matrix,
// as is Prism. Parts are the beginnings of names in test/world, such as `squid`, or `matrix`.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { root, runNode } from './checkout.mjs';
import { runMocha, specsBelow } from './mocha.mjs';

const asked = process.argv.slice(2);
const options = ['--parallel', '--jobs', '3', '--forbid-only', '--reporter', 'scripts/tally.cjs'];
const require = createRequire(import.meta.url);

const ofRuntime = ['nodes', 'package'];
// `npm test` runs those of the editor with Node-RED 4.1. No version of Node.js changes
// what a browser does.
const legs = [
  { node: '22', nodeRed: '5', folders: [...ofRuntime, 'editor'] },
  { node: '24', nodeRed: '5', folders: ofRuntime },
  { node: '24', nodeRed: '4.1', folders: ofRuntime },
];

/**
 * The npm package that contains the program; the package `node` would download it in an install
 * script, which is switched off.
 */
const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** @returns the folder of the installed package */
async function install(name, version) {
  const folder = join(root, '.cache/matrix', `${name}-${version}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
  const flags = ['--prefix', folder, '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save'];
  // npm names its program to the scripts that it runs.
  if (await runNode([process.env.npm_execpath, 'install', `${name}@${version}`, ...flags]))
    throw new Error(`${name}@${version} cannot be installed`);
  return join(folder, 'node_modules', name);
}

async function testWith({ node, nodeRed, folders }) {
  const bin = join(await install(nodePackage, node), 'bin');
  const env = {
    PATH: bin + delimiter + process.env.PATH,
    NODE_RED_PATH: require.resolve(await install('node-red', nodeRed)),
  };
  console.log(`\nNode.js ${node}, Node-RED ${nodeRed}: tests of ${folders.join(', ')}`);
  return runMocha([...options, ...folders.flatMap(specsBelow)], env, join(bin, 'node'));
}

/**
 * Each process trusts the authority of these tests and finds every name below
 * `.test` on this machine.
 */
async function testAgainst(specs) {
  const { makeAuthority } = require('../dist/test/world/support/certificates.js');
  const folder = mkdtempSync(join(tmpdir(), 'world-'));
  // squid works as its own user.
  chmodSync(folder, 0o711);
  try {
    const authority = join(folder, 'authority');
    await makeAuthority(authority);
    const needsPrism = specs.some((spec) => basename(spec).startsWith('prism'));
    return await runMocha([...options, ...specs], {
      // The last version for Node.js 20.
      ...(needsPrism && { PRISM: join(await install('@stoplight/prism-cli', '5.14.2'), 'dist/index.js') }),
      TMPDIR: folder,
      WORLD_AUTHORITY: authority,
      // Node reads both at its start only, so they also hold for the processes
      // that the tests start.
      NODE_EXTRA_CA_CERTS: join(authority, 'authority.pem'),
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(join(root, 'dist/test/world/support/names.js'))}`,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const isAsked = (name) => asked.length === 0 || asked.some((part) => name.startsWith(part));
const specs = specsBelow('world').filter((spec) => isAsked(basename(spec)));
const runs = [
  ...(specs.length > 0 ? [() => testAgainst(specs)] : []),
  ...(isAsked('matrix') ? legs.map((leg) => () => testWith(leg)) : []),
];
if (runs.length === 0) throw new Error(`There is no part ${asked.join(', ')}.`);
for (const run of runs) if ((await run()) !== 0) process.exitCode = 1;
