import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Account, type CommandRecord } from '../../src/index';
import { startSimulator, type Simulator } from '../support/simulator';
import { closeAccounts, openTestAccount } from '../support/account';
import { manyCars, vinOf } from './support/cars';
import { issueCertificate, makeAuthority, type Certificate } from './support/certificates';
import { startNginx, type Nginx } from './support/nginx';
import { endWithLogs, freePort, newFolder } from './support/program';
import * as requests from './support/requests';
import { failureOf } from '../support/failure';

describe('nginx as the TLS front of the service', () => {
  let service: Simulator;
  let nginx: Nginx;
  /** Certificates by their first name. */
  let certificates: Record<'service.test' | 'identity.test' | 'other.test', Certificate>;
  let folder: string;
  let cars = 0;
  /** A car that no other test has used. */
  let vin: string;

  before(async () => {
    folder = await newFolder('certificates');
    certificates = {
      'service.test': await issueCertificate(folder, ['service.test']),
      'identity.test': await issueCertificate(folder, ['identity.test']),
      'other.test': await issueCertificate(folder, ['other.test']),
    };
    service = await startSimulator({ cars: manyCars(100) });
  });

  beforeEach(() => {
    service.clearRequests();
    vin = vinOf((cars += 1));
  });

  afterEach(async () => {
    await closeAccounts();
    service.faults.clear();
    await nginx?.stop();
  });

  after(() => service?.close());

  endWithLogs();

  /** A block `server` that passes everything on to the service. */
  const site = (port: number, { cert, key }: Certificate, more = '', location = ''): string => `server {
      listen 127.0.0.1:${port} ssl;
      ssl_certificate ${cert};
      ssl_certificate_key ${key};
      ${more}
      location / { proxy_pass ${service.url}; ${location} }
    }`;

  /** nginx with one site, whose certificate is for `service.test`. */
  const startSite = async (more = '', location = ''): Promise<Nginx> =>
    (nginx = await startNginx((port) => site(port, certificates['service.test'], more, location)));

  const open = (changes: Parameters<typeof openTestAccount>[1] = {}): Account =>
    openTestAccount(service, { settings: { baseUrl: `https://service.test:${nginx.port}` }, ...changes });

  const readOdometer = (account: Account): Promise<unknown> => requests.readOdometer(account, vin);
  const lock = (account: Account): Promise<CommandRecord> => requests.lock(account, vin);

  /**
   * The lines of a log of nginx, which has ended: it writes the line of a request after its answer.
   */
  const finalLog = async (name: string): Promise<string[]> => {
    await nginx.stop();
    return (await readFile(join(nginx.folder, name), 'utf8')).split('\n').slice(0, -1);
  };

  const arrived = (method: string): number => service.requests.filter((request) => request.method === method).length;

  describe('with certificates by name', () => {
    /** The first site is the default one, and its certificate is for another name. */
    const startSites = async (): Promise<void> => {
      nginx = await startNginx(
        (port) => `log_format names "$ssl_server_name $host $request_method $status";
          access_log names.log names;
          ${site(port, certificates['other.test'], 'server_name other.test;', 'return 421;')}
          ${site(port, certificates['service.test'], 'server_name service.test;')}
          ${site(port, certificates['identity.test'], 'server_name identity.test;')}`,
      );
    };

    it('answers a read, a command and the token endpoint, each by its name', async () => {
      await startSites();
      const [audience, identity] = ['service.test', 'identity.test'].map((host) => `https://${host}:${nginx.port}`) as [
        string,
        string,
      ];
      const tokens = await requests.tokensOf(service, audience, identity);
      const account = open({ tokens });
      assert.equal(await readOdometer(account), 51_234);
      assert.equal((await lock(account)).outcome, 'succeeded');
      assert.deepEqual(service.car(vin).performed, ['lock']);
      assert.equal(account.token().kind, 'refreshing');
      assert.deepEqual(
        new Set(await finalLog('names.log')),
        new Set([
          'identity.test identity.test POST 200',
          'service.test service.test GET 200',
          'service.test service.test POST 200',
        ]),
      );
    });

    it('sends nothing to a site whose certificate is for another name', async () => {
      await startSites();
      const account = open({ settings: { baseUrl: `https://unknown.test:${nginx.port}` } });
      for (const work of [readOdometer, lock]) {
        const { code, message } = await failureOf(work(account));
        assert.equal(code, 'NETWORK');
        assert.match(message, /certificate .* another host/);
      }
      assert.equal(service.requests.length, 0);
      assert.deepEqual(await finalLog('names.log'), []);
    });
  });

  const refused: [what: string, certificate: () => Promise<Certificate>, says: RegExp][] = [
    [
      'is of an authority that this machine does not trust',
      async () => {
        const authority = await newFolder('authority');
        await makeAuthority(authority);
        return issueCertificate(authority, ['service.test'], { authority });
      },
      /certificate .* not trusted .*NODE_EXTRA_CA_CERTS/,
    ],
    [
      'is not for servers',
      async () => issueCertificate(await newFolder('purpose'), ['service.test'], { usage: 'clientAuth' }),
      /certificate .* not trusted .*NODE_EXTRA_CA_CERTS/,
    ],
    [
      'has expired',
      async () => issueCertificate(await newFolder('expired'), ['service.test'], { days: -1 }),
      /certificate .* expired/,
    ],
  ];
  for (const [what, certificate, says] of refused)
    it(`sends nothing if the certificate ${what}`, async () => {
      const own = await certificate();
      nginx = await startNginx((port) => site(port, own));
      const account = open();
      for (const work of [readOdometer, lock]) {
        const { code, message } = await failureOf(work(account));
        assert.equal(code, 'NETWORK');
        assert.match(message, says);
      }
      assert.equal(service.requests.length, 0);
    });

  for (const version of ['TLSv1.2', 'TLSv1.3']) {
    it(`reads and sends a command if only ${version} is allowed`, async () => {
      await startSite(`ssl_protocols ${version};`, 'add_header x-tls $ssl_protocol;');
      const account = open();
      assert.equal(await readOdometer(account), 51_234);
      assert.equal((await lock(account)).outcome, 'succeeded');
      assert.equal(arrived('POST'), 1);
    });
  }

  it('says that no connection is possible if only TLS 1.1 is allowed, and sends nothing', async () => {
    await startSite('ssl_protocols TLSv1.1; ssl_ciphers DEFAULT:@SECLEVEL=0;');
    const account = open();
    for (const work of [readOdometer, lock]) assert.equal((await failureOf(work(account))).code, 'NETWORK');
    assert.equal(service.requests.length, 0);
  });

  describe('with connections that end between two requests', () => {
    it('answers each of 20 reads with one request if each connection ends after its second request', async () => {
      await startSite('keepalive_requests 2;');
      const account = open();
      for (let read = 0; read < 20; read += 1) assert.equal(await readOdometer(account), 51_234);
      assert.equal(arrived('GET'), 20);
    });

    it('answers every read if idle connections end at about the time of the next read', async () => {
      await startSite('keepalive_timeout 50ms;');
      const account = open();
      for (let read = 0; read < 40; read += 1) {
        assert.equal(await readOdometer(account), 51_234);
        // The connection ends before, while or after the next read is sent.
        await new Promise((resolve) => setTimeout(resolve, 40 + (read % 20)));
      }
      assert.ok(arrived('GET') >= 40 && arrived('GET') <= 50, String(arrived('GET')));
    });

    it('answers every read over restarts and reloads of nginx', async () => {
      await startSite();
      const account = open();
      for (const name of ['SIGTERM', 'SIGKILL', 'SIGQUIT'] as const) {
        assert.equal(await readOdometer(account), 51_234);
        await nginx.restart(name);
        assert.equal(await readOdometer(account), 51_234);
        nginx.signal('SIGHUP');
        for (let read = 0; read < 10; read += 1) assert.equal(await readOdometer(account), 51_234);
      }
    });
  });

  it('resumes its TLS session for later connections, and continues if nginx has forgotten it', async () => {
    nginx = await startNginx(
      (port) => `log_format sessions "$request_method $ssl_session_reused";
        access_log sessions.log sessions;
        ${site(port, certificates['service.test'])}`,
    );
    const account = open();
    assert.equal(await readOdometer(account), 51_234);
    await lock(account);
    await nginx.restart();
    await account.dispatcher.send('unlock', { vin });
    assert.equal(await readOdometer(account), 51_234);
    assert.deepEqual(await finalLog('sessions.log'), ['GET .', 'POST r', 'POST .', 'GET r']);
  });

  it('speaks HTTP/1.1 to a site that offers HTTP/2', async () => {
    nginx = await startNginx((port) => site(port, certificates['service.test']).replace(' ssl;', ' ssl http2;'));
    const account = open();
    assert.equal(await readOdometer(account), 51_234);
    assert.equal((await lock(account)).outcome, 'succeeded');
  });

  describe('with compressed answers', () => {
    it('reads and sends a command if nginx compresses on request', async () => {
      await startSite('gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;');
      const account = open();
      assert.equal(await readOdometer(account), 51_234);
      assert.equal((await lock(account)).outcome, 'succeeded');
    });

    it('reads and sends a command if the answers are compressed although nobody asked for it', async () => {
      const inner = await freePort();
      nginx = await startNginx(
        (port) => `server {
            listen 127.0.0.1:${inner};
            gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;
            location / { proxy_pass ${service.url}; }
          }
          ${site(port, certificates['service.test']).replace(
            service.url,
            `http://127.0.0.1:${inner}; proxy_http_version 1.1; proxy_set_header accept-encoding gzip`,
          )}`,
      );
      const { headers } = await fetch(`https://service.test:${nginx.port}/`, {
        headers: { 'accept-encoding': 'identity' },
      });
      assert.equal(headers.get('content-encoding'), 'gzip');
      const account = open();
      assert.equal(await readOdometer(account), 51_234);
      assert.equal((await lock(account)).outcome, 'succeeded');
    });
  });

  it('follows no redirect', async () => {
    await startSite('', 'return 302 https://other.test:$server_port/login;');
    const account = open();
    for (const work of [readOdometer, lock]) {
      const { code, message } = await failureOf(work(account));
      assert.equal(code, 'SERVICE_ERROR');
      assert.match(message, /redirected/);
    }
    assert.equal((await finalLog('access.log')).length, 2);
  });
});
