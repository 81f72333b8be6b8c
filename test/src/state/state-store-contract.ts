import { strict as assert } from 'node:assert';
import type { StateStore } from '../../../src/index';

/**
 * What every StateStore promises.
 * @param make returns an empty store
 * @param restart returns the store of the next process; absent if the store ends with its process
 */
export function keepsTheContract(make: () => StateStore, restart?: () => StateStore): void {
  const keysOf = async (store: StateStore, prefix: string): Promise<string[]> =>
    (await store.entries(prefix)).map(({ key }) => key);

  it('gives back what was written last, as JSON holds it', async () => {
    const store = make();
    assert.equal(await store.read('journal/a'), null);
    await store.write('journal/a', { list: [1, null, 'ü'] });
    const version = await store.write('journal/a', { list: [2], left: undefined });
    assert.deepEqual(await store.read('journal/a'), { value: { list: [2] }, version });
    assert.equal(await store.read('journal/b'), null);
    await store.write('journal/b', undefined);
    assert.equal((await store.read('journal/b'))?.value, null);
  });

  it('gives each reader a value of its own', async () => {
    const store = make();
    const value = { list: [1] };
    await store.write('journal/a', value);
    value.list.push(2);
    const { value: read } = (await store.read('journal/a')) ?? {};
    assert.deepEqual(read, { list: [1] });
    (read as typeof value).list.push(3);
    const [entry = assert.fail()] = await store.entries('journal/');
    (entry.value as typeof value).list.push(4);
    assert.deepEqual((await store.read('journal/a'))?.value, { list: [1] });
  });

  it('writes on condition of the version', async () => {
    const store = make();
    const first = await store.write('grant/a', 1, { expected: null });
    assert.notEqual(first, null);
    assert.equal(await store.write('grant/a', 2, { expected: null }), null);
    const second = await store.write('grant/a', 2, { expected: first });
    assert.notEqual(second, null);
    assert.equal(await store.write('grant/a', 3, { expected: first }), null);
    assert.equal(await store.write('grant/b', 3, { expected: first }), null);
    assert.deepEqual(await store.read('grant/a'), { value: 2, version: second });
  });

  it('lets one of many conditional writes win', async () => {
    const store = make();
    const versions = await Promise.all(
      Array.from({ length: 20 }, (_, count) => store.write('grant/a', count, { expected: null })),
    );
    const winner = versions.findIndex((version) => version !== null);
    assert.equal(versions.filter((version) => version !== null).length, 1);
    assert.deepEqual(await store.read('grant/a'), { value: winner, version: versions[winner] });
  });

  it('removes on condition of the version', async () => {
    const store = make();
    const first = await store.write('grant/a', 1);
    const second = await store.write('grant/a', 2);
    assert.equal(await store.remove('grant/a', { expected: first }), false);
    assert.equal((await store.read('grant/a'))?.value, 2);
    assert.equal(await store.remove('grant/a', { expected: second }), true);
    assert.equal(await store.read('grant/a'), null);
    assert.equal(await store.remove('grant/a', { expected: second }), false);
    assert.equal(await store.remove('grant/a'), true);
  });

  it('never gives a version twice, not even if the value comes back or was removed', async () => {
    const store = make();
    const first = await store.write('grant/a', 1);
    await store.write('grant/a', 2);
    await store.write('grant/a', 1);
    assert.equal(await store.write('grant/a', 3, { expected: first }), null);
    await store.remove('grant/a');
    await store.write('grant/a', 1);
    assert.equal(await store.write('grant/a', 3, { expected: first }), null);
    assert.equal(await store.remove('grant/a', { expected: first }), false);
    assert.equal((await store.read('grant/a'))?.value, 1);
  });

  it('gives the entries of a prefix with their versions, the one that was written last at the end', async () => {
    const store = make();
    assert.deepEqual(await store.entries('watches/'), []);
    for (const key of ['watches/b/1', 'watches/a/2', 'watches/a/1', 'watches/ab/1', 'commands/a/1'])
      await store.write(key, { key });
    const version = await store.write('watches/a/2', { again: true });
    const [one, two, ...others] = await store.entries('watches/a/');
    assert.deepEqual(others, []);
    assert.deepEqual(one, { key: 'watches/a/1', value: { key: 'watches/a/1' }, version: one?.version });
    assert.deepEqual(two, { key: 'watches/a/2', value: { again: true }, version });
    assert.notEqual(await store.write('watches/a/1', 2, { expected: one?.version ?? '' }), null);
    assert.deepEqual(await keysOf(store, 'watches/'), ['watches/b/1', 'watches/ab/1', 'watches/a/2', 'watches/a/1']);
  });

  it('refuses a key without a collection', async () => {
    const store = make();
    for (const key of ['', 'a', '/a', '../a/b', 'A/b', '..']) {
      await assert.rejects(async () => store.read(key), TypeError);
      await assert.rejects(async () => store.write(key, 1), TypeError);
      await assert.rejects(async () => store.remove(key), TypeError);
      await assert.rejects(async () => store.entries(key), TypeError);
    }
  });

  it('keeps the order of changes that are not awaited', async () => {
    const store = make();
    await Promise.all([
      ...Array.from({ length: 50 }, (_, count) => store.write('guard/a', count)),
      store.remove('guard/a'),
      store.write('guard/a', 'last'),
      store.write('guard/b', 1),
      store.remove('guard/b'),
    ]);
    assert.equal((await store.read('guard/a'))?.value, 'last');
    assert.equal(await store.read('guard/b'), null);
  });

  it('takes any text as the name of a key', async () => {
    const keys = ['guard/../../../x', 'guard/..', 'guard/\u0000', `guard/${'long'.repeat(200)}`, 'guard/ü/\\..\\'];
    const store = make();
    for (const key of keys) await store.write(key, key);
    for (const key of keys) assert.equal((await store.read(key))?.value, key);
    assert.deepEqual(await keysOf(store, 'guard/'), keys);
  });

  if (restart !== undefined)
    it('gives values and versions to the next process, in the same order', async () => {
      const store = make();
      for (const key of ['guard/b', 'guard/a', 'guard/c']) await store.write(key, { key });
      await store.write('guard/b', 'changed');
      await store.remove('guard/c');
      const entries = await store.entries('guard/');
      const next = restart();
      assert.deepEqual(await next.entries('guard/'), entries);
      assert.deepEqual(await next.read('guard/b'), { value: 'changed', version: entries.at(-1)?.version });
      assert.notEqual(await next.write('guard/b', 1, { expected: entries.at(-1)?.version ?? '' }), null);
      assert.equal(await next.write('guard/b', 2, { expected: entries.at(-1)?.version ?? '' }), null);
    });
}
