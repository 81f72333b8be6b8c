import { strict as assert } from 'node:assert';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { classicCar, demoCar, startSimulator, type Simulator } from '../../src/simulator/index';
import { startNodeRed, type RealNodeRed } from '../support/real-node-red';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const missing = existsSync(executablePath)
  ? ''
  : ` (pending: there is no browser at ${executablePath}; CHROMIUM names another)`;

describe(`The dialog of a vehicle in a browser${missing}`, function () {
  this.timeout(60_000);
  this.bail(true);
  let service: Simulator;
  let nodeRed: RealNodeRed;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  before(async function () {
    if (missing !== '') {
      assert.notEqual(process.env['CI'], 'true', `The browser tests must run here, but ${missing}`);
      this.skip();
    }
    service = await startSimulator({ cars: [demoCar, classicCar] });
    nodeRed = await startNodeRed();
    const vehicle = {
      id: 'car',
      type: 'connected-vehicle',
      name: 'My car',
      service: 'custom',
      baseUrl: service.url,
      authorizeUrl: `${service.url}/as/authorization.oauth2`,
      tokenUrl: `${service.url}/as/token.oauth2`,
      credentials: { apiKey: 'demo-key', clientId: 'demo-client', clientSecret: 'demo-secret' },
    };
    await nodeRed.admin('POST', 'flows', {
      flows: [
        { id: 'tab', type: 'tab', label: 'Car' },
        vehicle,
        {
          id: 'read',
          type: 'connected-vehicle-status',
          z: 'tab',
          x: 300,
          y: 100,
          name: 'Tyres',
          vehicle: 'car',
          read: 'frontLeftTyrePressure',
          wires: [[]],
        },
        {
          id: 'send',
          type: 'connected-vehicle-command',
          z: 'tab',
          x: 300,
          y: 200,
          name: '',
          vehicle: 'car',
          command: 'lock',
          wires: [[]],
        },
      ],
    });
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    page = await browser.newPage({ locale: 'en-US', viewport: { width: 1400, height: 1200 } });
    page.setDefaultTimeout(10_000);
    page.on('pageerror', (error) => complaints.push(error.message));
    // Chromium says so of a window that cannot be closed because it shows the browser's own error page.
    const isKnown = (text: string): boolean => text.startsWith('Unsafe attempt to initiate navigation');
    page.on(
      'console',
      (message) => void (message.type() === 'error' && !isKnown(message.text()) && complaints.push(message.text())),
    );
    await page.goto(nodeRed.url);
    await page.waitForSelector('.red-ui-palette-node[data-palette-type="connected-vehicle-status"]');
    await page.waitForSelector('#red-ui-loading-progress', { state: 'hidden' });
    await openDialog();
  });

  after(async () => {
    await browser?.close();
    await nodeRed?.stop();
    await service?.close();
  });

  const openDialog = async (): Promise<void> => {
    await page.evaluate('RED.editor.editConfig("", "connected-vehicle", "car")');
    await page.waitForSelector('#connected-vehicle-found', { state: 'attached' });
    await part('used')
      .getByText(/requests today/)
      .waitFor({ state: 'attached' });
  };
  const part = (name: string) => page.locator(`.car-form [data-part="${name}"]`);
  const press = (name: string) => page.locator(`[data-ask="${name}"]`).click();
  /** SCREENSHOTS names a folder for pictures to look at. */
  const picture = async (name: string): Promise<void> => {
    const folder = process.env['SCREENSHOTS'];
    if (folder === undefined) return;
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, `${name}.png`) });
  };

  it('says before the sign-in that there is no token', async () => {
    await press('check');
    await part('result').getByText('There is no token. Sign in, or paste one.').waitFor();
    await picture('no-token');
  });

  it('signs in in a window of its own, which closes by itself', async () => {
    const opening = page.waitForEvent('popup');
    await press('sign-in');
    const popup = await opening;
    await popup.getByRole('button', { name: 'Sign in' }).click();
    await part('signIn').getByText('Signed in. Deploy what you changed.').waitFor();
    await part('token')
      .getByText(/^Signed in since .*, renewed at /)
      .waitFor();
    assert.ok(popup.isClosed() || (await popup.innerText('body')).includes('You are signed in'));
  });

  it('signs in by the pasted address', async () => {
    await page.locator('#node-config-input-redirectUrl').fill('http://localhost:9/does-not-reach-node-red');
    const opening = page.waitForEvent('popup');
    await press('sign-in');
    const popup = await opening;
    const redirected = popup.waitForRequest(/does-not-reach-node-red\?/);
    await popup.getByRole('button', { name: 'Sign in' }).click({ noWaitAfter: true });
    await page.locator('#connected-vehicle-redirected').fill((await redirected).url());
    await picture('paste-back');
    await press('sign-in-finish');
    await part('signIn').getByText('Signed in. Deploy what you changed.').waitFor();
    await page.locator('#node-config-input-redirectUrl').fill('');
  });

  it('tells that the driver declined', async () => {
    const opening = page.waitForEvent('popup');
    await press('sign-in');
    const popup = await opening;
    await popup.getByRole('button', { name: 'Cancel' }).click();
    await part('signIn')
      .getByText(/declined/)
      .waitFor();
    await popup.close().catch(() => undefined);
  });

  it('finds the vehicles and fills in the VIN', async () => {
    await press('vehicles');
    await page.locator('#connected-vehicle-found').selectOption({ label: `V60 2017 ${classicCar.vin}` });
    assert.equal(await page.locator('#node-config-input-vin').inputValue(), classicCar.vin);
    await picture('vehicles');
  });

  it('checks everything, and copies diagnostics without anything private', async () => {
    await press('check');
    await part('result').getByText('✓ Every node has the permissions (scopes) that it needs.').waitFor();
    const lines = await part('result').locator('div').allInnerTexts();
    assert.deepEqual(
      lines.map((line) => line.charAt(0)),
      ['✓', '✓', '✓', '✓', '✓', '✓'],
    );
    await picture('checked');
    await press('diagnostics');
    await part('result').getByText('Copied, without anything private.').waitFor();
    assert.match((await part('used').textContent()) ?? '', /^\d+ of 10,000 requests today$/);
  });

  it('forgets key and secrets where the address changes, and has them again where it does not', async () => {
    const key = page.locator('#node-config-input-apiKey');
    assert.equal(await key.inputValue(), '__PWRD__');
    for (const name of ['authorizeUrl', 'tokenUrl', 'baseUrl']) {
      const address = page.locator(`#node-config-input-${name}`);
      const before = await address.inputValue();
      await address.fill('https://elsewhere.example');
      await address.blur();
      await part('moved')
        .getByText(/enter key and token again/)
        .waitFor();
      assert.equal(await key.inputValue(), '', name);
      if (name === 'baseUrl') await picture('moved');
      await address.fill(before);
      await address.blur();
      assert.equal(await key.inputValue(), '__PWRD__', name);
      assert.equal(await part('moved').innerText(), '');
    }
  });

  it('keeps the sign-in under the credential secret of Node-RED, with no key of its own', () => {
    const names = readdirSync(join(nodeRed.userDir, 'connected-vehicle'), { recursive: true, encoding: 'utf8' });
    assert.ok(
      names.some((name) => /^state.sign-in.[\da-f]{32}\.json$/.test(name)),
      names.join(' '),
    );
    assert.ok(!names.includes('store.key'));
  });

  it('never holds a token, a key or a secret in the page', async () => {
    assert.doesNotMatch(await page.content(), /demo-key|demo-secret|eyJ/);
  });

  it('offers a command node what its vehicle lists', async () => {
    // A notification of the editor may lie above it.
    await page.locator('#node-config-dialog-cancel').dispatchEvent('click');
    await page.waitForSelector('#node-config-dialog-cancel', { state: 'detached' });
    const listed = page.waitForResponse((response) => response.url().endsWith('/car/commands'));
    await page.evaluate("RED.editor.edit(RED.nodes.node('send'))");
    await listed;
    await page.locator('#node-input-command + .red-ui-typedInput-container .red-ui-typedInput-option-trigger').click();
    assert.ok((await page.locator('.red-ui-typedInput-options:visible a').count()) >= 6);
    await page.keyboard.press('Escape');
    await page.locator('#node-dialog-cancel').dispatchEvent('click');
  });

  it('complains of nothing', () => {
    assert.deepEqual(complaints, []);
  });
});
