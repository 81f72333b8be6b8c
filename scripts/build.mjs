// Compiles src, nodes and test into dist; folds each editor half into its html; puts words, help and icons where
// Node-RED looks for them: beside the compiled nodes.
import { spawn } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const from = `${root}nodes/`;
const to = `${root}dist/nodes/`;

/** One of the compiled tables. */
const table = (name) => createRequire(import.meta.url)(`${root}dist/src/catalogue/${name}.js`);

/** Runs the TypeScript compiler. */
const compile = (project) =>
  new Promise((resolve, reject) => {
    const compiler = spawn(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', project], { cwd: root, stdio: 'inherit' });
    compiler.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`${project} does not compile`))));
  });

/** What the forms need of tables that are too heavy for them (nodes/shared/editor/red.d.ts). */
function digests() {
  const { groupedResources, groups } = table('groups');
  const names = (group) => Object.keys(groupedResources).filter((name) => groupedResources[name].group === group);
  const alive = Object.entries(table('services').services).map(([service, profile]) => [service, profile.alive]);
  return {
    ALIVE: JSON.stringify(Object.fromEntries(alive)),
    GROUPS: JSON.stringify(Object.entries(groups).map(([name, { scopes }]) => ({ name, scopes, names: names(name) }))),
  };
}

/**
 * `<type>.html` and the bundle of `<type>.editor.ts` in one html, small because each editor loads all of it. What a parser
 * looks for stays as it is written: no rewriting of the syntax, or `true` becomes `!0`.
 */
async function fold(type) {
  const { outputFiles } = await build({
    entryPoints: [`${from}${type}.editor.ts`],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2020',
    charset: 'utf8',
    packages: 'external',
    define: digests(),
    minifyWhitespace: true,
    minifyIdentifiers: true,
  });
  const template = (await readFile(`${from}${type}.html`, 'utf8')).replace(/^ +/gm, '');
  await writeFile(`${to}${type}.html`, `${template}\n<script type="text/javascript">\n${outputFiles[0].text}</script>\n`);
}

/** What a dialog loads when it is opened. */
async function foldDialog() {
  await build({
    entryPoints: [`${from}shared/editor/vehicle-dialog.ts`],
    outfile: `${to}dialog.js`,
    bundle: true,
    format: 'esm',
    target: 'es2020',
    charset: 'utf8',
    minify: true,
  });
}

/**
 * Leaves out of undici what no request of ours comes to: HTTP/2, which is off, and, loaded from the package itself if it should
 * ever be needed, streams as bodies and the parser for processors without SIMD.
 */
const lean = {
  name: 'lean',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/client-h2\.js$/ }, () => ({ path: 'nothing', namespace: 'nothing' }));
    onLoad({ filter: /^nothing$/, namespace: 'nothing' }, () => ({ contents: '' }));
    onResolve({ filter: /\/(llhttp\/llhttp-wasm|web\/fetch\/body)\.js$/ }, ({ path }) => ({ path: `undici/lib${path.slice(path.lastIndexOf('../') + 2)}`, external: true }));
  },
};

/** Part of the runtime, or types alone. */
const atVehicle = new Set(['runtime.ts', 'options.ts', 'messages.ts', join('admin', 'bodies.ts')]);

/**
 * The library, what it needs of undici and zod, and the simulated service in one file that loads in a fraction of the time and memory
 * that they take one by one; `dist/src` stays as compiled, for other programs.
 */
async function foldRuntime() {
  const terms = await Promise.all(['undici', 'zod'].map(async (name) => `${name}:\n\n${await readFile(`${root}node_modules/${name}/LICENSE`, 'utf8')}`));
  await build({
    entryPoints: [`${from}shared/runtime.ts`],
    outfile: `${to}shared/runtime.js`,
    bundle: true,
    plugins: [lean],
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    // Whitespace only: names stay in stack traces.
    minifyWhitespace: true,
    legalComments: 'none',
    banner: { js: `/* Holds parts of other projects, under these terms.\n\n${terms.join('\n')}*/` },
  });
}

/**
 * What the node files share in one file, so that a Node-RED without a vehicle opens six files of the pack and not thirty. Each module
 * stands where it was for whoever else asks for it, and is the same one.
 */
async function foldShared() {
  const files = await readdir(`${from}shared`, { recursive: true });
  const modules = files.filter((file) => file.endsWith('.ts') && !file.startsWith('editor') && !atVehicle.has(file)).map((file) => file.slice(0, -3));
  await build({
    stdin: { contents: modules.map((name) => `export * as '${name}' from './${name}';`).join('\n'), resolveDir: `${from}shared` },
    outfile: `${to}shared/index.js`,
    bundle: true,
    external: ['./runtime'],
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    minifyWhitespace: true,
    banner: { js: '"use strict";' },
  });
  await Promise.all(modules.map((name) => writeFile(`${to}shared/${name}.js`, `module.exports = require('${name.includes('/') ? '..' : '.'}/index.js')['${name}'];\n`)));
  for (const type of types) {
    const code = await readFile(`${to}${type}.js`, 'utf8');
    await writeFile(`${to}${type}.js`, code.replace(/require\("\.\/shared\/([\w/-]+)"\)/g, 'require("./shared/index.js")["$1"]'));
  }
}

/** One language: message catalogues without their blanks, help with the list of reads. */
async function translate(language) {
  await mkdir(`${to}locales/${language}`, { recursive: true });
  for (const file of await readdir(`${from}locales/${language}`)) {
    // The dialog brings its own words.
    if (file === 'dialog.json') continue;
    const text = await readFile(`${from}locales/${language}/${file}`, 'utf8');
    await writeFile(`${to}locales/${language}/${file}`, file.endsWith('.json') ? JSON.stringify(JSON.parse(text)) : text.replace('<!-- reads -->', listOfReads));
  }
}

/** The names to read by the scopes that they need, from the table that the nodes read from. */
function listOfReads() {
  const { readNames, readScopes } = table('reads');
  const byScopes = {};
  for (const name of readNames) (byScopes[readScopes(name).slice(1).join('`, `')] ??= []).push(name);
  return Object.entries(byScopes).map(([scopes, names]) => `- ${names.map((name) => `\`${name}\``).join(', ')}: \`${scopes}\``).join('\n');
}

await rm(`${root}dist`, { recursive: true, force: true });
const types = (await readdir(from)).filter((file) => file.endsWith('.html')).map((file) => basename(file, '.html'));
await Promise.all([compile('tsconfig.json'), compile('nodes/tsconfig.json')]);
await cp(`${root}icons`, `${to}icons`, { recursive: true });
await Promise.all([foldRuntime(), foldShared(), foldDialog(), ...types.map(fold), ...(await readdir(`${from}locales`)).map(translate)]);
