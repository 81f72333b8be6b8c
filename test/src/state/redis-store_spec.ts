import { strict as assert } from 'node:assert';
import { openRedis, RedisServer } from '../../support/redis-server';
import type { RedisStateStore } from '../../../src/index';
import type { RedisStateStoreOptions } from '../../../src/state/redis-store';
import { StateFault } from '../../../src/state/state-store';
import { keepsTheContract } from './state-store-contract';

const isUnavailable =
  (words: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof StateFault, String(error));
    assert.equal(error.fault, 'unavailable');
    assert.equal(error.code, 'STORE_UNAVAILABLE');
    assert.match(error.message, words);
    return true;
  };

describe('the store on Redis', () => {
  let server: RedisServer;
  let stores: RedisStateStore[] = [];

  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.end());
  afterEach(async () => {
    for (const store of stores) await store.close();
    stores = [];
    await server.send('FLUSHALL');
  });

  const open = (options: Partial<RedisStateStoreOptions> = {}, url = server.url): RedisStateStore => {
    const store = openRedis(url, options);
    stores.push(store);
    return store;
  };

  describe('as every store', () =>
    keepsTheContract(
      () => open(),
      () => open(),
    ));

  it('is shared by processes with the same prefix, and what belongs to nodes by those with the same scope', async () => {
    await open().write('guard/a', 1);
    await open().write('car/a', 2);
    assert.equal((await open().read('guard/a'))?.value, 1);
    assert.equal(await open({ scope: 'b' }).read('guard/a'), null);
    assert.equal((await open({ scope: 'b' }).read('car/a'))?.value, 2);
    assert.equal(await open({ prefix: 'other' }).read('car/a'), null);
    assert.deepEqual((await open().report()).otherPrefixes, ['other']);
  });

  it('lets one of many conditional writes of several processes win', async () => {
    const several = Array.from({ length: 5 }, () => open());
    const versions = await Promise.all(
      several.flatMap((store) => [1, 2, 3].map((value) => store.write('turn/a', value, { expected: null }))),
    );
    assert.equal(versions.filter((version) => version !== null).length, 1);
  });

  it('keeps neither values nor names in plain', async () => {
    const store = open();
    await store.write('car/YV1ZZZZZZZZZZZZZZ', { token: 'sesame' });
    await store.write('guard/kitchen', 'sesame');
    const keys = (await server.send('KEYS', '*')) as string[];
    let all = keys.join();
    for (const key of keys.filter((name) => !name.endsWith(':version')))
      all += JSON.stringify(await server.send('HGETALL', key));
    assert.match(all, /connected-vehicle:car/);
    assert.doesNotMatch(all, /sesame|YV1ZZZ|kitchen/);
  });

  it('gives a version once, although the server forgot its last writes', async () => {
    const store = open();
    const first = await store.write('turn/a', 1);
    await server.send('DEL', 'connected-vehicle:version', 'connected-vehicle:turn');
    const again = await store.write('turn/a', 1);
    assert.notEqual(first, again);
    assert.equal(await store.write('turn/a', 2, { expected: first }), null);
  });

  describe('with another secret', () => {
    it('reads and overwrites nothing, and says so', async () => {
      await open().write('sign-in/a', { token: 1 });
      const other = open({ secret: () => 'other' });
      const says = isUnavailable(/another credentialSecret.*CONNECTED_VEHICLE_PREFIX/);
      await assert.rejects(other.read('sign-in/a'), says);
      await assert.rejects(other.write('sign-in/a', 2), says);
      await assert.rejects(other.entries('sign-in/'), says);
      await assert.rejects(other.remove('sign-in/a'), says);
      assert.deepEqual((await open().read('sign-in/a'))?.value, { token: 1 });
    });
  });

  it('does not overwrite what a newer version of the pack has written', async () => {
    const store = open();
    await store.write('guard/a', 1);
    const [hash = ''] = (await server.send('KEYS', '*:guard')) as string[];
    const [field = ''] = (await server.send('HKEYS', hash)) as string[];
    await server.send('HSET', hash, field, '7.x {"format":2,"anything":1}');
    await assert.rejects(store.read('guard/a'), (error) => error instanceof StateFault && error.fault === 'newer');
    await assert.rejects(store.write('guard/a', 2), StateFault);
    assert.equal(await server.send('HGET', hash, field), '7.x {"format":2,"anything":1}');
    assert.deepEqual(await store.entries('guard/'), []);
  });
});
