import { strict as assert } from 'node:assert';
import { asSentence, MemoryStateStore, VehicleError } from '../../../src/index';
import type { TokenSource } from '../../../src/http/token-source';
import { createTokenSource } from '../../../src/session/create-token-source';
import { fingerprint, GrantStore, pastedKey, signInKey, type Grant } from '../../../src/session/grant-store';
import type { OAuthClient, Send } from '../../../src/session/oauth';
import { Session } from '../../../src/session/session';
import { StateFault } from '../../../src/state/state-store';
import { ManualClock } from '../../support/manual-clock';

const start = Date.parse('2026-06-01T08:00:00Z');
const client: OAuthClient = {
  audience: 'https://api.example',
  tokenUrl: 'https://id.example/token',
  clientId: 'client',
  clientSecret: 'secret',
};
const key = signInKey(client, 'node');

describe('The token of a saved sign-in', () => {
  let clock: ManualClock;
  let state: MemoryStateStore;
  let store: GrantStore;
  let session: Session;
  let source: TokenSource;
  /** The refresh tokens that were sent. */
  let sent: (string | null)[];
  /** What the service answers; it can throw before the request has left, or after it. */
  let answer: (leave: () => void) => { status?: number; body: object };
  /** The answer is on its way until then. */
  let holds: Promise<void> | null;
  const grant = (changes: Partial<Grant> = {}): Grant => ({
    generation: 4,
    refreshToken: 'r4',
    accessToken: 'a4',
    expiresAt: start + 300_000,
    scopes: ['openid'],
    refreshedAt: start,
    signedInAt: start,
    outdated: [],
    isRefreshing: false,
    ...changes,
  });
  const stored = async (of = key): Promise<Grant | undefined> => (await store.read(of))?.grant;

  beforeEach(() => {
    clock = new ManualClock(start);
    state = new MemoryStateStore();
    store = new GrantStore({ state });
    sent = [];
    holds = null;
    answer = () => ({ body: { access_token: 'a5', refresh_token: 'r5', expires_in: 300 } });
    const send: Send = async ({ body, mayLeave }) => {
      await Promise.resolve();
      const form = new URLSearchParams(body);
      assert.equal(form.get('grant_type'), 'refresh_token');
      const leave = (): void => {
        mayLeave?.();
        sent.push(form.get('refresh_token'));
      };
      const { status = 200, body: json } = answer(leave);
      await holds;
      if (sent.length === 0 || status !== 0) leave();
      return { status, headers: {}, body: JSON.stringify(json) };
    };
    // The start of a source asks for its token once, after up to a second.
    session = new Session({ store, send, clock, random: () => 0.5 });
    source = createTokenSource({ client, configNodeId: 'node', session });
  });
  afterEach(async () => {
    await source.close();
    assert.equal(clock.sleeping, 0);
  });

  const lives: [what: string, seconds: number, lifeSeconds: number | null, token: string, requests: number][] = [
    ['more than a minute before its end', 239.999, 300, 'a4', 0],
    ['a minute before its end, which asks for the next one', 240, 300, 'a4', 1],
    ['more than ten seconds before its end', 289.999, 300, 'a4', 1],
    ['ten seconds before its end', 290, 300, 'a5', 1],
    ['at its end', 300, 300, 'a5', 1],
    ['three quarters through a short life', 0.599, 0.8, 'a4', 0],
    ['after three quarters of a short life', 0.6, 0.8, 'a5', 1],
    ['that has no end', 86_400 * 2, null, 'a4', 0],
  ];
  for (const [what, seconds, life, token, requests] of lives)
    it(`is ${token} ${what}`, async () => {
      await store.write(key, grant({ expiresAt: life === null ? null : start + life * 1000 }));
      assert.equal(await source.get(), 'a4');
      clock.skip(seconds * 1000);
      assert.equal(await source.get(), token);
      await new Promise(setImmediate);
      assert.equal(sent.length, requests);
    });

  it('is asked for where none is stored, or where the last request had no answer', async () => {
    for (const changes of [{ accessToken: '' }, { isRefreshing: true }]) {
      await store.write(key, grant(changes));
      const own = createTokenSource({
        client,
        configNodeId: 'node',
        session: new Session({ store, clock, send: refused }),
      });
      await assert.rejects(own.get(), { code: 'NETWORK' });
      await own.close();
    }
    await store.write(key, grant({ accessToken: '' }));
    assert.equal(await source.get(), 'a5');
    assert.deepEqual(sent, ['r4']);
  });
  const refused: Send = () => Promise.reject(new VehicleError('NETWORK', 'No route.'));

  it('is saved with what the answer gives, and what it leaves out stays', async () => {
    await store.write(key, grant({ accessToken: '' }));
    answer = () => ({ body: { access_token: 'a5' } });
    assert.equal(await source.get(), 'a5');
    const saved = grant({ generation: 5, accessToken: 'a5', expiresAt: null });
    assert.deepEqual(await stored(), saved);
    assert.deepEqual(source.describe(), {
      kind: 'refreshing',
      expiresAt: null,
      scopes: ['openid'],
      signInRequiredSince: null,
      signedInAt: '2026-06-01T08:00:00.000Z',
      endsAt: '2026-12-01T08:00:00.000Z',
      lastRefreshAt: '2026-06-01T08:00:00.000Z',
      retryAt: null,
      problem: null,
    });
  });

  it('of a pasted refresh token outdates that token, and has no end that is known', async () => {
    const own = createTokenSource({ client, configNodeId: 'node', session, refreshToken: ' pasted ' });
    answer = () => ({ body: { access_token: 'a1', scope: 'openid' } });
    assert.equal(await own.get(), 'a1');
    assert.deepEqual(sent, ['pasted']);
    const { signedInAt: _, ...pasted } = grant({
      generation: 1,
      refreshToken: 'pasted',
      accessToken: 'a1',
      expiresAt: null,
      outdated: [fingerprint('pasted')],
    });
    assert.deepEqual(await stored(pastedKey(client, 'pasted')), pasted);
    assert.deepEqual([own.describe().endsAt, own.describe().signedInAt], [null, null]);
    await own.close();
  });

  const problemOf = async (): Promise<VehicleError> =>
    source.get().then(
      (token) => assert.fail(token),
      (error: unknown) => (error instanceof VehicleError ? error : assert.fail(String(error))),
    );

  it('is asked for no more after a refusal, until another refresh token is there', async () => {
    await store.write(key, grant({ accessToken: '' }));
    answer = () => ({ status: 400, body: { error: 'invalid_grant' } });
    for (let count = 0; count < 2; count += 1) assert.equal((await problemOf()).code, 'SIGN_IN_REQUIRED');
    assert.deepEqual(sent, ['r4']);
    assert.equal((await stored())?.isRefreshing, false, 'nothing was rotated');
    assert.equal(source.describe().signInRequiredSince, '2026-06-01T08:00:00.000Z');
    await store.write(key, grant({ accessToken: '', refreshToken: 'other' }));
    answer = () => ({ body: { access_token: 'a5' } });
    assert.equal(await source.get(), 'a5');
    assert.equal(source.describe().signInRequiredSince, null);
  });

  for (const [error, isOfClient] of [
    ['invalid_client', true],
    ['', false],
  ] as const)
    it(`is ${isOfClient ? 'not ' : ''}asked for with another refresh token after the refusal “${error}”`, async () => {
      await store.write(key, grant({ accessToken: '' }));
      answer = () => ({ status: 400, body: { error } });
      await problemOf();
      await store.write(key, grant({ accessToken: '', refreshToken: 'other' }));
      await problemOf();
      assert.deepEqual(sent, isOfClient ? ['r4'] : ['r4', 'other']);
      await session.save(key, grant());
      assert.equal(await source.get(), 'a4', 'a sign-in ends every refusal');
    });

  it('that was perhaps rotated is marked until an answer comes, one that never left is not', async () => {
    const lost = (isSent: boolean) => async (): Promise<void> => {
      answer = (leave) => {
        if (isSent) leave();
        throw new VehicleError('NETWORK', 'Cut.');
      };
      await store.write(key, grant({ accessToken: '' }));
      const { code, message, retryable, retryAt } = await problemOf();
      assert.deepEqual([code, retryable], ['NETWORK', true]);
      assert.match(message, /^The sign-in service: Cut\. The pack tries again by itself\.$/);
      assert.equal((await stored())?.isRefreshing, isSent);
      assert.equal(source.describe().retryAt, retryAt?.toISOString());
      assert.ok(retryAt !== null && retryAt.getTime() > clock.now());
      // Until then no request is sent.
      const before = sent.length;
      assert.equal((await problemOf()).code, 'NETWORK');
      assert.equal(sent.length, before);
    };
    await lost(true)();
    await clock.advance(600_000);
    await lost(false)();
    answer = () => ({ body: { access_token: 'a5', expires_in: 300 } });
    await clock.advance(900_000);
    assert.match(await source.get(), /a5/);
    assert.equal(source.describe().retryAt, null);
  });

  it('has no problem and no pause any more as soon as a sign-in is saved', async () => {
    await store.write(key, grant({ accessToken: '' }));
    answer = (leave) => {
      leave();
      return away();
    };
    await problemOf();
    const shown = (): unknown[] => [source.describe().problem, source.describe().retryAt];
    assert.ok(!shown().includes(null), String(shown()));
    await session.save(key, grant({ generation: 9 }));
    assert.deepEqual(shown(), [null, null]);
    assert.deepEqual([await source.get(), sent], ['a4', ['r4']]);
  });

  it('that is missing in an answer is a fault of the service', async () => {
    await store.write(key, grant({ accessToken: '' }));
    answer = () => ({ body: { refresh_token: 'r5' } });
    const { code, message } = await problemOf();
    assert.deepEqual([code, (await stored())?.refreshToken], ['SERVICE_ERROR', 'r5']);
    assert.match(message, /^The sign-in service gave no usable access token\. The pack tries again/);
  });

  it('is replaced once where the service refuses it, and later each time where it refuses the new one', async () => {
    await store.write(key, grant());
    let count = 4;
    answer = () => ({ body: { access_token: `a${(count += 1)}`, refresh_token: `r${count}`, expires_in: 300 } });
    assert.equal(await source.onUnauthorized('of another time'), true);
    assert.equal(await source.get(), 'a4');
    assert.equal(await source.onUnauthorized('a4'), true);
    assert.deepEqual([await source.get(), sent], ['a5', ['r4']]);
    await assert.rejects(source.onUnauthorized('a5'), (error: VehicleError) => {
      assert.deepEqual([error.code, error.httpStatus, error.retryable], ['SERVICE_ERROR', 401, true]);
      assert.match(error.message, /refused a new access token/);
      return true;
    });
    assert.deepEqual(sent, ['r4'], 'not at once');
    await clock.advance(4_000);
    assert.deepEqual([await source.get(), sent], ['a6', ['r4', 'r5']]);
    source.onAccepted?.('a6');
    assert.equal(await source.onUnauthorized('a6'), true);
    assert.deepEqual([await source.get(), sent.length], ['a7', 3]);
  });

  it('that could not be saved is saved when its configuration closes, without another request', async () => {
    await store.write(key, grant({ accessToken: '' }));
    const write = state.write.bind(state);
    answer = (leave) => {
      leave();
      state.write = () => Promise.reject(new Error('no space'));
      return { status: 200, body: { access_token: 'a5', refresh_token: 'r5' } };
    };
    await problemOf();
    assert.equal((await stored())?.refreshToken, 'r4');
    state.write = write;
    await source.close();
    assert.deepEqual([(await stored())?.refreshToken, (await stored())?.generation], ['r5', 5]);
  });

  it('is not saved where its sign-in was removed meanwhile, or where a later one was saved', async () => {
    await store.write(key, grant({ accessToken: '' }));
    let removed: Promise<void> | null = null;
    answer = () => {
      removed = session.removeGrant(key);
      return { body: { access_token: 'a5', refresh_token: 'r5' } };
    };
    await source.get().catch(() => undefined);
    await removed;
    assert.equal(await stored(), undefined);
    await store.write(key, grant({ accessToken: '' }));
    let saved: Promise<unknown> | null = null;
    answer = () => {
      saved = store.write(key, grant({ generation: 9, accessToken: 'signed-in' }));
      return { body: { access_token: 'a5', refresh_token: 'r5' } };
    };
    const other = createTokenSource({ client, configNodeId: 'node', session });
    assert.equal(await other.get(), 'signed-in');
    await saved;
    assert.deepEqual([(await stored())?.generation, (await stored())?.refreshToken], [9, 'r4']);
    await other.close();
  });

  it('is refreshed every third day while no read asks for it', async () => {
    await store.write(key, grant({ expiresAt: null }));
    assert.equal(await source.get(), 'a4');
    await clock.advance(60_000);
    answer = () => ({ body: { access_token: 'a5' } });
    clock.skip(3 * 86_400_000 - 120_000);
    await clock.advance(59_999);
    assert.equal(sent.length, 0);
    await clock.advance(2);
    await new Promise(setImmediate);
    assert.equal(sent.length, 1);
  });

  const away = (): never => {
    throw new VehicleError('NETWORK', 'Cut.');
  };

  it('is the one at hand while a new one cannot be had, unless the service refused it', async () => {
    await store.write(key, grant());
    assert.equal(await source.get(), 'a4');
    answer = away;
    clock.skip(295_000);
    assert.equal(await source.get(), 'a4');
    await store.write(key, grant());
    await assert.rejects(source.onUnauthorized('a4'), { code: 'NETWORK' });
    await assert.rejects(source.get(), { code: 'NETWORK' });
  });

  it('is asked for again by itself, after growing pauses', async () => {
    await store.write(key, grant({ accessToken: '' }));
    answer = (leave) => {
      leave();
      return away();
    };
    await problemOf();
    const tries = [sent.length];
    for (const ms of [1_999, 1, 3_999, 1, 7_999, 1]) {
      await clock.advance(ms);
      await new Promise(setImmediate);
      tries.push(sent.length);
    }
    assert.deepEqual(tries, [1, 1, 2, 2, 3, 3, 4]);
  });

  it('is looked for each quarter of an hour after a refusal: a person may have signed in elsewhere', async () => {
    // The start of the source has asked once.
    await clock.advance(500);
    await store.write(key, grant({ accessToken: '' }));
    answer = () => ({ status: 400, body: { error: 'invalid_grant' } });
    await problemOf();
    answer = () => ({ body: { access_token: 'a5' } });
    await store.write(key, grant({ accessToken: '', refreshToken: 'other' }));
    await clock.advance(899_999);
    await new Promise(setImmediate);
    assert.deepEqual(sent, ['r4']);
    await clock.advance(1);
    await new Promise(setImmediate);
    assert.deepEqual(sent, ['r4', 'other']);
  });

  it('is looked for each two seconds while a shared store is away, however long that lasts', async () => {
    // The start of the source has asked once.
    await clock.advance(500);
    await store.write(key, grant());
    assert.equal(await source.get(), 'a4');
    const read = state.read.bind(state);
    let reads = 0;
    state.read = () => {
      reads += 1;
      return Promise.reject(new StateFault('unavailable', asSentence('Away.')));
    };
    clock.skip(300_000);
    await assert.rejects(source.get(), { code: 'STORE_UNAVAILABLE', retryable: true });
    const before = reads;
    for (let count = 0; count < 5; count += 1) {
      await clock.advance(2_000);
      await new Promise(setImmediate);
    }
    assert.equal(reads - before, 5);
    state.read = read;
    await clock.advance(2_000);
    await new Promise(setImmediate);
    assert.equal(await source.get(), 'a5');
  });

  it('is waited for by a deploy for three seconds, and saved when it comes later', async () => {
    await store.write(key, grant({ accessToken: '' }));
    let arrive: () => void = () => assert.fail();
    holds = new Promise((resolve) => (arrive = resolve));
    answer = (leave) => {
      leave();
      return { status: 0 as never, body: {} };
    };
    const asked = source.get().catch(() => 'ended');
    await clock.advance(0);
    assert.deepEqual(sent, ['r4']);
    let isClosed = false;
    const closing = source.close().then(() => (isClosed = true));
    await clock.advance(2_999);
    assert.equal(isClosed, false);
    await clock.advance(1);
    await closing;
    arrive();
    await asked;
  });
});
