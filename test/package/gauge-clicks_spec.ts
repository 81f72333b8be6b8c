import { strict as assert } from 'node:assert';
import type { Locator, Page } from 'playwright-core';
import { importExample, openEditor, pendingNote, picture, useEditors } from '../support/editor-browser';
import { describeLong } from '../support/long';
import { linkDashboard } from '../support/real-node-red';

/**
 * The job "show battery and range on a dashboard gauge" of a new user, who has the pack and
 * Dashboard 2 and no flow.
 */
describeLong(`Battery and range on a gauge, by mouse${pendingNote}`, function () {
  const started = useEditors([], { install: linkDashboard });
  let page: Page;
  let clicks = 0;
  const complaints: string[] = [];

  afterEach(() => page?.close());

  const click = async (target: Locator, position?: { x: number; y: number }): Promise<void> => {
    await target.click(position && { position });
    clicks += 1;
  };

  it('takes 8 clicks from the menu to the deployed example (by hand it took about 29)', async () => {
    page = await openEditor(started.browser, started.nodeRed.url, { height: 900, complaints });
    await importExample(page, 'Basics', /Battery and range on a gauge/, click);
    const deployed = started.nodeRed.deployed();
    const button = page.locator('#red-ui-header-button-deploy:not(.disabled)');
    await button.waitFor();
    await click(button);
    await deployed;
    assert.equal(clicks, 8);
    await picture(page, 'gauge-flow');
    const dashboard = await started.browser.newPage({ viewport: { width: 390, height: 700 } });
    await dashboard.goto(`${started.nodeRed.url}dashboard/battery`);
    for (const value of [/53/, /241/])
      await dashboard.locator('.nrdb-ui-gauge', { hasText: value }).first().waitFor({ timeout: 60_000 });
    await picture(dashboard, 'gauge-page');
    await dashboard.close();
    assert.deepEqual(complaints, []);
  });
});
