import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openEditor, partOf, pendingNote, useEditors } from '../support/editor-browser';
import { everyNth } from '../support/long';

describe(`The editor in Home Assistant${pendingNote}`, () => {
  const started = useEditors([{ id: 'car', type: 'connected-vehicle', name: 'Car', service: 'volvo-cars' }]);
  const prefix = '/api/hassio_ingress/a-token';
  let homeAssistant: Server;

  before(async () => {
    // As Home Assistant's ingress: it serves Node-RED below a path, and takes the path away.
    homeAssistant = createServer((asked, answer) => {
      const { method, headers, url = '' } = asked;
      const forwarded = request(
        new URL(url.slice(prefix.length), started.nodeRed.url),
        { method, headers },
        (given) => {
          answer.writeHead(given.statusCode ?? 502, given.headers);
          given.pipe(answer);
        },
      );
      // The editor can still ask while Node-RED ends.
      forwarded.on('error', () => answer.destroy());
      asked.pipe(forwarded);
    }).listen(0, '127.0.0.1');
    await once(homeAssistant, 'listening');
  });
  after(() => homeAssistant?.close());

  for (const host of everyNth(2, ['homeassistant', 'localhost']))
    it(`proposes a redirect URL that stays the same, and asks for the address at which the sign-in ends, at ${host}`, async () => {
      const { port } = homeAssistant.address() as AddressInfo;
      const complaints: string[] = [];
      const isKnown = (text: string): boolean => text.includes('WebSocket');
      const page = await openEditor(started.browser, `http://${host}:${port}${prefix}/`, { complaints, isKnown });
      await page.evaluate('RED.editor.editConfig("", "connected-vehicle", "car")');
      const proposed = 'http://localhost:1880/connected-vehicle/callback';
      await partOf(page, 'redirect').getByText(proposed).waitFor();
      await partOf(page, 'redirectWhy').getByText('or Home Assistant shows this editor').waitFor();
      await partOf(page, 'redirectWhy').getByText('copy the address of that page into the field').waitFor();
      await partOf(page, 'paste').waitFor();
      assert.deepEqual(complaints, []);
    });
});
