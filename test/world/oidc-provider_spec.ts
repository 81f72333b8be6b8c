import { strict as assert } from 'node:assert';
import type { VehicleClient } from '../../src/client';
import type { TokenSource } from '../../src/http/token-source';
import { createTransport } from '../../src/http/transport';
import { createTokenSource } from '../../src/session/create-token-source';
import { GrantStore, signInKey } from '../../src/session/grant-store';
import type { OAuthClient, Send } from '../../src/session/oauth';
import { Session } from '../../src/session/session';
import type { SignedIn, SignInStart } from '../../src/session/sign-in';
import { startSimulator, type Simulator } from '../support/simulator';
import { Seal } from '../../src/state/seal';
import { closeAccounts, openTestAccount } from '../support/account';
import { sealedFiles } from '../support/sealed-files';
import {
  clientSecret,
  decideAtProvider,
  providerScopes,
  redirectUrl,
  startProvider,
  startResourceService,
  type Driver,
  type IdentityProvider,
  type ProviderSettings,
  type ResourceService,
} from './support/oidc-provider';
import { endWithLogs, newFolder } from './support/program';

describe('A sign-in at oidc-provider', () => {
  endWithLogs();
  let provider: IdentityProvider;
  let service: Simulator;
  let resources: ResourceService;
  let session: Session;
  let store: GrantStore;
  let directory: string;
  let sources: TokenSource[];
  /** The requests of the pack to the token endpoint, and the paths of all of its requests. */
  let tokenRequests: number;
  let paths: string[];

  const transport = createTransport();
  after(() => transport.close());

  /** The provider, and a resource service that asks it about each token. */
  const start = async (settings: ProviderSettings = {}): Promise<void> => {
    provider = await startProvider(settings);
    resources = await startResourceService(service, provider);
  };

  beforeEach(async () => {
    service = await startSimulator();
    directory = await newFolder('sign-in');
    sources = [];
    tokenRequests = 0;
    paths = [];
    session = newSession();
  });

  afterEach(async () => {
    await closeAccounts();
    await Promise.all(sources.map((source) => source.close()));
    await resources?.close();
    await provider?.stop();
    await service.close();
  });

  const send: Send = async (request) => {
    paths.push(request.url.pathname);
    if (request.method === 'GET') return transport.send(request);
    tokenRequests += 1;
    return transport.send(request);
  };

  /** A process of the pack that starts. */
  const newSession = (): Session => {
    store = new GrantStore({ state: sealedFiles([new Seal('credential secret')], { directory }) });
    return new Session({ store, send });
  };

  const clientOf = (clientId: string, changes: Partial<OAuthClient> = {}): OAuthClient => ({
    audience: resources.url,
    tokenUrl: provider.tokenUrl,
    issuer: { url: provider.url, domain: '127.0.0.1' },
    clientId,
    clientSecret: clientId === 'public' ? '' : clientSecret,
    ...changes,
  });

  const begin = (clientId = 'car', changes: Partial<SignInStart> = {}): Promise<{ url: string; state: string }> =>
    session.signIns.begin({
      authorizeUrl: provider.authorizeUrl,
      client: clientOf(clientId),
      redirectUrl,
      scopes: providerScopes,
      optional: [
        { access: 'lock', scopes: ['conve:lock'] },
        { access: 'unlock', scopes: ['conve:unlock'] },
      ],
      configNodeId: 'configuration',
      ...changes,
    });

  const signIn = async (clientId = 'car', driver: Driver = {}): Promise<SignedIn> =>
    session.signIns.finish({ redirected: await decideAtProvider((await begin(clientId)).url, driver) });

  const source = (clientId = 'car', changes: Partial<OAuthClient> = {}): TokenSource => {
    const client = clientOf(clientId, changes);
    const made = createTokenSource({ client, configNodeId: 'configuration', session });
    sources.push(made);
    return made;
  };

  const open = (tokens: TokenSource): VehicleClient =>
    openTestAccount(service, { tokens, shareForMs: 0, settings: { baseUrl: resources.url } }).client;

  const read = async (client: VehicleClient): Promise<unknown> =>
    (await client.read('windows', { vin: service.car().vin })).payload;

  const stored = async (clientId = 'car') => (await store.read(signInKey(clientOf(clientId), 'configuration')))?.grant;

  describe('of a client', () => {
    beforeEach(() => start());

    for (const clientId of ['car', 'public']) {
      it(`reads with what was granted, and refreshes it (${clientId})`, async () => {
        const { scopes, missing, expiresAt } = await signIn(clientId);
        assert.deepEqual([[...(scopes ?? [])].sort(), missing], [[...providerScopes].sort(), []]);
        const left = Date.parse(expiresAt ?? '') - Date.now();
        assert.ok(left > 240_000 && left <= 300_000, `${left} ms`);
        const tokens = source(clientId);
        const client = open(tokens);
        assert.ok(await read(client));
        const first = await stored(clientId);
        // A token that the driver's other device ended.
        assert.equal(await tokens.onUnauthorized(await tokens.get()), true);
        assert.ok(await read(client));
        const second = await stored(clientId);
        assert.notEqual(second?.refreshToken, first?.refreshToken, 'not rotated');
        assert.equal(second?.refreshToken, await provider.control('newest'));
      });
    }

    it('asks for the scopes again at each sign-in, and the later one counts', async () => {
      await signIn();
      const tokens = source();
      const before = await tokens.get();
      await signIn('car', { scopes: ['openid', 'conve:windows_status'] });
      assert.notEqual(await tokens.get(), before);
      assert.deepEqual([...(tokens.describe().scopes ?? [])].sort(), ['conve:windows_status', 'openid']);
    });

    it('continues with the former sign-in if the driver declines', async () => {
      await signIn();
      const client = open(source());
      await assert.rejects(signIn('car', { decision: 'deny' }), { code: 'SIGN_IN_REQUIRED', message: /declined/ });
      assert.ok(await read(client));
    });

    it('says what the driver left out, and which scope a read lacks', async () => {
      const scopes = providerScopes.filter((scope) => !['conve:unlock', 'conve:doors_status'].includes(scope));
      const { missing } = await signIn('car', { scopes });
      assert.deepEqual(missing, [
        { access: null, scopes: ['conve:doors_status'] },
        { access: 'unlock', scopes: ['conve:unlock'] },
      ]);
      const client = open(source());
      assert.ok(await read(client));
      await assert.rejects(client.read('doors', { vin: service.car().vin }), {
        code: 'SCOPE_MISSING',
        message: /lacks a scope that this needs: conve:doors_status\. .*consent page/,
      });
    });

    it('is taken from the whole address, with the issuer in it, and once', async () => {
      const address = await decideAtProvider((await begin()).url);
      assert.equal(new URL(address).searchParams.get('iss'), provider.url);
      await session.signIns.finish({ redirected: `  ${address}\n` });
      await assert.rejects(session.signIns.finish({ redirected: address }), {
        code: 'INPUT_INVALID',
        message: /used already/,
      });
    });

    it('refuses a code that belongs to another sign-in, because its code verifier differs', async () => {
      const theirs = new URL(await decideAtProvider((await begin()).url));
      const mine = await begin();
      theirs.searchParams.set('state', mine.state);
      await assert.rejects(session.signIns.finish({ redirected: theirs.href }), {
        code: 'SIGN_IN_REQUIRED',
        message: /did not accept the sign-in code/,
      });
    });

    it('asks for a sign-in when the driver withdraws the consent, and sends the service nothing more', async () => {
      await signIn();
      const client = open(source());
      await read(client);
      await provider.control('revoke');
      resources.requests.length = 0;
      for (let reads = 0; reads < 5; reads += 1)
        await assert.rejects(read(client), { code: 'SIGN_IN_REQUIRED', message: /ended the sign-in/ });
      assert.deepEqual([resources.requests.length, tokenRequests], [1, 2]);
      await signIn();
      assert.ok(await read(client));
    });

    it('asks for a sign-in when somebody else has used the refresh token: the provider then revokes the whole grant', async () => {
      await signIn('public');
      const tokens = source('public');
      const client = open(tokens);
      await read(client);
      const { refreshToken = '' } = (await stored('public')) ?? {};
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: 'public' };
      const thief = await fetch(provider.tokenUrl, { method: 'POST', body: new URLSearchParams(form) });
      const { access_token: stolen } = (await thief.json()) as { access_token: string };
      assert.equal((await provider.introspect(stolen)).active, true);
      await assert.rejects(tokens.onUnauthorized(await tokens.get()), { code: 'SIGN_IN_REQUIRED' });
      assert.equal((await provider.introspect(stolen)).active, false, 'the thief goes on');
      await assert.rejects(read(client), { code: 'SIGN_IN_REQUIRED' });
    });
  });

  for (const [discovery, authorizePath, tokenPath] of [
    ['on', '/auth', '/token'],
    ['off', '/auth', '/token'],
    ['moved', '/moved/auth', '/moved/token'],
  ] as const)
    it(`works and is refreshed if the discovery document is ${discovery}`, async () => {
      await start({ discovery });
      const { url } = await begin();
      assert.equal(new URL(url).pathname, authorizePath);
      await session.signIns.finish({ redirected: await decideAtProvider(url) });
      const tokens = source();
      const client = open(tokens);
      assert.ok(await read(client));
      assert.equal(await tokens.onUnauthorized(await tokens.get()), true);
      assert.ok(await read(client));
      assert.deepEqual(paths, ['/.well-known/openid-configuration', tokenPath, tokenPath]);
    });

  it('finds the token address that has moved after a restart, with the stored sign-in', async () => {
    await start();
    await signIn();
    // The same sign-in, and a process that has known other addresses before.
    const moved = { tokenUrl: `${provider.url}/former/token` };
    const grant = await stored();
    assert.ok(grant);
    await store.write(signInKey(clientOf('car', moved), 'configuration'), { ...grant, accessToken: '' });
    session = newSession();
    paths = [];
    assert.ok(await read(open(source('car', moved))));
    assert.deepEqual(paths, ['/.well-known/openid-configuration', '/token']);
  });

  for (const minutes of [5, -5]) {
    it(`works if the clock of the provider is ${minutes} minutes ahead`, async () => {
      await start({ aheadMs: minutes * 60_000 });
      await signIn();
      const tokens = source();
      const client = open(tokens);
      assert.ok(await read(client));
      const left = Date.parse(tokens.describe().expiresAt ?? '') - Date.now();
      assert.ok(left > 240_000 && left <= 300_000, `${left} ms`);
      await tokens.onUnauthorized(await tokens.get());
      assert.ok(await read(client));
    });
  }
});
