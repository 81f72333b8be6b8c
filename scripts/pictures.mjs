// `node scripts/pictures.mjs [name…]` after a build: takes the pictures of the documents at a
// release, in the editor of a real Node-RED with the demo car: those of the steps, dialogs and
// menus, and one of each example flow. Names are those of files in docs/images; without one, all
// are taken. The editor is at the port that an owner sees.
import { basename } from 'node:path';
import { chromium } from 'playwright-core';
import { filesBelow, jsonOf, root } from './checkout.mjs';
import { pageOfExample } from './documents.mjs';
import { closeForm, loadEditor, openForm } from '../dist/test/support/editor-browser.js';
import { linkDashboard, startNodeRed } from '../dist/test/support/real-node-red.js';

const chosen = process.argv.slice(2);
const isChosen = (picture) => chosen.length === 0 || chosen.includes(picture);
const editorUrl = 'http://localhost:1880/';
const raspberryPi = '192.168.1.20:1880';
const editor = { width: 1280, height: 800 };
/** Without the palette, the flow and the sidebar fit into a smaller picture. */
const narrow = { width: 980, height: 800 };
const header = 48;
/** The node of each dialog; that of _car status_ is step-2. */
const dialogs = {
  command: 'command',
  result: 'command-status',
  guard: 'guard',
  event: 'event',
  condition: 'condition',
};
/** The pack as the list of the flow library has it. */
const catalogue = 'https://catalogue.nodered.org/catalogue.json';
const { name, version, description, keywords, ...manifest } = await jsonOf('package.json');
const url = `https://flows.nodered.org/node/${name}`;
const types = Object.keys(manifest['node-red'].nodes);
const pack = { id: name, version, description, keywords, updated_at: new Date().toISOString(), types, url };

/** What to press before the picture of an example is taken, if it is not only the first button. */
const buttons = {
  'Start here': ['Read now'],
  'Read several values at once': ['Chosen in the node'],
  'Send any command from a message': ['flash', 'no such command'],
  'Unlock the tailgate for a parcel': ['The code was right', 'Unlock the tailgate'],
  'Start the engine behind arming': ['Arm for a minute', 'Start, 10 minutes'],
  'Two cars side by side': ['Read both', 'Lock both'],
  'Trips into a CSV file': [],
  'Logbook to CSV and InfluxDB': [],
  'A logbook page with Dashboard 2': [],
  'Battery and range on a gauge': [],
  'Home Assistant through MQTT': [],
};

/** @param name below docs/images @param clip the whole page without one */
async function take(page, name, clip) {
  if (!isChosen(name)) return;
  await page.locator('#red-ui-notifications > div').evaluateAll((boxes) => boxes.forEach((box) => box.remove()));
  await page.screenshot({ path: `${root}docs/images/${name}.png`, clip, animations: 'disabled' });
}

/**
 * The dialog in front, from its title, or the place below one of its parts, down to
 * the end of another one.
 */
async function takeDialog(page, name, last = '.car-form > :visible', above = null) {
  await page.setViewportSize({ width: editor.width, height: 1600 });
  const tray = page.locator('.red-ui-tray').last();
  await page.waitForFunction((element) => !element.getAnimations().length, await tray.elementHandle());
  const part = tray.locator(last).last();
  await part.scrollIntoViewIfNeeded();
  const [{ x, y, width }, end] = [await tray.boundingBox(), await part.boundingBox()];
  const start = above === null ? undefined : await tray.locator(above).last().boundingBox();
  const top = start === undefined ? y : start.y + start.height + 8;
  await take(page, name, { x, y: top, width, height: end.y + end.height + 8 - top });
  await page.setViewportSize(editor);
}

/** Adds nodes with the defaults of their types. */
const add = (page, nodes) =>
  page.evaluate((added) => {
    const defaultsOf = ({ type }) =>
      Object.fromEntries(Object.entries(RED.nodes.getType(type).defaults).map(([name, { value }]) => [name, value]));
    RED.nodes.import(added.map((node) => ({ ...defaultsOf(node), name: '', z: 'first', wires: [], ...node })));
    RED.nodes.dirty(true);
    RED.view.redraw(true);
  }, nodes);
const showTab = (page, id) => page.evaluate((tab) => RED.sidebar.show(tab), id);
const press = (page, id) => page.evaluate((node) => $.post(`inject/${node}`), id);

/** The menu of the examples, and the palette manager as an owner finds the pack in it. */
async function takeMenus(page) {
  await page.evaluate(() => RED.actions.invoke('core:show-import-dialog'));
  await page.getByRole('link', { name: 'Examples' }).click();
  const label = (hasText) => page.locator('.red-ui-treeList-label:visible', { hasText });
  await label('@connected-vehicle/node-red').click();
  await label('Basics').click();
  await label('Start here').waitFor();
  await takeBox(page, 'import-examples', '.ui-dialog:visible');
  await page.getByRole('button', { name: 'Cancel' }).click();

  await page.evaluate(() => RED.actions.invoke('core:manage-palette'));
  await page.locator('.red-ui-tray a[href="#install"]').click();
  const manager = page.locator('.red-ui-tray').last();
  await manager.locator('.red-ui-palette-search input:visible').pressSequentially('connected-vehicle');
  await manager.getByText(name).and(page.locator(':visible')).first().waitFor();
  // It is installed here, and not yet for an owner who looks for it.
  await manager.getByText('installed', { exact: true }).evaluateAll((buttons) =>
    buttons.forEach((button) => {
      button.textContent = 'install';
      button.classList.remove('disabled');
    }),
  );
  await takeBox(page, 'manage-palette', '.red-ui-tray >> nth=-1', 310);
  await closeForm(page, 'ok');
}

/**
 * The whole dialog of a Volvo, as the editor of a Raspberry Pi shows it: the browser
 * runs on another machine.
 */
async function takeVehicle(context) {
  const page = await context.newPage();
  await loadEditor(page, `http://${raspberryPi}/`);
  await add(page, [{ id: 'volvo', type: 'connected-vehicle-status', vehicle: 'car', x: 320, y: 120 }]);
  await openForm(page, 'volvo');
  await page.locator('#node-input-btn-vehicle-add').click();
  await page.locator('#node-config-input-service').selectOption('volvo-cars');
  await takeDialog(page, 'vehicle-dialog', '[data-part="redirectWhy"]');
  await takeDialog(page, 'vehicle-dialog-sign-in', '.car-form > :visible', '[data-part="redirectWhy"]');
  await page.close();
}

/** @param height of the picture, if it is not that of the box */
async function takeBox(page, name, selector, height) {
  const box = await page.locator(selector).boundingBox();
  await take(page, name, height === undefined ? box : { ...box, height });
}

/** The five steps of docs/start.md, then the other pictures. */
async function takeSteps(page) {
  await page.locator('#red-ui-palette-search input').pressSequentially('car');
  await page.locator('.red-ui-palette-node[data-palette-type="complete"]').waitFor({ state: 'hidden' });
  // The other categories slide away.
  await page.waitForFunction(() => $('#red-ui-palette :animated').length === 0);
  await add(page, [{ id: 'read', type: 'connected-vehicle-status', vehicle: 'car', x: 320, y: 120 }]);
  await take(page, 'step-1', { x: 0, y: header, width: 640, height: 330 });

  await openForm(page, 'read');
  await page.locator('.car-form [data-ask="read"]').click();
  await page.waitForSelector('.car-form [data-part="answer"]:not(:empty) >> visible=true');
  await takeDialog(page, 'step-2', '[data-part="answer"]');
  await closeForm(page, 'ok');

  await add(page, [
    { id: 'ask', type: 'inject', props: [{ p: 'payload' }], payloadType: 'date', x: 120, y: 120 },
    { id: 'show', type: 'debug', complete: 'payload', x: 530, y: 120 },
  ]);
  await page.evaluate(() => {
    const [ask, read, show] = ['ask', 'read', 'show'].map((id) => RED.nodes.node(id));
    RED.nodes.addLink({ source: ask, sourcePort: 0, target: read });
    RED.nodes.addLink({ source: read, sourcePort: 0, target: show });
    RED.view.redraw(true);
    RED.actions.invoke('core:toggle-palette');
  });
  await page.setViewportSize(narrow);
  await take(page, 'step-3', { x: 0, y: 0, width: narrow.width, height: 260 });

  await page.locator('#red-ui-header-button-deploy').click();
  await page.getByText('Successfully deployed').waitFor();
  await showTab(page, 'debug');
  await press(page, 'ask');
  const message = page.locator('.red-ui-debug-msg').last();
  await message.locator('.red-ui-debug-msg-object-handle').first().click();
  await message.getByText('rearRight', { exact: true }).last().click();
  await page.getByText('rear-right window open').waitFor();
  await take(page, 'step-4', { x: 0, y: header, width: narrow.width, height: 350 });

  const flowAndCar = { x: 0, y: header, width: narrow.width, height: 560 };
  await showTab(page, 'connected-vehicle-cars');
  const window = page.locator('.cars-drawing [data-part="rearRightWindow"]');
  await window.waitFor();
  await page.locator('.cars-list').getByText('open', { exact: true }).waitFor();
  await take(page, 'cars-tab', flowAndCar);
  await window.click();
  await press(page, 'ask');
  await page.locator('#read').getByText('closed').waitFor();
  await take(page, 'step-5', flowAndCar);

  // A dialog opens as wide as this window has room for.
  await page.setViewportSize(editor);
  for (const [name, type] of Object.entries(dialogs)) {
    await add(page, [{ id: name, type: `connected-vehicle-${type}`, vehicle: 'car', x: 320, y: 220 }]);
    await openForm(page, name);
    await takeDialog(page, `${name}-dialog`);
    await closeForm(page);
  }

  await page.setViewportSize({ ...narrow, height: 1700 });
  await page.locator('.cars-tab button:visible >> text="Read now"').first().click();
  await page.locator('.cars-list').getByText('locked', { exact: true }).waitFor();
  await takeBox(page, 'cars-tab-whole', '.cars-tab:visible');

  await page.locator('.cars-more summary').click();
  const opened = page.context().waitForEvent('page');
  await page.getByRole('link', { name: 'Open the demo car on its own page' }).click();
  const demo = await opened;
  await demo.setViewportSize({ width: 840, height: 665 });
  // Smaller than on a screen, so that the picture loads quickly.
  await demo.evaluate(() => (document.documentElement.style.zoom = '0.635'));
  await demo.getByText('Live', { exact: true }).waitFor();
  await take(demo, 'demo-page', { x: 60, y: 0, width: 720, height: 665 });
}

async function takeExamples(page) {
  // The tallest example fits above the footer of the editor, and the widest beside the sidebar.
  await page.setViewportSize({ width: editor.width + 24, height: 900 });
  for (const label of labels.filter((one) => isChosen(nameOf(one)))) {
    await page.evaluate(
      async ([tab, names]) => {
        const id = RED.nodes.getWorkspaceOrder().find((other) => RED.nodes.workspace(other).label === tab);
        RED.workspaces.show(id);
        const found = RED.nodes.filterNodes({ type: 'inject', z: id });
        const pressed = names ? names.map((name) => found.find((node) => node.name === name)) : found.slice(0, 1);
        for (const inject of pressed) await $.post(`inject/${inject.id}`);
      },
      [label, buttons[label]],
    );
    // A command has three steps with pauses between them. The longest work of an
    // example ends before this.
    await page.waitForTimeout(6000);
    const box = await page.locator('#red-ui-workspace-chart').boundingBox();
    const height = await page.evaluate(() =>
      Math.max(...RED.nodes.filterNodes({ z: RED.workspaces.active() }).map(({ y }) => y + 52)),
    );
    await take(page, nameOf(label), { x: box.x, y: box.y, width: 800, height });
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${editorUrl}dashboard/car`);
  await page.locator('.car-view [data-part=lock][data-state=locked]').waitFor();
  await page.waitForTimeout(1000);
  await take(page, 'examples/a-page-with-dashboard-2-on-a-phone');
}

/** Starts a Node-RED, opens its editor, and ends both. */
async function withEditor(flows, install, work) {
  const nodeRed = await startNodeRed(flows, install, {
    editorTheme: { tours: false, palette: { catalogues: [catalogue] } },
    externalModules: { autoInstall: false, palette: { allowInstall: true, allowUpload: false } },
  });
  const { host } = new URL(nodeRed.url);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-quic',
      '--disable-background-networking',
      `--host-resolver-rules=MAP localhost:1880 ${host}, MAP ${raspberryPi} ${host}`,
    ],
  });
  try {
    const shown = { locale: 'en-US', viewport: editor, deviceScaleFactor: 2, reducedMotion: 'reduce' };
    const context = await browser.newContext(shown);
    const list = { name: 'Node-RED Community catalogue', modules: [pack] };
    await context.route(`${catalogue}*`, (route) =>
      route.fulfill({ headers: { 'access-control-allow-origin': '*' }, json: list }),
    );
    const page = await context.newPage();
    await loadEditor(page, editorUrl);
    await work(page);
  } finally {
    await browser.close();
    await nodeRed.stop();
  }
}

const nameOf = (label) => `examples/${pageOfExample(label)}`;
const files = filesBelow('examples', '.json');
const labels = files.map((file) => basename(file, '.json').slice(3));
const isOfExample = (picture) => picture.startsWith('examples/');
if (chosen.length === 0 || !chosen.every(isOfExample)) {
  const car = { id: 'car', type: 'connected-vehicle', name: 'Demo car', service: 'demo' };
  await withEditor([{ id: 'first', type: 'tab', label: 'My first flow' }, car], undefined, async (page) => {
    await takeMenus(page);
    await takeVehicle(page.context());
    await takeSteps(page);
  });
}
if (chosen.length === 0 || chosen.some(isOfExample)) {
  const nodes = await Promise.all(files.map(jsonOf));
  const once = [...new Map(nodes.flat().map((node) => [node.id, node])).values()];
  await withEditor(once, linkDashboard, takeExamples);
}
