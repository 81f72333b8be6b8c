import { strict as assert } from 'node:assert';
import type { Browser, Page } from 'playwright-core';
import { startSimulator, type Simulator } from '../support/simulator';
import { launchBrowser, openEditor, partOf } from '../support/editor-browser';
import { customVehicle } from '../support/flow';
import { issueCertificate, type Certificate } from './support/certificates';
import { startNginx, type Nginx } from './support/nginx';
import { startNodeRedProgram, type NodeRedProgram } from './support/node-red';
import { endWithLogs, newFolder } from './support/program';

/** How nginx leads to the editor, which Node-RED has below /red. */
const ways = [
  { title: 'in the folder of Node-RED, with the address of Node-RED as the host', folder: '/red', host: '' },
  { title: 'in a folder that Node-RED does not know', folder: '/house/node-red', host: '' },
  { title: 'without a folder, with the host of the browser', folder: '', host: 'proxy_set_header host $http_host;' },
];

describe('Chromium at an editor behind nginx', function () {
  let service: Simulator;
  let certificate: Certificate;
  let browser: Browser;
  let nginx: Nginx;
  let nodeRed: NodeRedProgram;

  before(async function () {
    certificate = await issueCertificate(await newFolder('certificates'), ['editor.test']);
    service = await startSimulator();
    nodeRed = await startNodeRedProgram({ settings: { httpAdminRoot: '/red' } });
    await nodeRed.deploy([
      { id: 'tab', type: 'tab', label: 'Car' },
      {
        id: 'car',
        type: 'connected-vehicle',
        name: 'My car',
        ...customVehicle(service, {
          authorizeUrl: `${service.url}/as/authorization.oauth2`,
          tokenUrl: `${service.url}/as/token.oauth2`,
        }),
        credentials: { apiKey: 'demo-key', clientId: 'demo-client', clientSecret: 'demo-secret' },
      },
      {
        id: 'status',
        z: 'tab',
        type: 'connected-vehicle-status',
        vehicle: 'car',
        read: 'windows',
        x: 300,
        y: 100,
        wires: [[]],
      },
      { id: 'read', z: 'tab', type: 'inject', props: [], x: 100, y: 100, wires: [['status']] },
    ]);
    browser = await launchBrowser(this, '--host-resolver-rules=MAP *.test 127.0.0.1', '--ignore-certificate-errors');
  });

  afterEach(async () => {
    await nginx?.stop();
  });

  after(async () => {
    await browser?.close();
    await service?.close();
  });

  endWithLogs();

  async function open({ folder, host }: (typeof ways)[number], complaints: string[]): Promise<Page> {
    nginx = await startNginx(
      (port) => `server {
        listen 127.0.0.1:${port} ssl;
        ssl_certificate ${certificate.cert};
        ssl_certificate_key ${certificate.key};
        location ${folder}/ {
          proxy_pass ${nodeRed.url};
          proxy_http_version 1.1;
          proxy_set_header upgrade $http_upgrade;
          proxy_set_header connection "upgrade";
          ${host}
        }
      }`,
    );
    return openEditor(browser, `https://editor.test:${nginx.port}${folder}/`, { complaints });
  }

  for (const way of ways) {
    it(`signs in, checks, and shows the car, ${way.title}`, async () => {
      const complaints: string[] = [];
      const page = await open(way, complaints);
      const address = `https://editor.test:${nginx.port}${way.folder}`;
      await page.evaluate('RED.editor.editConfig("", "connected-vehicle", "car")');
      const opening = page.waitForEvent('popup');
      await page.locator('[data-ask="sign-in"]').click();
      const popup = await opening;
      const back = popup.waitForRequest((request) =>
        request.url().startsWith(`${address}/connected-vehicle/callback?`),
      );
      await popup.getByRole('button', { name: 'Sign in' }).click({ noWaitAfter: true });
      await back;
      await partOf(page, 'signIn').getByText('Signed in. Deploy what you changed.').waitFor();
      await page.locator('[data-ask="check"]').click();
      await partOf(page, 'result').getByText('✓ Every node has the permissions (scopes) that it needs.').waitFor();
      await page.locator('#node-config-dialog-cancel').dispatchEvent('click');
      await page.waitForSelector('.red-ui-tray', { state: 'detached' });

      await page.evaluate('RED.sidebar.show("connected-vehicle-cars")');
      const window = service.car().state.windows.frontLeft === 'OPEN' ? 'CLOSED' : 'OPEN';
      service.car().set({ windows: { frontLeft: window } });
      // The button of the inject node. What the flow reads comes to the tab over the
      // connection of the editor.
      const pressed = await fetch(`${nodeRed.url}inject/read`, { method: 'POST' });
      assert.ok(pressed.ok);
      await page
        .locator('.cars-list tr[data-fact=frontLeftWindow] td:nth-child(2)')
        .filter({ hasText: new RegExp(`^${window}$`, 'i') })
        .waitFor();
      assert.deepEqual(complaints, []);
      await page.close();
    });
  }
});
