import { strict as assert } from 'node:assert';
import type { Page } from 'playwright-core';
import { demoCar, everyScope, startSimulator, type Simulator } from '../support/simulator';
import {
  formIsOpen,
  openEditor,
  partOf,
  pendingNote,
  picture,
  skipAfterFailure,
  useEditors,
} from '../support/editor-browser';

/**
 * Each step by mouse, in an editor on another machine than Node-RED, from empty
 * flows to a signed-in car.
 */
describe(`The first car in a browser${pendingNote}`, function () {
  skipAfterFailure(this);
  let service: Simulator;
  // On the machine of the driver, nothing answers at localhost.
  const started = useEditors([], { args: ['--host-resolver-rules=MAP garage 127.0.0.1, MAP localhost 127.0.0.2'] });
  let page: Page;
  let redirectUrl: string;
  const complaints: string[] = [];
  const field = (name: string) => page.locator(`#node-config-input-${name}`);
  const part = (name: string) => partOf(page, name);
  const ask = (name: string) => page.locator(`[data-ask=${name}]`);
  const tab = (name: string) => page.locator('.cars-tab').getByRole('button', { name });
  const deploy = async (): Promise<void> => {
    // A gray button looks as one that has deployed.
    await page.locator('#red-ui-header-button-deploy:not(.disabled)').click();
    // The editor asks first if a node cannot work.
    const confirm = page.getByRole('button', { name: 'Confirm deploy' });
    await confirm.or(page.locator('#red-ui-header-button-deploy.disabled')).first().waitFor();
    if (await confirm.isVisible()) await confirm.click();
    await page.locator('#red-ui-header-button-deploy.disabled').waitFor();
  };

  const lackOfKey = async (editor: Page): Promise<void> => {
    await editor.waitForFunction(
      "RED.nodes.filterNodes({ type: 'connected-vehicle-status' }).map((n) => n.validationErrors).join() === 'API key missing'",
    );
    await editor.locator('.red-ui-flow-node-error:visible').waitFor();
  };

  before(async () => {
    const { port } = new URL(started.nodeRed.url);
    redirectUrl = `http://localhost:${port}/connected-vehicle/callback`;
    service = await startSimulator({
      cars: [{ ...demoCar, windows: {} }],
      dialect: 'real',
      apiKeyHeader: 'vcc-api-key',
      mediaTypeVendor: 'volvocars',
      interfaces: ['connected-v2', 'energy-v2', 'location-v1'],
      redirectUris: [redirectUrl],
      scopes: everyScope.filter((scope) => !scope.includes('honk')),
    });
    page = await openEditor(started.browser, `http://garage:${port}/`, {
      height: 1000,
      complaints,
      // Chromium reports this for a window that cannot be closed because it shows the
      // browser's own error page.
      isKnown: (text) => text.startsWith('Unsafe attempt to initiate navigation'),
    });
  });

  after(async () => {
    await service?.close();
  });

  it('can be added in the empty tab, and says before the deploy what it lacks', async () => {
    await page.locator('#red-ui-sidebar-tabs [title], .red-ui-tabs-menu a').last().waitFor({ state: 'attached' });
    // The tab gets its first answer while the button is pressed.
    let answer = (): void => undefined;
    const isPressed = new Promise<void>((resolve) => (answer = resolve));
    await page.route(
      '**/all/cars',
      async (route) => {
        await isPressed;
        await route.continue();
      },
      { times: 1 },
    );
    const answered = page.waitForResponse(/\/all\/cars$/);
    await page.evaluate("RED.sidebar.show('connected-vehicle-cars')");
    await tab('Add my Volvo').hover();
    await picture(page, 'first-1-empty');
    await page.mouse.down();
    answer();
    await (await answered).finished();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await page.mouse.up();
    await formIsOpen(page);
    assert.equal(await field('service').inputValue(), 'volvo-cars');
    await picture(page, 'first-2-volvo');
    await page.locator('#node-config-dialog-ok').click();
    await page.waitForSelector('.red-ui-tray', { state: 'detached' });
    await lackOfKey(page);
    await page.locator('.cars-tab').getByText('Press “Deploy” to see the car here.').waitFor();
    await picture(page, 'first-3-added');
  });

  it('says that again after the deploy, and in an editor that is opened later, before any form is opened', async () => {
    await deploy();
    await lackOfKey(page);
    const other = await openEditor(started.browser, page.url(), { complaints });
    await lackOfKey(other);
    await other.close();
  });

  it('says in the tab why it cannot work, with the way to the form', async () => {
    await page.locator('.cars-problem', { hasText: 'The API key is missing.' }).waitFor();
    await picture(page, 'first-4-no-key');
    await tab('Open the configuration').click();
    await formIsOpen(page);
  });

  it('names the address to register, the scopes to tick, and what to untick if one is missing', async () => {
    await field('service').selectOption('custom');
    await field('baseUrl').fill(service.url);
    await field('apiKeyHeader').fill('vcc-api-key');
    await field('mediaTypeVendor').fill('volvocars');
    await field('authorizeUrl').fill(`${service.url}/as/authorization.oauth2`);
    await field('tokenUrl').fill(`${service.url}/as/token.oauth2`);
    for (const name of ['connected vehicle, version 1', 'extended vehicle'])
      await part('interfaces').getByLabel(name, { exact: true }).uncheck();
    assert.equal(await part('redirect').innerText(), redirectUrl);
    await part('scopeCount').click();
    await picture(page, 'first-5-publish');
    await field('apiKey').fill('demo-key');
    await field('clientId').fill('demo-client');
    await field('clientSecret').fill('demo-secret');
    await signIn(/error=invalid_scope/);
    await part('signIn').getByText('The application was published without a scope').waitFor();
    await part('signIn')
      .getByText(/Ticked now: .*“honk and flash”/)
      .waitFor();
    await part('signIn').scrollIntoViewIfNeeded();
    await picture(page, 'first-6-invalid-scope');
    await part('accessCommands').getByLabel('honk and flash').uncheck();
  });

  /** Starts the sign-in, and pastes the address of the page that cannot be loaded. */
  async function signIn(address: RegExp): Promise<void> {
    const redirected = page.context().waitForEvent('request', (request) => request.url().startsWith(redirectUrl));
    const opening = page.waitForEvent('popup');
    await ask('sign-in').click();
    const allow = (await opening).getByRole('button', { name: 'Sign in' });
    await Promise.race([allow.click({ noWaitAfter: true }).catch(() => undefined), redirected]);
    const url = (await redirected).url();
    assert.match(url, address);
    await page.bringToFront();
    await page.locator('#connected-vehicle-redirected').fill(url);
    await ask('sign-in-finish').click();
  }

  it('signs in, finds the car, and checks everything', async () => {
    await signIn(/code=/);
    await part('signIn').getByText('Signed in. Deploy what you changed.').waitFor();
    await ask('vehicles').click();
    await part('found').getByText('Found:').waitFor();
    await ask('check').click();
    await part('result').getByText('The car is linked to the account.').waitFor();
    await part('result').scrollIntoViewIfNeeded();
    await picture(page, 'first-7-signed-in');
    await page.locator('#node-config-dialog-ok').click();
    await page.waitForSelector('.red-ui-tray', { state: 'detached' });
    await deploy();
  });

  it('shows that all windows are closed, on the canvas and in the tab', async () => {
    await page.locator('.red-ui-flow-node-status-label', { hasText: /^all windows closed · / }).waitFor();
    await page.locator('.cars-list tr[data-fact=rearRightWindow]', { hasText: 'closed' }).waitFor();
    await picture(page, 'first-8-closed');
  });

  it('complains of nothing', () => {
    assert.deepEqual(complaints, []);
  });
});
