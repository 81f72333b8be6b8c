import { strict as assert } from 'node:assert';
import type { ErrorCode } from '../../../src/errors';
import { failureOf } from '../../../src/wire/failures';
import { growsLessThan } from '../../support/growth';

const now = Date.parse('2026-06-01T08:00:00Z');
const v2 = (message: string, description: string): string => JSON.stringify({ error: { message, description } });

/**
 * What `test/fixtures/failures.json` does not have: the same texts under other statuses and in
 * other envelopes, and every status without a body.
 */
const cases: readonly [status: number, body: string, code: ErrorCode, retryable: boolean][] = [
  [
    401,
    '{"status":401,"operationId":"bf503e36","error":{"message":"Unauthorized","description":"Full authentication is required"}}',
    'SIGN_IN_REQUIRED',
    false,
  ],
  [401, '', 'SIGN_IN_REQUIRED', false],
  [
    403,
    '{"status":403,"operationId":"op","error":{"message":"FORBIDDEN","description":"No relationship to UUID"}}',
    'VEHICLE_NOT_LINKED',
    false,
  ],
  [403, '<html>Forbidden</html>', 'SERVICE_ERROR', false],
  [403, v2('FORBIDDEN', 'honk is not supported by this vehicle'), 'NOT_SUPPORTED', false],
  [403, v2('FORBIDDEN', 'This application is not supported'), 'SCOPE_MISSING', false],
  [404, '', 'NOT_SUPPORTED', false],
  [405, '', 'NOT_SUPPORTED', false],
  [406, '', 'CONFIG', false],
  [415, v2('UNSUPPORTED_MEDIA_TYPE', 'x'), 'CONFIG', false],
  [400, v2('BAD_REQUEST', 'x'), 'INPUT_INVALID', false],
  [422, v2('UNPROCESSABLE', 'Invalid UUID'), 'INPUT_INVALID', false],
  [429, '', 'RATE_LIMITED', true],
  [404, v2('NOT_FOUND', 'Error returned from the vehicle'), 'VEHICLE_ERROR', false],
  [422, v2('UNPROCESSABLE_ENTITY', 'precondition failed'), 'INPUT_INVALID', false],
  [404, v2('NOT_FOUND', 'No value was retrieved from the vehicle'), 'NOT_SUPPORTED', false],
  [500, v2('INTERNAL_SERVER_ERROR', 'Oops'), 'SERVICE_ERROR', true],
  [502, '<html>Bad gateway</html>', 'SERVICE_ERROR', true],
  [504, v2('GATEWAY_TIMEOUT', 'x'), 'TIMEOUT', true],
  [302, '', 'SERVICE_ERROR', false],
  // docs/internals/vendor-api.md 1.11 and 12.6.
  [410, v2('GONE', 'Version 1 is removed. See https://developer.example/apis/energy/v2'), 'NOT_SUPPORTED', false],
  // The same texts in the envelopes of gateways.
  [401, '{"fault":{"detail":{"message":"Access denied due to invalid VCC-API-KEY."}}}', 'API_KEY_REFUSED', false],
  [401, '{"status":401,"detail":"Access denied due to missing header VCC-API-KEY."}', 'API_KEY_REFUSED', false],
  [401, '{"errors":[{"title":"Unauthorized","detail":"invalid API key"}]}', 'API_KEY_REFUSED', false],
  [401, '[{"error":{"description":"invalid VCC-API-KEY"}}]', 'API_KEY_REFUSED', false],
  [401, '{"body":{"body":{"body":{"body":{"message":"invalid VCC-API-KEY"}}}}}', 'API_KEY_REFUSED', false],
  [403, '{"upstream":{"error":{"message":"FORBIDDEN","description":"No relationship"}}}', 'VEHICLE_NOT_LINKED', false],
  [500, '{"upstream":{"error":{"description":"Error returned from car"}}}', 'VEHICLE_ERROR', false],
  [403, '{"upstream":{"exveErrorId":"1","exveErrorMsg":"Resource not available"}}', 'NOT_SUPPORTED', false],
  // The key of the service is not a word for people, in any place.
  [401, '{"error":{"message":"Unauthorized","keys":["vcc-api-key"]},"href":"/api-key"}', 'SIGN_IN_REQUIRED', false],
  [418, '[]', 'SERVICE_ERROR', false],
  [401, 'null', 'SIGN_IN_REQUIRED', false],
  [403, '{"error":null,"message":["Sorry.","No relationship to UUID"]}', 'VEHICLE_NOT_LINKED', false],
  [422, v2('X', 'Error from the vehicle'), 'VEHICLE_ERROR', false],
  [422, v2('X', 'An error was returned by the car'), 'VEHICLE_ERROR', false],
  [500, '{"exveErrorId":"1","exveErrorMsg":"Resource not available"}', 'SERVICE_ERROR', true],
  [403, '{"exveErrorId":"1","exveErrorMsg":"not authorised"}', 'SCOPE_MISSING', false],
  [403, '{"exveErrorId":"1","exveErrorMsg":"not authorized"}', 'SCOPE_MISSING', false],
  [503, v2('UNAVAILABLE', 'The car is in use'), 'VEHICLE_UNAVAILABLE', true],
];

describe('failures of the service', () => {
  it('have a code, whichever envelope their text is in', () => {
    for (const [status, body, code, retryable] of cases) {
      const failure = failureOf({ status, headers: {}, body }, { scopes: ['conve:lock'], now });
      assert.deepEqual([failure.code, failure.retryable, failure.httpStatus], [code, retryable, status], body);
    }
  });

  it('reads a body of any size and depth in a time in proportion to its length', () => {
    const bodies: ((size: number) => string)[] = [
      (size) => `${'{"error":'.repeat(size / 20)}{"message":"invalid VCC-API-KEY"}${'}'.repeat(size / 20)}`,
      (size) =>
        JSON.stringify(Object.fromEntries(Array.from({ length: size / 2 }, (_, i) => [`m${i}`, { message: 'x' }]))),
      (size) => JSON.stringify({ message: 'reset '.repeat(size * 3) }),
      (size) => '['.repeat(size),
      (size) => '{"message":'.repeat(size),
    ];
    for (const [index, bodyOf] of bodies.entries()) {
      const [short, long] = [bodyOf(10_000), bodyOf(100_000)];
      const read = (body: string) => (): void =>
        assert.equal(failureOf({ status: 401, headers: {}, body }, { scopes: [], now }).httpStatus, 401);
      assert.ok(growsLessThan(40, read(short), read(long)), `body ${index}`);
    }
  });

  it('says of a redirect that it is one, and of other refusals that nothing is known', () => {
    const sentence = (status: number): string =>
      failureOf({ status, headers: {}, body: '' }, { scopes: [], now }).message;
    for (const status of [300, 308, 399]) assert.match(sentence(status), /redirected the request to another address/);
    for (const status of [299, 402, 418]) assert.match(sentence(status), /refused the request and gave no reason/);
  });

  const retryAt = (status: number, body: string, headers: Record<string, string> = {}): string | undefined =>
    failureOf({ status, headers, body }, { scopes: [], now }).retryAt?.toISOString();

  it('does not mistake a used-up quota for a missing scope, whatever its words are', () => {
    for (const [body, until] of [
      ['{"statusCode":403,"message":"Daily quota reached. Quota resets in 03:30:56."}', '2026-06-01T11:30:56.000Z'],
      ['{"error":"Out of call volume quota. It is refilled after 03:30:56."}', '2026-06-01T11:30:56.000Z'],
      ['{"detail":"Out of call volume. Renewed in 03:30:56."}', '2026-06-01T11:30:56.000Z'],
      ['{"Message":"Out of call volume quota. Quota will be replenished soon."}', '2026-06-01T09:00:00.000Z'],
    ] as const) {
      const failure = failureOf({ status: 403, headers: {}, body }, { scopes: [], now });
      assert.deepEqual([failure.code, failure.retryAt?.toISOString()], ['QUOTA_SPENT', until], body);
    }
  });

  it('counts a Retry-After date from the date of the answer, not from the clock of this machine', () => {
    const headers = { date: 'Mon, 01 Jun 2026 09:00:00 GMT', 'retry-after': 'Mon, 01 Jun 2026 09:01:00 GMT' };
    assert.equal(retryAt(429, '', headers), '2026-06-01T08:01:00.000Z');
    assert.equal(retryAt(429, '', { 'retry-after': '99999999999' }), '2026-06-02T08:00:00.000Z');
  });

  it('says nothing of a car if a wallbox gives no answer', () => {
    for (const status of [408, 504]) {
      const failure = failureOf({ status, headers: {}, body: '' }, { scopes: [], now, api: 'energy-device' });
      assert.equal(failure.code, 'TIMEOUT');
      assert.equal(failure.message, 'The service got no answer from the wallbox in time. Try again later.');
    }
  });

  it('honors Retry-After as seconds and as a date, and pauses a minute without it', () => {
    assert.equal(retryAt(429, '', { 'retry-after': '7' }), '2026-06-01T08:00:07.000Z');
    assert.equal(retryAt(429, '', { 'retry-after': 'Mon, 01 Jun 2026 08:05:00 GMT' }), '2026-06-01T08:05:00.000Z');
    assert.equal(retryAt(429, '', { 'retry-after': 'later' }), '2026-06-01T08:01:00.000Z');
    assert.equal(retryAt(503, '', { 'retry-after': '30' }), '2026-06-01T08:00:30.000Z');
    assert.equal(retryAt(503, ''), undefined);
  });

  it('passes on the operation id of the header or the body', () => {
    const id = (headers: Record<string, string>, body: string): unknown =>
      failureOf({ status: 500, headers, body }, { scopes: [], now }).operationId;
    assert.equal(id({ 'vcc-api-operationid': 'from-header' }, '{"operationId":"from-body"}'), 'from-header');
    assert.equal(id({}, '{"operationId":"from-body"}'), 'from-body');
    assert.equal(id({}, ''), null);
    assert.equal(id({ date: 'now' }, '{"error":{"message":"OPEN"},"operationId":"<b>"}'), null);
    assert.equal(id({ 'vcc-api-operationid': 'a b' }, '{"id":"other","operationId":"from-body"}'), 'from-body');
    const repeated = failureOf({ status: 500, headers: { 'x-operationid': ['a'] }, body: '' }, { scopes: [], now });
    assert.equal(repeated.operationId, null);
  });

  it('repeats nothing of a body to the user', () => {
    const failure = failureOf({ status: 500, headers: {}, body: v2('X', 'token=SECRET') }, { scopes: [], now });
    assert.doesNotMatch(JSON.stringify(failure.report()), /SECRET/);
  });
});
