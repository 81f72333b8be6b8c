import { strict as assert } from 'node:assert';
import { demoCar, startSimulator, type Simulator } from '../support/simulator';
import { formOf, signInAtPage, type EditorAnswer } from '../support/editor-client';
import { customVehicle, demoCredentials } from '../support/flow';
import { itLong } from '../support/long';
import { fewNodes, startNodeRed, type RealNodeRed } from '../support/real-node-red';
import { describeOnRedis, RedisServer } from '../support/redis-server';

/** A copy of the flows, with its own service, so that a test sees which of them reads the car. */
interface Copy {
  nodeRed: RealNodeRed;
  service: Simulator;
}

/** In real time, because processes of their own keep the lead. */
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

  const odometer = { type: 'connected-vehicle-status', read: 'odometer', poll: 1, emit: 'always', wires: [[]] };
  const start = async (
    group: string,
    given?: Simulator,
    config: object = { credentials: demoCredentials },
    node: object = odometer,
    others: object[] = [],
  ) => {
    const service = given ?? (await startSimulator());
    const connectedVehicle = { store: server.url, group };
    // A poll without a sign-in is an error.
    const logging = { console: { level: 'fatal', metrics: false, audit: false } };
    const nodeRed = await startNodeRed([], undefined, { ...fewNodes, connectedVehicle, logging });
    const car = { id: 'v', type: 'connected-vehicle', ...customVehicle(service), ...config };
    const deploy = (...nodes: object[]) =>
      nodeRed.admin('POST', 'flows', { flows: [{ id: 'tab', type: 'tab', label: 'test' }, car, ...nodes] });
    const copy = { service, nodeRed, deploy };
    copies.push(copy);
    await deploy({ id: 's', z: 'tab', vehicle: 'v', ...node }, ...others);
    return copy;
  };
  /** @returns after how many milliseconds it has read the car once more */
  const nextRead = async ({ service }: Copy): Promise<number> => {
    const [since, before] = [performance.now(), service.requests.length];
    while (service.requests.length === before) {
      if (performance.now() - since > 200_000) assert.fail('the car is not read');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return performance.now() - since;
  };

  itLong('are one that reads the car, and one that takes over when it has died or ended', async function () {
    const first = await start('copies');
    await nextRead(first);
    const second = await start('copies');
    for (let reads = 0; reads < 4; reads += 1) await nextRead(first);
    assert.equal(second.service.requests.length, 0);
    // As if it had been killed: the process ends without its nodes.
    copies = [second];
    await first.nodeRed.stop();
    await first.service.close();
    assert.ok((await nextRead(second)) < 60_000);
    const third = await start('copies');
    await nextRead(second);
    assert.equal(third.service.requests.length, 0);
    // Its vehicle configuration stays.
    await second.deploy();
    assert.ok((await nextRead(third)) < 15_000);
  });

  it('complete the sign-in of each other, at the callback and by the pasted address, each once', async function () {
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

  itLong('are neither armed nor disarmed for each other if they have different cars', async function () {
    const command = {
      type: 'connected-vehicle-command',
      arming: 600,
      whenBusy: 'queue',
      waitUnlock: true,
      wires: [[]],
    };
    const messages = {
      arm: { arm: 'true' },
      disarm: { arm: 'false' },
      unlock: { command: '"unlock"' },
      flash: { command: '"flash"' },
    };
    const injects = Object.entries(messages).map(([id, msg]) => {
      const props = Object.entries(msg).map(([p, v]) => ({ p, v, vt: 'json' }));
      return { id, z: 'tab', type: 'inject', props, wires: [['s']] };
    });
    // A command that is refused makes the horn sound.
    const rules = [{ t: 'set', p: 'command', pt: 'msg', to: 'honk', tot: 'str' }];
    const refused = [
      { id: 'caught', z: 'tab', type: 'catch', scope: ['s'], wires: [['honk']] },
      { id: 'honk', z: 'tab', x: 1, y: 1, type: 'change', rules, wires: [['s']] },
    ];
    const startWith = async (vin: string): Promise<Copy> => {
      const service = await startSimulator({ cars: [{ ...demoCar, vin }] });
      return start('fleet', service, { credentials: demoCredentials }, command, [...injects, ...refused]);
    };
    const [first, second] = [await startWith('YV1F1RSTCARDEM001'), await startWith('YV1SEC0NDCARDEM02')];
    const say = (copy: Copy, id: string) => fetch(`${copy.nodeRed.url}inject/${id}`, { method: 'POST' });
    /** @returns the commands that the service got, when there are so many */
    const sent = async ({ service }: Copy, count: number): Promise<string[]> => {
      const since = performance.now();
      for (;;) {
        const posts = service.requests.filter(({ method }) => method === 'POST');
        if (posts.length >= count) return posts.map(({ path }) => path.split('/').at(-1) ?? '');
        if (performance.now() - since > 200_000) assert.fail('no command is sent');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    await say(first, 'arm');
    await say(second, 'unlock');
    assert.deepEqual(await sent(second, 1), ['honk']);
    await say(second, 'disarm');
    await say(second, 'flash');
    await sent(second, 2);
    await say(first, 'unlock');
    assert.deepEqual(await sent(first, 1), ['unlock']);
  });

  itLong('are armed for each other if they write the VIN of their car in different ways', async function () {
    const waits = { arming: 600, whenBusy: 'queue', waitUnlock: true };
    const command = { type: 'connected-vehicle-command', ...waits, wires: [[]] };
    const injects = Object.entries({ arm: 'true', command: '"unlock"' }).map(([p, v]) => {
      return { id: p, z: 'tab', type: 'inject', props: [{ p, v, vt: 'json' }], wires: [['s']] };
    });
    const service = await startSimulator();
    const startWith = (vin: string): Promise<Copy> =>
      start('same car', service, { credentials: demoCredentials, vin }, command, injects);
    const [first, second] = [await startWith(demoCar.vin), await startWith(` ${demoCar.vin.toLowerCase()} `)];
    await fetch(`${first.nodeRed.url}inject/arm`, { method: 'POST' });
    await fetch(`${second.nodeRed.url}inject/command`, { method: 'POST' });
    const isSent = (): boolean => service.requests.some(({ method }) => method === 'POST');
    for (const since = performance.now(); !isSent();) {
      if (performance.now() - since > 200_000) assert.fail('no command is sent');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  itLong('both read their cars if they are in different groups', async function () {
    const [first, second] = [await start('one'), await start('other')];
    await nextRead(second);
    await nextRead(first);
  });
});
