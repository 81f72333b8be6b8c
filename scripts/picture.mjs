// `npm run picture`: takes the picture of README.md from the editor of a running `npm start` (PORT, as there).
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const file = fileURLToPath(new URL('../docs/editor.png', import.meta.url));
const flow = 'Lock when everybody left';

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const page = await browser.newPage({ viewport: { width: 1640, height: 420 } });
await page.goto(`http://127.0.0.1:${process.env.PORT || 1880}/`);
await page.waitForSelector('.red-ui-flow-node');
await page.locator('#red-ui-palette-search input').pressSequentially('vehicle');
await page.evaluate((label) => {
  const order = RED.nodes.getWorkspaceOrder();
  RED.workspaces.show(order.find((id) => RED.nodes.workspace(id).label === label));
  RED.sidebar.show('debug');
  for (let step = 0; step < 2; step += 1) RED.actions.invoke('core:zoom-out');
  const [button] = RED.nodes.filterNodes({ type: 'inject', z: RED.workspaces.active() });
  $.post(`inject/${button.id}`);
}, flow);
await page.waitForSelector('.red-ui-debug-msg:has-text("is locked")');
await page.screenshot({ path: file });
await browser.close();
