import { strict as assert } from 'node:assert';
import { formOf } from '../support/editor-client';
import { fewNodes, startNodeRed, type RealNodeRed } from '../support/real-node-red';

const writes = [
  'values',
  'read-car',
  'pictures',
  'position',
  'form-position',
  'click',
  'vehicles',
  'check',
  'sign-in',
  'sign-in-finish',
  'diagnostics',
  'commands',
  'test',
];
const reads = ['state', 'cars', 'equipment'];

describe('Who may ask the runtime what the dialogs ask, in a real Node-RED', function () {
  let nodeRed: RealNodeRed;
  const flows = [
    { id: 'tab', type: 'tab', label: 'Car' },
    { id: 'car', type: 'connected-vehicle', service: 'demo' },
  ];
  const start = (settings: object = {}): void => {
    before(async () => (nodeRed = await startNodeRed(flows, undefined, { ...fewNodes, ...settings })));
    after(() => nodeRed.stop());
  };
  const ask = (action: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${nodeRed.url}connected-vehicle/car/${action}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(formOf({ service: 'demo' })),
    });

  describe('without users', () => {
    start();

    it('answers its own editor', async () => {
      const { vehicles } = (await (await ask('vehicles', { origin: nodeRed.url.slice(0, -1) })).json()) as {
        vehicles: object[];
      };
      assert.equal(vehicles.length, 2);
    });

    it('answers no page from elsewhere, though Node-RED 4.1 itself lets it ask and read', async () => {
      for (const action of [...writes, ...reads]) {
        const response = await ask(action, { origin: 'https://evil.example' });
        assert.equal(response.status, 403, action);
        assert.deepEqual(Object.keys((await response.json()) as object), ['error']);
      }
    });

    it('accepts no GET for a route that does something', async () => {
      for (const action of [...writes, ...reads])
        assert.equal((await fetch(`${nodeRed.url}connected-vehicle/car/${action}`)).status, 404, action);
    });

    it('returns no stored key, token or secret, not even to its own editor', async () => {
      const secrets = {
        apiKey: 'stored-key',
        accessToken: 'stored-access',
        clientSecret: 'stored-client',
      };
      const credentials = { ...secrets, clientId: 'application' };
      await nodeRed.admin('POST', 'flows', { flows: flows.map((node) => ({ ...node, credentials })) });
      const known = await nodeRed.admin('GET', 'credentials/connected-vehicle/car');
      assert.deepEqual(known, {
        clientId: 'application',
        ...Object.fromEntries(Object.keys(secrets).map((name) => [`has_${name}`, true])),
      });
      const texts = [JSON.stringify(await nodeRed.admin('GET', 'flows'))];
      for (const action of [...writes, ...reads]) texts.push(await (await ask(action)).text());
      for (const text of texts) assert.doesNotMatch(text, /stored-/);
    });
  });

  describe('if everybody may look and nobody may change', () => {
    start({ adminAuth: { type: 'credentials', users: [], default: { permissions: 'read' } } });

    it('tells state and commands, and asks for nothing that uses typed or stored secrets', async () => {
      for (const action of reads) assert.equal((await ask(action)).status, 200, action);
      for (const action of writes) assert.equal((await ask(action)).status, 401, action);
    });
  });

  describe('if everybody may do everything, and some have a name', () => {
    const password = '$2b$04$X2/3sKa1FbUqemuF4hZAZOjvrK7/L3aUjbtGSi223OErVx68SPX2m'; // pw
    const users = [{ username: 'driver', password, permissions: '*' }];
    start({ adminAuth: { type: 'credentials', users, default: { permissions: '*' } } });
    const signIn = async (): Promise<string> => {
      const login = {
        client_id: 'node-red-editor',
        grant_type: 'password',
        scope: '*',
        username: 'driver',
        password: 'pw',
      };
      const { access_token: token } = (await nodeRed.admin('POST', 'auth/token', login)) as { access_token: string };
      return token;
    };

    it('answers a page behind a proxy with the token of a user, and refuses a token that was never issued', async () => {
      const origin = 'https://outside.example';
      const token = await signIn();
      for (const action of reads) {
        assert.equal((await ask(action, { origin, authorization: 'Bearer made-up' })).status, 403, action);
        assert.equal((await ask(action, { origin, authorization: `Bearer ${token}` })).status, 200, action);
        assert.equal((await ask(action)).status, 200, action);
      }
    });

    it('counts the requests of each user separately', async () => {
      const token = await signIn();
      const nobody = await Promise.all(Array.from({ length: 130 }, () => ask('state')));
      assert.ok(nobody.some(({ status }) => status === 429));
      assert.equal((await ask('state', { authorization: `Bearer ${token}` })).status, 200);
    });
  });

  describe('if nobody may do anything without a name', () => {
    start({ adminAuth: { type: 'credentials', users: [] } });

    it('answers only the page to which a sign-in returns', async () => {
      for (const action of [...writes, ...reads]) assert.equal((await ask(action)).status, 401, action);
      const page = await fetch(`${nodeRed.url}connected-vehicle/callback?state=x&code=y`);
      assert.equal(page.status, 400);
      assert.match(await page.text(), /does not belong to a sign-in/);
    });
  });
});
