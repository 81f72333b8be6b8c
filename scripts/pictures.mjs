// `npm run pictures`: takes the pictures of the documents at a release, in the editor of a real Node-RED: those of docs/recipes.md with every
// example flow, the others with the demo car.
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import realNodeRed from '../dist/test/support/real-node-red.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}docs/images/`;
const flows = [
  { id: 'first', type: 'tab', label: 'My first flow' },
  { id: 'car', type: 'connected-vehicle', name: 'Demo car', service: 'demo' },
];
const settings = { editorTheme: { tours: false, palette: { catalogues: [] } } };
const editor = { width: 1280, height: 800 };
/** Without the palette, the flow and the sidebar fit into a smaller picture. */
const narrow = { width: 980, height: 800 };
const header = 48;
const flowAndCar = { x: 0, y: header, width: narrow.width, height: 560 };

/** The buttons to press before the picture of an example is taken, where it is not only the first one. */
const buttons = {
  'Start here': ['Read now'],
  'Read several values at once': ['Chosen in the node'],
  'Send any command from a message': ['flash', 'no such command'],
  'Unlock the tailgate for a parcel': ['The code was right', 'Unlock the tailgate'],
  'Start the engine behind arming': ['Arm for a minute', 'Start, 10 minutes'],
  'Two cars side by side': ['Read both', 'Lock both'],
  'Trips into a CSV file': [],
  'Home Assistant through MQTT': [],
};

await mkdir(`${folder}examples`, { recursive: true });
const examples = (await readdir(`${root}examples`, { recursive: true }))
  .filter((file) => file.endsWith('.json'))
  .sort();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-quic', '--disable-background-networking'],
});
try {
  await withEditor(
    flows,
    undefined,
    '.red-ui-palette-node[data-palette-type="connected-vehicle-status"]',
    takePictures,
  );
  const nodes = await Promise.all(
    examples.map(async (file) => JSON.parse(await readFile(`${root}examples/${file}`, 'utf8'))),
  );
  const once = [...new Map(nodes.flat().map((node) => [node.id, node])).values()];
  await withEditor(once, realNodeRed.linkDashboard, '.red-ui-flow-node', takeExamples);
} finally {
  await browser.close();
}

/** Opens the editor of a Node-RED of its own, and ends both. */
async function withEditor(content, prepare, ready, work) {
  const nodeRed = await realNodeRed.startNodeRed(content, prepare, settings);
  const context = await browser.newContext({
    locale: 'en-US',
    viewport: editor,
    deviceScaleFactor: 2,
    reducedMotion: 'reduce',
  });
  try {
    // A busy machine is slow to open the editor.
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    await page.goto(nodeRed.url);
    await page.waitForSelector(ready);
    await page.waitForSelector('#red-ui-loading-progress', { state: 'hidden' });
    await work(page, nodeRed.url);
  } finally {
    await context.close();
    await nodeRed.stop();
  }
}

/** @param name the path below docs/images, without its ending */
async function take(page, name, area) {
  await page.screenshot({ path: `${folder}${name}.png`, ...(area && { clip: area }), animations: 'disabled' });
}

async function takeExamples(page, url) {
  // The tallest example fits above the footer of the editor.
  await page.setViewportSize({ ...editor, height: 900 });
  for (const file of examples) {
    const label = basename(file, '.json').slice(3);
    await show(page, label, buttons[label]);
    await settle(page);
    const box = await page.locator('#red-ui-workspace-chart').boundingBox();
    const height = await page.evaluate(() =>
      Math.max(...RED.nodes.filterNodes({ z: RED.workspaces.active() }).map(({ y }) => y + 45)),
    );
    const name = label.toLowerCase().replaceAll(/\W+/g, '-');
    await take(page, `examples/${name}`, { x: box.x, y: box.y, width: 780, height });
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${url}dashboard/car`);
  await page.locator('.car-view [data-part=lock][data-state=locked]').waitFor();
  await page.waitForTimeout(1000);
  await take(page, 'examples/a-page-with-dashboard-2-on-a-phone');
}

/** Shows a tab and presses some of its buttons, or the first one. */
async function show(page, label, names) {
  await page.evaluate(
    async ([tab, pressed]) => {
      const id = RED.nodes.getWorkspaceOrder().find((other) => RED.nodes.workspace(other).label === tab);
      RED.workspaces.show(id);
      const found = RED.nodes.filterNodes({ type: 'inject', z: id });
      const chosen = pressed ? pressed.map((name) => found.find((node) => node.name === name)) : found.slice(0, 1);
      for (const { id: inject } of chosen) await $.post(`inject/${inject}`);
    },
    [label, names],
  );
}

function isSettled() {
  return RED.nodes
    .filterNodes({ z: RED.workspaces.active() })
    .every(({ status: { text = '' } = {} }) => !/(…|under way|waiting for the car|\d followed)/.test(text));
}

/** Waits until no node of the tab is at work any more. A command has three steps with pauses between them. */
async function settle(page) {
  await page.waitForTimeout(2500);
  // A badge that stays, such as that of a watch of another tab, must not end the run.
  await page.waitForFunction(isSettled, undefined, { timeout: 6000 }).catch(() => undefined);
  await page.waitForTimeout(500);
}

/** The five steps of README.md, then the other pictures. */
async function takePictures(page) {
  await searchPalette(page, 'car');
  const status = await drag(page, 'connected-vehicle-status', 340, 100);
  await clip(page, 'step-1', { x: 0, y: header, width: 640, height: 330 });

  await openNode(page, status);
  await page.locator('.car-form [data-ask="read"]').click();
  await page.waitForSelector('.car-form [data-part="answer"]:not(:empty) >> visible=true');
  await clipDialog(page, 'step-2', '[data-part="answer"]');
  await done(page);

  await searchPalette(page, '');
  const inject = await drag(page, 'inject', 140, 100);
  const debug = await drag(page, 'debug', 540, 100);
  await connect(page, inject, status);
  await connect(page, status, debug);
  await page.mouse.click(600, 500);
  await togglePalette(page);
  await page.setViewportSize(narrow);
  await clip(page, 'step-3', { x: 0, y: 0, width: narrow.width, height: 260 });

  await deploy(page);
  await showTab(page, 'Debug messages');
  await press(page, inject);
  const message = page.locator('.red-ui-debug-msg').last();
  await message.locator('.red-ui-debug-msg-object-handle').first().click();
  await message.getByText('rearRight', { exact: true }).last().click();
  await page.getByText('rear-right window open').waitFor();
  await clip(page, 'step-4', { x: 0, y: header, width: narrow.width, height: 350 });

  await showTab(page, 'Cars');
  const window = page.locator('.cars-drawing [data-part="rearRightWindow"]');
  await window.waitFor();
  await page.locator('.cars-list').getByText('open', { exact: true }).waitFor();
  await page.mouse.move(400, 600);
  await clip(page, 'cars-tab', flowAndCar);

  await window.click();
  await press(page, inject);
  await page.locator(`[id="${status}"]`).getByText('closed').waitFor();
  await page.mouse.click(400, 600);
  await clip(page, 'step-5', flowAndCar);
  await page.setViewportSize(editor);
  await togglePalette(page);

  await openNode(page, status);
  await page.locator('#node-input-btn-vehicle-add').click();
  await page.locator('#node-config-input-service').selectOption('volvo-cars');
  await clipDialog(page, 'vehicle-dialog', '#node-config-input-clientSecret');
  await page.locator('#node-config-dialog-cancel').click();
  await page.locator('#node-config-dialog-cancel').waitFor({ state: 'detached' });
  await done(page);

  const guard = await drag(page, 'connected-vehicle-guard', 340, 200);
  await openNode(page, guard);
  await clipDialog(page, 'guard-dialog', '.car-form > details');
  await done(page);

  await page.locator('.cars-more summary').click();
  const [demo] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Open the demo car on a page of its own' }).click(),
  ]);
  await demo.setViewportSize({ width: 840, height: 665 });
  // Smaller than on a screen, so that the picture loads quickly.
  await demo.evaluate(() => (document.documentElement.style.zoom = '0.635'));
  await demo.getByText('Live', { exact: true }).waitFor();
  const area = { x: 60, y: 0, width: 720, height: 665 };
  await take(demo, 'demo-page', area);
}

async function clip(page, name, area) {
  await page.locator('#red-ui-notifications > div').evaluateAll((boxes) => boxes.forEach((box) => box.remove()));
  await take(page, name, area);
}

/** The dialog in front, from its title down to the end of one of its parts. */
async function clipDialog(page, name, last) {
  await page.setViewportSize({ width: editor.width, height: 1600 });
  const tray = page.locator('.red-ui-tray').last();
  const part = tray.locator(last).last();
  await part.scrollIntoViewIfNeeded();
  await page.waitForFunction((trayElement) => !trayElement.getAnimations().length, await tray.elementHandle());
  const { x, y, width } = await tray.boundingBox();
  const end = await part.boundingBox();
  await clip(page, name, { x, y, width, height: end.y + end.height + 8 - y });
  await page.setViewportSize(editor);
}

function nodeIds(page) {
  return page.locator('g.red-ui-flow-node-group').evaluateAll((groups) => groups.map(({ id }) => id));
}

async function searchPalette(page, words) {
  await page.locator('#red-ui-palette-search input').fill(words);
  await page.locator('#red-ui-palette-search input').press('End');
  const other = page.locator('.red-ui-palette-node[data-palette-type="complete"]');
  await other.waitFor({ state: words === '' ? 'visible' : 'hidden' });
}

async function drag(page, type, x, y) {
  const before = await nodeIds(page);
  await page
    .locator(`.red-ui-palette-node[data-palette-type="${type}"]`)
    .dragTo(page.locator('#red-ui-workspace-chart'), { targetPosition: { x, y } });
  return (await nodeIds(page)).find((id) => !before.includes(id));
}

async function connect(page, from, to) {
  const output = await page.locator(`[id="${from}"] .red-ui-flow-port-output .red-ui-flow-port`).boundingBox();
  const input = await page.locator(`[id="${to}"] .red-ui-flow-port-input .red-ui-flow-port`).boundingBox();
  await page.mouse.move(output.x + 5, output.y + 5);
  await page.mouse.down();
  await page.mouse.move(input.x - 10, input.y + 5, { steps: 5 });
  await page.mouse.move(input.x + 5, input.y + 5, { steps: 5 });
  await page.mouse.up();
}

async function openNode(page, id) {
  // A double click that a busy machine takes apart opens nothing.
  await page.evaluate((node) => RED.editor.edit(RED.nodes.node(node)), id);
  await page.waitForSelector('.car-form');
}

async function done(page) {
  await page.locator('#node-dialog-ok').click();
  await page.waitForSelector('#node-dialog-ok', { state: 'detached' });
}

async function deploy(page) {
  await page.locator('#red-ui-header-button-deploy').click();
  await page.waitForSelector('#red-ui-header-button-deploy.disabled');
  await page.getByText('Successfully deployed').waitFor();
}

async function press(page, inject) {
  await page.locator(`[id="${inject}"] .red-ui-flow-node-button-button`).click();
}

async function togglePalette(page) {
  await page.evaluate(() => RED.actions.invoke('core:toggle-palette'));
}

async function showTab(page, name) {
  await page.locator('.red-ui-tab-link-button-menu').click();
  await page.locator('.red-ui-menu-dropdown a:visible', { hasText: name }).click();
}
