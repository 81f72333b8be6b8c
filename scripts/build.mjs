// Compiles src, nodes and test into dist, folds what the nodes load into few files, and what a browser loads into as few bytes as
// it takes (scripts/forms.mjs); words, help and icons come to where Node-RED looks for them: beside the compiled nodes.
import { spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { foldForms } from './forms.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const from = `${root}nodes/`;
const to = `${root}dist/nodes/`;

/** Runs the TypeScript compiler. */
const compile = (project) =>
  new Promise((resolve, reject) => {
    const compiler = spawn(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', project], {
      cwd: root,
      stdio: 'inherit',
    });
    compiler.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`${project} does not compile`))));
  });

/** The simulated service is loaded by demo vehicles only, so it has a file of its own. */
const simulatorApart = {
  name: 'simulator-apart',
  setup({ onResolve }) {
    onResolve({ filter: /\/src\/simulator\/index$/ }, () => ({ path: './simulator.js', external: true }));
  },
};

/**
 * The library and what it needs of undici and zod in one file, and the simulated service in another, that load in a fraction of the
 * time and memory that they take one by one; `dist/src` stays as compiled, for other programs.
 */
async function foldRuntime() {
  const terms = await Promise.all(
    ['undici', 'zod'].map(
      async (name) => `${name}:\n\n${await readFile(`${root}node_modules/${name}/LICENSE`, 'utf8')}`,
    ),
  );
  const { outputFiles } = await build({
    entryPoints: { runtime: `${from}shared/runtime.ts`, simulator: `${root}src/simulator/index.ts` },
    outdir: `${to}shared`,
    write: false,
    bundle: true,
    plugins: [simulatorApart],
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    // Whitespace only: names stay in stack traces.
    minifyWhitespace: true,
    legalComments: 'none',
    banner: { js: `/* Holds parts of other projects, under these terms.\n\n${terms.join('\n')}*/` },
  });
  for (const { path, text, contents } of outputFiles) {
    // One such character, in a pattern for one, doubles the memory of all the others.
    if (/[^\0-\x7f]/.test(text)) throw new Error(`${basename(path)} must be ASCII alone`);
    await writeFile(path, contents);
  }
}

await rm(`${root}dist`, { recursive: true, force: true });
await Promise.all([compile('tsconfig.json'), compile('nodes/tsconfig.json')]);
await Promise.all([foldRuntime(), foldForms()]);
