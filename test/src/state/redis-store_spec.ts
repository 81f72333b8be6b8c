import { strict as assert } from 'node:assert';
import crypto = require('node:crypto');
import { createConnection, createServer } from 'node:net';
import { listen } from '../../support/listening';
import { ManualClock } from '../../support/manual-clock';
import { describeOnRedis, openRedis, RedisServer } from '../../support/redis-server';
import { authority, issuedCertificate, otherCertificate } from '../../support/test-certificate';
import { checkStore, LocalPresence, RedisPresence, wordSentence, type RedisStateStore } from '../../../src/index';
import type { RedisStateStoreOptions } from '../../../src/state/redis-store';
import { StateFault } from '../../../src/state/state-store';
import { keepsTheContract } from './state-store-contract';
import { isUnavailable } from '../../support/failure';

describeOnRedis('the store on Redis', () => {
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

  it('keeps neither values nor names in plain text', async () => {
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

  it('names a car by a hash that nobody makes of its VIN without the secret', async () => {
    const key = 'car/YV1ZZZZZZZZZZZZZZ';
    const fields = async (prefix: string): Promise<string[]> => {
      await open({ prefix }).write(key, 1);
      return (await server.send('HKEYS', `${prefix}:car`)) as string[];
    };
    const [field = '', ...others] = await fields('one');
    assert.deepEqual(others, []);
    assert.ok(!crypto.createHash('sha256').update(key).digest('hex').startsWith(field), field);
    assert.notEqual((await fields('two'))[0], field);
  });

  describe('with another secret', () => {
    it('reads and overwrites nothing, and reports that', async () => {
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

  it('derives no key for a forged value, and opens no value that was copied from another scope', async () => {
    const store = open();
    await store.write('guard/a', 1);
    await open({ scope: 'b' }).write('guard/a', 2);
    const text = (): string => crypto.randomBytes(16).toString('base64');
    const forged = Array.from({ length: 500 }, () => {
      const value = { format: 1, keyId: text(), salt: text(), nonce: text(), tag: text(), data: text() };
      return [text(), `1.x ${JSON.stringify(value)}`];
    });
    await server.send('HSET', 'connected-vehicle:process', ...forged.flat());
    const { scrypt } = crypto;
    let derivations = 0;
    crypto.scrypt = (...args: unknown[]): void => {
      derivations += 1;
      Reflect.apply(scrypt, crypto, args);
    };
    try {
      assert.deepEqual(await store.entries('process/'), []);
    } finally {
      crypto.scrypt = scrypt;
    }
    assert.equal(derivations, 0);

    const keys = ((await server.send('KEYS', '*:guard')) as string[]).sort();
    assert.equal(keys.length, 2);
    const [field = ''] = (await server.send('HKEYS', keys[0] ?? '')) as string[];
    const [own, other] = await Promise.all(keys.map(async (key) => String(await server.send('HGET', key, field))));
    await server.send('HSET', keys[0] ?? '', field, other ?? '');
    await server.send('HSET', keys[1] ?? '', field, own ?? '');
    for (const scope of ['a', 'b']) await assert.rejects(open({ scope }).read('guard/a'), { fault: 'damaged' });
  });

  it('has a leader again after the stored leader was damaged', async () => {
    const store = open();
    const version = await store.write('leader/flows', { id: 'gone' });
    const [hash = ''] = (await server.send('KEYS', '*:leader')) as string[];
    const [field = ''] = (await server.send('HKEYS', hash)) as string[];
    const sealed = String(await server.send('HGET', hash, field));
    await server.send('HSET', hash, field, sealed.replace('"data":"', '"data":"AAAA'));
    await assert.rejects(store.read('leader/flows'), { fault: 'damaged', version });
    const presence = new RedisPresence({ store, group: 'flows' });
    let end = (): void => undefined;
    await new Promise<void>((resolve) => {
      end = presence.onLeading((isLeading) => (isLeading ? resolve() : undefined));
    });
    assert.deepEqual((await store.read('leader/flows'))?.value, { id: presence.id });
    end();
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
    await store.write('guard/b', 1);
    const names = (await server.send('HKEYS', hash)) as string[];
    const other = names.find((name) => name !== field) ?? '';
    const stored = String(await server.send('HGET', hash, other));
    await server.send('HSET', hash, other, stored.replace('"format":1', '"format":2'));
    await assert.rejects(store.write('guard/b', 2), isUnavailable(/newer version of the pack.*Update the pack/));
  });

  describe('with a server that cannot be used', () => {
    const servers: RedisServer[] = [];
    afterEach(async () => {
      for (const one of servers.splice(0)) await one.end();
    });
    const start = async (...options: string[]): Promise<RedisServer> => {
      const started = await RedisServer.start(...options);
      servers.push(started);
      return started;
    };
    const refuses = async (
      url: string,
      words: RegExp,
      options: Partial<RedisStateStoreOptions> = {},
    ): Promise<void> => {
      const store = open(options, url);
      await assert.rejects(store.write('guard/a', 1), isUnavailable(words));
      await assert.rejects(store.read('guard/a'), isUnavailable(words));
      assert.match(store.fault?.message ?? '', words);
      assert.doesNotMatch(store.fault?.message ?? '', /sesame/);
    };

    it('says that the password is wrong or missing', async () => {
      const { port } = await start('--requirepass', 'open');
      await refuses(`redis://:sesame@127.0.0.1:${port}`, /user name or the password/);
      await refuses(`redis://127.0.0.1:${port}`, /user name or the password/);
      await open({}, `redis://:open@127.0.0.1:${port}`).write('guard/a', 1);
    });

    it('says that it is a cluster', async () =>
      refuses((await start('--cluster-enabled', 'yes')).url, /is a cluster.*single Redis or Valkey/));

    const startPair = async (): Promise<[primary: RedisServer, replica: RedisServer]> => {
      const pair = await RedisServer.startPair();
      servers.push(...pair);
      return pair;
    };

    it('lets nobody act for 15 seconds after it was a replica, although nobody asked it meanwhile', async function () {
      const [primary, replica] = await startPair();
      const clock = new ManualClock();
      const [store, other] = [open({ clock }, primary.url), open({ clock }, primary.url)];
      const version = await store.write('turn/a', 1);
      await other.read('turn/a');
      await clock.advance(15_000);
      await primary.failOver(replica);
      await replica.failOver(primary);
      assert.notEqual(await store.write('turn/a', 2, { expected: version }), null);
      assert.ok(store.settlesInMs > 14_000, String(store.settlesInMs));
      await other.write('turn/b', 1);
      assert.ok(other.settlesInMs > 10_000, String(other.settlesInMs));
      await clock.advance(15_000);
      for (const one of [store, other]) {
        await one.write('turn/b', 2);
        assert.equal(one.settlesInMs, 0);
      }
    });

    it('counts a value as written if a replica confirms it, and reports that none does', async function () {
      const [primary, replica] = await startPair();
      const store = open({}, primary.url);
      await store.write('guard/a', 1);
      await replica.stop('SIGSTOP');
      await assert.rejects(store.write('guard/a', 2), isUnavailable(/No replica .*confirms/));
      assert.match(store.fault?.message ?? '', /No replica/);
      await replica.stop('SIGCONT');
      await store.write('guard/a', 3);
      assert.equal(store.fault, null);
      await replica.stop();
      while (await primary.hasReplica()) await new Promise((resolve) => setTimeout(resolve, 20));
      await store.write('guard/a', 4);
    });

    it('says in a check that it may continue as a second primary server if it waits for no replica', async () => {
      const [primary] = await startPair();
      const store = open({}, primary.url);
      const said = async (): Promise<string[]> =>
        (await checkStore(store, new LocalPresence())).map(({ message }) =>
          message === null ? '' : wordSentence(message),
        );
      const [problem, ...others] = await said();
      assert.match(problem ?? '', /replica.*sent twice.*min-replicas-to-write 1/);
      assert.deepEqual(others, ['']);
      await primary.send('CONFIG', 'SET', 'min-replicas-to-write', '1');
      assert.deepEqual(await said(), ['']);
    });

    it('says that it is out of memory, still reads, and works when there is memory', async () => {
      const full = await start();
      const store = open({}, full.url);
      await store.write('guard/a', 1);
      await full.send('CONFIG', 'SET', 'maxmemory', '1');
      await assert.rejects(store.write('guard/a', 2), isUnavailable(/out of memory.*noeviction/));
      assert.match(store.fault?.message ?? '', /out of memory/);
      assert.equal((await store.read('guard/a'))?.value, 1);
      await full.send('CONFIG', 'SET', 'maxmemory', '0');
      await store.write('guard/a', 2);
      assert.equal(store.fault, null);
    });

    it('says that it may evict what a process has stored, when it connects and when it becomes so', async () => {
      const own = await start('--maxmemory', '100mb');
      const store = open({}, own.url);
      await store.now();
      await own.send('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
      const words = /evicts values.*maxmemory-policy allkeys-lru.*noeviction/;
      await assert.rejects(store.now(), isUnavailable(words));
      await assert.rejects(store.write('turn/a', 1), isUnavailable(words));
      await assert.rejects(open({}, own.url).read('turn/a'), isUnavailable(words));
      await own.send('CONFIG', 'SET', 'maxmemory', '0');
      await open({}, own.url).write('turn/a', 1);
    });

    it('lets nobody act for 15 seconds after it has lost its values, whatever its clock did', async () => {
      const own = await start();
      const clock = new ManualClock();
      const [store, other] = [open({ clock }, own.url), open({ clock }, own.url)];
      await Promise.all([store.write('turn/a', 1), other.read('turn/a')]);
      await clock.advance(15_000);
      assert.deepEqual([store.settlesInMs, other.settlesInMs], [0, 0]);
      await own.send('FLUSHALL');
      await store.write('turn/a', 2, { expected: null });
      await clock.advance(3_000);
      await other.write('turn/b', 1);
      assert.deepEqual([store.settlesInMs, other.settlesInMs], [12_000, 15_000]);
      await store.write('turn/a', 3);
      assert.equal(store.settlesInMs, 12_000);
    });

    describe('over TLS', () => {
      const startTls = async (...args: Parameters<typeof RedisServer.startTls>): Promise<string> => {
        const started = await RedisServer.startTls(...args);
        servers.push(started);
        return `rediss://127.0.0.1:${started.port}`;
      };
      const noClients = ['--tls-auth-clients', 'no'];
      const ca = [authority, otherCertificate.cert];

      it('works with the authority of its certificate, and says what to do without it', async () => {
        const url = await startTls(issuedCertificate, ...noClients);
        await open({ tls: { ca } }, url).write('guard/a', 1);
        assert.equal((await open({ tls: { ca } }, url).read('guard/a'))?.value, 1);
        await refuses(url, /not trusted.*\([A-Z_]+\).*connectedVehicle\.tls\.ca.*NODE_EXTRA_CA_CERTS/);
        await refuses(url.replace('rediss', 'redis'), /cannot be reached.*rediss:\/\//);
      });

      it('says that it asks for the certificate of a client, and works with one', async () => {
        const url = await startTls(issuedCertificate);
        await refuses(url, /connectedVehicle\.tls\.cert and key/, { tls: { ca } });
        await open({ tls: { ca, ...issuedCertificate } }, url).write('guard/a', 1);
      });
    });

    it('says that it does not answer, and works when it answers again', async () => {
      const slow = await start();
      const clock = new ManualClock();
      const store = open({ clock }, slow.url);
      await store.write('guard/a', 1);
      await slow.stop('SIGSTOP');
      const reading = assert.rejects(store.read('guard/a'), isUnavailable(/cannot be reached \(no answer\)/));
      await clock.advance(3_000);
      await reading;
      await slow.stop('SIGCONT');
      // For a second after a failure it is not tried again.
      await clock.advance(999);
      await assert.rejects(store.read('guard/a'), isUnavailable(/no answer/));
      await clock.advance(1);
      assert.equal((await store.read('guard/a'))?.value, 1);
      assert.deepEqual([store.fault, clock.sleeping], [null, 0]);
    });

    it('lets no process act for 15 seconds after it was restarted', async () => {
      const one = await start();
      const clock = new ManualClock();
      const store = open({ clock }, one.url);
      assert.equal(store.settlesInMs, Infinity);
      await store.write('guard/a', 1);
      assert.ok(store.settlesInMs > 14_000, String(store.settlesInMs));
      await clock.advance(15_000);
      assert.equal(store.settlesInMs, 0);
      await one.stop();
      await one.restart();
      assert.equal((await store.read('guard/a'))?.value, 1);
      const left = store.settlesInMs;
      assert.ok(left > 14_000, String(left));
      const other = open({}, one.url);
      await other.read('guard/a');
      assert.ok(other.settlesInMs > 10_000 && other.settlesInMs <= 15_000, String(other.settlesInMs));
    });

    it('says in a report what of its persistence is missing', async () => {
      assert.deepEqual(await open().report(), {
        appendonly: true,
        appendfsync: 'always',
        maxmemoryPolicy: 'noeviction',
        writesWithoutReplicas: false,
        otherPrefixes: [],
      });
      const weak = await start('--maxmemory-policy', 'allkeys-lru');
      await weak.send('CONFIG', 'SET', 'appendonly', 'no');
      await weak.send('CONFIG', 'SET', 'appendfsync', 'everysec');
      const { appendonly, appendfsync, maxmemoryPolicy } = await open({}, weak.url).report();
      assert.deepEqual([appendonly, appendfsync, maxmemoryPolicy], [false, 'everysec', 'allkeys-lru']);
      await open({ prefix: 'mine' }, weak.url).read('car/a');
      const said = (await checkStore(open({}, weak.url), new LocalPresence())).map(
        ({ message }) => message && wordSentence(message),
      );
      assert.match(said[0] ?? '', /can lose.*\(appendonly no, appendfsync everysec, maxmemory-policy allkeys-lru\)/);
      assert.match(said[1] ?? '', /another prefix \(mine\)/);
      assert.equal(said[2], null);
      const [away] = await checkStore(open({}, 'redis://127.0.0.1:1'), new LocalPresence());
      assert.deepEqual([away?.result, away?.code], ['bad', 'STORE_UNAVAILABLE']);
      const good = await checkStore(open(), new LocalPresence());
      assert.deepEqual(
        good.map(({ result, label }) => [result, label]),
        [['good', server.url]],
      );
    });
  });

  it('writes once if the connection is cut before the answer', async () => {
    const proxy = createServer((from) => {
      const to = createConnection(server.port, '127.0.0.1');
      from.on('data', (data) => {
        to.write(data);
        if (!isCutNext || !data.includes('EVAL')) return;
        isCutNext = false;
        // The server has taken the request, and the answer is lost.
        to.once('data', () => from.destroy()).removeAllListeners('data');
        to.once('data', () => from.destroy());
      });
      to.on('data', (data) => from.write(data));
      for (const [end, other] of [
        [from, to],
        [to, from],
      ] as const)
        end.on('error', () => undefined).on('close', () => other.destroy());
    });
    let isCutNext = false;
    try {
      const store = open({}, `redis://127.0.0.1:${await listen(proxy)}`);
      const first = await store.write('turn/a', 1);
      isCutNext = true;
      const second = await store.write('turn/a', 2, { expected: first });
      assert.equal(isCutNext, false);
      assert.notEqual(second, null);
      assert.deepEqual(await open().read('turn/a'), { value: 2, version: second });
      assert.equal(await server.send('GET', 'connected-vehicle:version'), '2');
    } finally {
      for (const store of stores) await store.close();
      proxy.close();
    }
  });
});
