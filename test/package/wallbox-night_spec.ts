import { strict as assert } from 'node:assert';
import { interfaceNames } from '../../src/index';
import { electricCar, startSimulator, type Simulator } from '../support/simulator';
import { startNodeRed, type RealNodeRed } from '../support/real-node-red';
import type { FlowNode } from './checkout';
import { DebugSidebar } from './debug-sidebar';
import { asked, buttonOf, deployExample, pressButton, untilAsked } from './example-flow';

describe('The example “Cheap hours with the Volvo wallbox”', function () {
  let service: Simulator;
  let nodeRed: RealNodeRed;
  let sidebar: DebugSidebar;
  let nodes: FlowNode[];

  before(async () => {
    service = await startSimulator({ cars: [electricCar], dialect: 'real' });
    nodeRed = await startNodeRed();
    sidebar = await DebugSidebar.open(nodeRed.url);
    nodes = await deployExample(nodeRed, service, 'Cheap hours with the Volvo wallbox', (node) => ({
      ...node,
      ...(node.type === 'connected-vehicle' && {
        wallbox: electricCar.wallbox,
        interfaces: interfaceNames,
        tariff: 0.5,
        currency: 'EUR',
      }),
      ...(Number(node['poll']) > 0 && { poll: 1 }),
    }));
  });
  after(async () => {
    sidebar?.close();
    await nodeRed?.stop();
    await service?.close();
  });

  const press = async (name: string): Promise<unknown> => {
    sidebar.clear();
    await pressButton(nodeRed, buttonOf(nodes, name));
    return sidebar.next('Answer');
  };
  const open = (): number =>
    service
      .car()
      .wallbox.sessions(0, Date.now())
      .filter((session) => 'end' in session && session.end === null).length;

  it('pauses, starts, limits and plans a night, and reports the energy of the session and the cost of the charge', async () => {
    assert.match(String(await press('Pause at 6:00')), /^Pause the wallbox: .*Nothing shows whether the wallbox acted/);
    assert.equal(open(), 0);
    assert.match(String(await press('Start at 22:00')), /An open charging session shows that it charges\.$/);
    assert.equal(open(), 1);
    assert.match(String(await press('Limit to 10 A')), /^Limit the wallbox: /);
    assert.deepEqual([service.car().state.battery.currentLimit, service.car().state.battery.power], [10, 6_900]);
    await untilAsked(service, 1, electricCar.vin); // The capacity is read a second after the deploy.
    // No more than a car can charge in the seconds of this test: the logbook takes a higher level
    // for a wrong one.
    service.car().set({ battery: { level: 55 } });
    // The event is of a session that was open at a read of the event node.
    await untilAsked(service, asked(service, '/chargingsessions') + 1, '/chargingsessions');
    sidebar.clear();
    service.car().wallbox.switch(false);
    const told = String(await sidebar.next('Notify'));
    assert.match(told, /^The wallbox has ended a session: 1\.\d+ kWh$/);
    const energy = String(await sidebar.next('Energy and cost'));
    const [, kWh, cost] = /^"?([\d.]+) kWh, ([\d.]+) EUR/.exec(energy) ?? [];
    assert.ok(Number(kWh) >= 1 && Number(kWh) < 2, energy);
    assert.ok(Math.abs(Number(cost) - Number(kWh) / 2) <= 0.01, energy);
    assert.equal(asked(service, electricCar.vin), 1, 'the capacity is read once');
    assert.match(String(await press('Plan the night')), /^Schedule the wallbox: /);
  });

  it('says why the wallbox does not take a command', async () => {
    service.faults.add({ match: { method: 'POST' }, times: 1, error: 'wallbox-cooldown' });
    assert.match(String(await press('Pause at 6:00')), /pauses after a command\. Try again in a few minutes\.$/);
  });
});
