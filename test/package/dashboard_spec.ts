import { strict as assert } from 'node:assert';
import type { Page } from 'playwright-core';
import { axeFindings } from '../support/axe';
import { pendingNote, picture, skipAfterFailure, useEditors } from '../support/editor-browser';
import { linkDashboard } from '../support/real-node-red';
import { nodesOf } from './example-flow';

/** The hour before has a value, so that the line has two points. */
const earlier = [
  {
    id: 'earlier',
    type: 'inject',
    z: '07a51ecd26d2f2a2',
    props: [],
    once: true,
    onceDelay: 0.1,
    x: 100,
    y: 600,
    wires: [['earlierLine']],
  },
  {
    id: 'earlierLine',
    type: 'change',
    z: '07a51ecd26d2f2a2',
    rules: [
      {
        t: 'set',
        p: 'line',
        pt: 'flow',
        to: '[{"hour": $floor($millis() / 3600000) - 20, "value": 80}, {"hour": $floor($millis() / 3600000) - 1, "value": 30}]',
        tot: 'jsonata',
      },
    ],
    x: 300,
    y: 600,
    wires: [['a1c00fbb2cd0fb9b']],
  },
];

describe(`The example of a page with Dashboard 2, in a browser of 390 pixels${pendingNote}`, function () {
  skipAfterFailure(this);
  const started = useEditors([...nodesOf('A page with Dashboard 2'), ...earlier], {
    install: linkDashboard,
    settings: {},
  });
  let page: Page;
  const complaints: string[] = [];

  before(async () => {
    page = await started.browser.newPage({ viewport: { width: 390, height: 844 }, hasTouch: true });
    page.setDefaultTimeout(600_000);
    page.on('pageerror', ({ message }) => complaints.push(message));
    await page.goto(`${started.nodeRed.url}dashboard/car`);
  });

  it('shows the car as the tab draws it, what is open, and the battery with its line', async () => {
    const lock = page.locator('.car h2', { hasText: /^Locked$/ });
    // A read that was over before the page listened, or failed while the demo car
    // started, is repeated.
    for (let tries = 1; tries < 5 && !(await lock.isVisible()); tries += 1) {
      await lock
        .waitFor({ timeout: 5_000 })
        .catch(() => fetch(`${started.nodeRed.url}inject/earlier`, { method: 'POST' }));
    }
    await lock.waitFor();
    await page.locator('.car p', { hasText: /^All closed$/ }).waitFor();
    await page.locator('.car p', { hasText: /^Battery \d+ %, charging$/ }).waitFor();
    for (const [part, state] of [
      ['lock', 'locked'],
      ['rearRightWindow', 'closed'],
      ['tailGate', 'closed'],
      ['plug', 'plugged'],
    ])
      await page.locator(`.car-view [data-part=${part}][data-state=${state}]`).first().waitFor();
    assert.equal(await page.locator('.car-view [data-part][data-state=unknown]').count(), 0);
    const points = (await page.locator('.car polyline').getAttribute('points')) ?? '';
    assert.equal(points.split(' ').length, 3);
    assert.match(points, /^148,8 167,23 168,/);
    await picture(page, 'dashboard-390');
  });

  it('fits into the width, has targets of 24 pixels, and no fault that axe finds', async () => {
    const wide = await page.evaluate(
      () =>
        [...document.querySelectorAll('.car, .car *')]
          .map((one) => one.getBoundingClientRect())
          .filter(({ width, left, right }) => width > 0 && (left < -1 || right > window.innerWidth + 1)).length,
    );
    assert.equal(wide, 0);
    for (const button of await page.locator('.car button').all())
      assert.ok(((await button.boundingBox())?.height ?? 0) >= 24);
    assert.deepEqual(await axeFindings(page, '.car', 'all'), []);
  });

  it('shows a window that is open with the next read', async () => {
    const cars = (await (
      await fetch(`${started.nodeRed.url}connected-vehicle/all/cars`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
    ).json()) as { cars: { key: string }[] };
    const click = { part: 'rearRightWindow', to: 'open' };
    const answer = await fetch(`${started.nodeRed.url}connected-vehicle/${cars.cars[0]?.key}/click`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(click),
    });
    assert.deepEqual(await answer.json(), {});
    await fetch(`${started.nodeRed.url}inject/earlier`, { method: 'POST' });
    await page.locator('.car p.attention', { hasText: 'Open: rear-right window' }).waitFor();
    await page.locator('.car-view [data-for=rearRightWindow][visibility=visible]').waitFor();
  });

  it('locks by a tap, and shows the outcome', async () => {
    await page.getByRole('button', { name: 'Lock' }).tap();
    await page.locator('.car [role=status]', { hasText: /^Lock: succeeded$/ }).waitFor();
    await picture(page, 'dashboard-390-locked');
    assert.deepEqual(complaints, []);
  });
});
