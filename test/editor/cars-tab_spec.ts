import { strict as assert } from 'node:assert';
import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import { demoCar } from '../../src/simulator/index';
import { axeFindings } from '../support/axe';
import { startNodeRed, type RealNodeRed } from '../support/real-node-red';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const missing = existsSync(executablePath)
  ? ''
  : `there is no browser at ${executablePath}; the variable CHROMIUM can name another`;

const hostile = '<img src=x onerror="alert(1)">\u202e$t(name.hood)__at__';

const flows = [
  { id: 'tab', type: 'tab', label: 'Car' },
  { id: 'car', type: 'connected-vehicle', service: 'demo', name: hostile },
  {
    id: 'status',
    z: 'tab',
    type: 'connected-vehicle-status',
    vehicle: 'car',
    read: 'several',
    reads: ['windows', 'doors'],
    x: 300,
    y: 100,
    wires: [[]],
  },
  { id: 'read', z: 'tab', type: 'inject', props: [], x: 100, y: 100, wires: [['status']] },
  {
    id: 'command',
    z: 'tab',
    type: 'connected-vehicle-command',
    name: hostile,
    vehicle: 'car',
    command: 'honk-flash',
    x: 300,
    y: 200,
    wires: [[]],
  },
  { id: 'send', z: 'tab', type: 'inject', props: [], x: 100, y: 200, wires: [['command']] },
];

describe(`The tab "Cars" in a browser${missing && ` (pending: ${missing})`}`, function () {
  this.timeout(60_000);
  this.bail(true);
  let nodeRed: RealNodeRed;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  /** What came over the editor's connection, and what the tab got from the runtime. */
  const published: string[] = [];
  const answered: string[] = [];

  before(async function () {
    if (missing !== '') {
      assert.notEqual(process.env['CI'], 'true', `The browser tests must run here, but ${missing}`);
      this.skip();
    }
    nodeRed = await startNodeRed(flows);
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    page = await openEditor('en-US');
  });

  after(async () => {
    await browser?.close();
    await nodeRed?.stop();
  });

  async function openEditor(locale: string): Promise<Page> {
    const opened = await browser.newPage({ locale, viewport: { width: 1400, height: 1100 } });
    opened.on('pageerror', (error) => complaints.push(error.message));
    opened.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    opened.on('dialog', (dialog) => {
      complaints.push(dialog.message());
      void dialog.dismiss();
    });
    opened.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => void published.push(String(payload))),
    );
    opened.on('response', (response) => {
      if (/connected-vehicle\/[^/]+\/\w+$/.test(response.url()))
        void response.text().then(
          (text) => answered.push(text),
          () => undefined,
        );
    });
    await load(opened);
    return opened;
  }

  async function load(opened: Page): Promise<void> {
    await opened.goto(nodeRed.url);
    await opened.waitForSelector('.red-ui-palette-node[data-palette-type="connected-vehicle-status"]');
    await opened.waitForSelector('#red-ui-loading-progress', { state: 'hidden' });
  }

  const show = (opened: Page): Promise<void> =>
    opened.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: { sidebar: { show(id: string): void } } };
      RED.sidebar.show('connected-vehicle-cars');
    });
  /** What the list says, `Rear right: open`. */
  const row = (name: string) => page.locator(`.cars-list tr[data-fact=${name}] td:nth-child(2)`);
  const part = (name: string) => page.locator(`.cars-drawing [data-part=${name}][role=button]`);
  const press = async (id: string): Promise<void> => {
    assert.ok((await fetch(`${nodeRed.url}inject/${id}`, { method: 'POST' })).ok);
  };

  /** Waits until an element says this. */
  const says = (element: ReturnType<typeof row>, text: string): Promise<unknown> =>
    element.filter({ hasText: new RegExp(`^${text}$`) }).waitFor();
  const isIn = (name: string, state: string): Promise<unknown> =>
    page.locator(`.cars-drawing [data-part=${name}][data-state=${state}]`).first().waitFor();

  it('shows the car of the flows, unread and not as closed', async () => {
    await show(page);
    await says(row('rearRightWindow'), 'not read yet');
    await says(row('carLocked'), 'not read yet');
    assert.equal(
      await page
        .locator('.cars-head')
        .innerText()
        .then((text) => text.includes(hostile)),
      true,
    );
    assert.equal(await page.locator('.cars-tab img').count(), 0);
  });

  it('shows a window that is open as soon as a flow has read it, with its age', async () => {
    await press('read');
    await says(row('rearRightWindow'), 'open');
    await says(row('frontLeftWindow'), 'closed');
    await says(row('carLocked'), 'locked');
    const age = page.locator('.cars-list tr[data-fact=rearRightWindow] time');
    assert.match((await age.getAttribute('title')) ?? '', /Reported by the car: .*\nRead: /);
    assert.notEqual(await age.innerText(), '');
  });

  it('lets a person close the window with the mouse; the flow sees it with its next read', async () => {
    await isIn('rearRightWindow', 'open');
    await part('rearRightWindow').click();
    await isIn('rearRightWindow', 'closed');
    assert.equal(await row('rearRightWindow').innerText(), 'open');
    await press('read');
    await says(row('rearRightWindow'), 'closed');
    await page.locator('.cars-live', { hasText: 'Rear right: closed' }).waitFor();
  });

  it('lets a person open it again by keyboard, and keeps the focus', async () => {
    await part('rearRightWindow').focus();
    await page.keyboard.press('Enter');
    await isIn('rearRightWindow', 'open');
    assert.match((await part('rearRightWindow').getAttribute('aria-label')) ?? '', /^Rear right window: open$/);
    await press('read');
    await says(row('rearRightWindow'), 'open');
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-part')), 'rearRightWindow');
    await page.keyboard.press(' ');
    await isIn('rearRightWindow', 'closed');
  });

  it('puts the demo car to sleep and wakes it, by keyboard', async () => {
    await page.locator('.cars-more summary').focus();
    await page.keyboard.press('Enter');
    const asleep = page.locator('.cars-switch', { hasText: 'Asleep' });
    await asleep.focus();
    await page.keyboard.press(' ');
    await page.locator('.cars-switch[aria-pressed=true]', { hasText: 'Asleep' }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Asleep');
    await page.keyboard.press(' ');
    await page.locator('.cars-switch[aria-pressed=false]', { hasText: 'Asleep' }).waitFor();
  });

  it('shows a command in the list, and the demo car flash and honk for it', async () => {
    await press('send');
    await page.locator('svg.car-view[data-flash=true][data-honk=true]').waitFor();
    await page.locator('.cars-commands li', { hasText: 'Honk and flash' }).waitFor();
  });

  it('reads now, checks, and copies the diagnostics', async () => {
    await page.locator('.cars-buttons button', { hasText: 'Read now' }).click();
    await says(page.locator('.cars-messages'), 'Read.');
    await says(row('rearRightWindow'), 'closed');
    await says(row('fuelAmount'), '38 l');
    await page.locator('.cars-buttons button', { hasText: 'Check' }).click();
    await page.locator('.cars-messages', { hasText: '✓' }).waitFor();
    await page.locator('.cars-buttons button', { hasText: 'Copy diagnostics' }).click();
    await says(page.locator('.cars-messages'), 'Copied to the clipboard.');
  });

  it('shows the last known values after the editor was reloaded, without a read', async () => {
    await load(page);
    await show(page);
    await says(row('rearRightWindow'), 'closed');
    await says(row('fuelAmount'), '38 l');
  });

  it('asks for nothing while it is not shown', async () => {
    await page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: { sidebar: { show(id: string): void } } };
      RED.sidebar.show('info');
    });
    const before = answered.length;
    const seen = published.length;
    await press('read');
    while (!published.slice(seen).some((frame) => frame.includes('connected-vehicle/changed')))
      await page.waitForEvent('websocket', { timeout: 50 }).catch(() => undefined);
    assert.equal(answered.length, before);
    await show(page);
    await page.waitForResponse(/\/cars$/);
  });

  it('can be used by everybody, as far as axe can tell', async () => {
    assert.deepEqual(await axeFindings(page, '.cars-tab'), []);
  });

  it('is German where the editor is', async () => {
    const german = await openEditor('de');
    await show(german);
    await german.locator('.cars-list caption', { hasText: 'Fenster' }).waitFor();
    assert.equal(
      await german
        .locator('.cars-list tr[data-fact=rearRightWindow]')
        .innerText()
        .then((text) => text.split('\t')[1]),
      'zu',
    );
    await german.close();
  });

  it('sent no whole VIN to the browser and no data over the connection that all editors hear, and met no error', () => {
    assert.ok(answered.length > 5);
    for (const text of [...answered, ...published]) assert.ok(!text.includes(demoCar.vin));
    const signals = published
      .flatMap((frame) => JSON.parse(frame) as { topic?: string; data?: unknown }[])
      .filter(({ topic }) => topic?.startsWith('connected-vehicle/'));
    assert.ok(signals.length > 0);
    for (const { topic, data } of signals)
      assert.deepEqual({ topic, data }, { topic: 'connected-vehicle/changed', data: {} });
    assert.deepEqual(complaints, []);
  });
});
