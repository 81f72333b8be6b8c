import { strict as assert } from 'node:assert';
import { refillTime, retryAfter } from '../../../src/wire/failures';

const now = Date.parse('2026-06-01T08:00:00Z');
const at = (date: Date | null): string | null => date?.toISOString() ?? null;

describe('the pauses that an answer asks for', () => {
  const texts: [text: string, expected: string | null][] = [
    [
      '{"statusCode":403,"message":"Out of call volume quota. Quota will be replenished in 03:30:56."}',
      '2026-06-01T11:30:56.000Z',
    ],
    ['quota will be REPLENISHED in 0.23:59:59.', '2026-06-02T07:59:59.000Z'],
    ['Quota will be replenished in 1.03:30:56.', '2026-06-02T08:00:00.000Z'],
    ['Quota will be replenished in 00:00:00.', '2026-06-01T08:00:01.000Z'],
    [
      '{ "statusCode": 429, "message": "Rate limit is exceeded. Try again in 42 seconds." }',
      '2026-06-01T08:00:42.000Z',
    ],
    ['Quota will be replenished soon.', null],
    ['', null],
  ];
  const headers: [header: string | string[] | undefined, expected: string | null][] = [
    ['120', '2026-06-01T08:02:00.000Z'],
    [' 5.5 ', '2026-06-01T08:00:05.500Z'],
    ['0', '2026-06-01T08:00:01.000Z'],
    ['999999', '2026-06-02T08:00:00.000Z'],
    ['Mon, 01 Jun 2026 08:03:00 GMT', '2026-06-01T08:03:00.000Z'],
    ['Mon, 01 Jun 2020 08:03:00 GMT', '2026-06-01T08:00:01.000Z'],
    [['60', '90'], '2026-06-01T08:01:00.000Z'],
    ['2.25', '2026-06-01T08:00:02.250Z'],
    ['Mon Jun 1 08:03:00 2026 GMT', '2026-06-01T08:03:00.000Z'],
    ['5s', null],
    ['-5', null],
    ['soon', null],
    ['Soon, maybe', null],
    ['', null],
    [[], null],
    [undefined, null],
  ];

  it('are read from a text about the quota and from the header, between a second and a day', () => {
    for (const [text, expected] of texts) assert.equal(at(refillTime(text, now)), expected, text);
    for (const [header, expected] of headers) assert.equal(at(retryAfter(header, { now })), expected, String(header));
  });
});
