import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeLong } from '../support/long';
import { removeFolder } from '../support/remove-folder';
import planted from './planted.json';

const root = join(__dirname, '../../..');

/** Faults that a review planted into the pack; the tests had noticed 15 of 20. */
describeLong('A planted fault is noticed:', function () {
  this.timeout(1_200_000);
  let copy: string;
  let found: { unchanged: Record<'passed' | 'failed', string[]>; results: string[][] };

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

  planted.forEach(({ fault, spec, test }, index) => {
    it(fault, () => {
      const failed = found.results[index] ?? assert.fail();
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

describe('planted.json', () => {
  it('names texts that occur once in the compiled file', () => {
    for (const { file, find } of planted)
      assert.equal(readFileSync(join(root, 'dist', file), 'utf8').split(find).length, 2, `${file}: ${find}`);
  });
});
