import { strict as assert } from 'node:assert';
import { Requests, type Answer, type GetRequest, type PostRequest } from '../../../src/http/requests';
import { RateLimiter } from '../../../src/http/rate-limiter';
import { SharedReads } from '../../../src/http/shared-reads';
import { MemoryStateStore } from '../../../src/state/state-store';
import type { Transport } from '../../../src/http/transport';
import { pastedToken } from '../../../src/index';
import { createRedactor } from '../../../src/redact';
import { ManualClock } from '../../support/manual-clock';

const url = new URL('https://api.example.com/connected-vehicle/v2/vehicles/YV1CT9551B1570982/doors?token=secret');
const get: GetRequest = { api: 'connected', url, accept: 'application/json', scopes: [] };
const post: PostRequest = {
  url,
  contentType: 'application/json',
  scopes: [],
  timeoutMs: 1,
  signal: undefined,
  mayLeave: () => undefined,
};
const { signal } = new AbortController();
const command = async (requests: Requests): Promise<unknown> =>
  (await requests.ready({ api: 'connected', deadline: Infinity, signal })).post(post);

describe('requests', () => {
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock();
  });
  const requestsTo = (send: Transport['send']): Requests => {
    const limiter = new RateLimiter({ clock, store: new MemoryStateStore(), key: 'quota/key' });
    limiter.use({ requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: 1e6 });
    return new Requests({
      apiKeyHeader: 'vendor-api-key',
      apiKey: 'secret',
      tokens: pastedToken('secret'),
      limiter,
      shared: new SharedReads<Answer>(clock),
      tokenOwner: 'owner',
      shareForMs: 0,
      transport: { send, close: async () => undefined },
      redactor: createRedactor(),
      clock,
      random: () => 0,
    });
  };

  it('are logged with method, host, path with a shortened VIN, status, time and code, and nothing else', async () => {
    const answers = [
      { status: 200, headers: {}, body: '{"secret":true}' },
      { status: 409, headers: {}, body: 'secret' },
    ];
    const requests = requestsTo(async () => {
      await clock.advance(7);
      return answers.shift() ?? { status: 500, headers: {}, body: '' };
    });
    const at = new Date(clock.now()).toISOString();
    await requests.get(get);
    await assert.rejects(command(requests), { code: 'VEHICLE_ERROR' });
    const host = 'api.example.com';
    const path = '/connected-vehicle/v2/vehicles/…570982/doors';
    const later = new Date(Date.parse(at) + 7).toISOString();
    assert.deepEqual(requests.recent(), [
      { at, method: 'GET', host, path, status: 200, ms: 7, code: null },
      { at: later, method: 'POST', host, path, status: 409, ms: 7, code: 'VEHICLE_ERROR' },
    ]);
  });

  it('are logged without ids', async () => {
    const requests = requestsTo(async () => ({ status: 200, headers: {}, body: '{}' }));
    await requests.get({ ...get, url: new URL('requests/428d0ed994b678aff0dcf7f65391bdde', url) });
    await requests.get({ ...get, url: new URL(`/${'1'.repeat(17)}/tyre-pressure/5432eff4-7d1c/22`, url) });
    assert.deepEqual(
      requests.recent().map(({ path }) => path),
      ['/connected-vehicle/v2/vehicles/…570982/requests/[text]', '/…111111/tyre-pressure/[text]/[text]'],
    );
  });
});
