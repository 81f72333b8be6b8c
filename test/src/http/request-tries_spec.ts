import { strict as assert } from 'node:assert';
import { VehicleError } from '../../../src/index';
import {
  Requests,
  UnconfirmedCommandError,
  type Answer,
  type GetRequest,
  type PostRequest,
} from '../../../src/http/requests';
import { readAddress, type ReadAddress } from '../../../src/http/addresses';
import type { RateLimiter } from '../../../src/http/rate-limiter';
import { SharedReads } from '../../../src/http/shared-reads';
import { pastedToken, type TokenSource } from '../../../src/http/token-source';
import type { TransportRequest } from '../../../src/http/transport';
import { createRedactor, type Redactor } from '../../../src/redact';
import { ManualClock } from '../../support/manual-clock';
import { failureOf } from '../../support/failure';

const start = Date.parse('2026-06-01T08:00:00Z');
const url = new URL('https://car.example/connected-vehicle/v2/vehicles/YV1CT9551B1570982/doors');
const to = (path: string, accept = 'application/json'): ReadAddress => readAddress(new URL(path, url), accept, 'owner');
const get: GetRequest = { api: 'connected', address: to(''), scopes: ['conve:doors_status'] };
const failed = (code: string): VehicleError => new VehicleError('NETWORK', 'No route.', { cause: { code } });
const said = (text: string): string => JSON.stringify({ error: { message: text } });
/** JSON.parse reads it, and JSON.stringify throws. */
const tooDeep = '['.repeat(100_000) + ']'.repeat(100_000);

interface Given {
  status?: number;
  body?: string;
  headers?: Record<string, string>;
}

describe('A request', () => {
  let clock: ManualClock;
  let sent: TransportRequest[];
  let slots: string[];
  let paused: string[];
  let token: number;
  let isWorthIt: boolean;
  let answers: (Given | VehicleError)[];
  /** Until when the requests may wait for their slots, in seconds from the start. */
  let deadlines: number[];
  let waitsMs: number;
  /** How long each token that is asked for takes, the first one first; the others take no time. */
  let tokensTakeMs: number[];
  let failsAfterLeaving: boolean;
  let redactor: Redactor;
  beforeEach(() => {
    redactor = createRedactor();
    clock = new ManualClock(start);
    [sent, slots, paused, token, isWorthIt, answers] = [[], [], [], 1, true, []];
    [deadlines, waitsMs, failsAfterLeaving, tokensTakeMs] = [[], 0, false, []];
  });
  const requestsOf = (shareForMs = 0): Requests => {
    const tokens: TokenSource = {
      get: async () => {
        const ms = tokensTakeMs.shift() ?? 0;
        if (ms > 0) await clock.advance(ms);
        return `token-${token}`;
      },
      fresh: null,
      onAccepted: (accepted) => void slots.push(`accepted ${accepted}`),
      onUnauthorized: (refused) => {
        assert.equal(refused, `token-${token}`);
        if (isWorthIt) token += 1;
        return Promise.resolve(isWorthIt);
      },
      describe: () => ({ ...pastedToken('opaque').describe(), scopes: ['openid', 'conve:lock'] }),
      close: () => Promise.resolve(),
    };
    const started = clock.monotonic();
    const limiter = {
      acquire: async (kind: string, { deadline }: { deadline: number }) => {
        slots.push(kind);
        deadlines.push((deadline - started) / 1000);
        if (waitsMs > 0) await clock.advance(waitsMs);
      },
      pauseUntil: (code: string, until: Date, api: string) =>
        void paused.push(`${code} ${+until - clock.now()} ${api}`),
    };
    return new Requests({
      apiKeyHeader: 'vendor-api-key',
      apiKey: 'key',
      tokens,
      // A request uses two methods of it.
      limiter: limiter as unknown as RateLimiter,
      shared: new SharedReads<Answer>(clock),
      shareForMs,
      transport: {
        send: async (request) => {
          sent.push(request);
          const answer = answers.length > 1 ? answers.shift() : answers[0];
          if (answer instanceof VehicleError && !failsAfterLeaving) throw answer;
          request.mayLeave?.();
          if (answer instanceof VehicleError) throw answer;
          await Promise.resolve();
          return { status: answer?.status ?? 200, headers: answer?.headers ?? {}, body: answer?.body ?? '{}' };
        },
        close: () => Promise.resolve(),
      },
      redactor,
      clock,
      random: () => 0,
    });
  };
  /**
   * The result of a request, the number of tries, and the seconds that the
   * pauses between them took.
   */
  const outcome = async (work: Promise<unknown>): Promise<[result: string, tries: number, seconds: number]> => {
    const before = sent.length;
    const began = clock.monotonic();
    const over: { result: string; at: number }[] = [];
    const end = (result: string): void => void over.push({ result, at: clock.monotonic() });
    void work.then(
      () => end('ok'),
      (error: unknown) =>
        end(
          error instanceof UnconfirmedCommandError
            ? `unconfirmed ${error.isAnswerOfCar}`
            : (error as VehicleError).code,
        ),
    );
    await new Promise(setImmediate);
    for (let ms = 0; over.length === 0 && ms < 120_000; ms += 125) await clock.advance(125);
    const [{ result, at } = assert.fail('no end')] = over;
    return [result, sent.length - before, (at - began) / 1000];
  };

  const reads: [what: string, answers: (Given | VehicleError)[], result: string, tries: number, seconds: number][] = [
    ['an answer', [{ body: '{"a":1}' }], 'ok', 1, 0],
    ['a fault, then an answer', [{ status: 500 }, {}], 'ok', 2, 0.375],
    ['two faults, then an answer', [{ status: 502 }, failed('EAI_AGAIN'), {}], 'ok', 3, 1.125],
    ['faults', [{ status: 500 }], 'SERVICE_ERROR', 3, 1.125],
    ['no JSON', [{ body: '<html>' }], 'BAD_RESPONSE', 3, 1.125],
    ['100,000 levels of JSON', [{ body: tooDeep }], 'BAD_RESPONSE', 3, 1.125],
    ['a socket that was ended', [failed('ECONNRESET'), {}], 'ok', 2, 0],
    ['a socket that is ended each time', [failed('ECONNRESET')], 'NETWORK', 4, 1.125],
    ['a certificate that is not trusted', [failed('CERT_HAS_EXPIRED')], 'NETWORK', 1, 0],
    ['a redirect', [{ status: 302 }], 'SERVICE_ERROR', 1, 0],
    ['a refused token, then an answer', [{ status: 401 }, {}], 'ok', 2, 0],
    ['refused tokens', [{ status: 401 }], 'SIGN_IN_REQUIRED', 3, 0],
    ['a refused key, then an answer', [{ status: 401, body: said('invalid API key') }, {}], 'ok', 2, 0],
    ['a refused key', [{ status: 401, body: said('invalid API key') }], 'API_KEY_REFUSED', 2, 0],
    ['too many requests', [{ status: 429, headers: { 'retry-after': '2' } }, {}], 'ok', 2, 2],
    ['too many requests for long', [{ status: 429, headers: { 'retry-after': '61' } }], 'RATE_LIMITED', 1, 0],
    ['a spent quota', [{ status: 403, body: said('Out of call volume quota') }], 'QUOTA_SPENT', 1, 0],
    ['nothing of the kind', [{ status: 404 }], 'NOT_SUPPORTED', 1, 0],
  ];
  for (const [what, given, result, tries, seconds] of reads)
    it(`of a read gets ${what}: ${result} after ${tries} in ${seconds} s`, async () => {
      answers = [...given];
      assert.deepEqual(await outcome(requestsOf().get(get)), [result, tries, seconds]);
      assert.ok(slots.filter((slot) => slot === 'read').length === tries, 'each try is counted');
    });

  it('of a read has the headers of the service, and half a minute', async () => {
    await requestsOf().get(get);
    const [request] = sent;
    assert.deepEqual(request?.headers, {
      authorization: 'Bearer token-1',
      'vendor-api-key': 'key',
      accept: 'application/json',
    });
    assert.deepEqual([request.method, request.url.href, request.timeoutMs], ['GET', url.href, 30_000]);
    assert.deepEqual(slots, ['read', 'accepted token-1']);
  });

  it('that keeps failing in the same way is not tried again within one read, until it works', async () => {
    const requests = requestsOf();
    answers = [{ status: 500 }];
    assert.deepEqual(await outcome(requests.get(get)), ['SERVICE_ERROR', 3, 1.125]);
    assert.deepEqual(await outcome(requests.get(get)), ['SERVICE_ERROR', 1, 0]);
    assert.deepEqual(await outcome(requests.get({ ...get, kind: 'forCommand' })), ['SERVICE_ERROR', 3, 1.125]);
    assert.deepEqual(await outcome(requests.get({ ...get, address: to('/x') })), ['SERVICE_ERROR', 3, 1.125]);
    answers = [{}];
    assert.deepEqual(await outcome(requests.get(get)), ['ok', 1, 0]);
    answers = [{ status: 500 }];
    assert.deepEqual(await outcome(requests.get(get)), ['SERVICE_ERROR', 3, 1.125]);
  });

  it('that is refused for a time holds up all others with the key', async () => {
    answers = [{ status: 429, headers: { 'retry-after': '61' } }];
    await outcome(requestsOf().get(get));
    answers = [{ status: 403, body: said('Out of call volume quota. It is refilled after 00:30:00.') }];
    await outcome(requestsOf().get({ ...get, api: 'energy' }));
    answers = [{ status: 503, headers: { 'retry-after': '61' } }];
    await outcome(requestsOf().get(get));
    assert.deepEqual(paused, ['RATE_LIMITED 61000 connected', 'QUOTA_SPENT 1800000 energy']);
  });

  it('names the scopes that the token lacks, or all of them if it lacks none', async () => {
    answers = [{ status: 403, body: said('Access is denied') }];
    await assert.rejects(requestsOf().get(get), /lacks a scope that this needs: conve:doors_status\./);
    await assert.rejects(requestsOf().get({ ...get, scopes: ['conve:lock'] }), /this needs: openid, conve:lock\./);
  });

  it('knows whether the key is refused, of any API', async () => {
    const requests = requestsOf();
    assert.equal(requests.isKeyRefused, null);
    const ask = async (api: GetRequest['api'], given: Given): Promise<boolean | null> => {
      answers = [given];
      await requests.get({ ...get, api }).catch(() => undefined);
      return requests.isKeyRefused;
    };
    const refused = { status: 401, body: said('invalid API key') };
    assert.equal(await ask('connected', {}), false);
    assert.equal(await ask('energy', refused), true);
    assert.equal(await ask('connected', {}), true);
    assert.equal(await ask('energy', { status: 404 }), true);
    assert.equal(await ask('energy', {}), false);
  });

  it('knows how far the clock of the service is ahead, from five seconds on', async () => {
    const requests = requestsOf();
    for (const [date, skew] of [
      ['Mon, 01 Jun 2026 08:00:06 GMT', 6_000],
      ['Mon, 01 Jun 2026 08:00:05 GMT', 0],
      ['Mon, 01 Jun 2026 07:59:54 GMT', -6_000],
      ['', 0],
    ] as const) {
      answers = [{ headers: { date } }];
      const { receivedAt } = (await requests.get(get)).value;
      assert.deepEqual([requests.clockSkewMs, receivedAt], [skew, start]);
    }
  });

  it('parses an answer again only if it is another one, and removes a secret that was learned since', async () => {
    const requests = requestsOf();
    const last = { text: '', body: undefined };
    const bodyOf = async (body: string, more: Partial<GetRequest> = { last }): Promise<unknown> => {
      answers = [{ body }];
      return (await requests.get({ ...get, ...more })).value.body;
    };
    const [closed, open] = ['{"state":"closed","note":"one-secret"}', '{"state":"open"}'];
    const first = await bodyOf(closed);
    assert.equal(await bodyOf(closed), first);
    assert.notEqual(await bodyOf(closed, {}), first);
    assert.deepEqual(await bodyOf(open), { state: 'open' });
    assert.deepEqual(await bodyOf(closed), { state: 'closed', note: 'one-secret' });
    redactor.learn('one-secret');
    assert.deepEqual(await bodyOf(closed), { state: 'closed', note: '[secret]' });
  });

  it('is shared as long as its answer may be old, and while it is in progress', async () => {
    const requests = requestsOf(10_000);
    const source = async (of: Requests, more: Partial<GetRequest> = {}) => (await of.get({ ...get, ...more })).source;
    assert.deepEqual([await source(requests), await source(requests)], ['live', 'shared']);
    assert.equal(await source(requests, { address: to('', 'text/plain') }), 'live');
    assert.equal(await source(requests, { maxAgeMs: 0 }), 'live');
    assert.equal(await source(requests, { keep: false }), 'live');
    requests.forget('https://car.example/connected-vehicle/');
    assert.equal(await source(requests), 'live');
    await clock.advance(10_000);
    assert.equal(await source(requests), 'live');
    const alone = requestsOf(0);
    assert.deepEqual([await source(alone), await source(alone)], ['live', 'live']);
    assert.deepEqual(await Promise.all([source(alone), source(alone)]), ['live', 'shared']);
  });

  it('is listed with its answer, the last 30 of each, and no very long one', async () => {
    const requests = requestsOf();
    for (let count = 0; count < 31; count += 1)
      await requests.get({ ...get, address: to(`/${'x'.repeat(count + 1)}`) });
    assert.equal(requests.recent().length, 30);
    assert.deepEqual([requests.answers().length, requests.answers()[0]?.path], [30, '/xx']);
    answers = [{ body: JSON.stringify('x'.repeat(20_000)) }];
    await requests.get({ ...get, address: to('/long') });
    answers = [{ body: '{"value":"OPEN"}' }];
    await requests.get({ ...get, address: to('/short') });
    const last = requests.answers().at(-1);
    assert.deepEqual(last, { method: 'GET', path: '/short', status: 200, body: { value: 'OPEN' } });
    assert.ok(requests.answers().every(({ path }) => path !== '/long'));
  });

  it('is logged with method, host, path without VIN and ids, status, time and code, and nothing else', async () => {
    const requests = requestsOf();
    const vinPath = '/connected-vehicle/v2/vehicles/…570982';
    waitsMs = 7;
    answers = [{ body: '{"secret":true}' }];
    await requests.get({ ...get, address: to('doors?token=secret') });
    await requests.get({ ...get, address: to('requests/428d0ed994b678aff0dcf7f65391bdde') });
    await requests.get({ ...get, address: to(`/${'1'.repeat(17)}/tyre-pressure/5432eff4-7d1c/22`) });
    answers = [{ status: 409, body: 'secret' }];
    await assert.rejects(command([], {}, requests), { code: 'VEHICLE_ERROR' });
    const [first, ...others] = requests.recent();
    const at = new Date(start + 7).toISOString();
    const host = 'car.example';
    assert.deepEqual(first, { at, method: 'GET', host, path: `${vinPath}/doors`, status: 200, ms: 0, code: null });
    assert.deepEqual(
      others.map(({ method, path, status, code }) => [method, path, status, code]),
      [
        ['GET', `${vinPath}/requests/[text]`, 200, null],
        ['GET', '/…111111/tyre-pressure/[text]/[text]', 200, null],
        ['POST', `${vinPath}/doors`, 409, 'VEHICLE_ERROR'],
      ],
    );
  });

  type Ready = Parameters<Requests['ready']>[0];
  const command = async (
    steps: string[] = [],
    { deadline = Infinity, signal = new AbortController().signal, ...more }: Partial<PostRequest & Ready> = {},
    requests = requestsOf(),
  ): ReturnType<Awaited<ReturnType<Requests['ready']>>['post']> => {
    const ready = await requests.ready({ api: 'connected', deadline, signal });
    steps.push('ready');
    return ready.post({
      url,
      contentType: 'application/json',
      body: '{"a":1}',
      scopes: [],
      timeoutMs: 9,
      signal: undefined,
      mayLeave: () => void steps.push('leaves'),
      ...more,
    });
  };
  const commands: [what: string, answer: Given | VehicleError, result: string][] = [
    ['an answer', {}, 'ok'],
    ['an answer of 100,000 levels', { body: tooDeep }, 'ok'],
    ['a status with an error', { status: 503, body: '{"invokeStatus":"REJECTED"}' }, 'ok'],
    ['a refusal of its form', { status: 400 }, 'COMMAND_REFUSED'],
    ['a refusal', { status: 404 }, 'NOT_SUPPORTED'],
    ['too many requests', { status: 429 }, 'RATE_LIMITED'],
    ['no answer of a gateway', { status: 504 }, 'unconfirmed false'],
    ['a fault', { status: 500 }, 'unconfirmed false'],
    ['a time-out', { status: 408 }, 'unconfirmed false'],
    ['a request that came too early', { status: 425 }, 'unconfirmed false'],
    ['a request that was given up', { status: 499 }, 'unconfirmed false'],
    ['an error of the car', { status: 422, body: said('Error returned from car') }, 'unconfirmed true'],
    ['a car that is asleep', { status: 503, body: said('The car is asleep') }, 'VEHICLE_UNAVAILABLE'],
    ['no connection', failed('ECONNREFUSED'), 'NETWORK'],
  ];
  for (const [what, answer, result] of commands)
    it(`of a command gets ${what}: ${result}, after one try`, async () => {
      answers = [answer];
      const steps: string[] = [];
      assert.deepEqual((await outcome(command(steps))).slice(0, 2), [result, 1]);
      assert.deepEqual(steps, answer instanceof VehicleError ? ['ready'] : ['ready', 'leaves']);
      assert.deepEqual(slots[0], 'command');
      assert.deepEqual([sent[0]?.method, sent[0]?.body, sent[0]?.timeoutMs], ['POST', '{"a":1}', 9]);
      assert.equal(sent[0]?.headers['content-type'], 'application/json');
    });

  it('of a command is not repeated with a new token, and says that there is one', async () => {
    answers = [{ status: 401 }];
    await assert.rejects(command(), { code: 'SERVICE_ERROR', message: /now has a new token/ });
    isWorthIt = false;
    await assert.rejects(command(), { code: 'SIGN_IN_REQUIRED' });
    assert.equal(sent.length, 2);
    answers = [{ status: 422 }];
    await assert.rejects(command(), /refused the command \(HTTP 422\)/);
  });

  it('of a command is unconfirmed if the connection was lost after it had left', async () => {
    answers = [failed('ECONNRESET')];
    failsAfterLeaving = true;
    assert.deepEqual(await outcome(command()), ['unconfirmed false', 1, 0]);
  });

  it('waits for its slot for a minute at most, and takes the token that is valid then', async () => {
    await requestsOf().get({ ...get, kind: 'forCommand' });
    await command([], { deadline: clock.monotonic() + 9_000 });
    await command();
    assert.deepEqual(deadlines, [60, 9, 60]);
    assert.deepEqual(
      slots.filter((slot) => !slot.startsWith('accepted')),
      ['forCommand', 'command', 'command'],
    );
    for (const [waited, used] of [
      [999, 1],
      [1_000, 2],
    ] as const) {
      token = 1;
      waitsMs = waited;
      const asked = requestsOf().get(get);
      await Promise.resolve();
      await Promise.resolve();
      token = 2;
      await asked;
      assert.equal(sent.at(-1)?.headers['authorization'], `Bearer token-${used}`);
    }
  });

  it('is counted again if the token that it needs after a wait comes so late that its count would leave the window before it', async () => {
    waitsMs = 1_000;
    for (const [takesMs, counts] of [
      [400, 1],
      [3_000, 2],
    ] as const) {
      [slots, tokensTakeMs] = [[], [0, takesMs]];
      await command();
      assert.deepEqual(
        slots.filter((slot) => !slot.startsWith('accepted')),
        Array.from({ length: counts }, () => 'command'),
      );
    }
  });

  it('is counted for a minute at most if each token and each count takes long, and sent then', async () => {
    waitsMs = 2_000;
    tokensTakeMs = Array.from({ length: 1_000 }, () => 1_000);
    await command();
    assert.equal(sent.length, 1);
    assert.ok(slots.filter((slot) => slot === 'command').length <= 60 / 3);
  });

  it('has the operation of its answer, and a failed one also the status', async () => {
    answers = [{ status: 422, headers: { 'x-operationid': 'op' } }];
    const refused = await failureOf(command());
    assert.deepEqual([refused.httpStatus, refused.operationId], [422, 'op']);
    answers = [{ headers: { 'x-operationid': 'op' } }];
    assert.equal((await command()).operationId, 'op');
    answers = [{ status: 401 }];
    assert.equal((await failureOf(command())).httpStatus, 401);
    answers = [{ status: 202, body: 'x' }];
    const odd = failureOf(requestsOf().get(get));
    await clock.advance(10_000);
    assert.equal((await odd).httpStatus, 202);
  });

  it('of a command is not sent after it was ended, or if it must not be', async () => {
    const ended = AbortSignal.abort(new VehicleError('CANCELLED', 'Enough.'));
    const steps: string[] = [];
    await assert.rejects(command(steps, { signal: ended }), { code: 'CANCELLED' });
    const reason = new VehicleError('READ_ONLY', 'No.');
    assert.deepEqual([steps, sent.length], [[], 0]);
    const mayLeave = (): never => {
      throw reason;
    };
    await assert.rejects(command(steps, { mayLeave }), { code: 'READ_ONLY' });
  });
});
