// Compiles src, nodes and test into dist, bundles what the nodes load into few files, and puts
// forms, message catalogues, help and icons where Node-RED looks for them: beside the compiled
// nodes. What the forms share and the panel of the tab "Cars" go to resources/. With --changed it
// keeps what the last build made of files that have not changed since.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { withReleasedLinks } from './documents.mjs';
import { fillHelp, showTypes } from './fill-help.mjs';
import { wholeForm } from './form-rows.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const from = `${root}nodes/`;
const to = `${root}dist/nodes/`;
const nodeTypes = Object.keys(JSON.parse(await readFile(`${root}package.json`, 'utf8'))['node-red'].nodes);

/**
 * Runs the TypeScript compiler, which compiles only what has changed since it wrote
 * its build information.
 */
const compile = (project, name) =>
  new Promise((resolve, reject) => {
    const info = ['--incremental', '--tsBuildInfoFile', `${root}dist/.${name}.tsbuildinfo`];
    const compiler = spawn(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', project, ...info], {
      cwd: root,
      stdio: 'inherit',
    });
    compiler.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`${project} does not compile`))));
  });

/**
 * What is loaded later has its own file: the runtime with the first node, the simulated service
 * with the first demo vehicle. Both load the errors from one file, because an error of one must be
 * an instance of the other's class.
 */
const filesOfTheirOwn = {
  name: 'files-of-their-own',
  setup({ onResolve }) {
    onResolve({ filter: /\/errors$/ }, ({ path, resolveDir }) =>
      resolve(resolveDir, path) === `${root}src/errors` ? { path: './errors.js', external: true } : undefined,
    );
    onResolve({ filter: /\/src\/simulator\/index$/ }, () => ({ path: './simulator.js', external: true }));
    onResolve({ filter: /^\.\.?\/runtime$/ }, () => ({ path: './runtime.js', external: true }));
  },
};

/**
 * The index of undici also loads fetch, WebSocket, mocks and caches, which nothing here uses. This
 * one has what `src/http/transport.ts` imports, and as in that index, each dispatcher gets the
 * methods of the API (`ProxyAgent` calls `connect`).
 */
const undiciInUse = {
  name: 'undici-in-use',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'in-use' }));
    onLoad({ filter: /^undici$/, namespace: 'in-use' }, () => ({
      contents: `Object.assign(require('./lib/dispatcher/dispatcher').prototype, require('./lib/api'));
module.exports = {
  buildConnector: require('./lib/core/connect'),
  Client: require('./lib/dispatcher/client'),
  Pool: require('./lib/dispatcher/pool'),
  ProxyAgent: require('./lib/dispatcher/proxy-agent'),
};`,
      resolveDir: `${root}node_modules/undici`,
    }));
  },
};

/**
 * Bundles what Node-RED loads: the registration of each node type, the runtime with the
 * library, undici and zod, and the simulated service. Loading one file takes half the time and
 * memory of loading 300 (`npm run bench -- start`). These files replace the compiled ones, so
 * that no module and its state exist twice. `dist/src` stays as compiled, for the tests and
 * scripts; it is not published.
 */
async function bundleRuntime() {
  await rm(to, { recursive: true });
  const { metafile } = await build({
    entryPoints: [
      ...nodeTypes.map((type) => ({ in: `${from}register.ts`, out: type })),
      { in: `${from}runtime.ts`, out: 'runtime' },
      { in: `${root}src/errors.ts`, out: 'errors' },
      { in: `${root}src/simulator/index.ts`, out: 'simulator' },
    ],
    outdir: to,
    bundle: true,
    plugins: [filesOfTheirOwn, undiciInUse],
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    // Whitespace only: names stay in stack traces.
    minifyWhitespace: true,
    legalComments: 'none',
    metafile: true,
  });
  const contents = Object.entries(metafile.outputs)
    .filter(([path]) => path.endsWith('.js'))
    .map(([path, { inputs }]) => {
      const names = Object.keys(inputs).flatMap((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []);
      return { file: basename(path), packages: [...new Set(names)].sort() };
    })
    .filter(({ packages }) => packages.length > 0);
  const licenses = await Promise.all(
    [...new Set(contents.flatMap(({ packages }) => packages))].map(
      async (name) => `${name}\n\n${await readFile(`${root}node_modules/${name}/LICENSE`, 'utf8')}`,
    ),
  );
  const lines = contents.map(({ file, packages }) => `${file} contains ${packages.join(' and ')}.`);
  await writeFile(`${to}LICENSES`, [lines.join('\n'), ...licenses].join('\n\n'));
}

/**
 * What is loaded when it is first shown has its own file: the panel of the tab "Cars", and the
 * dialog of each node.
 */
const dialogOf = (type) => `${type}-dialog.mjs`;
const apart = (type) => ({
  name: 'apart',
  setup({ onLoad, onResolve }) {
    // A form exports nothing. Without this, esbuild would take one that imports
    // nothing for CommonJS.
    onLoad({ filter: /\/form\.ts$/ }, async ({ path }) => ({
      contents: `${await readFile(path, 'utf8')}\nexport {};`,
      loader: 'ts',
    }));
    const loadedLater = { 'panel/cars-tab': 'connected-vehicle-cars.mjs', dialog: dialogOf(type) };
    for (const [source, file] of Object.entries(loadedLater))
      onResolve({ filter: new RegExp(`^\\./${source}$`) }, () => ({
        path: `./resources/@connected-vehicle/node-red/${file}`,
        external: true,
      }));
  },
});

const styleAsText = {
  name: 'style-as-text',
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path), { loader: 'css', minify: true });
      return { contents: code, loader: 'text' };
    });
  },
};

/**
 * A script for the editor. Syntax is not minified, because the flow library reads the
 * definitions with a parser.
 */
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

/**
 * A form without the indentation of its lines, with minified styles, and with icons that the opened
 * form hides from screen readers.
 */
async function minifyForm(html) {
  const styles = html.match(/(?<=<style>).*?(?=<\/style>)/gs) ?? [];
  const minified = await Promise.all(styles.map((style) => transform(style, { loader: 'css', minify: true })));
  return minified
    .reduce((form, { code }, index) => form.replace(styles[index], () => code), html)
    .replace(/\n\s+/g, '\n')
    .replaceAll(' aria-hidden=true></i>', '></i>');
}

const english = JSON.parse(await readFile(`${root}src/words/en-US.json`, 'utf8'));

const catalogue = (name) => createRequire(import.meta.url)(`${root}dist/src/catalogue/${name}.js`);

/**
 * The words that the nodes, the tab "Cars" and the page of the demo cars share (src/words), in the
 * place in which each of them looks for its texts.
 */
const sharedWords = {
  'connected-vehicle-cars.json': (texts, { part, state, outcome, fault, demo, unit, word }) => ({
    ...texts,
    part: Object.fromEntries(
      Object.entries(part).map(([key, text]) => [key, text.charAt(0).toUpperCase() + text.slice(1)]),
    ),
    outcome,
    fault,
    unit,
    state: { ...state, ...texts.state },
    demo: { ...demo, ...texts.demo },
    word: { ...word, ...texts.word },
  }),
  // A form describes kinds of values, so it needs the words of booleans only.
  'connected-vehicle-status.json': (
    texts,
    { read, state: { locked }, unit, word: { open, closed, running, ...word } },
  ) => ({
    ...texts,
    read,
    unit,
    word: { open, closed, locked, running, 'not running': word['not running'] },
  }),
  'sentences.json': (texts, { part }) => ({
    ...texts,
    ...Object.fromEntries(Object.entries(part).map(([key, text]) => [english.part[key], text])),
  }),
  // A form can ask for a text only, not for an object. Only the help needs the descriptions of
  // properties that several nodes have. The catalogue of a language that the editor does not have
  // holds the name of the language alone.
  'connected-vehicle.json': ({ search, about: _about, ...texts }, { cause, command, service }) => ({
    ...texts,
    ...(search && {
      cause,
      command,
      service,
      search: {
        ...search,
        words: Object.entries(search.words)
          .map((pair) => pair.join(':'))
          .join(';'),
      },
    }),
  }),
  'runtime.json': (texts, { part, state: { locked, unlocked }, unit, word, cause, command, service, read }) => {
    const { readNames, titleOf } = catalogue('reads');
    const title = Object.fromEntries([...readNames, 'inOrder'].map((name) => [name, read[name] ?? titleOf(name)]));
    return {
      ...texts,
      command,
      service,
      status: { ...texts.status, failed: { ...texts.status.failed, ...cause } },
      part: { ...part, carLocked: part.lock },
      reading: { ...texts.reading, title, unit, word: { ...word, locked, unlocked } },
    };
  },
};

/**
 * The texts of each catalogue that only an open form or the tab "Cars" needs: no label of a node
 * and no reason of a validator is among them.
 */
const laterWords = {
  'connected-vehicle':
    'label placeholder heading hint demoCar polling units hours interface ask test scopes serviceHint interfaceHint interfaces access answer notAllowed place wholeFlow waits dialog',
  'connected-vehicle-cars':
    'label empty action group name use pictures side age heading remedy session quota command demo outcome fault unit log',
  'connected-vehicle-command': 'label choose other fromMessage whenBusy whenUnavailable readOnly does hint duration',
  'connected-vehicle-command-status': 'label hint',
  'connected-vehicle-condition': 'label match payload ask hint',
  'connected-vehicle-event': 'label heading hint',
  'connected-vehicle-guard': 'hint',
  'connected-vehicle-status':
    'emit payload ask one several gives hint single gone missing lacking noWallbox fromSource chosen',
};

/** Of these, what a form shows before they are loaded, and the reasons of validators. */
const wordsAtStart = ({ dialog, hint }) => ({
  dialog: { loading: dialog.loading, check: { unreached: dialog.check.unreached } },
  hint: { moreScopes: hint.moreScopes },
});

/** Divides a catalogue: what every editor loads, and what is loaded later. */
function divideWords(type, texts) {
  const isLater = (key) => laterWords[type]?.split(' ').includes(key) ?? false;
  const [now, later] = [false, true].map((wanted) =>
    Object.fromEntries(Object.entries(texts).filter(([key]) => isLater(key) === wanted)),
  );
  return { now: later.dialog ? { ...now, ...wordsAtStart(later) } : now, later };
}

/** Reads by the scopes that they need, for the help. */
function listOfReads() {
  const { readNames } = catalogue('reads');
  const { readScopes } = catalogue('scopes');
  const byScopes = {};
  for (const name of readNames) (byScopes[readScopes(name).slice(1).join('`, `')] ??= []).push(name);
  const lines = Object.entries(byScopes).map(([scopes, names]) => `- \`${names.join('`, `')}\`: \`${scopes}\``);
  return `<div class="car-names">\n\n${lines.join('\n')}\n\n</div>`;
}

/** Forms with their scripts, message catalogues, help and icons. */
async function buildEditor() {
  const shared = await bundleForBrowser('editor/index.ts', { globalName: 'connectedVehicle', minifySyntax: true });
  const moduleOf = (entry) => bundleForBrowser(entry, { format: 'esm', minifySyntax: true, plugins: [styleAsText] });
  const carsTab = await moduleOf('cars/panel/cars-tab.ts');
  await rm(`${root}resources`, { recursive: true, force: true });
  await mkdir(`${root}resources`);
  await writeFile(`${root}resources/connected-vehicle.js`, shared);
  await writeFile(`${root}resources/connected-vehicle-cars.mjs`, carsTab);
  const english = JSON.parse(await readFile(`${from}locales/en-US/connected-vehicle.json`, 'utf8'));
  const folders = JSON.parse(await readFile(`${from}folders.json`, 'utf8'));
  for (const [type, folder] of Object.entries(folders)) {
    // As an `iife`, esbuild adds what no script needs that loads a module later.
    const script = await bundleForBrowser(`${folder}/form.ts`, { format: 'esm', plugins: [apart(type)] });
    if (nodeTypes.includes(type))
      await writeFile(`${root}resources/${dialogOf(type)}`, await moduleOf(`${folder}/dialog.ts`));
    const form = await minifyForm(wholeForm(type, await readFile(`${from}${folder}/form.html`, 'utf8')));
    await writeFile(
      `${to}${type}.html`,
      `${form}<script type="text/javascript">\n(()=>{"use strict";${script.trim()}})();\n</script>\n`,
    );
  }
  await cp(`${from}locales`, `${to}locales`, { recursive: true });
  for (const language of await readdir(`${to}locales`)) {
    const folder = `${to}locales/${language}/`;
    const rewrite = async (file, change) =>
      writeFile(`${folder}${file}`, change(await readFile(`${folder}${file}`, 'utf8')));
    const words = JSON.parse(await readFile(`${root}src/words/${language}.json`, 'utf8'));
    const textsOf = async (type) => JSON.parse(await readFile(`${from}locales/${language}/${type}.json`, 'utf8'));
    const laterTexts = {};
    for (const file of await readdir(folder)) {
      if (file.endsWith('.html')) {
        const type = basename(file, '.html');
        const [texts, shared] = await Promise.all([type, 'connected-vehicle'].map(textsOf));
        const form = await readFile(`${from}${folders[type]}/form.ts`, 'utf8');
        await rewrite(file, (help) => withReleasedLinks(showTypes(fillHelp(help, texts, shared), form)));
      }
      if (file === 'connected-vehicle-status.html')
        await rewrite(file, (help) => help.replace('<!-- reads -->', listOfReads));
      if (!file.endsWith('.json')) continue;
      await rewrite(file, (text) => {
        const texts = JSON.parse(text);
        const type = basename(file, '.json');
        const { now, later } = divideWords(type, sharedWords[file]?.(texts, words) ?? texts);
        if (type in laterWords) laterTexts[type] = later;
        return JSON.stringify(now);
      });
    }
    // Sentences of the runtime name properties by their labels, in English if the
    // editor lacks the language.
    const { label = english.label } = await textsOf('connected-vehicle');
    await writeFile(`${folder}labels.json`, JSON.stringify(label));
    const laterFile = `${root}resources/connected-vehicle-words-${language}.json`;
    if (laterTexts['connected-vehicle-status']) await writeFile(laterFile, JSON.stringify(laterTexts));
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
      target: 'es2020',
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
    ['src/simulator/control', 'nodes'].map((folder) => writeFile(`${root}dist/${folder}/page.html`, whole)),
  );
}

/** Its time is when the last bundles were begun. */
const stamp = `${root}dist/.bundled`;

/** Whether a file or a folder (a file was removed) that goes into the bundles has changed since. */
async function haveSourcesChanged() {
  const bundledAt = (await stat(stamp).catch(() => null))?.mtimeMs ?? 0;
  const folders = ['src', 'nodes', 'icons', 'scripts'];
  const below = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(root + folder, { recursive: true })).map((name) => `${folder}/${name}`),
    ),
  );
  const times = ['package.json', 'package-lock.json', 'tsconfig.json', ...folders, ...below.flat()].map(
    async (name) => (await stat(root + name)).mtimeMs,
  );
  return Math.max(...(await Promise.all(times))) > bundledAt;
}

/** What was compiled of a source that is gone: Mocha would still run its tests. */
async function removeOutdated() {
  for (const folder of ['src', 'test'])
    for (const name of await readdir(`${root}dist/${folder}`, { recursive: true }))
      if (name.endsWith('.js') && !existsSync(`${root}${folder}/${name.replace(/js$/, 'ts')}`))
        await rm(`${root}dist/${folder}/${name}`);
}

if (!process.argv.includes('--changed')) await rm(`${root}dist`, { recursive: true, force: true });
const begun = new Date();
const isStale = await haveSourcesChanged();
await Promise.all([compile('tsconfig.json', 'node'), ...(isStale ? [compile('nodes/tsconfig.json', 'editor')] : [])]);
if (isStale) {
  await bundleRuntime();
  await Promise.all([buildEditor(), buildPage()]);
  await writeFile(stamp, '');
  await utimes(stamp, begun, begun);
}
await removeOutdated();
