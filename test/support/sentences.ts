import { strict as assert } from 'node:assert';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse, type AnyNode, type Program, type TemplateLiteral } from 'acorn';
import { ancestor, simple } from 'acorn-walk';
import { buildSync } from 'esbuild';
import { errorCodes } from '../../src/errors';

const root = resolve(__dirname, '../../..');

/**
 * The code of the runtime: what runs in a browser has its texts in the message catalogues, and the
 * simulated service has no driver.
 */
const sources = ['src', 'nodes']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .filter(
    (file) =>
      file.endsWith('.ts') &&
      !/\.d\.ts$|^src\/(simulator|drawing)\/|\/panel\/|^nodes\/editor\/|\/form\.ts$|\/dialog\.ts$/.test(file),
  );

/** Only a developer meets it: a wrong key of the store. */
const notForDrivers = /does not begin with a collection/;

/**
 * It may end in a part that is filled in, such as another sentence, and begin with the name of a
 * property of the message.
 */
const isSentence = (text: string): boolean =>
  /^(?:[A-Z“{]|msg\.)\S* .* .*(?:[.?]|\{\d+\})$/s.test(text) && /[a-z]{3}/.test(text) && !notForDrivers.test(text);

export interface Said {
  /** The path of the source. */
  file: string;
  /** Each tagged literal and each other text. */
  texts: string[];
  /** Those of them that are a sentence for a driver. */
  templates: string[];
  /** What should be tagged, with its file. */
  untagged: string[];
  /** The error code that the source names beside a template, if it names one. */
  codes: Map<string, string>;
}

/** The English templates in a source of the runtime. @param code without its types */
function templatesIn(file: string, code: string): Said {
  const found: string[] = [];
  const literals: TemplateLiteral[] = [];
  const templates = new Set<TemplateLiteral>();
  const tagged: string[] = [];
  const program = parse(code, { ecmaVersion: 'latest', sourceType: 'module' });
  simple(program, {
    Literal: ({ value }) => void (typeof value === 'string' && found.push(value)),
    TemplateLiteral: (literal) => void literals.push(literal),
    TaggedTemplateExpression: ({ tag, quasi }) => {
      templates.add(quasi);
      if (tag.type === 'Identifier' && tag.name === 'sentence') tagged.push(templateOf(quasi));
    },
  });
  const untagged = literals.filter((literal) => !templates.has(literal)).map(templateOf);
  const inErrors: string[] = [];
  simple(program, {
    NewExpression: ({ callee, arguments: [, said] }) => {
      if (callee.type !== 'Identifier' || !callee.name.endsWith('Error') || said === undefined) return;
      ancestor(said, {
        TemplateLiteral: (literal, _state, ancestors) => {
          const isTagged = ancestors.some(({ type }) => type === 'TaggedTemplateExpression');
          if (!isTagged && literal.expressions.length > 0) inErrors.push(templateOf(literal));
        },
      });
    },
  });
  const texts = [...tagged, ...found];
  return {
    file,
    texts,
    templates: texts.filter(isSentence),
    untagged: [...new Set([...untagged.filter((text) => text.includes('{') && isSentence(text)), ...inErrors])].map(
      (text) => `${file}: ${text}`,
    ),
    codes: codesIn(program),
  };
}

/** The error code beside each text: in a call, in a list or in an object. */
function codesIn(program: Program): Map<string, string> {
  const codes = new Map<string, string>();
  const note = (text: string, ancestors: readonly AnyNode[]): void => {
    for (const around of ancestors.toReversed()) {
      const beside = partsOf(around).find(
        (part) => part.type === 'Literal' && typeof part.value === 'string' && part.value in errorCodes,
      );
      if (beside?.type !== 'Literal') continue;
      codes.set(text, String(beside.value));
      return;
    }
  };
  ancestor(program, {
    Literal: ({ value }, _state, ancestors) => void (typeof value === 'string' && note(value, ancestors as AnyNode[])),
    TemplateLiteral: (literal, _state, ancestors) => note(templateOf(literal), ancestors as AnyNode[]),
  });
  return codes;
}

function partsOf(node: AnyNode): readonly AnyNode[] {
  switch (node.type) {
    case 'NewExpression':
    case 'CallExpression':
      return node.arguments;
    case 'ArrayExpression':
      return node.elements.filter((element) => element !== null);
    case 'ObjectExpression':
      return node.properties.flatMap((property) => (property.type === 'Property' ? [property.value] : []));
    default:
      return [];
  }
}

const templateOf = ({ quasis }: TemplateLiteral): string =>
  quasis.map(({ value }) => value.cooked ?? '').reduce((template, text, index) => `${template}{${index - 1}}${text}`);

/** Without types. All in one call, because each call starts a process. */
const { outputFiles } = buildSync({
  absWorkingDir: root,
  entryPoints: sources,
  outbase: root,
  outdir: root,
  tsconfigRaw: {},
  write: false,
});
const codes = new Map(outputFiles.map(({ path, text }) => [path, text]));

/** The English texts of the runtime, file by file. */
export const said: readonly Said[] = sources.map((file) => {
  const code = codes.get(join(root, file.replace(/ts$/, 'js')));
  assert.ok(code !== undefined, file);
  return templatesIn(file, code);
});

/** Every English template of a sentence for a driver, once. */
export const templates: readonly string[] = [...new Set(said.flatMap((source) => source.templates))];
