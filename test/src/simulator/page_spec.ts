import { strict as assert } from 'node:assert';
import type { Browser, Page } from 'playwright-core';
import { itLong } from '../../support/long';
import { demoCars, startSimulator, type Simulator } from '../../support/simulator';
import { axeFindings } from '../../support/axe';
import { launchBrowser, pendingNote } from '../../support/editor-browser';

describe(`The page of the demo cars in a browser${pendingNote}`, function () {
  let browser: Browser;
  let simulator: Simulator;
  let page: Page;
  const complaints: string[] = [];

  before(async function () {
    browser = await launchBrowser(this);
  });
  after(() => browser?.close());

  beforeEach(async () => {
    simulator = await startSimulator({ open: true, cars: Object.values(demoCars) });
    page = await open('en-US');
  });
  afterEach(async () => {
    await page.close();
    await simulator.close();
    assert.deepEqual(complaints.splice(0), []);
  });

  async function open(locale: string): Promise<Page> {
    const opened = await browser.newPage({ locale, reducedMotion: 'reduce', viewport: { width: 1100, height: 1000 } });
    opened.on('pageerror', (error) => complaints.push(error.message));
    opened.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    await opened.goto(simulator.url);
    await opened.getByRole('heading', { name: 'XC60' }).waitFor();
    return opened;
  }

  const part = (name: string) => page.getByRole('button', { name: new RegExp(`^${name}(:|$)`) });
  const until = (name: string) => part(name).first().waitFor();
  const control = (name: string) => page.locator('#controls').getByRole('button', { name, exact: true });

  it('closes a window at a click and opens it at the next, with its state beside it', async () => {
    const note = page.locator('[data-for=rearRightWindow] text');
    assert.equal(await note.textContent(), 'open');
    await part('Rear-right window').click();
    await until('Rear-right window: closed');
    assert.equal(simulator.car().state.windows.rearRight, 'CLOSED');
    assert.equal(await note.isVisible(), false);
    await part('Rear-right window').click();
    await until('Rear-right window: open');
    assert.equal(await part('Rear-right window').getAttribute('aria-pressed'), 'true');
  });

  it('can be used with a keyboard', async () => {
    await part('Front-left door').focus();
    await page.keyboard.press('Enter');
    await until('Front-left door: open');
    await page.keyboard.press('Space');
    await until('Front-left door: closed');
    await page.getByLabel('A click on a door, a window or a lid').selectOption('unknown');
    await part('Hood').focus();
    await page.keyboard.press('Enter');
    await until('Hood: unknown');
    assert.equal(await part('Hood').getAttribute('aria-pressed'), 'mixed');
    assert.equal(simulator.car().state.doors.hood, null);
  });

  it('has a name for everything that can be used', async () => {
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll('button, input, select, [role=button]')]
        .filter((element) => {
          const named =
            element.getAttribute('aria-label') ?? element.closest('label')?.textContent ?? element.textContent;
          return named?.trim() === '' && getComputedStyle(element).display !== 'none';
        })
        .map((element) => element.outerHTML),
    );
    assert.deepEqual(nameless, []);
  });

  it('can be used by everybody, as far as axe can tell', async () => {
    assert.deepEqual(await axeFindings(page, 'main, body', 'all'), []);
  });

  it('shows what others change, and flashes and honks at a command', async () => {
    simulator.car().set({ lock: 'UNLOCKED', engineRunning: true, commandPlan: { answerAfterMs: 0 } });
    await until('Lock: unlocked');
    assert.equal(await control('Engine').getAttribute('aria-pressed'), 'true');
    // It lasts two seconds, which a busy browser can miss if it is asked.
    await page.evaluate(() => {
      const observer = new MutationObserver(() => {
        if (document.querySelector('svg[data-flash=true][data-honk=true]') === null) return;
        observer.disconnect();
        document.body.dataset['signaled'] = 'true';
      });
      observer.observe(document, { subtree: true, attributes: true });
    });
    const sent = await fetch(
      `${simulator.url}/connected-vehicle/v1/vehicles/${simulator.car().vin}/commands/honk-flash`,
      {
        method: 'POST',
        headers: {
          authorization: 'Bearer any',
          'vendor-api-key': 'any',
          'content-type': 'application/vnd.vendor.api.connected-vehicle.honkandflash.v1+json',
        },
      },
    );
    assert.equal(sent.status, 202);
    await page.locator('body[data-signaled=true]').waitFor();
    await page.getByText('Honk and flash: done', { exact: true }).waitFor();
    await page.locator('svg:not([data-flash])').waitFor();
  });

  itLong('speaks German to a German browser', async () => {
    const german = await open('de-AT');
    await german.getByRole('button', { name: 'Fenster hinten rechts: offen' }).waitFor();
    assert.equal(await german.title(), 'Demo-Autos');
    await german.close();
  });
});
