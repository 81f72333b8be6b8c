import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { electricCar, startSimulator, type CarOptions, type Simulator } from '../support/simulator';
import { ManualClock } from '../support/manual-clock';
import { itLong } from '../support/long';
import { fewNodesAnd, startNodeRed, type RealNodeRed } from '../support/real-node-red';
import { DebugSidebar } from './debug-sidebar';
import type { FlowNode } from './checkout';
import { buttonOf, deployExample, pressButton, untilAsked } from './example-flow';

const minute = 60_000;

/** The examples that wait for something to happen: it happens to a held car, in a real Node-RED. */
describe('The examples with events', function () {
  let nodeRed: RealNodeRed;
  let sidebar: DebugSidebar;
  let clock: ManualClock;
  let service: Simulator;

  before(async () => {
    nodeRed = await startNodeRed([], undefined, fewNodesAnd('70-CSV.js', '10-file.js', '21-httprequest.js'));
    sidebar = await DebugSidebar.open(nodeRed.url);
  });
  after(async () => {
    sidebar?.close();
    await nodeRed?.stop();
  });
  beforeEach(() => {
    // Behind the clock of Node-RED, so that what the car reports after a drive
    // is still in the past.
    clock = new ManualClock(Date.now() - 60 * minute);
    sidebar.clear();
  });
  afterEach(() => service.close());

  const file = (): string => join(nodeRed.userDir, 'trips.csv');
  /** Deploys an example, and waits until its event node knows the car. */
  const deploy = async (example: string, car: CarOptions, path: string): Promise<FlowNode[]> => {
    service = await startSimulator({ clock, cars: [car] });
    return start(example, path);
  };
  const start = async (example: string, path: string): Promise<FlowNode[]> => {
    const changes: Record<string, object> = {
      'connected-vehicle-event': { poll: 1 },
      file: { filename: file() },
    };
    service.clearRequests();
    const nodes = await deployExample(nodeRed, service, example, (node) => ({ ...node, ...changes[node.type] }));
    // The second poll begins when the first one has been read.
    await untilAsked(service, 2, path);
    return nodes;
  };
  const away: CarOptions = { vin: 'YV1EXAMPLEEVENTS1', location: { latitude: 57.75, longitude: 12.1 } };
  const driveHome = async (): Promise<void> => {
    service.car().drive({ km: 12, minutes: 15, latitude: 57.6889, longitude: 11.968 });
    await clock.advance(15 * minute);
  };

  it('“The car came home” says when the car has arrived at home, and when it has left', async () => {
    await deploy('The car came home', away, '/location');
    await driveHome();
    assert.equal(await sidebar.next('Came home'), 'Car is at home');
    service.car().drive({ km: 12, minutes: 15, latitude: 57.75, longitude: 12.1 });
    await clock.advance(15 * minute);
    assert.equal(await sidebar.next('Left home'), 'Car is no longer at home');
    assert.deepEqual(
      sidebar.shown.map(({ name }) => name),
      ['Came home', 'Left home'],
    );
  });

  itLong(
    '“Trips into a CSV file” writes the names of the columns on a click, and one line for a trip, also after a restart',
    async () => {
      const nodes = await deploy('Trips into a CSV file', { ...away, resources: { odometer: 1000 } }, '/odometer');
      await pressButton(nodeRed, buttonOf(nodes, 'Column names'));
      await sidebar.next('Saved');
      let expected = 'ended,km,odometer\n';
      for (const odometer of [1012, 1024]) {
        sidebar.clear();
        await driveHome();
        assert.equal(await sidebar.next('Notify'), 'Trip has ended after 12 km');
        await sidebar.next('Saved');
        const at = new Date(clock.now() - new Date(clock.now()).getTimezoneOffset() * minute);
        expected += `${at.toISOString().slice(0, 16).replace('T', ' ')},12,${odometer}\n`;
        assert.equal(await readFile(file(), 'utf8'), expected);
        await start('Trips into a CSV file', '/odometer');
      }
    },
  );

  it('“Tell me when something happens” says what happened', async () => {
    await deploy('Tell me when something happens', away, '/doors');
    service.car().set({ lock: 'UNLOCKED' });
    assert.equal(await sidebar.next('Not sent: no topic'), 'Car is unlocked');
    sidebar.clear();
    service.car().set({ windows: { frontLeft: 'OPEN' } });
    assert.equal(await sidebar.next('Not sent: no topic'), 'Front-left window is open');
  });

  it('“Charged, tell me” says that charging has started and is done', async () => {
    const car = { ...electricCar, battery: { ...electricCar.battery, level: 89 } };
    await deploy('Charged, tell me', { ...car, charger: { connection: 'CONNECTED', hasPower: false } }, '/state');
    service.car().set({ charger: { hasPower: true } });
    assert.equal(await sidebar.next('Not sent: no topic'), 'Charging has started');
    sidebar.clear();
    service.car().set({ battery: { level: 90 } });
    assert.equal(await sidebar.next('Not sent: no topic'), 'Charging is done');
  });

  it('“Start here” says that a window was opened', async () => {
    await deploy('Start here', away, '/windows');
    service.car().set({ windows: { rearLeft: 'OPEN' } });
    assert.equal(await sidebar.next('What happened'), 'Rear-left window is open');
  });
});
