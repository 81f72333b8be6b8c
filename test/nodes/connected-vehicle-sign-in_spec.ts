import { strict as assert } from 'node:assert';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { useClock } from '../../nodes/runtime';
import { everyScope, startSimulator, type Simulator } from '../support/simulator';
import { askEditor, formOf, signInAtPage, type EditorAnswer } from '../support/editor-client';
import { startConnectProxy } from '../support/connect-proxy';
import { customVehicle, Flow, setUpRealTimeFlow } from '../support/flow';
import { ManualClock } from '../support/manual-clock';
import helper = require('node-red-node-test-helper');
import { withEnvironment } from '../support/environment';

const client = { apiKey: 'demo-key', clientId: 'demo-client', clientSecret: 'demo-secret' };
const callback = 'http://localhost:1880/connected-vehicle/callback';

describe('Signing in from the editor', () => {
  let service: Simulator;
  let flow: Flow;

  setUpRealTimeFlow((setUp) => ({ service, flow } = setUp));
  // A test replaces the service that was set up.
  afterEach(() => service.close());
  afterEach(() => flow.end());

  const vehicle = (changes: Record<string, unknown> = {}): Record<string, unknown> =>
    customVehicle(service, {
      authorizeUrl: `${service.url}/as/authorization.oauth2`,
      tokenUrl: `${service.url}/as/token.oauth2`,
      ...changes,
    });
  const load = (credentials: Record<string, string> = client, changes: Record<string, unknown> = {}): Promise<void> =>
    flow.load({ type: 'connected-vehicle-status' }, vehicle(changes), credentials);
  const begin = (id = 'v', typed: Record<string, string> = {}): Promise<EditorAnswer> =>
    askEditor('sign-in', formOf(vehicle(), typed, { callback }), { id });
  const finish = (redirected: string, id = 'v'): Promise<EditorAnswer> =>
    askEditor('sign-in-finish', { redirected }, { id });
  const state = (id = 'v'): Promise<EditorAnswer> => askEditor('state', {}, { id });
  const tokenCalls = (): number => service.requests.filter(({ path }) => path === '/as/token.oauth2').length;
  const page = async (address: string): Promise<{ status: number; text: string; headers: Record<string, string> }> => {
    const { pathname, search } = new URL(address);
    const { status, text, headers } = await helper.request().get(pathname + search);
    return { status, text, headers: headers as Record<string, string> };
  };
  const signIn = async (): Promise<void> => {
    const { url } = await begin();
    const answer = await finish(await signInAtPage(String(url)));
    assert.equal(answer.error, undefined, answer.error?.message);
  };
  const storeFolder = (): string => join(flow.userDir, 'connected-vehicle/state/sign-in');
  const storeFiles = (): string[] => {
    if (!existsSync(storeFolder())) return [];
    const names = readdirSync(storeFolder()).filter((name) => /^[\da-f]{32}\.json$/.test(name));
    return names.map((name) => join(storeFolder(), name));
  };
  const files = (): string[] =>
    (readdirSync(flow.userDir, { recursive: true }) as string[])
      .map((name) => join(flow.userDir, name))
      .filter((name) => statSync(name).isFile());

  it('works through the callback: the next read has a token, and form and Check say until when it lasts', async () => {
    await load();
    assert.equal((await flow.fail()).vehicle?.error?.['code'], 'TOKEN_MISSING');
    const { url } = await begin();
    const { origin, pathname, searchParams } = new URL(String(url));
    assert.equal(origin + pathname, `${service.url}/as/authorization.oauth2`);
    assert.equal(searchParams.get('redirect_uri'), callback);
    assert.equal(searchParams.get('code_challenge_method'), 'S256');
    assert.match(searchParams.get('state') ?? '', /^[\w-]{43}$/);
    assert.match(searchParams.get('scope') ?? '', /^openid .*conve:windows_status/);

    const answered = await page(await signInAtPage(String(url)));
    assert.equal(answered.status, 200);
    assert.match(answered.headers['content-security-policy'] ?? '', /default-src 'none'/);
    assert.equal(answered.headers['cache-control'], 'no-store');
    assert.ok((await flow.ask()).payload);
    const { token, signIn: end } = (await state()) as unknown as {
      token: Record<string, unknown>;
      signIn: { error: unknown };
    };
    assert.equal(token['kind'], 'refreshing');
    const endsAt = new Date(String(token['signedInAt']));
    endsAt.setUTCMonth(endsAt.getUTCMonth() + 6);
    assert.equal(token['endsAt'], endsAt.toISOString());
    assert.equal(end.error, null);
    const { findings } = await askEditor('check', formOf(vehicle(), {}, { nodes: [] }));
    const found = (findings as { about: string; until: string }[]).find(({ about }) => about === 'token');
    assert.equal(found?.until, endsAt.toISOString(), 'the access token renews itself');
  });

  for (const how of ['by the pasted address', 'through the callback'])
    it(`removes “not signed in” from a node without a message, ${how}`, async () => {
      await load();
      const last = (): string | undefined => flow.badges.at(-1)?.code;
      await flow.until(() => last() === 'not-signed-in');
      assert.equal((await flow.fail()).vehicle?.error?.['code'], 'TOKEN_MISSING');
      await flow.until(() => last() === 'not-signed-in');
      if (how === 'by the pasted address') await signIn();
      else await page(await signInAtPage(String((await begin())['url'])));
      await flow.until(() => flow.badges.length > 0 && last() === undefined);
    });

  it('without a refresh token works until it ends, and every place says when', async () => {
    await service.close();
    service = await startSimulator({ refreshTokenScope: 'offline_access' });
    const clock = new ManualClock(Date.now());
    useClock(clock);
    await load();
    const answered = await page(await signInAtPage(String((await begin())['url'])));
    const time = new Date(clock.now() + 299_000).toTimeString().slice(0, 5);
    const warning = `The service returned no refresh token, so the sign-in ends: ${time}.`;
    assert.ok(answered.text.includes(warning), answered.text);
    const { token, signIn: end } = (await state()) as unknown as Record<'token' | 'signIn', Record<string, unknown>>;
    assert.deepEqual([token['kind'], token['endsAt']], ['ending', token['expiresAt']]);
    assert.deepEqual([end['error'], end['warning']], [null, token['problem']]);
    assert.ok(String(token['problem']).startsWith(warning));
    assert.ok((await flow.ask()).payload);
    await flow.until(() => flow.badges.at(-1)?.text?.endsWith(' · token expires in 5 min') === true);
    const { findings } = await askEditor('check', formOf(vehicle(), {}, { nodes: [] }));
    const found = (findings as { about: string; until: string }[]).find(({ about }) => about === 'token');
    assert.equal(found?.until, token['expiresAt']);
    clock.skip(299_000);
    const { vehicle: told } = await flow.fail();
    assert.equal(told?.error?.['code'], 'SIGN_IN_REQUIRED');
    assert.match(
      String(told?.error?.['message']),
      /^The sign-in has ended \(.*\), because the service returned no refresh/,
    );
    assert.equal(flow.badges.at(-1)?.code, 'sign-in-required');
    assert.equal(tokenCalls(), 1);
  });

  it('asks for the scopes of “More scopes” as they are written, each once, and renews itself with offline_access', async () => {
    await service.close();
    const scopes = [...everyScope, 'offline_access', 'Customer:READ'];
    service = await startSimulator({ refreshTokenScope: 'offline_access', scopes });
    const moreScopes = ' offline_access\tCustomer:READ  openid offline_access conve:lock ';
    await load(client, { moreScopes });
    const { url } = await askEditor('sign-in', formOf(vehicle({ moreScopes }), {}, { callback }));
    const { searchParams } = new URL(String(url));
    const asked = (searchParams.get('scope') ?? '').split(' ');
    assert.deepEqual(asked.slice(-2), ['offline_access', 'Customer:READ']);
    assert.equal(new Set(asked).size, asked.length);
    assert.equal(searchParams.get('prompt'), 'consent', 'without it, a service must ignore offline_access');
    const answer = await finish(await signInAtPage(String(url)));
    assert.deepEqual([answer.error, answer['missing'], answer['warning']], [undefined, [], null]);
    const { token } = (await state()) as unknown as { token: Record<string, unknown> };
    assert.equal(token['kind'], 'refreshing');
  });

  it('names a scope of “More scopes” that was not granted, and what to do if the application lacks it', async () => {
    await load();
    const ask = (moreScopes: string): Promise<EditorAnswer> =>
      askEditor('sign-in', formOf(vehicle({ moreScopes }), {}, { callback }));
    const refused = await finish(await signInAtPage(String((await ask('OFFLINE_ACCESS'))['url'])));
    assert.equal(refused.error?.code, 'SCOPE_MISSING');
    assert.match(String(refused.error?.message), /remove it from “More scopes”, and sign in again/);
    await service.close();
    service = await startSimulator({ scopes: [...everyScope, 'Customer:READ'] });
    await flow.end();
    flow = new Flow();
    await load();
    const address = new URL(String((await ask('Customer:READ'))['url']));
    address.searchParams.set('scope', (address.searchParams.get('scope') ?? '').replace(' Customer:READ', ''));
    assert.deepEqual((await finish(await signInAtPage(address.href)))['missing'], [
      { access: 'more', scopes: ['Customer:READ'] },
    ]);
  });

  it('says that spaces separate scopes, and begins nothing', async () => {
    await load();
    for (const moreScopes of ['offline_access,profile', 'a; b', '"offline_access"', 'zugriff-für-alle']) {
      const { error, url } = await askEditor('sign-in', formOf(vehicle({ moreScopes }), {}, { callback }));
      assert.match(
        `${error?.code} ${error?.message}`,
        /^CONFIG “More scopes” .* Separate the scopes with spaces/,
        moreScopes,
      );
      assert.equal(url, undefined);
    }
  });

  it('shows in the dialog what was not granted, in its window and by the pasted address', async () => {
    await load();
    const reduced = async (): Promise<string> => {
      const { url } = await begin();
      const address = new URL(String(url));
      const granted = (address.searchParams.get('scope') ?? '').split(' ').filter((scope) => scope !== 'conve:unlock');
      address.searchParams.set('scope', granted.join(' '));
      return signInAtPage(address.href);
    };
    const missing = [{ access: 'unlock', scopes: ['conve:unlock'] }];
    assert.deepEqual((await finish(await reduced()))['missing'], missing);
    assert.equal((await page(await reduced())).status, 200);
    const { signIn: end } = (await state()) as unknown as { signIn: { error: unknown; missing: unknown } };
    assert.deepEqual([end.error, end.missing], [null, missing]);
  });

  it('is what Check reports if the service refuses each of its tokens', async () => {
    await load();
    await signIn();
    service.faults.add({ error: 'token-refused', match: { path: '/connected-vehicle/' } });
    const { findings } = await askEditor('check', formOf(vehicle(), {}, { nodes: [] }));
    const found = (findings as { about: string; result: string; code: string; message: string }[]).at(-1);
    assert.deepEqual([found?.about, found?.result, found?.code], ['token', 'bad', 'SERVICE_ERROR']);
    assert.match(found?.message ?? '', /The pack tries again automatically\.$/);
  });

  it('works before the first deploy, with what was typed', async () => {
    await flow.load({ type: 'connected-vehicle-status' });
    const { url } = await begin('new', client);
    assert.equal((await finish(await signInAtPage(String(url)), 'new')).error, undefined);
    await flow.unload();
    await flow.load({ type: 'connected-vehicle-status', vehicle: 'new' }, {}, {}, []);
    assert.equal(storeFiles().length, 1);
  });

  it('takes the place of a pasted access token, without a redeploy', async () => {
    await load({ ...client, accessToken: 'a-dead-token' });
    assert.equal((await flow.fail()).vehicle?.error?.['code'], 'SIGN_IN_REQUIRED');
    await signIn();
    assert.ok((await flow.ask()).payload);
  });

  it('is good once: the second answer with the same state changes nothing', async () => {
    await load();
    const { url } = await begin();
    const address = await signInAtPage(String(url));
    assert.equal((await finish(address)).error, undefined);
    const calls = tokenCalls();
    const { error } = await finish(address);
    assert.match(`${error?.code} ${error?.message}`, /^INPUT_INVALID .*used already/);
    const reloaded = await page(address);
    assert.equal(reloaded.status, 400);
    assert.match(
      reloaded.text,
      /<p>This answer was used already\. If you are not signed in, start the sign-in again\.</,
    );
    const { signIn: end } = (await state()) as unknown as { signIn: { error: unknown } };
    assert.equal(end.error, null, 'the result of the sign-in stays');
    assert.equal(tokenCalls(), calls);
    assert.ok((await flow.ask()).payload);
  });

  it('refreshes no token for a form that asks for its state', async () => {
    const clock = new ManualClock();
    useClock(clock);
    await load();
    await signIn();
    await state();
    const calls = tokenCalls();
    for (let asked = 0; asked < 5; asked += 1) {
      await clock.advance(110_000);
      await state();
    }
    assert.equal(tokenCalls() - calls, 0);
  });

  for (const [what, changes, credentials] of [
    ['client ID', {}, { ...client, clientId: 'another-client' }],
    ['base URL', { baseUrl: 'https://api.example' }, client],
  ] as const) {
    it(`refuses an answer after a deploy with another ${what}, and stores nothing`, async () => {
      await load();
      const { url } = await begin();
      const address = await signInAtPage(String(url));
      const config = { id: 'v', type: 'connected-vehicle', ...vehicle(changes) };
      await helper.setFlows([config] as never, 'full', { v: credentials } as never);
      const { error } = await finish(address);
      assert.match(`${error?.code} ${error?.message}`, /^INPUT_INVALID The client ID or an address of the service was/);
      assert.equal(tokenCalls(), 0);
      assert.deepEqual(storeFiles(), []);
    });
  }

  it('works with a client ID that is typed and not deployed yet, also if it is deployed before the answer', async () => {
    const before = { ...client, clientId: 'another-client' };
    await load(before);
    const { url } = await begin('v', client);
    assert.equal((await finish(await signInAtPage(String(url)))).error, undefined);
    const again = await begin('v', client);
    const address = await signInAtPage(String(again['url']));
    const config = { id: 'v', type: 'connected-vehicle', ...vehicle() };
    await helper.setFlows([config] as never, 'full', { v: client } as never);
    assert.equal((await finish(address)).error, undefined);
  });

  it('says that the driver declined, in the window and in the form', async () => {
    await load();
    const { url } = await begin();
    const answered = await page(await signInAtPage(String(url), 'deny'));
    assert.match(answered.text, /declined/);
    const german = await helper.request().get('/connected-vehicle/callback').set('accept-language', 'de');
    assert.match(german.text, /Anmeldung/, 'in the language of the browser, as the form');
    const again = await begin();
    const { error } = await finish(await signInAtPage(String(again['url']), 'deny'));
    assert.match(`${error?.code} ${error?.message}`, /^SIGN_IN_REQUIRED .*declined/);
  });

  it('shows nothing of what an address brings along', async () => {
    await load();
    for (const query of [
      'error=<script>alert(1)</script>',
      'error=%3Cimg%20src=x%3E&error_description=<b>x',
      'state=<script>x</script>&code="><script>',
      '',
    ]) {
      const { text, status } = await page(`${callback}?${query}`);
      assert.equal(status, 400);
      assert.doesNotMatch(text, /<script|<img|alert|<b>/i);
    }
  });

  it('asks for what the access needs and no more, and says what to leave out if the application has less', async () => {
    const scopesAsked = async (changes: Record<string, unknown>): Promise<string[]> => {
      const { url } = await askEditor('sign-in', formOf(vehicle(changes), client, { callback }));
      return (new URL(String(url)).searchParams.get('scope') ?? '').split(' ');
    };
    const only = (scopes: string[]): string[] =>
      scopes.filter((scope) => /lock$|honk|climat|engine_start|energy|location/.test(scope)).sort();
    await load();
    assert.deepEqual(only(await scopesAsked({})), ['conve:honk_flash', 'conve:lock', 'conve:unlock']);
    assert.deepEqual(only(await scopesAsked({ readOnly: true })), []);
    assert.deepEqual(only(await scopesAsked({ access: ['climate', 'location'] })), [
      'conve:climatization_start_stop',
      'location:read',
    ]);
    assert.equal(
      (await askEditor('sign-in', formOf(vehicle({ access: ['sunroof'] }), client))).error?.code,
      'INPUT_INVALID',
    );

    const { url } = await askEditor('sign-in', formOf(vehicle({ access: ['lock', 'engine'] }), client, { callback }));
    const state = new URL(String(url)).searchParams.get('state') ?? '';
    const { error } = await finish(`?error=invalid_scope&state=${state}`);
    assert.equal(error?.code, 'SCOPE_MISSING');
    assert.match(error?.message ?? '', /Untick under “Allow” .* new application/);
  });

  it('says what is wrong with an unknown access', async () => {
    await load(client, { access: ['sunroof'] });
    const { vehicle: told } = await flow.fail();
    assert.equal(told?.error?.['code'], 'CONFIG');
    assert.match(String(told?.error?.['message']), /access/);
  });

  it('says what is missing before it begins', async () => {
    await load({ apiKey: 'demo-key' });
    const { error } = await begin();
    assert.match(`${error?.code} ${error?.message}`, /^CONFIG .*client ID is missing/);
    const withoutSecret = { ...client, clientSecret: ' ' };
    const volvo = await askEditor('sign-in', formOf(vehicle({ service: 'volvo-cars' }), withoutSecret, { callback }));
    assert.match(
      `${volvo.error?.code} ${volvo.error?.message}`,
      /^CONFIG .*client secret is missing, or contains a space/,
    );
    assert.ok((await begin('v', withoutSecret))['url'], 'a service of your own may have clients without one');
    const without = await askEditor('sign-in', formOf(vehicle({ authorizeUrl: '' }), client, { callback }));
    assert.match(without.error?.message ?? '', /Enter both, then sign in/);
    const redirectUrl = 'http://192.168.1.5:1880/connected-vehicle/callback';
    const refused = await askEditor('sign-in', formOf(vehicle({ redirectUrl }), client, { callback }));
    assert.equal(refused.error?.code, 'CONFIG', redirectUrl);
    assert.match(
      refused.error?.message ?? '',
      /begins with https:\/\/ or http:\/\/localhost .* no user name/,
      redirectUrl,
    );
    assert.equal(refused['url'], undefined);
  });

  it('to Volvo Cars asks the discovery document of Volvo ID for the addresses, and works without it', async () => {
    const proxy = await startConnectProxy({});
    const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
    const none = Object.fromEntries(names.map((name) => [name, undefined]));
    await withEnvironment({ ...none, HTTPS_PROXY: proxy.url }, async () => {
      await load();
      for (const _ of [1, 2]) {
        const { url } = await askEditor('sign-in', formOf(vehicle({ service: 'volvo-cars' }), client, { callback }));
        const { origin, pathname } = new URL(String(url));
        assert.equal(origin + pathname, 'https://volvoid.eu.volvocars.com/as/authorization.oauth2');
      }
      assert.deepEqual(proxy.targets, ['volvoid.eu.volvocars.com:443'], 'asked once');
    }).finally(() => proxy.close());
  });

  it('works with the secondary API key as with the primary one, and reports a key that was regenerated', async () => {
    await service.close();
    service = await startSimulator({ secondaryApiKey: 'second-key' });
    await load({ ...client, apiKey: 'second-key' });
    await signIn();
    assert.ok((await flow.ask()).payload);
    const checked = async (typed: Record<string, string>): Promise<Record<string, unknown>> => {
      const { findings } = await askEditor('check', formOf(vehicle(), typed, { nodes: [] }));
      return (findings as Record<string, unknown>[]).find(({ about }) => about === 'key') ?? {};
    };
    assert.equal((await checked({}))['result'], 'good');
    const { result, code, message } = await checked({ ...client, apiKey: 'the-key-before' });
    assert.deepEqual([result, code], ['bad', 'API_KEY_REFUSED']);
    assert.match(String(message), /API key/);
  });

  describe('The saved sign-in', () => {
    it('goes to the service that it was made for and to no other, in the dialog and deployed', async () => {
      const other = await startSimulator();
      try {
        await load();
        await signIn();
        const body = formOf(vehicle({ baseUrl: other.url }), { ...client, accessToken: '' });
        const { findings } = (await askEditor('check', body)) as unknown as { findings: { code: string }[] };
        assert.equal(findings.at(-1)?.code, 'TOKEN_MISSING');
        await flow.unload();
        await load(client, { baseUrl: other.url });
        assert.equal((await flow.fail()).vehicle?.error?.['code'], 'TOKEN_MISSING');
        assert.equal(other.requests.length, 0);
      } finally {
        await other.close();
      }
    });

    it('survives a restart: the rotated token still works, and nobody signs in again', async () => {
      await load();
      await signIn();
      assert.ok((await flow.ask()).payload);
      for (let restart = 0; restart < 3; restart += 1) {
        await flow.unload();
        await load();
        assert.ok((await flow.ask()).payload);
      }
      assert.equal(tokenCalls(), 1);
    });

    it('is kept while its vehicle is disabled, and forgotten once it is deleted', async () => {
      await load();
      await signIn();
      await flow.endProcess();
      const [file] = storeFiles();
      writeFileSync(`${file}.unreadable-abcdef`, 'x');
      await load();
      await flow.ask();
      const config = { id: 'v', type: 'connected-vehicle', ...vehicle() };
      await helper.setFlows([{ ...config, d: true }] as never, 'nodes');
      assert.deepEqual(storeFiles(), [file]);
      await helper.setFlows([config] as never, 'full', { v: client } as never);
      assert.deepEqual(storeFiles(), [file]);
      await helper.setFlows([{ id: 'tab', type: 'tab', label: 'empty' }] as never, 'nodes');
      assert.deepEqual(
        readdirSync(storeFolder()).filter((name) => name.startsWith(basename(String(file)))),
        [],
      );
    });

    it('is removed by the first deploy after a day if its vehicle was never deployed, and is kept if it was', async () => {
      const clock = new ManualClock();
      useClock(clock);
      await load();
      await signIn();
      const [deployed] = storeFiles();
      for (const id of ['new', 'disabled']) {
        const { url } = await begin(id, client);
        const answer = await finish(await signInAtPage(String(url)), id);
        assert.equal(answer.error, undefined, answer.error?.message);
      }
      assert.equal(storeFiles().length, 3);
      const config = { id: 'v', type: 'connected-vehicle', ...vehicle() };
      const deploy = (...others: object[]): Promise<unknown> =>
        helper.setFlows([config, ...others] as never, 'full', { v: client } as never);
      const disabled = { ...config, id: 'disabled', d: true };
      await deploy(disabled);
      await clock.advance(60_000);
      await deploy(disabled);
      assert.equal(storeFiles().length, 3);
      await clock.advance(24 * 60 * 60_000);
      await deploy(disabled);
      await clock.advanceUntil(() => storeFiles().length < 3, 1_000);
      assert.ok(storeFiles().includes(String(deployed)));
      await deploy(disabled);
      assert.equal(storeFiles().length, 2);
    });

    it('is needed by a configuration that still has a refresh token, which an earlier version took', async () => {
      await load({ ...client, refreshToken: service.issueRefreshToken() });
      assert.equal((await flow.fail()).vehicle?.error?.['code'], 'TOKEN_MISSING');
      assert.equal(tokenCalls(), 0);
    });

    it('is not made for a vehicle that is deleted while the code is exchanged', async () => {
      await service.close();
      const clock = new ManualClock(Date.now());
      service = await startSimulator({ clock });
      await load();
      const { url } = await begin();
      const address = await signInAtPage(String(url));
      service.faults.add({ match: { path: '/as/token.oauth2' }, latencyMs: 300, times: 1 });
      const answered = page(address);
      while (tokenCalls() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      await helper.setFlows([{ id: 'tab', type: 'tab', label: 'empty' }] as never, 'full');
      await clock.advance(300);
      assert.equal((await answered).status, 400);
      assert.deepEqual(storeFiles(), []);
    });

    it('is readable by its owner only, and holds no secret in plain', async () => {
      await load();
      await signIn();
      await flow.ask();
      for (const file of files()) {
        assert.equal(statSync(file).mode & 0o077, 0, file);
        assert.doesNotMatch(readFileSync(file, 'utf8'), /eyJ[\w-]*\.|demo-secret|YV4952NA4F120DEMO/);
      }
    });

    const faults: [string, (file: string) => void, RegExp][] = [
      ['truncated', (file) => truncateSync(file, 40), /damaged/],
      ['emptied', (file) => truncateSync(file, 0), /damaged/],
      ['foreign', (file) => writeFileSync(file, '{"hello":"world"}'), /damaged/],
      [
        'written by a newer version',
        (file) => writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), format: 99 })),
        /newer version/,
      ],
    ];
    for (const [what, harm, sentence] of faults) {
      it(`that is ${what} is reported and not overwritten, and a new sign-in keeps it aside`, async () => {
        await load();
        await signIn();
        await flow.endProcess();
        const [file = ''] = storeFiles();
        const before = readFileSync(file, 'utf8');
        harm(file);
        const harmed = readFileSync(file, 'utf8');
        await load();
        const caught = await flow.fail();
        assert.equal(caught.vehicle?.error?.['code'], 'CONFIG');
        assert.match(String(caught.vehicle?.error?.['message']), sentence);
        assert.equal(readFileSync(file, 'utf8'), harmed);
        const findings = (await askEditor('check', formOf(vehicle())))['findings'] as {
          code: string;
          message: string;
        }[];
        assert.match(findings.at(-1)?.message ?? '', sentence);

        await signIn();
        assert.ok((await flow.ask()).payload);
        assert.ok(files().some((name) => name.includes('.unreadable-') && readFileSync(name, 'utf8') === harmed));
        assert.notEqual(before, harmed);
      });
    }

    it('that cannot be read is reported', async function () {
      if (process.getuid?.() === 0) return this.skip();
      await load();
      await signIn();
      await flow.endProcess();
      chmodSync(storeFiles()[0] ?? '', 0);
      await load();
      assert.match(String((await flow.fail()).vehicle?.error?.['message']), /cannot be read or written \(EACCES\)/);
    });

    it('is not lost with a key file that is damaged: the message says what to restore', async () => {
      await load();
      await signIn();
      await flow.endProcess();
      const keyFile = join(flow.userDir, 'connected-vehicle/store.key');
      const key = readFileSync(keyFile, 'utf8');
      writeFileSync(keyFile, 'damaged');
      await load();
      assert.match(
        String((await flow.fail()).vehicle?.error?.['message']),
        /previous store\.key into its folder, or sign in again/,
      );
      await flow.endProcess();
      writeFileSync(keyFile, key);
      await load();
      assert.ok((await flow.ask()).payload);
    });

    it('is made again by a sign-in if the key file is damaged, without a redeploy', async () => {
      mkdirSync(join(flow.userDir, 'connected-vehicle'), { recursive: true });
      const keyFile = join(flow.userDir, 'connected-vehicle/store.key');
      writeFileSync(keyFile, '');
      await load();
      await signIn();
      assert.ok((await flow.ask()).payload);
      assert.match(readFileSync(keyFile, 'utf8'), /^[\da-f]{64}$/);
    });

    it('cannot be kept without a key file, but a pasted access token still works', async () => {
      mkdirSync(join(flow.userDir, 'connected-vehicle/store.key'), { recursive: true });
      await load({ ...client, accessToken: service.issueToken() });
      assert.ok((await flow.ask()).payload);
    });
  });
});
