import { strict as assert } from 'node:assert';
import { namedStatus, parseInvocation } from '../../../src/wire/invocations';

const now = Date.parse('2026-06-01T08:00:00Z');
const nothing = { requestStatus: null, operationId: null, message: null, async: null, readyUntil: null };
const link = { status: 'RUNNING', id: '5', href: '/requests/5', expires: '2026-06-01T08:05:00.000Z' };

describe('the answer to a command', () => {
  const answers: [what: string, body: unknown, parsed: object, named: string | null][] = [
    ['nothing', null, {}, null],
    ['a list', [{ invokeStatus: 'COMPLETED' }], {}, null],
    ['v1', { async: link, operationId: 'op' }, { requestStatus: 'RUNNING', operationId: 'op', async: link }, 'RUNNING'],
    [
      'v1 in an envelope',
      { status: 202, operationId: 'outer', data: { async: link, message: '' } },
      { requestStatus: 'RUNNING', operationId: 'outer', async: link },
      'RUNNING',
    ],
    [
      'v2',
      { data: { vin: 'x', invokeStatus: ' COMPLETED ', message: 'Done.' }, message: 'outer' },
      { requestStatus: ' COMPLETED ', message: 'Done.' },
      'COMPLETED',
    ],
    [
      'a link beside a status',
      { async: link, data: { invokeStatus: 'SENT' } },
      { requestStatus: 'RUNNING', async: link },
      'SENT',
    ],
    [
      'a link without a status',
      { async: { id: '5' }, invokeStatus: 'SENT' },
      {
        requestStatus: 'SENT',
        async: { status: null, id: '5', href: null, expires: null },
      },
      'SENT',
    ],
    ['a status that is a word', { status: 'REJECTED' }, { requestStatus: 'REJECTED' }, null],
    ['a status of HTTP', { status: 200 }, {}, null],
    ['a status of HTTP as text', { status: '200' }, {}, null],
    ['an empty status', { invokeStatus: ' ' }, { requestStatus: ' ' }, null],
    [
      'the seconds in which the tailgate opens',
      { data: { readyToUnlockUntil: 120 } },
      { readyUntil: '2026-06-01T08:02:00.000Z' },
      null,
    ],
    [
      'the time until which it opens',
      { readyToUnlockUntil: 1_780_301_000 },
      { readyUntil: '2026-06-01T08:03:20.000Z' },
      null,
    ],
    [
      'the first time that is no duration',
      { readyToUnlockUntil: 1e9 },
      { readyUntil: '2001-09-09T01:46:40.000Z' },
      null,
    ],
  ];
  for (const [what, body, parsed, named] of answers)
    it(`is read from ${what}`, () => {
      assert.deepEqual(parseInvocation(body, now), { ...nothing, ...parsed });
      assert.equal(namedStatus(body), named);
    });

  it('is kept as it is at its usual length, and cut if the service sends very long words', () => {
    const told = (requestStatus: string, message: string): unknown => {
      const parsed = parseInvocation({ data: { invokeStatus: requestStatus, message } }, 0);
      return { requestStatus: parsed.requestStatus, message: parsed.message };
    };
    assert.deepEqual(told('COMPLETED', 'All is well.'), { requestStatus: 'COMPLETED', message: 'All is well.' });
    assert.deepEqual(told('W'.repeat(100_000), 'm'.repeat(100_000)), {
      requestStatus: 'W'.repeat(100),
      message: 'm'.repeat(500),
    });
  });
});
