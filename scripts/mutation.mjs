// `npm run mutation -- <folder> [file] [--fast] [--again] [--specs=<spec>,…]`: StrykerJS changes src/<folder> at each place in each way it
// knows, one at a time, and runs the tests that enter the place, until one fails: those of the folder, then those that use the folder, or
// those of `--specs` alone. It lists what nothing noticed. --fast leaves out what runs while a module is loaded, such as tables; --again
// keeps the last results where neither the file nor the tests have changed. It works on a copy in .cache/mutation, with Node 22, and
// leaves its report beside the copy.
import { spawn } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npm, npmFirst } from './npm.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const home = join(root, '.cache/mutation');

/** The specs of other folders that use a folder, the quick ones first. */
const users = {
  wire: ['src/answers', 'src/specification', 'src/listed-commands', 'src/client_*'],
  catalogue: [
    'src/specification',
    'src/listed-commands',
    'src/wire/*',
    'src/guard/*',
    'src/events/car*',
    'src/answers',
  ],
  car: ['src/guard/reducer', 'src/events/car-events', 'src/events/event-runner', 'src/client_*'],
  guard: ['src/car-runner'],
  events: ['src/car-runner'],
  condition: ['properties/conditions'],
  commands: ['src/listed-commands', 'src/client'],
  session: ['src/account'],
  state: ['src/car-runner', 'src/session/grant-store', 'src/commands/log', 'src/commands/subscriptions'],
  http: ['src/account', 'src/client'],
};
/** Random histories take long; some of them notice most. */
const histories = { FACTOR: '0.5' };
/** These kill processes, or simulate a year. */
const left = ['commands/kill', 'session/virtual-year', 'events/sign-in-events'];

const run = (command, args, options) =>
  new Promise((resolve, reject) => {
    spawn(command, args, { stdio: 'inherit', ...options })
      .on('error', reject)
      .on('close', (code) => (code === 0 ? resolve() : reject(new Error(`${command} ends with ${code}`))));
  });

/** Stryker needs Node 22, and a Mocha before 12. @returns the folder of its Node */
async function install() {
  const node = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const dependencies = {
    [node]: '22',
    mocha: '11',
    '@stryker-mutator/core': '10.0.0',
    '@stryker-mutator/mocha-runner': '10.0.0',
  };
  const bin = join(home, 'node_modules', node, 'bin');
  const wanted = JSON.stringify({ private: true, dependencies });
  const installed = await readFile(join(home, 'package.json'), 'utf8').catch(() => '');
  if (installed === wanted) return bin;
  await mkdir(home, { recursive: true });
  await writeFile(join(home, 'package.json'), wanted);
  const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await run(npm, [...npmFirst, 'install', ...options], { cwd: home });
  return bin;
}

/** @returns a copy of the compiled repository, whose packages are links */
async function copy(folder) {
  const to = join(home, `copy-${folder}`);
  await rm(to, { recursive: true, force: true });
  const names = (await readdir(root)).filter((name) => !/^(\.|node_modules)/.test(name));
  await Promise.all(
    names.map((name) => cp(join(root, name), join(to, name), { recursive: true, preserveTimestamps: true })),
  );
  await mkdir(join(to, 'node_modules'));
  for (const name of await readdir(join(root, 'node_modules')))
    await symlink(join(name === 'mocha' ? home : root, 'node_modules', name), join(to, 'node_modules', name));
  return to;
}

/** A schema that is made at its first use would stay unchanged for every later test. So it is made when its module is loaded. */
async function makeSchemasAtOnce(folder) {
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'utf8');
    await writeFile(
      join(folder, name),
      text.replace(/^((?:export )?const \w+ = )z\.lazy\(/gm, '$1((make) => make())('),
    );
  }
}

/** @returns the files with their mutants */
async function mutate(folder, file, { bin, isFast, isAgain, specs }) {
  const name = file === undefined ? folder : `${folder}-${file}`;
  const cwd = await copy(name);
  await makeSchemasAtOnce(join(cwd, 'src', folder));
  const report = join(home, `${name}.json`);
  const config = {
    inPlace: true,
    mutate: [`src/${folder}/${file ?? '**/*'}.ts`],
    buildCommand: `node_modules/.bin/esbuild src/${folder}/*.ts --outdir=dist/src/${folder} --format=cjs --platform=node --target=node20 --log-level=error`,
    plugins: [
      join(home, 'node_modules/@stryker-mutator/mocha-runner/dist/src/index.js'),
      join(root, 'scripts/mutation-ignores.mjs'),
    ],
    ignorers: ['unnoticeable'],
    testRunner: 'mocha',
    mochaOptions: {
      'no-config': true,
      require: ['dist/test/support/known-environment.js'],
      spec: specs.map((spec) => `dist/test/${spec}_spec.js`),
      ignore: left.map((spec) => `dist/test/src/${spec}_spec.js`),
    },
    coverageAnalysis: 'perTest',
    ignoreStatic: isFast,
    incremental: true,
    incrementalFile: join(home, `${name}.last.json`),
    force: !isAgain,
    concurrency: Number(process.env.MUTATION_WORKERS ?? 2),
    timeoutMS: Number(process.env.MUTATION_TIMEOUT ?? 15_000),
    // TypeScript 7 has no interface with which Stryker could rewrite the paths in it.
    tsconfigFile: 'none.json',
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: report },
    allowConsoleColors: false,
  };
  await writeFile(join(cwd, 'stryker.conf.json'), JSON.stringify(config));
  const env = { ...histories, ...process.env, PATH: bin + delimiter + process.env.PATH };
  await run(join(bin, 'node'), [join(home, 'node_modules/@stryker-mutator/core/bin/stryker.js'), 'run'], { cwd, env });
  await rm(cwd, { recursive: true });
  return JSON.parse(await readFile(report, 'utf8')).files;
}

const [isFast, isAgain] = ['--fast', '--again'].map((option) => process.argv.includes(option));
const [folder, file] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const chosen = process.argv.find((argument) => argument.startsWith('--specs='))?.slice('--specs='.length);
const specs = chosen?.split(',') ?? [`src/${folder}/*`, ...users[folder]];
const files = await mutate(folder, file, { bin: await install(), isFast, isAgain, specs });
/** `RuntimeError`: a module cannot be loaded any more, which everybody notices. */
const count = { Killed: 0, Timeout: 0, Survived: 0, NoCoverage: 0, Ignored: 0, RuntimeError: 0 };
for (const [name, { source, mutants }] of Object.entries(files))
  for (const { status, replacement, location } of mutants) {
    count[status] += 1;
    if (!['Survived', 'NoCoverage', 'Timeout'].includes(status)) continue;
    const { start, end } = location;
    const lines = source.split('\n').slice(start.line - 1, end.line);
    const text = [...lines.slice(0, -1), lines.at(-1).slice(0, end.column - 1)].join('\n').slice(start.column - 1);
    const short = (code) => code.replace(/\s+/g, ' ').slice(0, 120);
    console.log(`${name}:${start.line} ${status}: ${lines[0].trim()}\n    ${short(text)} -> ${short(replacement)}`);
  }
const noticed = count.Killed + count.Timeout;
const tried = noticed + count.Survived + count.NoCoverage;
console.log(`${folder}: ${noticed} of ${tried} noticed (${Math.round((100 * noticed) / tried)} %)`, count);
