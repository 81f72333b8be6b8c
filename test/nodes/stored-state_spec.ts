import { strict as assert } from 'node:assert';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Simulator } from '../support/simulator';
import { askEditor, formOf, signInAtPage } from '../support/editor-client';
import { customVehicle, demoCredentials, setUpFlow, type Flow } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';

/**
 * What each released version has stored, in a folder of its name, and what the next one stores.
 * `UPDATE_STORED=1` writes that one.
 */
const fixtures = resolve(__dirname, '../../../test/fixtures/state');
const next = join(fixtures, '2.0.0');

const client = { apiKey: 'demo-key', clientId: 'demo-client', clientSecret: 'demo-secret' };
const minute = 60_000;

describe('The stored state of a Node-RED', () => {
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;
  setUpFlow((setUp) => ({ clock, service, flow } = setUp));

  const directory = (): string => join(flow.userDir, 'connected-vehicle');
  const node = (id: string, type: string, properties: Record<string, unknown>) => ({
    id,
    z: 'tab',
    type: `connected-vehicle-${type}`,
    vehicle: 'v',
    ...properties,
  });
  const nodes = () => [
    node('c', 'command', { command: 'lock', interface: 'v1', wires: [['n']] }),
    node('s', 'status', { read: 'odometer', wires: [['out1']] }),
    node('g', 'guard', { poll: 60, minutes: 1, wires: [['out1'], []] }),
    node('e', 'event', { poll: 60, events: ['unlocked', 'window-opened'], wires: [['out1']] }),
  ];
  const load = (credentials: Record<string, string>, vehicle: Record<string, unknown>): Promise<void> =>
    flow.load({ type: 'connected-vehicle-command-status', timeout: 3600, interval: 10 }, vehicle, credentials, nodes());
  const commands = (): number => service.requests.filter(({ path }) => path.endsWith('/commands/lock')).length;
  /**
   * Each collection with the members of its values; of an encrypted one, with those of the seal.
   */
  const shapeOf = (folder: string): Record<string, string[]> =>
    Object.fromEntries(
      readdirSync(join(folder, 'state'))
        .sort()
        .map((collection) => {
          const files = readdirSync(join(folder, 'state', collection));
          const texts = files.map((name) => readFileSync(join(folder, 'state', collection, name), 'utf8'));
          const values = texts.map((text) => (JSON.parse(text) as { value: object }).value);
          return [collection, [...new Set(values.flatMap((value) => Object.keys(value)))].sort()];
        }),
    );

  it('has the collections and members that a later version will find', async () => {
    const vehicle = customVehicle(service, {
      authorizeUrl: `${service.url}/as/authorization.oauth2`,
      tokenUrl: `${service.url}/as/token.oauth2`,
    });
    service.car().set({ windows: { rearRight: 'OPEN' }, commandPlan: { answerAfterMs: 0 } });
    await load(client, vehicle);
    const callback = 'http://localhost:1880/connected-vehicle/callback';
    const { url } = await askEditor('sign-in', formOf(vehicle, client, { callback }));
    assert.equal((await askEditor('sign-in-finish', { redirected: await signInAtPage(String(url)) })).error, undefined);
    flow.node('s').receive({} as never);
    await clock.advanceUntil(() => flow.outputs[1]?.some(({ topic }) => topic === 'alert') === true, 10_000);
    flow.node('c').receive({ topic: 'goodbye' } as never);
    const isFollowed = (): boolean => {
      const folder = join(directory(), 'state', 'command');
      const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
      return files.some((name) => readFileSync(join(folder, name), 'utf8').includes('"startedAt"'));
    };
    await clock.advanceUntil(isFollowed, 1_000);
    const kept = flow.killedNow();
    if (process.env['UPDATE_STORED']) {
      rmSync(next, { recursive: true, force: true });
      cpSync(`${directory()}-killed`, next, { recursive: true });
    }
    assert.deepEqual(shapeOf(`${directory()}-killed`), shapeOf(next));
    await kept();
  });

  it('of 1.0.0, with a command in progress: none is sent for 150 seconds, and everything else begins at once', async () => {
    cpSync(join(fixtures, '1.0.0'), directory(), { recursive: true });
    flow.heard = ['g', 'e'];
    const begun = clock.monotonic();
    await load(demoCredentials, customVehicle(service));
    flow.node('c').receive({} as never);
    await clock.advanceUntil(() => flow.badges.some(({ code }) => code === 'listening'), 1_000);
    await clock.advanceUntil(() => flow.badges.some(({ code }) => code === 'value'), 1_000);
    assert.deepEqual(flow.caught, []);
    while (clock.monotonic() - begun < 149_000) await clock.advance(1_000);
    assert.equal(commands(), 0);
    await clock.advanceUntil(() => commands() === 1, 1_000);
    assert.ok(clock.monotonic() - begun < 3 * minute);
    const folders = readdirSync(join(directory(), 'state'));
    assert.deepEqual(
      folders.filter(
        (name) => ['journal', 'watches'].includes(name) && readdirSync(join(directory(), 'state', name)).length > 0,
      ),
      [],
    );
  });
});
