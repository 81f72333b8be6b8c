import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageJson, readText, root } from './checkout';

const filesOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file));

describe('README.md', () => {
  const readme = readText('README.md');

  it('is followed by documents whose generated parts are current; `npm run readme` writes them', () => {
    execFileSync(process.execPath, [join(root, 'scripts/readme.mjs'), '--check']);
  });

  it('leads to files and commands that exist', () => {
    const documents = readme + readText('CONTRIBUTING.md');
    for (const [, link = ''] of documents.matchAll(/\]\((?!https?:|#)([^)#]+)\)/g))
      assert.ok(existsSync(join(root, link)), link);
    const scripts = packageJson['scripts'] as Record<string, string>;
    for (const [, script = ''] of documents.matchAll(/npm run ([\w:-]+)/g)) assert.ok(script in scripts, script);
  });

  it('and the guide tell what every command does', () => {
    const documents = readme + readText('CONTRIBUTING.md');
    const scripts = Object.keys(packageJson['scripts'] as object).filter((name) => name !== 'prepack');
    assert.deepEqual(
      scripts.filter((name) => !new RegExp(`npm (run )?${name}\\b`).test(documents)),
      [],
    );
  });

  it('has at most 200 lines', () => assert.ok(readme.split('\n').length <= 200));

  it('shows, like the other documents, every picture of docs/images, and each of them loads quickly', () => {
    const documents = ['README.md', ...filesOf('docs').filter((file) => file.endsWith('.md'))];
    const shown = documents.flatMap((document) =>
      [...readText(document).matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, link = '']) => join(dirname(document), link)),
    );
    const taken = filesOf('docs/images').filter((file) => file.endsWith('.png'));
    assert.deepEqual(shown.sort(), taken.sort());
    for (const picture of shown) assert.ok(statSync(join(root, picture)).size < 100 * 1024, picture);
  });
});
