// What `npm run mutation` leaves as it is, because no spec that it runs can notice a change of it. Sentences for a driver: the specs compare
// codes; test/nodes/node-red/sentences_spec.ts compares each sentence in the sources with its translations and with the documentation. What
// NODE_DEBUG prints: it is for developers.
import { readFileSync } from 'node:fs';

const sentences = new Set(
  Object.keys(JSON.parse(readFileSync(new URL('../nodes/locales/de/sentences.json', import.meta.url), 'utf8'))),
);
const templateOf = ({ quasis }) =>
  quasis.map(({ value }, index) => (index === 0 ? value.cooked : `{${index - 1}}${value.cooked}`)).join('');

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'sentences',
    value: {
      shouldIgnore({ node }) {
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
