// What `npm run mutation` leaves as it is, because no spec that it runs can notice a change of it. Sentences for a driver: the specs compare
// codes; test/nodes/node-red/sentences_spec.ts compares each sentence in the sources with its translations and with the documentation. What
// NODE_DEBUG prints: it is for developers. What another operating system runs: the specs run on this one. MUTATION_SAMPLE=3 leaves out all
// functions but a third, which the hashes of their names choose.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const sentences = new Set(
  Object.keys(JSON.parse(readFileSync(new URL('../nodes/locales/de/sentences.json', import.meta.url), 'utf8'))),
);
const templateOf = ({ quasis }) =>
  quasis.map(({ value }, index) => (index === 0 ? value.cooked : `{${index - 1}}${value.cooked}`)).join('');

const sample = Number(process.env.MUTATION_SAMPLE ?? 1);
const isLeftOut = ({ type, key, id }) => {
  if (!['ClassMethod', 'ClassPrivateMethod', 'FunctionDeclaration'].includes(type)) return false;
  const { name } = key?.id ?? key ?? id;
  return createHash('sha256').update(name).digest()[0] % sample > 0;
};

/** Whether a condition such as `process.platform === 'win32'` is met here; null for any other condition. */
const isThisSystem = ({ type, operator, left, right } = {}) =>
  type === 'BinaryExpression' && left.object?.name === 'process' && left.property?.name === 'platform'
    ? (operator === '===') === (right.value === process.platform)
    : null;

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'unnoticeable',
    value: {
      shouldIgnore({ node, key, parent }) {
        if (isLeftOut(node)) return 'Not in the sample';
        if (isThisSystem(node) !== null || (key === 'consequent' && isThisSystem(parent.test) === false))
          return 'For another operating system';
        if (node.type === 'CallExpression' && node.callee.name === 'debug') return 'Printed for developers alone';
        const text =
          node.type === 'StringLiteral'
            ? node.value
            : node.type === 'TemplateLiteral' &&
                node.expressions.every(({ type }) => type === 'Identifier' || type === 'CallExpression')
              ? templateOf(node)
              : null;
        return sentences.has(text) ? 'A sentence for a driver, compared with its translations' : undefined;
      },
    },
  },
];
