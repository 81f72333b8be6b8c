// What a browser gets: each editor half folded into its html, the dialog, words, help and icons, all of it small, because every
// editor loads all of it. What it takes together is measured in test/support/browser-bytes.ts.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const from = `${root}nodes/`;
const to = `${root}dist/nodes/`;
const read = (file) => readFile(file, 'utf8');

/** One of the compiled tables. */
const table = (name) => createRequire(import.meta.url)(`${root}dist/src/catalogue/${name}.js`);

/** The versions of the connected interface that serve something, without paths and media types. */
const versions = (routes) =>
  Object.fromEntries(
    Object.entries(routes).map(([name, { unlisted }]) => [name.replace('connected-', ''), { unlisted }]),
  );

/** As many words as a person reads in a form; README.md has all of them. */
const someOf = (values) => (values.length > 8 ? [...values.slice(0, 6), '…'] : values).join(', ');

/** Reads by theme, as `PackedRead` has them; neighbours that differ in nothing but their name stand in one row. */
function readThemes() {
  const { connectedReads, resources, themes } = table('reads');
  const { groupedResources } = table('groups');
  const found = { connected: [], ...Object.fromEntries(themes.map((theme) => [theme, []])) };
  const add = (theme, name, ...row) => {
    while (!row.at(-1)) row.pop();
    const [names, ...last] = found[theme].at(-1) ?? [];
    if (JSON.stringify(last) === JSON.stringify(row)) found[theme].at(-1)[0] = `${names} ${name}`;
    else found[theme].push([name, ...row]);
  };
  for (const [name, { scopes, routes }] of Object.entries(connectedReads))
    add('connected', name, scopes.join(' '), versions(routes));
  for (const [name, { theme, scope, unit = '', values = [], words }] of Object.entries(resources)) {
    add(theme, name, scope, 0, groupedResources[name]?.group ?? '', unit, someOf(values), words?.true, words?.false);
  }
  return found;
}

/** What the forms need of tables that are too heavy for them (nodes/shared/editor/red.d.ts). */
function digests() {
  const { groupedResources, groups } = table('groups');
  const used = new Set(Object.values(groupedResources).map(({ group }) => group));
  const pick = (rows, column) => Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, column(row)]));
  const tables = {
    ABBREVIATIONS: [...abbreviations].reverse(),
    ALIVE: pick(table('services').services, ({ alive }) => alive),
    READS: readThemes(),
    GROUPS: pick(Object.fromEntries(Object.entries(groups).filter(([name]) => used.has(name))), ({ scopes }) => scopes),
    COMMANDS: pick(table('commands').commands, ({ scopes, routes }) => [scopes.join(' '), versions(routes)]),
  };
  // The interfaces of the scopes are one letter each; a form spells them out (nodes/shared/editor/forms.ts).
  return pick(tables, (rows) => JSON.stringify(rows).replace(/\b(conve|exve):/g, (scope) => `${scope[0]}:`));
}

/** The kit as it is written (nodes/shared/editor/kit.ts), and the short names under which the bundles hand its functions to each other. */
const kit = await read(`${from}shared/editor/kit.ts`);
const kitFiles = [...kit.matchAll(/from '\.\/(\w+)'/g)].map(([, file]) => file);
const kitNames = /export const kit = \{(.*?)\}/s
  .exec(kit)[1]
  .match(/\w+/g)
  .map((name, index) => [name, `k${index.toString(36)}`]);

const lendKit = {
  name: 'lend-kit',
  setup({ onLoad }) {
    const lent = kitNames.map(([name, short]) => `${short}: ${name}`).join();
    onLoad({ filter: /\/editor\/kit\.ts$/ }, () => ({
      loader: 'ts',
      contents: kit.replace(/(export const kit = \{)[^}]*/, (_, start) => start + lent),
    }));
  },
};

/** In every bundle but the configuration's, a call of the kit in place of each function that the kit has. */
const borrowKit = {
  name: 'borrow-kit',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^\\./(shared/editor/)?(${kitFiles.join('|')})$`) }, ({ importer }) =>
      importer.startsWith(`${root}src/`) ? undefined : { path: 'kit', namespace: 'kit' },
    );
    const borrow = `const borrow = (name) => (...values) => RED.nodes.getType('connected-vehicle')?.kit[name](...values);`;
    const borrowed = kitNames.map(([name, short]) => `export const ${name} = /* @__PURE__ */ borrow('${short}');`);
    onLoad({ filter: /^kit$/, namespace: 'kit' }, () => ({ contents: [borrow, ...borrowed].join('\n') }));
  },
};

/** What a parser looks for stays as people write it: `true`, not `!0`. */
const plainFlags = (code) =>
  code.replace(/(\w?)!([01])\b/g, (_, before, flag) => `${before && `${before} `}${flag === '0'}`);

async function bundle(entry, options) {
  const { outputFiles } = await build({
    entryPoints: [`${from}${entry}`],
    bundle: true,
    write: false,
    target: 'es2020',
    charset: 'utf8',
    packages: 'external',
    minify: true,
    tsconfigRaw: '{}',
    ...options,
  });
  return outputFiles[0].text.trim();
}

/** Elements around which a blank shows nothing. */
const block = '(?:/?(?:div|h4|details|summary|option|style|script)|/select)\\b[^>]*';

/** Html without indentation, without blanks around blocks, and without the quotes that it does not need; Node-RED itself looks for those of a script. */
const squeeze = (html) =>
  html
    .replace(/\s*\n\s*/g, '\n')
    .replace(new RegExp(`\\n?(<${block}>)\\n?`, 'g'), '$1')
    .replace(/<\/option>/g, '')
    .replace(/<(?!script)\w[^>]*>/g, (tag) => tag.replace(/="([^\s"'=<>`]+)"/g, '=$1'))
    .trim();

/**
 * What stands in the forms again and again, and the sign that the browser gets in its place; it spells them out again
 * (nodes/shared/editor/templates.ts). A text may hold the signs above it. No form uses any of the signs for itself.
 */
const abbreviations = Object.entries({
  '#': '@connected-vehicle/node-red/connected-vehicle:',
  '?': '<option value=auto data-i18n=#interface.auto><option value=v2 data-i18n=#interface.v2><option value=v1 data-i18n=#interface.v1></select></div><div class=hint data-part=interface role=status></div>',
  '|': '<i class="fa fa-tag"></i> <span data-i18n=node-red:common.label.name></span></label>\n<input type=text id=',
  "'": ' data-i18n=[placeholder]node-red:common.label.name></div>',
  '}': '>\n<span data-i18n=#label.seconds></span></div>',
  '~': '<div class=form-row><label for=node-',
  '!': '\n<input type=',
  '§': '>\n<label for=node-input-',
  '¶': ' role=status',
  _: '!text inputmode=numeric class=number',
  '{': '<button type=button class=red-ui-button data-ask=',
  '+': '<option value=',
  ';': ' data-i18n=',
  '*': ' id=node-input-',
  $: ' id=node-config-input-',
  '`': '></div>',
  '&': ' data-part=',
  '\\': 'placeholder',
  ',': '<div class=hint',
});

/** In a form with its signs, a row whose label is called after its property: all that it tells is property, icon and kind of field. */
const row =
  /~(?:config-)?input-(\w+)(?:><i class="fa fa-([\w-]+)"><\/i> <span;(#?)label\.\1><\/span>|;label\.\1>)<\/label>([^*$]*[*$])\1\b/g;

/** @throws where the browser would not come back to the same form, or would spell out what is spelled out */
async function abbreviate(form) {
  const short = abbreviations
    .reduce((text, [sign, spelled]) => text.replaceAll(spelled, () => sign), form)
    .replace(row, (_, name, icon = '', shared = '', field) => `^${shared}${name}^${icon}^${field}`);
  const { spellOut } = await import(
    `data:text/javascript,${encodeURIComponent(await bundle('shared/editor/templates.ts', { format: 'esm', define: digests() }))}`
  );
  if (spellOut(short) !== form || spellOut(form) !== form)
    throw new Error('A form uses a sign that abbreviates something');
  return short;
}

/** `<type>.html` and the bundle of `<type>.editor.ts` in one html. */
async function foldForm(type) {
  const plugins = [type === 'connected-vehicle' ? lendKit : borrowKit];
  const code = await bundle(`${type}.editor.ts`, { format: 'iife', define: digests(), plugins });
  const html = await read(`${from}${type}.html`);
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(html) ?? [];
  const { code: css } = await transform(style, { loader: 'css', minify: true });
  const [, start, form, end] = /^(.*<script type="text\/html"[^>]*>)(.*)(<\/script>)$/s.exec(
    squeeze(html.replace(style, () => css)),
  );
  await writeFile(
    `${to}${type}.html`,
    `${start}${await abbreviate(form)}${end}<script type="text/javascript">${plainFlags(code)}</script>`,
  );
}

/** The names to read by the scopes that they need, from the table that the nodes read from. */
function listOfReads() {
  const { readNames, readScopes } = table('reads');
  const byScopes = {};
  for (const name of readNames) (byScopes[readScopes(name).slice(1).join('`, `')] ??= []).push(name);
  return Object.entries(byScopes)
    .map(([scopes, names]) => `- \`${names.join(', ')}\`: \`${scopes}\``)
    .join('\n');
}

const wordsOf = async (language, name) => JSON.parse(await read(`${from}locales/${language}/${name}.json`));

/** One language: message catalogues without their blanks, help with the list of reads, and what a dialog loads when it is opened. */
async function translate(language) {
  const folder = `${to}locales/${language}/`;
  await mkdir(folder, { recursive: true });
  for (const file of await readdir(`${from}locales/${language}`)) {
    // The dialog brings its own words.
    if (file === 'dialog.json') continue;
    const text = await read(`${from}locales/${language}/${file}`);
    await writeFile(
      `${folder}${file}`,
      file.endsWith('.json') ? JSON.stringify(JSON.parse(text)) : text.replace('<!-- reads -->', listOfReads),
    );
  }
  const words = { ...(await wordsOf('en-US', 'dialog')), ...(await wordsOf(language, 'dialog')) };
  const nested = {};
  for (const [key, text] of Object.entries(words))
    key.split('.').reduce((at, part, index, { length }) => (at[part] ??= index < length - 1 ? {} : text), nested);
  await writeFile(
    `${folder}dialog.js`,
    await bundle('shared/editor/vehicle-dialog.ts', {
      format: 'esm',
      define: { DIALOG_WORDS: JSON.stringify(nested) },
      plugins: [borrowKit],
    }),
  );
}

async function copyIcon(file) {
  await writeFile(`${to}icons/${file}`, (await read(`${root}icons/${file}`)).replace(/\s*\n\s*/g, ''));
}

/** Folds all that a browser gets. */
export async function foldForms() {
  const types = (await readdir(from)).filter((file) => file.endsWith('.html')).map((file) => basename(file, '.html'));
  await mkdir(`${to}icons`, { recursive: true });
  await Promise.all([
    ...types.map(foldForm),
    ...(await readdir(`${from}locales`)).map(translate),
    ...(await readdir(`${root}icons`)).map(copyIcon),
  ]);
}
