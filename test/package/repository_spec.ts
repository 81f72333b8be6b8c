import { strict as assert } from 'node:assert';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { filesBelow, packageJson, readText, root } from './checkout';

const isCode = (file: string): boolean => file.endsWith('.ts') && !file.endsWith('.d.ts');
const sources = filesBelow('src').filter(isCode);
const nodes = filesBelow('nodes').filter(isCode);

/** What a file imports, by path from the root if it is of this checkout, else by name. */
function imports(file: string): string[] {
  const names = [...readText(file).matchAll(/(?:\bfrom |\bimport\(|\brequire\()'([^']+)'/g)].map(
    ([, name]) => name as string,
  );
  return names.map((name) => (name.startsWith('.') ? join(dirname(file), name) : name));
}

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');

/**
 * The order of dependencies in src/ and in nodes/, each from the top, as
 * docs/internals/architecture.md lists it. A module is a folder, or a file directly
 * below src/ or nodes/.
 */
const order = /## Order of dependencies\n(.*?)\n## /s.exec(readText('docs/internals/architecture.md'))?.[1] ?? '';
const layers = [...order.matchAll(/^ {4}(.+)$/gm)]
  .map(([, line = '']) => line.split(', ').map((name) => (name.includes('/') ? name : `src/${name}`)))
  .filter(([name]) => name !== 'src/nodes');

/** The module of src/ or nodes/ that contains a path; for other paths, the path itself. */
const moduleOf = (path: string): string => /^(?:src|nodes)\/[\w-]+/.exec(path)?.[0] ?? path;

describe('The repository', () => {
  it('gives nodes/ one public API: src/index, src/simulator/index and, in a browser, the drawing of a car and the controls of a demo car', () => {
    const inBrowser = ['car-view', 'car-view-state', 'elements', 'live-drawing'].map((file) => `src/drawing/${file}`);
    const api = new Set(['src/index', 'src/simulator/index', 'src/simulator/page/demo-controls', ...inBrowser]);
    const beyond = nodes.flatMap((file) =>
      imports(file)
        .filter((name) => name.startsWith('src/') && !api.has(name))
        .map((name) => `${file}: ${name}`),
    );
    assert.deepEqual(beyond, []);
  });

  it('loads the runtime of the nodes in one place, and nothing of it to register the node types', () => {
    assert.deepEqual([...new Set(imports('nodes/register.ts'))], ['node:path', 'node-red', 'nodes/runtime']);
    assert.deepEqual(
      nodes.filter((file) => imports(file).includes('nodes/runtime')),
      ['nodes/register.ts'],
    );
    const types = /^import type .*$/gm;
    assert.deepEqual(
      readText('nodes/register.ts')
        .replace(types, '')
        .match(/\b(import|require)\b.*/g),
      ["import { basename } from 'node:path';", "require('./runtime') as typeof Runtime;"],
    );
  });

  it('keeps Node-RED and the editor out of src/', () => {
    for (const file of sources)
      assert.ok(!imports(file).some((name) => name.startsWith('nodes/') || name.includes('node-red')), file);
    // Without the types of the DOM, nothing of it compiles.
    assert.match(readText('tsconfig.json'), /"lib": \["ES2023"\]/);
  });

  it('names a kind of store only where it is made, chosen or checked', () => {
    const kinds = /\b(?:Redis|File)(?:Presence|StateStore)\b|\bDirectory(?:InUse|Owner)\b|fault === 'unavailable'/;
    const above = [...sources, ...nodes].filter((file) => !/^src\/(?:state|simulator)\//.test(file));
    assert.deepEqual(
      above.filter((file) => kinds.test(withoutComments(readText(file)))),
      ['src/check.ts', 'src/index.ts', 'nodes/node-red/shared-store.ts', 'nodes/node-red/storage.ts'],
    );
  });

  it('keeps HTTP out of nodes/, and undici in one file', () => {
    assert.deepEqual(
      [...sources, ...nodes].filter(
        (file) =>
          !file.endsWith('.d.ts') && imports(file).some((name) => name === 'undici' || name.startsWith('undici/')),
      ),
      ['src/http/transport.ts'],
    );
    assert.deepEqual(
      nodes.filter((file) => imports(file).some((name) => /^node:https?$/.test(name))),
      [],
    );
  });

  it('imports downward only, in the order of docs/internals/architecture.md', () => {
    const layerOf = (file: string): number => {
      const layer = layers.findIndex((modules) => modules.includes(moduleOf(file)));
      assert.notEqual(
        layer,
        -1,
        `${file} is in no layer: add its module to the list in docs/internals/architecture.md`,
      );
      return layer;
    };
    const ordered = [...sources.filter((file) => !file.startsWith('src/simulator/')), ...nodes].filter(
      (file) => !file.endsWith('.d.ts'),
    );
    const upward = ordered.flatMap((file) =>
      imports(file)
        .filter((name) => name.startsWith(`${file.split('/')[0]}/`) && !name.endsWith('.json'))
        .filter((name) => layerOf(name) < layerOf(file))
        .map((name) => `${file} imports ${name}`),
    );
    assert.deepEqual(upward, []);
  });

  it('has no two modules of src/ that import each other', () => {
    const pairs = new Set(
      sources.flatMap((file) => imports(file).map((name) => `${moduleOf(file)} and ${moduleOf(name)}`)),
    );
    const mutual = [...pairs].filter((pair) => {
      const [one, other] = pair.split(' and ');
      return one !== other && pairs.has(`${other} and ${one}`);
    });
    assert.deepEqual(mutual, []);
  });

  it('keeps the client and the simulated service apart, but for the tables', () => {
    const shared =
      /^(node:.*|zod\/mini|src\/(simulator|drawing|catalogue|words)\/.*|src\/(errors|util\/(clock|durations|json|listeners)|vin))$/;
    for (const file of sources) {
      const names = imports(file);
      if (file.startsWith('src/simulator/'))
        assert.deepEqual(
          names.filter((name) => !shared.test(name)),
          [],
          file,
        );
      else
        assert.deepEqual(
          names.filter((name) => name.startsWith('src/simulator')),
          [],
          file,
        );
    }
  });

  it('loads the small zod only', () => {
    assert.deepEqual(
      [...sources, ...nodes].filter((file) =>
        imports(file).some((name) => name.startsWith('zod') && name !== 'zod/mini'),
      ),
      [],
    );
  });

  it('says which bundle contains which package, with its license', () => {
    /** A distinctive text in the code of each package. */
    const marks = { undici: 'UND_ERR_CONNECT_TIMEOUT', zod: '~standard' };
    const licenses = readText('dist/nodes/LICENSES');
    const bundles = filesBelow('dist/nodes').filter((file) => file.endsWith('.js'));
    for (const file of bundles) {
      const held = Object.entries(marks).flatMap(([name, mark]) => (readText(file).includes(mark) ? [name] : []));
      const line = `${basename(file)} contains ${held.join(' and ')}.\n`;
      assert.equal(licenses.includes(`${basename(file)} contains`), held.length > 0, file);
      if (held.length > 0) assert.ok(licenses.includes(line), line);
    }
    for (const name of Object.keys(marks)) assert.ok(licenses.includes(readText(`node_modules/${name}/LICENSE`)), name);
  });

  it('says beside each cast why it holds, but for those to unknown and the names of a table', () => {
    const harmless =
      /\bas (?:const|unknown|unknown\[\]|object|readonly string\[\])(?! as)|\bnull as |Object\.(?:keys|entries|fromEntries)\(|\b(?:includes|hasOwn|isWhole)\([^)]*\)+ \?/;
    const unexplained = [...sources, ...nodes].flatMap((file) => {
      const lines = readText(file).split('\n');
      return lines.flatMap((line, at) => {
        const isCast = /[\w)\]}?] as (?=[A-Z{[(]|\w+\b)/.test(withoutComments(line).replace(/(['`]).*?\1/g, "''"));
        const isImport = /^\s*\*|^import|^export [{*]|\bimport\b.* as |^\s*type \w+ as |such as /.test(line);
        const near = lines.slice(Math.max(0, at - 3), at + 1).join('\n');
        return !isCast || isImport || harmless.test(line) || /\/\/|\*\//.test(near)
          ? []
          : [`${file}:${at + 1}: ${line.trim()}`];
      });
    });
    assert.deepEqual(unexplained, []);
  });

  it('has one error class: the other says that a command may have reached the service, which is no failure', () => {
    const errors = [...sources, ...nodes].filter((file) => /\bclass \w+ extends Error\b/.test(readText(file)));
    assert.deepEqual(errors.sort(), ['src/errors.ts', 'src/http/requests.ts']);
  });

  it('has no test that lets more than 20 ms pass at once: it asks again until what it waits for has happened', () => {
    for (const file of filesBelow('test').filter((one) => isCode(one) && !/^test\/(bench|world)\//.test(one)))
      for (const [pause, , ms = ''] of readText(file).matchAll(
        /\b(?:await|=>) new Promise[^;]*?setTimeout\((\w+|\(\) => \w+\(\)), ([\d_]+)\)|waitForTimeout\(/g,
      ))
        assert.ok(Number(ms.replaceAll('_', '') || Infinity) <= 20, `${file}: ${pause}`);
  });

  it('starts every script of package.json on each system: no variables in front, no exec, no program of a Unix shell', () => {
    const allowed = /^(?:node|npm|npx|mocha|oxlint|prettier)(?: [\w./:@=-]+)*$/;
    for (const [name, script] of Object.entries(packageJson['scripts'] as Record<string, string>))
      for (const part of script.split(' && ')) assert.match(part, allowed, name);
    // A path of a URL has `%20` for a space, and begins with a slash before the drive.
    for (const file of filesBelow('scripts'))
      assert.doesNotMatch(readText(file), /import\.meta\.url\)\.pathname|spawn\('npm'/, file);
  });

  it('lists the type and the folder of each node in CONTRIBUTING.md', () => {
    const listed = [...readText('CONTRIBUTING.md').matchAll(/\| `([\w-]+)` +\| `nodes\/(\w+)`/g)];
    const folders = JSON.parse(readText('nodes/folders.json')) as Record<string, string>;
    assert.deepEqual(Object.fromEntries(listed.map(([, type, folder]) => [type, folder])), folders);
  });

  it('gives all tests a known environment, in each way to run them', () => {
    const known = 'dist/test/support/known-environment.js';
    assert.deepEqual((JSON.parse(readText('.mocharc.json')) as { require: string[] }).require, [known]);
    for (const file of filesBelow('scripts')) {
      const text = readText(file);
      if (/no-config/.test(text)) assert.ok(text.includes(known), file);
      assert.ok(!/mocha\.js'/.test(text) || file === 'scripts/mocha.mjs', `${file}: use scripts/mocha.mjs`);
    }
  });

  it('names no path of a machine', () => {
    const files = [
      ...['src', 'nodes', 'test', 'scripts', 'examples', 'icons'].flatMap(filesBelow),
      ...filesBelow('docs').filter((file) => file.endsWith('.md')),
      'README.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
      'package.json',
      'tsconfig.json',
    ];
    const own = [root, homedir()].filter((path) => path.length > 1);
    for (const file of files) {
      const text = readText(file);
      assert.ok(!own.some((path) => text.includes(path)), file);
      assert.doesNotMatch(text, /["'` (](\/(home|root|Users|work)\/|[A-Z]:\\Users)\w/, file);
    }
  });
});
