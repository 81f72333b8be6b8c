import { strict as assert } from 'node:assert';
import { MemoryStateStore, VehicleError } from '../../../src/index';
import type { TokenSource } from '../../../src/http/token-source';
import { createTokenSource, type TokenSourceOptions } from '../../../src/session/create-token-source';
import { GrantStore, hashOf, signInKey, type SavedSignIn } from '../../../src/session/grant-store';
import type { Send } from '../../../src/session/oauth';
import { Session } from '../../../src/session/session';
import { StateFault } from '../../../src/state/state-store';
import { ManualClock } from '../../support/manual-clock';
import { signInWith } from '../../support/saved-sign-in';

const start = Date.parse('2026-08-31T08:00:00Z');
const client = {
  audience: 'https://api.example',
  tokenUrl: 'https://id.example/token',
  clientId: 'client',
  clientSecret: 'secret',
};
const key = signInKey(client, 'node');
const jwt = (exp: number): string => `x.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.y`;

describe('The token of a vehicle configuration', () => {
  let clock: ManualClock;
  let state: MemoryStateStore;
  let session: Session;
  let sent: number;
  let sources: TokenSource[];
  /** In place of a token that names the refresh token. */
  let answer: object | null;
  beforeEach(() => {
    clock = new ManualClock(start);
    state = new MemoryStateStore();
    [sent, sources, answer] = [0, [], null];
    const send: Send = async ({ mayLeave, body }) => {
      await Promise.resolve();
      mayLeave?.();
      sent += 1;
      const token = new URLSearchParams(body).get('refresh_token');
      return { status: 200, headers: {}, body: JSON.stringify(answer ?? { access_token: `of-${token}` }) };
    };
    session = new Session({ store: new GrantStore({ state }), send, clock, random: () => 0.5 });
  });
  afterEach(async () => {
    for (const source of sources) await source.close();
    assert.equal(clock.sleeping, 0);
  });
  const open = (more: Partial<TokenSourceOptions> = {}): TokenSource => {
    const source = createTokenSource({ client, configNodeId: 'node', session, clock, ...more });
    sources.push(source);
    return source;
  };
  const signedIn = (more: Partial<SavedSignIn> = {}): SavedSignIn =>
    signInWith('r', start, { accessToken: 'signed-in', expiresAt: start + 300_000, scopes: ['openid'], ...more });

  it('is the pasted access token if nothing can be refreshed', async () => {
    for (const more of [
      { session: null },
      { client: { ...client, tokenUrl: ' ' } },
      { client: { ...client, clientId: ' ' } },
    ]) {
      const source = open({ accessToken: ' pasted ', ...more });
      assert.deepEqual([await source.get(), source.describe().kind], ['pasted', 'pasted']);
      await session.save(key, signedIn());
      assert.equal(await source.get(), 'pasted');
      assert.equal(open(more).describe().kind, 'none');
    }
  });

  it('is missing until somebody signs in', async () => {
    const source = open();
    assert.deepEqual([source.describe().kind, source.describe().problem], ['refreshing', null]);
    await assert.rejects(source.get(), { code: 'TOKEN_MISSING' });
    assert.equal(source.describe().kind, 'none');
    await session.save(key, signedIn());
    assert.equal(await source.get(), 'signed-in');
    const { kind, endsAt, lastRefreshAt, expiresAt, problem } = source.describe();
    assert.deepEqual(
      [kind, endsAt, lastRefreshAt, expiresAt, problem],
      [
        'refreshing',
        // The 31st of February.
        '2027-03-03T08:00:00.000Z',
        '2026-08-31T08:00:00.000Z',
        '2026-08-31T08:05:00.000Z',
        null,
      ],
    );
    assert.equal(sent, 0);
  });

  it('is the pasted access token until it ends, or until a sign-in that came after it', async () => {
    const token = jwt(start / 1000 + 60);
    const source = open({ accessToken: token });
    assert.deepEqual([await source.get(), source.describe().kind], [token, 'pasted']);
    await session.save(key, signedIn());
    assert.equal(await source.get(), token, 'the sign-in was there before');
    assert.equal(await source.onUnauthorized(token), true);
    clock.skip(60_000);
    assert.equal(await source.get(), 'signed-in');
    assert.equal(source.describe().kind, 'refreshing');
    const other = open({ accessToken: 'opaque' });
    assert.equal(await other.get(), 'opaque');
    await session.save(key, signedIn({ pastedBefore: hashOf('opaque'), accessToken: 'later' }));
    assert.equal(await other.get(), 'later');
    assert.equal(await source.get(), 'later', 'a sign-in reaches every configuration at once');
  });

  it('continues while the store cannot be read, once it is in use', async () => {
    const [used, unused] = [open(), open({ configNodeId: 'other' })];
    await session.save(key, signedIn());
    assert.equal(await used.get(), 'signed-in');
    const read = state.read.bind(state);
    state.read = () => Promise.reject(new StateFault('inaccessible', 'sign-in', '/folder', 'EACCES'));
    assert.equal(await used.get(), 'signed-in');
    await assert.rejects(unused.get(), { code: 'CONFIG', message: /\(EACCES\)/ });
    assert.equal(used.describe().problem, null);
    assert.match(String(unused.describe().problem?.template), /cannot be read or written/);
    state.read = read;
  });

  it('is asked for automatically within the first second, and given to nobody after the end', async () => {
    await session.save(key, signedIn({ accessToken: '' }));
    const source = open();
    await clock.advance(499);
    assert.equal(sent, 0);
    await clock.advance(1);
    assert.equal(sent, 1);
    assert.equal(await source.get(), 'of-r');
    await source.close();
    await assert.rejects(source.get(), { code: 'CANCELLED' });
    const aborted = AbortSignal.abort(new VehicleError('CANCELLED', 'Enough.'));
    const other = open();
    await assert.rejects(other.get(aborted), { code: 'CANCELLED' });
    await assert.rejects(other.onUnauthorized('x', aborted), { code: 'CANCELLED' });
    assert.equal(sent, 1);
  });

  it('is there at once after a sign-in, whose generation follows that of the one before', async () => {
    const source = open();
    const signIn = async (): Promise<number | undefined> => {
      const { state: secret } = await session.signIns.begin({
        authorizeUrl: 'https://id.example/authorize',
        client,
        redirectUrl: 'https://red.example/callback',
        scopes: ['openid'],
        configNodeId: 'node',
      });
      answer = { access_token: 'by-code', refresh_token: 'r2' };
      await session.signIns.finish({ redirected: `?code=c&state=${secret}` });
      assert.equal(await source.get(), 'by-code');
      return (await session.store.read(key))?.grant.generation;
    };
    assert.deepEqual([await signIn(), await signIn()], [1, 2]);
    const [entry] = await state.entries('sign-in/');
    await state.write(entry?.key ?? '', 'damaged');
    assert.equal(await signIn(), 1);
  });

  it('is one for all configurations that use it, for as long as one of them does', async () => {
    await session.save(key, signedIn({ accessToken: '' }));
    const [one, two] = [open(), open()];
    assert.deepEqual(await Promise.all([one.get(), two.get()]), ['of-r', 'of-r']);
    assert.equal(sent, 1);
    answer = { access_token: 'next' };
    assert.equal(await two.onUnauthorized('of-r'), true);
    assert.deepEqual([await one.get(), sent], ['next', 2]);
    await assert.rejects(one.onUnauthorized('next'), { code: 'SERVICE_ERROR' });
    await one.close();
    for (const source of [two, open()]) await assert.rejects(source.get(), { code: 'SERVICE_ERROR' });
    for (const source of sources) await source.close();
    assert.equal(await open().get(), 'next', 'nobody remembers that it was refused');
    assert.equal(sent, 2);
  });

  it('is forgotten with its grant, and with no other', async () => {
    const other = signInKey(client, 'other');
    await session.save(key, signedIn());
    await session.save(other, signedIn({ accessToken: 'other' }));
    const [one, two] = [open(), open({ configNodeId: 'other' })];
    assert.deepEqual([await one.get(), await two.get()], ['signed-in', 'other']);
    await session.removeGrant(key);
    assert.deepEqual([one.describe().expiresAt, two.describe().expiresAt], [null, '2026-08-31T08:05:00.000Z']);
    await assert.rejects(open().get(), { code: 'TOKEN_MISSING' });
  });
});
