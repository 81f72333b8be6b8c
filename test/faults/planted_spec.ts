import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { everyNth } from '../support/long';
import { removeFolder } from '../support/remove-folder';
import planted from './planted.json';

const root = join(__dirname, '../../..');

/** Faults that a review planted into the pack; the tests had noticed 15 of 20. */
describe('A planted fault is noticed:', function () {
  this.timeout(300_000);
  let copy: string;
  let found: { unchanged: Record<'passed' | 'failed', string[]>; results: { places: number; failed: string[] }[] };

  before(async () => {
    copy = mkdtempSync(join(tmpdir(), 'planted-'));
    for (const name of readdirSync(root)) {
      if (name === 'dist') cpSync(join(root, name), join(copy, name), { recursive: true });
      else if (statSync(join(root, name)).isDirectory()) symlinkSync(join(root, name), join(copy, name), 'junction');
      else copyFileSync(join(root, name), join(copy, name));
    }
    await promisify(execFile)(process.execPath, [join(copy, 'dist/test/faults/planted-process.js')]);
    found = JSON.parse(readFileSync(join(copy, 'dist/planted-results.json'), 'utf8')) as typeof found;
  });
  after(() => removeFolder(copy));

  everyNth(3, planted).forEach(({ fault, file, spec, test }, index) => {
    it(fault, () => {
      const { places, failed } = found.results[index] ?? assert.fail();
      assert.equal(places, 1, `the text of planted.json is ${places} times in dist/${file}`);
      assert.ok(
        found.unchanged.passed.some((title) => title.includes(test)),
        `${spec}: ${test}`,
      );
      assert.ok(
        failed.some((title) => title.includes(test)),
        `${spec} passes with the fault, or something else fails: ${failed.join()}`,
      );
    });
  });

  it('by tests that pass without it', () => assert.deepEqual(found.unchanged.failed, []));
});
