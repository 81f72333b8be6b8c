import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fewNodes, linkCheckout, startNodeRed } from '../support/real-node-red';
import { startSimulator } from '../support/simulator';

describe('A Node-RED without an editor', function () {
  it('takes addresses, key and token from the environment, as docs/nodes/vehicle.md says', async () => {
    const service = await startSimulator({ apiKey: 'key-of-env', accessToken: 'token-of-env' });
    const variables = {
      CAR_URL: service.url,
      CAR_VIN: service.car().vin,
      CAR_KEY: 'key-of-env',
      CAR_TOKEN: 'token-of-env',
    };
    Object.assign(process.env, variables);
    const flows = [
      { id: 'tab', type: 'tab', label: 'Car' },
      { id: 'car', type: 'connected-vehicle', service: 'custom', baseUrl: '${CAR_URL}', vin: '${CAR_VIN}' },
      { id: 'begin', z: 'tab', type: 'inject', props: [], once: true, onceDelay: 0.1, wires: [['read']] },
      { id: 'read', z: 'tab', type: 'connected-vehicle-status', vehicle: 'car', read: 'windows', wires: [[]] },
    ];
    const credentials = { car: { apiKey: '${CAR_KEY}', accessToken: '${CAR_TOKEN}' } };
    const install = async (userDir: string): Promise<void> => {
      await linkCheckout(userDir);
      await writeFile(join(userDir, 'flows_cred.json'), JSON.stringify(credentials));
    };
    try {
      const nodeRed = await startNodeRed(flows, install, { ...fewNodes, credentialSecret: false, disableEditor: true });
      try {
        for (let tries = 0; service.requests.length === 0 && tries < 1000; tries += 1)
          await new Promise((resolve) => setTimeout(resolve, 20));
        const [request] = service.requests;
        assert.deepEqual(
          [request?.status, request?.headers.authorization, request?.headers['vendor-api-key']],
          [200, 'Bearer token-of-env', 'key-of-env'],
        );
      } finally {
        await nodeRed.stop();
      }
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
      await service.close();
    }
  });
});
