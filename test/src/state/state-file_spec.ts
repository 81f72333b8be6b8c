import { strict as assert } from 'node:assert';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StateFile } from '../../../src/index';

describe('a state file', () => {
  let directory: string;
  let path: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'state-file-'));
    path = join(directory, 'private', 'state.json');
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('gives back what was saved last, also to the next process', async () => {
    const file = new StateFile(path);
    assert.equal(await file.load(), undefined);
    await file.save({ a: 1 });
    await file.save({ a: [2] });
    assert.deepEqual(await new StateFile(path).load(), { a: [2] });
  });

  it('is readable by its owner only', async () => {
    await new StateFile(path).save({});
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(join(directory, 'private')).mode & 0o777, 0o700);
  });

  it('keeps the order of saves that are not waited for, and leaves nothing behind', async () => {
    const file = new StateFile(path);
    await Promise.all(Array.from({ length: 50 }, (_, count) => file.save({ count })));
    assert.deepEqual(await file.load(), { count: 49 });
    assert.deepEqual(readdirSync(join(directory, 'private')), ['state.json']);
  });

  it('hands on as text what is no JSON, so that nobody takes it for nothing', async () => {
    await new StateFile(path).save({});
    writeFileSync(path, '{"a":');
    assert.equal(await new StateFile(path).load(), '{"a":');
  });

  it('says when it cannot be written, and goes on with the next save', async () => {
    writeFileSync(join(directory, 'private'), 'a file in the way');
    const file = new StateFile(path);
    await assert.rejects(file.save({ a: 1 }));
    await assert.rejects(file.load());
    rmSync(join(directory, 'private'));
    await file.save({ a: 2 });
    assert.equal(readFileSync(path, 'utf8'), '{"a":2}');
  });

  it('can be removed, and is nothing where nothing is to be kept', async () => {
    const file = new StateFile(path);
    await file.save({});
    await file.remove();
    assert.equal(await file.load(), undefined);
    const none = new StateFile(null);
    await none.save({});
    assert.equal(await none.load(), undefined);
    await none.remove();
  });
});
