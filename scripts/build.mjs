// Compiles src, nodes and test into dist, bundles what the nodes load into few files, and puts forms, message catalogues, help and
// icons where Node-RED looks for them: beside the compiled nodes. What the forms share goes to resources/.
import { spawn } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

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
 * Bundles the library with undici and zod into one file, and the simulated service into another: loading one file takes half the time
 * and memory of loading 300 (`npm run bench -- start`). `dist/src` stays as compiled, for other programs.
 */
async function bundleRuntime() {
  await build({
    entryPoints: { runtime: `${from}shared/runtime.ts`, simulator: `${root}src/simulator/index.ts` },
    outdir: `${to}shared`,
    allowOverwrite: true,
    bundle: true,
    plugins: [simulatorApart],
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    // Whitespace only: names stay in stack traces.
    minifyWhitespace: true,
    legalComments: 'none',
  });
  const licenses = await Promise.all(
    ['undici', 'zod'].map(
      async (name) => `${name}\n\n${await readFile(`${root}node_modules/${name}/LICENSE`, 'utf8')}`,
    ),
  );
  await writeFile(`${to}shared/LICENSES`, `runtime.js contains these packages.\n\n${licenses.join('\n')}`);
}

/** A script for the editor. Syntax is not minified, because the flow library reads the definitions with a parser. */
async function bundleForBrowser(entry, options) {
  const { outputFiles } = await build({
    entryPoints: [`${from}${entry}`],
    write: false,
    bundle: true,
    format: 'iife',
    target: 'es2020',
    charset: 'utf8',
    packages: 'external',
    minifyWhitespace: true,
    minifyIdentifiers: true,
    ...options,
  });
  return outputFiles[0].text;
}

/** Reads by the scopes that they need, for the help. */
function listOfReads() {
  const { readNames, readScopes } = createRequire(import.meta.url)(`${root}dist/src/catalogue/reads.js`);
  const byScopes = {};
  for (const name of readNames) (byScopes[readScopes(name).slice(1).join('`, `')] ??= []).push(name);
  return Object.entries(byScopes)
    .map(([scopes, names]) => `- \`${names.join(', ')}\`: \`${scopes}\``)
    .join('\n');
}

/** Forms with their scripts, message catalogues, help and icons. */
async function buildEditor() {
  const shared = await bundleForBrowser('shared/editor/index.ts', { globalName: 'connectedVehicle' });
  await mkdir(`${root}resources`, { recursive: true });
  await writeFile(`${root}resources/connected-vehicle.js`, shared);
  for (const file of (await readdir(from)).filter((name) => name.endsWith('.html'))) {
    const script = await bundleForBrowser(file.replace('.html', '.editor.ts'));
    const form = await readFile(`${from}${file}`, 'utf8');
    await writeFile(`${to}${file}`, `${form}\n<script type="text/javascript">\n${script}</script>\n`);
  }
  await cp(`${from}locales`, `${to}locales`, { recursive: true });
  for (const language of await readdir(`${to}locales`)) {
    const help = `${to}locales/${language}/connected-vehicle-status.html`;
    await writeFile(help, (await readFile(help, 'utf8')).replace('<!-- reads -->', listOfReads));
  }
  await cp(`${root}icons`, `${to}icons`, { recursive: true });
}

/** The page of the simulated service, in one file, beside each of the files that serve it. */
async function buildPage() {
  const page = `${root}src/simulator/page/`;
  const bundle = async (file) => {
    const { outputFiles } = await build({
      entryPoints: [`${page}${file}`],
      write: false,
      bundle: true,
      format: 'esm',
      target: 'es2022',
      charset: 'utf8',
      minify: true,
    });
    return outputFiles[0].text.trim();
  };
  const [script, style, html] = await Promise.all([
    bundle('page.ts'),
    bundle('page.css'),
    readFile(`${page}index.html`, 'utf8'),
  ]);
  const whole = html.replace('{{style}}', () => style).replace('{{script}}', () => script);
  await Promise.all(
    ['src/simulator', 'nodes/shared'].map((folder) => writeFile(`${root}dist/${folder}/page.html`, whole)),
  );
}

await rm(`${root}dist`, { recursive: true, force: true });
await Promise.all([compile('tsconfig.json'), compile('nodes/tsconfig.json')]);
await Promise.all([bundleRuntime(), buildEditor(), buildPage()]);
