import { strict as assert } from 'node:assert';
import type { Page } from 'playwright-core';
import { axeFindings } from '../support/axe';
import { pendingNote, picture, skipAfterFailure, useEditors } from '../support/editor-browser';
import { keepIn, keepLog } from '../support/kept-log';
import { linkDashboard } from '../support/real-node-red';
import { nodesOf } from './example-flow';

describe(`The example of a logbook page with Dashboard 2, in a browser of 390 pixels${pendingNote}`, function () {
  skipAfterFailure(this);
  const started = useEditors(nodesOf('A logbook page with Dashboard 2'), {
    install: async (userDir) => {
      await linkDashboard(userDir);
      await keepIn(userDir, keepLog);
    },
    settings: {},
  });
  let page: Page;
  const complaints: string[] = [];

  before(async () => {
    page = await started.browser.newPage({ viewport: { width: 390, height: 1400 }, hasTouch: true });
    page.setDefaultTimeout(600_000);
    page.on('pageerror', ({ message }) => complaints.push(message));
    await page.goto(`${started.nodeRed.url}dashboard/logbook`);
  });

  const rowsOf = (index: number) => page.locator('table').nth(index).locator('tbody tr');

  it('shows the last ten trips and charges', async () => {
    await rowsOf(0).nth(9).waitFor();
    await rowsOf(1).nth(9).waitFor();
    assert.deepEqual([await rowsOf(0).count(), await rowsOf(1).count()], [10, 10]);
    const textOf = async (index: number): Promise<string> =>
      (await rowsOf(index).first().innerText()).replaceAll(/\s+/g, ' ').trim();
    assert.match(await textOf(0), /^\d+ \w{3}, \d\d:\d\d 42 km 16 kWh, 4\.80 EUR$/);
    assert.match(await textOf(1), /^\d+ \w{3}, \d\d:\d\d 60–80 % 16 kWh, 4\.80 EUR$/);
  });

  it('draws the kWh of each day', async () => {
    const canvas = page.locator('.nrdb-ui-chart canvas').first();
    await canvas.waitFor();
    const colors = (): Promise<number> =>
      canvas.evaluate((one: HTMLCanvasElement) => {
        const { data } = one.getContext('2d')!.getImageData(0, 0, one.width, one.height);
        const found = new Set<string>();
        for (let at = 0; at < data.length; at += 4)
          found.add(`${data[at]} ${data[at + 1]} ${data[at + 2]} ${data[at + 3]}`);
        // The bars of trips and of charges.
        return ['11 83 148 255', '180 95 6 255'].filter((color) => found.has(color)).length;
      });
    while ((await colors()) < 2) await page.evaluate(() => new Promise(requestAnimationFrame));
    await picture(page, 'logbook-page-390');
  });

  it('fits into the width, and has no fault that axe finds in its tables', async () => {
    const wide = await page.evaluate(() => {
      const tables = [...document.querySelectorAll('table')];
      const isCut = (one: Element): boolean => one.scrollWidth > one.clientWidth + 1;
      return [document.documentElement, ...tables.map((table) => table.parentElement!)].filter(isCut).length;
    });
    assert.equal(wide, 0, 'no column is cut');
    assert.deepEqual(await axeFindings(page, 'tbody', 'all'), []);
    assert.deepEqual(complaints, []);
  });
});
