import { strict as assert } from 'node:assert';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ErrorCode, VehicleError } from '../../../src/errors';
import { createTokenSource } from '../../../src/session/create-token-source';
import { Session } from '../../../src/session/session';
import { GrantStore } from '../../../src/session/grant-store';
import type { SignInStart, SignIns } from '../../../src/session/sign-in';
import type { TokenSource } from '../../../src/http/token-source';
import { FileStateStore } from '../../../src/state/file-state-store';
import { RedisPresence } from '../../../src/state/redis-presence';
import { Seal } from '../../../src/state/seal';
import { SealedStateStore } from '../../../src/state/sealed-store';
import { ManualClock } from '../../support/manual-clock';
import { Identity } from './identity';
import { removeFolder } from '../../support/remove-folder';
import { SharedMemory } from '../../support/shared-memory';

const seal = new Seal('credential secret');
const redirectUrl = 'https://red.example/connected-vehicle/callback?tab=1';
const scopes = ['openid', 'conve:vehicle_relation'];

describe('a sign-in from the editor', () => {
  let clock: ManualClock;
  let identity: Identity;
  let directory: string;
  let files: FileStateStore;
  let store: GrantStore;
  let session: Session;
  /** Every token that the redactor received. */
  let secrets: Set<string>;
  let signIns: SignIns;
  let sources: TokenSource[];

  beforeEach(async () => {
    clock = new ManualClock();
    identity = await Identity.start({ clock, redirectUris: [redirectUrl] });
    directory = await mkdtemp(join(tmpdir(), 'sign-in-'));
    secrets = new Set();
    files = new FileStateStore({ directory });
    store = new GrantStore({
      state: new SealedStateStore({ store: files, seals: () => [seal] }),
      onSecret: (secret) => secrets.add(secret),
    });
    session = new Session({ store, send: identity.send, clock });
    ({ signIns } = session);
    sources = [];
  });

  afterEach(async () => {
    await Promise.all(sources.map((source) => source.close()));
    await identity.close();
    await removeFolder(directory);
  });

  const begin = (options: Partial<SignInStart> = {}): Promise<{ url: string; state: string }> =>
    signIns.begin({
      authorizeUrl: `${identity.simulator.url}/as/authorization.oauth2`,
      client: identity.client,
      redirectUrl,
      scopes,
      configNodeId: 'config-1',
      ...options,
    });

  /**
   * What the browser does: the person decides on the page, and the browser goes where it is sent.
   */
  const decide = async (url: string, decision: 'allow' | 'deny' = 'allow', granted?: string): Promise<string> => {
    const page = new URL(url);
    // A box that is left out at the consent page.
    if (granted !== undefined) page.searchParams.set('scope', granted);
    const response = await fetch(page.origin + page.pathname, {
      method: 'POST',
      body: new URLSearchParams([...page.searchParams, ['decision', decision]]),
      redirect: 'manual',
    });
    return response.headers.get('location') ?? '';
  };

  const source = (accessToken = ''): TokenSource => {
    const made = createTokenSource({
      client: identity.client,
      configNodeId: 'config-1',
      accessToken,
      session,
    });
    sources.push(made);
    return made;
  };

  const grantFolder = (): string => join(directory, 'state', 'sign-in');
  const grantFiles = (): Promise<string[]> => readdir(grantFolder()).catch(() => []);

  it('asks for the code with PKCE S256 and a state of 32 random bytes', async () => {
    const { url, state } = await begin({ client: { ...identity.client, clientId: ' demo-client ' } });
    const query = Object.fromEntries(new URL(url).searchParams);
    assert.match(query['code_challenge'] ?? '', /^[\w-]{43}$/);
    assert.equal(Buffer.from(state, 'base64url').length, 32);
    assert.deepEqual(query, {
      response_type: 'code',
      client_id: 'demo-client',
      redirect_uri: redirectUrl,
      scope: 'openid conve:vehicle_relation',
      state,
      code_challenge: query['code_challenge'],
      code_challenge_method: 'S256',
    });
    assert.notEqual((await begin()).state, state);
  });

  it('saves the tokens for the config node, which uses them at once', async () => {
    const token = source();
    await assert.rejects(token.get(), { code: 'TOKEN_MISSING' });
    const { key, ...signedIn } = await signIns.finish({ redirected: await decide((await begin()).url) });
    assert.match(key, /\ndemo-client\nconfig-1$/);
    assert.deepEqual(signedIn, {
      configNodeId: 'config-1',
      scopes,
      missing: [],
      expiresAt: '2026-06-01T08:04:59.000Z',
      warning: null,
    });
    assert.ok(await identity.accepts(await token.get()));
    await clock.advance(300_000);
    assert.ok(await identity.accepts(await token.get()));
  });

  it('names what was asked for and not granted, by the access that asked for it', async () => {
    const { url } = await begin({
      scopes: [
        'openid',
        'conve:vehicle_relation',
        'conve:windows_status',
        'conve:lock',
        'conve:unlock',
        'location:read',
      ],
      optional: [
        { access: 'lock', scopes: ['conve:lock'] },
        { access: 'unlock', scopes: ['conve:unlock'] },
        { access: 'location', scopes: ['location:read'] },
      ],
    });
    const redirected = await decide(url, 'allow', 'conve:vehicle_relation conve:lock');
    const { missing } = await signIns.finish({ redirected });
    assert.deepEqual(missing, [
      { access: null, scopes: ['conve:windows_status'] },
      { access: 'unlock', scopes: ['conve:unlock'] },
      { access: 'location', scopes: ['location:read'] },
    ]);
  });

  describe('whose answer names its issuer', () => {
    const answeredBy = async (...issuers: string[]): Promise<string> => {
      const address = new URL(await decide((await begin()).url));
      for (const issuer of issuers) address.searchParams.append('iss', issuer);
      return address.href;
    };

    it('ends if that is the service that was asked', async () => {
      for (const path of ['', '/', '/realms/cars'])
        await signIns.finish({ redirected: await answeredBy(`${identity.simulator.url}${path}`) });
    });

    it('is refused if that is another service, and the right answer still works after it', async () => {
      const { url } = identity.simulator;
      for (const wrong of [
        ['https://evil.example'],
        [''],
        ['evil'],
        [url, 'https://evil.example'],
        [`${url}.evil.example`],
      ]) {
        const redirected = await answeredBy(...wrong);
        await assert.rejects(signIns.finish({ redirected }), {
          code: 'INPUT_INVALID',
          message: /a different sign-in service/,
        });
        assert.equal(identity.requests.length, 0, 'the code was sent');
        const right = new URL(redirected);
        right.searchParams.delete('iss');
        assert.equal((await signIns.finish({ redirected: right.href })).configNodeId, 'config-1');
        identity.simulator.clearRequests();
      }
    });
  });

  const pasted: [how: string, write: (address: string) => string][] = [
    ['whole, with spaces around it', (address) => `  ${address}\n`],
    ['in quotation marks', (address) => `"${address}"`],
    ['in single ones', (address) => `'${address}'`],
    ['in angle brackets', (address) => `<${address}>`],
    ['as HTML writes it', (address) => address.replace('&', '&amp;')],
    ['with a fragment', (address) => `${address}#_=_`],
    ['without its scheme', (address) => address.replace('https://', '')],
    ['with a quotation mark inside', (address) => address.replace('callback', 'call"back')],
    ['as its query', (address) => new URL(address).search],
    ['as its query without the question mark', (address) => new URL(address).search.slice(1)],
    ['as a path with its query', (address) => `/callback${new URL(address).search}`],
  ];
  for (const [how, write] of pasted)
    it(`accepts an address that a person pastes ${how}`, async () => {
      const redirected = write(await decide((await begin()).url));
      assert.equal((await signIns.finish({ redirected, configNodeId: 'config-1' })).configNodeId, 'config-1');
    });

  const answered = async (options: Partial<SignInStart> = {}, decision: 'allow' | 'deny' = 'allow'): Promise<string> =>
    decide((await begin(options)).url, decision);
  const answeredAfter = (fault: Parameters<Identity['fault']>[0]): Promise<string> => {
    identity.fault(fault);
    return answered();
  };
  const withState = async (text: string): Promise<string> => `${text}state=${(await begin()).state}`;
  const late = async (): Promise<string> => {
    const redirected = await withState('?code=abc&');
    await clock.advance(600_001);
    return redirected;
  };
  const deleted = async (): Promise<string> => {
    const redirected = await answered();
    await signIns.refuseAnswers('config-1');
    return redirected;
  };
  const wrongSecret = (): Promise<string> => answered({ client: { ...identity.client, clientSecret: 'wrong' } });
  const unusable = { members: { refresh_token: 'missing', access_token: { json: 'two words' } } } as const;
  const refusals: [what: string, redirected: () => string | Promise<string>, code: ErrorCode, says: RegExp][] = [
    ['was declined', () => answered({}, 'deny'), 'SIGN_IN_REQUIRED', /declined/],
    [
      'asks for a scope that the application lacks',
      () => answered({ scopes: ['openid', 'nothing'] }),
      'SCOPE_MISSING',
      /Untick under “Allow”/,
    ],
    [
      'asks for a scope that the application turns out to lack at the last step',
      () => answeredAfter({ status: 400, body: { error: 'invalid_scope' } }),
      'SCOPE_MISSING',
      /published without a scope .*Untick under “Allow”/,
    ],
    [
      'comes back with a word that plain objects know',
      () => withState('?error=constructor&'),
      'SIGN_IN_REQUIRED',
      /refused the sign-in \(constructor\)/,
    ],
    ['comes back with an error and no state', () => '?error=access_denied', 'SIGN_IN_REQUIRED', /declined/],
    [
      'has another state',
      async () => (await answered()).replace(/state=[^&]+/, 'state=other'),
      'INPUT_INVALID',
      /not belong to a sign-in that was started here/,
    ],
    ['has no state', () => '?code=abc', 'INPUT_INVALID', /not belong to a sign-in that was started here/],
    ['is no address at all', () => 'Hello', 'INPUT_INVALID', /contains no sign-in code/],
    ['has no code', () => withState('?'), 'INPUT_INVALID', /whole address/],
    [
      'has another code',
      async () => (await answered()).replace(/code=[^&]+/, 'code=other'),
      'SIGN_IN_REQUIRED',
      /code/,
    ],
    ['is late', late, 'INPUT_INVALID', /ten minutes/],
    ['is for a deleted config node', deleted, 'INPUT_INVALID', /deleted/],
    [
      'is brought to another config node',
      () => answered({ configNodeId: 'config-2' }),
      'INPUT_INVALID',
      /another vehicle configuration/,
    ],
    ['has a wrong client secret', wrongSecret, 'SIGN_IN_REQUIRED', /client secret/],
    [
      'finds the sign-in service away',
      () => answeredAfter({ cut: 'before-headers' }),
      'NETWORK',
      /Start the sign-in again/,
    ],
    [
      'is given no token that can be sent',
      () => answeredAfter(unusable),
      'SERVICE_ERROR',
      /no usable access token\. Start the sign-in again/,
    ],
  ];
  for (const [what, redirected, code, says] of refusals)
    it(`says what to do if it ${what}, and saves nothing`, async () => {
      const end = { redirected: await redirected(), configNodeId: 'config-1' };
      await assert.rejects(signIns.finish(end), { code, message: says });
      assert.deepEqual(await grantFiles(), []);
    });

  it('takes the right address after one without a code, of another sign-in, or of the sign-in page was pasted', async () => {
    const { url, state } = await begin();
    for (const wrong of [`?state=${state}`, url, '?code=abc&state=other', 'Hello'])
      await assert.rejects(signIns.finish({ redirected: wrong }), { code: 'INPUT_INVALID' });
    await signIns.finish({ redirected: await decide(url) });
    assert.ok(await identity.accepts(await source().get()));
  });

  it('accepts an answer once', async () => {
    const redirected = await decide((await begin()).url);
    await signIns.finish({ redirected });
    await assert.rejects(
      signIns.finish({ redirected }),
      (error: VehicleError) => error.code === 'INPUT_INVALID' && /used already/.test(error.message),
    );
    assert.ok(await identity.accepts(await source().get()), 'what was saved stays');
  });

  it('is ended by any process with the store, once, and each of them knows the result', async () => {
    const { signIns: others } = new Session({ store, send: identity.send, clock });
    const redirected = await decide((await begin()).url);
    assert.equal(await others.resultOf('config-1'), null);
    const ends = await Promise.allSettled([signIns, others].map((one) => one.finish({ redirected })));
    const [refused, ...more] = ends.filter((end) => end.status === 'rejected');
    assert.match(String(refused?.reason), /used already/);
    assert.deepEqual(more, []);
    assert.equal(identity.requests.length, 1);
    for (const one of [signIns, others]) {
      const { error, missing } = (await one.resultOf('config-1')) ?? assert.fail();
      assert.deepEqual([error, missing, await one.isUsed(redirected)], [null, [], true]);
    }
    const declined = await decide((await begin()).url, 'deny');
    assert.equal(await others.resultOf('config-1'), null, 'of the last sign-in');
    await assert.rejects(others.finish({ redirected: declined }), { code: 'SIGN_IN_REQUIRED' });
    assert.equal((await signIns.resultOf('config-1'))?.error?.code, 'SIGN_IN_REQUIRED');
  });

  it('is stored encrypted until an answer is accepted, for twenty minutes at most', async () => {
    const sealed = new SealedStateStore({ store: files, seals: () => [seal] });
    const stored = async (): Promise<string> => JSON.stringify(await sealed.entries('signing-in/'));
    const { url, state } = await begin();
    assert.match(await stored(), /"clientSecret":"secret:with.odd chars".*"verifier":"[\w-]{43}"/);
    assert.doesNotMatch(JSON.stringify(await files.entries('signing-in/')), new RegExp(`odd chars|verifier|${state}`));
    await assert.rejects(signIns.finish({ redirected: await decide(url, 'deny') }));
    assert.doesNotMatch(await stored(), /odd chars|verifier/);
    await begin();
    await clock.advance(1_200_001);
    assert.equal(await signIns.resultOf('config-1'), null);
    assert.equal(await stored(), '[]');
  });

  it('lasts ten minutes by the clock of the store if the clocks of two machines differ', async () => {
    const shared = new SharedMemory(clock);
    const clocks = [clock];
    const pass = (ms: number): Promise<unknown> => Promise.all(clocks.map((one) => one.advance(ms)));
    const sessionAt = (offMs: number): Session => {
      const own = new ManualClock(clock.now() + offMs);
      clocks.push(own);
      const presence = new RedisPresence({ store: shared, clock: own });
      return new Session({ store: new GrantStore({ state: shared }), send: identity.send, presence, clock: own });
    };
    ({ signIns } = sessionAt(0));
    const { signIns: others } = sessionAt(3_600_000);
    const { url } = await begin();
    await pass(599_000);
    await others.finish({ redirected: await decide(url) });
    const { state } = await begin();
    await pass(601_000);
    await assert.rejects(others.finish({ redirected: `?code=abc&state=${state}` }), /ten minutes/);
  });

  it('never repeats a text from an address', async () => {
    for (const odd of ['<script>alert(1)</script>', 'call me', 'x '.repeat(40), 'x'.repeat(61)]) {
      const redirected = `?error=${encodeURIComponent(odd)}&error_description=evil&state=${(await begin()).state}`;
      await assert.rejects(signIns.finish({ redirected }), /\(unknown error\)/);
    }
  });

  it('forgets abandoned sign-ins', async () => {
    const [first, second] = [await begin(), await begin()];
    for (let count = 0; count < 99; count++) await begin();
    await assert.rejects(signIns.finish({ redirected: `?code=abc&state=${first.state}` }), { code: 'INPUT_INVALID' });
    await signIns.finish({ redirected: await decide(second.url) });
  });

  it('gives every secret to the redactor before it is used', async () => {
    const address = await decide((await begin()).url);
    await signIns.finish({ redirected: address });
    assert.ok(secrets.has(new URL(address).searchParams.get('code') ?? ''));
    assert.deepEqual(
      identity.issued.filter((secret) => !secrets.has(secret)),
      [],
    );
  });

  it('wins over an access token that was pasted before it, and loses to one that is pasted after it, as long as that lives', async () => {
    const before = source('pasted-before');
    assert.equal(await before.get(), 'pasted-before');
    await signIns.finish({ redirected: await decide((await begin({ accessToken: ' pasted-before' })).url) });
    const signedIn = await before.get();
    assert.ok(await identity.accepts(signedIn));
    const payload = (seconds: number): string =>
      Buffer.from(JSON.stringify({ exp: clock.now() / 1000 + seconds })).toString('base64url');
    const after = source(`a.${payload(60)}.c`);
    assert.equal(await after.get(), `a.${payload(60)}.c`);
    assert.equal(after.describe().kind, 'pasted');
    await clock.advance(60_000);
    assert.equal(await after.get(), signedIn);
  });

  it('refuses a client secret that HTTP cannot carry', async () => {
    for (const clientSecret of ['lone surrogate \ud800', 'line\nbreak'])
      await assert.rejects(begin({ client: { ...identity.client, clientSecret } }), { code: 'CONFIG' });
  });

  it('refuses a redirect URL that services refuse, and says which one they accept', async () => {
    for (const wrong of [
      'http://localhost:1880/connected-vehicle/callback#top',
      'https://red.example/#top',
      'http://garage:1880/connected-vehicle/callback',
      'http://192.168.1.20:1880/connected-vehicle/callback',
      'http://127.0.0.1:1880/connected-vehicle/callback',
      'HTTP://localhost:1880/connected-vehicle/callback',
      'HTTPS://red.example/connected-vehicle/callback',
      'https:/red.example/connected-vehicle/callback',
      'https:\\\\red.example\\connected-vehicle\\callback',
      'https://red.example/connected- vehicle/callback',
      'http://localhost:1880/\nconnected-vehicle/callback',
    ])
      await assert.rejects(
        begin({ redirectUrl: wrong }),
        ({ code, message }: VehicleError) =>
          code === 'CONFIG' && message.includes('begins with https:// or http://localhost (lowercase)'),
        wrong,
      );
    assert.deepEqual(await grantFiles(), []);
  });

  it('refuses an address that is not safe for secrets', async () => {
    const open = 'http://id.example/authorize';
    for (const unsafe of [
      { authorizeUrl: open },
      { redirectUrl: open },
      { client: { ...identity.client, tokenUrl: open } },
      { authorizeUrl: '' },
      { authorizeUrl: 'javascript:alert(1)' },
    ]) {
      await assert.rejects(begin(unsafe), { code: 'CONFIG' });
    }
    await assert.rejects(begin({ client: { ...identity.client, clientId: '' } }), { code: 'CONFIG' });
  });
});
