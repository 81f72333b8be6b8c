import { strict as assert } from 'node:assert';
import type { Page } from 'playwright-core';
import { formIsOpen, importExample, openEditor, pendingNote, picture, useEditors } from '../support/editor-browser';
import { describeLong } from '../support/long';
import { OwnClock, whyNoOwnClock } from '../support/own-clock';

const tariff = { perKWh: 0.35, hours: [{ hours: '22:00-06:00', perKWh: 0.15 }] };
const note = pendingNote || (whyNoOwnClock ? ` (pending: ${whyNoOwnClock})` : '');

describeLong(`A night at the wallbox in the demo, by mouse${note}`, function () {
  const clock = whyNoOwnClock === null ? new OwnClock() : undefined;
  const started = useEditors([], clock && { clock });
  let page: Page;
  const complaints: string[] = [];
  before(function () {
    if (clock === undefined) this.skip();
  });
  after(async () => {
    await clock?.end();
  });

  let ahead = 0;
  /**
   * Sets the clock of Node-RED, of the demo car and of the browser ahead by so many minutes more.
   * It never goes back, however slow the machine is.
   */
  const pass = async (minutes: number): Promise<void> => {
    ahead += minutes * 60;
    clock?.setAhead(ahead);
    await page.evaluate((ms) => {
      Date.now = () => new Date().getTime() + ms;
    }, ahead * 1000);
  };

  const idOf = (name: string): Promise<string> =>
    page.evaluate((wanted) => {
      const { RED } = globalThis as unknown as {
        RED: { nodes: { filterNodes(filter: object): { id: string; name: string }[] } };
      };
      return RED.nodes.filterNodes({}).find((node) => node.name === wanted)?.id ?? '';
    }, name);
  const press = async (name: string): Promise<void> => {
    await page.locator(`[id="${await idOf(name)}"] .red-ui-flow-node-button-button`).click();
  };
  /** Waits until the tab shows whether the car charges, which the flow reads after each command. */
  const shows = async (charging: 'charging' | 'not charging'): Promise<void> => {
    await page
      .locator('.cars-list td')
      .getByText(new RegExp(`^${charging}`))
      .waitFor();
    await page.locator('.cars-tab').evaluate((tab) => (tab.scrollTop = 0));
  };
  /** The result of a command, on the canvas. */
  const isDone = async (command: string): Promise<void> => {
    const result = page.locator(`[id="${await idOf('Does it charge?')}"] .red-ui-flow-node-status-label`);
    await result.filter({ hasText: `${command} the wallbox: done` }).waitFor();
  };
  /**
   * Presses a button whose name begins with the command, and waits until the command has worked
   * and the tab shows it.
   */
  const act = async (button: string, charging: 'charging' | 'not charging', name: string): Promise<void> => {
    await press(button);
    await isDone(button.split(' ')[0] ?? '');
    await shows(charging);
    await picture(page, name);
  };

  it('starts in the cheap hours, is limited and paused, and stands in the logbook with kWh and cost', async () => {
    page = await openEditor(started.browser, started.nodeRed.url, { height: 1100, complaints });
    await importExample(page, 'Charging', /Cheap hours with the Volvo wallbox/);
    await page.locator('#red-ui-workspace-tabs').getByText('Cheap hours').click();
    await pass(Math.ceil((new Date(2027, 0, 12, 22).getTime() - Date.now()) / 60_000));
    await page.locator(`[id="${await idOf('Wallbox')}"] rect.red-ui-flow-node`).dblclick();
    await formIsOpen(page);
    await page.locator('#node-input-btn-vehicle-edit').click();
    await page.locator('#node-config-input-tariff').waitFor({ state: 'attached' });
    await formIsOpen(page);
    await page.locator('summary', { hasText: 'Price of energy' }).click();
    const price = page.locator('.form-row', { has: page.locator('#node-config-input-tariff') });
    await price.locator('.red-ui-typedInput-type-select').click();
    await page.locator('.red-ui-typedInput-options:visible').getByText('JSON', { exact: true }).click();
    await price.locator('.red-ui-typedInput-input').fill(JSON.stringify(tariff));
    await page.locator('#node-config-input-currency').fill('EUR');
    await price.scrollIntoViewIfNeeded();
    await picture(page, 'night-1-tariff');
    await page.locator('#node-config-dialog-ok').click();
    await page.locator('#node-dialog-ok').click();
    await page.waitForSelector('.red-ui-tray', { state: 'detached' });
    const deployed = started.nodeRed.deployed();
    await page.locator('#red-ui-header-button-deploy:not(.disabled)').click();
    await deployed;
    await page.evaluate("RED.sidebar.show('connected-vehicle-cars')");
    await act('Pause at 6:00', 'not charging', 'night-2-paused');
    await pass(10);
    await act('Start at 22:00', 'charging', 'night-3-started');
    await pass(50);
    await act('Limit to 10 A', 'charging', 'night-4-limited');
    await pass(120);
    await act('Pause at 6:00', 'not charging', 'night-5-over');
    const line = page.locator('.cars-log [role=group][aria-label=Charges] details:not(.cars-month)').first();
    await line.locator('summary').click();
    await line.scrollIntoViewIfNeeded();
    await picture(page, 'night-6-logbook');
    const text = (await line.innerText()).replaceAll(/\s+/g, ' ');
    const [, to, kWh, cost] = (/53 → (\d+) % ([\d.]+) kWh €([\d.]+) /.exec(text) ?? []).map(Number);
    // 50 minutes with 16 A and two hours with 10 A; on a slow machine it is more, up to
    // the target of the car.
    assert.ok(to !== undefined && to >= 82 && to <= 90, text);
    const energy = ((to - 53) / 100) * 82;
    assert.deepEqual([kWh, cost], [energy.toFixed(1), (energy * 0.15).toFixed(2)].map(Number), text);
    const told = page.locator(`[id="${await idOf('Energy and cost')}"] .red-ui-flow-node-status-label`);
    // The tab rounds to one decimal.
    const [, exact, amount] = /^([\d.]+) kWh, ([\d.]+) EUR$/.exec((await told.textContent()) ?? '') ?? [];
    assert.deepEqual([Number(exact).toFixed(1), Number(amount)], [Number(kWh).toFixed(1), cost]);
    assert.deepEqual(complaints, []);
  });
});
