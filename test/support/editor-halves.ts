import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { parseExpressionAt, type Expression, type ObjectExpression, type Property } from 'acorn';
import { buildSync } from 'esbuild';

export const root = resolve(__dirname, '../../..');
const nodes = join(root, 'dist/nodes');

export interface EditorProperty {
  value: unknown;
  required?: boolean;
  type?: string;
  validate?: (this: object, value: unknown, opt: object) => true | string;
}

/** A definition as the editor gets it. */
export interface EditorDefinition {
  category: string;
  color: string;
  icon: string;
  defaults: Record<string, EditorProperty>;
  credentials?: Record<string, EditorProperty>;
  inputs?: number;
  outputs?: number;
  paletteLabel(): string;
  label(this: object): string;
  inputLabels?(): string;
  outputLabels?(index: number): string;
}

interface Manifest {
  'node-red': { nodes: Record<string, string> };
}

const read = (...path: string[]): string => readFileSync(join(nodes, ...path), 'utf8');

export const types = Object.keys(
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest)['node-red'].nodes,
);
/** The languages that the editor of Node-RED has; the runtime knows more. */
export const languages = readdirSync(join(nodes, 'locales')).filter((language) =>
  existsSync(join(nodes, 'locales', language, 'connected-vehicle.html')),
);
export const icons = readdirSync(join(nodes, 'icons'));

export const page = (type: string): string => read(`${type}.html`);
export const help = (language: string, type: string): string => read('locales', language, `${type}.html`);

/** The content of the edit form. */
export const template = (type: string): string =>
  // As written: the build leaves out what Node-RED does not need.
  (/<script type="text\/html"[^>]*>(.*?)<\/script>/s.exec(page(type))?.[1] ?? '')
    .replace(/=([\w.-]+)(?=[ >])/g, '="$1"')
    .replace(/data-shared="((?:\[[\w-]+\])?)/g, 'data-i18n="$1@connected-vehicle/node-red/connected-vehicle:');

export const script = (type: string): string =>
  /<script type="text\/javascript">(.*?)<\/script>/s.exec(page(type))?.[1] ?? '';

const folderOf = JSON.parse(readFileSync(join(root, 'nodes/folders.json'), 'utf8')) as Record<string, string>;

const filesOf = (type: string, names: readonly string[]): string =>
  names
    .map((name) => join(root, 'nodes', folderOf[type] ?? '', name))
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');

/**
 * The code of the form and of its dialog as it is written; the dialog of the configuration
 * is in `sharedSources`.
 */
export const source = (type: string): string =>
  filesOf(type, ['form.ts', 'common.ts', ...(type === 'connected-vehicle' ? [] : ['dialog.ts'])]);

/** The code that every editor loads for a type, as it is written. */
export const sourceAtStart = (type: string): string =>
  filesOf(type, [
    'form.ts',
    'common.ts',
    ...['validators', 'hours', 'requests-per-day', 'typed-inputs', 'open-form'].map((name) => `../editor/${name}.ts`),
  ]);

export const sharedSources = [
  ...readdirSync(join(root, 'nodes/editor')).map((file) => `editor/${file}`),
  'vehicle/dialog.ts',
].map((file) => readFileSync(join(root, 'nodes', file), 'utf8'));

/** Everything that can ask for a text, the forms included. */
export const allSources = ['nodes', 'src']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(root, folder, file)),
  )
  .filter((file) => /\.ts$|nodes\/[^/]*\/form\.html$/.test(file))
  .concat(join(root, 'scripts/form-rows.mjs'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** The message catalogue of a type that every editor loads, as the file has it. */
export const catalogue = (language: string, type: string): string => read('locales', language, `${type}.json`);

/** A catalogue, with what is loaded later, with each text under its whole key, `label.vin`. */
export function words(language: string, type: string): Map<string, string> {
  return new Map([...wordsAtStart(language, type), ...textsOf(laterWords(language)[type] ?? {})]);
}

/** What every editor loads of it. */
export const wordsAtStart = (language: string, type: string): Map<string, string> =>
  textsOf(JSON.parse(catalogue(language, type)) as object);

function textsOf(tree: object): Map<string, string> {
  const texts = new Map<string, string>();
  const collect = (path: string, value: unknown): void => {
    if (typeof value === 'string') texts.set(path, value);
    else
      for (const [key, inner] of Object.entries(value as object)) collect(path === '' ? key : `${path}.${key}`, inner);
  };
  collect('', tree);
  return texts;
}

/** The texts of all types that are loaded when a form opens; of a language without forms, none. */
function laterWords(language: string): Record<string, object> {
  const file = join(root, 'resources', `connected-vehicle-words-${language}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>) : {};
}

/** A key in a catalogue, also if it has only plural forms. */
export const has = (texts: Map<string, string>, key: string): boolean => texts.has(key) || texts.has(`${key}_other`);

/** A node of the flows that the editor holds; `quota` and the like only of a vehicle. */
export type HeldNode = { id: string; type: string } & Record<string, unknown>;

/** The script that all forms share, as the build leaves it in `resources`. */
const sharedScript = readFileSync(join(root, 'resources/connected-vehicle.js'), 'utf8');

/** The part of an open form that shows what was read. */
const { text: showValues = '' } =
  buildSync({
    entryPoints: [join(root, 'nodes/editor/show-values.ts')],
    bundle: true,
    format: 'iife',
    globalName: 'showValues',
    packages: 'external',
    write: false,
  }).outputFiles[0] ?? {};

interface ShowValues {
  clearAnswer(): void;
  showAnswer(query: object, isSeveral: boolean, titleOf: (read: string) => string, done: () => void): void;
}

/** The part of the shared functions that tests call. */
interface SharedEditor {
  loadCredentials(): void;
  checkFindings(id: string, done: (lines: [text: string, isBad?: boolean][]) => void): void;
}

interface EditorRequest {
  data: string;
  answer(body: object): void;
}

/** A text is its key, with the values that are filled in. */
const keyOf = (key: string, values?: object): string =>
  key.replace('@connected-vehicle/node-red/', '').replace(':', '.') +
  (values === undefined ? '' : ` ${JSON.stringify(values)}`);

const holding = (held: readonly HeldNode[]) => ({
  node: (id: string) => held.find((node) => node.id === id) ?? null,
  eachNode: (callback: (node: HeldNode) => void) =>
    held.filter((node) => node.type !== 'connected-vehicle').forEach(callback),
  eachConfig: (callback: (node: HeldNode) => void) =>
    held.filter((node) => node.type === 'connected-vehicle').forEach(callback),
});

/**
 * The functions that the forms share, and those that show what was read, run in an editor
 * that holds these nodes.
 * @returns also the requests that they sent, and every text that they showed
 */
export function sharedEditor(
  held: readonly HeldNode[],
  language = 'en-US',
): { connectedVehicle: SharedEditor; showValues: ShowValues; requests: EditorRequest[]; shown: string[] } {
  const requests: EditorRequest[] = [];
  const shown: string[] = [];
  // One element represents all of them: an appended one has a parent until the next `empty`.
  let hasParent = false;
  const setParent = (is: boolean) => {
    hasParent = is;
    return element;
  };
  const element = {
    empty: () => setParent(false),
    append: () => setParent(true),
    parent: () => ({ length: hasParent ? 1 : 0 }),
    toggleClass: () => element,
    addClass: () => element,
    removeClass: () => element,
    attr: () => element,
    on: () => element,
    val: () => 'car',
    get: () => undefined,
    text(text: string) {
      shown.push(text);
      return element;
    },
  };
  const ajax = ({ data }: { data: string }) => {
    const request: EditorRequest = { data, answer: () => undefined };
    requests.push(request);
    const sent = {
      done(answer: (body: object) => void) {
        request.answer = answer;
        return sent;
      },
      fail: () => sent,
    };
    return sent;
  };
  const getJSON = (data: string, answer: EditorRequest['answer']) => void requests.push({ data, answer });
  const RED = {
    _: keyOf,
    i18n: { lang: () => language },
    nodes: holding(held),
    editor: { validateNode: () => undefined },
    view: { redraw: () => undefined },
  };
  const context = { URL, Intl, $: Object.assign(() => element, { ajax, getJSON }), RED };
  const found = runInNewContext(`${sharedScript};${showValues};({ connectedVehicle, showValues })`, context);
  return { ...(found as { connectedVehicle: SharedEditor; showValues: ShowValues }), requests, shown };
}

/**
 * The definition of a type, run in an editor that has no other type, whose texts are their keys,
 * whose forms are closed, and which holds these nodes.
 */
export function definition(type: string, held: readonly HeldNode[] = []): EditorDefinition {
  const registered: Record<string, EditorDefinition> = {};
  runInNewContext(sharedScript + script(type), {
    URL,
    Intl,
    location: new URL('http://127.0.0.1:1880/'),
    $: () => ({ val: () => undefined, data: () => undefined }),
    RED: {
      _: (key: string) => keyOf(key),
      events: { on: () => undefined },
      utils: { getNodeLabel: (node: HeldNode) => node['name'] },
      nodes: {
        registerType: (name: string, found: EditorDefinition) => (registered[name] = found),
        ...holding(held),
      },
    },
  });
  const found = registered[type];
  if (found === undefined) throw new Error(`${type} is not registered`);
  return found;
}

/** `RED.nodes.registerType("type", { … })` as a parser sees it, which runs nothing. */
export function registration(type: string): { name: unknown; properties: Map<string, Expression> } {
  const source = script(type);
  const call = parseExpressionAt(source, source.indexOf('RED.nodes.registerType('), { ecmaVersion: 2020 });
  const [name, object] = call.type === 'CallExpression' ? call.arguments : [];
  if (object?.type !== 'ObjectExpression') throw new Error(`${type} is not registered with a literal object`);
  return { name: literal(name as Expression), properties: propertiesOf(object) };
}

/** Throws at a spread: the flow library does not look behind it. */
export function propertiesOf(object: ObjectExpression): Map<string, Expression> {
  return new Map(
    object.properties.map((property) => {
      const { key, value } = property as Property;
      if (key.type !== 'Identifier' && key.type !== 'Literal') throw new Error('a computed key or a spread');
      return [String(key.type === 'Identifier' ? key.name : key.value), value];
    }),
  );
}

/**
 * The value of a literal, of a list or an object of them; throws at anything that
 * would have to be run.
 */
export function literal(expression: Expression): unknown {
  if (expression.type === 'Literal') return expression.value;
  if (expression.type === 'ArrayExpression')
    return expression.elements.map((element) => literal(element as Expression));
  if (expression.type === 'ObjectExpression')
    return Object.fromEntries([...propertiesOf(expression)].map(([name, value]) => [name, literal(value)]));
  throw new Error(`${expression.type} is not a literal`);
}
