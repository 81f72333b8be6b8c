import { strict as assert } from 'node:assert';
import type { Locator, Page } from 'playwright-core';
import { axeFindings } from '../../support/axe';
import { closeForm, openForm, picture, showFlows, type Opened } from '../../support/editor-browser';

const stored = [
  { value: 'odometer', operator: '>', operand: 20_000, operandType: 'num' },
  { value: 'odometer', operator: '<', operand: 30_000, operandType: 'num', unit: 'miles' },
  { value: 'batteryChargeLevel', operator: '<', operand: 30, operandType: 'num' },
];

const flow = [
  { id: 'tab', type: 'tab', label: 'Car' },
  { id: 'as-given', type: 'connected-vehicle', name: 'As given', service: 'demo' },
  { id: 'car-uk', type: 'connected-vehicle', name: 'In the UK', service: 'demo', units: 'uk' },
  { id: 'car-us', type: 'connected-vehicle', name: 'In the US', service: 'demo', units: 'us' },
  { id: 'stored', type: 'connected-vehicle-condition', vehicle: 'car-uk', conditions: stored },
  { id: 'older', type: 'connected-vehicle-condition', vehicle: 'as-given', conditions: stored.slice(0, 1) },
  { id: 'new', type: 'connected-vehicle-condition', vehicle: 'car-us' },
  { id: 'status', type: 'connected-vehicle-status', vehicle: 'car-us', read: 'fuelAmount' },
].map((node, row) => ('vehicle' in node ? { wires: [], ...node, z: 'tab', x: 300, y: 40 + row * 40 } : node));

export function testUnits(started: Opened): void {
  describe('The units in the forms', () => {
    let page: Page;
    before(async () => {
      ({ page } = started);
      await showFlows(page, started.nodeRed, flow);
    });

    const row = (index: number): Locator => page.locator('.condition').nth(index);
    const unit = (index: number): Locator => row(index).getByLabel('Unit', { exact: true });
    const unitsIn = (index: number): Promise<string[]> => unit(index).locator('option').allInnerTexts();
    const conditionsOf = (id: string): Promise<unknown> => page.evaluate(`RED.nodes.node('${id}').conditions`);
    const typeOperand = async (index: number, text: string): Promise<void> => {
      await row(index).locator('.red-ui-typedInput-input').click();
      await page.keyboard.type(text);
    };

    it('are chosen in the vehicle configuration', async () => {
      await openForm(page, 'car-uk');
      const units = page.locator('#node-config-input-units');
      assert.equal(await units.inputValue(), 'uk');
      assert.deepEqual(await units.locator('option').allInnerTexts(), [
        'as the car reports them',
        'metric',
        'UK: miles, mpg, °C, liters',
        'US: miles, mpg, °F, gallons',
      ]);
      await units.scrollIntoViewIfNeeded();
      await picture(page, 'units-vehicle');
      await closeForm(page);
    });

    it('of a stored condition stay its own, whatever the vehicle has, and opening its form changes nothing', async () => {
      await openForm(page, 'stored');
      assert.deepEqual([await unit(0).inputValue(), await unit(1).inputValue()], ['kilometers', 'miles']);
      assert.deepEqual(await unitsIn(0), ['km', 'mi']);
      assert.equal(await unit(2).count(), 0, 'percent is the same in every country');
      await picture(page, 'units-condition');
      assert.deepEqual(await axeFindings(page, '.car-form'), []);
      await closeForm(page, 'ok');
      assert.deepEqual(await conditionsOf('stored'), stored);
      assert.equal(await page.evaluate("RED.nodes.node('stored').changed ?? false"), false);
      await openForm(page, 'older');
      assert.equal(await unit(0).count(), 0);
      assert.match(await row(0).innerText(), /km/);
      await page.locator('#node-input-vehicle').selectOption('car-uk');
      assert.equal(await unit(0).inputValue(), 'kilometers');
      await closeForm(page, 'ok');
      assert.deepEqual(await conditionsOf('older'), stored.slice(0, 1));
    });

    it('of a new condition are those of its vehicle, and are stored with the operand', async () => {
      await openForm(page, 'new');
      await row(0).locator('select').first().selectOption('odometer');
      assert.equal(await unit(0).inputValue(), 'miles');
      await page.locator('#node-input-vehicle').selectOption('as-given');
      assert.equal(await unit(0).count(), 0, 'without an operand it follows the vehicle');
      await page.locator('#node-input-vehicle').selectOption('car-us');
      await typeOperand(0, '12000');
      await page.locator('.red-ui-editableList-addButton').click();
      await row(1).locator('select').first().selectOption('externalTemp');
      await typeOperand(1, '40');
      assert.deepEqual(await unitsIn(1), ['°C', '°F']);
      await picture(page, 'units-new-condition');
      await page.locator('#node-input-vehicle').selectOption('as-given');
      assert.deepEqual([await unit(0).inputValue(), await unit(1).inputValue()], ['miles', 'degrees fahrenheit']);
      await closeForm(page, 'ok');
      const fahrenheit = { operandType: 'num', unit: 'degrees fahrenheit' };
      assert.deepEqual(await conditionsOf('new'), [
        { value: 'odometer', operator: '<', operand: 12_000, operandType: 'num', unit: 'miles' },
        { value: 'externalTemp', operator: '<', operand: 40, ...fahrenheit },
      ]);
      assert.match(
        await page.evaluate("String(RED.nodes.node('new')._def.label.call(RED.nodes.node('new')))"),
        /12000 mi/,
      );
    });

    it('give way to those of another value that does not have them', async () => {
      await openForm(page, 'new');
      await row(0).locator('select').first().selectOption('distanceToEmpty');
      assert.equal(await unit(0).inputValue(), 'miles', 'a distance as before');
      await row(0).locator('select').first().selectOption('batteryChargeLevel');
      assert.equal(await unit(0).count(), 0);
      await closeForm(page);
    });

    it('are beside the values of a car status node', async () => {
      await openForm(page, 'status');
      assert.match(await page.locator('[data-part="reads"] label:has(input:checked)').innerText(), /gal/);
      await closeForm(page);
    });
  });
}
