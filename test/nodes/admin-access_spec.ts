import { strict as assert } from 'node:assert';
import { formOf } from '../support/editor-client';
import { startNodeRed, type RealNodeRed } from '../support/real-node-red';

const writes = ['vehicles', 'check', 'sign-in', 'sign-in-finish', 'diagnostics'];
const reads = ['state', 'commands'];

describe('Who may ask the runtime what the dialogs ask, in a real Node-RED', function () {
  this.timeout(60_000);
  let nodeRed: RealNodeRed;
  const flows = [
    { id: 'tab', type: 'tab', label: 'Car' },
    { id: 'car', type: 'connected-vehicle', service: 'demo' },
  ];
  const ask = (action: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${nodeRed.url}connected-vehicle/car/${action}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(formOf({ service: 'demo' })),
    });

  describe('without users', () => {
    before(async () => (nodeRed = await startNodeRed(flows)));
    after(() => nodeRed.stop());

    it('answers its own editor', async () => {
      const { vehicles } = (await (await ask('vehicles', { origin: nodeRed.url.slice(0, -1) })).json()) as { vehicles: object[] };
      assert.equal(vehicles.length, 1);
    });

    it('answers no page from elsewhere, though Node-RED 4.1 itself lets it ask and read', async () => {
      for (const action of [...writes, ...reads]) {
        const response = await ask(action, { origin: 'https://evil.example' });
        assert.equal(response.status, 403, action);
        assert.deepEqual(Object.keys((await response.json()) as object), ['error']);
      }
    });

    it('takes no GET for what does something', async () => {
      for (const action of [...writes, ...reads]) assert.equal((await fetch(`${nodeRed.url}connected-vehicle/car/${action}`)).status, 404, action);
    });
  });

  describe('where everybody may look and nobody may change', () => {
    before(async () => (nodeRed = await startNodeRed(flows, undefined, { adminAuth: { type: 'credentials', users: [], default: { permissions: 'read' } } })));
    after(() => nodeRed.stop());

    it('tells state and commands, and asks for nothing that uses typed or stored secrets', async () => {
      for (const action of reads) assert.equal((await ask(action)).status, 200, action);
      for (const action of writes) assert.equal((await ask(action)).status, 401, action);
    });
  });

  describe('where nobody may do anything without a name', () => {
    before(async () => (nodeRed = await startNodeRed(flows, undefined, { adminAuth: { type: 'credentials', users: [] } })));
    after(() => nodeRed.stop());

    it('answers nothing but the page that a sign-in comes back to', async () => {
      for (const action of [...writes, ...reads]) assert.equal((await ask(action)).status, 401, action);
      const page = await fetch(`${nodeRed.url}connected-vehicle/callback?state=x&code=y`);
      assert.equal(page.status, 400);
      assert.match(await page.text(), /belongs to no sign-in/);
    });
  });
});
