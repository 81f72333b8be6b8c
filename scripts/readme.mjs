// Writes what the documents repeat from its one place: tables from the catalogue, the properties,
// inputs and outputs of a node from its help and its options, examples of messages from the
// transcripts of tests, sentences of errors from the source, what the example flows cost from
// their nodes (also into their infos), the drawing of the car into the example of a dashboard, and
// into the links of README.md the version: `npm run readme`. With --check it only reports whether
// they are up to date.
import { fillHelp } from './fill-help.mjs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { format, resolveConfig } from 'prettier';
import * as runtime from '../dist/nodes/runtime.js';
import { commandNames, commands } from '../dist/src/catalogue/commands.js';
import { groupedResources } from '../dist/src/catalogue/groups.js';
import { outcomes } from '../dist/src/catalogue/outcomes.js';
import {
  isKeptName,
  isReadName,
  partsOf,
  readNames,
  readThemes,
  reads,
  requestNameOf,
  resourceNames,
  routeOf,
  titleOf,
  valueTypeOf,
} from '../dist/src/catalogue/reads.js';
import { accessNames, scopesOfCommand, scopesOfRead, signInScopes } from '../dist/src/catalogue/scopes.js';
import { services } from '../dist/src/catalogue/services.js';
import { eventReads } from '../dist/src/events/types.js';
import { definition } from '../dist/test/support/editor-halves.js';
import { demoRows, shownOf } from '../dist/test/support/demo-answers.js';
import { said } from '../dist/test/support/sentences.js';
import { pageOfExample, withReleasedLinks } from './documents.mjs';

const pathTo = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const jsonOf = async (path) => JSON.parse(await readFile(pathTo(path), 'utf8'));
const allowTexts = (await jsonOf('nodes/locales/en-US/connected-vehicle.json')).access;
const words = await jsonOf('src/words/en-US.json');
const { gives, theme: themes } = await jsonOf('nodes/locales/en-US/connected-vehicle-status.json');

const code = (text) => `\`${text}\``;
const table = (header, rows) =>
  [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const listOf = (lines) =>
  [...new Set(lines)]
    .sort()
    .map((line) => `- ${line}`)
    .join('\n');
const numbers = new Intl.NumberFormat('en-US');
const interfacesOfVolvo = services['volvo-cars'].availableInterfaces;

/**
 * The words that can come from Volvo Cars: those to which its own are translated, or
 * those of every service.
 */
function wordsOf(name) {
  const row = groupedResources[name];
  if (row?.words) return [...new Set(Object.values(row.words))];
  if (row?.bulbs) return [...new Set(Object.values(row.bulbs)), row.several].filter((word) => word !== null);
  return valueTypeOf(name)?.values;
}

const isAtVolvo = (name) => !isReadName(name) || routeOf(name, interfacesOfVolvo) !== undefined;

/**
 * What a read gives, in the words of the form, with the fixed words of the service, and its unit.
 */
function valueOf(name, values = wordsOf(name)) {
  const type = valueTypeOf(name);
  if (name === 'wallboxCharging') return ['`true` = a charging session is open, `false` = none is', ''];
  // For a car that is not locked, the service reports `open`.
  if (type?.words)
    return [
      `\`true\` = ${type.words.true}, \`false\` = ${name === 'carLocked' ? words.state.unlocked : type.words.false}`,
      '',
    ];
  if (values) return [values.map(code).join(', '), ''];
  if (type?.unit) return ['number', type.unit];
  return [gives[name] ?? gives.group, ''];
}

/** Which cars have a value: those with a tank, those with a battery to plug in, or all. */
function driveTrainOf(name) {
  const theme = isReadName(name) ? reads[name].theme : '';
  const isOfAll = ['fuel', 'distanceToEmpty'].includes(name);
  if (!isOfAll && (['fuel', 'engine'].includes(theme) || name === 'engineHoursToService')) return 'tank';
  return ['charging', 'wallbox'].includes(theme) ? 'battery' : 'all';
}

/** The answers of the demo cars beside the recorded ones of the vendor's demo car. */
async function demoCars() {
  const rows = (await demoRows()).map(({ path, member, recorded, petrol, electric }) => [
    code(path === '' ? '/vehicles/{vin}' : path),
    code(member),
    ...[recorded, petrol, electric].map((value) => shownOf(value)),
  ]);
  return table(['answer', 'member', 'vendor’s demo car', 'petrol car of the demo', 'electric car of the demo'], rows);
}

/**
 * The request that answers a read at Volvo Cars: reads with the same name there cost one together.
 */
function requestOf(name) {
  if (name === 'inOrder') return partsOf(name).map(code).join(', ');
  return isKeptName(name) ? 'none' : code(requestNameOf(name, interfacesOfVolvo));
}

/** The text of the help of a node below a heading, or before the first one. */
async function helpOf(type, heading) {
  const read = (file) => readFile(pathTo(`nodes/locales/en-US/${file}`), 'utf8');
  const [texts, shared] = await Promise.all(
    [type, 'connected-vehicle'].map(async (one) => JSON.parse(await read(`${one}.json`))),
  );
  const [, help] = /<script[^>]*>\n([\s\S]*?)<\/script>/.exec(fillHelp(await read(`${type}.html`), texts, shared));
  const parts = help.split(/^### /m);
  const part = heading === 'Summary' ? parts[0] : parts.find((one) => one.startsWith(`${heading}\n`));
  return (
    (part ?? '')
      .slice(heading === 'Summary' ? 0 : heading.length)
      .replace(/^More in \[[^\n]*\n?/gm, '')
      // From a page in docs/nodes.
      .replaceAll('](docs/', '](../')
      .trim()
  );
}

/** The schema inside of its default and its conversion. */
function innermost(schema) {
  const { def } = schema._zod;
  return def.type === 'default' ? innermost(def.innerType) : def.type === 'pipe' ? innermost(def.out) : def;
}

/** The values that the options of a node allow a property, as far as they limit them. */
function rangeOf(schema) {
  const { type, entries, checks = [], element } = innermost(schema);
  if (type === 'array' && element._zod.def.entries)
    return `a list of ${Object.values(element._zod.def.entries).map(code).join(', ')}.`;
  if (entries)
    return `${Object.values(entries)
      .filter((value) => value !== '')
      .map(code)
      .join(', ')}.`;
  const limit = (check) => checks.map(({ _zod: { def } }) => def).find((def) => def.check === check)?.value;
  const most = limit('less_than') ?? Number.MAX_SAFE_INTEGER;
  const least = limit('greater_than');
  if (least === undefined) return '';
  return most < Number.MAX_SAFE_INTEGER
    ? `${numbers.format(least)} to ${numbers.format(most)}.`
    : least > 0
      ? `at least ${least}.`
      : '';
}

/**
 * The options of a node, and the credentials of the vehicle: their shapes, and their defaults for a
 * flow file without them.
 */
function optionsOf(type) {
  const [, first = 'vehicle', last = ''] = /-vehicle-(\w+)(?:-(\w+))?$/.exec(type) ?? [];
  const name = first + last.charAt(0).toUpperCase() + last.slice(1);
  const found = [runtime[`${name}Options`], ...(name === 'vehicle' ? [runtime.vehicleCredentials] : [])];
  return {
    shapes: Object.assign({}, ...found.map((one) => one._zod.def.getter()._zod.def.shape)),
    old: Object.assign({}, ...found.map((one) => one.parse({}))),
  };
}

/** A default as a flow file has it. */
function defaultOf(value) {
  if (value === false) return 'off';
  if (value === true) return 'on';
  const text =
    typeof value === 'object' && value !== null ? Object.values(value).map(code).join(', ') : String(value ?? '');
  return text === '' ? '' : typeof value === 'object' ? text : code(text);
}

/**
 * Lines `: Label (name) : meaning` of a help as a table; with the options of the node also the
 * default, and the values that are allowed.
 */
async function properties(type, heading) {
  const help = await helpOf(type, heading);
  const { shapes, old } = optionsOf(type);
  const { defaults } = definition(type);
  const lineOf = /^: (.+) \((\w+)\) : (.+)$/;
  return help.replace(/(?:^: .+ : .+\n?)+/gm, (lines) => {
    const rows = lines
      .trim()
      .split('\n')
      .map((line) => {
        const [, label, name, meaning] = lineOf.exec(line);
        const inNew = defaultOf(name in defaults ? defaults[name].value : old[name]);
        const before = defaultOf(old[name]);
        // A flow file that is older than the property, or written by hand, may not have it.
        const missing =
          before === inNew || name === 'apiKeyHeader' || name === 'mediaTypeVendor'
            ? ''
            : ` in a new node; ${before || 'none'} in a flow without this property`;
        const allowed = name in shapes ? rangeOf(shapes[name]) : '';
        return [code(name), label, inNew + missing, allowed ? `${meaning} Allowed: ${allowed}` : meaning];
      });
    return `${table(['property', 'in the form', 'default', 'meaning'], rows)}\n`;
  });
}

/** Lines `: name (type) : meaning` of a help as a table. */
async function members(type, heading) {
  // The page has its own examples.
  const help = (await helpOf(type, heading)).replace(/^For example[^\n]*\n\n(?: {4}[^\n]*\n)+\n?/m, '');
  return help.replace(/(?:^: .+ : .+\n?)+/gm, (lines) => {
    const rows = lines
      .trim()
      .split('\n')
      .map((line) => /^: \*?(\w+)\*? \(([^)]+)\) : (.+)$/.exec(line))
      .map(([, name, kind, meaning]) => [code(`msg.${name}`), kind.replaceAll('|', 'or'), meaning]);
    return `\n${table(['property of the message', 'type', 'meaning'], rows)}\n`;
  });
}

const transcripts = new Map();
const started = Date.parse('2026-11-21T17:40:00.000Z');

/**
 * A message of a transcript (test/transcripts), with an example for each placeholder of a value
 * that differs from run to run.
 */
async function message(file, ...path) {
  if (!transcripts.has(file)) transcripts.set(file, await jsonOf(`test/${file}.json`));
  const at = (names) => names.reduce((value, name) => value[name], transcripts.get(file));
  const found = at(path);
  const left = new Set(['_msgid', 'as it came']);
  const exampleOf = (value, key) => {
    if (Array.isArray(value)) return value.map((one) => exampleOf(one));
    if (typeof value === 'object' && value !== null) {
      const isLeft = (name) => left.has(name) || (value === found && ['status', 'requests'].includes(name));
      const members = Object.entries(value).filter(([name]) => !isLeft(name));
      return Object.fromEntries(members.map(([name, one]) => [name, exampleOf(one, name)]));
    }
    if (typeof value !== 'string') return value;
    if (key === 'elapsedMs') return Number.parseInt(value, 10) * 1000;
    if (key === 'car') return 'My Volvo';
    return value
      .replaceAll('<vin>', 'YV1PETROLR1CDEMO1')
      .replaceAll('<service>', 'https://api.volvocars.com')
      .replace(/<id (\d)>/g, '6f0d2c1e-93a4-4b7b-8c55-0e1f5a3b770$1')
      .replace(/T([+-]\d+)s/g, (_, seconds) => new Date(started + Number(seconds) * 1000).toISOString());
  };
  const example = exampleOf(found);
  const { payload, vehicle } = example;
  // What a result node passes on of the record that it got.
  const came = found.payload?.['as it came'];
  if (came) {
    const record = exampleOf(at([...path.slice(0, -3), 'node', 'output 1', 0]));
    for (const name of came.split(', ')) payload[name] = record.payload[name];
  }
  if (payload?.text === '<sentence>') payload.text = `${words.command[payload.command]}: ${payload.reason}`;
  if (example.topic === '<set>')
    example.topic = payload.event ?? payload.type ?? (Array.isArray(vehicle.read) ? 'several' : vehicle.read);
  return `\`\`\`json\n${JSON.stringify(example)}\n\`\`\``;
}

/**
 * Where a sentence is listed: below the code that its source names, or below
 * the path of the source.
 */
const codes = new Map(said.flatMap((source) => [...source.codes]));

/**
 * The sentences of error codes and of sources whose path begins so, each as a driver sees it: …
 * is what is filled in.
 */
function sentences(...groups) {
  // Those that are a clear success or failure of a command are in the table of its statuses.
  const elsewhere = new Set(Object.values(outcomes).map(({ sentence }) => sentence));
  const isAsked = (template, file) => {
    const group = codes.get(template) ?? groups.find((path) => path.includes('/') && file.startsWith(path));
    return groups.includes(group) && !elsewhere.has(template);
  };
  const found = said.flatMap(({ file, templates }) => templates.filter((template) => isAsked(template, file)));
  return listOf(found.map((template) => template.replace(/(?:\{\d\})+/g, '…')));
}

const tables = {
  reads: () =>
    readThemes()
      .map(([theme, names]) => {
        const rows = names.filter(isAtVolvo).map((name) => {
          const scopes = [...new Set(partsOf(name).flatMap((part) => scopesOfRead(part, interfacesOfVolvo)))];
          const [values, unit] = valueOf(name);
          return [
            code(name),
            words.read[name] ?? titleOf(name),
            values,
            unit,
            driveTrainOf(name),
            scopes.map(code).join(', '),
            requestOf(name),
          ];
        });
        const header = ['name', 'in the form', 'values', 'unit', 'drive train', 'scope', 'request'];
        return `### ${themes[theme]}\n\n${table(header, rows)}`;
      })
      .join('\n\n'),
  /** What only the extended interface has, and the words that only it has for other values. */
  demoReads: () => {
    const rows = resourceNames
      .map((name) => [name, ...valueOf(name, valueTypeOf(name).values)])
      .filter(([name, values]) => !isAtVolvo(name) || values !== valueOf(name)[0]);
    return table(
      ['name', 'in the form', 'values', 'unit', 'Volvo Cars'],
      rows.map(([name, values, unit]) => [
        code(name),
        words.read[name] ?? titleOf(name),
        values,
        unit,
        isAtVolvo(name) ? 'fewer words' : 'no',
      ]),
    );
  },
  events: async () => {
    const { event } = await jsonOf('nodes/locales/en-US/connected-vehicle-event.json');
    return table(
      ['event', 'in the form', 'reads'],
      Object.entries(event).map(([name, label]) => [
        code(name),
        label,
        eventReads[name].map(code).join(', ') || 'none',
      ]),
    );
  },
  commands: () =>
    table(
      ['command', 'in the form', 'scope besides `openid`', 'version 1'],
      commandNames.map((name) => [
        code(name),
        words.command[name],
        commands[name].scopes.map(code).join(', '),
        commands[name].routes['connected-v1'] ? 'yes' : 'no',
      ]),
    ),
  scopes: () => {
    const { optional } = signInScopes(interfacesOfVolvo, { access: accessNames });
    const scopesOf = {
      reads: new Map(readNames.map((name) => [name, scopesOfRead(name, interfacesOfVolvo)])),
      commands: new Map(commandNames.map((name) => [name, scopesOfCommand(name, interfacesOfVolvo)])),
    };
    const served = (kind, scope) =>
      [...scopesOf[kind]].filter(([, scopes]) => scopes.includes(scope)).map(([name]) => code(name));
    const used = Object.values(scopesOf).flatMap((kind) => [...kind.values()].flat());
    // A scope that is asked for and that nothing uses yet is also listed.
    const all = new Set([...used, ...optional.flatMap(({ scopes }) => scopes)]);
    const rows = [...all].sort().map((scope) => {
      const access = optional.find(({ scopes }) => scopes.includes(scope))?.access;
      return [
        code(scope),
        allowTexts[access] ?? '',
        served('reads', scope).join(', '),
        served('commands', scope).join(', '),
      ];
    });
    return table(['scope', 'tick under *Allow*', 'reads', 'commands'], rows);
  },
  outcomes: () =>
    table(
      ['request status', 'outcome', 'meaning'],
      Object.entries(outcomes).map(([status, { outcome, sentence }]) => [code(status), code(outcome), sentence]),
    ),
  quota: () => {
    const status = (read, poll) => ({ type: 'connected-vehicle-status', read, poll });
    const names = ['unlocked', 'door-opened', 'window-opened', 'trip-ended', 'charging-done'];
    const events = (poll) => ({ type: 'connected-vehicle-event', poll, events: names });
    const nodes = {
      '*car status*, all windows, every 120 seconds': status('windows', 120),
      '*car status*, all windows, every 300 seconds': status('windows', 300),
      '*car status*, charging, every 300 seconds': status('charging', 300),
      '*car guard*, windows, doors and lock, every 120 seconds': {
        type: 'connected-vehicle-guard',
        poll: 120,
        watch: ['window', 'door', 'lock'],
      },
      '*car event*, unlocked, a door or a window opened, trip ended, charging done, every 120 seconds': events(120),
      'the same every 15 seconds: too many': events(15),
    };
    const rows = Object.entries(nodes).map(([name, node]) => {
      const calls = Object.entries(callsOfNodes([{ id: 'a', vehicle: 'car', ...node }])).filter(
        ([, count]) => count > 0,
      );
      return [name, calls.map(([api, count]) => `${numbers.format(count)} (${quotas[api]})`).join('; ')];
    });
    return table(['node', 'requests a day'], rows);
  },
  /**
   * Texts of message catalogues: `connected-vehicle:reason` is what the catalogue of that
   * name has below that key.
   */
  texts: async (...places) => {
    const textsBelow = (found) => (typeof found === 'string' ? [found] : Object.values(found).flatMap(textsBelow));
    const textsAt = async (place) => {
      const [file, keys] = place.split(':');
      const catalogue = await jsonOf(`nodes/locales/en-US/${file}.json`);
      return textsBelow(keys.split('.').reduce((at, key) => at[key], catalogue));
    };
    const texts = (await Promise.all(places.map(textsAt))).flat();
    return listOf(texts.map((text) => text.replace(/__\w+__/g, '…')));
  },
  properties,
  members,
  help: helpOf,
  message,
  sentences,
  demoCars,
};

async function rewrite(path, change) {
  const before = await readFile(pathTo(path), 'utf8');
  const after = await change(before);
  if (before === after) return;
  if (process.argv.includes('--check')) process.exitCode = 1;
  else await writeFile(pathTo(path), after);
}

/**
 * The estimate of the editor, for nodes that are those of an example with an own Volvo, and the
 * drawing of the tab “Cars”.
 */
const scripts = pathTo('dist/test/scripts/');
await build({
  entryPoints: [pathTo('nodes/editor/requests-per-day.ts'), pathTo('src/drawing/car-view.ts')],
  outdir: scripts,
  entryNames: '[name]',
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  // From there, it is that of dist.
  external: ['../../src/index'],
  logLevel: 'error',
});
const { callsOf } = await import(pathToFileURL(`${scripts}requests-per-day.cjs`));
const { carSvg } = await import(pathToFileURL(`${scripts}car-view.cjs`));
const callsOfNodes = (nodes) => {
  globalThis.RED = { nodes: { node: () => ({ service: 'volvo-cars' }), eachNode: (visit) => nodes.forEach(visit) } };
  const sums = { connected: 0, energy: 0, location: 0, 'energy-device': 0 };
  for (const car of new Set(nodes.map(({ vehicle }) => vehicle)))
    for (const [api, calls] of Object.entries(callsOf(car))) sums[api] += calls;
  return sums;
};

const daySeconds = 86_400;
const quotas = { connected: 'status', energy: 'charging', location: 'position', 'energy-device': 'wallbox' };

/** A read of a message costs as much as one that repeats once a day. */
const sumOf = (readers) =>
  Object.values(callsOfNodes(readers.map((node) => ({ ...node, poll: daySeconds })))).reduce(
    (sum, calls) => sum + calls,
    0,
  );

/**
 * What an example costs with an own Volvo: by the nodes that repeat and the timers, for a
 * message, and for a command.
 */
function costOf(flow) {
  const ours = flow.filter(({ type }) => type.startsWith('connected-vehicle-'));
  const timer = flow.find(({ type, repeat, crontab }) => type === 'inject' && (repeat || crontab));
  // Beside a timer, some are asked once, by the deploy.
  const ofDeploys = flow.filter(({ type, once, repeat, crontab }) => type === 'inject' && once && !repeat && !crontab);
  const deployed = timer ? ofDeploys.flatMap(({ wires }) => wires.flat()) : [];
  const readers = ours.filter(({ type, poll }) => /-vehicle-(status|condition)$/.test(type) && !poll);
  const asked = readers.filter(({ id }) => !deployed.includes(id));
  const afterDeploy = sumOf(readers.filter(({ id }) => deployed.includes(id)));
  const every = timer ? Number(timer.repeat) || daySeconds : 0;
  const daily = callsOfNodes([...ours, ...asked.map((node) => ({ ...node, id: `${node.id} timed`, poll: every }))]);
  const each = sumOf(asked);
  const listed = Object.entries(daily)
    .filter(([, calls]) => calls > 0)
    .map(([api, calls]) => `${numbers.format(calls)} a day (${quotas[api]})`);
  const isOtherAsked = flow.some(({ type, props }) => type === 'inject' && props.some(({ p }) => p === 'read'));
  const has = (type) => ours.some((node) => node.type === `connected-vehicle-${type}`);
  return [
    ...listed,
    ...(afterDeploy > 0 ? [`${afterDeploy} after each deploy`] : []),
    ...(each > 0 && !timer ? [`${isOtherAsked ? 'up to ' : ''}${each} for each message`] : []),
    ...(has('command')
      ? [`1 for each command${has('command-status') ? ', and up to 5 to check its result' : ''}`]
      : []),
  ].join('; ');
}

/**
 * The example flows by the name of their tab: folder, file, info without what they
 * cost, and what they cost.
 */
const examples = new Map();
for (const file of (await readdir(pathTo('examples'), { recursive: true })).sort()) {
  if (!file.endsWith('.json')) continue;
  await rewrite(`examples/${file}`, (text) => {
    const flow = JSON.parse(text);
    const cost = costOf(flow);
    const { info } = flow[0];
    const about = info.replace(/\n\nRequests with your own Volvo[^\n]*$/, '');
    examples.set(basename(file, '.json').slice(3), { folder: dirname(file), file, about, cost });
    const stated = `${about}\n\nRequests with your own Volvo, of 10,000 a day for each part of the service: ${cost}.`;
    const drawing = flow.find(({ type, name }) => type === 'template' && name === 'Drawing');
    const drawn = drawing && { ...drawing, template: carSvg() };
    return text
      .replace(JSON.stringify(info), () => JSON.stringify(stated))
      .replace(JSON.stringify(drawing), () => JSON.stringify(drawn));
  });
}

/**
 * How to import an example, what it costs, and its info but for the first paragraph and for what to
 * tick under _Allow_, which the page itself has.
 */
tables.recipe = (name) => {
  const { folder, file, about, cost } = examples.get(name);
  const address = `../../examples/${file.split('/').map(encodeURIComponent).join('/')}`;
  const [, ...details] = about.replace(/\s*For your own car, [^.\n]*\bunder \*Allow\*[^.\n]*\./, '').split('\n\n');
  return [
    `**Import**: menu _☰_, _Import_, _Examples_, \`@connected-vehicle/node-red\`, _${folder}_, _${name}_. Or copy the text of the file:`,
    `[${name}.json](${address})`,
    `**Requests** with your own Volvo, out of 10,000 a day for each part of the service: ${cost}.`,
    ...(details.length > 0 ? ['## The flow', ...details] : []),
  ].join('\n\n');
};

/**
 * All examples with the first sentence of their pages. The anchor of a row is that of the
 * section that it was.
 */
tables.recipes = async () => {
  const rows = {};
  for (const [name, { folder, cost }] of examples) {
    const page = pageOfExample(name);
    const [, , text] = (await readFile(pathTo(`docs/recipes/${page}.md`), 'utf8')).split('\n');
    const does = /^.*?[.](?= |$)/.exec(text)[0].replaceAll('](../', '](');
    (rows[folder] ??= []).push([`<a id="${page}"></a>[${name}](recipes/${page}.md)`, does, cost]);
  }
  return ['Basics', 'Watch', 'Command', 'Charging', 'Bridge']
    .map((folder) => `## ${folder}\n\n${table(['recipe', 'what it does', 'requests'], rows[folder])}`)
    .join('\n\n');
};

await rewrite('README.md', withReleasedLinks);

/**
 * A part that is written here: what it is, and the names that it needs, in quotes
 * if they have spaces.
 */
const part = /(<!-- generated (\w+)(.*?) -->)[\s\S]*?(<!-- end -->)/g;

for (const file of await readdir(pathTo('docs'), { recursive: true })) {
  if (!file.endsWith('.md') || file.includes('node_modules')) continue;
  await rewrite(`docs/${file}`, async (text) => {
    const written = await Promise.all(
      [...text.matchAll(part)].map(([, , name, names]) =>
        tables[name](...[...names.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain)),
      ),
    );
    const whole = text.replace(part, (_, begin, _name, _names, end) => [begin, written.shift(), end].join('\n\n'));
    return format(whole, { ...(await resolveConfig(pathTo('docs'))), parser: 'markdown' });
  });
}
