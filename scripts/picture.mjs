// `npm run picture`: takes the pictures of docs/recipes.md in the editor of a real Node-RED with every example flow.
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import realNodeRed from '../dist/test/support/real-node-red.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const pictures = `${root}docs/images/examples`;

/** The buttons to press before the picture is taken, where it is not only the first one. */
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

const files = (await readdir(`${root}examples`, { recursive: true })).filter((file) => file.endsWith('.json')).sort();
const flows = await Promise.all(
  files.map(async (file) => JSON.parse(await readFile(`${root}examples/${file}`, 'utf8'))),
);
const nodeRed = await realNodeRed.startNodeRed(
  [...new Map(flows.flat().map((node) => [node.id, node])).values()],
  realNodeRed.linkDashboard,
  { editorTheme: { tours: false, palette: { catalogues: [] } } },
);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.goto(nodeRed.url);
await page.waitForSelector('.red-ui-flow-node');

/** Shows a tab and presses some of its buttons, or the first one. */
async function show(label, names) {
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

const isSettled = () =>
  RED.nodes
    .filterNodes({ z: RED.workspaces.active() })
    .every(({ status: { text = '' } = {} }) => !/(…|under way|waiting for the car|\d followed)/.test(text));

/** Waits until no node of the tab is at work any more. A command has three steps with pauses between them. */
async function settle() {
  await page.waitForTimeout(2500);
  // A badge that stays, such as that of a watch of another tab, must not end the run.
  await page.waitForFunction(isSettled, undefined, { timeout: 6000 }).catch(() => undefined);
  await page.waitForTimeout(500);
}

await mkdir(pictures, { recursive: true });
for (const file of files) {
  const label = basename(file, '.json').slice(3);
  await show(label, buttons[label]);
  await settle();
  const box = await page.locator('#red-ui-workspace-chart').boundingBox();
  const height = await page.evaluate(() =>
    Math.max(...RED.nodes.filterNodes({ z: RED.workspaces.active() }).map(({ y }) => y + 45)),
  );
  const picture = `${pictures}/${label.toLowerCase().replaceAll(/\W+/g, '-')}.png`;
  await page.screenshot({ path: picture, clip: { x: box.x, y: box.y, width: 777, height } });
}

await page.setViewportSize({ width: 390, height: 844 });
await page.goto(`${nodeRed.url}dashboard/car`);
await page.locator('.car-view [data-part=lock][data-state=locked]').waitFor();
await page.waitForTimeout(1000);
await page.screenshot({ path: `${pictures}/a-page-with-dashboard-2-on-a-phone.png` });

await browser.close();
await nodeRed.stop();
