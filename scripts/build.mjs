// Compiles src, nodes and test into dist, bundles what the nodes load into few files, and puts
// forms, message catalogues, help and icons where Node-RED looks for them: beside the compiled
// nodes. What the forms share and the panel of the tab "Cars" go to resources/. With --changed it
// compiles only what has changed since the last build.
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, resolve } from 'node:path';
import { build, transform } from 'esbuild';
import { withReleasedLinks } from './documents.mjs';
import { fillHelp, showTypes } from './fill-help.mjs';
import { wholeForm } from './form-rows.mjs';
import { jsonOf, root, runNode, textOf } from './checkout.mjs';

const from = `${root}nodes/`;
const to = `${root}dist/nodes/`;
const nodeTypes = Object.keys((await jsonOf('package.json'))['node-red'].nodes);

/** Compiles what has changed since the compiler wrote its build information. */
async function compile(project, name) {
  const info = ['--incremental', '--tsBuildInfoFile', `dist/.${name}.tsbuildinfo`];
  if (await runNode(['node_modules/typescript/bin/tsc', '-p', project, ...info]))
    throw new Error(`${project} does not compile`);
}

/**
 * What is loaded later has its own file: the runtime with the first node, the simulated service
 * with the first demo vehicle. Both load the errors from one file, because an error of one must be
 * an instance of the other's class.
 */
const filesOfTheirOwn = {
  name: 'files-of-their-own',
  setup({ onResolve }) {
    onResolve({ filter: /\/errors$/ }, ({ path, resolveDir }) =>
      resolve(resolveDir, path) === resolve(root, 'src/errors') ? { path: './errors.js', external: true } : undefined,
    );
    onResolve({ filter: /\/src\/simulator\/index$/ }, () => ({ path: './simulator.js', external: true }));
    onResolve({ filter: /^\.\.?\/runtime$/ }, () => ({ path: './runtime.js', external: true }));
  },
};

/**
 * The index of undici also loads fetch, WebSocket, mocks and caches, which nothing here uses. This
 * one has what `src/http/transport.ts` imports, and as in that index, each dispatcher gets the
 * method that `ProxyAgent` calls, which is loaded for the first proxy. The files for HTTP/2, SOCKS
 * and `FormData` become empty: the pack uses none of them.
 */
const undiciInUse = {
  name: 'undici-in-use',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'in-use' }));
    onLoad({ filter: /^undici$/, namespace: 'in-use' }, () => ({
      contents: `require('./lib/dispatcher/dispatcher').prototype.connect = require('./lib/api/api-connect');
module.exports = {
  buildConnector: require('./lib/core/connect'),
  Client: require('./lib/dispatcher/client'),
  Pool: require('./lib/dispatcher/pool'),
  get ProxyAgent() {
    return require('./lib/dispatcher/proxy-agent');
  },
};`,
      resolveDir: `${root}node_modules/undici`,
    }));
    const notInUse = /undici[\\/]lib[\\/](dispatcher[\\/](client-h2|socks5-proxy-agent)|web[\\/]fetch[\\/]body)\.js$/;
    onLoad({ filter: notInUse }, () => ({ contents: '' }));
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
  const packagesIn = Object.entries(metafile.outputs).map(([path, { inputs }]) => {
    const found = Object.keys(inputs).flatMap((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []);
    return [basename(path), [...new Set(found)].sort()];
  });
  const lines = packagesIn.flatMap(([file, names]) => (names[0] ? `${file} contains ${names.join(' and ')}.` : []));
  const licenses = [...new Set(packagesIn.flatMap(([, names]) => names))].map(
    async (name) => `${name}\n\n${await textOf(`node_modules/${name}/LICENSE`)}`,
  );
  await writeFile(`${to}LICENSES`, [lines.join('\n'), ...(await Promise.all(licenses))].join('\n\n'));
}

/**
 * What is loaded when it is first shown has its own file: the panel of the tab "Cars", and the
 * dialog of each node.
 */
const dialogOf = (type) => `${type}-dialog.mjs`;
const apart = (type) => ({
  name: 'apart',
  setup({ onLoad, onResolve }) {
    // A form exports nothing. Without this, esbuild would take one that imports nothing for
    // CommonJS.
    onLoad({ filter: /[\\/]form\.ts$/ }, async ({ path }) => ({
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
 * A script or the styles for a browser, in one file. Syntax of a form is not minified, because the
 * flow library reads the definitions with a parser.
 */
async function bundleForBrowser(entry, options) {
  const { outputFiles } = await build({
    entryPoints: [root + entry],
    write: false,
    bundle: true,
    format: 'esm',
    target: 'es2020',
    charset: 'utf8',
    packages: 'external',
    minifyWhitespace: true,
    minifyIdentifiers: true,
    minifySyntax: true,
    ...options,
  });
  return outputFiles[0].text;
}

/**
 * A form without the indentation of its lines, with minified styles, and with icons that the opened
 * form hides from screen readers.
 */
async function minifyForm(html) {
  const [style] = /(?<=<style>).*?(?=<\/style>)/s.exec(html) ?? [''];
  const { code } = await transform(style, { loader: 'css', minify: true });
  return html
    .replace(style, () => code)
    .replace(/\n\s+/g, '\n')
    .replaceAll(' aria-hidden=true></i>', '></i>');
}

const english = await jsonOf('src/words/en-US.json');

const catalogue = (name) => createRequire(import.meta.url)(`${root}dist/src/catalogue/${name}.js`);

/** Texts with those words of a language besides; a text of the catalogue goes before a word. */
const withWords = (texts, words, keys) => ({
  ...texts,
  ...Object.fromEntries(keys.split(' ').map((key) => [key, { ...words[key], ...texts[key] }])),
});
const mapValues = (object, change) => Object.fromEntries(Object.entries(object).map(change));

/**
 * The words that the nodes, the tab "Cars" and the page of the demo cars share (src/words), in the
 * place in which each of them looks for its texts.
 */
const sharedWords = {
  'connected-vehicle-cars.json'(texts, words) {
    const part = mapValues(words.part, ([key, text]) => [key, text.charAt(0).toUpperCase() + text.slice(1)]);
    return withWords(texts, { ...words, part }, 'part outcome fault unit state demo word');
  },
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
    ...mapValues(part, ([key, text]) => [english.part[key], text]),
  }),
  // A form can ask for a text only, not for an object. Only the help needs the descriptions of
  // properties that several nodes have. The catalogue of a language that the editor does not have
  // holds the name of the language alone.
  'connected-vehicle.json'({ search, about: _about, ...texts }, words) {
    if (search === undefined) return texts;
    const found = Object.entries(search.words).map((pair) => pair.join(':'));
    return { ...withWords(texts, words, 'cause command service'), search: { ...search, words: found.join(';') } };
  },
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
  const isLater = (key) => laterWords[type]?.split(' ').includes(key) === true;
  const entries = Object.entries(texts);
  const now = Object.fromEntries(entries.filter(([key]) => !isLater(key)));
  const later = Object.fromEntries(entries.filter(([key]) => isLater(key)));
  return { now: later.dialog ? { ...now, ...wordsAtStart(later) } : now, later };
}

/** Reads by the scopes that they need, for the help. */
function listOfReads() {
  const { interfaceNames, readNames } = catalogue('reads');
  const { scopesOfRead } = catalogue('scopes');
  const byScopes = {};
  for (const name of readNames) (byScopes[scopesOfRead(name, interfaceNames).join('`, `')] ??= []).push(name);
  const lines = Object.entries(byScopes).map(([scopes, names]) => `- \`${names.join('`, `')}\`: \`${scopes}\``);
  return `<div class="car-names">\n\n${lines.join('\n')}\n\n</div>`;
}

const folders = await jsonOf('nodes/folders.json');
const { label: englishLabels } = await jsonOf('nodes/locales/en-US/connected-vehicle.json');

/** Forms with their scripts. */
async function buildForms() {
  const toResources = async (file, entry, options) =>
    writeFile(`${root}resources/${file}`, await bundleForBrowser(`nodes/${entry}`, options));
  await rm(`${root}resources`, { recursive: true, force: true });
  await mkdir(`${root}resources`);
  await toResources('connected-vehicle.js', 'editor/index.ts', { format: 'iife', globalName: 'connectedVehicle' });
  await toResources('connected-vehicle-cars.mjs', 'cars/panel/cars-tab.ts', { plugins: [styleAsText] });
  for (const [type, folder] of Object.entries(folders)) {
    // Without `iife`, because esbuild then adds a wrapper for modules that are loaded later.
    const script = await bundleForBrowser(`nodes/${folder}/form.ts`, { minifySyntax: false, plugins: [apart(type)] });
    if (nodeTypes.includes(type)) await toResources(dialogOf(type), `${folder}/dialog.ts`, { plugins: [styleAsText] });
    const form = await minifyForm(wholeForm(type, await textOf(`nodes/${folder}/form.html`)));
    await writeFile(
      `${to}${type}.html`,
      `${form}<script type="text/javascript">\n(()=>{"use strict";${script.trim()}})();\n</script>\n`,
    );
  }
}

/** The help and the message catalogues of a language. */
async function buildTexts(language) {
  const folder = `${to}locales/${language}/`;
  const words = await jsonOf(`src/words/${language}.json`);
  const textsOf = (type) => jsonOf(`nodes/locales/${language}/${type}.json`);
  const shared = await textsOf('connected-vehicle');
  const laterTexts = {};
  for (const file of await readdir(folder)) {
    const type = file.replace(/\.\w+$/, '');
    const texts = await textsOf(type);
    if (file.endsWith('.html')) {
      const help = fillHelp(await readFile(folder + file, 'utf8'), texts, shared);
      const form = await textOf(`nodes/${folders[type]}/form.ts`);
      await writeFile(folder + file, withReleasedLinks(showTypes(help, form)).replace('<!-- reads -->', listOfReads));
    } else {
      const { now, later } = divideWords(type, sharedWords[file]?.(texts, words) ?? texts);
      if (type in laterWords) laterTexts[type] = later;
      await writeFile(folder + file, JSON.stringify(now));
    }
  }
  // Sentences of the runtime name properties by their labels, in English if the editor lacks the
  // language.
  await writeFile(`${folder}labels.json`, JSON.stringify(shared.label ?? englishLabels));
  const laterFile = `${root}resources/connected-vehicle-words-${language}.json`;
  if (laterTexts['connected-vehicle-status']) await writeFile(laterFile, JSON.stringify(laterTexts));
}

/** The page of the simulated service, in one file, beside each of the files that serve it. */
async function buildPage() {
  const page = 'src/simulator/page/';
  const [script, style] = await Promise.all(['page.ts', 'page.css'].map((file) => bundleForBrowser(page + file)));
  const html = (await textOf(`${page}index.html`))
    .replace('{{style}}', () => style.trim())
    .replace('{{script}}', () => script.trim());
  for (const folder of ['src/simulator/control', 'nodes']) await writeFile(`${root}dist/${folder}/page.html`, html);
}

/** What a former build compiled of a source that is gone: Mocha would still run its tests. */
async function removeOutdated() {
  for (const folder of ['src', 'test'])
    for (const name of await readdir(`${root}dist/${folder}`, { recursive: true }))
      if (name.endsWith('.js') && !existsSync(`${root}${folder}/${name.replace(/js$/, 'ts')}`))
        await rm(`${root}dist/${folder}/${name}`);
}

if (!process.argv.includes('--changed')) await rm(`${root}dist`, { recursive: true, force: true });
await Promise.all([compile('tsconfig.json', 'node'), compile('nodes/tsconfig.json', 'editor')]);
await removeOutdated();
await bundleRuntime();
await cp(`${from}locales`, `${to}locales`, { recursive: true });
await cp(`${root}icons`, `${to}icons`, { recursive: true });
await buildForms();
await Promise.all([...(await readdir(`${to}locales`)).map(buildTexts), buildPage()]);
