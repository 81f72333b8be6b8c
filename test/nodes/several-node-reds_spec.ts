import { strict as assert } from 'node:assert';
import { startSimulator, type Simulator } from '../../src/simulator/index';
import { formOf, signInAtPage, type EditorAnswer } from '../support/editor-client';
import { customVehicle, demoCredentials } from '../support/flow';
import { startNodeRed, type RealNodeRed } from '../support/real-node-red';
import { describeOnRedis, RedisServer } from '../support/redis-server';

/** A copy of the flows, with a service of its own, so that a test sees which of them reads the car. */
interface Copy {
  nodeRed: RealNodeRed;
  service: Simulator;
}

/** In real time, because processes of their own keep the claims. */
describeOnRedis('two Node-REDs with the same flows and a shared store', () => {
  let server: RedisServer;
  let copies: Copy[];

  beforeEach(async () => {
    copies = [];
    server = await RedisServer.start();
  });
  afterEach(async () => {
    for (const { nodeRed, service } of copies) {
      await nodeRed.stop();
      await service.close();
    }
    await server.end();
  });

  const start = async (group: string, given?: Simulator, config: object = { credentials: demoCredentials }) => {
    const service = given ?? (await startSimulator());
    const connectedVehicle = { store: server.url, group };
    // A poll without a sign-in is an error.
    const logging = { console: { level: 'fatal', metrics: false, audit: false } };
    const copy = { service, nodeRed: await startNodeRed([], undefined, { connectedVehicle, logging }) };
    copies.push(copy);
    const car = { id: 'v', type: 'connected-vehicle', ...customVehicle(service), ...config };
    const read = { read: 'odometer', poll: 1, emit: 'always' };
    await copy.nodeRed.admin('POST', 'flows', {
      flows: [
        { id: 'tab', type: 'tab', label: 'test' },
        car,
        { id: 's', z: 'tab', type: 'connected-vehicle-status', vehicle: 'v', ...read, wires: [[]] },
      ],
    });
    return copy;
  };
  /** @returns after how many milliseconds it has read the car once more */
  const nextRead = async ({ service }: Copy): Promise<number> => {
    const [since, before] = [performance.now(), service.requests.length];
    while (service.requests.length === before) {
      if (performance.now() - since > 30_000) assert.fail('the car is not read');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return performance.now() - since;
  };

  it('are one that reads the car and one that takes over within 20 seconds of its death, or seconds after its end', async function () {
    this.timeout(120_000);
    const first = await start('copies');
    await nextRead(first);
    const second = await start('copies');
    for (let reads = 0; reads < 4; reads += 1) await nextRead(first);
    assert.equal(second.service.requests.length, 0);
    // As if it had been killed: the process ends without its nodes.
    copies = [second];
    await first.nodeRed.stop();
    await first.service.close();
    assert.ok((await nextRead(second)) < 20_000);
    const third = await start('copies');
    await nextRead(second);
    assert.equal(third.service.requests.length, 0);
    await second.nodeRed.admin('POST', 'flows', { flows: [] });
    assert.ok((await nextRead(third)) < 5_000);
  });

  it('complete the sign-in of each other, at the callback and by the pasted address, each once', async function () {
    this.timeout(60_000);
    const service = await startSimulator();
    const [authorizeUrl, tokenUrl] = [`${service.url}/as/authorization.oauth2`, `${service.url}/as/token.oauth2`];
    const credentials = { apiKey: 'demo-key', clientId: 'demo-client', clientSecret: 'demo-secret' };
    const config = { authorizeUrl, tokenUrl, credentials };
    const [first, second] = [await start('copies', service, config), await start('copies', service, config)];
    const callbackUrl = 'http://localhost:1880/connected-vehicle/callback';
    const form = formOf(customVehicle(service, { authorizeUrl, tokenUrl }), {}, { callback: callbackUrl });
    const ask = (copy: Copy, action: string, body: object = {}): Promise<EditorAnswer> =>
      copy.nodeRed.admin('POST', `connected-vehicle/v/${action}`, body) as Promise<EditorAnswer>;
    const begin = async (copy: Copy): Promise<string> =>
      signInAtPage(String((await ask(copy, 'sign-in', form))['url']));
    const callback = async (copy: Copy, address: string): Promise<string> => {
      const response = await fetch(copy.nodeRed.url.slice(0, -1) + new URL(address).pathname + new URL(address).search);
      return `${response.status} ${await response.text()}`;
    };
    const stateOf = async (copy: Copy) =>
      (await ask(copy, 'state')) as unknown as { token: { kind: string }; signIn: { error: unknown } | null };

    const declined = signInAtPage(String((await ask(first, 'sign-in', form))['url']), 'deny');
    assert.match(await callback(second, await declined), /^400 .*declined/s);
    assert.match(JSON.stringify((await stateOf(first)).signIn?.error), /declined/);
    const address = await begin(first);
    assert.equal((await stateOf(second)).signIn, null);
    assert.match(await callback(second, address), /^200 /);
    const { signIn, token } = await stateOf(first);
    assert.deepEqual([signIn?.error, token.kind], [null, 'refreshing']);
    for (const copy of copies) assert.match(await callback(copy, address), /^400 .*<p>This answer was used already/s);
    const redirected = await begin(second);
    assert.equal((await ask(first, 'sign-in-finish', { redirected })).error, undefined);
    assert.equal((await ask(second, 'sign-in-finish', { redirected })).error?.code, 'INPUT_INVALID');
    assert.equal(service.requests.filter(({ path }) => path === '/as/token.oauth2').length, 2);
  });

  it('both read their cars where they are in different groups', async function () {
    this.timeout(60_000);
    const [first, second] = [await start('one'), await start('other')];
    await nextRead(second);
    await nextRead(first);
  });
});
