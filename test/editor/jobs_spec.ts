import { strict as assert } from 'node:assert';
import type { Locator, Page } from 'playwright-core';
import { formIsOpen, partOf, pendingNote, picture, showFlows, useEditor } from '../support/editor-browser';
import { describeLong } from '../support/long';

/** Two cars, of which the tab uses the second one. */
const flow = [
  { id: 'tab', type: 'tab', label: 'Car' },
  { id: 'first', type: 'connected-vehicle', name: 'Another car', service: 'demo' },
  { id: 'demo-car', type: 'connected-vehicle', name: 'Demo car', service: 'demo' },
  { id: 'used', type: 'connected-vehicle-status', z: 'tab', x: 150, y: 400, vehicle: 'demo-car', wires: [] },
];

describeLong(`The jobs of a new user, by mouse from the palette${pendingNote}`, function () {
  const started = useEditor([], { height: 900 });
  let page: Page;
  /** Clicks and drags. */
  let clicks: number;

  beforeEach(async () => {
    clicks = 0;
    ({ page } = started);
    await showFlows(page, started.nodeRed, flow);
  });

  const click = async (target: Locator): Promise<void> => {
    await target.click();
    clicks += 1;
  };
  const nodeIds = (): Promise<string[]> =>
    page.locator('g.red-ui-flow-node-group').evaluateAll((groups) => groups.map(({ id }) => id));

  async function drag(type: string, x: number, y: number): Promise<string> {
    const before = await nodeIds();
    const entry = page.locator(`.red-ui-palette-node[data-palette-type="${type}"]`);
    await entry.dragTo(page.locator('#red-ui-workspace-chart'), { targetPosition: { x, y } });
    await page.locator('g.red-ui-flow-node-group').nth(before.length).waitFor();
    clicks += 1;
    return (await nodeIds()).find((id) => !before.includes(id)) ?? '';
  }

  async function wire(from: string, to: string): Promise<void> {
    const output = page.locator(`[id="${from}"] .red-ui-flow-port-output`).first();
    await output.dragTo(page.locator(`[id="${to}"] .red-ui-flow-port-input`));
    clicks += 1;
  }

  async function deploy(): Promise<void> {
    const deployed = started.nodeRed.deployed();
    await click(page.locator('#red-ui-header-button-deploy'));
    await deployed;
    await page.waitForFunction('!RED.nodes.dirty()');
  }

  const propertiesOf = (id: string): Promise<Record<string, unknown>> =>
    page.evaluate(`RED.nodes.convertNode(RED.nodes.node('${id}'))`);

  it('takes 10 clicks for an alert when a window is open for 10 minutes in the evening', async () => {
    const id = await drag('connected-vehicle-guard', 300, 100);
    await page.locator(`[id="${id}"] rect.red-ui-flow-node`).dblclick();
    clicks += 1;
    await formIsOpen(page);
    await click(partOf(page, 'none'));
    await click(partOf(page, 'kinds').getByText('Windows', { exact: true }));
    // A dropdown of the browser takes a click to open it and one to choose.
    await page.locator('#node-input-hours').selectOption({ label: 'only between' });
    clicks += 2;
    await picture(page, 'job-evening');
    await click(page.locator('#node-dialog-ok'));
    await page.waitForSelector('.red-ui-tray', { state: 'detached' });
    const notify = await drag('debug', 600, 100);
    await wire(id, notify);
    await deploy();
    const { vehicle, watch, minutes, hours, quietHours, wires } = await propertiesOf(id);
    assert.deepEqual([vehicle, watch, minutes, wires], ['demo-car', ['window'], 10, [[notify], []]]);
    assert.deepEqual([hours, quietHours], ['only', '18:00-22:00']);
    assert.equal(clicks, 10);
  });

  it('takes 12 clicks to lock one of two cars, which has to be chosen, and see whether it worked', async () => {
    const press = await drag('inject', 150, 200);
    const command = await drag('connected-vehicle-command', 300, 200);
    const result = await drag('connected-vehicle-command-status', 450, 200);
    const notify = await drag('debug', 650, 200);
    await wire(press, command);
    await wire(command, result);
    await wire(result, notify);
    assert.equal((await propertiesOf(command))['vehicle'], '');
    await page.locator(`[id="${command}"] rect.red-ui-flow-node`).dblclick();
    await formIsOpen(page);
    await page.locator('#node-input-vehicle').selectOption({ label: 'Demo car' });
    await page.locator('#node-dialog-ok').click();
    await page.waitForSelector('.red-ui-tray', { state: 'detached' });
    // A double click, two in the dropdown, and Done.
    clicks += 4;
    assert.equal((await propertiesOf(result))['vehicle'], '');
    await deploy();
    assert.equal(clicks, 12);
    assert.ok((await fetch(`${started.nodeRed.url}inject/${press}`, { method: 'POST' })).ok);
    await page.locator(`[id="${result}"]`).getByText('Demo car: Lock: done').waitFor();
    await page.locator(`[id="${result}"] rect.red-ui-flow-node`).dblclick();
    await formIsOpen(page);
    await page
      .locator('#node-input-vehicle option:checked', { hasText: 'as in the message' })
      .waitFor({ state: 'attached' });
    await picture(page, 'job-result');
  });
});
