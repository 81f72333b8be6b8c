import { strict as assert } from 'node:assert';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createTokenSource,
  interfaceNames,
  isCommandName,
  isReadName,
  MemoryStateStore,
  openAccount,
  openSession,
  Pack,
  pastedToken,
  readThemes,
  resolveService,
  systemClock,
  VehicleError,
  type Account,
  type Clock,
  type InterfaceName,
  type ReadName,
} from '../../src/index';
import { recorded, recordedFailures, type Answer } from '../support/answers';
import { Golden } from '../transcripts/golden';

const vin = 'YV1CT9551B1570982';
const tokenPath = '/as/token.oauth2';

const now = Date.parse('2026-11-23T08:00:00Z');
/** Pauses between tries pass at once. */
const clock: Clock = { ...systemClock, now: () => now, sleep: () => Promise.resolve() };

/** `/connected-vehicle/v2/…` is of `connected-v2`. */
const interfaceOf = (path: string): InterfaceName | undefined => {
  const [, api = '', version = ''] = path.split('/');
  return interfaceNames.find((name) => name === `${api.replace('-vehicle', '')}-${version}`);
};

/** Every read of the service, as the dropdown lists them. */
const reads = readThemes().flatMap(([, names]) => names.filter(isReadName));

const without = (value: object, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

describe('An answer of a real car', () => {
  let server: Server;
  let base: string;
  let account: Account | undefined;
  let respond: (method: string, path: string) => Pick<Answer, 'status' | 'body'>;

  before(async () => {
    server = createServer((request, response) => {
      const { status, body } = respond(request.method ?? '', (request.url ?? '').replace(vin, '{vin}'));
      const text = typeof body === 'string' ? body : JSON.stringify(body).replaceAll('{base}', base);
      request.resume().on('end', () => {
        response.writeHead(status, typeof body === 'string' ? {} : { 'content-type': 'application/json' }).end(text);
      });
    }).listen(0, '127.0.0.1');
    await new Promise((listening) => server.once('listening', listening));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => new Promise((closed) => server.close(closed)));
  afterEach(() => account?.close());

  /** An account that knows nothing of the car yet. @param signsIn it has a refresh token, else an access token */
  const open = (interfaces: readonly InterfaceName[], signsIn: boolean): Account => {
    const session = openSession({ state: new MemoryStateStore(), clock });
    const client = { audience: base, tokenUrl: `${base}${tokenPath}`, clientId: 'application', clientSecret: 'secret' };
    return (account = openAccount({
      pack: new Pack({ clock }),
      service: resolveService('custom', { baseUrl: base, interfaces }),
      apiKey: 'key',
      tokens: signsIn
        ? createTokenSource({ session, client, configNodeId: 'v', refreshToken: 'pasted-token' })
        : pastedToken('token'),
      limits: { requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: 1e6 },
      random: () => 0,
    }));
  };

  const messageOf = async (name: ReadName, { client }: Account): Promise<object> => {
    const { payload, vehicle } = await client.read(name, { vin });
    assert.deepEqual([vehicle.read, vehicle.vin], [name, name === 'vehicles' ? null : vin]);
    return { payload, vehicle: without(vehicle, ['read', 'vin', 'receivedAt', 'source']) };
  };

  const sentBy = async (name: string, { client, dispatcher }: Account): Promise<object> => {
    const record = await dispatcher.send(name, { vin, ...(name === 'engine-start' && { runtimeMinutes: 15 }) });
    const { async: link, ...rest } = without(record, ['id', 'sentAt', 'vin']) as typeof record;
    if (link === null) return rest;
    const later = await client.commandStatus(record);
    return JSON.parse(JSON.stringify({ ...rest, async: link, later }).replaceAll(base, '{base}')) as object;
  };

  const failureOf = (error: unknown): object => {
    assert.ok(error instanceof VehicleError, String(error));
    const { code, message, retryable, httpStatus, operationId, retryAt } = error;
    const waits = retryAt === null ? null : `${(retryAt.getTime() - now) / 1000} s`;
    return { code, message, retryable, httpStatus, operationId, retryAt: waits };
  };

  const compare = (golden: Golden, title: string, found: object): void => {
    const texts = golden.compare(title, found);
    assert.equal(texts.found, texts.stored);
  };

  describe('gives each message', () => {
    const goldens = recorded.map(({ name }) => new Golden(`../fixtures/messages/${name}.json`));
    after(() => goldens.forEach((golden) => golden.save()));

    recorded.forEach(({ name, source, answers }, index) => {
      it(`of ${name}: ${source}`, async () => {
        const nothing = { status: 404, body: { statusCode: 404, message: 'Resource not found' } };
        const asked = new Set<Answer>();
        respond = (method, path) => {
          const answer = answers.find((one) => one.method === method && one.path === path);
          if (answer !== undefined) asked.add(answer);
          return answer ?? nothing;
        };
        const interfaces = new Set(answers.flatMap(({ path }) => interfaceOf(path) ?? []));
        const opened = open(
          [...interfaces],
          answers.some(({ path }) => path === tokenPath),
        );
        const golden = goldens[index] ?? assert.fail();
        for (const read of reads) {
          const message = await messageOf(read, opened).catch(failureOf);
          if (!('code' in message) || message.code !== 'NOT_SUPPORTED') compare(golden, read, message);
        }
        for (const { method, path } of answers) {
          const command = path.split('/').at(-1) ?? '';
          if (method === 'POST' && isCommandName(command)) compare(golden, command, await sentBy(command, opened));
        }
        if (opened.token().kind === 'refreshing') compare(golden, 'token', opened.token());
        assert.deepEqual(
          answers.filter((answer) => !asked.has(answer)),
          [],
          'answers that nothing asked for',
        );
        assert.deepEqual(golden.unused, []);
      });
    });
  });

  describe('that is a failure gives its error', () => {
    const golden = new Golden('../fixtures/messages/failures.json');
    after(() => golden.save());

    for (const { source, read: name, status, body } of recordedFailures) {
      const title = `${name} ${status} ${typeof body === 'string' ? body : JSON.stringify(body)}`;
      it(`${title.slice(0, 120)}: ${source}`, async () => {
        const isToken = name === 'token';
        respond = (_method, path) => (isToken === (path === tokenPath) ? { status, body } : { status: 500, body: '' });
        const opened = open(
          name === 'odometer' ? ['extended-v1'] : ['connected-v2', 'energy-v2', 'location-v1'],
          isToken,
        );
        const work = isCommandName(name)
          ? sentBy(name, opened)
          : messageOf(isReadName(name) ? name : 'windows', opened);
        compare(golden, title, await work.catch(failureOf));
      });
    }

    it('and no other', () => assert.deepEqual(golden.unused, []));
  });
});
