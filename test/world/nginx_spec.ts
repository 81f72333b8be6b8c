import { strict as assert } from 'node:assert';
import { startSimulator, type Simulator } from '../../src/simulator/index';
import { closeAccounts, openTestAccount } from '../support/account';
import { issueCertificate } from './support/certificates';
import { startNginx, type Nginx } from './support/nginx';
import { endWithLogs, newFolder } from './support/program';

describe('nginx as the TLS front of the service', () => {
  let service: Simulator;
  let nginx: Nginx;

  before(async () => {
    service = await startSimulator({ cars: [{ vin: 'YV1ZZZWORLD000001', resources: { odometer: 51_234 } }] });
  });

  afterEach(async () => {
    await closeAccounts();
    await nginx?.stop();
  });

  after(() => service?.close());

  endWithLogs();

  it('answers reads by the name of its one certificate', async () => {
    const folder = await newFolder('certificates');
    const { cert, key } = await issueCertificate(folder, ['service.test']);
    nginx = await startNginx(
      (port) => `server {
        listen 127.0.0.1:${port} ssl;
        ssl_certificate ${cert};
        ssl_certificate_key ${key};
        location / { proxy_pass ${service.url}; }
      }`,
    );
    const account = openTestAccount(service, { settings: { baseUrl: `https://service.test:${nginx.port}` } });
    const { payload } = await account.read('odometer', { vin: service.car().vin });
    assert.equal((payload as { value: unknown }).value, 51_234);
  });
});
