import { strict as assert } from 'node:assert';
import type { Page, Route } from 'playwright-core';
import { formIsOpen, openEditor, pendingNote, picture, useEditors } from '../support/editor-browser';
import { everyNth } from '../support/long';

const stored = {
  car: {
    type: 'connected-vehicle',
    name: 'My car',
    service: 'custom',
    baseUrl: 'https://api.example.com',
    moreScopes: 'a b',
  },
  // Older than most properties.
  old: { type: 'connected-vehicle', service: 'volvo-cars', apiKeyHeader: '' },
  status: {
    type: 'connected-vehicle-status',
    read: 'several',
    reads: ['fuelAmount', 'odometer'],
    poll: '90',
    vin: 'car',
    vinType: 'msg',
  },
  command: { type: 'connected-vehicle-command', command: 'car.command', commandType: 'flow', unlockDuration: '' },
  result: { type: 'connected-vehicle-command-status', timeout: 30, verify: false },
  guard: {
    type: 'connected-vehicle-guard',
    watch: ['rearLeftWindow'],
    minutesFor: { lock: 3 },
    quietHours: '22:00-7:00',
  },
  event: {
    type: 'connected-vehicle-event',
    events: ['arrived'],
    places: [{ name: 'Home', latitude: 57, longitude: 11 }],
  },
  condition: {
    type: 'connected-vehicle-condition',
    conditions: [{ value: 'batteryChargeLevel', operator: '<', operand: 10, operandType: 'num' }],
  },
};
/** All forms load their code in the same way: the short form of the test opens three of them, one of a configuration. */
const opened = everyNth(3, Object.keys(stored) as (keyof typeof stored)[]);
const flow = [
  { id: 'tab', type: 'tab', label: 'Car' },
  ...Object.entries(stored).map(([id, node], at) =>
    node.type === 'connected-vehicle'
      ? { id, ...node, credentials: { apiKey: 'key', accessToken: 'token' } }
      : { id, z: 'tab', x: 200, y: 60 * at, name: '', vehicle: 'car', wires: [[], []], ...node },
  ),
];
const dialogs = '**/*-dialog.mjs';

describe(`The code of a form, which is loaded when the form opens${pendingNote}`, function () {
  this.timeout(240_000);
  const started = useEditors(flow);
  let page: Page;
  const complaints: string[] = [];

  before(async () => {
    page = await openEditor(started.browser, started.nodeRed.url, {
      complaints,
      isKnown: (text) => text.startsWith('Failed to load resource'),
    });
  });

  const isConfig = (id: keyof typeof stored): boolean => stored[id].type === 'connected-vehicle';
  const open = (id: keyof typeof stored): Promise<unknown> =>
    page.evaluate(
      isConfig(id)
        ? `RED.editor.editConfig('', 'connected-vehicle', '${id}')`
        : `RED.editor.edit(RED.nodes.node('${id}'))`,
    );
  async function close(id: keyof typeof stored, button: 'ok' | 'cancel'): Promise<void> {
    await page.locator(`#node-${isConfig(id) ? 'config-' : ''}dialog-${button}`).dispatchEvent('click');
    await page.waitForSelector('.red-ui-tray', { state: 'detached' });
  }
  /** What a deploy would send. */
  const flows = (): Promise<unknown> =>
    page.evaluate('JSON.stringify([RED.nodes.createCompleteNodeSet(), RED.nodes.dirty(), RED.history.depth()])');
  const note = () => page.locator('.car-form > [role=status]').first();

  for (const id of opened) {
    it(`leaves ${id} as it is while it is loaded, and when it cannot be loaded`, async () => {
      const before = await flows();

      const asked: Route[] = [];
      await page.route(dialogs, (route) => void asked.push(route));
      const isAsked = page.waitForRequest(dialogs);
      await open(id);
      await isAsked;
      await page.waitForSelector('.red-ui-tray[data-shown]');
      assert.equal(await note().innerText(), 'loading…');
      assert.equal(await page.locator('.car-form :is(input, select, button):visible').count(), 0);
      await close(id, 'ok');
      assert.equal(await flows(), before, 'while it is loaded');
      await Promise.all(asked.map((route) => route.abort()));
      await page.unroute(dialogs);

      await page.route(dialogs, (route) => route.abort());
      await open(id);
      await formIsOpen(page);
      assert.match(await note().innerText(), /^Node-RED does not answer/);
      assert.equal(await page.locator('.car-form :is(input, select, button):visible').count(), 0);
      await picture(page, `not-loaded-${id}`);
      await close(id, 'ok');
      assert.equal(await flows(), before, 'after it could not be loaded');
      await page.unroute(dialogs);
    });
  }

  for (const id of opened)
    it(`shows ${id} in the width that the dialog has`, async () => {
      await open(id);
      await formIsOpen(page);
      assert.equal(await page.locator('.car-form > [role=status]').filter({ hasText: 'loading' }).count(), 0);
      await picture(page, `loaded-${id}`);
      const { width, content } = await page
        .locator('.red-ui-tray-content')
        .first()
        .evaluate((form) => ({ width: form.clientWidth, content: form.scrollWidth }));
      assert.ok(content <= width, `${content} in ${width} pixels`);
      await close(id, 'cancel');
    });

  it('complains of nothing', () => {
    assert.deepEqual(complaints, []);
  });
});
