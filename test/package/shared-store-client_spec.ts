import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { formOf } from '../support/editor-client';
import { itLong } from '../support/long';
import { fewNodes, forkNodeRed } from '../support/real-node-red';
import { itOnRedis, RedisServer } from '../support/redis-server';
import { removeFolder } from '../support/remove-folder';
import { installTarball, packTarball } from './tarball';

describe('The client of a shared store', () => {
  let userDir: string;
  let server: RedisServer;

  beforeEach(() => (userDir = mkdtempSync(join(tmpdir(), 'shared-store-client-'))));
  afterEach(() => removeFolder(userDir));

  /** What *Check* shows about the store, in a Node-RED of the user directory. */
  const checkStore = async (): Promise<string | null> => {
    const connectedVehicle = { store: server.url, group: 'mine' };
    const child = forkNodeRed(userDir, { ...fewNodes, credentialSecret: 'a-secret-of-these-flows', connectedVehicle });
    try {
      const [{ port }] = (await once(child, 'message')) as [{ port: number }];
      const response = await fetch(`http://127.0.0.1:${port}/connected-vehicle/new/check`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(formOf({ service: 'demo' })),
      });
      // The shape of the answer of the route `check`.
      const { findings } = (await response.json()) as { findings: { about: string; message: string | null }[] };
      return findings.find(({ about }) => about === 'store')?.message ?? null;
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  };

  itLong(
    'is what the installed package says to install, and is found in the user directory',
    async function () {
      server = await RedisServer.start();
      try {
        await installTarball(await packTarball(userDir))(userDir);
        const install = `Run “npm install @redis/client” in the user directory of Node-RED (${userDir})`;
        const said = await checkStore();
        assert.ok(said?.includes(install), String(said));
        const redisClient = dirname(require.resolve('@redis/client/package.json'));
        await installTarball({ file: redisClient, paths: [] })(userDir);
        assert.equal(await checkStore(), null);
      } finally {
        await server.end();
      }
    },
    itOnRedis,
  );
});
