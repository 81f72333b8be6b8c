import { strict as assert } from 'node:assert';
import { createServer, type Server } from 'node:http';
import {
  interfaceNames,
  needsOfCommand,
  needsOfRead,
  type Account,
  type InterfaceName,
  type ReadName,
} from '../../src/index';
import { commandNames, isCommandName, type CommandName } from '../../src/catalogue/commands';
import { readNames, resources } from '../../src/catalogue/reads';
import { closeAccounts, openTestAccount } from '../support/account';
import { endpoints, specifiedResources } from '../support/specification';
import { listen } from '../support/listening';

const vin = 'YV1CT9551B1570982';

/** What arrives at a server that knows nothing of the pack. */
interface Arrived {
  method: string;
  path: string;
  type: string | undefined;
  authorization: string | undefined;
  key: string | string[] | undefined;
  body: string;
}

describe('The specification, typed by hand,', () => {
  let server: Server;
  let port: number;
  const arrived: Arrived[] = [];

  before(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        const { accept, 'content-type': contentType, authorization, 'vendor-api-key': key } = request.headers;
        const type = request.method === 'GET' ? accept : contentType;
        arrived.push({ method: request.method ?? '', path: request.url ?? '', type, authorization, key, body });
        response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      });
    });
    port = await listen(server);
  });
  after(() => new Promise((resolve) => server.close(resolve)));
  beforeEach(() => void (arrived.length = 0));
  afterEach(closeAccounts);

  const open = (interfaces: readonly InterfaceName[]): Account =>
    openTestAccount({ url: `http://127.0.0.1:${port}` }, { interfaces, apiKey: 'the-key', token: 'the-token' });

  const ask = async (interfaces: readonly InterfaceName[], name: string, options: object = {}): Promise<Arrived> => {
    const { client, dispatcher } = open(interfaces);
    const work = isCommandName(name)
      ? dispatcher.send(name, { vin, ...options })
      : client.read(name as ReadName, { vin });
    await assert.rejects(Promise.resolve(work));
    assert.equal(arrived.length, 1, name);
    return arrived[0] ?? assert.fail();
  };

  for (const endpoint of endpoints) {
    const { name, interface: one, method, path, type, scopes, body, source } = endpoint;
    it(`gives ${name} of ${one} as it is requested: ${source}`, async () => {
      const request = await ask([one], name, body ?? {});
      assert.deepEqual(request, {
        method,
        path: path.replace('{vin}', vin),
        type,
        authorization: 'Bearer the-token',
        key: 'the-key',
        body: body === null ? '' : JSON.stringify(body),
      });
      const needs = isCommandName(name) ? needsOfCommand(name, [one]) : needsOfRead(name as ReadName, [one]);
      assert.deepEqual(['openid', ...needs.scopes.filter((scope) => scope !== 'openid')].sort(), [...scopes].sort());
    });
  }

  it('has every request that a read can send on any interface', async () => {
    const known = new Set(endpoints.map(({ method, path, type }) => `${method} ${path} ${type}`));
    for (const one of interfaceNames)
      for (const name of readNames) {
        const { client } = open([one]);
        await assert.rejects(Promise.resolve(client.read(name, { vin })));
        await closeAccounts();
      }
    assert.ok(arrived.length > readNames.length);
    for (const { method, path, type } of arrived) {
      const request = `${method} ${path.replace(vin, '{vin}')} ${type}`;
      assert.ok(known.has(request), request);
    }
  });

  it('has every command of every interface, and no other', () => {
    const versions = (name: CommandName) =>
      (['v1', 'v2'] as const).filter((version) => needsOfCommand(name, interfaceNames).versions?.[version]);
    const specified = endpoints.filter(({ method }) => method === 'POST').map((row) => `${row.name} ${row.interface}`);
    assert.deepEqual(
      commandNames.flatMap((name) => versions(name).map((version) => `${name} connected-${version}`)).sort(),
      specified.sort(),
    );
  });

  it('has the unit, the words or the values of each resource', () => {
    const typed = Object.fromEntries(
      Object.entries(resources).map(([name, resource]) => [
        name,
        'unit' in resource
          ? { scope: resource.scope, type: resource.kind, unit: resource.unit }
          : 'words' in resource
            ? { scope: resource.scope, words: resource.words }
            : { scope: resource.scope, values: resource.values },
      ]),
    );
    assert.deepEqual(typed, specifiedResources);
  });
});
