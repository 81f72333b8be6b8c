// `npm run measure`: how large the code is, and what a read and a command cost. The definitions:
//
// statement   A node of the syntax tree after esbuild has removed the types: each statement but a block and an empty one, each
//             declared variable, each import, each method and field of a class, and the body of an arrow function that is an
//             expression. So neither the length of a line nor `const a = 1, b = 2` changes the count. Counted are all .ts files, .mjs
//             and .cjs files, and the scripts in .html files. `nodes of the tree` are all nodes of the same trees.
// lines       Lines of .ts, .mjs, .cjs, .html and .css files, blank lines and comments among them. For orientation.
// state       A variable of a module that a function changes: by an assignment to it or to a member of it, or with a method such as
//             `set` or `push`, in its own module or where it is imported. Also an instance of a class of the project, a WeakMap,
//             the variables in the closure of a function that is called to make it, a changed or object-valued static field, and an
//             assigned member of globalThis. Not seen: an object that is changed after it was passed to a function or got another name.
// entered     Distinct functions of `src` (without the simulated service) and `nodes` that V8 enters at least once between the arrival of
//             the message at the node (`node.receive`) and the `onSend` hook of Node-RED for its output 1, in a real Node-RED in this
//             process with the bundle of the package; the simulated service is another process. Whatever else runs at that time counts,
//             too. A function with a name of its own (declaration, method, accessor, constructor, variable, property) and a callback without one
//             are counted apart. `first` is the first message after the start, `again` a later one that shares no answer.
// length      Of all entered functions: lines of the source, from the first to the last, by the source map.
// durable     Writes of a file below the user directory that are fsynced, from the arrival of the command until one second after the
//             result left, by the folder of the file. Removals are removed files that are neither drafts nor locks. Counted at node:fs.
//             The counts of the quota are written by time and not by command, so they are listed and not in the sum.
//
// first       Seconds from the start of the flows of a Node-RED until the unlock that its flow sends at once leaves, and until its record
// unlock      is there, where another process on the same user directory was killed with SIGKILL before: on the same host, and under a
//             new host name, as a container gets when it is made again. A refused unlock is sent again. The simulated car answers 1.5 s
//             after the request. After a restart of the machine it is not measured.
//
// Not measured, because only a person can count them: mechanisms of exclusion between processes, and memories of a car.
//
//     npm run measure            everything
//     npm run measure -- code    size and state only
import { fork, spawn } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { Session } from 'node:inspector';
import { createRequire, SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, extname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse } from 'acorn';
import { ancestor, full } from 'acorn-walk';
import { transform } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);

// --- the code -----------------------------------------------------------------------------------------------------------------------

const rows = [
  ['src without simulator', 'src', (file) => !file.startsWith('src/simulator/')],
  ['simulator', 'src', (file) => file.startsWith('src/simulator/')],
  ['nodes without locales', 'nodes', (file) => !file.startsWith('nodes/locales/')],
  ['scripts', 'scripts', () => true],
  ['test', 'test', () => true],
];
const code = ['.ts', '.mjs', '.cjs'];
const counted = new Set([...code, '.html', '.css']);

/** The syntax trees of a file: one, or one for each script in html. */
async function treesOf(file, text) {
  const scripts = code.includes(extname(file))
    ? [text]
    : extname(file) === '.html'
      ? [...text.matchAll(/<script(?![^>]*type="text\/(?!javascript))[^>]*>(.*?)<\/script>/gs)].map((found) => found[1])
      : [];
  return Promise.all(
    scripts.map(async (script) => {
      const { code } = await transform(script, { loader: extname(file) === '.ts' ? 'ts' : 'js', target: 'esnext' });
      const sourceType = extname(file) === '.cjs' ? 'script' : 'module';
      return parse(code, { ecmaVersion: 'latest', sourceType, allowHashBang: true });
    }),
  );
}

const isStatement = ({ type }) =>
  (type.endsWith('Statement') && type !== 'BlockStatement' && type !== 'EmptyStatement') ||
  /^(VariableDeclarator|FunctionDeclaration|ClassDeclaration|ImportDeclaration|MethodDefinition|PropertyDefinition)$/.test(
    type,
  );

function sizeOf(tree) {
  let statements = 0;
  let nodes = 0;
  full(tree, (node) => {
    nodes += 1;
    if (isStatement(node) || (node.type === 'ArrowFunctionExpression' && node.expression)) statements += 1;
  });
  return { statements, nodes };
}

async function readCode() {
  const files = new Map();
  for (const folder of new Set(rows.map(([, top]) => top)))
    for (const name of await readdir(join(root, folder), { recursive: true })) {
      const file = `${folder}/${name}`.replaceAll('\\', '/');
      if (!counted.has(extname(file))) continue;
      const text = await readFile(join(root, file), 'utf8');
      files.set(file, { lines: text.split('\n').length - 1, trees: await treesOf(file, text) });
    }
  return files;
}

function printSizes(files) {
  const sizes = rows.map(([title, top, isIn]) => {
    const found = [...files].filter(([file]) => file.startsWith(`${top}/`) && isIn(file)).map(([, one]) => one);
    const trees = found.flatMap((one) => one.trees).map(sizeOf);
    const sum = (list, key) => list.reduce((total, one) => total + one[key], 0);
    return { title, statements: sum(trees, 'statements'), nodes: sum(trees, 'nodes'), lines: sum(found, 'lines') };
  });
  print(
    ['size', 'statements', 'nodes of the tree', 'lines'],
    sizes.map(({ title, statements, nodes, lines }) => [title, statements, nodes, lines]),
  );
}

const isFunction = ({ type }) => /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type);
const changing =
  /^(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin|defineProperty|assign)$/;
const collections = /^(Map|Set|Array|Object)$/;
const immutable = /^(RegExp|URL|Date|Error|Text(En|De)coder|Function|Number|String|Boolean|Symbol|Promise)$/;

const namesIn = (pattern) =>
  pattern.type === 'Identifier'
    ? [pattern.name]
    : pattern.type === 'ObjectPattern'
      ? pattern.properties.flatMap((one) => namesIn(one.value ?? one.argument))
      : pattern.type === 'ArrayPattern'
        ? pattern.elements.flatMap((one) => (one === null ? [] : namesIn(one)))
        : namesIn(pattern.left ?? pattern.argument ?? { type: 'Identifier', name: '' });

/** The variable below a chain of members: `a` of `a.b[c].d`. */
function baseOf(node) {
  let base = node;
  while (['MemberExpression', 'ChainExpression', 'CallExpression'].includes(base.type)) {
    if (base.type === 'CallExpression') return undefined;
    base = base.object ?? base.expression;
  }
  return base.type === 'Identifier' ? base.name : undefined;
}

/** The names that a module and each of its functions declare, and which of them are changed, and where from. */
function scopesOf(tree) {
  const declared = new Map([[tree, new Map()]]);
  const declare = (scope, name, node) =>
    declared.get(scope)?.set(name, node) ?? declared.set(scope, new Map([[name, node]]));
  const scopeAbove = (parents, from = 2) => parents.slice(0, 1 - from || undefined).findLast(isFunction) ?? tree;
  ancestor(tree, {
    VariableDeclarator: (node, _, parents) =>
      namesIn(node.id).forEach((name) => declare(scopeAbove(parents), name, node)),
    Function(node, _, parents) {
      if (node.id && node.type === 'FunctionDeclaration') declare(scopeAbove(parents), node.id.name, node);
      node.params.flatMap(namesIn).forEach((name) => declare(node, name, node));
    },
    Class: (node, _, parents) => node.id && declare(scopeAbove(parents), node.id.name, node),
    ImportDeclaration: (node) => node.specifiers.forEach((one) => declare(tree, one.local.name, node)),
  });
  const changes = [];
  const change = (node, parents) => {
    const name = baseOf(node);
    if (name === undefined) return;
    const functions = parents.filter(isFunction);
    const scope = [tree, ...functions].findLast((one) => declared.get(one)?.has(name));
    changes.push({ name, scope, by: functions.at(-1) ?? tree, member: node.property?.name });
  };
  ancestor(tree, {
    AssignmentExpression: ({ left }, _, parents) =>
      left.type.endsWith('Pattern')
        ? namesIn(left).forEach((name) => change({ type: 'Identifier', name }, parents))
        : change(left, parents),
    UpdateExpression: ({ argument }, _, parents) => change(argument, parents),
    UnaryExpression: (node, _, parents) => node.operator === 'delete' && change(node.argument, parents),
    CallExpression({ callee, arguments: given }, _, parents) {
      if (callee.type !== 'MemberExpression' || !changing.test(callee.property.name ?? '')) return;
      const isObject = callee.object.type === 'Identifier' && /^(Object|Reflect)$/.test(callee.object.name);
      change(isObject ? (given[0] ?? callee.object) : callee.object, parents);
    },
  });
  return { tree, declared, changes };
}

function printState(files) {
  const modules = new Map();
  for (const [file, { trees }] of files)
    if (/^(src|nodes)\//.test(file) && trees.length > 0) modules.set(file.replace(/\.ts$/, ''), scopesOf(trees[0]));
  const imported = (file, { source, specifiers }, local) => {
    const path = join(dirname(file), source.value);
    const from = [path, `${path}/index`].find((one) => modules.has(one));
    return { from, name: specifiers.find((one) => one.local.name === local)?.imported?.name };
  };
  const changed = new Map();
  for (const [file, { tree, declared, changes }] of modules)
    for (const { name, scope, by, member } of changes) {
      const isGlobal = scope === undefined && /^(globalThis|global)$/.test(name);
      if (isGlobal) changed.set(`${file}  globalThis.${member}`, true);
      if (scope !== tree || by === tree) continue;
      const node = declared.get(tree).get(name);
      const origin = node.type === 'ImportDeclaration' ? imported(file, node, name) : { from: file, name };
      if (origin.from !== undefined) changed.set(`${origin.from}  ${origin.name}`, true);
    }
  const closes = ({ changes }, made) => changes.some(({ scope, by }) => scope === made && by !== made);
  const state = new Set([...changed.keys()].filter((one) => one.includes('globalThis.')));
  for (const [file, found] of modules) {
    for (const [name, node] of found.declared.get(found.tree)) {
      const isChanged = changed.has(`${file}  ${name}`);
      const made = node.type === 'VariableDeclarator' ? node.init : undefined;
      const callee = made?.callee?.name;
      let maker = made?.type === 'CallExpression' && isFunction(made.callee) ? [found, made.callee] : undefined;
      if (made?.type === 'CallExpression' && callee !== undefined) {
        const known = found.declared.get(found.tree).get(callee);
        const origin =
          known?.type === 'ImportDeclaration' ? imported(file, known, callee) : { from: file, name: callee };
        const home = modules.get(origin.from);
        const making = home?.declared.get(home.tree).get(origin.name);
        maker = making && [home, making.init ?? making];
      }
      const isInstance =
        made?.type === 'NewExpression' && !collections.test(callee) && !immutable.test(callee ?? 'Error');
      if ((isChanged && node.type !== 'ClassDeclaration') || isInstance || (maker && closes(...maker)))
        state.add(`${file}  ${name}`);
    }
    full(found.tree, (node) => {
      if (node.type !== 'ClassDeclaration' && node.type !== 'ClassExpression') return;
      for (const { type, static: isStatic, key, value } of node.body.body) {
        const isAssigned = found.changes.some(({ name, member }) => name === node.id?.name && member === key?.name);
        const isObject = /^(New|Array|Object)Expression$/.test(value?.type ?? '');
        if (type === 'PropertyDefinition' && isStatic && (isAssigned || isObject))
          state.add(`${file}  ${node.id?.name}.${key.name}`);
      }
    });
  }
  const isBrowser = (one) => /\.editor  |\/editor\/|\/panel\/|\/form  |simulator\/page\//.test(one);
  const list = [...state].sort();
  const parts = [
    ['src without simulator', list.filter((one) => /^src\/(?!simulator)/.test(one))],
    ['simulator', list.filter((one) => one.startsWith('src/simulator/') && !isBrowser(one))],
    ['nodes', list.filter((one) => one.startsWith('nodes/') && !isBrowser(one))],
    ['in a browser', list.filter(isBrowser)],
  ];
  print(
    ['module variables with state', 'count'],
    parts.map(([title, found]) => [title, found.length]),
  );
  for (const one of parts.flatMap(([, found]) => found)) console.log(`  ${one}`);
}

// --- a read and a command -------------------------------------------------------------------------------------------------------------

/** Runs a program to its end. */
async function run(...command) {
  const [exitCode] = await once(spawn(process.execPath, command, { cwd: root, stdio: 'inherit' }), 'exit');
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed.`);
}

/** Which functions V8 enters. */
class Entered {
  #session = new Session();
  #files = new Map();

  constructor() {
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  /** The functions entered since the last call, as { file, line, lines, name, hasName }. The answer is here before `post` returns. */
  take() {
    const found = new Map();
    for (const { url, functions } of this.#post('Profiler.takePreciseCoverage').result) {
      if (!url.startsWith(pathToFileURL(join(root, 'dist/nodes/')).href) || url.endsWith('/simulator.js')) continue;
      const map = this.#mapOf(fileURLToPath(url));
      for (const { functionName, ranges } of functions) {
        const [{ startOffset, endOffset, count }] = ranges;
        const start = count > 0 && startOffset > 0 ? map(startOffset) : undefined;
        const file =
          start?.originalSource && relative(root, join(root, 'dist/nodes', start.originalSource)).replaceAll('\\', '/');
        if (!file || !/^(src\/(?!simulator)|nodes\/)/.test(file)) continue;
        // Without a place in the source: V8 initializes the fields of a class, and esbuild exports, with functions of their own.
        if (start.generatedColumn !== start.asked || functionName.startsWith('<')) continue;
        const line = start.originalLine + 1;
        const lines = Math.max(1, map(endOffset - 1).originalLine + 2 - line);
        found.set(`${file}:${line}:${start.originalColumn}`, { file, line, lines, name: functionName });
      }
    }
    return [...found.values()];
  }

  #post(method, given) {
    let answer;
    this.#session.post(method, given, (error, result) => {
      if (error) throw error;
      answer = result;
    });
    return answer;
  }

  /** From an offset in a bundle to the place in the source. */
  #mapOf(path) {
    if (!this.#files.has(path)) {
      const starts = [0];
      for (const { index } of readFileSync(path, 'utf8').matchAll(/\n/g)) starts.push(index + 1);
      const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')));
      this.#files.set(path, (offset) => {
        const line = starts.findLastIndex((start) => start <= offset);
        const asked = offset - starts[line];
        return { ...map.findEntry(line, asked), asked };
      });
    }
    return this.#files.get(path);
  }
}

/** Counts what is fsynced and removed below a directory. */
class Disk {
  #directory;
  #counts = new Map();

  constructor(directory) {
    this.#directory = directory;
    const files = require('node:fs/promises');
    const sync = require('node:fs');
    const { open, unlink, rm } = files;
    files.open = async (path, ...more) => {
      const handle = await open(path, ...more);
      for (const method of ['sync', 'datasync']) {
        const original = handle[method].bind(handle);
        handle[method] = async () => {
          if ((await stat(path)).isFile()) this.#add('durable write', path);
          return original();
        };
      }
      return handle;
    };
    files.unlink = (path) => unlink(path).then(() => this.#add('removal', path));
    files.rm = (path, ...more) => rm(path, ...more).then(() => this.#add('removal', path));
    for (const name of ['unlinkSync', 'rmSync', 'fsyncSync', 'fsync', 'fdatasync', 'fdatasyncSync']) {
      const original = sync[name];
      sync[name] = (path, ...more) => {
        this.#add(name.includes('sync') && typeof path === 'number' ? 'durable write' : 'removal', String(path));
        return original(path, ...more);
      };
    }
  }

  #add(what, path) {
    const inside = relative(this.#directory, String(path)).replaceAll('\\', '/');
    if (/\.lock|(\.new$)/.test(inside) && what === 'removal') return;
    if (inside.startsWith('..')) return;
    const key = `${what} ${dirname(inside)}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  take() {
    const taken = [...this.#counts].sort();
    this.#counts.clear();
    return taken;
  }
}

/** The simulated service in a process of its own. */
async function startService() {
  const child = spawn(process.execPath, [join(root, 'scripts/simulator.mjs')], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout) {
    text += chunk;
    if (text.includes('Ctrl-C')) break;
  }
  const url = /answers at (\S+)/.exec(text)[1];
  const vin = /VIN \(petrol\)\s+(\S+)/.exec(text)[1];
  return { url, vin, end: () => child.kill() };
}

/** A real Node-RED in this process, with the checkout as an installed package. */
async function startNodeRed(userDir, flows) {
  const name = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).name;
  await mkdir(dirname(join(userDir, 'node_modules', name)), { recursive: true });
  if (!existsSync(join(userDir, 'node_modules', name))) await symlink(root, join(userDir, 'node_modules', name));
  await writeFile(join(userDir, 'package.json'), JSON.stringify({ dependencies: { [name]: '*' } }));
  const RED = require('node-red');
  const isNew = !existsSync(join(userDir, 'flows.json'));
  RED.init(createServer(), {
    userDir,
    flowFile: 'flows.json',
    credentialSecret: 'a secret of the measurement',
    httpAdminRoot: false,
    httpNodeRoot: false,
    telemetry: { enabled: false, updateNotification: false },
    externalModules: { autoInstall: false },
    logging: { console: { level: 'error', metrics: false, audit: false } },
  });
  const started = async (work) => {
    const running = new Promise((done) => RED.events.once('flows:started', done));
    await work;
    await running;
  };
  await started(RED.start());
  if (isNew) await started(RED.runtime.flows.setFlows({ flows: { flows }, deploymentType: 'full' }));
  return RED;
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
/** Longer than a node may share an answer that another one got. */
const pastSharingMs = 6_000;

const node = (id, type, more) => ({ id, type, z: 'tab', x: 1, y: 1, vehicle: 'v', ...more });
const beginning = ({ url, vin }) => [
  { id: 'tab', type: 'tab', label: 'measure' },
  {
    id: 'v',
    type: 'connected-vehicle',
    service: 'custom',
    baseUrl: url,
    vin,
    credentials: { apiKey: 'demo-key', accessToken: 'demo-token' },
  },
];

async function measureRuns() {
  const userDir = await mkdtemp(join(tmpdir(), 'measure-'));
  const service = await startService();
  try {
    const disk = new Disk(userDir);
    const entered = new Entered();
    const RED = await startNodeRed(userDir, [
      ...beginning(service),
      node('status', 'connected-vehicle-status', { read: 'windows', wires: [['end']] }),
      node('command', 'connected-vehicle-command', { command: 'lock', interface: 'v2', wires: [['result']] }),
      node('result', 'connected-vehicle-command-status', { wires: [['end'], []] }),
      { id: 'end', type: 'debug', z: 'tab', x: 1, y: 1, active: false, wires: [] },
    ]);
    const reads = [];
    const commands = [];
    for (let index = 0; index < 3; index += 1) {
      await sleep(pastSharingMs);
      reads.push(await through(RED, entered, 'status', 'status'));
    }
    for (let index = 0; index < 2; index += 1) {
      await sleep(pastSharingMs);
      disk.take();
      commands.push(await through(RED, entered, 'command', 'result'));
    }
    await sleep(1_000);
    const writes = disk.take();
    const line = (title, functions) => {
      const lengths = functions.map(({ lines }) => lines).sort((a, b) => a - b);
      const named = functions.filter(({ name }) => name !== '').length;
      const p90 = lengths[Math.ceil(lengths.length * 0.9) - 1];
      return [title, named, functions.length - named, p90, lengths.at(-1)];
    };
    print(
      ['functions entered', 'with a name', 'callbacks', 'p90 of their lines', 'longest'],
      [
        line('status read of windows, first', reads[0]),
        line('status read of windows, again', reads[2]),
        line('v2 command with a result node, first', commands[0]),
        line('v2 command with a result node, again', commands[1]),
      ],
    );
    const all = [...reads[2], ...commands[1]].filter(({ lines }) => lines > 18);
    const long = new Map(all.sort((a, b) => b.lines - a.lines).map((one) => [`${one.file}:${one.line}`, one]));
    console.log('  longer than 18 lines:');
    for (const [place, { name, lines }] of long) console.log(`  ${lines}  ${place} ${name || '(callback)'}`);
    if (process.argv.includes('--list'))
      for (const [title, list] of [
        ['read', reads[2]],
        ['command', commands[1]],
      ])
        for (const { file, line, lines, name } of list)
          console.log(`  ${title} ${file}:${line} ${lines} ${name || '(callback)'}`);
    const total = (what) =>
      writes
        .filter(([key]) => key.startsWith(what) && !key.endsWith('/quota'))
        .reduce((sum, [, count]) => sum + count, 0);
    print(
      ['files of a v2 command with a result node', 'count'],
      [...writes, ['durable writes', total('durable')], ['removals', total('removal')]],
    );
  } finally {
    service.end();
    await rm(userDir, { recursive: true, force: true });
  }
}

/** The first unlock of a Node-RED whose predecessor was killed. */
async function measureFirstUnlock() {
  const userDir = await mkdtemp(join(tmpdir(), 'measure-'));
  const service = await startService();
  const runAs = async (host) => {
    const child = fork(fileURLToPath(import.meta.url), ['unlock', userDir, JSON.stringify(service), host]);
    const ended = once(child, 'exit').then(() => Promise.reject(new Error('Node-RED ended before the unlock.')));
    const [seconds] = await Promise.race([once(child, 'message'), ended]);
    ended.catch(() => undefined);
    child.kill('SIGKILL');
    await once(child, 'exit');
    return seconds.map((time) => time.toFixed(2));
  };
  try {
    const lines = [
      ['on a new user directory', ...(await runAs('first'))],
      ['after a kill', ...(await runAs('first'))],
      ['after a kill, under a new host name', ...(await runAs('second'))],
    ];
    print(['first unlock, in seconds', 'leaves', 'record'], lines);
  } finally {
    service.end();
    await rm(userDir, { recursive: true, force: true });
  }
}

/** The child of `measureFirstUnlock`. */
async function unlockAtOnce([userDir, service, host]) {
  require('node:os').hostname = () => host;
  // The pack does not keep the process running while it waits for the directory.
  setInterval(() => undefined, 1_000);
  const unlock = node('unlock', 'connected-vehicle-command', { command: 'unlock', interface: 'v2', deadline: 60 });
  const RED = await startNodeRed(userDir, [...beginning(JSON.parse(service)), { ...unlock, wires: [['end']] }]);
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  let left = NaN;
  subscribe('undici:client:sendHeaders', ({ request }) => void (request.method === 'POST' && (left = seconds())));
  let tries = 0;
  const attempt = () => RED.nodes.getNode('unlock').receive({ _msgid: `${process.pid} ${(tries += 1)}` });
  // What the process before left behind is sent on, too.
  RED.hooks.add('onSend.measure', ([{ msg }]) => {
    if (msg._msgid === `${process.pid} ${tries}`) process.send([left, seconds()]);
  });
  RED.hooks.add('onComplete.measure', ({ error }) => void (error && setTimeout(attempt, 100)));
  attempt();
}

/** Sends a message into a node, and lists the functions entered until another node sends on its output 1. */
async function through(RED, entered, into, from) {
  const functions = new Promise((resolve) => {
    RED.hooks.add('onSend.measure', ([sent]) => {
      if (sent.source.id === from && sent.source.port === 0) resolve(entered.take());
    });
  });
  entered.take();
  RED.nodes.getNode(into).receive({});
  const found = await Promise.race([functions, sleep(60_000)]);
  RED.hooks.remove('onSend.measure');
  if (found === undefined) throw new Error(`The node “${from}” sent nothing within a minute.`);
  return found;
}

// ----------------------------------------------------------------------------------------------------------------------------------------

function print(head, lines) {
  const widths = head.map((title, column) =>
    Math.max(...[title, ...lines.map((one) => one[column])].map((cell) => String(cell).length)),
  );
  const row = (cells) =>
    cells
      .map((cell, column) => (column === 0 ? String(cell).padEnd(widths[0]) : String(cell).padStart(widths[column])))
      .join('  ');
  console.log(`\n${row(head)}\n${widths.map((width) => '-'.repeat(width)).join('  ')}\n${lines.map(row).join('\n')}`);
}

if (process.argv[2] === 'unlock') await unlockAtOnce(process.argv.slice(3));
else {
  const files = await readCode();
  printSizes(files);
  printState(files);
  if (process.argv[2] !== 'code') {
    await run(join(root, 'scripts/build.mjs'), '--source-maps');
    await measureRuns();
    await measureFirstUnlock();
  }
  process.exit();
}
