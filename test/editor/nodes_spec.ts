import { strict as assert } from 'node:assert';
import type { Page } from 'playwright-core';
import { axeFindings } from '../support/axe';
import {
  closeForm,
  openEditor,
  openForm,
  partOf,
  pendingNote,
  picture,
  showTheme,
  useEditor,
} from '../support/editor-browser';
import { isLong } from '../support/long';
import { testPlaces } from './forms/places';
import { testUnits } from './forms/units';

const low = { value: 'batteryChargeLevel', operator: '<', operand: 10 };
const node = (id: string, type: string, config: object, at: number) => ({
  id,
  type: `connected-vehicle-${type}`,
  z: 'tab',
  x: 200,
  y: 40 + 60 * at,
  vehicle: 'car',
  wires: [],
  ...config,
});
const nodes = [
  node('status', 'status', { read: 'several', reads: ['odometer', 'fuel'] }, 0),
  node('command', 'command', { command: 'lock' }, 1),
  node('result', 'command-status', {}, 2),
  node('guard', 'guard', { watch: ['window'], poll: 0 }, 3),
  node('event', 'event', { events: ['arrived'], places: [{ name: 'Home', latitude: 57, longitude: 11 }], poll: 0 }, 4),
  node('placeless', 'event', { events: ['arrived'], poll: 0 }, 5),
  node('condition', 'condition', { conditions: [low, { ...low, operator: '>' }] }, 6),
  node(
    'open',
    'condition',
    {
      match: 'any',
      conditions: [
        { ...low, operand: 'limit', operandType: 'msg' },
        { value: 'doors.locked', operator: 'is', operand: true },
      ],
    },
    7,
  ),
];
const flow = [
  { id: 'tab', type: 'tab', label: 'Car' },
  { id: 'car', type: 'connected-vehicle', name: 'My car', service: 'demo', demoCar: 'electric' },
  ...nodes,
];
const forms = nodes.map(({ id }) => id);
/** The width of the sidebar in which the help was cut off. */
const paneWidth = 313;

describe(`The forms and labels of the nodes in a browser${pendingNote}`, () => {
  const started = useEditor(flow, { height: 900 });
  let page: Page;
  before(() => {
    ({ page } = started);
  });

  const label = async (id: string): Promise<string> =>
    (await page.locator(`[id="${id}"] .red-ui-flow-node-label`).textContent()) ?? '';
  const check = () => page.locator('[data-ask=conditions]');
  /** Waits for the end of an answer. */
  async function answer(): Promise<string[]> {
    await partOf(page, 'answer').locator('strong, .warning').first().or(page.locator('.answer.warning')).waitFor();
    return (await partOf(page, 'answer').innerText()).split('\n');
  }

  it('say on the canvas what a node does', async () => {
    assert.deepEqual(await Promise.all(forms.map(label)), [
      'Odometer, Fuel and battery (group)',
      'Lock',
      'car result',
      'Windows',
      'Arrived at Home',
      'Arrived at a place',
      'Battery level < 10 %, …',
      'Battery level < msg.limit, …',
    ]);
  });

  it('check conditions as the form has them, and show each value with its result', async () => {
    await openForm(page, 'condition');
    await check().click();
    assert.match((await answer()).join(), /^no,✗ Battery level: \d+ %,✓ Battery level: \d+ %$/);
    await page.locator('#node-input-match').selectOption('any');
    assert.equal(await partOf(page, 'answer').innerText(), '', 'it was the answer for all conditions');
    await check().click();
    assert.equal((await answer())[0], 'yes');
    await picture(page, 'nodes-check');
    assert.deepEqual(await axeFindings(page, '.car-form', 'all'), []);
    if (isLong) {
      await showTheme(page, 'dark');
      await picture(page, 'nodes-check-dark');
      assert.deepEqual(await axeFindings(page, '.car-form', 'colors'), []);
      await showTheme(page, 'light');
    }
    await closeForm(page);
    await openForm(page, 'open');
    await check().click();
    assert.match(
      (await answer()).join(),
      /^yes,\? Battery level: \d+ %,✓ Lock: locked$/,
      'only a message has the limit',
    );
    await closeForm(page);
  });

  it('keep how long a condition has to last, check it, and show it on the canvas', async () => {
    const first = page.locator('.condition').first();
    const stored = (): Promise<string> => page.evaluate(`JSON.stringify(RED.nodes.node('condition').conditions)`);
    const before = await stored();
    await openForm(page, 'condition');
    const minutes = first.locator('.lasting input');
    for (const [typed, isRefused] of [
      ['10081', true],
      ['90', false],
    ] as const) {
      await minutes.fill(typed);
      await minutes.press('Tab');
      assert.equal(await check().isDisabled(), isRefused, typed);
    }
    await first.locator('select').last().selectOption('older than');
    assert.equal(await minutes.isVisible(), false, 'an age is a time already');
    await first.locator('select').last().selectOption('<');
    await first.locator('.operand .red-ui-typedInput-input').fill('10');
    await closeForm(page, 'ok');
    assert.match(await stored(), /^\[\{[^}]*"forMinutes":90\}/);
    assert.equal(await label('condition'), 'Battery level < 10 % (≥ 90 min), …');
    await page.keyboard.press('Control+z');
    assert.equal(await stored(), before);
  });

  it('check nothing while a row is not finished or no car is chosen, and say why', async () => {
    await openForm(page, 'condition');
    await page.locator('.condition').first().locator('.red-ui-typedInput-input').fill('');
    await page.locator('.condition').first().locator('.red-ui-typedInput-input').press('End');
    assert.equal(await check().isDisabled(), true);
    assert.match(await partOf(page, 'reason').innerText(), /^Condition 1/);
    await closeForm(page);
    await openForm(page, 'condition');
    await page.route('**/conditions', (route) => route.fulfill({ contentType: 'text/html', body: 'Sign in' }));
    await check().click();
    assert.match((await answer()).join(), /^Node-RED does not answer/);
    await page.unroute('**/conditions');
    await page.locator('#node-input-vehicle').selectOption('_ADD_');
    await check().click();
    assert.deepEqual(await answer(), ['Choose a vehicle first.']);
    await closeForm(page);
  });

  it('drop an answer that comes after the conditions have changed', async () => {
    await openForm(page, 'condition');
    let release: () => void = () => undefined;
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/conditions', async (route) => {
      await isReleased;
      await route.continue();
    });
    const arrived = page.waitForResponse('**/conditions');
    await check().click();
    await page.locator('#node-input-match').selectOption('any');
    release();
    await (await arrived).finished();
    await page.evaluate('0');
    assert.equal(await partOf(page, 'answer').innerText(), '');
    await page.unroute('**/conditions');
    await closeForm(page);
  });

  it('label the search of a condition, and sort its values by title within their theme', async () => {
    await openForm(page, 'condition');
    assert.equal(await page.getByLabel('Find a value').count(), 1);
    const titles = await page
      .locator('.condition select')
      .first()
      .locator('optgroup')
      .evaluateAll((groups) => groups.map((group) => [...group.querySelectorAll('option')].map(({ text }) => text)));
    for (const group of titles.slice(3))
      assert.deepEqual(
        group,
        [...group].sort((a, b) => a.localeCompare(b, 'en')),
      );
    assert.equal(titles[1]?.[0], 'Doors');
    await closeForm(page);
  });

  it('find values by their unit and by what people say', async () => {
    await openForm(page, 'status');
    const shown = async (typed: string): Promise<string[]> => {
      await page.locator('#connected-vehicle-filter').fill(typed);
      return page.locator('.car-form .choices label:visible span').allInnerTexts();
    };
    assert.ok((await shown('km')).length > 5, 'each value in km');
    assert.ok((await shown('kwh')).length >= 3);
    assert.ok((await shown('charge limit')).includes('Target battery level'));
    assert.deepEqual(await shown('heater'), []);
    await partOf(page, 'notFound').getByText('“Car command” changes something in the car.').waitFor();
    await closeForm(page);
    await openForm(page, 'condition');
    await partOf(page, 'search').pressSequentially('unlock');
    const found = page.locator('.red-ui-autoComplete-container li');
    await found.first().waitFor();
    assert.deepEqual(await found.allInnerTexts(), ['Lock']);
    await page.keyboard.press('Escape');
    await closeForm(page);
  });

  it('say what a place lacks that was added and is empty', async () => {
    await openForm(page, 'placeless');
    const reason = partOf(page, 'placeReason');
    assert.equal(await reason.innerText(), 'add a place');
    await partOf(page, 'add').click();
    assert.equal(await reason.innerText(), 'Each place needs a name, a latitude and a longitude');
    await partOf(page, 'places').getByLabel('Remove').click();
    assert.equal(await reason.innerText(), 'add a place');
    await closeForm(page);
  });

  it('show a number with the unit as the list has it', async () => {
    await openForm(page, 'status');
    await page.locator('[data-ask=read]').click();
    await partOf(page, 'answer')
      .getByText(/^\d+ km/)
      .waitFor();
    await closeForm(page);
  });

  for (const locale of isLong ? ['en-US', 'de-DE', 'fr-FR'] : ['en-US'])
    it(`have a help that fits into a narrow sidebar: ${locale}`, async () => {
      const on =
        locale === 'en-US'
          ? page
          : await openEditor(started.browser, started.nodeRed.url, {
              locale,
              height: 900,
              complaints: started.complaints,
            });
      const tooWide = await on.evaluate(
        `['', '-status', '-command', '-command-status', '-guard', '-event', '-condition'].flatMap((end) => {
        const pane = $('<div class="red-ui-help">').css({ width: ${paneWidth} });
        pane.append($('<div class="red-ui-help-markdown">').html(RED.utils.renderMarkdown(RED.nodes.getNodeHelp('connected-vehicle' + end))));
        $('.red-ui-sidebar-help-stack, .red-ui-sidebar-node-info, body').first().append(pane);
        const { right } = pane[0].getBoundingClientRect();
        // A block of code scrolls within its own box.
        const wide = pane.find('*').get().filter((one) => !one.closest('pre') && one.getBoundingClientRect().right > right + 0.5);
        pane.remove();
        return wide.map((one) => end + ' ' + one.tagName + ': ' + one.textContent.slice(0, 60));
      })`,
      );
      assert.deepEqual(tooWide, []);
    });

  it('name the car as soon as there is a second one, and leave a new command without one', async () => {
    assert.equal(await label('command'), 'Lock');
    await page.evaluate(
      "RED.nodes.import([{ id: 'wife', type: 'connected-vehicle', name: 'Wife car', service: 'demo' }], { importMap: {} })",
    );
    await page.waitForFunction("document.getElementById('command').textContent.includes('My car')");
    assert.equal(await label('command'), 'Lock · My car');
    assert.equal(await label('guard'), 'Windows · My car');
    const before = await page.locator('g.red-ui-flow-node-group').count();
    await page
      .locator('.red-ui-palette-node[data-palette-type="connected-vehicle-command"]')
      .dragTo(page.locator('#red-ui-workspace-chart'), { targetPosition: { x: 600, y: 100 } });
    await page.locator('g.red-ui-flow-node-group').nth(before).waitFor();
    const id = (await page.locator('g.red-ui-flow-node-group').last().getAttribute('id')) ?? '';
    assert.equal(await page.evaluate(`RED.nodes.node('${id}').vehicle`), '');
    assert.equal(await page.evaluate(`RED.nodes.node('${id}').valid`), false);
    await openForm(page, id);
    assert.equal(await page.locator('#node-input-vehicle').inputValue(), '_ADD_');
    await page.locator('#node-input-vehicle').selectOption({ label: 'Wife car' });
    await closeForm(page, 'ok');
    assert.equal(await label(id), 'Lock · Wife car');
    assert.equal(await page.evaluate(`RED.nodes.node('${id}').valid`), true);
    await picture(page, 'nodes-two-cars');
    await page.evaluate("RED.nodes.remove('wife')");
    await page.waitForFunction("!document.getElementById('guard').textContent.includes('My car')");
  });

  testUnits(started);
  testPlaces(started);
});
