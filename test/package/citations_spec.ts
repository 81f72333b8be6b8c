import { strict as assert } from 'node:assert';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { vehicleCredentials } from '../../nodes/runtime';
import { errorCodes } from '../../src/errors';
import { nodeOptions } from '../support/node-options';
import { anchorsOf, filesBelow, readText, root } from './checkout';

/** The documents with numbered sections. */
const documents = ['docs/internals/service.md', 'docs/internals/vendor-api.md', 'docs/internals/contract.md'];

const name = documents.map((each) => each.replaceAll('.', '\\.')).join('|');
const section = '\\d+(?:\\.\\d+)*[a-z]?\\b';
// A comment can break its line inside a citation.
const gap = '(?:\\s+(?:(?:\\*|//)\\s+)?)';
const list = `${section}(?:(?:,|${gap}(?:and|to|or))${gap}${section})*`;
const citation = new RegExp(`\\b(${name})${gap}(${list})`, 'g');
const ownSection = new RegExp(`\\bsections?${gap}(${list})`, 'gi');

const sectionsIn = (text: string): string[] => text.match(new RegExp(section, 'g')) ?? [];

/** Every section that a text cites, as the path of the document and the number of the section. */
function citationsIn(text: string): [document: string, section: string][] {
  return [...text.matchAll(citation)].flatMap(([, cited = '', numbers = '']) => {
    return sectionsIn(numbers).map((number): [string, string] => [cited, number]);
  });
}

const headingsOf = (document: string): string[] =>
  [...readText(document).matchAll(/^#{2,4} (\d+(?:\.\d+)*[a-z]?)\.? /gm)].map(([, number = '']) => number);

const parsed = (file: string): Record<string, unknown> => JSON.parse(readText(file)) as Record<string, unknown>;

const keyedTextsIn = (value: unknown, path = ''): [key: string, text: string][] =>
  typeof value === 'string'
    ? [[path, value]]
    : Object.entries(Object(value) as object).flatMap(([key, one]) => keyedTextsIn(one, `${path}.${key}`));

describe('The documents', () => {
  const headings = Object.fromEntries(documents.map((path) => [path, headingsOf(path)]));
  const guides = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'];
  const pages = filesBelow('docs').filter((file) => file.endsWith('.md'));
  const files = [...['src', 'nodes', 'test', 'scripts'].flatMap(filesBelow), ...pages, ...guides];

  it('have every section that is cited', () => {
    const cited = files
      .filter((file) => file !== 'test/package/citations_spec.ts')
      .flatMap((file) => citationsIn(readText(file)).map(([document, number]) => ({ file, document, number })));
    // The code cites more than a hundred sections: a pattern that finds hardly any
    // would prove nothing.
    assert.ok(cited.length > 100, `${cited.length} citations`);
    const missing = cited.filter(({ document, number }) => !headings[document]?.includes(number));
    assert.deepEqual(
      missing.map(({ file, document, number }) => `${file}: ${document} ${number}`),
      [],
    );
  });

  it('have every section that they refer to in themselves', () => {
    for (const [document, own] of Object.entries(headings)) {
      const referred = [...readText(document).matchAll(ownSection)].flatMap(([, numbers = '']) => sectionsIn(numbers));
      assert.deepEqual(
        referred.filter((number) => !own.includes(number)),
        [],
        document,
      );
    }
  });

  it('have one section to a number', () => {
    for (const [document, own] of Object.entries(headings)) assert.equal(new Set(own).size, own.length, document);
  });

  it('link only to files that exist', () => {
    for (const file of [...pages, ...guides]) {
      for (const [, link = ''] of readText(file).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g))
        assert.ok(existsSync(join(root, dirname(file), decodeURIComponent(link))), `${file}: ${link}`);
    }
  });

  it('are all listed in docs/index.md, and the recipes in docs/recipes.md', () => {
    const indexes = readText('docs/index.md') + readText('docs/recipes.md');
    const listed = new Set([...indexes.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = '']) => join('docs', link)));
    assert.deepEqual(
      pages.filter((page) => page !== 'docs/index.md' && !listed.has(page)),
      [],
    );
  });

  it('link only to headings that exist', () => {
    for (const file of [...pages, ...guides]) {
      for (const [, path = '', anchor = ''] of readText(file).matchAll(/\]\((?!https?:)([^)#\s]*\.md|)#([^)\s]+)\)/g)) {
        const target = path === '' ? file : join(dirname(file), path);
        assert.ok(anchorsOf(target).includes(anchor), `${file}: ${path}#${anchor}`);
      }
    }
  });

  it('describe each property of a node once, in a table of the page of its node', () => {
    // The other two are about the service, not about the nodes.
    const elsewhere = [...pages, ...guides].filter(
      (page) => !/^docs\/(nodes\/|internals\/(service|vendor-api))/.test(page),
    );
    const folders = parsed('nodes/folders.json');
    for (const [type, options] of Object.entries(nodeOptions)) {
      const page = `docs/nodes/${String(folders[type])}.md`;
      const shapes = [options, ...(type === 'connected-vehicle' ? [vehicleCredentials] : [])];
      const names = shapes.flatMap(({ def }) => Object.keys(def.getter().def.shape));
      for (const name of names.filter((one) => !one.endsWith('Type'))) {
        // A row of a table, or the name with a remark behind it.
        const description = new RegExp(`^\\| \`${name}\`(?:, \`\\w+\`)* *\\||\`${name}\` \\([^)]{12}`, 'm');
        assert.equal(readText(page).split(description).length, 2, `${page}: ${name}`);
        assert.deepEqual(
          elsewhere.filter((other) => description.test(readText(other))),
          [],
          name,
        );
      }
    }
  });

  it('say of each error code whether a retry can help, and list its causes with what to do', () => {
    const errors = readText('docs/errors.md');
    for (const [code, { retryable }] of Object.entries(errorCodes)) {
      const about = `[A-Z].+[.] (?:\`retryable\`|Otherwise, it) is \`${retryable}\`[.]`;
      assert.match(
        errors,
        new RegExp(`^## ${code}\n\n${about}\n\n1[.] (?:[^\n]+\n)+\n<!-- generated sentences ${code}\\b`, 'm'),
      );
    }
  });

  it('say what each text of a node status means', () => {
    const [, section = ''] = /^## A status below a node\n(.*?)^## /ms.exec(readText('docs/troubleshooting.md')) ?? [];
    const { status } = parsed('nodes/locales/en-US/runtime.json');
    const { cause } = parsed('src/words/en-US.json');
    const texts = keyedTextsIn([status, cause]).map(([, text]) => text);
    assert.ok(texts.length > 50, `${texts.length} texts`);
    const parts = texts.flatMap((text) => text.split(/__\w+__|, |: /)).map((part) => part.trim());
    assert.deepEqual(
      parts.filter((part) => /\w{2}/.test(part) && !section.includes(part)),
      [],
    );
  });

  it('have each text of a form, a button and the tab that something is wrong; `npm run readme` writes them', () => {
    const troubleshooting = readText('docs/troubleshooting.md') + readText('docs/errors.md');
    const fine = new RegExp(
      [
        'about|hint|does|gives|[Hh]int|duration|state|empty|good|demo|test\\.hint|search|fromSource|single|added',
        'command\\.none|session\\.(since|until|pasted|refreshing)|callback\\.done',
        'dialog\\.(calls\\w*|ticked|copied|tokenEnds|sign(ed)?In(Open|Done)?|redirect\\w+)$',
      ].join('|'),
    );
    const texts = filesBelow('nodes/locales/en-US')
      .filter((file) => file.endsWith('.json'))
      .flatMap((file) => keyedTextsIn(parsed(file)))
      .filter(([key, text]) => key.includes('reason') || (/ .*\.$/.test(text) && !fine.test(key)));
    assert.ok(texts.length > 60, `${texts.length} texts`);
    assert.deepEqual(
      texts.filter(([, text]) => !troubleshooting.includes(text.replace(/__\w+__/g, '…'))),
      [],
    );
  });

  it('are cited in any form and over the end of a line', () => {
    const text =
      'docs/internals/service.md 2.8 (docs/internals/vendor-api.md 1.5 and 1.6,\n * 4.1 to 4.3); docs/internals/contract.md\n * 5a.';
    assert.deepEqual(citationsIn(text), [
      ['docs/internals/service.md', '2.8'],
      ['docs/internals/vendor-api.md', '1.5'],
      ['docs/internals/vendor-api.md', '1.6'],
      ['docs/internals/vendor-api.md', '4.1'],
      ['docs/internals/vendor-api.md', '4.3'],
      ['docs/internals/contract.md', '5a'],
    ]);
  });
});
