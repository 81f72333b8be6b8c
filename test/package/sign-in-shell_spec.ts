import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { createCipheriv, createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { startSimulator, type Simulator } from '../support/simulator';
import { formOf, signInAtPage } from '../support/editor-client';
import { itLong } from '../support/long';
import { forkNodeRed } from '../support/real-node-red';
import { itOnRedis, RedisServer } from '../support/redis-server';
import { removeFolder } from '../support/remove-folder';
import { installTarball, packTarball } from './tarball';

const cli = resolve(__dirname, '../../nodes/cli.js');
const secret = 'a-secret-of-these-flows';
const client = { apiKey: 'demo-key', clientId: 'demo-client', clientSecret: 'demo-secret' };

interface Ended {
  code: number | null;
  output: string;
}

describe('connected-vehicle sign-in, on the command line', () => {
  let service: Simulator;
  let userDir: string;

  beforeEach(async () => {
    service = await startSimulator();
    userDir = mkdtempSync(join(tmpdir(), 'sign-in-'));
    writeFileSync(join(userDir, 'settings.js'), `module.exports = { credentialSecret: '${secret}' };`);
  });
  afterEach(async () => {
    await service.close();
    await removeFolder(userDir);
  });

  const writeFlows = (changes: Record<string, unknown> = {}, credentials: Record<string, string> = client): void => {
    const config = {
      id: 'v',
      type: 'connected-vehicle',
      name: 'Mine',
      service: 'custom',
      baseUrl: service.url,
      authorizeUrl: `${service.url}/as/authorization.oauth2`,
      tokenUrl: `${service.url}/as/token.oauth2`,
      ...changes,
    };
    writeFileSync(join(userDir, 'flows.json'), JSON.stringify([{ id: 'd', type: 'connected-vehicle' }, config]));
    const key = createHash('sha256').update(secret).digest();
    const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16, 7));
    const sealed = cipher.update(JSON.stringify({ v: credentials }), 'utf8', 'base64') + cipher.final('base64');
    writeFileSync(join(userDir, 'flows_cred.json'), JSON.stringify({ $: `${'07'.repeat(16)}${sealed}` }));
  };
  /** Runs it as a person does: opens the address that it prints, and pastes the one where the browser ends. */
  const run = async (
    args: readonly string[] = [],
    env: Record<string, string> = {},
    [program, ...before]: [string, ...string[]] = [process.execPath, cli],
  ): Promise<Ended> => {
    const child = spawn(program, [...before, 'sign-in', '--user-dir', userDir, ...args], {
      cwd: userDir,
      env: { ...process.env, ...env },
      timeout: 120_000,
    });
    let output = '';
    let pasted: Promise<void> | undefined;
    const hear = (data: Buffer): void => {
      output += String(data);
      const [url] = /http\S+\/as\/authorization\S+/.exec(output) ?? [];
      if (url !== undefined && output.includes('Paste it here'))
        pasted ??= signInAtPage(url).then((answer) => void child.stdin.end(`${answer}\n`));
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    const code = await new Promise<number | null>((ended) => child.on('exit', ended));
    await pasted;
    return { code, output };
  };
  const stored = (): string[] =>
    (readdirSync(userDir, { recursive: true }) as string[])
      .filter((name) => /state.sign-in/.test(name) && statSync(join(userDir, name)).isFile())
      .map((name) => readFileSync(join(userDir, name), 'utf8'));

  it('stores the sign-in of the only configuration of the flow file, and prints no secret', async () => {
    writeFlows();
    const { code, output } = await run();
    assert.equal(code, 0, output);
    assert.match(output, /Signed in\. The Node-RED that keeps its files in /);
    assert.equal(stored().length, 1);
    for (const text of [output, ...stored()])
      for (const hidden of ['demo-secret', 'demo-key', secret, 'access_token', 'refresh'])
        assert.ok(!text.includes(hidden), hidden);
    assert.equal(service.requests.filter(({ path }) => path === '/as/token.oauth2').length, 1);
  });

  it('takes the values of environment variables that the flow names, and those that replace it', async () => {
    writeFlows({ baseUrl: '${SERVICE}' }, { apiKey: 'demo-key', clientId: '${CLIENT}' });
    const { code, output } = await run([], {
      SERVICE: service.url,
      CLIENT: 'demo-client',
      CONNECTED_VEHICLE_CLIENT_SECRET: 'demo-secret',
    });
    assert.equal(code, 0, output);
    assert.equal(stored().length, 1);
  });

  it('asks for the redirect URL of the editor that the settings describe', async () => {
    const editor = `httpAdminRoot: '/admin', uiPort: 1990`;
    writeFileSync(join(userDir, 'settings.js'), `module.exports = { credentialSecret: '${secret}', ${editor} };`);
    writeFlows();
    const { code, output } = await run();
    assert.equal(code, 0, output);
    assert.match(output, /then goes to http:\/\/localhost:1990\/admin\/connected-vehicle\/callback,/);
  });

  it('says what is missing, and changes nothing', async () => {
    assert.deepEqual(await run(), {
      code: 1,
      output:
        'The flows have no vehicle configuration with a real service. Name the user directory by --user-dir, or the id of the configuration by --config.\n',
    });
    writeFlows({}, {});
    const { code, output } = await run();
    assert.equal(code, 1);
    assert.match(output, /client ID/i);
    writeFileSync(join(userDir, 'settings.js'), `module.exports = { credentialSecret: 'another' };`);
    writeFlows();
    assert.match((await run()).output, /cannot be read\. Give the settings file/);
    assert.equal((await run(['--what'])).code, 2);
    assert.deepEqual(stored(), []);
  });

  it('fails where nothing can be pasted', async () => {
    writeFlows();
    const child = spawn(process.execPath, [cli, 'sign-in', '--user-dir', userDir], {
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 120_000,
    });
    let said = '';
    child.stderr.on('data', (data: Buffer) => (said += String(data)));
    const code = await new Promise<number | null>((ended) => child.on('close', ended));
    assert.equal(code, 1);
    assert.match(said, /no sign-in code/);
  });

  it('says why the shared store cannot be used', async () => {
    symlinkSync(resolve(__dirname, '../../../node_modules'), join(userDir, 'node_modules'));
    writeFlows();
    const { code, output } = await run([], { CONNECTED_VEHICLE_STORE: 'redis://127.0.0.1:1' });
    assert.equal(code, 1);
    assert.match(output, /cannot be reached \(ECONNREFUSED\)/);
    assert.doesNotMatch(output, /fault in this pack/);
  });

  itOnRedis('stores the sign-in in the shared store that the environment chooses', async () => {
    const server = await RedisServer.start();
    try {
      symlinkSync(resolve(__dirname, '../../../node_modules'), join(userDir, 'node_modules'));
      writeFlows();
      const { code, output } = await run(['--config', 'Mine'], {
        CONNECTED_VEHICLE_STORE: server.url,
        CONNECTED_VEHICLE_GROUP: 'mine',
      });
      assert.equal(code, 0, output);
      assert.ok(output.includes(`Every copy of the group mine, with the shared store at ${server.url}, reads`), output);
      assert.deepEqual(stored(), []);
      assert.equal(await server.send('HLEN', 'connected-vehicle:sign-in'), 1);
    } finally {
      await server.end();
    }
  });

  it('says what to install for a shared store', async () => {
    writeFlows();
    // The copy finds no client above its folder.
    const copy = join(userDir, 'pack');
    cpSync(dirname(cli), copy, { recursive: true });
    const { code, output } = await run([], { CONNECTED_VEHICLE_STORE: 'redis://127.0.0.1:1' }, [
      process.execPath,
      join(copy, 'cli.js'),
    ]);
    assert.equal(code, 1);
    const install = `Run “npm install @redis/client” in the user directory of Node-RED (${userDir})`;
    assert.ok(output.includes(install), output);
  });

  itLong(
    'is in the package, which says what to install for a shared store, and shares the sign-in with Node-RED',
    async function () {
      this.timeout(240_000);
      const server = await RedisServer.start();
      const connectedVehicle = { store: server.url, group: 'mine' };
      /** What *Check* says of the store, and how a Node-RED of this user directory gets its token. */
      const inNodeRed = async () => {
        const child = forkNodeRed(userDir, { credentialSecret: secret, connectedVehicle });
        try {
          const [{ port }] = (await once(child, 'message')) as [{ port: number }];
          const ask = async (action: string, body: object = {}): Promise<unknown> => {
            // The check is of a vehicle that is not deployed yet: it has no stored secrets, which go to their own address only.
            const url = `http://127.0.0.1:${port}/connected-vehicle/${action === 'check' ? 'new' : 'v'}/${action}`;
            const headers = { 'content-type': 'application/json' };
            return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
          };
          let findings: { about: string; message: string | null }[] | undefined;
          while (findings === undefined) {
            const checked = await ask('check', formOf({ service: 'demo' }));
            ({ findings } = checked as { findings?: typeof findings });
            // Its editor answers before Node-RED has loaded the flows.
            if (findings === undefined) assert.match(JSON.stringify(checked), /"Node-RED is still starting\. /);
          }
          return { said: findings.find(({ about }) => about === 'store')?.message, state: await ask('state') };
        } finally {
          child.kill();
          await once(child, 'exit');
        }
      };
      const npx: [string, ...string[]] = ['npx', '--package', '@connected-vehicle/node-red', 'connected-vehicle'];
      const env = { CONNECTED_VEHICLE_STORE: server.url, CONNECTED_VEHICLE_GROUP: 'mine', npm_config_offline: 'true' };
      const install = `Run “npm install @redis/client” in the user directory of Node-RED (${userDir})`;
      try {
        await installTarball(await packTarball(userDir))(userDir);
        writeFlows();
        const without = await run([], env, npx);
        assert.equal(without.code, 1);
        assert.ok(without.output.includes(install), without.output);
        assert.ok((await inNodeRed()).said?.includes(install));

        const redisClient = dirname(require.resolve('@redis/client/package.json'));
        await installTarball({ file: redisClient, paths: [] })(userDir);
        const { code, output } = await run([], env, npx);
        assert.equal(code, 0, output);
        const { said, state } = await inNodeRed();
        assert.equal(said, null);
        assert.equal((state as { token: { kind: string } }).token.kind, 'refreshing');
      } finally {
        await server.end();
      }
    },
    itOnRedis,
  );
});
