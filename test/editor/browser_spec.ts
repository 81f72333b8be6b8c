import { strict as assert } from 'node:assert';
import type { Page } from 'playwright-core';
import { defaultWatch } from '../../src/index';
import {
  formIsOpen,
  openEditor,
  partOf,
  pendingNote,
  showFlows,
  skipAfterFailure,
  useEditor,
} from '../support/editor-browser';
import { itLong } from '../support/long';

interface FlowNode {
  id: string;
  type: string;
  [property: string]: unknown;
}

describe(`The editor in a browser${pendingNote}`, function () {
  skipAfterFailure(this);
  const complainOfOthers = (opened: Page): unknown =>
    opened.on('request', (request) => {
      if (!request.url().startsWith(started.nodeRed.url) && !request.url().startsWith('data:'))
        started.complaints.push(request.url());
    });
  // It must not ask anything from elsewhere.
  const started = useEditor([], { prepare: complainOfOthers });
  let page: Page;
  before(() => {
    ({ page } = started);
  });

  /** Drags a node out of the palette, opens its dialog and chooses its vehicle. */
  async function addNode(nodeType: string, x: number, y: number, vehicle?: string): Promise<string> {
    const before = await flowNodeIds();
    await page
      .locator(`.red-ui-palette-node[data-palette-type="${nodeType}"]`)
      .dragTo(page.locator('#red-ui-workspace-chart'), { targetPosition: { x, y } });
    await page.locator('g.red-ui-flow-node-group').nth(before.length).waitFor();
    const id = (await flowNodeIds()).find((other) => !before.includes(other)) ?? '';
    await openNode(id);
    if (vehicle !== undefined) await page.locator('#node-input-vehicle').selectOption({ label: vehicle });
    return id;
  }

  const flowNodeIds = (): Promise<string[]> =>
    page.locator('g.red-ui-flow-node-group').evaluateAll((groups) => groups.map(({ id }) => id));

  async function openNode(id: string): Promise<void> {
    await page.locator(`[id="${id}"] rect.red-ui-flow-node`).dblclick();
    await page.waitForSelector('#node-dialog-ok');
    await page.waitForSelector('.car-form');
    await formIsOpen(page);
  }

  async function closeDialog(button: 'node-dialog-ok' | 'node-config-dialog-ok'): Promise<void> {
    await page.locator(`#${button}`).click();
    await page.waitForSelector(`#${button}`, { state: 'detached' });
    // The form slides out, and what is dropped on it falls on no flow.
    if (button === 'node-dialog-ok') await page.waitForSelector('.red-ui-tray', { state: 'detached' });
  }

  async function deploy(): Promise<FlowNode[]> {
    // The button looks done as soon as it is pressed; the answer confirms it.
    const deployed = page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.url() === `${started.nodeRed.url}flows`,
    );
    await page.locator('#red-ui-header-button-deploy').click();
    assert.ok((await deployed).ok());
    await page.waitForSelector('#red-ui-header-button-deploy.disabled');
    const { flows } = (await started.nodeRed.admin('GET', 'flows')) as { flows: FlowNode[] };
    return flows;
  }

  /** Types into a field; the editor looks at what is there when a key goes up. */
  async function type(field: string, text: string): Promise<void> {
    await page.locator(field).fill(text);
    await page.locator(field).press('End');
  }

  /** The widget of a typed property. */
  const typed = (property: string) => page.locator(`#node-input-${property} + .red-ui-typedInput-container`);
  async function chooseType(property: string, label: string): Promise<void> {
    await typed(property).locator('.red-ui-typedInput-type-select').click();
    await page.locator('.red-ui-typedInput-options:visible').getByText(label, { exact: true }).click();
  }

  const part = (name: string) => partOf(page, name);
  const invalid = (field: string) => page.locator(`${field}.input-error`);

  it('adds a demo car and a node that reads it, and deploys both', async () => {
    await addNode('connected-vehicle-status', 300, 100);
    await page.locator('#node-input-btn-vehicle-add').click();
    await page.waitForSelector('#node-config-input-service');
    assert.equal(await page.locator('#node-config-input-apiKey').isVisible(), false);
    assert.equal(await page.locator('#node-config-input-requestsPerDay').isVisible(), false);
    await closeDialog('node-config-dialog-ok');

    // A demo car needs no scopes. Node-RED chooses the new vehicle when the dialog has slid out.
    await page.waitForFunction("document.querySelector('.car-form [data-part=scopes]').textContent === ''");
    assert.equal(await part('chosen').innerText(), 'All windows');
    await type('#connected-vehicle-filter', 'odo');
    await part('reads').getByText('Odometer').click();
    assert.equal(await part('gives').innerText(), 'A number in km.');
    await type('#node-input-poll', '60');
    await closeDialog('node-dialog-ok');

    const flows = await deploy();
    const { id, service } = flows.find(({ type }) => type === 'connected-vehicle') ?? ({} as Partial<FlowNode>);
    const { vehicle, read, poll } =
      flows.find(({ type }) => type === 'connected-vehicle-status') ?? ({} as Partial<FlowNode>);
    assert.deepEqual({ service, vehicle, read, poll }, { service: 'demo', vehicle: id, read: 'odometer', poll: 60 });
  });

  itLong('finds and chooses several reads, and says which scopes they need', async () => {
    const id = await addNode('connected-vehicle-status', 300, 200, 'Demo car');
    await chooseType('read', 'several values');
    await part('reads').getByText('All windows').click();
    assert.equal(await part('chosen').innerText(), 'Choose at least one value');
    await type('#connected-vehicle-filter', 'nothing like it');
    assert.match(await part('notFound').innerText(), /^Nothing found\./);
    assert.equal(await part('reads').isVisible(), false);
    await part('notFound').getByText('Show all').click();
    assert.ok((await part('reads').locator('label:visible').count()) > 50);
    await type('#connected-vehicle-filter', 'tire pressure');
    assert.equal(await part('reads').locator('label:visible').count(), 4);
    await part('reads').getByText('Front left tire pressure').click();
    await type('#connected-vehicle-filter', 'kmTo');
    await part('reads').getByText('Distance to service').click();
    await type('#connected-vehicle-filter', '');
    await part('reads').getByText('Vehicle details').click();
    assert.equal(
      await part('chosen').innerText(),
      'Chosen: Vehicle details, Front left tire pressure, Distance to service',
    );
    assert.equal(await page.locator('.car-form .input-error').count(), 0);
    await page.locator('.car-form summary').click();
    await page.locator('#node-input-interface').selectOption('v1');
    assert.equal(await part('interface').innerText(), 'Not available in version 1: Vehicle details.');
    await closeDialog('node-dialog-ok');

    assert.deepEqual((await deploy()).find((node) => node.id === id)?.['reads'], [
      'details',
      'frontLeftTyrePressure',
      'kmToService',
    ]);
    await openNode(id);
    assert.equal(await part('reads').locator('input:checked').count(), 3);
    await closeDialog('node-dialog-ok');
    assert.equal(await page.locator('#red-ui-header-button-deploy.disabled').count(), 1, 'looking changes nothing');
  });

  it('sends a command of the list, any other, or the one that a message names', async () => {
    const id = await addNode('connected-vehicle-command', 300, 300);
    assert.equal(await page.locator('#node-input-command').inputValue(), 'lock', 'a new command node locks');
    assert.equal(await typed('unlockDuration').isVisible(), false);
    assert.ok((await page.locator('.car-form > .form-row:visible, .car-form > div > .form-row:visible').count()) <= 6);
    await typed('command').locator('.red-ui-typedInput-option-trigger').click();
    await page.locator('.red-ui-typedInput-options:visible').getByText('Unlock the tailgate', { exact: true }).click();
    assert.match(await part('does').innerText(), /tailgate/);
    assert.ok((await page.locator('.car-form > .form-row:visible, .car-form > div > .form-row:visible').count()) <= 6);
    const duration = typed('unlockDuration').locator('input');
    await duration.fill('121');
    await duration.press('Tab');
    await page.locator('.red-ui-typedInput-container.input-error').waitFor();
    await duration.fill('90');
    await duration.press('Tab');
    await page.locator('.red-ui-typedInput-container.input-error').waitFor({ state: 'detached' });
    assert.equal(await page.locator('#node-input-interface').inputValue(), 'v1', 'only version 1 takes a duration');
    await closeDialog('node-dialog-ok');
    const stored = async (): Promise<unknown[]> => {
      const node = (await deploy()).find((other) => other.id === id);
      return [node?.['command'], node?.['unlockDuration']];
    };
    assert.deepEqual(await stored(), ['unlock', 90]);

    await openNode(id);
    await typed('command').locator('.red-ui-typedInput-option-trigger').click();
    await page.locator('.red-ui-typedInput-options:visible').getByText('Lock with reduced guard').click();
    await page.locator('.car-form summary').click();
    assert.equal(await part('interface').innerText(), 'Not available in version 1: Lock with reduced guard.');
    await chooseType('command', 'another name');
    await typed('command').locator('input').fill(' trunk-open ');
    await typed('command').locator('input').press('Tab');
    await closeDialog('node-dialog-ok');
    assert.deepEqual(
      (await stored()).map(String).map((text) => text.trim()),
      ['trunk-open', '90'],
    );

    await openNode(id);
    assert.equal(await page.locator('#node-input-commandType').inputValue(), 'other');
    await chooseType('command', 'from msg.command');
    await closeDialog('node-dialog-ok');
    assert.deepEqual(await stored(), ['', 90]);

    await openNode(id);
    await chooseType('command', 'flow.');
    await typed('command').locator('input').fill('wanted');
    await typed('command').locator('input').press('Tab');
    await closeDialog('node-dialog-ok');
    assert.deepEqual(await stored(), ['wanted', 90]);
    const { flows } = (await started.nodeRed.admin('GET', 'flows')) as { flows: FlowNode[] };
    assert.equal(flows.find((node) => node.id === id)?.['commandType'], 'flow');
  });

  itLong('keeps the numbers of a watch as numbers', async () => {
    const id = await addNode('connected-vehicle-command-status', 600, 300);
    assert.equal(
      await page.locator('#node-input-vehicle option:checked').innerText(),
      'as in the message',
      'the vehicle of the command',
    );
    await type('#node-input-timeout', '${WATCH_SECONDS}');
    await page.locator('.car-form summary').click();
    await type('#node-input-interval', '10');
    await page.locator('#node-input-verify').uncheck();
    assert.equal(await invalid('#node-input-timeout').count(), 0);
    await closeDialog('node-dialog-ok');
    const node = (await deploy()).find((other) => other.id === id);
    assert.deepEqual([node?.['timeout'], node?.['interval'], node?.['verify']], ['${WATCH_SECONDS}', 10, false]);
  });

  itLong(
    'chooses the first of several demo cars, because no real car is at risk, and then the one that its tab uses',
    async () => {
      await addNode('connected-vehicle-status', 800, 300);
      await page.locator('#node-input-vehicle').selectOption('_ADD_');
      await page.locator('#node-input-btn-vehicle-add').click();
      await page.locator('#node-config-input-name').fill('Second demo car');
      await closeDialog('node-config-dialog-ok');
      await closeDialog('node-dialog-ok');
      await addNode('connected-vehicle-status', 800, 400);
      assert.equal(await page.locator('#node-input-vehicle option:checked').innerText(), 'Second demo car');
      await closeDialog('node-dialog-ok');
    },
  );

  itLong('chooses events and adds a place', async () => {
    const id = await addNode('connected-vehicle-event', 300, 500, 'Demo car');
    await part('events').getByText('Charging done').click();
    assert.equal(await page.locator('#node-input-level').isVisible(), false, 'no chosen event needs it');
    await part('events').getByText('Battery at the level or above').click();
    await part('events').getByText('Arrived at a place').click();
    await part('add').click();
    for (const [field, text] of [
      ['Name', 'home'],
      ['Latitude', '57.7'],
      ['Longitude', '11.97'],
    ] as const)
      await part('places').getByLabel(field).fill(text);
    assert.equal(await part('places').getByLabel('Radius (m)').inputValue(), '200');
    const level = typed('level').locator('input');
    await level.fill('101');
    await level.press('Tab');
    await page.locator('.red-ui-typedInput-container.input-error').waitFor();
    await level.fill('80');
    await level.press('Tab');
    await page.locator('.red-ui-typedInput-container.input-error').waitFor({ state: 'detached' });
    await closeDialog('node-dialog-ok');

    const saved = (await deploy()).find((node) => node.id === id) as unknown as Record<string, unknown> | undefined;
    assert.deepEqual(
      [saved?.['events'], saved?.['level'], saved?.['places']],
      [
        ['charging-done', 'battery-above', 'arrived'],
        80,
        [{ name: 'home', latitude: '57.7', longitude: '11.97', radius: '200' }],
      ],
    );
    await openNode(id);
    assert.equal(await part('events').locator('input:checked').count(), 3);
    assert.equal(await part('places').getByLabel('Latitude').inputValue(), '57.7');
    await part('places').getByLabel('Remove').click();
    assert.equal(await part('places').locator('.place').count(), 0);
    await page.locator('#node-dialog-cancel').click();
    await page.waitForSelector('#node-dialog-cancel', { state: 'detached' });
  });

  it('sets up another service, refuses an unsafe address, and never shows a secret again', async () => {
    const id = await addNode('connected-vehicle-status', 600, 100);
    await page.locator('#node-input-vehicle').selectOption('_ADD_');
    await page.locator('#node-input-btn-vehicle-add').click();
    await page.locator('#node-config-input-service').selectOption('custom');
    await type('#node-config-input-baseUrl', 'http://api.example.com');
    await invalid('#node-config-input-baseUrl').waitFor();
    // The editor replaces the hint when it checks the field again, and shows it when the
    // mouse comes from outside.
    const hint = page.getByText('Must begin with https:// (http:// only on this machine)');
    while (!(await hint.isVisible())) {
      await page.mouse.move(0, 0);
      await page.locator('#node-config-input-baseUrl').hover();
      await hint.waitFor({ timeout: 3_000 }).catch(() => undefined);
    }
    await type('#node-config-input-baseUrl', ' https://api.example.com ');
    await invalid('#node-config-input-baseUrl').waitFor({ state: 'detached' });
    await type('#node-config-input-vin', 'YV1CT9551B157');
    await invalid('#node-config-input-vin').waitFor();
    await type('#node-config-input-vin', '${VIN}');
    await invalid('#node-config-input-vin').waitFor({ state: 'detached' });
    await invalid('#node-config-input-apiKey').waitFor();
    await type('#node-config-input-apiKey', ' key-of-the-test ');
    await page.locator('.car-form summary').getByText('Paste a token').click();
    await type('#node-config-input-accessToken', 'token-of-the-test');
    await page.locator('.car-form summary').getByText('Quota').click();
    await type('#node-config-input-requestsPerDay', '500');
    await closeDialog('node-config-dialog-ok');
    await closeDialog('node-dialog-ok');

    const flows = await deploy();
    const vehicle = flows.find((node) => node.id === flows.find((other) => other.id === id)?.['vehicle']);
    assert.deepEqual(
      ['service', 'baseUrl', 'vin', 'apiKeyHeader', 'requestsPerDay'].map((name) => vehicle?.[name]),
      ['custom', 'https://api.example.com', '${VIN}', 'vendor-api-key', 500],
    );
    assert.deepEqual(await started.nodeRed.admin('GET', `credentials/connected-vehicle/${vehicle?.id}`), {
      clientId: '',
      has_apiKey: true,
      has_accessToken: true,
      has_clientSecret: false,
    });
    assert.doesNotMatch(JSON.stringify(flows), /of-the-test/);
    assert.doesNotMatch(await page.content(), /of-the-test/);
  });

  itLong('says what the chosen service does not have, and which scopes it calls for', async () => {
    await addNode('connected-vehicle-status', 600, 200);
    await page.locator('#node-input-vehicle').selectOption('_ADD_');
    await page.locator('#node-input-btn-vehicle-add').click();
    await page.locator('#node-config-input-service').selectOption('volvo-cars');
    await type('#node-config-input-apiKey', 'key');
    const position = part('accessReads').getByLabel('position');
    assert.equal(await position.isChecked(), true);
    assert.equal(await part('accessReads').getByLabel('charging').isChecked(), true);
    await position.uncheck();
    await closeDialog('node-config-dialog-ok');
    const read = (title: string): Promise<void> =>
      part('reads').locator('label').getByText(title, { exact: true }).click();
    await read('Odometer');
    assert.equal(await part('scopes').innerText(), 'Permissions (scopes): openid conve:odometer_status');
    await read('Position');
    assert.match(await part('access').innerText(), /^Not allowed in the configuration of the vehicle: Position\./);
    await read('Cab open');
    assert.equal(await part('access').innerText(), '');
    assert.equal(await part('gone').innerText(), 'Not available at the service of this vehicle: Cab open.');
    await read('All windows');
    await page.locator('.car-form summary').click();
    await page.locator('#node-input-vin + .red-ui-typedInput-container').waitFor();
    for (const hidden of [page.locator('#node-input-interface'), part('interface')])
      assert.equal(await hidden.isVisible(), false, 'a service with one version leaves nothing to choose');
    const volvo = await page.locator('#node-input-vehicle').inputValue();
    await page.locator('#node-input-vehicle').selectOption({ label: 'Demo car' });
    await page.locator('#node-input-interface').selectOption('v1');
    await page.locator('#node-input-vehicle').selectOption(volvo);
    assert.equal(await part('interface').innerText(), 'Not available in version 1: All windows.');
    await closeDialog('node-dialog-ok');
  });

  it('shows a badge in words', async () => {
    const node = (id: string, type: string, x: number, y: number, more: object = {}) => ({
      id,
      type,
      z: 'tab',
      x,
      y,
      name: '',
      vehicle: 'demo-car',
      wires: [[], []],
      ...more,
    });
    const lost = { vehicle: 'deleted', command: 'lock' };
    await showFlows(page, started.nodeRed, [
      { id: 'tab', type: 'tab', label: 'Car' },
      { id: 'demo-car', type: 'connected-vehicle', name: 'Demo', service: 'demo' },
      node('read', 'connected-vehicle-status', 300, 100, { read: 'windows', poll: 0 }),
      node('go', 'inject', 100, 100, { props: [], once: true, onceDelay: 0, repeat: '', wires: [['read']] }),
      node('event', 'connected-vehicle-event', 300, 200, { events: ['locked'] }),
      node('guard', 'connected-vehicle-guard', 500, 100),
      node('lost0', 'connected-vehicle-status', 300, 300, lost),
      node('lost1', 'connected-vehicle-command', 300, 360, lost),
      node('lost2', 'connected-vehicle-command-status', 300, 420, lost),
    ]);
    for (const id of ['lost0', 'lost1', 'lost2'])
      await page.locator(`#${id} .red-ui-flow-node-status-label`, { hasText: /^no car chosen$/ }).waitFor();
    await page
      .locator('#read .red-ui-flow-node-status-label', {
        hasText: /^(all windows closed|rear-right window open) · \d\d:\d\d$/,
      })
      .waitFor();
    await page.locator('#event .red-ui-flow-node-status-label', { hasText: /^waiting for events$/ }).waitFor();
  });

  itLong('speaks German if the browser does, and gives a status in the language of the runtime', async () => {
    const german = await openEditor(started.browser, started.nodeRed.url, {
      locale: 'de-DE',
      complaints: started.complaints,
      prepare: complainOfOthers,
    });
    await german.locator('#event .red-ui-flow-node-status-label', { hasText: /^waiting for events$/ }).waitFor();
    const labels = await german
      .locator('.red-ui-palette-node[data-palette-type^="connected-vehicle"] .red-ui-palette-label')
      .allInnerTexts();
    assert.deepEqual(
      // The palette breaks the line at a hyphen, and puts spaces around it.
      labels.map((label) => label.replace(/\s*-\s*/, '-')),
      ['Auto-Status', 'Auto-Befehl', 'Auto-Ergebnis', 'Auto-Wächter', 'Auto-Ereignis', 'Auto-Bedingung'],
    );
    await german.locator('#read rect.red-ui-flow-node').dblclick();
    // The words that only an open form needs are loaded then.
    await german.locator('label[for="node-input-poll"] span', { hasText: /^Lesen alle$/ }).waitFor();
    await german.close();
  });

  it('shows what a guard watches if its flow does not name it', async () => {
    await openNode('guard');
    const kinds = await page
      .locator('.car-form [data-part="watch"] input:checked')
      .evaluateAll((boxes) => boxes.map((box) => box.getAttribute('value')));
    assert.deepEqual(kinds, defaultWatch);
  });
});
