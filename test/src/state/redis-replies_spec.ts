import { strict as assert } from 'node:assert';
import { ManualClock } from '../../support/manual-clock';
import { describeOnRedis, loadRedis, openRedis, RedisServer } from '../../support/redis-server';
import { type RedisStateStore } from '../../../src/index';
import type { RedisStateStoreOptions } from '../../../src/state/redis-store';
import { Seal } from '../../../src/state/seal';
import { hashed, StateFault } from '../../../src/state/state-store';
import { isUnavailable } from '../../support/failure';

type RedisClient = ReturnType<ReturnType<typeof loadRedis>['createClient']>;
/** What a server answers in place of a reply, or throws. */
type Change = (args: readonly string[], reply: unknown) => unknown;

describeOnRedis('the store on Redis, with the replies of other servers', () => {
  let server: RedisServer;
  let stores: RedisStateStore[] = [];
  /** The clients of the stores, which a store has opened. */
  let clients: (RedisClient & { isOpen: boolean })[] = [];

  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.end());
  afterEach(async () => {
    for (const store of stores) await store.close();
    [stores, clients] = [[], []];
    await server.send('FLUSHALL');
  });

  /** The client of a user, over a real connection, where `change` changes the replies. */
  const loadChanged =
    (change: Change, connect?: () => Promise<never>): RedisStateStoreOptions['load'] =>
    () => ({
      createClient: (options) => {
        // A cast: the pack uses less of the client than it has.
        const client = loadRedis().createClient(options) as RedisClient & { isOpen: boolean };
        const send = client.sendCommand.bind(client);
        client.sendCommand = async (args) => change(args, await send(args));
        if (connect !== undefined) client.connect = connect;
        clients.push(client);
        return client;
      },
    });
  const open = (
    change: Change = (_, reply) => reply,
    options: Partial<RedisStateStoreOptions> = {},
    url = server.url,
  ): RedisStateStore => {
    const store = openRedis(url, { load: loadChanged(change), ...options });
    stores.push(store);
    return store;
  };
  /** Replies to INFO with other lines in place of its own ones. */
  const withInfo =
    (change: (text: string) => string): Change =>
    ([name], reply) =>
      name === 'INFO' ? change(String(reply)) : reply;

  it('refuses Redis 5, and works with Redis 6', async () => {
    const old = open(withInfo((text) => text.replace(/redis_version:.*/, 'redis_version:5.0.14')));
    await assert.rejects(old.read('guard/a'), isUnavailable(/is Redis 5\.0\.14, which is too old/));
    assert.deepEqual(
      clients.map(({ isOpen }) => isOpen),
      [false],
    );
    await open(withInfo((text) => text.replace(/redis_version:.*/, 'redis_version:6.0.0'))).write('guard/a', 1);
  });

  it('stores the name of its secret and of the run of the server, and its values, where every version looks for them', async () => {
    await open().write('car/a', 1);
    const names = (await server.send('HKEYS', 'connected-vehicle:store')) as string[];
    assert.deepEqual(names.sort(), ['run', 'secret']);
    assert.match(String(await server.send('HKEYS', 'connected-vehicle:car')), /^[0-9a-f]{32}$/);
  });

  it('reports what a hosted server says that refuses to show its settings', async () => {
    const hosted = async (change: (text: string) => string): Promise<unknown[]> => {
      const store = open(([name], reply) => {
        if (name === 'CONFIG' || name === 'SCAN') throw new Error(`ERR unknown command '${name}'`);
        return name === 'INFO' ? change(String(reply)) : reply;
      });
      const { appendonly, appendfsync, maxmemoryPolicy, otherPrefixes } = await store.report();
      assert.equal(store.fault, null);
      return [appendonly, appendfsync, maxmemoryPolicy, otherPrefixes];
    };
    assert.deepEqual(await hosted((text) => text), [true, null, 'noeviction', []]);
    assert.deepEqual(await hosted((text) => text.replace('aof_enabled:1', 'aof_enabled:0')), [
      false,
      null,
      'noeviction',
      [],
    ]);
    assert.deepEqual(await hosted((text) => text.replace('aof_enabled', 'x').replace('maxmemory_policy', 'y')), [
      null,
      null,
      null,
      [],
    ]);
  });

  it('reports whether it writes without replicas, and the other prefixes', async () => {
    const report = async (lines: string): Promise<unknown[]> => {
      const { writesWithoutReplicas, otherPrefixes } = await open(([name], reply) =>
        name === 'INFO'
          ? `${lines}\r\n${String(reply).replace('connected_slaves', 'x')}`
          : name === 'SCAN'
            ? ['0', ['one:store', 'connected-vehicle:store', 'two:three:store']]
            : reply,
      ).report();
      return [writesWithoutReplicas, otherPrefixes];
    };
    const others = ['one', 'two:three'];
    assert.deepEqual(await report('connected_slaves:1'), [true, others]);
    assert.deepEqual(await report('connected_slaves:0'), [false, others]);
    assert.deepEqual(await report('connected_slaves:1\r\nmin_slaves_good_slaves:0'), [false, others]);
    assert.deepEqual(await report('no:slaves'), [false, others]);
  });

  it('waits for what is left of the 15 seconds, also if the clock of the server was set back', async () => {
    const clock = new ManualClock();
    const settles = async (since: number): Promise<number> => {
      const known = String(await server.send('HGET', 'connected-vehicle:store', 'run'));
      // A cast: the store writes it so.
      const run = { ...(JSON.parse(known) as object), since };
      await server.send('HSET', 'connected-vehicle:store', 'run', JSON.stringify(run));
      const store = open(([name], reply) => (name === 'TIME' ? ['1000', '0'] : reply), { clock });
      await store.read('guard/a');
      return store.settlesInMs;
    };
    await open().read('guard/a');
    assert.equal(await settles(1_000_000 - 4_000), 11_000);
    assert.equal(await settles(1_000_000 - 40_000), 0);
    assert.equal(await settles(1_000_000 + 40_000), 15_000);
    await server.send('HSET', 'connected-vehicle:store', 'run', 'damaged');
    const settlesAgain = async (change?: Change): Promise<number> => {
      const store = open(change, { clock });
      await store.read('guard/a');
      return store.settlesInMs;
    };
    assert.equal(await settlesAgain(), 15_000);
    // Restarted, with the data and the replication ID of before.
    const later = (text: string): string => text.replace(/run_id:.*/, 'run_id:other');
    assert.equal(await settlesAgain(withInfo(later)), 15_000);
    assert.equal(await settlesAgain(([name], reply) => (name === 'TIME' ? ['9000000000', '0'] : reply)), 15_000);
    assert.equal(await settlesAgain(([name], reply) => (name === 'TIME' ? ['9000000009', '0'] : reply)), 6_000);
  });

  it('does not connect again after its end, and leaves no connection', async () => {
    const store = open();
    await store.write('guard/a', 1);
    const early = open();
    const reading = assert.rejects(early.read('guard/a'), StateFault);
    await early.close();
    await reading;
    await store.close();
    await store.close();
    const says = isUnavailable(/cannot be reached \(closed\)/);
    await assert.rejects(store.read('guard/a'), says);
    await assert.rejects(store.write('guard/a', 2), says);
    assert.deepEqual(
      clients.map(({ isOpen }) => isOpen),
      [false, false],
    );
  });

  it('reports a change of the fault to those that still listen', async () => {
    let isRefused = true;
    const store = open(([name], reply) => {
      if (isRefused && name === 'HGETALL') throw new Error('LOADING Redis is loading the dataset in memory');
      return reply;
    });
    const told: string[][] = [[], []];
    const [stop] = told.map((list) => store.onChange(() => list.push(store.fault?.message ?? 'none')));
    await assert.rejects(store.entries('guard/'), isUnavailable(/refuses the request \(LOADING\)/));
    await assert.rejects(store.entries('guard/'), StateFault);
    stop?.();
    isRefused = false;
    await store.write('guard/a', 1);
    assert.deepEqual([told[0]?.length, told[1]?.length], [1, 2]);
    assert.equal(told[1]?.[1], 'none');
  });

  for (const [message, words] of [
    ['ERR Error running script (call to f_3b): @user_script:13: @user_script: 13: -OOM command not allowed', /memory/],
    ['NOREPLICAS Not enough good replicas to write.', /No replica/],
    ['NOPERM this user has no permissions', /lacks a permission/],
    ["ERR The user executing the script can't run this command or subcommand", /lacks a permission/],
    ['ERR ACL failure in script: no permissions', /lacks a permission/],
    ['NOAUTH Authentication required.', /user name or the password/],
    ["READONLY You can't write against a read only replica.", /read-only replica/],
    ['ERR something else', /refuses the request \(ERR\)/],
    ['WRONGTYPE Operation against a key', /refuses the request \(WRONGTYPE\)/],
    ['no reply of a server', /cannot be reached \(closed\)/],
  ] as const)
    it(`says what to do if the server refuses a write: ${message}`, async () => {
      let writes = 0;
      const store = open(([name], reply) => {
        if (name !== 'EVAL') return reply;
        writes += 1;
        throw new Error(message);
      });
      await assert.rejects(store.write('guard/a', 1), isUnavailable(words));
      assert.match(store.fault?.message ?? '', words);
      const isLost = /READONLY|no reply/.test(message);
      // Only what the connection may have lost is sent again.
      assert.equal(writes, message.startsWith('no reply') ? 2 : 1);
      assert.equal(clients.filter(({ isOpen }) => isOpen).length, isLost ? 0 : 1);
    });

  it('writes again at once, and only once, if the server has become another one', async () => {
    let left = 1;
    const changes: Change = ([name], reply) => {
      if (name !== 'EVAL' || left === 0) return reply;
      left -= 1;
      throw new Error('CHANGED role');
    };
    const store = open(changes);
    assert.notEqual(await store.write('guard/a', 1), null);
    left = 2;
    await assert.rejects(store.write('guard/a', 2), isUnavailable(/refuses the request \(CHANGED\)/));
    assert.equal(left, 0);
  });

  for (const [code, url, words] of [
    ['CERT_NOT_YET_VALID', 'rediss://127.0.0.1', /not valid yet/],
    ['CERT_HAS_EXPIRED', 'rediss://127.0.0.1', /has expired/],
    ['ECONNRESET', 'rediss://127.0.0.1', /The TLS handshake .*\(ECONNRESET\)/],
    ['EPIPE', 'valkeys://127.0.0.1', /The TLS handshake .*\(EPIPE\)/],
    ['', 'rediss://127.0.0.1', /The TLS handshake .*\(closed\)/],
    ['ECONNREFUSED', 'rediss://127.0.0.1', /cannot be reached \(ECONNREFUSED\)/],
    ['ECONNRESET', 'redis://127.0.0.1', /cannot be reached \(ECONNRESET\)/],
    ['', 'redis://127.0.0.1', /cannot be reached \(closed\)/],
    ['EPROTO', 'redis://127.0.0.1', /The TLS handshake .*\(EPROTO\)/],
  ] as const)
    it(`says why it cannot connect: ${code || 'no code'} at ${url}`, async () => {
      const fault = Object.assign(new Error('no connection'), code !== '' && { code });
      const load = loadChanged(
        (_, reply) => reply,
        () => Promise.reject(fault),
      );
      await assert.rejects(open(undefined, { load }, url).read('guard/a'), isUnavailable(words));
    });

  it('finds every damage of a value', async () => {
    const store = open();
    await store.write('turn/a', 1);
    const hash = 'connected-vehicle:turn';
    const [field = ''] = (await server.send('HKEYS', hash)) as string[];
    const seal = new Seal('secret', hashed('connected-vehicle'));
    const sealed = async (text: string): Promise<string> =>
      JSON.stringify({ format: 1, ...(await seal.seal(text, `${hash}/${field}`)) });
    const whole = await sealed('{"key":"turn/a","value":2}');
    await server.send('HSET', hash, field, `7.x ${whole}`);
    assert.deepEqual(await store.read('turn/a'), { value: 2, version: '7.x' });
    for (const [text, version, fault] of [
      ['', null, 'damaged'],
      ['7.x', '7.x', 'damaged'],
      [' ', null, 'damaged'],
      ['7.x no JSON', '7.x', 'damaged'],
      ['7.x {"format":1}', '7.x', 'damaged'],
      ['7.x {"format":2}', '7.x', 'newer'],
      [`7.x ${await sealed('no JSON')}`, '7.x', 'damaged'],
      [`7.x ${await sealed('{"value":1}')}`, '7.x', 'damaged'],
      [`7.x ${whole.replace(/"keyId":"./, '"keyId":"?')}`, '7.x', 'foreign'],
    ] as const) {
      await server.send('HSET', hash, field, text);
      await assert.rejects(store.read('turn/a'), { fault, version }, text);
      assert.deepEqual(await store.entries('turn/'), [], text);
    }
  });
});
