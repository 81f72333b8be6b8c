import { strict as assert } from 'node:assert';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { classicCar, demoCar, demoCars, startSimulator, type Simulator } from '../support/simulator';
import { useClock } from '../../nodes/runtime';
import { askEditor, formOf, signInAtPage, type EditorAnswer } from '../support/editor-client';
import type { Flow } from '../support/flow';
import { customVehicle, demoCredentials, setUpRealTimeFlow } from '../support/flow';
import { ManualClock } from '../support/manual-clock';
import helper = require('node-red-node-test-helper');
import { withEnvironment } from '../support/environment';

interface Finding {
  about: string;
  result: string;
  code: string | null;
  message: string | null;
  until: string | null;
  scopes: string[];
  label: string | null;
}

const user = (label: string, reads: string[], commands: string[] = []): object => ({ label, reads, commands });

describe('What the dialogs ask of the runtime', () => {
  let service: Simulator;
  let flow: Flow;

  setUpRealTimeFlow((setUp) => ({ service, flow } = setUp), { cars: [classicCar, demoCar] });

  const vehicle = (changes: object = {}): Record<string, unknown> =>
    customVehicle(service, changes as Record<string, unknown>);
  const load = (changes: object = {}, credentials: Record<string, string> = demoCredentials): Promise<void> =>
    flow.load({ type: 'connected-vehicle-status' }, vehicle(changes), credentials);
  const check = async (body: object): Promise<Finding[]> => (await askEditor('check', body))['findings'] as Finding[];
  const summary = (findings: Finding[]): string[] =>
    findings.map(({ about, result, code }) => [about, result, code ?? ''].join(' ').trim());
  const good = ['service good', 'quota good', 'key good', 'token good'];
  const untried = ['service unclear', 'quota unclear', 'key unclear'];

  describe('Read now', () => {
    it('answers the values by name, and which of them failed', async () => {
      await load();
      service.faults.add({
        match: { path: `/vehicles/${service.car().vin}/odometer` },
        error: 'not-supported',
      });
      const { payloads, errors } = await askEditor('values', { reads: ['fuelAmount', 'odometer'] });
      assert.deepEqual(Object.keys(payloads as object), ['fuelAmount']);
      assert.deepEqual(
        (errors as { read: string; code: string }[]).map(({ read, code }) => [read, code]),
        [['odometer', 'NOT_SUPPORTED']],
      );
      assert.equal((await askEditor('values', { reads: [] })).error?.code, 'INPUT_INVALID');
    });

    it('reads a demo car that is not deployed, as the editor has it, and no other car', async () => {
      await load();
      const level = async (id: string, more: object): Promise<unknown> => {
        const { payloads, error } = await askEditor('values', { reads: ['batteryChargeLevel'], ...more }, { id });
        return error?.code ?? typeof (payloads as Record<string, { value: unknown }>)['batteryChargeLevel']?.value;
      };
      assert.equal(await level('new', { demoCar: 'electric' }), 'number');
      assert.equal(await level('new', { demoCar: 'petrol', vin: demoCars.electric.vin }), 'number');
      assert.equal(await level('v', { demoCar: 'electric' }), 'number', 'deployed as another service');
      assert.equal(await level('new', {}), 'CONFIG');
      assert.equal(await level('new', { demoCar: 'diesel' }), 'INPUT_INVALID');
      assert.equal(service.requests.length, 0);
    });
  });

  describe('Find my car', () => {
    it('lists each vehicle with model and year, with the stored key and token', async () => {
      await load();
      const { vehicles } = await askEditor('vehicles', formOf(vehicle()));
      assert.deepEqual(vehicles, [
        { vin: classicCar.vin, model: 'V60', year: '2017' },
        { vin: demoCar.vin, model: 'XC60', year: '2019' },
      ]);
    });

    it('ends after 45 seconds', async () => {
      const clock = new ManualClock();
      useClock(clock);
      await load();
      service.faults.add({ match: { method: 'GET' }, latencyMs: 1e9 });
      let answer: EditorAnswer | undefined;
      void askEditor('vehicles', formOf(vehicle())).then((found) => (answer = found));
      const before = clock.now();
      await clock.advanceUntil(() => answer !== undefined, 1_000);
      assert.match(`${answer?.error?.code} ${answer?.error?.message}`, /^TIMEOUT The service did not answer in time/);
      assert.ok(clock.now() - before <= 46_000);
    });

    it('works before the first deploy, with what was typed', async () => {
      await flow.load({ type: 'connected-vehicle-status' });
      const { vehicles } = await askEditor(
        'vehicles',
        formOf(vehicle(), { apiKey: ' demo-key ', accessToken: 'demo-token\n' }),
        { id: 'new' },
      );
      assert.equal((vehicles as object[]).length, 2);
    });

    it('finds the demo cars', async () => {
      await flow.load({ type: 'connected-vehicle-status' });
      for (const id of ['v', 'new'])
        assert.equal(
          ((await askEditor('vehicles', formOf({ service: 'demo' }), { id }))['vehicles'] as object[]).length,
          2,
        );
    });

    it('lists a vehicle whose details fail without model and year', async () => {
      await load();
      service.faults.add({ match: { path: `/vehicles/${classicCar.vin}` }, error: 'not-supported' });
      const { vehicles } = await askEditor('vehicles', formOf(vehicle()));
      assert.deepEqual((vehicles as object[])[0], { vin: classicCar.vin, model: '', year: '' });
    });
  });

  describe('Check', () => {
    it('finds nothing wrong if all is well', async () => {
      await load();
      assert.deepEqual(summary(await check(formOf(vehicle()))), [...good, 'vehicle good', 'scopes unclear']);
    });

    it('counts to the quota of the vehicle, and sends one request', async () => {
      await load();
      await check(formOf(vehicle()));
      assert.equal(service.requests.length, 1);
      assert.equal(((await askEditor('state'))['quota'] as Record<string, unknown>)['usedToday'], 1);
    });

    it('says that the key is refused', async () => {
      await load();
      assert.deepEqual(summary(await check(formOf(vehicle(), { apiKey: 'wrong-key', accessToken: 'demo-token' }))), [
        'service good',
        'quota good',
        'key bad API_KEY_REFUSED',
      ]);
    });

    it('says that the token is refused, missing, expired or cannot be sent', async () => {
      await load();
      const tokens: [string, string, string[]][] = [
        ['wrong-token', 'SIGN_IN_REQUIRED', good.slice(0, 3)],
        ['', 'TOKEN_MISSING', untried],
        [service.issueToken({ lifeSeconds: -10 }), 'SIGN_IN_REQUIRED', untried],
        ['two\nlines', 'CONFIG', untried],
      ];
      for (const [accessToken, code, before] of tokens) {
        assert.deepEqual(summary(await check(formOf(vehicle(), { apiKey: 'demo-key', accessToken }))), [
          ...before,
          `token bad ${code}`,
        ]);
      }
    });

    it('says of the token, not of the service, that the sign-in service is not reached', async () => {
      const addresses = {
        authorizeUrl: `${service.url}/as/authorization.oauth2`,
        tokenUrl: `${service.url}/as/token.oauth2`,
      };
      await load(addresses, { apiKey: 'demo-key', clientId: 'demo-client', clientSecret: 'demo-secret' });
      const callback = 'http://localhost:1880/connected-vehicle/callback';
      const { url } = await askEditor('sign-in', formOf(vehicle(addresses), {}, { callback }));
      const path = '/as/token.oauth2';
      service.faults.add({ match: { path }, members: { access_token: 'missing' }, times: 1 });
      service.faults.add({ match: { path }, cut: 'before-headers' });
      await askEditor('sign-in-finish', { redirected: await signInAtPage(String(url)) });
      const findings = await check(formOf(vehicle(addresses)));
      assert.deepEqual(summary(findings), [...untried, 'token bad NETWORK']);
      assert.match(findings.at(-1)?.message ?? '', /sign-in service/);
    });

    it('says that the key contains a space', async () => {
      await load();
      const { error } = await askEditor('check', formOf(vehicle(), { apiKey: 'demo key', accessToken: 'demo-token' }));
      assert.match(`${error?.code} ${error?.message}`, /^CONFIG .*API key contains a space/);
    });

    it('says until when the quota is spent', async () => {
      await load();
      service.faults.add({ error: 'quota', refillIn: '01:00:00' });
      const findings = await check(formOf(vehicle()));
      assert.deepEqual(summary(findings), ['service good', 'quota bad QUOTA_SPENT']);
      const hours = (Date.parse(findings.at(-1)?.until ?? '') - Date.now()) / 3_600_000;
      assert.ok(hours > 0.9 && hours < 1.1, String(hours));
      assert.deepEqual(
        summary(await check(formOf(vehicle()))),
        ['service unclear', 'quota bad QUOTA_SPENT'],
        'nothing was sent any more',
      );
    });

    it('says that the service is not reached', async () => {
      await load();
      // No process listens on port 1; the port of a server that has closed can be
      // that of another test.
      const findings = await check(formOf(vehicle({ baseUrl: 'http://127.0.0.1:1' }), demoCredentials));
      assert.deepEqual(summary(findings), ['service bad NETWORK']);
    });

    it('says that requests go through a proxy, and that certificates are not verified', async () => {
      const env = { HTTPS_PROXY: 'http://user:secret@127.0.0.1:1', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
      await withEnvironment(env, async () => {
        await load({ baseUrl: 'https://service.test' });
        const findings = await check(formOf(vehicle({ baseUrl: 'https://service.test' })));
        assert.deepEqual(summary(findings), ['proxy good', 'certificates bad CONFIG', 'service bad NETWORK']);
        assert.equal(findings[0]?.label, '127.0.0.1:1');
        assert.match(findings[1]?.message ?? '', /NODE_TLS_REJECT_UNAUTHORIZED/);
        const { diagnostics } = await askEditor('diagnostics');
        assert.deepEqual((diagnostics as Record<string, unknown>)['connection'], {
          proxy: '127.0.0.1:1',
          verifiesCertificates: false,
        });
        assert.ok(!JSON.stringify([findings, diagnostics]).includes('secret'));
      });
    });

    it('says that the vehicle is not linked, not valid or not named', async () => {
      await load();
      const cases: [string, string][] = [
        ['YV1CT9551B1570000', 'VEHICLE_NOT_LINKED'],
        ['123', 'VIN_INVALID'],
      ];
      for (const [vin, code] of cases)
        assert.ok(summary(await check(formOf(vehicle({ vin })))).includes(`vehicle bad ${code}`), code);
    });

    it('lists each node that needs a scope which the token lacks', async () => {
      const accessToken = service.issueToken({
        scopes: ['openid', 'conve:vehicle_relation', 'conve:doors_status', 'conve:lock_status'],
      });
      await load({}, { apiKey: 'demo-key', accessToken });
      const findings = await check(
        formOf(
          vehicle(),
          {},
          { nodes: [user('Doors', ['doors']), user('Windows', ['windows', 'fuelAmount']), user('Honk', [], ['honk'])] },
        ),
      );
      const missing = findings
        .filter(({ code }) => code === 'SCOPE_MISSING')
        .map(({ label, scopes }) => [label, ...scopes]);
      assert.deepEqual(missing, [
        ['Windows', 'conve:windows_status', 'conve:fuel_status', 'conve:battery_charge_level'],
        ['Honk', 'conve:honk_flash'],
      ]);
      assert.match(findings.find(({ about }) => about === 'token')?.until ?? '', /^\d{4}-/);
    });

    it('says which scope the list of vehicles needs if the token lacks it', async () => {
      await load({}, { apiKey: 'demo-key', accessToken: service.issueToken({ scopes: ['openid'] }) });
      const findings = await check(formOf(vehicle()));
      assert.deepEqual(summary(findings), [...good, 'vehicle unclear', 'scopes bad SCOPE_MISSING']);
      assert.deepEqual(findings.at(-1)?.scopes, ['conve:vehicle_relation']);
    });
  });

  describe('Stored secrets', () => {
    it('go to the stored address only: another host asks for them again and gets nothing', async () => {
      await load({}, { ...demoCredentials, clientId: 'demo-client', clientSecret: 'demo-secret' });
      const other = await startSimulator();
      try {
        for (const action of ['vehicles', 'check', 'sign-in']) {
          for (const changes of [
            { baseUrl: other.url },
            { service: 'volvo-cars' },
            { tokenUrl: `${other.url}/as/token.oauth2` },
            { authorizeUrl: `${other.url}/as/authorization.oauth2` },
          ]) {
            const { error } = await askEditor(action, formOf(vehicle(changes)));
            assert.match(`${error?.code} ${error?.message}`, /^CONFIG .*Enter the key, token and secrets again/);
          }
        }
        assert.equal(other.requests.length, 0);
        const typed = { ...demoCredentials, clientId: '', clientSecret: '' };
        assert.ok((await askEditor('vehicles', formOf(vehicle({ baseUrl: other.url }), typed)))['vehicles']);
      } finally {
        await other.close();
      }
    });

    it('are not taken out of the environment by name', async () => {
      process.env['TEST_SECRET_NAME'] = 'very-secret';
      await load();
      const { error } = await askEditor(
        'check',
        formOf(vehicle(), { apiKey: '${TEST_SECRET_NAME}', accessToken: 'demo-token' }),
      );
      assert.match(error?.message ?? '', /Deploy first/);
    });

    it('are used if the environment gives the address', async () => {
      process.env['TEST_CAR_URL'] = service.url;
      await load({ baseUrl: '${TEST_CAR_URL}' });
      assert.ok((await askEditor('vehicles', formOf(vehicle({ baseUrl: '${TEST_CAR_URL}' }))))['vehicles']);
    });

    it('are used if the environment gives a number, once it is deployed', async () => {
      process.env['TEST_CAR_QUOTA'] = '5000';
      const asked = formOf(vehicle({ requestsPerDay: '${TEST_CAR_QUOTA}' }));
      await load();
      assert.match((await askEditor('vehicles', asked)).error?.message ?? '', /Deploy first/);
      await flow.unload();
      await load({ requestsPerDay: '${TEST_CAR_QUOTA}' });
      assert.ok((await askEditor('vehicles', asked))['vehicles']);
      const quick = await askEditor('vehicles', formOf(vehicle({ requestsPerDay: 'many' })));
      assert.match(`${quick.error?.code} ${quick.error?.message}`, /^INPUT_INVALID .*“Requests\/day”/);
    });
  });

  describe('The routes', () => {
    const headersOf = async (headers: Record<string, string>, body = '{}'): Promise<number> =>
      (
        await helper
          .request()
          .post('/connected-vehicle/v/state')
          .set({ 'content-type': 'application/json', ...headers })
          .send(body)
      ).status;

    it('refuse a page from elsewhere, and take programs and the own editor', async () => {
      await load();
      assert.equal(await headersOf({ origin: 'https://evil.example' }), 403);
      assert.equal(await headersOf({ origin: 'null' }), 403);
      assert.equal(await headersOf({ 'sec-fetch-site': 'cross-site' }), 403);
      assert.equal(await headersOf({ 'sec-fetch-site': 'same-site' }), 403);
      assert.equal(
        await headersOf({ 'sec-fetch-site': 'cross-site', origin: 'http://nodered.lan', host: 'nodered.lan' }),
        403,
      );
      assert.equal(await headersOf({ origin: 'http://nodered.lan', host: 'nodered.lan' }), 200);
      assert.equal(await headersOf({ 'sec-fetch-site': 'same-origin', origin: 'https://outside.example' }), 200);
      assert.equal(await headersOf({}), 200);
    });

    it('refuse a form of a page, and more than the editor sends', async () => {
      await load();
      assert.equal(await headersOf({ 'content-type': 'application/x-www-form-urlencoded' }, 'a=b'), 415);
      assert.equal(await headersOf({ 'content-type': 'text/plain' }), 415);
      assert.equal(await headersOf({}, JSON.stringify({ vin: 'x'.repeat(300_000) })), 413);
    });

    it('refuse a body whose length is not announced: it could be larger', async () => {
      await load();
      const chunked = helper.request().post('/connected-vehicle/v/state');
      chunked.set({ 'content-type': 'application/json', 'transfer-encoding': 'chunked' }).write('{}');
      assert.equal((await chunked).status, 413);
    });

    it('refuse more than a person asks for', async () => {
      await load();
      const statuses = await Promise.all(Array.from({ length: 140 }, () => headersOf({})));
      assert.equal(statuses.filter((status) => status === 200).length, 120);
      assert.equal(statuses.filter((status) => status === 429).length, 20);
    });

    it('say in the language of the editor why they refuse a request', async () => {
      await load();
      const refusal = async (headers: Record<string, string>): Promise<unknown> =>
        (await askEditor('state', {}, { headers: { 'accept-language': 'de-DE', ...headers } })).error?.message;
      assert.equal(
        await refusal({ 'sec-fetch-site': 'cross-site' }),
        'Diese Adresse ist nur für den Editor dieser Node-RED-Installation.',
      );
      await Promise.all(Array.from({ length: 120 }, () => headersOf({})));
      assert.equal(
        await refusal({}),
        'Der Editor hat zu viele Anfragen gesendet. Versuchen Sie es in einer Minute noch einmal.',
      );
    });

    it('say which member of a body is wrong', async () => {
      await load();
      for (const [action, body] of [
        ['check', {}],
        ['check', { options: 'x', credentials: {} }],
        ['sign-in-finish', {}],
        ['commands', { vin: 5 }],
      ] as const) {
        assert.equal((await askEditor(action, body)).error?.code, 'INPUT_INVALID', action);
      }
    });

    it('show a command node what its vehicle lists', async () => {
      await load();
      const { commands } = await askEditor('commands', { vin: '' });
      assert.ok((commands as string[]).includes('lock'));
      assert.equal((await askEditor('commands', { vin: '12' })).error?.code, 'VIN_INVALID');
      assert.equal((await askEditor('commands', {}, { id: 'nobody' })).error?.code, 'CONFIG');
    });

    it('show the state of token and quota', async () => {
      const lifeSeconds = 720;
      const issuedAfter = Date.now();
      await load({}, { apiKey: 'demo-key', accessToken: service.issueToken({ lifeSeconds }) });
      const issuedBefore = Date.now();
      await flow.ask();
      const { token, quota } = (await askEditor('state')) as {
        token: Record<string, unknown>;
        quota: Record<string, unknown>;
      };
      assert.equal(token['kind'], 'pasted');
      const issued = Date.parse(String(token['expiresAt'])) - lifeSeconds * 1000;
      // A token holds whole seconds.
      assert.ok(issued > issuedAfter - 1_000 && issued <= issuedBefore + 1_000, String(token['expiresAt']));
      assert.deepEqual([quota['usedToday'], quota['perDay']], [1, 10_000]);
    });
  });

  it('shows which reads flows have found in a car, without a request to the service', async () => {
    await load();
    assert.deepEqual(await askEditor('equipment', {}), { equipment: {} });
    service.faults.add({
      match: { path: `/vehicles/${service.car().vin}/odometer` },
      error: 'not-supported',
    });
    await flow.ask({ read: ['fuelAmount', 'odometer'] });
    const before = service.requests.length;
    assert.deepEqual(await askEditor('equipment', {}), { equipment: { fuelAmount: true, odometer: false } });
    assert.deepEqual(await askEditor('equipment', { vin: demoCar.vin }), { equipment: {} }, 'another car');
    assert.deepEqual(await askEditor('equipment', {}, { id: 'new' }), { equipment: {} }, 'not deployed');
    assert.equal(service.requests.length, before);
  });

  it('still list a read that a car has had, and one that only the older interface lacks', async () => {
    await load({ shareFor: 0 });
    const notFound = { status: 404, body: {}, times: 1 };
    await flow.ask({ read: 'odometer' });
    service.faults.add(notFound);
    assert.equal((await flow.fail({ read: 'odometer' })).vehicle?.error?.['code'], 'NOT_SUPPORTED');
    service.faults.add(notFound);
    assert.equal((await flow.fail({ read: 'doors', interface: 'v1' })).vehicle?.error?.['code'], 'NOT_SUPPORTED');
    assert.deepEqual(await askEditor('equipment', {}), { equipment: { odometer: true } });
  });

  it('are answered in the language of the editor', async () => {
    await load({}, { apiKey: 'demo-key', accessToken: 'two words' });
    const headers = { 'accept-language': 'de-DE' };
    const { error } = await askEditor('diagnostics', {}, { id: 'new', headers });
    assert.match(error?.message ?? '', /^Diese Fahrzeugkonfiguration ist noch nicht aktiv\. Schließen Sie/);
    const { token } = await askEditor('state', {}, { headers });
    assert.match((token as { problem: string }).problem, /^Dieser Wert enthält ein Leerzeichen.*: Zugriffstoken\./);
    const finding = ((await askEditor('check', formOf(vehicle()), { headers }))['findings'] as Finding[]).at(-1);
    assert.deepEqual([finding?.code, finding?.message], ['CONFIG', (token as { problem: string }).problem]);
    const english = await askEditor('diagnostics', {}, { id: 'new' });
    assert.match(
      english.error?.message ?? '',
      /^This vehicle configuration is not deployed yet\. Close the form, press Deploy/,
    );
  });

  describe('Copy diagnostics', () => {
    it('gives versions, settings, token, quota and the last requests, and nothing private', async () => {
      const accessToken = service.issueToken();
      const places = [{ name: 'Private place', latitude: 57.12345, longitude: 11 }];
      const tariff = JSON.stringify({ perKWh: 0.3, places: [{ ...places[0], perKWh: 0 }] });
      const wallbox = 'WBVA1ABCD-WB24.01.2500001234';
      const ofOwner = { name: 'Private name', places, tariff, tariffType: 'json', wallbox };
      await load(ofOwner, { apiKey: 'demo-key', accessToken });
      await flow.ask();
      const { diagnostics } = await askEditor('diagnostics');
      const text = JSON.stringify(diagnostics);
      for (const secret of ['demo-key', accessToken, service.car().vin, 'Private', '57.12345', wallbox])
        assert.ok(!text.includes(secret), secret);
      const told = diagnostics as Record<string, Record<string, unknown>>;
      assert.match(String(told['pack']), /^\d+\.\d+\.\d+/);
      assert.equal(told['settings']?.['vin'], '…570982');
      assert.deepEqual(told['credentials'], ['apiKey', 'accessToken']);
      const [request] = told['requests'] as unknown as Record<string, unknown>[];
      assert.deepEqual(
        [request?.['method'], request?.['path'], request?.['status'], request?.['code']],
        ['GET', '/connected-vehicle/v2/vehicles/…570982/windows', 200, null],
      );
    });

    it('lists the last failures with code, sentence and stack, without secrets and without the home directory', async () => {
      const accessToken = service.issueToken();
      await load({}, { apiKey: 'demo-key', accessToken });
      await flow.fail({ read: 'no demo-key' });
      let reads = 0;
      await flow.fail({
        // Node-RED copies the message for the Catch node, which reads it again.
        get read(): string {
          if (reads++ > 0) return 'windows';
          throw new TypeError(`no read for ${accessToken} in ${join(homedir(), 'flows.json')}`);
        },
      });
      await askEditor('diagnostics', {}, { id: 'none' });
      const { diagnostics } = await askEditor('diagnostics');
      const failures = (diagnostics as { failures: Record<string, string>[] }).failures;
      assert.deepEqual(
        failures.map(({ from, code }) => [from, code]),
        [
          ['connected-vehicle-status', 'INPUT_INVALID'],
          ['connected-vehicle-status', 'INTERNAL'],
          ['diagnostics', 'CONFIG'],
        ],
      );
      assert.match(failures[0]?.['message'] ?? '', /^There is no value “no \[secret\]”/);
      assert.match(failures[1]?.['stack'] ?? '', /^TypeError: no read for \[secret\] in ~.flows\.json\n +at /);
      assert.ok(!JSON.stringify(diagnostics).includes(homedir()));
    });

    it('names no folder of this machine, wherever Node-RED and the pack are installed', async () => {
      await load();
      const packages = 'node_modules/@connected-vehicle/node-red/dist/nodes/runtime.js:1:2)';
      const lines = [
        `open '${join(flow.userDir, 'connected-vehicle/a.json')}'`,
        `at f (/mnt/disk of anna/${packages}`,
        `at g (C:\\Anna\\${packages.replaceAll('/', '\\')}`,
        `at h (file:///mnt/disk%20of%20anna/node_modules/a/${packages}`,
        `at async /mnt/anna/node_modules/b.js:1:2`,
        `at async node:internal/process:1:2`,
      ];
      let reads = 0;
      await flow.fail({
        // Node-RED copies the message for the Catch node, which reads it again.
        get read(): string {
          if (reads++ > 0) return 'windows';
          throw Object.assign(new Error(), { stack: ['Error: x', ...lines].join('\n') });
        },
      });
      const { diagnostics } = await askEditor('diagnostics');
      const { stack = '' } = (diagnostics as { failures: Record<string, string>[] }).failures.at(-1) ?? {};
      assert.deepEqual(stack.split('\n').slice(1), [
        `open '${join('[userDir]', 'connected-vehicle/a.json')}'`,
        `at f (…/${packages}`,
        `at g (…/${packages.replaceAll('/', '\\')}`,
        `at h (…/${packages}`,
        'at async …/node_modules/b.js:1:2',
        'at async node:internal/process:1:2',
      ]);
      await askEditor('diagnostics', {}, { id: 'none' });
      const own = (await askEditor('diagnostics'))['diagnostics'] as { failures: Record<string, string>[] };
      assert.match(own.failures.at(-1)?.['stack'] ?? '', / \(dist.nodes.runtime\.js:/);
    });

    it('gives addresses without user, password and query, and that of the own Node-RED without its host', async () => {
      await load({
        baseUrl: 'https://anna:private@car.example/v2?private',
        authorizeUrl: 'https://id.example/authorize#private',
        tokenUrl: 'private',
        redirectUrl: 'https://private.example:1880/callback',
      });
      const { diagnostics } = await askEditor('diagnostics');
      const { settings } = diagnostics as { settings: Record<string, string> };
      assert.deepEqual(
        [settings['baseUrl'], settings['authorizeUrl'], settings['tokenUrl'], settings['redirectUrl']],
        [
          'https://[user]@car.example/v2?…',
          'https://id.example/authorize#…',
          '[no address]',
          'https://[host]:1880/callback',
        ],
      );
      assert.ok(!JSON.stringify(diagnostics).includes('private'));
    });

    for (const [redirectUrl, given] of [
      ['http://localhost:1880/callback', 'http://localhost:1880/callback'],
      ['http://localhost.private.example:1880/callback', 'http://[host]:1880/callback'],
      ['http://127.private.example/callback', 'http://[host]/callback'],
    ] as const)
      it(`gives the redirect URL ${redirectUrl} as ${given}`, async () => {
        await load({ redirectUrl });
        const { diagnostics } = await askEditor('diagnostics');
        const { settings } = diagnostics as { settings: Record<string, string> };
        assert.equal(settings['redirectUrl'], given);
      });

    it('lists the last answers on request, in the form of test/fixtures/answers and without the VIN', async () => {
      await load();
      await flow.ask({ read: 'doors' });
      await flow.ask({ read: 'commands' });
      const { diagnostics } = await askEditor('diagnostics', { answers: true });
      const { answers } = diagnostics as { answers: Record<string, unknown>[] };
      assert.deepEqual(
        answers.map(({ method, path, status }) => [method, path, status]),
        [
          ['GET', '/connected-vehicle/v2/vehicles/{vin}/doors', 200],
          ['GET', '/connected-vehicle/v2/vehicles/{vin}/commands', 200],
        ],
      );
      assert.match(JSON.stringify(answers[0]), /"carLocked":\{[^}]*"value":"LOCKED"/);
      assert.match(JSON.stringify(answers[1]), /"href":"[/a-z\d-]*\/vehicles\/\{vin\}\/commands\/lock"/);
      assert.ok(!JSON.stringify(answers).includes(service.car().vin));
      assert.equal('answers' in ((await askEditor('diagnostics'))['diagnostics'] as object), false);
    });

    it('says why a configuration does not work', async () => {
      await load({ baseUrl: 'http://example.com' });
      const { diagnostics } = await askEditor('diagnostics');
      assert.equal((diagnostics as { problem: { code: string } }).problem.code, 'CONFIG');
    });
  });
});
