import { strict as assert } from 'node:assert';
import type { Page } from 'playwright-core';
import { pendingNote, picture, skipAfterFailure, useEditors } from '../support/editor-browser';
import { describeLong } from '../support/long';
import { fewNodesAnd, linkDashboard } from '../support/real-node-red';

/** Nodes of Node-RED and of Dashboard 2 behind *car status*, with nothing between. */
const flows = [
  { id: 'tab', type: 'tab', label: 'values' },
  { id: 'v', type: 'connected-vehicle', service: 'demo' },
  { id: 'base', type: 'ui-base', name: 'Dashboard', path: '/dashboard', navigationStyle: 'default' },
  { id: 'theme', type: 'ui-theme', name: 'Theme', colors: {}, sizes: {} },
  { id: 'page', type: 'ui-page', name: 'Car', ui: 'base', path: '/car', layout: 'grid', theme: 'theme', order: 1 },
  { id: 'group', type: 'ui-group', name: 'Car', page: 'page', width: 6, height: 1, order: 1 },
  { id: 'ask', z: 'tab', type: 'inject', props: [], wires: [['status']] },
  {
    id: 'status',
    z: 'tab',
    type: 'connected-vehicle-status',
    vehicle: 'v',
    read: 'odometer',
    payload: 'value',
    wires: [['n-gauge', 'n-chart', 'n-switch', 'n-rbe']],
  },
  {
    id: 'n-gauge',
    z: 'tab',
    type: 'ui-gauge',
    group: 'group',
    name: 'Odometer',
    gtype: 'gauge-half',
    width: 3,
    height: 3,
    order: 1,
    min: 0,
    max: 50_000,
    units: 'km',
    title: 'Odometer',
    segments: [{ from: 0, color: '#5cd65c' }],
  },
  {
    id: 'n-chart',
    z: 'tab',
    type: 'ui-chart',
    group: 'group',
    name: 'Line',
    label: 'Line',
    order: 2,
    width: 6,
    height: 4,
    chartType: 'line',
    category: 'topic',
    categoryType: 'msg',
    xAxisProperty: '',
    xAxisPropertyType: 'timestamp',
    xAxisType: 'time',
    yAxisProperty: 'payload',
    yAxisPropertyType: 'msg',
    action: 'append',
    wires: [[]],
    removeOlder: 1,
    removeOlderUnit: '3600',
    colors: ['#0095ff'],
    pointShape: 'circle',
    pointRadius: 4,
  },
  {
    id: 'n-switch',
    z: 'tab',
    type: 'switch',
    property: 'payload',
    propertyType: 'msg',
    checkall: 'false',
    rules: [{ t: 'gte', v: '1000', vt: 'num' }, { t: 'else' }],
    wires: [['n-text'], []],
  },
  {
    id: 'n-text',
    z: 'tab',
    type: 'ui-text',
    group: 'group',
    name: 'Above',
    label: 'Above 1000 km',
    order: 3,
    format: '{{msg.payload}}',
  },
  { id: 'n-rbe', z: 'tab', type: 'rbe', func: 'rbe', property: 'payload', wires: [['n-changed']] },
  {
    id: 'n-changed',
    z: 'tab',
    type: 'ui-text',
    group: 'group',
    name: 'Changed',
    label: 'Changed',
    order: 4,
    format: '{{msg.payload}}',
  },
];

describeLong(`A value alone${pendingNote}`, function () {
  skipAfterFailure(this);
  const started = useEditors(flows, { install: linkDashboard, settings: fewNodesAnd('rbe.js') });
  let page: Page;

  before(async () => {
    page = await started.browser.newPage({ viewport: { width: 800, height: 900 } });
    page.setDefaultTimeout(600_000);
    await page.goto(`${started.nodeRed.url}dashboard/car`);
  });

  it('moves a gauge, a chart, a switch node and a filter node without a node between', async () => {
    const canvas = page.locator('.nrdb-ui-chart canvas').first();
    await canvas.waitFor();
    const empty = await canvas.evaluate((one: HTMLCanvasElement) => one.toDataURL());
    await fetch(`${started.nodeRed.url}inject/ask`, { method: 'POST' });
    const above = page.locator('#nrdb-ui-widget-n-text').locator('.nrdb-ui-text-value');
    await above.filter({ hasText: /^\d+$/ }).waitFor();
    const value = await above.textContent();
    assert.match(value ?? '', /^(\d{4,6})$/);
    await page
      .locator('.nrdb-ui-gauge', { hasText: `${value}` })
      .first()
      .waitFor();
    await page
      .locator('#nrdb-ui-widget-n-changed')
      .filter({ hasText: `${value}` })
      .waitFor();
    const isDrawn = async (): Promise<boolean> =>
      (await canvas.evaluate((one: HTMLCanvasElement) => one.toDataURL())) !== empty;
    while (!(await isDrawn())) await page.evaluate(() => new Promise(requestAnimationFrame));
    await picture(page, 'plain-value');
  });
});
