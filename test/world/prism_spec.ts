import { strict as assert } from 'node:assert';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { electricCar } from '../support/simulator';
import { closeAccounts, openTestAccount, readSeveral, type SendingAccount } from '../support/account';
import { endWithLogs, freePort, newFolder, startProgram } from './support/program';

const { vin } = electricCar;
const wallbox = String(electricCar.wallbox);
const basePath = '/energy-device/v1';

const withoutExamples = (document: object): string =>
  JSON.stringify(document, (name, value: unknown) => (name === 'example' ? undefined : value));

describe('Prism, with the document of the wallbox', () => {
  endWithLogs();
  let url: string;

  before(async () => {
    const { PRISM } = process.env;
    assert.ok(PRISM, '`npm run test:external` installs Prism');
    const folder = await newFolder('prism');
    const fixture = resolve(__dirname, '../../../test/fixtures/energy-device-v1-openapi.json');
    const document = JSON.parse(await readFile(fixture, 'utf8')) as { paths: Record<string, unknown> };
    // Prism does not look at the path of a server, and refuses to answer with the examples:
    // their times are none.
    const paths = Object.fromEntries(Object.entries(document.paths).map(([path, item]) => [basePath + path, item]));
    await writeFile(join(folder, 'document.json'), withoutExamples({ ...document, paths, servers: undefined }));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const args = [PRISM, 'mock', '--errors', '--host', '127.0.0.1', '--port', String(port), 'document.json'];
    await startProgram({ name: 'Prism', command: process.execPath, args, folder, port });
  });
  afterEach(closeAccounts);

  const open = (): SendingAccount => openTestAccount({ url }, { settings: { apiKeyHeader: 'vcc-api-key' }, wallbox });

  it('refuses what the document does not have', async () => {
    const headers = { 'vcc-api-key': 'key', authorization: 'Bearer token', 'content-type': 'application/json' };
    const status = async (path: string, body = '', more: object = headers): Promise<number> => {
      const init = { method: 'POST', headers: { ...more }, ...(body !== '' && { body }) };
      return (await fetch(`${url}${basePath}/wallbox/${wallbox}/${path}`, init)).status;
    };
    assert.deepEqual(
      [
        await status('start'),
        await status('begin'),
        await status('start', '', {}),
        await status('setChargingAmpLimit?limit=much'),
        await status(
          'chargingSchedule',
          '{"start":"2026-11-28T22:00:00Z","periods":[{"$type":"W"}],"scheduleId":null}',
        ),
      ],
      [200, 404, 401, 400, 400],
    );
  });

  it('takes the reads of the wallbox', async () => {
    const { payload, vehicle } = await readSeveral(open().client, ['wallboxSessions', 'wallboxCharging'], { vin });
    assert.deepEqual(vehicle.errors, []);
    assert.ok(Array.isArray(payload['wallboxSessions']));
  });

  for (const [command, input] of [
    ['wallbox-start', {}],
    ['wallbox-pause', {}],
    ['wallbox-limit', { ampere: 6 }],
    ['wallbox-limit', { ampere: 16.5 }],
    ['wallbox-schedule', { schedule: [{ from: '22:00', to: '06:00', ampere: 16 }] }],
    [
      'wallbox-schedule',
      {
        schedule: [
          { from: Date.now() + 3_600_000, to: Date.now() + 7_200_000, watt: 1_380 },
          { from: Date.now() + 9_000_000, to: Date.now() + 200_000_000, ampere: 0 },
        ],
      },
    ],
  ] as const)
    it(`takes ${command} with ${JSON.stringify(input).replace(/\d{13}/g, 'a time')}`, async () => {
      const { requestStatus, outcome } = await open().client.send(command, { vin, ...input });
      assert.deepEqual([requestStatus, outcome], ['ACCEPTED', 'succeeded']);
    });
});
