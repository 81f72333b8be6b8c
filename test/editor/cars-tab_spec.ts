import { strict as assert } from 'node:assert';
import type { Page, Request } from 'playwright-core';
import { CarFacts } from '../../src/car/facts';
import { demoCar, electricCar } from '../../src/simulator/index';
import { axeFindings } from '../support/axe';
import {
  holdAnswer,
  loadEditor,
  openEditor,
  pendingNote,
  picture,
  showTheme,
  skipAfterFailure,
  useEditors,
} from '../support/editor-browser';
import { keepIn, keepLog } from '../support/kept-log';
import { itLong } from '../support/long';
import { linkCheckout, type Install } from '../support/real-node-red';

const hostile = '<img src=x onerror="alert(1)">\u202e$t(name.hood)__at__';

const node = (id: string, type: string, x: number, y: number, more: object): object => ({
  id,
  z: 'tab',
  type,
  x,
  y,
  vehicle: 'car',
  wires: [[], []],
  ...more,
});
/** The button that sends a message with these properties to a node. */
const button = (id: string, y: number, to: string, props: object[] = []): object =>
  node(id, 'inject', 100, y, { props, wires: [[to]] });
const vin = { p: 'vin', v: electricCar.vin, vt: 'str' };
const ranges = { p: 'read', v: '["electricRange","distanceToEmpty","odometer"]', vt: 'json' };

const flows = [
  { id: 'tab', type: 'tab', label: 'Car' },
  { id: 'car', type: 'connected-vehicle', service: 'demo', name: hostile },
  node('status', 'connected-vehicle-status', 300, 100, { read: 'several', reads: ['windows', 'doors', 'location'] }),
  button('read', 100, 'status'),
  button('readOther', 150, 'status', [vin]),
  button('readRanges', 300, 'status', [vin, ranges]),
  node('command', 'connected-vehicle-command', 300, 200, { name: hostile, command: 'honk-flash' }),
  button('send', 200, 'command'),
  node('guard', 'connected-vehicle-guard', 300, 350, { poll: 0 }),
  button('ask', 350, 'guard', [{ p: 'ask', v: 'true', vt: 'bool' }]),
];

/** With two days of readings from before the start, and a logbook. */
const withHistory: Install = async (userDir) => {
  await linkCheckout(userDir);
  await keepIn(userDir, async (store) => {
    await keepLog(store);
    const facts = new CarFacts(store);
    for (let hoursAgo = 48; hoursAgo > 0; hoursAgo -= 1)
      await facts.observe(demoCar.vin, 'fuelAmount', { value: hoursAgo }, Date.now() - hoursAgo * 3_600_000);
  });
};

describe(`The tab "Cars" in a browser${pendingNote}`, function () {
  skipAfterFailure(this);
  const started = useEditors(flows, { install: withHistory });
  let page: Page;
  const complaints: string[] = [];
  /** What came over the editor's connection, and what the tab got from the runtime. */
  const published: string[] = [];
  const answered: string[] = [];
  /** The addresses of pictures that the browser asked for. */
  const pictures: string[] = [];
  let askedForPictures = 0;
  /** Requests to other servers than Node-RED. */
  const foreign: string[] = [];

  before(async () => {
    page = await open('en-US');
  });

  /** @param mayLocate false: as for a user who may only read */
  const open = (locale: string, url = started.nodeRed.url, mayLocate = true): Promise<Page> =>
    openEditor(started.browser, url, {
      locale,
      height: 1100,
      complaints,
      async prepare(opened) {
        if (!mayLocate)
          await opened.route('**/position', (route) =>
            route.fulfill({ json: { error: { code: 'FORBIDDEN', message: '' } } }),
          );
        opened.on('dialog', (dialog) => {
          complaints.push(dialog.message());
          void dialog.dismiss();
        });
        opened.on('request', (request) => {
          if (request.url().includes('/images/exterior')) pictures.push(request.url());
          if (request.url().endsWith('/pictures')) askedForPictures += 1;
          if (!request.url().startsWith(started.nodeRed.url) && request.url().startsWith('http'))
            foreign.push(request.url());
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
      },
    });

  const show = (opened: Page): Promise<void> =>
    opened.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: { sidebar: { show(id: string): void } } };
      RED.sidebar.show('connected-vehicle-cars');
    });
  /** A line of the list, `Rear right: open`. */
  const row = (name: string) => page.locator(`.cars-list tr[data-fact=${name}] td:nth-child(2)`);
  const part = (name: string) => page.locator(`.cars-drawing [data-part=${name}][role=button]`);
  const press = async (id: string): Promise<void> => {
    assert.ok((await fetch(`${started.nodeRed.url}inject/${id}`, { method: 'POST' })).ok);
  };

  /** Waits until an element shows this. */
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

  it('shows the fuel of the last days, also of before the start', async () => {
    const line = page.locator('.cars-line');
    assert.equal(await line.count(), 1);
    assert.equal(await line.locator('[role=img]').getAttribute('aria-label'), 'Fuel: 1–48');
    const points = ((await line.locator('polyline').getAttribute('points')) ?? '').split(' ');
    assert.equal(points.length, 48);
    assert.ok(points.every((point) => point.split(',').every((number) => Number(number) >= 0)));
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

  it('keeps an age on one line, also in the narrowest sidebar', async () => {
    const ages = page.locator('.cars-list time');
    await page.locator('.cars-tab').evaluate((tab) => {
      tab.style.width = '203px';
      const { parse } = Date;
      // The ages are counted from eleven hours later.
      Date.now = () => parse(document.querySelector('.cars-list time')?.getAttribute('datetime') ?? '') + 40_000_000;
    });
    await page.evaluate("RED.events.emit('sidebar:resize')");
    await page.locator('.cars-list time', { hasText: '11' }).first().waitFor();
    assert.match((await ages.allInnerTexts()).join(), /^(11 hr,?)+$/);
    const heights = await ages.evaluateAll((all) => all.map((age) => age.getClientRects().length));
    assert.deepEqual(new Set(heights), new Set([1]));
    await picture(page, 'cars-narrow');
    await page.locator('.cars-tab').evaluate((tab) => (tab.style.width = ''));
    await page.evaluate('Date.now = () => new Date().getTime()');
  });

  it('lets a person close the window with the mouse; the flow sees it with its next read', async () => {
    const caption = page.locator('.cars-caption');
    await isIn('rearRightWindow', 'open');
    assert.match(await caption.innerText(), /^This is the demo car itself/);
    await part('rearRightWindow').click();
    await isIn('rearRightWindow', 'closed');
    assert.equal(await row('rearRightWindow').innerText(), 'open');
    assert.match(await caption.innerText(), /The list shows what your flows have read/);
    await press('read');
    await says(row('rearRightWindow'), 'closed');
    await page.locator('.cars-live', { hasText: 'Rear right: closed' }).waitFor();
  });

  it('lets a person open it again by keyboard, and keeps the focus', async () => {
    await part('rearRightWindow').focus();
    await page.keyboard.press('Enter');
    await isIn('rearRightWindow', 'open');
    assert.match((await part('rearRightWindow').getAttribute('aria-label')) ?? '', /^Rear-right window: open$/);
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

  it('lets the next request of the flows fail, by mouse and by keyboard', async () => {
    const fault = (name: string, isSet: boolean) =>
      page.locator(`.cars-switch[aria-pressed=${isSet}]`, { hasText: name });
    await fault('Token refused', false).click();
    await fault('Token refused', true).click();
    await fault('Service down', false).focus();
    await page.keyboard.press('Enter');
    await fault('Service down', true).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Service down');
    await fault('Token refused', false).waitFor();
    await press('read');
    await fault('Service down', false).waitFor();
  });

  it('gives a clicked opening the state that is chosen, by keyboard', async () => {
    const mode = page.getByLabel('A click on a door, a window or a lid');
    await mode.focus();
    await page.keyboard.press('ArrowDown');
    await part('hood').focus();
    await page.keyboard.press('Enter');
    await isIn('hood', 'ajar');
    await mode.selectOption('unknown');
    await part('hood').click();
    await isIn('hood', 'unknown');
    await mode.selectOption('toggle');
    await part('hood').click();
    await isIn('hood', 'closed');
  });

  it('marks the focus in two tones, of which one can be seen on every ground', async () => {
    await part('frontLeftWindow').focus();
    await page.keyboard.press('Tab');
    const tones = await page.evaluate(() => {
      const focused = document.activeElement;
      return ['.cv-hit', '.cv-ring'].map((kind) => {
        const found = focused?.querySelector(kind);
        return found ? getComputedStyle(found).stroke : '';
      });
    });
    const luminance = (color: string): number => {
      const parts = (color.match(/[\d.]+/g) ?? []).map((text) => {
        const share = Number(text) / 255;
        return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * (parts[0] ?? NaN) + 0.7152 * (parts[1] ?? NaN) + 0.0722 * (parts[2] ?? NaN);
    };
    const [darker = NaN, lighter = NaN] = tones.map(luminance).sort((one, other) => one - other);
    // On any ground, one of two tones that differ by 9 : 1 differs by 3 : 1; Node-RED's text and
    // background differ by 7.
    assert.ok((lighter + 0.05) / (darker + 0.05) > 6.9, tones.join(' and '));
  });

  for (const height of [390, 720])
    it(`shows the whole car, and what is open above it, in a window of ${height} pixels, with targets of 24 pixels`, async () => {
      await part('rearRightWindow').click();
      await isIn('rearRightWindow', 'open');
      await page.setViewportSize({ width: 1400, height });
      await page.locator('.cars-tab').evaluate((tab) => (tab.scrollTop = 0));
      const boxOf = async (selector: string) => {
        const box = await page.locator(selector).first().boundingBox();
        assert.ok(box, selector);
        return box;
      };
      const [tab, car, open] = [await boxOf('.cars-tab'), await boxOf('.cv-body'), await boxOf('.cars-open')];
      assert.equal(await page.locator('.cars-open').innerText(), 'Rear-right window open', 'as a status says it');
      const scrolls = await page.locator('.cars-tab').evaluate((own) => {
        const around: Element[] = [];
        for (let one = own.parentElement; one !== null; one = one.parentElement) around.push(one);
        const canScroll = (one: Element): boolean => /auto|scroll/.test(getComputedStyle(one).overflowY);
        return around
          .filter((one) => canScroll(one) && one.scrollHeight > one.clientHeight + 1)
          .map((one) => one.outerHTML.slice(0, 80));
      });
      assert.deepEqual(scrolls, [], 'nothing scrolls but the tab itself');
      assert.ok(open.y >= tab.y && open.y + open.height <= car.y, 'named above the car');
      assert.ok(car.y + car.height <= tab.y + tab.height, `${car.y + car.height} is below ${tab.y + tab.height}`);
      assert.ok(car.x >= tab.x && car.x + car.width <= tab.x + tab.width);
      const small = await page
        .locator('.cars-tab :is(.cars-drawing [role=button] .cv-hit, button, a, summary, select, input):visible')
        .evaluateAll((found) =>
          found.flatMap((one) => {
            const { width, height: tall } = one.getBoundingClientRect();
            const name = one.closest('[data-part], [data-key]')?.outerHTML.slice(0, 60) ?? one.outerHTML.slice(0, 60);
            return width >= 23.9 && tall >= 23.9 ? [] : [`${Math.round(width)} x ${Math.round(tall)}: ${name}`];
          }),
        );
      assert.deepEqual(small, []);
      await picture(page, `cars-${height}`);
      // A low drawing takes clicks where it shows the part.
      await part('rearRightWindow').click();
      await isIn('rearRightWindow', 'closed');
      await page.setViewportSize({ width: 1400, height: 1100 });
    });

  it('has each control of the demo car on the way of the Tab key', async () => {
    const controls = '.cars-picture :is([role=button], summary, select, input, button, a):visible';
    const names = (selector: string): Promise<string[]> =>
      page
        .locator(selector)
        .evaluateAll((found) =>
          found.map((one) => one.getAttribute('data-part') ?? one.getAttribute('data-key') ?? one.nodeName),
        );
    const all = await names(controls);
    for (const name of ['lock', 'hood', 'SUMMARY', 'SELECT', 'asleep', 'fuel', 'drive', 'reset', 'outage', 'page'])
      assert.ok(all.includes(name), name);
    await page.locator(controls).first().focus();
    const reached: string[] = [];
    for (const _name of all) {
      reached.push(...(await names(':focus')));
      await page.keyboard.press('Tab');
    }
    assert.deepEqual(reached, all);
  });

  it('shows a command in the list, and the demo car flash and honk for it', async () => {
    await press('send');
    await page.locator('svg.car-view[data-flash=true][data-honk=true]').waitFor();
    await page.locator('.cars-commands li', { hasText: 'Honk and flash' }).waitFor();
  });

  it('lists what guards and event nodes reported among the commands', async () => {
    await press('ask');
    await page.locator('.cars-commands li.cars-event', { hasText: /closed/ }).waitFor();
    assert.equal(await page.locator('.cars-commands li').count(), 2);
  });

  it('puts the node of a line into the flow, by mouse and by keyboard, and lets that be undone', async () => {
    const added = () =>
      page.evaluate(() => {
        type Found = { vehicle: string; read: string; vin: string; x: number; y: number; wires: unknown };
        const { RED } = globalThis as unknown as {
          RED: { nodes: { filterNodes(filter: object): (Found & { id: string })[] } };
        };
        return RED.nodes
          .filterNodes({ type: 'connected-vehicle-status' })
          .filter(({ id }) => id !== 'status')
          .map(({ vehicle, read, vin, x, y }) => ({ vehicle, read, vin, place: `${x} ${y}` }));
      });
    for (const [name, read] of [
      ['rearRightWindow', 'rearRightWindowOpen'],
      ['carLocked', 'carLocked'],
      ['hood', 'hoodOpen'],
      ['location', 'location'],
    ] as const) {
      const use = page.locator(`.cars-list tr[data-fact=${name}] button`);
      if (name === 'hood') {
        await use.focus();
        await page.keyboard.press('Enter');
      } else await use.click();
      const { vehicle, vin, read: got } = (await added()).at(-1) ?? {};
      assert.deepEqual({ vehicle, vin, got }, { vehicle: 'car', vin: '', got: read });
      await page.locator('.cars-messages', { hasText: 'The node is in your flow.' }).waitFor();
    }
    assert.equal(new Set((await added()).map(({ place }) => place)).size, 4, 'none lies on another one');
    await picture(page, 'cars-use-in-a-flow');
    for (let n = 0; n < 4; n += 1) await page.evaluate('RED.actions.invoke("core:undo")');
    assert.deepEqual(await added(), []);
  });

  it('links the position to a map, and loads nothing from there', async () => {
    const link = page.locator('.cars-list tr[data-fact=location] a');
    await link.waitFor();
    assert.match(
      (await link.getAttribute('href')) ?? '',
      /^https:\/\/www\.openstreetmap\.org\/\?mlat=57\.\d+&mlon=1\d\.\d+#map=16\/57\.\d+\/1\d\.\d+$/,
    );
    assert.equal(await link.getAttribute('rel'), 'noopener noreferrer');
    assert.deepEqual(foreign, []);
  });

  it('reads now, checks, and copies the diagnostics', async () => {
    await page.locator('.cars-buttons button', { hasText: 'Read now' }).click();
    await says(page.locator('.cars-messages'), 'Read.');
    await says(row('rearRightWindow'), 'closed');
    await says(row('fuelAmount'), '38 l');
    // The petrol car has no battery to drive with.
    assert.equal(await row('batteryChargeLevel').count(), 0);
    await page.locator('.cars-buttons button', { hasText: 'Check' }).click();
    await page.locator('.cars-messages', { hasText: '✓' }).waitFor();
    await page.locator('.cars-buttons button', { hasText: 'Copy diagnostics' }).click();
    await says(page.locator('.cars-messages'), 'Copied to the clipboard.');
  });

  it('loads pictures of the car only when a person opens them, and leaves out a side that has none', async () => {
    const summary = page.locator('.cars-pictures summary');
    const images = page.locator('.cars-pictures img');
    assert.equal(await images.count(), 0);
    assert.deepEqual(pictures, []);
    assert.ok(
      answered.every((text) => !text.includes('/images/')),
      'the tab got no address of a picture',
    );
    await page.route(/angle=6/, (route) => route.fulfill({ contentType: 'text/plain', body: 'There is no picture.' }));
    await summary.focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => {
      const shown = [...document.querySelectorAll<HTMLImageElement>('.cars-pictures img')];
      return shown.length === 7 && shown.every(({ complete, naturalWidth }) => complete && naturalWidth === 480);
    });
    assert.deepEqual(await page.locator('.cars-pictures figcaption').allInnerTexts(), [
      'Front right',
      'Right',
      'Rear right',
      'Front',
      'Front left',
      'Rear left',
      'Left',
    ]);
    assert.equal(pictures.length, 8);
    await picture(page, 'cars-pictures');
    assert.deepEqual(await axeFindings(page, '.cars-tab'), []);
    await summary.press('Enter');
    await images.first().waitFor({ state: 'detached' });
    assert.equal(await images.count(), 0);
    assert.equal(askedForPictures, 1);
    await page.unroute(/angle=6/);
  });

  it('says that no picture can be loaded', async () => {
    await page.route(/angle=/, (route) => route.fulfill({ contentType: 'text/plain', body: 'There is no picture.' }));
    await page.locator('.cars-pictures summary').press('Enter');
    await page.locator('.cars-pictures', { hasText: 'no picture of this car that this browser can load' }).waitFor();
    assert.equal(await page.locator('.cars-pictures img').count(), 0);
    await page.locator('.cars-pictures summary').press('Enter');
    await page.unroute(/angle=/);
  });

  it('shows the last known values after the editor was reloaded, without a read', async () => {
    await loadEditor(page, started.nodeRed.url);
    await show(page);
    await says(row('rearRightWindow'), 'closed');
    await says(row('fuelAmount'), '38 l');
  });

  it('asks for nothing while it is not shown', async () => {
    await page.evaluate(() => {
      const { RED } = globalThis as unknown as { RED: { sidebar: { show(id: string): void } } };
      RED.sidebar.show('info');
    });
    const asked: string[] = [];
    const take = (request: Request): unknown =>
      /\/connected-vehicle\//.test(request.url()) && asked.push(request.url().replace(/.*\/connected-vehicle/, ''));
    page.on('request', take);
    const seen = published.length;
    await press('read');
    while (!published.slice(seen).some((frame) => frame.includes('connected-vehicle/changed')))
      await page.waitForEvent('websocket', { timeout: 50 }).catch(() => undefined);
    assert.deepEqual(asked, []);
    page.off('request', take);
    const shown = page.waitForResponse(/\/cars$/);
    await show(page);
    await shown;
  });

  it('can be used by everybody in a light and a dark theme, as far as axe can tell', async () => {
    await page.locator('.cars-more summary').click();
    assert.deepEqual(await axeFindings(page, '.cars-tab', 'all'), []);
    await showTheme(page, 'dark');
    await picture(page, 'cars-dark');
    assert.deepEqual(await axeFindings(page, '.cars-tab', 'colors'), [], 'dark');
    await showTheme(page, 'light');
  });

  for (const [locale, heading, closed, position, elsewhere] of [
    [
      'de',
      'Fenster',
      'zu',
      /^Standort\tbekannt\t/,
      /auf dem Rechner, auf dem Node-RED läuft: http:\/\/127\.0\.0\.1:\d+/,
    ],
    [
      'fr',
      'Vitres',
      'fermé',
      /^Position\tconnue\t/,
      /sur la machine où fonctionne Node-RED : http:\/\/127\.0\.0\.1:\d+/,
    ],
  ] as const)
    itLong(`is in the language of the editor: ${locale}, on another machine than Node-RED`, async () => {
      const opened = await open(locale, started.nodeRed.url.replace('127.0.0.1', 'garage'), false);
      await show(opened);
      assert.match(await opened.locator('.cars-list tr[data-fact=location]').innerText(), position);
      await opened.locator('.cars-list caption', { hasText: heading }).waitFor();
      const window = await opened.locator('.cars-list tr[data-fact=rearRightWindow]').innerText();
      assert.equal(window.split('\t')[1], closed);
      await opened.locator('.cars-more summary').click();
      assert.deepEqual(await axeFindings(opened, '.cars-tab', 'all but colors'), [], 'the colors are the same');
      assert.match(await opened.locator('.cars-more').innerText(), elsewhere);
      await opened.close();
    });

  it('names each of several cars of one configuration once, in the list that chooses one', async () => {
    await press('readOther');
    const list = page.locator('.cars-tab > select');
    await list.waitFor();
    assert.deepEqual(
      await list.locator('option').allInnerTexts(),
      [demoCar, electricCar].map(({ vin }) => `${hostile} …${vin.slice(-6)}`),
    );
    await page.locator('.cars-pictures summary').press('Enter');
    await page.locator('.cars-pictures img').nth(7).waitFor();
    const asked = pictures.length;
    await list.selectOption({ index: 1 });
    await isIn('plug', 'plugged');
    await page.locator('.cars-pictures img').first().waitFor({ state: 'detached' });
    assert.equal(await page.locator('.cars-pictures[open]').count(), 0);
    assert.equal(pictures.length, asked, 'no pictures of a car that nobody asked for');
    assert.equal(await page.locator('.cars-switch[data-key=engine]').count(), 0, 'an electric car has no engine');
    assert.equal(await page.locator('.cars-switch[data-key=plug]').count(), 1);
    assert.equal(await page.locator('.cars-head').innerText(), '');
  });

  it('shows the last ten trips and charges, and of each number its source or why it is not known', async () => {
    const log = page.locator('.cars-log');
    const lines = (kind: string) => log.locator(`[role=group][aria-label=${kind}] details:not(.cars-month)`);
    assert.deepEqual([await lines('Trips').count(), await lines('Charges').count()], [10, 10]);
    const open = async (kind: string, which: 'first' | 'last'): Promise<string[]> => {
      const line = lines(kind)[which]();
      await line.locator('summary').press('Enter');
      return [await line.locator('summary').innerText(), await line.locator('dl').innerText()].map((text) =>
        text.replaceAll(/\s+/g, ' '),
      );
    };
    const [trip = '', ofTrip = ''] = await open('Trips', 'first');
    assert.match(trip, /42 km 16 kWh €4\.80$/);
    assert.match(ofTrip, /Distance 42 km from the odometer/);
    assert.match(ofTrip, /Energy 16 kWh from the battery level and the gross capacity: can be too high/);
    assert.match(ofTrip, /Cost €4\.80 from the price of the last charge/);
    assert.match(ofTrip, /Battery after 60 % reported by the car/);
    const [charge = '', ofCharge = ''] = await open('Charges', 'first');
    assert.match(charge, /60 → 80 % 16 kWh €4\.80$/);
    assert.match(ofCharge, /Cost €4\.80 from the price in the vehicle configuration/);
    const [oldest = '', ofOldest = ''] = await open('Trips', 'last');
    assert.match(oldest, /42 km – –$/);
    assert.match(ofOldest, /Energy not known no flow has read the capacity of the battery \(“Vehicle details”\)/);
    assert.match(ofOldest, /Cost not known no charge with a price is known/);
    await picture(page, 'cars-logbook');
    for (const month of await log.locator('.cars-month summary').all()) await month.press('Enter');
    assert.deepEqual(await axeFindings(page, '.cars-tab'), []);
    await page.setViewportSize({ width: 1280, height: 1100 });
    await log.scrollIntoViewIfNeeded();
    await picture(page, 'cars-logbook-1280');
    await page.locator('.cars-tab').evaluate((tab) => (tab.style.width = '203px'));
    const wide = await log.evaluate((own) => own.scrollWidth > own.clientWidth);
    assert.equal(wide, false, 'nothing is cut in the narrowest sidebar');
    await picture(page, 'cars-logbook-narrow');
    await page.locator('.cars-tab').evaluate((tab) => (tab.style.width = ''));
    await page.setViewportSize({ width: 1400, height: 1100 });
  });

  const choose = (index: number): Promise<unknown> => page.locator('.cars-tab > select').selectOption({ index });

  it('shows no pictures of a car that was chosen before, however late they come', async () => {
    const images = page.locator('.cars-pictures img');
    await choose(0);
    const late = await holdAnswer(page, 'pictures');
    await page.locator('.cars-pictures summary').press('Enter');
    await late.asked;
    await choose(1);
    await page.locator('.cars-pictures summary').press('Enter');
    await images.nth(7).waitFor();
    const shown = await images.first().elementHandle();
    await late.letGo();
    assert.equal(await shown?.evaluate((image) => image.isConnected), true);
    const again = await holdAnswer(page, 'pictures');
    await page.locator('.cars-pictures summary').press('Enter');
    await page.locator('.cars-pictures summary').press('Enter');
    await again.asked;
    await choose(0);
    await again.letGo();
    assert.equal(await page.locator('.cars-pictures figure').count(), 0);
    await choose(1);
  });

  it('shows no message about a car under another one, however late it comes', async () => {
    const messages = page.locator('.cars-messages');
    await choose(0);
    await page.locator('.cars-buttons button', { hasText: 'Read now' }).click();
    await says(messages, 'Read.');
    await choose(1);
    assert.equal(await messages.innerText(), '');
    await choose(0);
    const late = await holdAnswer(page, 'read-car');
    await page.locator('.cars-buttons button', { hasText: 'Read now' }).click();
    await late.asked;
    await choose(1);
    await late.letGo();
    assert.equal(await messages.innerText(), '');
  });

  it('adds no node to a locked flow', async () => {
    const nodes = (): Promise<unknown> => page.evaluate('RED.nodes.filterNodes({}).length');
    const before = await nodes();
    await choose(0);
    await page.evaluate("RED.nodes.workspace('tab').locked = true");
    // Not by mouse: a line that is drawn again between press and release gets no click.
    await page.locator('.cars-list tr[data-fact=carLocked] button').dispatchEvent('click');
    await says(page.locator('.cars-messages'), 'This flow is locked. Unlock it, or open another one.');
    assert.equal(await nodes(), before);
    await page.evaluate("RED.nodes.workspace('tab').locked = false");
    await choose(1);
  });

  it('shows the range of an electric car once', async () => {
    await press('readRanges');
    await row('odometer').waitFor();
    assert.match(await row('electricRange').innerText(), /^\d+ km$/);
    assert.equal(await row('distanceToEmpty').count(), 0);
  });

  it('says above the drawing why nothing can be read of a car', async () => {
    const { rev, flows: deployed } = (await started.nodeRed.admin('GET', 'flows')) as { rev: string; flows: object[] };
    const broken = { id: 'own', type: 'connected-vehicle', service: 'volvo-cars', name: 'Mine' };
    await started.nodeRed.admin('POST', 'flows', { rev, flows: [...deployed, broken] });
    await page.locator('.cars-tab > select').selectOption({ label: 'Mine' });
    const problem = page.locator('.cars-problem', { hasText: 'The API key is missing.' });
    assert.equal(await problem.count(), 1);
    const heightOf = async (element: typeof problem): Promise<number> => (await element.boundingBox())?.y ?? NaN;
    assert.ok((await heightOf(problem)) < (await heightOf(page.locator('.cars-drawing'))));
    await page.locator('.cars-drawing svg[role=img]').waitFor();
    assert.equal(
      await page.locator('.cv-callout[visibility=visible]').count(),
      0,
      'no word stands beside an opening that nothing was read of',
    );
  });

  it('sent no whole VIN to the browser, no position but for the map, and no data over the connection that all editors hear, and met no error', () => {
    assert.ok(answered.length > 5);
    for (const text of [...answered, ...published])
      for (const { vin } of [demoCar, electricCar]) assert.ok(!text.includes(vin));
    // Not the milliseconds of a time.
    const positions = answered.filter((text) => /(?<!\d:)57\.7\d/.test(text));
    assert.ok(positions.length > 0 && positions.every((text) => text.startsWith('{"position":')), positions.join());
    const signals = published
      .flatMap((frame) => JSON.parse(frame) as { topic?: string; data?: unknown }[])
      .filter(({ topic }) => topic?.startsWith('connected-vehicle/'));
    assert.ok(signals.length > 0);
    for (const { topic, data } of signals)
      assert.deepEqual({ topic, data }, { topic: 'connected-vehicle/changed', data: {} });
    assert.deepEqual(complaints, []);
  });
});
