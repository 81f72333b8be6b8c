import { strict as assert } from 'node:assert';
import { existsSync, readdirSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { nodeTypes, packageJson, readText, root } from './checkout';

/**
 * What the scorecard of the flow library looks at, checked without its network: the names of
 * its rules come first.
 */
describe('The scorecard of the flow library', () => {
  const engines = packageJson['engines'] as { node: string };
  const { keywords } = packageJson as typeof packageJson & { keywords: string[] };
  /** A range of the form `>=1.2.3` is what Node-RED and npm read alike. */
  const allows = (range: string, version: string): boolean => {
    assert.match(range, /^>=\d+\.\d+\.\d+$/);
    const [least, given] = [range.slice(2), version].map((text) => text.split('.').map(Number)) as [number[], number[]];
    const differing = least.findIndex((part, index) => part !== given[index]);
    return differing < 0 || (given[differing] as number) > (least[differing] as number);
  };

  it('P01, P03: there is a license, and a place to report to', () => {
    assert.equal(packageJson['license'], 'Apache-2.0');
    assert.ok(packageJson['repository'] ?? packageJson['bugs']);
  });

  it('P04: the name has a scope', () => assert.match(packageJson.name, /^@[a-z\d][\w-.]+\/[a-z\d][\w-.]*$/));

  it('P05: the keywords let the flow library find it', () => assert.ok(keywords.includes('node-red')));

  it('the palette manager finds it, which searches name and keywords, by what owners type: models, kinds of cars, abilities', () => {
    assert.equal(new Set(keywords).size, keywords.length);
    for (const keyword of ['ev', 'phev', 'ex30', 'xc60', 'v60', 'wallbox', 'climate', 'lock', 'unlock'])
      assert.ok(keywords.includes(keyword), keyword);
    const named = readText('docs/cars.md').toLowerCase();
    const models = keywords.filter((keyword) => /^[a-z]{1,2}\d\d$/.test(keyword));
    assert.deepEqual(
      models.filter((model) => !named.includes(model)),
      [],
    );
  });

  it('P06: it takes Node-RED 4.1 and 5', () => {
    for (const version of ['4.1.0', '4.1.15', '5.0.7'])
      assert.ok(allows(packageJson['node-red'].version, version), version);
  });

  it('P07: it takes the oldest Node of Node-RED 5, and Node 20.19', () => {
    for (const version of ['20.19.0', '22.9.0', '24.0.0']) assert.ok(allows(engines.node, version), version);
    assert.ok(!allows(engines.node, '20.18.9'));
  });

  it('N01: every type begins with the name of the pack, and its file is named after it', () => {
    for (const [type, file] of Object.entries(packageJson['node-red'].nodes)) {
      assert.match(type, /^connected-vehicle(-[a-z-]+)?$/);
      assert.equal(file, `dist/nodes/${type}.js`);
      assert.ok(existsSync(join(root, file.replace(/\.js$/, '.html'))), file);
    }
    assert.equal(nodeTypes[0], 'connected-vehicle');
  });

  it('D01, D02, D03: nothing is installed beside it, because its files load only Node.js and each other', () => {
    assert.ok(!('dependencies' in packageJson || 'optionalDependencies' in packageJson));
    const files = readdirSync(join(root, 'dist/nodes')).filter((file) => file.endsWith('.js'));
    assert.ok(files.includes('runtime.js'));
    for (const file of files)
      for (const [, name = ''] of readText(`dist/nodes/${file}`).matchAll(/\brequire\("([^"]+)"\)/g))
        assert.ok(
          name.startsWith('node:') || isBuiltin(name) || files.includes(name.replace(/^\.\//, '')),
          `${file} loads ${name}`,
        );
  });

  it('the README says what it does, what it needs and which nodes there are', () => {
    const readme = readText('README.md');
    assert.match(readme, /Node\.js 20\.19 or newer/);
    for (const type of nodeTypes) assert.ok(readme.includes(`\`${type}\``), type);
  });
});
