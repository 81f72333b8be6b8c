import { strict as assert } from 'node:assert';
import { createServer, type ServerResponse } from 'node:http';
import { MemoryStateStore, services } from '../../../src/index';
import type { Issuer } from '../../../src/catalogue/services';
import type { TokenSource } from '../../../src/http/token-source';
import { createTransport, type TransportRequest } from '../../../src/http/transport';
import { createTokenSource } from '../../../src/session/create-token-source';
import { Discovery, type Addresses } from '../../../src/session/discovery';
import { GrantStore } from '../../../src/session/grant-store';
import type { OAuthClient, Send } from '../../../src/session/oauth';
import { Session } from '../../../src/session/session';
import { listen } from '../../support/listening';
import { ManualClock } from '../../support/manual-clock';

const path = '/.well-known/openid-configuration';
const hour = 3_600_000;

describe('The discovery document of an identity service', () => {
  let clock: ManualClock;
  let url: string;
  let issuer: Issuer;
  let discovery: Discovery;
  /** The paths that were asked for. */
  let asked: string[];
  let answer: (response: ServerResponse) => void;
  const transport = createTransport();
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(response);
  });
  const send: Send = (request) => transport.send(request);

  before(async () => void (url = `http://127.0.0.1:${await listen(server)}`));
  beforeEach(() => {
    clock = new ManualClock();
    asked = [];
    issuer = { url, domain: '127.0.0.1' };
    discovery = new Discovery({ send, clock });
    gives({});
  });
  afterEach(() => assert.equal(clock.sleeping, 0));
  after(async () => {
    await transport.close();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  const document = (changes: object): object => ({
    issuer: url,
    authorization_endpoint: `${url}/new/authorize`,
    token_endpoint: `${url}/new/token?market=se`,
    ...changes,
  });
  const gives = (changes: object, status = 200): void => {
    answer = (response) => response.writeHead(status).end(JSON.stringify(document(changes)));
  };
  const moved = (): Addresses => ({ authorizeUrl: `${url}/new/authorize`, tokenUrl: `${url}/new/token?market=se` });

  const useless: Record<string, (response: ServerResponse) => void> = {
    'is a page': (response) => response.end('<!doctype html><title>Volvo ID</title>'),
    'is empty': (response) => response.end(),
    'is a list': (response) => response.end('[]'),
    'is cut': (response) => response.end('{"issuer":'),
    'is missing': (response) => response.writeHead(404).end(JSON.stringify(document({}))),
    'is of another issuer': (response) => response.end(JSON.stringify(document({ issuer: 'https://evil.example' }))),
    'names its issuer in another way': (response) => response.end(JSON.stringify(document({ issuer: `${url}/` }))),
    'has no token address': (response) => response.end(JSON.stringify(document({ token_endpoint: undefined }))),
    'is somewhere else': (response) => response.writeHead(302, { location: `${url}/elsewhere` }).end(),
    'is larger than a megabyte': (response) =>
      response.end(JSON.stringify(document({ claims_supported: 'x'.repeat(2 ** 20) }))),
    'is not sent': (response) => void response.destroy(),
  };
  for (const [what, answered] of Object.entries(useless))
    it(`gives no address if it ${what}`, async () => {
      answer = answered;
      assert.equal(await discovery.find(issuer), null);
      assert.deepEqual(asked, [path]);
    });

  it('is waited for three seconds, and by no later caller', async () => {
    let open: ServerResponse | undefined;
    const arrived = new Promise<void>((done) => {
      answer = (response) => {
        open = response.writeHead(200);
        open.write('{');
        done();
      };
    });
    const found = discovery.find(issuer);
    await arrived;
    await clock.advance(2_999);
    assert.equal(await Promise.race([found, Promise.resolve('waits')]), 'waits');
    await clock.advance(1);
    assert.equal(await found, null);
    assert.equal(await discovery.find(issuer, { isFresh: true }), null);
    open?.destroy();
    assert.equal(asked.length, 1);
  });

  it('is asked for once by all who need it at the same time, once a day, and once an hour if that fails', async () => {
    await Promise.all([discovery.find(issuer), discovery.find(issuer, { isFresh: true }), discovery.find(issuer)]);
    clock.skip(24 * hour - 1);
    await discovery.find(issuer);
    assert.equal(asked.length, 1);
    clock.skip(1);
    gives({}, 503);
    assert.deepEqual(await discovery.find(issuer), moved(), 'the last answer stays');
    clock.skip(hour - 1);
    await discovery.find(issuer);
    assert.equal(asked.length, 2);
    clock.skip(1);
    await discovery.find(issuer);
    assert.equal(asked.length, 3);
  });

  describe('of Volvo ID', () => {
    const { issuer: volvo } = services['volvo-cars'];
    const good = 'https://volvoid.eu.volvocars.com/as/token.oauth2';
    const findWith = (changes: object): Promise<Addresses | null> => {
      const answered: Send = ({ url: to }: TransportRequest) => {
        asked.push(to.href);
        const body = { issuer: volvo.url, authorization_endpoint: good, token_endpoint: good, ...changes };
        return Promise.resolve({ status: 200, headers: {}, body: JSON.stringify(body) });
      };
      return new Discovery({ send: answered, clock }).find(volvo);
    };

    it('is at its host, and may lead to each host of volvocars.com', async () => {
      for (const to of [
        good,
        'https://id.volvocars.com/token',
        'https://volvocars.com/token',
        'https://a.b.volvocars.com:8443/',
      ])
        assert.deepEqual(await findWith({ token_endpoint: to }), { authorizeUrl: good, tokenUrl: to });
      assert.equal(asked[0], 'https://volvoid.eu.volvocars.com/.well-known/openid-configuration');
    });

    const untrusted = [
      'https://evil.example/as/token.oauth2',
      'https://volvocars.com.evil.example/token',
      'https://evilvolvocars.com/token',
      'https://volvocars.com@evil.example/token',
      'https://user:secret@id.volvocars.com/token',
      'https://volvocars.com./token',
      'https://127.0.0.1/token',
      'https://localhost/token',
      'http://volvoid.eu.volvocars.com/as/token.oauth2',
      'http://127.0.0.1:1880/token',
      'https://id.volvocars.com/token#top',
      'blob:https://id.volvocars.com/token',
      '/as/token.oauth2',
      'token',
      '',
    ];
    it('sends client secret, refresh token and driver to no other domain, and never in the clear', async () => {
      for (const to of untrusted)
        for (const name of ['token_endpoint', 'authorization_endpoint'])
          assert.equal(await findWith({ [name]: to }), null, `${name} ${to}`);
    });
  });

  describe('in a sign-in and its refreshes', () => {
    let fixed: string;
    let session: Session;
    let source: TokenSource | undefined;
    /** Where tokens were asked for. */
    let tokenUrls: string[];
    /** What the token addresses answer; the default is a new token. */
    let status: (to: string) => number;
    const client = (): OAuthClient => ({
      audience: 'https://api.example',
      tokenUrl: `${fixed}/token`,
      issuer,
      clientId: 'client',
      clientSecret: 'secret',
    });

    beforeEach(() => {
      fixed = url;
      tokenUrls = [];
      status = () => 200;
      source = undefined;
      const sendTokens: Send = async (request) => {
        if (request.method === 'GET') return send(request);
        await Promise.resolve();
        request.mayLeave?.();
        tokenUrls.push(request.url.href);
        const body = { access_token: `a${tokenUrls.length}`, refresh_token: `r${tokenUrls.length}`, expires_in: 300 };
        return { status: status(request.url.href), headers: {}, body: JSON.stringify(body) };
      };
      const store = new GrantStore({ state: new MemoryStateStore() });
      session = new Session({ store, send: sendTokens, clock, random: () => 0.5 });
    });
    afterEach(() => source?.close());

    const begin = (changes: Partial<OAuthClient> = {}) =>
      session.signIns.begin({
        authorizeUrl: `${fixed}/authorize`,
        client: { ...client(), ...changes },
        redirectUrl: 'https://red.example/connected-vehicle/callback',
        scopes: ['openid'],
        configNodeId: 'node',
      });
    const signIn = async (): Promise<string> => {
      const { url: page, state } = await begin();
      await session.signIns.finish({ redirected: `?code=code&state=${state}&iss=${encodeURIComponent(url)}` });
      return new URL(page).pathname;
    };
    const open = (): TokenSource => (source ??= createTokenSource({ client: client(), configNodeId: 'node', session }));
    const refresh = async (): Promise<string> => {
      clock.skip(300_000);
      return open().get();
    };

    it('names both addresses of the sign-in, and the one of each refresh', async () => {
      assert.equal(await signIn(), '/new/authorize');
      assert.equal(await open().get(), 'a1');
      assert.equal(await refresh(), 'a2');
      assert.deepEqual(tokenUrls, [moved().tokenUrl, moved().tokenUrl]);
      assert.equal(asked.length, 1);
    });

    it('is replaced by the fixed addresses if it does not answer', async () => {
      gives({}, 404);
      assert.equal(await signIn(), '/authorize');
      await refresh();
      assert.deepEqual(tokenUrls, [`${url}/token`, `${url}/token`]);
      assert.equal(asked.length, 1);
    });

    it('is asked again when the known address no longer gives tokens', async () => {
      await signIn();
      gives({ token_endpoint: `${url}/newest/token` });
      status = (to) => (to.endsWith('/newest/token') ? 200 : 404);
      await assert.rejects(refresh(), { code: 'SERVICE_ERROR' });
      await clock.advance(2_000);
      assert.deepEqual([await open().get(), tokenUrls.at(-1)], [`a${tokenUrls.length}`, `${url}/newest/token`]);
      assert.equal(asked.length, 2);
    });

    it('does not hold up the end of a configuration', async () => {
      await signIn();
      clock.skip(24 * hour);
      const arrived = new Promise<void>((done) => (answer = () => done()));
      const late = open()
        .get()
        .catch((error: { code: string }) => error.code);
      await arrived;
      await open().close();
      assert.equal(await late, 'CANCELLED');
      server.closeAllConnections();
      await clock.advance(3_000);
    });
  });
});
