import { strict as assert } from 'node:assert';
import type { VehicleError } from '../../src/index';
import { demoCar, startSimulator, type Simulator } from '../support/simulator';
import { closeAccounts, openTestAccount, type SendingClient } from '../support/account';

const { vin } = demoCar;
const command = 'send-navi-poi';
const path = `/connected-vehicle/v2/vehicles/${vin}/commands/${command}`;

/** docs/internals/service.md 4.1 rule 3, docs/internals/vendor-api.md 1.7. */
describe('commands that a vehicle lists and the specification does not name', () => {
  for (const dialect of ['plain', 'real'] as const) {
    describe(`in the ${dialect} dialect`, () => {
      let service: Simulator;
      let client: SendingClient;

      beforeEach(async () => {
        service = await startSimulator({ dialect });
        service.car().set({ extraCommands: [command], commandPlan: { answerAfterMs: 0 } });
        ({ client } = openTestAccount(service));
      });
      afterEach(async () => {
        await closeAccounts();
        await service.close();
      });

      const posts = (): string[] =>
        service.requests.filter(({ method }) => method === 'POST').map((request) => request.path);
      const listAs = (href: unknown): void => {
        service.faults.add({
          match: { method: 'GET', path: '/commands' },
          times: 1,
          status: 200,
          body: { data: [{ command: 'SEND_NAVI_POI', href }] },
        });
      };

      it('sends a name in any spelling to the address that the list gives', async () => {
        const names = [command, 'SEND_NAVI_POI', ' Send-Navi-Poi '];
        for (const name of names) {
          const record = await client.send(name, { vin });
          const found = [record.command, record.interface, record.outcome];
          assert.deepEqual(found, [command, 'connected-v2', 'succeeded'], name);
        }
        assert.deepEqual(
          posts(),
          names.map(() => path),
        );
        assert.deepEqual(
          service.car().performed,
          names.map(() => command),
        );
      });

      it('sends nothing to the address of unlock under another name', async () => {
        for (const disguise of ['unlock', 'unl%6Fck', 'UNLOCK', 'unlock/', 'unlock//', 'unlock;x']) {
          listAs(path.replace(/[^/]+$/, disguise));
          await assert.rejects(
            client.send(command, { vin }),
            (error: VehicleError) => error.code === 'INPUT_INVALID',
            disguise,
          );
        }
        assert.deepEqual(posts(), []);
      });

      it('follows absolute addresses, relative ones with the whole path, and those that lack its first part', async () => {
        for (const href of [`${service.url}${path}`, path, path.replace('/connected-vehicle', '')]) {
          listAs(href);
          await client.send(command, { vin });
        }
        assert.deepEqual(posts(), [path, path, path]);
      });

      it('sends nothing to an address outside the service', async () => {
        for (const href of [
          'https://evil.example/x',
          '//evil.example/x',
          '/\\evil.example/x',
          'http://127.0.0.1:1/x',
          'https://user:word@127.0.0.1/x',
          'javascript:alert(1)',
        ]) {
          listAs(href);
          await assert.rejects(client.send(command, { vin }), { code: 'UNTRUSTED_LINK' }, href);
        }
        assert.deepEqual(posts(), []);
      });

      it('refuses a name that is not in the list, and names those that are', async () => {
        await assert.rejects(
          client.send('open-garage', { vin }),
          (error: Error & { code?: string }) => error.code === 'INPUT_INVALID' && error.message.includes(command),
        );
        assert.deepEqual(posts(), []);
      });

      it('sends nothing if the list gives no address', async () => {
        listAs(null);
        await assert.rejects(client.send(command, { vin }), { code: 'INPUT_INVALID' });
        assert.deepEqual(posts(), []);
      });

      it('is refused for v1, and asks nothing while the vehicle is read only', async () => {
        await assert.rejects(client.send(command, { vin, interface: 'v1' }), { code: 'NOT_SUPPORTED' });
        await assert.rejects(openTestAccount(service, { readOnly: true }).dispatcher.send(command, { vin }), {
          code: 'READ_ONLY',
        });
        assert.deepEqual(service.requests, []);
      });
    });
  }
});
