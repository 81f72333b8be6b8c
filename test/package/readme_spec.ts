import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { filesBelow, packageJson, readText, root } from './checkout';

describe('README.md', () => {
  const readme = readText('README.md');
  const documents = readme + readText('CONTRIBUTING.md') + readText('docs/internals/tests.md');

  it('is followed by documents whose generated parts are current; `npm run readme` writes them', () => {
    execFileSync(process.execPath, [join(root, 'scripts/readme.mjs'), '--check']);
  });

  it('and the guides name commands that exist', () => {
    const scripts = packageJson['scripts'] as Record<string, string>;
    for (const [, script = ''] of documents.matchAll(/npm run ([\w:-]+)/g)) assert.ok(script in scripts, script);
  });

  it('and the guides say what every command does', () => {
    const scripts = Object.keys(packageJson['scripts'] as object).filter((name) => name !== 'prepack');
    assert.deepEqual(
      scripts.filter((name) => !new RegExp(`npm (run )?${name}\\b`).test(documents)),
      [],
    );
  });

  it('begins with what it is, a picture and how to install it; the clone comes last', () => {
    const order = ['# Connected vehicle for Node-RED', '![', '_Manage palette_', 'npm ci && npm start'];
    const places = order.map((text) => readme.indexOf(text));
    assert.deepEqual(places, [0, ...places.slice(1).toSorted((a, b) => a - b)]);
    assert.ok(
      places.slice(0, 3).every((place) => place >= 0 && place < 1500),
      String(places),
    );
    assert.ok((places.at(-1) ?? 0) > readme.lastIndexOf('\n## '));
  });

  it('has at most 200 lines', () => assert.ok(readme.split('\n').length <= 200));

  it('shows, like the other documents, every picture of docs/images, and each of them loads quickly', () => {
    const documents = ['README.md', ...filesBelow('docs').filter((file) => file.endsWith('.md'))];
    const shown = documents.flatMap((document) =>
      [...readText(document).matchAll(/!\[[^\]]+\]\((?:https:\/\/[^)]+\/v[\d.]+\/)?([^)]+)\)/g)].map(([, link = '']) =>
        posix.join(dirname(document), link),
      ),
    );
    const taken = filesBelow('docs/images').filter((file) => file.endsWith('.png'));
    assert.deepEqual(shown.sort(), taken.sort());
    for (const picture of shown) assert.ok(statSync(join(root, picture)).size < 256 * 1024, picture);
  });
});
