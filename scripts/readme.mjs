// Writes the tables of docs/reference.md and docs/scopes.md from the catalogue, what the example flows cost into their infos and docs/recipes.md,
// and the drawing of the car into the example of a dashboard:
// `npm run readme`. With --check it only says whether they are up to date.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { commandNames, commands } from '../dist/src/catalogue/commands.js';
import { groupedResources, groupPath, groups } from '../dist/src/catalogue/groups.js';
import { outcomes } from '../dist/src/catalogue/outcomes.js';
import {
  connectedReadNames,
  interfacePaths,
  readNames,
  reads,
  resourceNames,
  resources,
  themes,
  titleOf,
} from '../dist/src/catalogue/reads.js';
import { accessNames, scopesOfCommand, scopesOfRead, signInScopes } from '../dist/src/catalogue/scopes.js';
import { services } from '../dist/src/catalogue/services.js';
import { errorCodes } from '../dist/src/errors.js';

const allowTexts = await readFile(new URL('../nodes/locales/en-US/connected-vehicle.json', import.meta.url), 'utf8');
const code = (text) => `\`${text}\``;
const table = (header, rows) =>
  [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const scopesOf = ({ scopes }) => scopes.map(code).join(', ');
const pathOf = (iface, { routes }) =>
  routes[iface] ? code(interfacePaths[iface] + routes[iface].path) + (routes[iface].unlisted ? ' ¹' : '') : '–';

const routesOf = (name) => Object.fromEntries(reads[name].routes.map((route) => [route.interface, route]));

function valueOf(resource) {
  switch (resource.kind) {
    case 'boolean':
      return `boolean: true = ${resource.words.true}, false = ${resource.words.false}`;
    case 'enum':
      return resource.values.map(code).join(', ');
    default:
      return `${resource.kind}, ${resource.unit}`;
  }
}

/** What to do about each code of a failure; src/errors.ts says whether the same request may work later. */
const advice = {
  CONFIG: 'The configuration or a property of the node cannot work; the sentence names it.',
  VIN_INVALID: 'No VIN, or not 17 characters of A-Z and 0-9. Nothing was sent.',
  INPUT_INVALID: 'A read, a command, a duration or a record in the message is not valid. Nothing was sent.',
  TOKEN_MISSING: 'There is no access token yet.',
  SIGN_IN_REQUIRED: 'The token is refused or has expired for good: a person has to sign in or paste a new one.',
  API_KEY_REFUSED: 'The service does not accept the API key.',
  SCOPE_MISSING: 'The token lacks a scope; the sentence names it.',
  VEHICLE_NOT_LINKED: 'The vehicle does not belong to the account.',
  NOT_SUPPORTED: 'This service, interface or vehicle does not offer it.',
  QUOTA_SPENT: 'The requests of the day are used up; `retryAt` says until when.',
  RATE_LIMITED: 'Too many requests in a short time; `retryAt` says until when.',
  READ_ONLY: 'The configuration is set to read-only, so no command was sent.',
  VEHICLE_UNAVAILABLE: 'The car cannot take a command now: asleep, in use, without a connection.',
  VEHICLE_ERROR: 'The car answered with an error.',
  TIMEOUT: 'No answer in time.',
  NETWORK: 'The service could not be reached.',
  SERVICE_ERROR: 'The service, or the pack, has a fault.',
  BAD_RESPONSE: 'The answer could not be read.',
  UNTRUSTED_LINK: 'A link led to another host; the token was not sent there.',
  COMMAND_REFUSED: 'The service refused a command that was sent; the car did not get it.',
  CANCELLED: 'Stopped by a message, a deploy or the end of Node-RED.',
  STORE_UNAVAILABLE: 'The store that several Node-REDs share cannot be used.',
  INTERNAL: 'A fault of the pack itself. *Copy diagnostics* has its stack; report it.',
};

const tables = {
  reads: () =>
    table(
      ['read', 'connected v2', 'connected v1', 'scopes besides `openid`'],
      connectedReadNames.map((name) => [
        code(name),
        ...['connected-v2', 'connected-v1'].map((iface) => pathOf(iface, { routes: routesOf(name) })),
        scopesOf(reads[name].routes[0]),
      ]),
    ),
  resources: () =>
    themes
      .map((theme) => [theme, resourceNames.filter((name) => resources[name].theme === theme)])
      .filter(([, names]) => names.length > 0)
      .map(([theme, names]) => {
        const placeOf = (name) => (groupedResources[name].group === null ? '–' : code(groupedResources[name].group));
        const rows = names.map((name) => [
          code(name),
          valueOf(resources[name]),
          code(resources[name].scope),
          placeOf(name),
        ]);
        return `**${titleOf(theme)}**\n\n${table(['read', 'value', 'scope besides `openid`', 'in connected v2'], rows)}`;
      })
      .join('\n\n'),
  newer: () =>
    table(
      ['read', 'path', 'value', 'scopes besides `openid`'],
      readNames
        .filter((name) => !connectedReadNames.includes(name) && !(name in resources))
        .map((name) => {
          const [route] = reads[name].routes;
          const kind = reads[name].value;
          const value =
            name === 'chargingDoneAt'
              ? 'time, ISO-8601'
              : kind === undefined
                ? 'several'
                : kind.unit
                  ? `number, ${kind.unit}`
                  : kind.values.map(code).join(', ');
          return [code(name), code(interfacePaths[route.interface] + route.path), value, scopesOf(route)];
        }),
    ),
  groups: () =>
    table(
      ['group', 'path', 'scopes besides `openid`'],
      Object.entries(groups).map(([name, group]) => [
        code(name),
        code(interfacePaths['connected-v2'] + groupPath(name)),
        scopesOf(group),
      ]),
    ),
  commands: () =>
    table(
      ['command', 'connected v2', 'connected v1', 'scope besides `openid`'],
      commandNames.map((name) => [
        code(name),
        ...['connected-v2', 'connected-v1'].map((iface) => pathOf(iface, commands[name])),
        scopesOf(commands[name]),
      ]),
    ),
  scopes: () => {
    const { availableInterfaces } = services['volvo-cars'];
    const servedBy = new Map();
    const add = (kind, name, scopes) => {
      for (const scope of scopes) {
        if (!servedBy.has(scope)) servedBy.set(scope, { reads: [], commands: [] });
        servedBy.get(scope)[kind].push(code(name));
      }
    };
    for (const name of readNames) add('reads', name, scopesOfRead(name, availableInterfaces));
    for (const name of commandNames) add('commands', name, scopesOfCommand(name, availableInterfaces));
    const { optional } = signInScopes(availableInterfaces, { access: accessNames });
    const { access: allow } = JSON.parse(allowTexts);
    const accessOf = (scope) => optional.find(({ scopes }) => scopes.includes(scope))?.access;
    return table(
      ['scope', 'tick under *Allow*', 'reads', 'commands'],
      [...servedBy]
        .sort()
        .map(([scope, { reads, commands }]) => [
          code(scope),
          allow[accessOf(scope)] ?? '',
          reads.join(', '),
          commands.join(', '),
        ]),
    );
  },
  outcomes: () =>
    table(
      ['request status', 'outcome', 'meaning'],
      Object.entries(outcomes).map(([status, { outcome, sentence }]) => [code(status), code(outcome), sentence]),
    ),
  errors: () =>
    table(
      ['code', 'meaning', 'may work later by itself'],
      Object.entries(errorCodes).map(([name, { retryable }]) => [code(name), advice[name], retryable ? 'yes' : 'no']),
    ),
};

const pathTo = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

async function rewrite(path, change) {
  const before = await readFile(pathTo(path), 'utf8');
  const after = change(before);
  if (before === after) return;
  if (process.argv.includes('--check')) process.exitCode = 1;
  else await writeFile(pathTo(path), after);
}

/** The estimate of the editor, for nodes that are those of an example with an own Volvo, and the drawing of the tab “Cars”. */
const scripts = pathTo('dist/test/scripts/');
await build({
  entryPoints: [pathTo('nodes/editor/requests-per-day.ts'), pathTo('src/simulator/page/car-view.ts')],
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
  const sums = { connected: 0, energy: 0, location: 0 };
  for (const car of new Set(nodes.map(({ vehicle }) => vehicle)))
    for (const [api, calls] of Object.entries(callsOf(car))) sums[api] += calls;
  return sums;
};

const daySeconds = 86_400;
const quotas = { connected: 'status', energy: 'charging', location: 'position' };
const numbers = new Intl.NumberFormat('en-US');

/** What an example costs with an own Volvo: by the nodes that repeat and the timers, for a message, and for a command. */
function costOf(flow) {
  const ours = flow.filter(({ type }) => type.startsWith('connected-vehicle-'));
  const timer = flow.find(({ type, repeat, crontab }) => type === 'inject' && (repeat || crontab));
  // A read of a message costs as much as one that repeats once a day.
  const asked = ours.filter(({ type, poll }) => /-vehicle-(status|condition)$/.test(type) && !poll);
  const every = timer ? Number(timer.repeat) || daySeconds : 0;
  const daily = callsOfNodes([...ours, ...asked.map((node) => ({ ...node, id: `${node.id} timed`, poll: every }))]);
  const once = callsOfNodes(asked.map((node) => ({ ...node, poll: daySeconds })));
  const each = Object.values(once).reduce((sum, calls) => sum + calls, 0);
  const listed = Object.entries(daily)
    .filter(([, calls]) => calls > 0)
    .map(([api, calls]) => `${numbers.format(calls)} a day (${quotas[api]})`);
  const has = (type) => ours.some((node) => node.type === `connected-vehicle-${type}`);
  return [
    ...listed,
    ...(each > 0 && !timer ? [`${each} for each message`] : []),
    ...(has('command') ? [`1 for each command${has('command-status') ? ', and a few to check its result' : ''}`] : []),
  ].join('; ');
}

const costs = [];
for (const file of (await readdir(pathTo('examples'), { recursive: true })).sort()) {
  if (!file.endsWith('.json')) continue;
  await rewrite(`examples/${file}`, (text) => {
    const flow = JSON.parse(text);
    const cost = costOf(flow);
    costs.push([basename(file, '.json').slice(3), cost]);
    const { info } = flow[0];
    const line = `Requests with your own Volvo, of 10,000 a day for each part of the service: ${cost}.`;
    const stated = `${info.replace(/\n\nRequests with your own Volvo[^\n]*$/, '')}\n\n${line}`;
    const drawing = flow.find(({ type, name }) => type === 'template' && name === 'Drawing');
    const drawn = drawing && { ...drawing, template: carSvg() };
    return text
      .replace(JSON.stringify(info), () => JSON.stringify(stated))
      .replace(JSON.stringify(drawing), () => JSON.stringify(drawn));
  });
}
tables.costs = () => table(['example', 'requests'], costs);

for (const path of ['docs/reference.md', 'docs/scopes.md', 'docs/recipes.md'])
  await rewrite(path, (text) =>
    text.replace(/(<!-- table (\w+) -->)[\s\S]*?(<!-- end -->)/g, (_, begin, name, end) =>
      [begin, tables[name](), end].join('\n\n'),
    ),
  );
