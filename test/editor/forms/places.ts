import { strict as assert } from 'node:assert';
import type { Page } from 'playwright-core';
import { axeFindings } from '../../support/axe';
import { formIsOpen, partOf, picture, showFlows, skipAfterFailure, type Opened } from '../../support/editor-browser';

const own = { name: 'Work', latitude: 57.7, longitude: 11.9, radius: 200 };

const flow = [
  { id: 'tab', type: 'tab', label: 'Car' },
  { id: 'demo-car', type: 'connected-vehicle', name: 'Demo car', service: 'demo' },
  { id: 'event', type: 'connected-vehicle-event', events: ['arrived'], places: [own] },
  {
    id: 'condition',
    type: 'connected-vehicle-condition',
    conditions: [{ value: 'location', operator: 'within', operand: own }],
  },
].map((node, row) => (row < 2 ? node : { ...node, vehicle: 'demo-car', z: 'tab', x: 300, y: row * 80, wires: [] }));

interface Stored {
  id: string;
  places?: unknown[];
  conditions?: { operand: unknown }[];
}

export function testPlaces(started: Opened): void {
  describe('The places of a vehicle configuration', function () {
    skipAfterFailure(this);
    let page: Page;
    before(async () => {
      ({ page } = started);
      await showFlows(page, started.nodeRed, flow);
    });

    const part = (name: string) => partOf(page, name);
    const section = () => part('named');

    async function openNode(id: string): Promise<void> {
      await page.locator(`[id="${id}"] rect.red-ui-flow-node`).dblclick();
      await page.waitForSelector('#node-dialog-ok');
      await formIsOpen(page);
    }
    async function openVehicle(): Promise<void> {
      await page.locator('#node-input-btn-vehicle-edit').click();
      await page.waitForSelector('#node-config-dialog-ok');
      await formIsOpen(page);
    }
    async function press(button: string): Promise<void> {
      await page.locator(`#${button}`).click();
      await page.waitForSelector(`#${button}`, { state: 'detached' });
      if (!button.includes('config')) await page.waitForSelector('.red-ui-tray', { state: 'detached' });
    }
    async function deploy(): Promise<Stored[]> {
      const deployed = started.nodeRed.deployed();
      await page.locator('#red-ui-header-button-deploy').click();
      await deployed;
      return ((await started.nodeRed.admin('GET', 'flows')) as { flows: Stored[] }).flows;
    }
    const isValid = (id: string): Promise<unknown> => page.evaluate(`RED.nodes.node('${id}').valid !== false`);

    it('are filled in with the position of the demo car, and say what is wrong', async () => {
      await openNode('event');
      assert.equal(await part('places').locator('select').isVisible(), false, 'there is no place to choose yet');
      await part('once').waitFor();
      await openVehicle();
      await section().locator('summary').click();
      await section().getByText('Add a place').click();
      assert.equal(
        await section()
          .getByLabel('Name')
          .evaluate((field) => field === document.activeElement),
        true,
      );
      await page.keyboard.type('Home');
      await page.keyboard.press('Tab');
      await section().getByText('“Home”: the latitude must be a number from -90 to 90').waitFor();
      await picture(page, 'places-missing');
      await section().getByRole('button', { name: "Use the car's position" }).click();
      await section().getByText('the latitude').waitFor({ state: 'detached' });
      assert.match(await section().getByLabel('Latitude (°)').inputValue(), /^\d+\.\d+$/);
      await section().getByText('Add a place').click();
      await page.keyboard.type('Home');
      await section().getByRole('button', { name: "Use the car's position" }).last().click();
      await section().getByText('Two places are named “Home”').waitFor();
      await picture(page, 'places-twice');
      assert.deepEqual(await axeFindings(page, '.car-form [data-part=named]'), []);
      await section().getByLabel('Remove').last().click();
      await section().getByText('Two places').waitFor({ state: 'detached' });
      await picture(page, 'places-filled');
      await press('node-config-dialog-ok');
    });

    it('are then chosen in an event, whose own place is kept', async () => {
      await part('places').locator('select').waitFor();
      assert.equal(await part('once').isVisible(), false);
      assert.equal(await part('places').getByLabel('Latitude (°)').inputValue(), '57.7');
      await part('add').click();
      const added = part('places').locator('.place').last();
      assert.equal(await added.locator('select').inputValue(), 'Home');
      assert.equal(await added.getByLabel('Latitude (°)').isVisible(), false);
      await picture(page, 'places-event');
      await press('node-dialog-ok');
      assert.deepEqual(await page.evaluate("RED.nodes.node('event').places"), [
        { name: 'Work', latitude: '57.7', longitude: '11.9', radius: '200' },
        'Home',
      ]);
    });

    it('are chosen in a condition, which can be checked before the deploy', async () => {
      await openNode('condition');
      const operand = page.locator('.condition .operand');
      assert.equal(await operand.getByLabel('Latitude (°)').inputValue(), '57.7');
      await operand.locator('select').selectOption('Home');
      await picture(page, 'places-condition');
      await page.locator('[data-ask=conditions]').click();
      await part('answer').getByText('Position: at Home').waitFor();
      await press('node-dialog-ok');
      const stored = await deploy();
      const [event, condition, car] = ['event', 'condition', 'demo-car'].map((id) =>
        stored.find((one) => one.id === id),
      );
      assert.deepEqual([event?.places?.[1], condition?.conditions?.[0]?.operand], ['Home', 'Home']);
      assert.equal(car?.places?.length, 1);
    });

    it('change nothing when the forms are opened and closed again', async () => {
      await openNode('condition');
      await openVehicle();
      await press('node-config-dialog-ok');
      await press('node-dialog-ok');
      await openNode('event');
      await press('node-dialog-ok');
      assert.equal(
        await page.evaluate("RED.nodes.node('event').changed || RED.nodes.node('condition').changed || false"),
        false,
      );
    });

    it('make the nodes that name one invalid when it is renamed, with a reason in the form', async () => {
      await openNode('event');
      await openVehicle();
      await section().locator('summary').click();
      await section().getByLabel('Name').fill('My home');
      await press('node-config-dialog-ok');
      await part('placeReason').getByText('The vehicle configuration has no place “Home”').waitFor();
      await picture(page, 'places-renamed');
      await press('node-dialog-ok');
      assert.deepEqual([await isValid('event'), await isValid('condition')], [false, false]);
      await openNode('event');
      await part('places').locator('select').last().selectOption('My home');
      await part('placeReason').getByText('“Home”').waitFor({ state: 'detached' });
      await press('node-dialog-ok');
      assert.deepEqual([await isValid('event'), await isValid('condition')], [true, false]);
    });

    it('are named by a tariff, which the form marks while it names a place that is not there', async () => {
      const tariff = { perKWh: 0.35, places: [{ name: 'Home', perKWh: 0.1 }] };
      const reason = part('tariffReason');
      const notThere = 'The vehicle configuration has no place “Home”';
      await openNode('event');
      await openVehicle();
      await page.locator('summary', { hasText: 'Price of energy' }).click();
      const price = page.locator('.form-row', { has: page.locator('#node-config-input-tariff') });
      await price.locator('.red-ui-typedInput-type-select').click();
      await page.locator('.red-ui-typedInput-options:visible').getByText('JSON', { exact: true }).click();
      await price.locator('.red-ui-typedInput-input').fill(JSON.stringify(tariff));
      await page.keyboard.press('Tab');
      await reason.getByText(notThere).waitFor();
      assert.equal(await price.locator('.red-ui-typedInput-container.input-error').count(), 1);
      await section().locator('summary').click();
      await section().getByLabel('Name').fill('Home');
      await page.keyboard.press('Tab');
      await reason.getByText(notThere).waitFor({ state: 'detached' });
      assert.equal(await price.locator('.input-error').count(), 0, 'the form looks at the places that it shows');
      await section().getByLabel('Name').fill('My home');
      await press('node-config-dialog-ok');
      assert.equal(await isValid('demo-car'), false);
      await openVehicle();
      assert.equal(await reason.isVisible(), true, 'the section of a wrong tariff is open');
      await picture(page, 'places-tariff');
      assert.deepEqual(await axeFindings(page, '.car-form [data-part=tariffReason]'), []);
      await section().locator('summary').click();
      await section().getByLabel('Name').fill('Home');
      await press('node-config-dialog-ok');
      await press('node-dialog-ok');
      assert.equal(await isValid('demo-car'), true);
    });

    it('can be one place that was written by hand without a list, which the form shows and keeps', async () => {
      await page.evaluate((place) => {
        const { RED } = globalThis as unknown as { RED: { nodes: { node(id: string): object } } };
        Object.assign(RED.nodes.node('demo-car'), { places: place });
      }, own);
      await openNode('event');
      await openVehicle();
      assert.equal(await section().getByLabel('Name').inputValue(), 'Work');
      await press('node-config-dialog-ok');
      await press('node-dialog-ok');
      assert.deepEqual(await page.evaluate("RED.nodes.node('demo-car').places"), own);
    });
  });
}
