import { strict as assert } from 'node:assert';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { classicCar, demoCar, startSimulator, type Simulator } from '../support/simulator';
import {
  beginForm,
  holdAnswer,
  openEditor,
  partOf,
  pendingNote,
  picture,
  showFlows,
  skipAfterFailure,
  useEditor,
} from '../support/editor-browser';
import { itLong } from '../support/long';

describe(`The dialog of a vehicle in a browser${pendingNote}`, function () {
  skipAfterFailure(this);
  let service: Simulator;
  const started = useEditor([], {
    height: 1200,
    // Chromium reports this for a window that cannot be closed because it shows the browser's own
    // error page.
    isKnown: (text) => text.startsWith('Unsafe attempt to initiate navigation'),
    prepare: (opened) => opened.addInitScript(askOften),
  });
  let page: Page;

  before(async () => {
    ({ page } = started);
    service = await startSimulator({ cars: [demoCar, classicCar] });
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
    const node = { z: 'tab', x: 300, y: 100, vehicle: 'car', wires: [[]] };
    await showFlows(page, started.nodeRed, [
      { id: 'tab', type: 'tab', label: 'Car' },
      vehicle,
      { ...node, id: 'read', type: 'connected-vehicle-status', name: 'Tyres', read: 'frontLeftTyrePressure' },
      { ...node, id: 'send', type: 'connected-vehicle-command', name: '', command: 'lock' },
    ]);
    await openDialog();
  });

  after(async () => {
    await service?.close();
  });

  const openDialog = async (): Promise<void> => {
    await beginForm(page, 'car');
    await page.waitForSelector('#connected-vehicle-found', { state: 'attached' });
    await part('used')
      .getByText(/requests in 24 h/)
      .waitFor({ state: 'attached' });
  };
  const closeDialog = async (): Promise<void> => {
    // A notification of the editor may lie above it.
    await page.locator('#node-config-dialog-cancel').dispatchEvent('click');
    await page.waitForSelector('#node-config-dialog-cancel', { state: 'detached' });
  };
  const part = (name: string) => partOf(page, name);
  // A page behind the window of a sign-in draws, and so takes clicks, once a second.
  const toFront = (): Promise<void> => page.bringToFront();
  beforeEach(toFront);
  const press = async (name: string): Promise<void> => {
    await toFront();
    await page.locator(`[data-ask="${name}"]`).click();
  };

  it('says before the sign-in that there is no token', async () => {
    await press('check');
    await part('result')
      .getByText('Nobody is signed in. Sign in, or paste a token, in the vehicle configuration.')
      .waitFor();
    await picture(page, 'no-token');
  });

  it('returns to localhost if the editor is not on https, because services accept no other address', async () => {
    const { port } = new URL(started.nodeRed.url);
    assert.match(started.nodeRed.url, /^http:\/\/127\.0\.0\.1/);
    assert.equal(await part('redirect').innerText(), `http://localhost:${port}/connected-vehicle/callback`);
  });

  it('signs in in a window of its own, which closes automatically', async () => {
    const opening = page.waitForEvent('popup');
    await press('sign-in');
    const popup = await opening;
    await popup.getByRole('button', { name: 'Sign in' }).click();
    await part('signIn').getByText('Signed in. Deploy what you changed.').waitFor();
    await part('token')
      .getByText(/^Signed in until .*, last renewal: /)
      .waitFor();
    assert.ok(popup.isClosed() || (await popup.innerText('body')).includes('You are signed in'));
  });

  it('signs in by the pasted address', async () => {
    const redirectUrl = page.locator('#node-config-input-redirectUrl');
    await redirectUrl.fill('http://192.168.1.5:1880/connected-vehicle/callback');
    const { port } = new URL(started.nodeRed.url);
    assert.equal(
      await part('redirectWhy').innerText(),
      `The service accepts only an address that begins with https:// or http://localhost (lowercase), without a user name and a fragment (#). Use http://localhost:${port}/connected-vehicle/callback`,
    );
    assert.equal(await part('redirectUsed').isVisible(), false);
    await redirectUrl.fill('http://localhost:9/callback');
    const proposed = `Use http://localhost:${port}/connected-vehicle/callback`;
    await part('redirectWhy').getByText(`ends with /connected-vehicle/callback. ${proposed}`).waitFor();
    await redirectUrl.fill('http://localhost:9/connected-vehicle/callback');
    const opening = page.waitForEvent('popup');
    await press('sign-in');
    const popup = await opening;
    const redirected = popup.waitForRequest(/localhost:9/);
    await popup.getByRole('button', { name: 'Sign in' }).click({ noWaitAfter: true });
    const pasted = page.locator('#connected-vehicle-redirected');
    await pasted.fill('http://localhost:9/connected-vehicle/callback');
    await press('sign-in-finish');
    await part('signIn')
      .getByText(/contains no sign-in code/)
      .waitFor();
    assert.equal(await pasted.inputValue(), 'http://localhost:9/connected-vehicle/callback', 'what was pasted stays');
    await pasted.fill(new URL((await redirected).url()).search);
    await picture(page, 'paste-back');
    let asked = 0;
    page.on('request', (request) => (asked += Number(request.url().endsWith('/sign-in-finish'))));
    await toFront();
    await page.locator('[data-ask=sign-in-finish]').dblclick();
    await part('signIn').getByText('Signed in. Deploy what you changed.').waitFor();
    assert.equal(asked, 1, 'a double click asks once');
    await page.locator('#node-config-input-redirectUrl').fill('');
  });

  it('says what was not granted, in the words of “Allow”', async () => {
    const opening = page.waitForEvent('popup');
    await press('sign-in');
    const popup = await opening;
    await popup.locator('input[name=scope]').evaluate((input) => {
      const scope = input as unknown as { value: string };
      scope.value = scope.value.replace(' conve:unlock', '').replace(' conve:windows_status', '');
    });
    await popup.getByRole('button', { name: 'Sign in' }).click();
    await part('signIn')
      .getByText(
        'without “read the status” (conve:windows_status), “unlock the tailgate” (conve:unlock). It was not ticked on the consent page',
      )
      .waitFor();
  });

  it('says what to untick if the application lacks a scope, in the words of “Allow”', async () => {
    const opening = page.waitForEvent('popup');
    await press('sign-in');
    const popup = await opening;
    await popup.waitForURL(/authorization/);
    const pasted = page.locator('#connected-vehicle-redirected');
    await pasted.fill(`?error=invalid_scope&state=${new URL(popup.url()).searchParams.get('state')}`);
    await press('sign-in-finish');
    await part('signIn')
      .getByText(
        'Ticked now: “lock” (conve:lock), “unlock the tailgate” (conve:unlock), “honk and flash” (conve:honk_flash).',
      )
      .waitFor();
    await part('signIn')
      .getByText(/Untick under “Allow” what it was published without/)
      .waitFor();
    await popup.close();
    assert.match(await pasted.inputValue(), /invalid_scope/);
    const again = page.waitForEvent('popup');
    // Meanwhile, the page hears of the earlier sign-in.
    await page.route(
      /\/sign-in$/,
      async (route) => {
        await page.waitForResponse(/\/state$/);
        await route.continue();
      },
      { times: 1 },
    );
    await press('sign-in');
    await part('signIn').getByText('Sign in in the window that opens.').waitFor();
    assert.equal((await again).isClosed(), false, 'the earlier sign-in closes no window of this one');
    assert.equal(await pasted.inputValue(), '', 'a used address is of no use to another sign-in');
    await (await again).close();
  });

  it('keeps the window of a sign-in when the result of an earlier one comes late', async () => {
    const opening = page.waitForEvent('popup');
    const late = { at: '2026-06-01T12:00:00.000Z', error: { code: 'CANCELLED', message: 'The driver declined.' } };
    const held = await holdAnswer(page, 'state', { token: null, quota: null, signIn: late, demoPage: null });
    await held.asked;
    await press('sign-in');
    const popup = await opening;
    await part('signIn').getByText('Sign in in the window that opens.').waitFor();
    await held.letGo();
    assert.equal(popup.isClosed(), false);
    await part('signIn').getByText('Sign in in the window that opens.').waitFor();
    await popup.close();
  });

  it('makes the commands gray with Read-only, and keeps their ticks and scopes for the portal', async () => {
    const readOnly = page.locator('#node-config-input-readOnly');
    const lock = part('accessCommands').getByLabel('lock', { exact: true });
    const scopes = async (): Promise<string[]> => ((await part('scopeList').textContent()) ?? '').split('\n');
    const before = await scopes();
    assert.ok(before.includes('conve:lock') && !before.includes('openid') && !before.includes('location:read'));
    const [allow, below] = [await part('access').boundingBox(), await readOnly.boundingBox()];
    assert.ok(allow && below && allow.y < below.y, 'a driver first ticks what to publish with');
    await readOnly.check();
    assert.deepEqual([await lock.isChecked(), await lock.isDisabled()], [true, true]);
    assert.deepEqual(await scopes(), before);
    await part('accessReads').getByLabel('position').check();
    assert.deepEqual(await scopes(), [...before, 'location:read']);
    await picture(page, 'read-only');
    await readOnly.uncheck();
    await part('accessReads').getByLabel('position').uncheck();
    assert.deepEqual([await lock.isChecked(), await lock.isDisabled()], [true, false]);
    assert.deepEqual(await scopes(), before);
  });

  it('says that the driver declined', async () => {
    const opening = page.waitForEvent('popup');
    await press('sign-in');
    const popup = await opening;
    await popup.getByRole('button', { name: 'Cancel' }).click();
    await part('signIn')
      .getByText(/declined/)
      .waitFor();
    await popup.close().catch(() => undefined);
  });

  it('does not show that again over what was pasted since', async () => {
    await page.locator('#connected-vehicle-redirected').fill('http://localhost:9/connected-vehicle/callback');
    await press('sign-in-finish');
    const refused = part('signIn').getByText(/contains no sign-in code/);
    await refused.waitFor();
    await (await holdAnswer(page, 'state')).letGo();
    assert.equal(await refused.isVisible(), true, await part('signIn').innerText());
    await page.locator('#connected-vehicle-redirected').fill('');
  });

  it('finds the vehicles and fills in the VIN', async () => {
    await press('vehicles');
    await page.locator('#connected-vehicle-found').selectOption({ label: `V60 2017 ${classicCar.vin}` });
    assert.equal(await page.locator('#node-config-input-vin').inputValue(), classicCar.vin);
    await picture(page, 'vehicles');
  });

  it('checks everything, and copies diagnostics', async () => {
    await press('check');
    await part('result').getByText('✓ Every node has the permissions (scopes) that it needs.').waitFor();
    const lines = await part('result').locator('div').allInnerTexts();
    assert.deepEqual(
      lines.map((line) => line.charAt(0)),
      ['✓', '✓', '✓', '✓', '✓', '✓'],
    );
    await picture(page, 'checked');
    const request = page.waitForRequest(/\/diagnostics$/);
    await page.getByLabel('with the last answers of the car').check();
    await press('diagnostics');
    assert.deepEqual((await request).postDataJSON(), { answers: true });
    await part('result').getByText('Copied. Check it before you send it.').waitFor();
    assert.match((await part('used').textContent()) ?? '', /^\d+ of 10,000 requests in 24 h$/);
  });

  it('names first what is to be corrected, with the label of the field', async () => {
    const vin = page.locator('#node-config-input-vin');
    await vin.fill('YV1CT9551B1570999');
    await press('check');
    await part('result').getByText('✓').first().waitFor();
    const marks = (await part('result').locator('div').allInnerTexts()).map((line) => line.charAt(0));
    assert.deepEqual([marks[0], marks.lastIndexOf('✗')], ['✗', 0], marks.join());
    await vin.fill(classicCar.vin);
    await page.locator('.car-form summary').getByText('Quota and polling').click();
    const requests = page.locator('#node-config-input-requestsPerDay');
    await requests.fill('many');
    await press('check');
    await part('result').getByText('The field “Requests/day” of this form is not valid.').waitFor();
    await requests.fill('10000');
    await requests.blur();
  });

  it('forgets key and secrets when the address changes, and has them again when it is changed back', async () => {
    const key = page.locator('#node-config-input-apiKey');
    assert.equal(await key.inputValue(), '__PWRD__');
    for (const name of ['authorizeUrl', 'tokenUrl', 'baseUrl']) {
      const address = page.locator(`#node-config-input-${name}`);
      const before = await address.inputValue();
      await address.fill('https://elsewhere.example');
      await address.blur();
      await part('moved')
        .getByText(/enter API key, client secret and tokens again/)
        .waitFor();
      assert.equal(await key.inputValue(), '', name);
      if (name === 'baseUrl') await picture(page, 'moved');
      await address.fill(before);
      await address.blur();
      assert.equal(await key.inputValue(), '__PWRD__', name);
      assert.equal(await part('moved').innerText(), '');
    }
  });

  it('removes an answer when the part of the form that it is about changes', async () => {
    const service = page.locator('#node-config-input-service');
    await press('check');
    await part('result').getByText('✓').first().waitFor();
    await service.selectOption('volvo-cars');
    for (const name of ['result', 'found', 'signIn']) assert.equal(await part(name).innerText(), '', name);
    await press('vehicles');
    await part('found').locator('.warning').waitFor();
    await service.selectOption('custom');
    for (const name of ['result', 'found', 'signIn']) assert.equal(await part(name).innerText(), '', name);
    await press('vehicles');
    await page.locator('#connected-vehicle-found').waitFor();
    await service.selectOption('volvo-cars');
    assert.equal(await page.locator('#connected-vehicle-found').isVisible(), false);
    await service.selectOption('custom');
    const clientId = page.locator('#node-config-input-clientId');
    await clientId.fill('');
    await press('sign-in');
    await part('signIn').locator('.warning').waitFor();
    await clientId.fill('demo-client');
    await clientId.blur();
    assert.equal(await part('signIn').innerText(), '');
  });

  it('drops an answer that comes when the form has other values than it was asked about', async () => {
    const vin = page.locator('#node-config-input-vin');
    for (const [action, body] of [
      ['check', undefined],
      ['vehicles', { vehicles: [{ vin: demoCar.vin, model: 'V60', year: 2017 }] }],
    ] as const) {
      const late = await holdAnswer(page, action, body);
      await press(action);
      await late.asked;
      await vin.fill('YV1CT9551B1570999');
      await vin.blur();
      await late.letGo();
      for (const name of ['result', 'found']) assert.equal(await part(name).innerText(), '', `${action}: ${name}`);
      assert.equal(await vin.inputValue(), 'YV1CT9551B1570999');
      await vin.fill(classicCar.vin);
      await vin.blur();
    }
  });

  it('keeps the sign-in under the credential secret of Node-RED, with no key of its own', () => {
    const names = readdirSync(join(started.nodeRed.userDir, 'connected-vehicle'), {
      recursive: true,
      encoding: 'utf8',
    });
    assert.ok(
      names.some((name) => /^state.sign-in.[\da-f]{32}\.json$/.test(name)),
      names.join(' '),
    );
    assert.ok(!names.includes('store.key'));
  });

  it('never holds a token, a key or a secret in the page', async () => {
    assert.doesNotMatch(await page.content(), /demo-key|demo-secret|eyJ/);
  });

  it('says of a pasted token what is wrong with it, and not that another field is empty', async () => {
    await page.locator('#node-config-input-clientId').fill('');
    await page.locator('.car-form summary').getByText('Paste a token').click();
    await page.locator('#node-config-input-accessToken').fill('two words');
    await press('check');
    await part('result')
      .getByText(/The access token contains a space/)
      .waitFor();
  });

  itLong('offers the field for the pasted address from the start if the browser runs on another machine', async () => {
    const { port } = new URL(started.nodeRed.url);
    const elsewhere = await openEditor(started.browser, `http://garage:${port}/`, { complaints: [], height: 1200 });
    await beginForm(elsewhere, 'car');
    await elsewhere.locator('#connected-vehicle-redirected').waitFor();
    assert.equal(
      await partOf(elsewhere, 'redirect').innerText(),
      `http://localhost:${port}/connected-vehicle/callback`,
    );
    await partOf(elsewhere, 'redirectWhy').getByText('an error page. This is expected').waitFor();
    const opening = elsewhere.waitForEvent('popup');
    await elsewhere.locator('[data-ask=sign-in]').click();
    const popup = await opening;
    await popup.getByRole('button', { name: 'Sign in' }).click({ noWaitAfter: true });
    await partOf(elsewhere, 'signIn').getByText('Signed in.').waitFor();
    await elsewhere.locator('#connected-vehicle-redirected').waitFor({ state: 'hidden' });
    await elsewhere.locator('#node-config-input-redirectUrl').fill('https://garage.example/connected-vehicle/callback');
    await elsewhere.locator('#connected-vehicle-redirected').waitFor({ state: 'hidden' });
    await picture(elsewhere, 'remote');
    await elsewhere.close();
  });

  it('asks for its state in one loop however often it was opened, and stops when it is closed', async () => {
    await closeDialog();
    await page.clock.install();
    await openDialog();
    await closeDialog();
    await openDialog();
    let asked = 0;
    page.on('request', (request) => (asked += Number(request.url().endsWith('/state'))));
    const next = await holdAnswer(page, 'state');
    await page.clock.fastForward(3_000);
    await next.letGo();
    assert.equal(asked, 1);
    await closeDialog();
    await page.clock.fastForward(9_000);
    // A request of the page that its own script sends now comes after one that the dialog has sent.
    await page.evaluate(() => fetch('settings'));
    assert.equal(asked, 1);
  });

  it('offers a command node what its vehicle lists', async () => {
    const listed = page.waitForResponse((response) => response.url().endsWith('/car/commands'));
    await beginForm(page, 'send');
    await listed;
    await page.locator('#node-input-command + .red-ui-typedInput-container .red-ui-typedInput-option-trigger').click();
    assert.ok((await page.locator('.red-ui-typedInput-options:visible a').count()) >= 6);
    await page.keyboard.press('Escape');
    await page.locator('#node-dialog-cancel').dispatchEvent('click');
  });
});

/** In the page: the loop of the dialog asks after one second instead of three. */
function askOften(): void {
  const { setTimeout } = globalThis;
  Object.assign(globalThis, {
    setTimeout: (work: () => void, ms?: number, ...given: []) => setTimeout(work, ms === 3_000 ? 1_000 : ms, ...given),
  });
}
