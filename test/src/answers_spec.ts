import { strict as assert } from 'node:assert';
import { createServer, type Server } from 'node:http';
import {
  createTokenSource,
  interfaceNames,
  isCommandName,
  isReadName,
  MemoryStateStore,
  openSession,
  Pack,
  VehicleError,
  type Account,
  type InterfaceName,
  type ReadName,
} from '../../src/index';
import { anonymousAnswer } from '../../src/wire/anonymous';
import { accountOn } from '../support/account';
import { clock, now, reads, recorded, recordedFailures, vin, type Answer } from '../support/answers';
import { saveSignIn } from '../support/saved-sign-in';
import { StoredTranscripts } from '../transcripts/stored-transcripts';
import { listen } from '../support/listening';

const tokenPath = '/as/token.oauth2';

/** `/connected-vehicle/v2/…` is of `connected-v2`. */
const interfaceOf = (path: string): InterfaceName | undefined => {
  const [, api = '', version = ''] = path.split('/');
  return interfaceNames.find((name) => name === `${api.replace('-vehicle', '')}-${version}`);
};

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
      const text =
        typeof body === 'string' ? body : JSON.stringify(body).replaceAll('{base}', base).replaceAll('{vin}', vin);
      request.resume().on('end', () => {
        response.writeHead(status, typeof body === 'string' ? {} : { 'content-type': 'application/json' }).end(text);
      });
    });
    base = `http://127.0.0.1:${await listen(server)}`;
  });
  after(() => new Promise((closed) => server.close(closed)));
  afterEach(() => account?.close());

  /**
   * An account that knows nothing of the car yet.
   * @param signsIn it has a refresh token, else an access token
   */
  const open = async (interfaces: readonly InterfaceName[], signsIn: boolean): Promise<Account> => {
    const session = openSession({ state: new MemoryStateStore(), clock });
    const client = { audience: base, tokenUrl: `${base}${tokenPath}`, clientId: 'application', clientSecret: 'secret' };
    if (signsIn) await saveSignIn(session, client, 'v', 'refresh-token');
    return (account = accountOn(
      { url: base },
      {
        pack: new Pack({ clock }),
        interfaces,
        ...(signsIn && { tokens: createTokenSource({ session, client, configNodeId: 'v' }) }),
      },
    ));
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

  const compare = (transcripts: StoredTranscripts, title: string, found: object): void => {
    const texts = transcripts.compare(title, found);
    assert.equal(texts.found, texts.stored);
  };

  describe('gives each message', () => {
    const files = recorded.map(({ name }) => new StoredTranscripts(`../fixtures/messages/${name}.json`));
    after(() => files.forEach((transcripts) => transcripts.save()));

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
        const opened = await open(
          [...interfaces],
          answers.some(({ path }) => path === tokenPath),
        );
        const transcripts = files[index] ?? assert.fail();
        for (const read of reads) {
          const message = await messageOf(read, opened).catch(failureOf);
          // No wallbox is entered.
          if (!('code' in message) || !['NOT_SUPPORTED', 'CONFIG'].includes(String(message.code)))
            compare(transcripts, read, message);
        }
        for (const { method, path } of answers) {
          const command = path.split('/').at(-1) ?? '';
          if (method === 'POST' && isCommandName(command)) compare(transcripts, command, await sentBy(command, opened));
        }
        if (opened.token().kind === 'refreshing') compare(transcripts, 'token', opened.token());
        assert.deepEqual(
          answers.filter((answer) => !asked.has(answer)),
          [],
          'answers that nothing asked for',
        );
        assert.deepEqual(transcripts.unused, []);
      });
    });
  });

  describe('that an owner shares', () => {
    const serve = (answers: readonly Pick<Answer, 'method' | 'path' | 'status' | 'body'>[]): void => {
      respond = (method, path) =>
        answers.find((one) => one.method === method && one.path === path) ?? { status: 404, body: '{}' };
    };
    /**
     * Sends the commands, and reads.
     * @returns what *Copy diagnostics* has of the answers, and the messages
     */
    const ask = async (answers: readonly Answer[]): Promise<{ shared: Answer[]; messages: Map<string, unknown> }> => {
      serve(answers);
      const interfaces = new Set(answers.flatMap(({ path }) => interfaceOf(path) ?? []));
      const messages = new Map<string, unknown>();
      const shared: Answer[] = [];
      const used = async (work: (opened: Account) => Promise<void>): Promise<void> => {
        const opened = await open([...interfaces], false);
        await work(opened);
        await opened.close();
        for (const answer of opened.lastAnswers())
          if (answers.some(({ path, method }) => path === answer.path && method === answer.method)) shared.push(answer);
      };
      await used(async (opened) => {
        for (const name of reads) messages.set(name, await messageOf(name, opened).catch(failureOf));
      });
      // A command without a clear answer would keep the next one waiting.
      for (const { method, path } of answers) {
        const command = path.split('/').at(-1) ?? '';
        if (method === 'POST' && isCommandName(command))
          await used(async (opened) => void (await sentBy(command, opened).catch(failureOf)));
      }
      return { shared, messages };
    };
    const ofService = recorded.map(({ name, answers }) => ({
      name,
      answers: answers.filter(({ path }) => path !== tokenPath && !path.includes('/requests/')),
    }));

    /** What shows whose car it is or its position; no fixture has any of it. */
    const canaries: Record<string, string | number> = {
      'a VIN': 'CN1A2B3C4D5E6F7G8',
      'a VIN in lower case': 'cn1a2b3c4d5e6f7g8',
      'a VIN of letters': 'QWERTYUIOPASDFGHJ',
      'a VIN of digits': '12312312312312312',
      'a UUID': '5432eff4-7d1c-4b0e-9f3a-0c5d8e1f2a3b',
      'an id of hex digits': '9f86d081884c7d659a2feaa0c55ad015',
      'an id of digits': '987654321098',
      'a number as an id': 987_654_321_098,
      'a latitude': 57.708_87,
      'a latitude as text': '57.70887',
      'a position as text': '57.70887,11.97456',
      'a latitude with two decimals': 57.71,
      'a position in words': '57 degrees 42 minutes',
      'a number plate': 'ABC 123',
      'a number plate with an underscore': 'GBG_123',
      'a number plate of another country': 'M AB 123',
      'a name of two words in capitals': 'ANNA SVENSSON',
      'a host of one word': 'anna-nas',
      'an address': 'https://cas.example/4711/default.png?client=private&angle=0',
      'an address without a scheme': '//cas.example/4711/private.png',
      'a path': '/4711/private.png',
      'an e-mail address': 'driver@private.example',
      'a telephone number': '+46311234567',
      'a token': 'eyJhbGciOiJub25lIn0.eyJwcml2YXRlIjoxfQ.c2lnbmF0dXJl',
    };
    /**
     * A copy with some canaries instead of each value, in a sentence there, or as a
     * name beside each name.
     */
    const filled = (value: unknown, where: 'values' | 'sentences' | 'names', all: readonly unknown[]): unknown => {
      if (Array.isArray(value)) return value.map((item) => filled(item, where, all));
      if (typeof value === 'object' && value !== null)
        return Object.fromEntries(
          Object.entries(value).flatMap(([name, member]) => [
            [name, filled(member, where, all)],
            ...(where === 'names' ? all.map((canary) => [String(canary), member]) : []),
          ]),
        );
      if (where === 'names') return value;
      return where === 'values' ? all : all.map((canary) => `The car ${String(canary)} of (${String(canary)}).`);
    };

    for (const where of ['values', 'sentences', 'names'] as const)
      it(`keeps none of ${Object.keys(canaries).join(', ')}, in any place of any answer (${where})`, () => {
        const values = Object.values(canaries);
        for (const { name, answers } of ofService)
          for (const { method, path, status, body } of answers) {
            const personal = JSON.stringify(filled(body, where, values));
            const text = JSON.stringify(anonymousAnswer(method, path, status, personal)).toLowerCase();
            for (const [kind, canary] of Object.entries(canaries))
              for (const part of String(canary)
                .toLowerCase()
                .split(/[,/?&]/))
                assert.ok(part.length < 4 || !text.includes(part), `${part} of ${kind} in ${name}: ${text}`);
          }
      });

    it('has no position and no id, however short they are', async () => {
      const { answers } = ofService.find(({ name }) => name === 'location-without-time') ?? assert.fail();
      const [answer = assert.fail()] = answers;
      const { shared } = await ask([
        { ...answer, body: { operationId: '654321', userId: 654_321, ...(answer.body as object) } },
      ]);
      assert.deepEqual(shared[0]?.body, {
        operationId: '[text]',
        userId: 0,
        data: { type: 'Feature', geometry: { type: 'Point', coordinates: [11.5, 57.5] }, properties: {} },
      });
    });

    it('gives the same messages as before, but for the position and for names, colors and addresses', async () => {
      const personal = new Set<string>(['location', 'details', 'vehicles', 'commands']);
      let same = 0;
      for (const { name, answers } of ofService) {
        const before = await ask(answers);
        const after = await ask(before.shared);
        assert.deepEqual(after.shared, before.shared, name);
        for (const [read, message] of before.messages) {
          // Its text is the placeholder of the OpenAPI.
          if (personal.has(read) || `${name} ${read}` === 'extended-v1 fuelAmount') continue;
          assert.deepEqual(after.messages.get(read), message, `${name} ${read}`);
          same += 1;
        }
      }
      assert.ok(same > 1_000, String(same));
    });

    it('keeps the status of a failure and the words in capitals, and no sentence', async () => {
      for (const { status, body } of recordedFailures.filter(({ read }) => read !== 'token')) {
        respond = () => ({ status, body });
        const opened = await open(['connected-v2'], false);
        await messageOf('windows', opened).catch(failureOf);
        const [answer = assert.fail()] = opened.lastAnswers();
        assert.equal(answer.status, status);
        const said = JSON.stringify(body).match(/(?<=:")(?!X-)[A-Z_]{2,40}(?=")/g) ?? [];
        for (const word of said) assert.ok(JSON.stringify(answer.body).includes(`"${word}"`), word);
        assert.doesNotMatch(JSON.stringify(answer.body), /[A-Za-z]{2} [A-Za-z]/);
        await opened.close();
      }
    });
  });

  describe('that is a failure gives its error', () => {
    const transcripts = new StoredTranscripts('../fixtures/messages/failures.json');
    after(() => transcripts.save());

    for (const { source, read: name, status, body } of recordedFailures) {
      const title = `${name} ${status} ${typeof body === 'string' ? body : JSON.stringify(body)}`;
      it(`${title.slice(0, 120)}: ${source}`, async () => {
        const isToken = name === 'token';
        respond = (_method, path) => (isToken === (path === tokenPath) ? { status, body } : { status: 500, body: '' });
        const opened = await open(
          name === 'odometer' ? ['extended-v1'] : ['connected-v2', 'energy-v2', 'location-v1'],
          isToken,
        );
        const work = isCommandName(name)
          ? sentBy(name, opened)
          : messageOf(isReadName(name) ? name : 'windows', opened);
        compare(transcripts, title, await work.catch(failureOf));
      });
    }

    it('and no other', () => assert.deepEqual(transcripts.unused, []));
  });
});
