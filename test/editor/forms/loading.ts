import { strict as assert } from 'node:assert';
import type { Page, Route } from 'playwright-core';
import { beginForm, closeForm, openForm, picture, type Opened } from '../../support/editor-browser';
import { everyNth } from '../../support/long';

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
/**
 * All forms load their code in the same way: the short form of the test opens three of them,
 * one of a configuration.
 */
const opened = everyNth(3, Object.keys(stored) as (keyof typeof stored)[]);
const idOf = (name: keyof typeof stored): string => `loaded-${name}`;
/** On a tab of their own. */
export const loadedFlow = [
  { id: 'loaded', type: 'tab', label: 'Loaded' },
  ...Object.entries(stored).map(([name, node], at) =>
    node.type === 'connected-vehicle'
      ? { id: `loaded-${name}`, ...node, credentials: { apiKey: 'key', accessToken: 'token' } }
      : {
          id: `loaded-${name}`,
          z: 'loaded',
          x: 200,
          y: 60 * at,
          name: '',
          vehicle: 'loaded-car',
          wires: [[], []],
          ...node,
        },
  ),
];
const dialogs = '**/*-dialog.mjs';

/** Declares tests, which come first: the code of a form is loaded once. */
export function testLoading(started: Opened): void {
  let page: Page;
  before(() => {
    ({ page } = started);
  });

  /** What a deploy would send. */
  const flows = (): Promise<unknown> =>
    page.evaluate('JSON.stringify([RED.nodes.createCompleteNodeSet(), RED.nodes.dirty(), RED.history.depth()])');
  const note = () => page.locator('.car-form > [role=status]').first();

  for (const name of opened) {
    it(`leave ${name} as it is while their code is loaded, and when it cannot be loaded`, async () => {
      const before = await flows();

      const asked: Route[] = [];
      await page.route(dialogs, (route) => void asked.push(route));
      const isAsked = page.waitForRequest(dialogs);
      await beginForm(page, idOf(name));
      await isAsked;
      await page.waitForSelector('.red-ui-tray[data-shown]');
      assert.equal(await note().innerText(), 'loading…');
      assert.equal(await page.locator('.car-form :is(input, select, button):visible').count(), 0);
      await closeForm(page, 'ok');
      assert.equal(await flows(), before, 'while it is loaded');
      await Promise.all(asked.map((route) => route.abort()));
      await page.unroute(dialogs);

      await page.route(dialogs, (route) => route.abort());
      await openForm(page, idOf(name));
      assert.match(await note().innerText(), /^Node-RED does not answer/);
      assert.equal(await page.locator('.car-form :is(input, select, button):visible').count(), 0);
      await picture(page, `not-loaded-${name}`);
      await closeForm(page, 'ok');
      assert.equal(await flows(), before, 'after it could not be loaded');
      await page.unroute(dialogs);
    });
  }
}
