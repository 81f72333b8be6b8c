// Writes what the documents repeat from its one place: tables from the catalogue, the properties,
// inputs and outputs of a node from its help and its options, examples of messages from the
// transcripts of tests, sentences of errors from the source, what an example flow costs from its
// info, the drawing of the car into the example of a dashboard, and into the links of README.md the
// version: `npm run readme`. With --check it only reports whether they are up to date.
import { writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { build } from 'esbuild';
import { format, resolveConfig } from 'prettier';
import { toJSONSchema } from 'zod';
import { vehicleCredentials } from '../dist/nodes/runtime.js';
import { commandNames, commands } from '../dist/src/catalogue/commands.js';
import { groupedResources } from '../dist/src/catalogue/groups.js';
import { outcomes } from '../dist/src/catalogue/outcomes.js';
import * as catalogue from '../dist/src/catalogue/reads.js';
import { accessNames, scopesOfCommand, scopesOfRead, signInScopes } from '../dist/src/catalogue/scopes.js';
import { services } from '../dist/src/catalogue/services.js';
import { eventReads } from '../dist/src/events/types.js';
import { definition } from '../dist/test/support/editor-halves.js';
import { nodeOptions } from '../dist/test/support/node-options.js';
import { said } from '../dist/test/support/sentences.js';
import { filesBelow, jsonOf, root, textOf } from './checkout.mjs';
import { pageOfExample, withReleasedLinks } from './documents.mjs';
import { fillHelp } from './fill-help.mjs';

const { isReadName, partsOf, readNames, reads, resourceNames, titleOf, valueTypeOf } = catalogue;
const textsOf = (type) => jsonOf(`nodes/locales/en-US/${type}.json`);
const shared = await textsOf('connected-vehicle');
const words = await jsonOf('src/words/en-US.json');
const { gives, theme: themes } = await textsOf('connected-vehicle-status');

const code = (text) => `\`${text}\``;
const codes = (texts) => texts.map(code).join(', ');
const table = (header, rows) =>
  [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const listOf = (lines) =>
  [...new Set(lines)]
    .sort()
    .map((line) => `- ${line}`)
    .join('\n');
const numbers = new Intl.NumberFormat('en-US');
const interfacesOfVolvo = services['volvo-cars'].availableInterfaces;
const isAtVolvo = (name) => !isReadName(name) || catalogue.routeOf(name, interfacesOfVolvo) !== undefined;

/** The words that Volvo Cars has for a value, if it does not have those of every service. */
function wordsAtVolvo(name) {
  const { words: own, bulbs, several } = groupedResources[name] ?? {};
  if (own) return [...new Set(Object.values(own))];
  if (bulbs) return [...new Set(Object.values(bulbs)), several].filter((word) => word !== null);
  return valueTypeOf(name)?.values;
}

/** What a read gives, in the words of the form, with the fixed words of a service, and its unit. */
function valueOf(name, values = wordsAtVolvo(name)) {
  const type = valueTypeOf(name);
  if (name === 'wallboxCharging') return ['`true` = a charging session is open, `false` = none is', ''];
  // For a car that is not locked, the service reports `open`.
  const no = name === 'carLocked' ? words.state.unlocked : type?.words?.false;
  if (type?.words) return [`\`true\` = ${type.words.true}, \`false\` = ${no}`, ''];
  if (values) return [codes(values), ''];
  return type?.unit ? ['number', type.unit] : [gives[name] ?? gives.group, ''];
}

/** Which cars have a value: those with a tank, those with a battery to plug in, or all. */
function driveTrainOf(name) {
  const theme = isReadName(name) ? reads[name].theme : '';
  const isOfAll = ['fuel', 'distanceToEmpty'].includes(name);
  if (!isOfAll && (['fuel', 'engine'].includes(theme) || name === 'engineHoursToService')) return 'tank';
  return ['charging', 'wallbox'].includes(theme) ? 'battery' : 'all';
}

/**
 * The request that answers a read at Volvo Cars: reads with the same name there cost one together.
 */
function requestOf(name) {
  if (name === 'inOrder') return codes(partsOf(name));
  return catalogue.isKeptName(name) ? 'none' : code(catalogue.requestNameOf(name, interfacesOfVolvo));
}

const namesOf = (name) => [code(name), words.read[name] ?? titleOf(name)];

function readsOfTheme([theme, names]) {
  const rows = names.filter(isAtVolvo).map((name) => {
    const scopes = new Set(partsOf(name).flatMap((part) => scopesOfRead(part, interfacesOfVolvo)));
    return [...namesOf(name), ...valueOf(name), driveTrainOf(name), codes([...scopes]), requestOf(name)];
  });
  const header = ['name', 'in the form', 'values', 'unit', 'drive train', 'scope', 'request'];
  return `### ${themes[theme]}\n\n${table(header, rows)}`;
}

/** What only the extended interface has, and the words that only it has for other values. */
function demoReads() {
  const rows = resourceNames
    .map((name) => [name, ...valueOf(name, valueTypeOf(name).values)])
    .filter(([name, values]) => !isAtVolvo(name) || values !== valueOf(name)[0])
    .map(([name, ...value]) => [...namesOf(name), ...value, isAtVolvo(name) ? 'fewer words' : 'no']);
  return table(['name', 'in the form', 'values', 'unit', 'Volvo Cars'], rows);
}

async function events() {
  const { event } = await textsOf('connected-vehicle-event');
  const rows = Object.entries(event).map(([name, label]) => [code(name), label, codes(eventReads[name]) || 'none']);
  return table(['event', 'in the form', 'reads'], rows);
}

function scopes() {
  const { optional } = signInScopes(interfacesOfVolvo, { access: accessNames });
  const scopesOf = [
    readNames.map((name) => [name, scopesOfRead(name, interfacesOfVolvo)]),
    commandNames.map((name) => [name, scopesOfCommand(name, interfacesOfVolvo)]),
  ];
  // A scope that is asked for and that nothing uses yet is also listed.
  const all = [...scopesOf.flat().map(([, used]) => used), ...optional.map((asked) => asked.scopes)].flat();
  const rows = [...new Set(all)].sort().map((scope) => {
    const access = optional.find((asked) => asked.scopes.includes(scope))?.access;
    const served = scopesOf.map((names) =>
      codes(names.filter(([, used]) => used.includes(scope)).map(([name]) => name)),
    );
    return [code(scope), shared.access[access] ?? '', ...served];
  });
  return table(['scope', 'tick under *Allow*', 'reads', 'commands'], rows);
}

/** The text of the help of a node below a heading, or before the first one. */
async function help(type, heading) {
  const filled = fillHelp(await textOf(`nodes/locales/en-US/${type}.html`), await textsOf(type), shared);
  const [summary, ...parts] = /<script[^>]*>\n([\s\S]*?)<\/script>/.exec(filled)[1].split(/^### /m);
  const part = parts.find((one) => one.startsWith(`${heading}\n`))?.slice(heading.length) ?? '';
  return (
    (heading === 'Summary' ? summary : part)
      .replace(/^More in \[[^\n]*\n?/gm, '')
      // From a page in docs/nodes.
      .replaceAll('](docs/', '](../')
      .trim()
  );
}

/** Lines `: name (type) : meaning` of a help as a table. */
const withTables = (text, header, rowOf) =>
  text.replace(
    /(?:^: .+ : .+\n?)+/gm,
    (lines) => `\n${table(header, [...lines.matchAll(/^: \*?(.+?)\*? \(([^)]+)\) : (.+)$/gm)].map(rowOf))}\n`,
  );

async function members(type, heading) {
  // The page has its own examples.
  const text = (await help(type, heading)).replace(/^For example[^\n]*\n\n(?: {4}[^\n]*\n)+\n?/m, '');
  return withTables(text, ['property of the message', 'type', 'meaning'], ([, name, kind, meaning]) => [
    code(`msg.${name}`),
    kind.replaceAll('|', 'or'),
    meaning,
  ]);
}

/**
 * The options of a node, and the credentials of the vehicle: their JSON schemas, and their defaults
 * for a flow file without them.
 */
function optionsOf(type) {
  const found = [nodeOptions[type], ...(type === 'connected-vehicle' ? [vehicleCredentials] : [])];
  return {
    schemas: Object.assign({}, ...found.map((one) => toJSONSchema(one, { unrepresentable: 'any' }).properties)),
    old: Object.assign({}, ...found.map((one) => one.parse({}))),
  };
}

/** The values that an option can have, as far as its schema limits them. */
function allowedBy({ enum: values, items, minimum, maximum } = {}) {
  if (items?.enum) return ` Allowed: a list of ${codes(items.enum)}.`;
  if (values) return ` Allowed: ${codes(values.filter((value) => value !== ''))}.`;
  if (maximum < Number.MAX_SAFE_INTEGER) return ` Allowed: ${numbers.format(minimum)} to ${numbers.format(maximum)}.`;
  return minimum > 0 ? ` Allowed: at least ${minimum}.` : '';
}

/** A default as a flow file has it. */
function defaultOf(value) {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'object' && value !== null) return codes(Object.values(value));
  return (value ?? '') === '' ? '' : code(value);
}

/** Lines `: Label (name) : meaning` of a help as a table, with the options of the node. */
async function properties(type, heading) {
  const { schemas, old } = optionsOf(type);
  const { defaults } = definition(type);
  const rowOf = ([, label, name, meaning]) => {
    const inNew = defaultOf(name in defaults ? defaults[name].value : old[name]);
    const before = defaultOf(old[name]);
    // A flow file that is older than the property, or written by hand, may not have it.
    const isSame = before === inNew || name === 'apiKeyHeader' || name === 'mediaTypeVendor';
    const missing = isSame ? '' : ` in a new node; ${before || 'none'} in a flow without this property`;
    return [code(name), label, inNew + missing, meaning + allowedBy(schemas[name])];
  };
  return withTables(await help(type, heading), ['property', 'in the form', 'default', 'meaning'], rowOf);
}

const started = Date.parse('2026-11-21T17:40:00.000Z');

/**
 * A part of a transcript (test/transcripts), with an example for each placeholder of a value that
 * differs from run to run.
 */
const exampleOf = (part) =>
  JSON.parse(
    JSON.stringify(part)
      .replaceAll('<vin>', 'YV1PETROLR1CDEMO1')
      .replaceAll('<service>', 'https://api.volvocars.com')
      .replace(/<id (\d)>/g, '6f0d2c1e-93a4-4b7b-8c55-0e1f5a3b770$1')
      .replace(/T([+-]\d+)s/g, (_, seconds) => new Date(started + Number(seconds) * 1000).toISOString())
      .replace(/("elapsedMs":)"(\d+)[^"]*"/g, (_, key, seconds) => key + Number(seconds) * 1000),
    (key, value) => {
      if (key === '_msgid' || key === 'as it came') return undefined;
      return key === 'car' && typeof value === 'string' ? 'My Volvo' : value;
    },
  );

/** A message of a transcript. */
async function message(file, ...path) {
  const transcript = await jsonOf(`test/${file}.json`);
  const at = (names) => names.reduce((value, name) => value[name], transcript);
  const { status: _status, requests: _requests, ...example } = exampleOf(at(path));
  const { payload, vehicle } = example;
  // What a result node passes on of the record that it got.
  const came = at(path).payload?.['as it came'];
  if (came) {
    const record = exampleOf(at([...path.slice(0, -3), 'node', 'output 1', 0]));
    for (const name of came.split(', ')) payload[name] = record.payload[name];
  }
  if (payload?.text === '<sentence>') payload.text = `${words.command[payload.command]}: ${payload.reason}`;
  if (example.topic === '<set>')
    example.topic = payload.event ?? payload.type ?? (Array.isArray(vehicle.read) ? 'several' : vehicle.read);
  return `\`\`\`json\n${JSON.stringify(example)}\n\`\`\``;
}

/** The error codes of a sentence that its source does not name beside it, by its first words. */
const codesApart = {
  CONFIG: [
    'An age needs',
    'Condition {0} cannot be checked',
    'Did you mean',
    'The saved sign-in ',
    'The {0} contains a space',
    'There is no value “',
  ],
  INPUT_INVALID: [
    'A car does not charge with less',
    'An age needs',
    'Condition {0} cannot be checked',
    'Did you mean',
    'The address contains no sign-in code',
    'The client ID or an address of the service was changed',
    'The editor sent too many requests',
    'The help of the “car status” node',
    'The limit of the wallbox',
    'The sign-in took longer',
    'The vehicle configuration that this sign-in was started from',
    'There is no value “',
    'This address ',
    'This answer ',
    'This request is larger',
    '{0} cannot be evaluated. Correct',
  ],
  NETWORK: ['The sign-in service: {0}'],
  SCOPE_MISSING: ['The application was published without a scope'],
  SERVICE_ERROR: ['{0} The pack tries again automatically.'],
};
/** By sentence. */
const codesOf = new Map(said.flatMap((source) => [...source.codes].map(([template, code]) => [template, [code]])));
for (const template of said.flatMap(({ templates }) => templates)) {
  const beginsSo = (beginning) => template.startsWith(beginning);
  const apart = Object.keys(codesApart).filter((code) => codesApart[code].some(beginsSo));
  if (apart.length > 0) codesOf.set(template, apart);
}

/**
 * The sentences of error codes and of sources whose path begins so, each as a driver sees it: …
 * is what is filled in.
 */
function sentences(...groups) {
  // Those that are a clear success or failure of a command are in the table of its statuses.
  const elsewhere = new Set(Object.values(outcomes).map(({ sentence }) => sentence));
  const isAsked = (template, file) => {
    const isOfSource = (group) => group.includes('/') && file.startsWith(group);
    const isOfGroup = codesOf.get(template)?.some((code) => groups.includes(code)) ?? groups.some(isOfSource);
    return isOfGroup && !elsewhere.has(template);
  };
  const found = said.flatMap(({ file, templates }) => templates.filter((template) => isAsked(template, file)));
  return listOf(found.map((template) => template.replace(/(?:\{\d\})+/g, '…')));
}

/**
 * Texts of message catalogues: `connected-vehicle:reason` is what the catalogue of that name has
 * below that key.
 */
async function texts(...places) {
  const textsBelow = (found) => (typeof found === 'string' ? [found] : Object.values(found).flatMap(textsBelow));
  const found = places.map(async (place) => {
    const [type, keys] = place.split(':');
    return textsBelow(keys.split('.').reduce((at, key) => at[key], await textsOf(type)));
  });
  return listOf((await Promise.all(found)).flat().map((text) => text.replace(/__\w+__/g, '…')));
}

async function rewrite(path, change) {
  const before = await textOf(path);
  const after = await change(before);
  if (before === after) return;
  if (process.argv.includes('--check')) process.exitCode = 1;
  else await writeFile(root + path, after);
}

/** The example flows by the name of their tab, with their info. */
const examples = new Map();
for (const file of filesBelow('examples', '.json')) {
  const [{ info }] = await jsonOf(file);
  const [, about, cost] = /^(.*)\n\nRequests with your own Volvo, [^:]*: (.*)\.$/s.exec(info);
  examples.set(basename(file, '.json').slice(3), { folder: basename(dirname(file)), file, about, cost });
}

/**
 * How to import an example, what it costs, and its info but for the first paragraph and for what to
 * tick under _Allow_, which the page itself has.
 */
function recipe(name) {
  const { folder, file, about, cost } = examples.get(name);
  const address = `../../${file.split('/').map(encodeURIComponent).join('/')}`;
  const [, ...details] = about.replace(/\s*For your own car, [^.\n]*\bunder \*Allow\*[^.\n]*\./, '').split('\n\n');
  return [
    `**Import**: menu _☰_, _Import_, _Examples_, \`@connected-vehicle/node-red\`, _${folder}_, _${name}_. Or copy the text of the file:`,
    `[${name}.json](${address})`,
    `**Requests** with your own Volvo, out of 10,000 a day for each part of the service: ${cost}.`,
    ...(details.length > 0 ? ['## The flow', ...details] : []),
  ].join('\n\n');
}

/**
 * All examples with the first sentence of their pages. The anchor of a row is that of the section
 * that it was.
 */
async function recipes() {
  const rows = {};
  for (const [name, { folder, cost }] of examples) {
    const page = pageOfExample(name);
    const [, , text] = (await textOf(`docs/recipes/${page}.md`)).split('\n');
    const does = /^.*?[.](?= |$)/.exec(text)[0].replaceAll('](../', '](');
    (rows[folder] ??= []).push([`<a id="${page}"></a>[${name}](recipes/${page}.md)`, does, cost]);
  }
  return ['Basics', 'Watch', 'Command', 'Charging', 'Bridge']
    .map((folder) => `## ${folder}\n\n${table(['recipe', 'what it does', 'requests'], rows[folder])}`)
    .join('\n\n');
}

const parts = {
  reads: () => catalogue.readThemes().map(readsOfTheme).join('\n\n'),
  demoReads,
  events,
  commands: () =>
    table(
      ['command', 'in the form', 'scope besides `openid`', 'version 1'],
      commandNames.map((name) => {
        const { scopes: needed, routes } = commands[name];
        return [code(name), words.command[name], codes(needed), routes['connected-v1'] ? 'yes' : 'no'];
      }),
    ),
  scopes,
  outcomes: () =>
    table(
      ['request status', 'outcome', 'meaning'],
      Object.entries(outcomes).map(([status, { outcome, sentence }]) => [code(status), code(outcome), sentence]),
    ),
  texts,
  properties,
  members,
  help,
  message,
  sentences,
  recipe,
  recipes,
};

const drawing = await build({
  entryPoints: [`${root}src/drawing/car-view.ts`],
  bundle: true,
  format: 'esm',
  write: false,
});
const { carSvg } = await import(`data:text/javascript,${encodeURIComponent(drawing.outputFiles[0].text)}`);
await rewrite('examples/Bridge/03 A page with Dashboard 2.json', (text) => {
  const template = JSON.parse(text).find(({ name }) => name === 'Drawing');
  return text.replace(JSON.stringify(template), () => JSON.stringify({ ...template, template: carSvg() }));
});
await rewrite('README.md', withReleasedLinks);

/**
 * A part that is written here: what it is, and the names that it needs, in quotes if they have
 * spaces.
 */
const generated = /(<!-- generated (\w+)(.*?) -->)[\s\S]*?(<!-- end -->)/g;

const config = { ...(await resolveConfig(`${root}docs`)), parser: 'markdown' };

for (const file of filesBelow('docs', '.md').filter((name) => !name.includes('node_modules')))
  await rewrite(file, async (text) => {
    // Formatting the rest as well would be most of the work, and `npm run lint` checks it.
    const written = [...text.matchAll(generated)].map(async ([, , name, given]) => {
      const names = [...given.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain);
      return (await format(await parts[name](...names), config)).trimEnd();
    });
    const found = await Promise.all(written);
    return text.replace(generated, (_, begin, _name, _given, end) => [begin, found.shift(), end].join('\n\n'));
  });
