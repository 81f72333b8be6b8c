import { strict as assert } from 'node:assert';
import type { Locator, Page } from 'playwright-core';
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
import { loadedFlow, testLoading } from './forms/loading';
import { everyNth, isLong, itLong } from '../support/long';

/** Conditions of four kinds, each with its own operand. */
const hundredRows = Array.from({ length: 100 }, (_, at) =>
  [
    { value: 'odometer', operator: '>', operand: at },
    { value: 'doors.locked', operator: 'is', operand: 'true' },
    { value: 'chargingStatus', operator: 'one of', operand: 'IDLE,DONE' },
    { value: 'location', operator: 'within', operand: { name: `Place ${at}`, latitude: '57.7', longitude: '11.9' } },
  ].at(at % 4),
);

/**
 * A flow as an older version or a person wrote it: properties are missing, lists
 * are in their own order.
 */
const flow: ({ id: string; type: string } & Record<string, unknown>)[] = [
  { id: 'tab', type: 'tab', label: 'Car' },
  { id: 'demo-car', type: 'connected-vehicle', name: 'Demo car', service: 'demo' },
  { id: 'volvo', type: 'connected-vehicle', name: 'My Volvo', service: 'volvo-cars' },
  { id: 'read-only', type: 'connected-vehicle', name: 'My Volvo', service: 'volvo-cars', readOnly: true },
  {
    id: 'custom-car',
    type: 'connected-vehicle',
    name: 'Custom',
    service: 'custom',
    baseUrl: 'https://api.example.com',
  },
  { id: 'one', type: 'connected-vehicle-status', vehicle: 'demo-car', read: 'windows' },
  {
    id: 'several',
    type: 'connected-vehicle-status',
    vehicle: 'demo-car',
    read: 'several',
    reads: ['odometer', 'windows'],
  },
  { id: 'polled', type: 'connected-vehicle-status', vehicle: 'demo-car', read: 'doors', poll: 60, vin: '' },
  { id: 'environment', type: 'connected-vehicle-status', vehicle: 'demo-car', read: 'doors', poll: '${POLL}' },
  { id: 'from-flow', type: 'connected-vehicle-status', vehicle: 'demo-car', read: 'wanted', readType: 'flow' },
  { id: 'lock', type: 'connected-vehicle-command', vehicle: 'demo-car', command: 'lock' },
  { id: 'unlock', type: 'connected-vehicle-command', vehicle: 'demo-car', command: 'unlock', unlockDuration: 90 },
  { id: 'message', type: 'connected-vehicle-command', vehicle: 'demo-car', command: '' },
  { id: 'unnamed', type: 'connected-vehicle-command', vehicle: 'demo-car' },
  { id: 'other', type: 'connected-vehicle-command', vehicle: 'demo-car', command: 'trunk-open', whenBusy: 'queue' },
  { id: 'nothing-sent', type: 'connected-vehicle-command', vehicle: 'read-only', command: 'lock' },
  { id: 'result', type: 'connected-vehicle-command-status', vehicle: 'demo-car' },
  { id: 'guard', type: 'connected-vehicle-guard', vehicle: 'demo-car', minutes: 15, minutesFor: { lock: 3 } },
  {
    id: 'single',
    type: 'connected-vehicle-guard',
    vehicle: 'demo-car',
    watch: ['lock', 'frontLeftDoor', 'window'],
    quietHours: '22:00-07:00',
  },
  {
    id: 'event',
    wires: [['texts']],
    type: 'connected-vehicle-event',
    vehicle: 'demo-car',
    events: ['unlocked', 'locked', 'arrived'],
    places: [{ name: 'Home', latitude: 57.7, longitude: 11.9, radius: 200 }],
  },
  {
    id: 'condition',
    type: 'connected-vehicle-condition',
    vehicle: 'demo-car',
    conditions: [
      { value: 'batteryChargeLevel', operator: '<', operand: 30 },
      { value: 'doors.locked', operator: 'is', operand: true },
      { value: 'chargingStatus', operator: 'one of', operand: ['IDLE', 'DONE'] },
      { value: 'externalTemp', operator: 'between', operand: [-5, 3] },
      { value: 'location', operator: 'within', operand: { name: 'Home', latitude: 57.7, longitude: 11.9 } },
      { value: 'odometer', operator: '>', operand: 'limit', operandType: 'flow' },
      { value: 'frontLeftDoorOpen', operator: 'older than', operand: 60, operandType: 'num' },
      { value: 'newer', operator: 'is', operand: 'kept' },
      { value: 'chargerConnectionStatus', operator: 'is', operand: 'NEWER' },
      { value: 'chargingStatus', operator: 'one of', operand: ['IDLE', 'NEWER'] },
      { value: 'doors.locked', operator: 'is', operand: 'unlocked' },
    ],
  },
  { id: 'unset', type: 'connected-vehicle-condition', vehicle: 'demo-car' },
  {
    id: 'not-served',
    type: 'connected-vehicle-condition',
    vehicle: 'volvo',
    conditions: [
      { value: 'odometer', operator: '>', operand: 5 },
      { value: 'externalTemp', operator: '<', operand: 3 },
    ],
  },
  { id: 'long', type: 'connected-vehicle-condition', vehicle: 'demo-car', conditions: hundredRows },
].map((node, row) => ('vehicle' in node ? { wires: [], ...node, z: 'tab', x: 300, y: 40 + row * 40 } : node));
flow.push({
  id: 'texts',
  type: 'debug',
  z: 'tab',
  x: 600,
  y: 40,
  active: true,
  tosidebar: true,
  complete: 'payload.text',
});

/** A tab whose nodes all use one of the cars, and a node without one. */
const secondTab = [
  { id: 'second', type: 'tab', label: 'Volvo' },
  { id: 'neighbor', type: 'connected-vehicle-status', z: 'second', vehicle: 'volvo', x: 300, y: 40, wires: [] },
  { id: 'beside', type: 'connected-vehicle-guard', z: 'second', vehicle: '', x: 300, y: 80, wires: [] },
];

const configs = flow.filter(({ type }) => type === 'connected-vehicle').map(({ id }) => id);
const nodes = flow.filter((node) => 'vehicle' in node).map(({ id }) => id);

describe(`The forms in a browser${pendingNote}`, () => {
  const started = useEditor([...flow, ...secondTab, ...loadedFlow], {
    height: 900,
    // Tests keep the code of forms from the page.
    isKnown: (text) => text === 'Failed to load resource: net::ERR_FAILED',
  });
  const { complaints } = started;
  let page: Page;
  /** By language. */
  const pages: Record<string, Page> = {};
  before(() => {
    ({ page } = started);
    pages['en-US'] = page;
  });

  testLoading(started);

  const inLanguage = async (locale: string): Promise<Page> =>
    (pages[locale] ??= await openEditor(started.browser, started.nodeRed.url, { locale, height: 900, complaints }));

  const openFolds = (on: Page = page, isOpen = true): Promise<unknown> =>
    on.evaluate(`document.querySelectorAll('.car-form details').forEach((fold) => (fold.open = ${isOpen}))`);

  // One form of each type is looked at in both themes, and in another language, which has the same
  // fields with other words.
  const ofEachType = ['volvo', 'one', 'unlock', 'result', 'guard', 'event', 'condition'];
  // Forms with a warning, which has its own color.
  const withWarning = ['nothing-sent', 'not-served', 'unset'];
  // In the short form of the test, a form of each type, those with a warning and one with a number
  // out of the environment are opened; axe looks at three, and at the colors of two.
  const inShort = new Set([...ofEachType, ...withWarning, 'environment']);
  const openedForms = [...nodes, ...configs].filter((id) => isLong || inShort.has(id));
  const inColors = everyNth(8, [...ofEachType, ...withWarning]);
  const lookedAt = openedForms.filter((id) => id !== 'long' && (isLong || inColors.includes(id) || id === 'one'));
  /** By form: what axe finds in it. */
  const findings: Record<string, string[]> = {};

  it('fit into their width, and change nothing when they are opened and closed, also in flows that lack properties', async () => {
    // Node-RED adds empty credentials to a configuration that has none yet, and
    // marks it as changed.
    const asSaved = (id: string): Promise<unknown> =>
      page.evaluate(`JSON.stringify({ ...RED.nodes.convertNode(RED.nodes.node('${id}')), credentials: undefined })`);
    for (const id of openedForms) {
      const before = await asSaved(id);
      await openForm(page, id);
      assert.equal(await page.locator('.car-form > [role=status]').filter({ hasText: 'loading' }).count(), 0, id);
      const [width, place, content] = await page.locator('.red-ui-tray').evaluate((tray) => {
        const { clientWidth = 0, scrollWidth = 0 } = tray.querySelector('.red-ui-tray-content') ?? {};
        return [tray.getBoundingClientRect().width, clientWidth, scrollWidth] as const;
      });
      assert.ok(content <= place, `${id}: ${content} in ${place} pixels`);
      assert.ok(width >= 480 && width <= (configs.includes(id) ? 900 : 620), `${id}: ${width} pixels`);
      // Opening a form is most of the work of a test: the next test has what axe found meanwhile.
      if (lookedAt.includes(id)) findings[id] = await inBothThemes(id);
      await closeForm(page, 'ok');
      if (nodes.includes(id)) assert.equal(await page.evaluate('RED.nodes.dirty()'), false, id);
      assert.equal(await asSaved(id), before, id);
    }
  });

  async function inBothThemes(id: string): Promise<string[]> {
    await picture(page, `en-US-${id}`);
    await openFolds();
    const found = await axeFindings(page, '.car-form', inColors.includes(id) ? 'all' : 'all but colors');
    await picture(page, `en-US-${id}-open`);
    if (ofEachType.includes(id) && inColors.includes(id)) {
      await showTheme(page, 'dark');
      await picture(page, `en-US-${id}-dark`);
      found.push(...(await axeFindings(page, '.car-form', 'colors')));
      await showTheme(page, 'light');
    }
    await openFolds(page, false);
    return found;
  }

  it('choose the car that the other nodes of the tab use', async () => {
    await openForm(page, 'beside');
    assert.equal(await page.locator('#node-input-vehicle').inputValue(), 'volvo');
    await closeForm(page);
  });

  it('say in a command that its car is read-only', async () => {
    for (const [id, says] of [
      ['nothing-sent', 'This car is read-only: nothing will be sent.'],
      ['lock', ''],
    ] as const) {
      await openForm(page, id);
      assert.equal(await partOf(page, 'access').innerText(), says);
      await closeForm(page, 'ok');
    }
  });

  it('can be used by everybody in a light and a dark theme, as far as axe can tell: en-US', () => {
    assert.deepEqual(findings, Object.fromEntries(lookedAt.map((id) => [id, []])));
  });

  for (const locale of ['de-DE', 'fr-FR'])
    itLong(`can be used by everybody, as far as axe can tell: ${locale}`, async () => {
      const opened = await inLanguage(locale);
      for (const id of ofEachType) {
        await openForm(opened, id);
        await picture(opened, `${locale}-${id}`);
        await openFolds(opened);
        // The colors are the same in each language.
        assert.deepEqual(await axeFindings(opened, '.car-form', 'all but colors'), [], id);
        await picture(opened, `${locale}-${id}-open`);
        await closeForm(opened);
      }
    });

  it('tie each hint to its field', async () => {
    await openForm(page, 'one');
    const id = await page.locator('#node-input-poll').getAttribute('aria-describedby');
    assert.match(await page.locator(`[id="${id}"]`).innerText(), /^With 0, it reads only when a message comes in\./);
    await closeForm(page, 'ok');
  });

  it('read now, and show each value with its path, which a button copies', async () => {
    await openForm(page, 'one');
    await page.locator('[data-ask=read]').click();
    const rearRight = partOf(page, 'answer').locator('.value', { hasText: 'msg.payload.rearRight.value' });
    await rearRight.getByText(/^(OPEN|CLOSED) \(.*\d\d:\d\d\)$/).waitFor();
    await rearRight.getByRole('button', { name: 'Copy the path: msg.payload.rearRight.value' }).click();
    await page.getByText('Path copied').waitFor();
    assert.deepEqual(await axeFindings(page, '.car-form'), []);
    const name = page.locator('#node-input-name');
    await name.focus();
    await page.keyboard.press('Control+v');
    // Without `msg.`, as the fields of a switch node take it.
    assert.equal(await name.inputValue(), 'payload.rearRight.value');
    await picture(page, 'read-now');
    await partOf(page, 'reads').locator('label', { hasText: 'Odometer' }).click();
    assert.equal(await partOf(page, 'answer').innerText(), '', 'another value has another answer');
    await closeForm(page);
  });

  const spoken: Record<string, Record<'one' | 'event', [typed: string, title: string][]>> = {
    'en-US': {
      one: [
        ['plugged', 'Charging cable'],
        ['GPS', 'Position'],
        ['tire pressure', 'Front left tire pressure'],
        ['tyre', 'Front left tire pressure'],
        ['mileage', 'Odometer'],
        ['soc', 'Battery level'],
        ['petrol', 'Fuel amount'],
        ['gasoline', 'Fuel amount'],
        ['trunk', 'Tailgate open'],
        ['bonnet', 'Hood open'],
        ['sunroof', 'All windows'],
        ['unlock', 'All doors and the lock'],
        ['colour', 'Vehicle details'],
      ],
      event: [
        ['plug', 'Charging cable unplugged'],
        ['home', 'Arrived at a place'],
        ['boot', 'Tailgate opened'],
      ],
    },
    'de-DE': {
      one: [
        ['Stecker', 'Ladekabel'],
        ['Akku', 'Ladestand'],
        ['Batterie', 'Ladestand'],
        ['Position', 'Standort'],
        ['Benzin', 'Kraftstoffmenge'],
        ['Sprit', 'Kraftstoffmenge'],
        ['Kofferraum', 'Heckklappe offen'],
        ['Laufleistung', 'Kilometerstand'],
        ['luftdruck', 'Reifendruck vorn links'],
      ],
      event: [
        ['Stecker', 'Ladekabel eingesteckt'],
        ['zuhause', 'An einem Ort angekommen'],
      ],
    },
  };
  for (const [locale, forms] of everyNth(2, Object.entries(spoken))) {
    it(`find a value and an event by what people say: ${locale}`, async () => {
      const opened = await inLanguage(locale);
      for (const [id, searches] of Object.entries(forms)) {
        await openForm(opened, id);
        for (const [typed, title] of searches) {
          await opened.locator('#connected-vehicle-filter').fill(typed);
          const shown = await opened.locator('.car-form .choices label:visible span').allInnerTexts();
          assert.ok(shown.includes(title), `${typed}: ${shown.join(', ')}`);
          assert.ok(shown.length < 25, `${typed}: ${shown.join(', ')}`);
        }
        await picture(opened, `${locale}-search-${id}`);
        await closeForm(opened);
      }
      await opened.locator('#red-ui-palette-search input').fill(searchOf(forms));
      await opened.locator('#red-ui-palette-search input').press('End');
      await opened.locator('.red-ui-palette-node[data-palette-type="catch"]').waitFor({ state: 'hidden' });
      await opened.locator('.red-ui-palette-node[data-palette-type="connected-vehicle-status"]').waitFor();
      await opened.locator('#red-ui-palette-search input').fill('');
      await opened.locator('#red-ui-palette-search input').press('End');
    });
  }
  const searchOf = ({ one }: (typeof spoken)[string]): string => (one[0]?.[0] ?? '').toLowerCase();

  it('add a condition for a value that is searched, first in the row without an operand', async () => {
    await openForm(page, 'unset');
    const search = partOf(page, 'search');
    const values = page.locator('.condition > select:first-child');
    await search.pressSequentially('plug');
    await page.locator('.red-ui-autoComplete-container').getByText('Charging cable', { exact: true }).click();
    await page.locator('.condition').getByText('is one of').waitFor({ state: 'attached' });
    assert.equal(await values.count(), 1);
    assert.equal(await values.first().inputValue(), 'chargerConnectionStatus');
    await search.pressSequentially('mileage');
    await page.locator('.red-ui-autoComplete-container').getByText('Odometer').waitFor();
    await picture(page, 'condition-search');
    await search.press('Enter');
    await values.nth(1).waitFor();
    assert.equal(await values.nth(1).inputValue(), 'odometer');
    assert.equal(await search.inputValue(), '');
    await search.pressSequentially('xyzzy');
    assert.ok((await page.locator('.red-ui-autoComplete-container li').count()) > 40, 'all of them');
    await page.keyboard.press('Escape');
    await closeForm(page);
  });

  it('mark what is wrong in a guard: own minutes, equal quiet hours, a time zone, and nothing to watch', async () => {
    await openForm(page, 'guard');
    const part = (name: string) => partOf(page, name);
    const boxes = part('kinds').locator('input[type=checkbox]');
    const checked = part('kinds').locator('input:checked');
    await part('all').click();
    assert.equal(await checked.count(), 7);
    await part('none').click();
    assert.equal(await checked.count(), 0);
    await part('nothing').waitFor();
    await boxes.first().check();
    const windows = part('kinds').locator('input[type=text]').first();
    assert.equal(await windows.getAttribute('placeholder'), '15', 'the minutes that hold if none are entered');
    await windows.fill('abc');
    await page.locator('.car-form [data-part="kinds"] input.input-error').waitFor();
    await windows.fill('');
    assert.equal(await page.locator('#node-input-quietHours').isVisible(), false);
    await page.locator('#node-input-hours').selectOption('only');
    assert.equal(await page.locator('#node-input-quietHours').inputValue(), '18:00-22:00');
    await page.locator('#node-input-quietHours').fill('22:00-22:00');
    await page.locator('#node-input-quietHours').press('End');
    await page.locator('#node-input-quietHours.input-error').waitFor();
    await openFolds();
    await page.locator('#node-input-timeZone').fill('Berlin');
    await page.locator('#node-input-timeZone').press('End');
    await page.locator('#node-input-timeZone.input-error').waitFor();
    assert.ok((await page.locator('#connected-vehicle-time-zones option').count()) > 100);
    assert.equal(await part('nothing').isVisible(), false);
    await boxes.first().uncheck();
    await part('nothing').waitFor();
    await picture(page, 'guard-wrong');
    await closeForm(page);
  });

  it('ask in a condition for a battery below 30 % and an unplugged cable in 9 clicks from the palette', async () => {
    // Dragging the node out of the palette, and a double click on it.
    let clicks = 2;
    const click = async (target: Locator): Promise<void> => {
      await target.click();
      clicks += 1;
    };
    await openForm(page, 'unset');
    const rows = page.locator('.condition');
    const operandOf = (row: number): Locator => rows.nth(row).locator('.red-ui-typedInput-container');
    await click(operandOf(0).locator('.red-ui-typedInput-input'));
    await page.keyboard.type('30');
    await click(page.locator('.red-ui-editableList-addButton'));
    // A dropdown of the browser takes a click to open it and one to choose.
    await rows.nth(1).locator('select').first().selectOption({ label: 'Charging cable' });
    clicks += 2;
    await click(operandOf(1).locator('.red-ui-typedInput-option-trigger'));
    await picture(page, 'condition-words');
    await click(page.locator('.red-ui-typedInput-options:visible').getByText('not plugged in', { exact: true }));
    await picture(page, 'condition-filled');
    await closeForm(page, 'ok');
    assert.equal(clicks + 1, 9);
    assert.deepEqual(await page.evaluate("RED.nodes.node('unset').conditions"), [
      { value: 'batteryChargeLevel', operator: '<', operand: 30, operandType: 'num' },
      { value: 'chargerConnectionStatus', operator: 'is', operand: 'DISCONNECTED', operandType: 'str' },
    ]);
    assert.equal(await page.evaluate("RED.nodes.node('unset').valid"), true);
  });

  it('name the row of a condition that cannot be checked, and why', async () => {
    await openForm(page, 'condition');
    assert.equal(await partOf(page, 'reason').innerText(), 'Condition 8: choose a value');
    const row = (index: number): Locator => page.locator('.condition').nth(index);
    await row(7).locator('select').first().selectOption('windows.allClosed');
    await row(4).getByLabel('Latitude (°)').fill('');
    await row(4).getByLabel('Latitude (°)').blur();
    assert.match(await partOf(page, 'reason').innerText(), /^Condition 5: Each place needs/);
    await row(4).locator('select').nth(1).selectOption('older than');
    assert.match(await partOf(page, 'reason').innerText(), /^Condition 5: enter a value/);
    await row(4).locator('select').first().selectOption('odometer');
    assert.match(await partOf(page, 'reason').innerText(), /^Condition 5: enter a value/);
    await closeForm(page);
  });

  it('name a value that the service of the chosen vehicle does not have', async () => {
    await openForm(page, 'not-served');
    const says = '“Outside temperature” is not available at the service of this vehicle';
    assert.equal(await partOf(page, 'reason').innerText(), `Condition 2: ${says}`);
    await page.locator('#node-input-vehicle').selectOption('demo-car');
    assert.equal(await partOf(page, 'reason').innerText(), '');
    await page.locator('#node-input-vehicle').selectOption('volvo');
    await page.locator('.condition').nth(1).locator('select').first().selectOption('fuelAmount');
    assert.equal(await partOf(page, 'reason').innerText(), '');
    await closeForm(page);
    assert.match(
      await page.evaluate("String(RED.nodes.node('not-served').validationErrors)"),
      /Outside temperature” is not available/,
      'the red triangle of the node says it, too',
    );
  });

  itLong('open 100 conditions, and keep them all while one is changed, one removed and one added', async () => {
    await openForm(page, 'long');
    const rows = page.locator('.condition');
    assert.equal(await rows.count(), 100);
    await rows.nth(48).locator('.red-ui-typedInput-input').fill('4800');
    await rows.nth(48).locator('.red-ui-typedInput-input').blur();
    await page.locator('.red-ui-editableList-item-remove').nth(99).click();
    await rows.nth(99).waitFor({ state: 'detached' });
    await page.locator('.red-ui-editableList-addButton').click();
    await rows.nth(99).locator('.red-ui-typedInput-input').fill('30');
    await closeForm(page, 'ok');
    // The form stores a number with its type, and each field of a place.
    const expected: object[] = hundredRows.map((row) => ({
      ...row,
      operand: typeof row?.operand === 'object' ? { ...row.operand, radius: '' } : row?.operand,
      operandType: typeof row?.operand === 'number' ? 'num' : 'str',
    }));
    expected[48] = { value: 'odometer', operator: '>', operand: 4800, operandType: 'num' };
    expected[99] = { value: 'batteryChargeLevel', operator: '<', operand: 30, operandType: 'num' };
    assert.deepEqual(await page.evaluate("RED.nodes.node('long').conditions"), expected);
    assert.equal(await page.evaluate("RED.nodes.node('long').valid"), true);
  });

  it('name the parts of a place, fill in the position of the car, and say what a place lacks', async () => {
    await openForm(page, 'event');
    const place = partOf(page, 'places').locator('.place');
    await partOf(page, 'add').click();
    assert.equal(await place.count(), 2);
    await picture(page, 'place-missing');
    const added = place.last();
    assert.equal(await added.getByLabel('Name').evaluate((field) => field === document.activeElement), true);
    await added.getByLabel('Name').fill('Work');
    await added.getByLabel('Name').blur();
    await partOf(page, 'placeReason').getByText('Each place needs a name, a latitude and a longitude').waitFor();
    await added.getByRole('button', { name: "Use the car's position" }).click();
    await partOf(page, 'placeReason').getByText('Each place').waitFor({ state: 'detached' });
    assert.match(await added.getByLabel('Latitude (°)').inputValue(), /^\d+\.\d+$/);
    assert.match(await added.getByLabel('Longitude (°)').inputValue(), /^\d+\.\d+$/);
    assert.equal(await added.getByLabel('Radius (m)').inputValue(), '200');
    await picture(page, 'place-filled');
    for (const remove of (await page.getByLabel('Remove').all()).reverse()) await remove.click();
    assert.equal(await partOf(page, 'placeReason').innerText(), 'add a place');
    await picture(page, 'place-none');
    await closeForm(page);
  });

  it('show the quiet hours of a guard that is older than the choice', async () => {
    await openForm(page, 'single');
    assert.equal(await page.locator('#node-input-hours').inputValue(), 'not');
    assert.equal(await page.locator('#node-input-quietHours').inputValue(), '22:00-07:00');
    await closeForm(page);
  });

  it('say that nothing is watched only if the flow file watches no single opening', async () => {
    await openForm(page, 'single');
    await partOf(page, 'none').click();
    assert.equal(await partOf(page, 'nothing').isVisible(), false);
    await closeForm(page);
    await openForm(page, 'guard');
    await partOf(page, 'none').click();
    assert.equal(await partOf(page, 'nothing').isVisible(), true);
    await closeForm(page);
  });

  it('send a test through the deployed node, one for a double click, and none while the node or its vehicle is not deployed', async () => {
    // Changes of other nodes do no harm. Another test may have left changes of this one.
    await page.evaluate(
      "for (const id of ['event', RED.nodes.node('event').vehicle]) RED.nodes.node(id).changed = false; RED.nodes.dirty(true)",
    );
    await openForm(page, 'event');
    const test = partOf(page, 'test');
    await test.locator('select').selectOption({ label: 'Arrived at a place' });
    await test.locator('button').dblclick();
    await test.getByText('Sent: Test: Demo car: Car is at Home').waitFor();
    assert.equal(await test.locator('button').isDisabled(), true, 'for a second');
    await picture(page, 'test-sent');
    await test.locator('select').selectOption({ label: 'Car locked' });
    await test.locator('button').click();
    await test.getByText('Sent: Test: Demo car: Car is locked').waitFor();
    // A proxy that asks for a sign-in.
    await page.route('**/test', (route) => route.fulfill({ contentType: 'text/html', body: 'Sign in' }));
    await test.locator('button').click();
    await test.getByText('Node-RED does not answer').waitFor();
    await page.unroute('**/test');
    await closeForm(page);
    const texts = page.locator('.red-ui-debug-msg-payload');
    await texts.nth(1).waitFor({ state: 'attached' });
    assert.deepEqual(await texts.allTextContents(), [
      '"Test: Demo car: Car is at Home"',
      '"Test: Demo car: Car is locked"',
    ]);
    for (const changed of ['guard', await page.evaluate("RED.nodes.node('guard').vehicle")]) {
      await page.evaluate(`RED.nodes.node('${String(changed)}').changed = true`);
      await openForm(page, 'guard');
      assert.equal(await test.locator('button').isDisabled(), true);
      await test.getByText('This node or its vehicle has changes that are not deployed.').waitFor();
      await closeForm(page);
      await page.evaluate(`RED.nodes.node('${String(changed)}').changed = false`);
    }
    await page.evaluate('RED.nodes.dirty(false)');
  });

  it('say that an event node needs an event', async () => {
    await openForm(page, 'event');
    const chosen = partOf(page, 'events').locator('input:checked');
    assert.equal(await partOf(page, 'nothing').isVisible(), false);
    while ((await chosen.count()) > 0) await chosen.first().uncheck();
    await partOf(page, 'nothing').getByText('Choose at least one event').waitFor();
    await closeForm(page);
  });

  itLong('keep the text of a checkbox beside it', async () => {
    await openForm(page, 'unlock');
    await openFolds();
    const box = await page.locator('#node-input-precheck').boundingBox();
    const text = await page.locator('#node-input-precheck + label').boundingBox();
    assert.ok((text?.x ?? 0) > (box?.x ?? Infinity), 'the text begins behind the box');
    await closeForm(page);
  });

  it('are found in the palette by the words of a driver, in one line', async () => {
    const labels = page.locator('.red-ui-palette-node[data-palette-type^="connected-vehicle"] .red-ui-palette-label');
    assert.deepEqual(
      (await labels.allInnerTexts()).map((text) => text.trim()),
      ['car status', 'car command', 'car result', 'car guard', 'car event', 'car condition'],
    );
    for (const word of ['car', 'volvo', 'window', 'door', 'lock', 'charge']) {
      await page.locator('#red-ui-palette-search input').fill(word);
      await page.locator('#red-ui-palette-search input').press('End');
      await page.locator('.red-ui-palette-node[data-palette-type="catch"]').waitFor({ state: 'hidden' });
      assert.ok((await labels.locator('visible=true').count()) > 0, word);
    }
    await page.locator('#red-ui-palette-search input').fill('');
    await page.locator('#red-ui-palette-search input').press('End');
  });

  itLong('are under a translated heading in the palette', async () => {
    const german = await inLanguage('de-DE');
    await german.locator('.red-ui-palette-header', { hasText: 'vernetztes Auto' }).waitFor();
  });
});
