import { strict as assert } from 'node:assert';
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VehicleError } from '../../../src/errors';
import { GrantKeepers, pastedKey, fingerprint } from '../../../src/session/token-managers';
import { refreshingToken, type RefreshingOptions } from '../../../src/session/refreshing';
import { TokenStore } from '../../../src/session/store';
import type { TokenSource } from '../../../src/session/tokens';
import type { SimulatorOptions } from '../../../src/simulator';
import { ManualClock } from '../../support/manual-clock';
import { Identity, silent } from './identity';

const minute = 60_000;
const day = 86_400_000;

describe('a refreshing access token', () => {
  let clock: ManualClock;
  let identity: Identity;
  let directory: string;
  let store: TokenStore;
  let keepers: GrantKeepers;
  let sources: TokenSource[];

  beforeEach(async () => {
    clock = new ManualClock();
    identity = await Identity.start({ clock });
    directory = await mkdtemp(join(tmpdir(), 'sign-in-'));
    store = newStore();
    keepers = new GrantKeepers();
    sources = [];
  });

  afterEach(async () => {
    await Promise.all(sources.map((source) => source.close()));
    await identity.close();
    await rm(directory, { recursive: true });
    assert.equal(clock.sleeping, 0, 'a timer was left behind');
  });

  const serviceWith = async (options: SimulatorOptions): Promise<void> => {
    await identity.close();
    identity = await Identity.start({ clock, ...options });
  };

  const newStore = (secret = 'credential secret'): TokenStore => new TokenStore({ directory, secret });

  const source = (options: Partial<RefreshingOptions> = {}): TokenSource => {
    const made = refreshingToken({
      client: identity.client,
      owner: 'config-1',
      store,
      send: identity.send,
      clock,
      random: () => 0.5,
      keepers,
      ...options,
    });
    sources.push(made);
    return made;
  };

  /** Waits in real time, without guessing how long, for what real files and sockets bring about. */
  const until = async (condition: () => boolean): Promise<void> => {
    for (const end = Date.now() + 5_000; !condition();) {
      assert.ok(Date.now() < end, 'nothing happened');
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  const requestsMade = (count: number): Promise<void> => until(() => identity.requests.length === count);

  it('comes from a pasted refresh token, with the life and scopes that the service gives it', async () => {
    const token = source({ refreshToken: `  ${identity.newSeed(['openid', 'conve:vehicle_relation'])}\n` });
    assert.ok(await identity.accepts(await token.get()));
    assert.deepEqual(token.describe(), {
      kind: 'refreshing',
      expiresAt: '2026-06-01T08:04:59.000Z',
      scopes: ['openid', 'conve:vehicle_relation'],
      signInRequiredSince: null,
      signedInAt: null,
      lastRefreshAt: '2026-06-01T08:00:00.000Z',
      retryAt: null,
      problem: null,
    });
  });

  it('is asked for once, however many wait', async () => {
    const token = source({ refreshToken: identity.newSeed() });
    const got = await Promise.all(Array.from({ length: 1000 }, () => token.get()));
    assert.equal(new Set(got).size, 1);
    assert.equal(identity.requests.length, 1);
  });

  it('is shared by config nodes that hold the same refresh token', async () => {
    const seed = identity.newSeed();
    const tokens = [source({ refreshToken: seed }), source({ refreshToken: seed, owner: 'config-2' })];
    const [one, two] = await Promise.all(tokens.map((token) => token.get()));
    assert.equal(one, two);
    await tokens[0]?.close();
    await clock.advance(5 * minute);
    assert.ok(identity.accepts((await tokens[1]?.get()) ?? ''));
    assert.equal(identity.refusals, 0);
  });

  it('keeps the way of a member that closes until the refresh that goes over it has been answered', async () => {
    const seed = identity.newSeed();
    const stays = source({ refreshToken: seed });
    await stays.get();
    let isOpen = true;
    const send: typeof identity.send = async (request) => {
      const response = await identity.send(request);
      assert.ok(isOpen, 'the transport was closed under the request');
      return response;
    };
    const leaves = source({ refreshToken: seed, send });
    await leaves.get();
    await clock.advance(5 * minute);
    const got = stays.get();
    await requestsMade(2);
    await leaves.close();
    isOpen = false;
    assert.ok(await identity.accepts(await got));
    assert.equal(identity.refusals, 0);
  });

  it('lets a mistyped client secret stop nobody who has the right one', async () => {
    const seed = identity.newSeed();
    const right = source({ refreshToken: seed });
    await right.get();
    const mistyped = source({ refreshToken: seed, client: { ...identity.client, clientSecret: 'mistyped' } });
    await mistyped.get();
    for (let round = 0; round < 3; round++) {
      await clock.advance(5 * minute);
      assert.ok(await identity.accepts(await right.get()));
      assert.equal(right.describe().signInRequiredSince, null);
    }
    assert.equal(identity.refusals, 1, 'the mistyped secret was sent again');
  });

  it('tries again by itself though timers fire a moment early', async () => {
    let early = 0;
    const hasty = {
      now: () => clock.now() - early,
      monotonic: () => clock.monotonic(),
      after: (ms: number, callback: () => void) => clock.after(ms, callback),
      sleep: clock.sleep.bind(clock),
    };
    const token = source({ refreshToken: identity.newSeed(), clock: hasty });
    identity.fault({ cut: 'before-headers' });
    await assert.rejects(token.get(), { code: 'NETWORK' });
    early = 1;
    await clock.advance(2_000);
    early = 0;
    await clock.advance(1);
    await requestsMade(2);
    await until(() => token.describe().problem === null);
  });

  it('waits for no moment of a clock that was ahead and was set back', async () => {
    let ahead = 365 * day;
    const wrong = {
      now: () => clock.now() + ahead,
      monotonic: () => clock.monotonic(),
      after: (ms: number, callback: () => void) => clock.after(ms, callback),
      sleep: clock.sleep.bind(clock),
    };
    const token = source({ refreshToken: identity.newSeed(), clock: wrong });
    identity.fault({ cut: 'before-headers' });
    await assert.rejects(token.get(), { code: 'NETWORK' });
    await clock.advance(1_000);
    ahead = 0;
    const first = await token.get();
    ahead = 365 * day;
    assert.equal(await token.refused(first), true);
    const second = await token.get();
    ahead = 0;
    assert.equal(await token.refused(second), true);
    assert.notEqual(await token.get(), second, 'no new token was asked for');
  });

  it('is asked for once by two processes that share the store', async () => {
    const seed = identity.newSeed();
    const processes = [
      source({ refreshToken: seed }),
      source({ refreshToken: seed, keepers: new GrantKeepers(), store: newStore() }),
    ];
    const [one, two] = await Promise.all(processes.map((token) => token.get()));
    assert.equal(one, two);
    assert.equal(identity.requests.length, 1);
  });

  it('is renewed ahead of its end, while the old one still serves', async () => {
    const token = source({ refreshToken: identity.newSeed() });
    const first = await token.get();
    await clock.advance(238_000);
    assert.equal(await token.get(), first);
    assert.equal(identity.requests.length, 1);
    await clock.advance(2_000);
    assert.equal(await token.get(), first, 'nobody waits while the old one lives');
    await renewed(token, first);
    assert.equal(identity.requests.length, 2);
  });

  const renewed = async (token: TokenSource, old: string): Promise<string> => {
    for (;;) {
      const now = await token.get();
      if (now !== old) return now;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  for (const life of [1, 3, 20, 299, 1799, 3599]) {
    it(`never gives an ended token where a token lives ${life} s`, async () => {
      await serviceWith({ accessTokenLifeSeconds: life });
      const token = source({ refreshToken: identity.newSeed() });
      for (let step = 0; step < 20; step++) {
        const [got, until] = [await token.get(), Date.parse(token.describe().expiresAt ?? '')];
        assert.ok((await identity.accepts(got)) && until > clock.now());
        await clock.advance(life * 310);
      }
      assert.ok(identity.requests.length <= 15, `${identity.requests.length} refreshes in some six lives`);
    });
  }

  it('does not ask at every request where a token is given no life at all', async () => {
    await serviceWith({ accessTokenLifeSeconds: 0 });
    const token = source({ refreshToken: identity.newSeed() });
    for (let request = 0; request < 50; request++) await token.get();
    assert.equal(identity.requests.length, 1);
  });

  it('saves the rotated refresh token before the new access token is used', async () => {
    const seed = identity.newSeed();
    const token = source({ refreshToken: seed });
    const saved: boolean[] = [];
    for (let round = 0; round < 3; round++) {
      const got = await token.get();
      const stored = await newStore().read(pastedKey(identity.client, fingerprint(seed)));
      saved.push(
        stored?.accessToken === got && identity.issued.includes(stored.refreshToken) && stored.generation === round + 1,
      );
      await clock.advance(299_000);
    }
    assert.deepEqual(saved, [true, true, true]);
  });

  it('goes on after a restart with what is stored, without a request while it lives', async () => {
    const seed = identity.newSeed();
    const before = source({ refreshToken: seed });
    const first = await before.get();
    await before.close();
    const after = source({ refreshToken: seed, keepers: new GrantKeepers(), store: newStore() });
    assert.equal(await after.get(), first);
    assert.equal(identity.requests.length, 1);
    await clock.advance(1 * day);
    assert.ok(await identity.accepts(await after.get()));
    assert.equal(identity.refusals, 0, 'the spent seed was sent again');
  });

  it('keeps the old refresh token where an answer holds none', async () => {
    identity.fault({ withoutRefreshToken: true }, 2);
    const token = source({ refreshToken: identity.newSeed() });
    for (let round = 0; round < 4; round++) {
      assert.ok(await identity.accepts(await token.get()));
      await clock.advance(300_000);
    }
    assert.equal(new Set(identity.sent).size, 2);
  });

  it('starts anew from a refresh token that is pasted later', async () => {
    const old = source({ refreshToken: identity.newSeed() });
    await old.get();
    await old.close();
    const pasted = identity.newSeed();
    assert.ok(await identity.accepts(await source({ refreshToken: pasted }).get()));
    assert.equal(identity.sent.at(-1), pasted);
  });

  it('says that a refusal needs a sign-in, since when, and asks no more', async () => {
    const token = source({ refreshToken: identity.newSeed() });
    await token.get();
    identity.simulator.revokeGrants();
    await clock.advance(5 * minute);
    for (let request = 0; request < 20; request++) await assert.rejects(token.get(), { code: 'SIGN_IN_REQUIRED' });
    await clock.advance(30 * day);
    await assert.rejects(token.get(), { code: 'SIGN_IN_REQUIRED' });
    assert.equal(identity.refusals, 1);
    assert.equal(token.describe().signInRequiredSince, '2026-06-01T08:05:00.000Z');
  });

  it('tries again at once when the client secret was corrected', async () => {
    const seed = identity.newSeed();
    const wrong = source({ refreshToken: seed, client: { ...identity.client, clientSecret: 'wrong' } });
    await assert.rejects(
      wrong.get(),
      (error: VehicleError) => error.code === 'SIGN_IN_REQUIRED' && /client secret/.test(error.message),
    );
    assert.ok(await identity.accepts(await source({ refreshToken: seed }).get()));
  });

  for (const [what, fault, code] of [
    ['a cut connection', { cut: 'before-headers' }, 'NETWORK'],
    ['a fault of the server', { status: 500, body: { error: 'server_error' } }, 'SERVICE_ERROR'],
    ['a page of a gateway', { status: 403, html: true }, 'SERVICE_ERROR'],
    ['a refusal that is none', { status: 400, body: { message: 'no' } }, 'SERVICE_ERROR'],
    ['a page instead of tokens', { html: true }, 'SERVICE_ERROR'],
    ['an empty answer', { status: 200, body: '' }, 'SERVICE_ERROR'],
    ['an endless answer', { hugeBytes: 2 ** 21 }, 'SERVICE_ERROR'],
    ['too many requests', { error: 'rate-limited' }, 'SERVICE_ERROR'],
  ] as const) {
    it(`takes ${what} for "later", with growing pauses and no loop`, async () => {
      const token = source({ refreshToken: identity.newSeed() });
      identity.fault(fault, 4);
      for (let request = 0; request < 50; request++) {
        await assert.rejects(token.get(), (error: VehicleError) => {
          assert.equal(error.code, code);
          assert.equal(error.retryAt?.toISOString(), '2026-06-01T08:00:02.000Z');
          return true;
        });
      }
      assert.equal(identity.requests.length, 1);
      assert.equal(token.describe().signInRequiredSince, null);
      const tries: number[] = [];
      for (let second = 1; second <= 40; second++) {
        await clock.advance(1_000);
        await token.get().catch(() => undefined);
        if (identity.requests.length > tries.length + 1) tries.push(second);
      }
      assert.deepEqual(tries, [2, 6, 14, 30]);
      assert.ok(await identity.accepts(await token.get()));
      assert.equal(token.describe().problem, null);
    });
  }

  it('waits as long as the sign-in service asks', async () => {
    const token = source({ refreshToken: identity.newSeed() });
    identity.fault({ status: 503, retryAfter: 90 });
    await assert.rejects(token.get(), { code: 'SERVICE_ERROR', retryAt: new Date(clock.now() + 90_000) });
  });

  it('does not wait for ever for an answer', async () => {
    const token = source({ refreshToken: identity.newSeed(), send: silent(clock) });
    const refused = assert.rejects(token.get(), { code: 'TIMEOUT', retryable: true });
    await clock.whenSleeping(3);
    await clock.advance(minute);
    await refused;
  });

  it('still gives a living token while the sign-in service is away', async () => {
    const token = source({ refreshToken: identity.newSeed() });
    const first = await token.get();
    identity.fault({ cut: 'before-headers' }, 20);
    await clock.advance(295_000);
    assert.equal(await token.get(), first);
    assert.equal(token.describe().kind, 'refreshing');
    await clock.advance(10_000);
    await assert.rejects(token.get(), { code: 'NETWORK' });
  });

  it('tries soon again, by itself, where an answer was cut: within the grace of a server that has one', async () => {
    await serviceWith({ refreshGraceSeconds: 60 });
    const token = source({ refreshToken: identity.newSeed() });
    identity.fault({ cut: 'after-effect' }, 3);
    await assert.rejects(token.get(), { code: 'NETWORK' });
    for (const [count, pause] of [
      [2, 2_000],
      [3, 4_000],
      [4, 8_000],
    ] as const) {
      const before = token.describe().retryAt;
      await clock.advance(pause);
      await requestsMade(count);
      await until(() => token.describe().retryAt !== before);
    }
    assert.ok(await identity.accepts(await token.get()));
    assert.equal(identity.refusals, 0);
  });

  it('tries soon again after a redeploy too', async () => {
    await serviceWith({ refreshGraceSeconds: 60 });
    const seed = identity.newSeed();
    const before = source({ refreshToken: seed });
    const first = await before.get();
    identity.fault({ cut: 'after-effect' });
    await assert.rejects(before.refused(first), { code: 'NETWORK' });
    await before.close();
    const after = source({ refreshToken: seed });
    assert.notEqual(await after.get(), first);
    assert.equal(identity.refusals, 0);
  });

  it('asks at once where a process died in the middle of a refresh, for its answer may be lost', async () => {
    await serviceWith({ refreshGraceSeconds: 60 });
    const seed = identity.newSeed();
    const before = source({ refreshToken: seed });
    const first = await before.get();
    await before.close();
    const [file = ''] = await readdir(directory);
    await writeFile(
      join(directory, `${file}.lock`),
      JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), nonce: 'of the dead', at: Date.now() }),
    );
    const after = source({ refreshToken: seed, keepers: new GrantKeepers(), store: newStore() });
    assert.notEqual(await after.get(), first);
    assert.equal(identity.refusals, 0);
  });

  it('keeps an unused grant alive, every third day', async () => {
    const token = source({ refreshToken: identity.newSeed() });
    await clock.advance(1_000);
    await until(() => clock.sleeping > 0);
    await clock.advance(1_000);
    await until(() => token.describe().lastRefreshAt !== null && clock.sleeping > 0);
    for (let count = 2; count <= 20; count++) {
      await clock.advance(3 * day);
      await until(() => token.describe().lastRefreshAt === new Date(clock.now()).toISOString() && clock.sleeping > 0);
      assert.equal(identity.requests.length, count);
    }
    assert.equal(identity.refusals, 0);
  });

  it('asks for a new token when the service refuses one, for all who were refused, but not for ever', async () => {
    const token = source({ refreshToken: identity.newSeed() });
    const first = await token.get();
    assert.deepEqual(await Promise.all([token.refused(first), token.refused(first), token.refused(first)]), [
      true,
      true,
      true,
    ]);
    const second = await token.get();
    assert.notEqual(second, first);
    assert.equal(await token.refused(first), true, 'a late answer to the old token');
    assert.equal(await token.refused(second), true, 'a 401 by chance');
    assert.equal(await token.refused(second), false);
    assert.equal(identity.requests.length, 2);
    await clock.advance(5 * minute);
  });

  it('lets a caller go who waits no longer, and keeps the answer for the next', async () => {
    const token = source({ refreshToken: identity.newSeed() });
    const controller = new AbortController();
    identity.beforeAnswer = () => controller.abort();
    await assert.rejects(token.get(controller.signal), { code: 'CANCELLED' });
    assert.ok(await identity.accepts(await token.get()));
    assert.equal(identity.requests.length, 1);
  });

  it('does not lose an answer that comes while it is closed', async () => {
    const seed = identity.newSeed();
    const token = source({ refreshToken: seed });
    let closing: Promise<void> | undefined;
    identity.beforeAnswer = () => void (closing = token.close());
    await token.get();
    await closing;
    assert.ok(await identity.accepts(await source({ refreshToken: seed }).get()));
    assert.equal(identity.refusals, 0);
  });

  it('hands every token to the redactor before it is used', async () => {
    const heard = new Set<string>();
    const token = source({ refreshToken: identity.newSeed(), onSecret: (secret) => heard.add(secret) });
    await token.get();
    await clock.advance(300_000);
    await token.get();
    assert.deepEqual(
      identity.issued.slice(1).filter((secret) => !heard.has(secret)),
      [],
    );
  });

  it('takes the token of another process that rotated meanwhile, instead of asking for a sign-in', async () => {
    const seed = identity.newSeed();
    const one = source({ refreshToken: seed });
    await one.get();
    const two = source({ refreshToken: seed, keepers: new GrantKeepers(), store: newStore() });
    for (let round = 0; round < 10; round++) {
      await clock.advance(250_000);
      assert.ok((await identity.accepts(await one.get())) && (await identity.accepts(await two.get())));
    }
    assert.equal(identity.refusals, 0);
  });

  it('survives a backup of the store that is restored under it', async () => {
    const seed = identity.newSeed();
    const token = source({ refreshToken: seed });
    await token.get();
    const file = join(directory, (await readdir(directory)).find((name) => name.endsWith('.json')) ?? '');
    const backup = await readFile(file);
    await clock.advance(5 * minute);
    await token.get();
    await writeFile(file, backup);
    await clock.advance(5 * minute);
    assert.ok(await identity.accepts(await token.get()));
    assert.equal(identity.refusals, 0);
  });

  it('writes a file anew that is damaged under it, and keeps the damaged one', async () => {
    const token = source({ refreshToken: identity.newSeed() });
    await token.get();
    const [file = ''] = await readdir(directory);
    await writeFile(join(directory, file), 'damaged');
    await clock.advance(5 * minute);
    assert.ok(await identity.accepts(await token.get()));
    assert.equal((await readdir(directory)).length, 2);
    await clock.advance(5 * minute);
    assert.ok(await identity.accepts(await token.get()));
    assert.equal(identity.refusals, 0);
  });

  it('does not fight for a file with a process that has another secret, or a newer version of the pack', async () => {
    const seed = identity.newSeed();
    const token = source({ refreshToken: seed });
    await token.get();
    await newStore('another secret').exclusive(pastedKey(identity.client, fingerprint(seed)), (locked) =>
      locked.save({ refreshToken: 'x', accessToken: '', expiresAt: null, scopes: null, refreshedAt: 0, outdated: [] }),
    );
    await clock.advance(5 * minute);
    await assert.rejects(token.get(), { code: 'CONFIG' });
    assert.equal(identity.requests.length, 1);
  });

  it('refuses to send secrets in the open', async () => {
    const token = source({
      refreshToken: identity.newSeed(),
      client: { ...identity.client, tokenUrl: 'http://id.example/token' },
    });
    await assert.rejects(token.get(), { code: 'CONFIG' });
  });

  for (const [what, change] of [
    ['a refresh token', { refreshToken: 'abc\ndef' }],
    [
      'a client id',
      {
        client: {
          audience: 'https://api.example',
          tokenUrl: 'https://id.example',
          clientId: 'abc\ndef',
          clientSecret: '',
        },
      },
    ],
    [
      'a client secret',
      {
        client: {
          audience: 'https://api.example',
          tokenUrl: 'https://id.example',
          clientId: 'abc',
          clientSecret: 'abc\ndef',
        },
      },
    ],
    [
      'no client id',
      { client: { audience: 'https://api.example', tokenUrl: 'https://id.example', clientId: ' ', clientSecret: '' } },
    ],
  ] as const) {
    it(`tells of ${what} that cannot be right, without repeating it`, async () => {
      const token = source({ refreshToken: 'seed', ...change });
      await assert.rejects(
        token.get(),
        (error: VehicleError) => error.code === 'CONFIG' && !/abc|def/.test(error.message),
      );
      assert.match(token.describe().problem ?? '', /configuration/);
    });
  }

  it('is TOKEN_MISSING while nobody is signed in', async () => {
    const token = source();
    await assert.rejects(token.get(), { code: 'TOKEN_MISSING' });
    assert.equal(token.describe().kind, 'none');
    assert.deepEqual(await readdir(directory), []);
  });

  it('uses no rotated token that the disk did not take, and loses none', async () => {
    const token = source({ refreshToken: identity.newSeed() });
    identity.beforeAnswer = async () => {
      await rename(directory, `${directory}-away`);
      await writeFile(directory, 'not a folder');
    };
    await assert.rejects(token.get(), { code: 'CONFIG', retryable: true });
    identity.beforeAnswer = () => undefined;
    await rm(directory);
    await rename(`${directory}-away`, directory);
    await clock.advance(2_000);
    assert.ok(await identity.accepts(await token.get()));
    assert.equal(identity.refusals, 0);
  });

  it('makes its folder and files for its owner only', async () => {
    directory = join(directory, 'deep');
    store = newStore();
    await source({ refreshToken: identity.newSeed() }).get();
    const file = (await readdir(directory)).find((name) => name.endsWith('.json')) ?? '';
    assert.deepEqual(
      [(await stat(directory)).mode & 0o777, (await stat(join(directory, file))).mode & 0o777],
      [0o700, 0o600],
    );
  });
});
