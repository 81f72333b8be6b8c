import { strict as assert } from 'node:assert';
import { asSentence, cancelledId, parseRecord, resolveService, VehicleError } from '../../../src/index';
import { Command } from '../../../src/commands/command';
import { keptProperties } from '../../../src/commands/kept-properties';
import { journalReading } from '../../../src/commands/log';
import { noAnswer, recordOf, unanswered, type CommandRecord } from '../../../src/commands/record';
import { commandRoute, type CommandInput, type CommandRoute } from '../../../src/commands/route';
import { wordSentence } from '../../../src/sentence';

const now = Date.parse('2026-06-01T08:00:00Z');
const at = (seconds: number): string => new Date(now + seconds * 1000).toISOString();
const vin = 'YV1CT9551B1570982';
const record: CommandRecord = {
  outcome: 'pending',
  command: 'lock',
  message: 'Under way.',
  requestStatus: 'RUNNING',
  id: 'x',
  vin,
  interface: 'connected-v2',
  sentAt: at(0),
  operationId: 'op',
  async: null,
};

describe('The route of a command', () => {
  it('is version 1 where the specification lists only that, unless another one is chosen', async () => {
    const service = resolveService('custom', {
      baseUrl: 'https://car.example',
      interfaces: ['connected-v2', 'connected-v1'],
    });
    // The client has many reads; a route needs one of them.
    const client = { service, requireVin: () => Promise.resolve(vin) } as unknown as Parameters<typeof commandRoute>[2];
    const interfaceOf = async (name: string, input: CommandInput = {}): Promise<string> => {
      const route = await commandRoute(name, input, client, { now: 0 });
      assert.ok(route.scopes.length > 0);
      return route.interface;
    };
    assert.deepEqual([await interfaceOf('lock'), await interfaceOf('honk')], ['connected-v2', 'connected-v1']);
    assert.equal(await interfaceOf('honk', { interface: 'v2' }), 'connected-v2');
  });
});

describe('The record of a command', () => {
  const route = (command: string, unlockSeconds?: number): CommandRoute => ({
    command,
    vin,
    interface: 'connected-v2',
    url: new URL('https://car.example'),
    contentType: '',
    body: undefined,
    unlockSeconds,
    scopes: [],
  });
  const invocation = { requestStatus: 'SENT', operationId: 'op', message: null, async: null, readyUntil: null };

  it('has what the answer says, and what it means', () => {
    const base = { ...record, requestStatus: 'SENT' };
    const sent = 'The command was sent to the car; the car has not answered yet.';
    const records: [command: string, changes: object, unlockSeconds: number | undefined, expected: object][] = [
      ['lock', {}, undefined, { command: 'lock', message: sent }],
      ['lock', { message: 'Soon.' }, undefined, { command: 'lock', message: 'Soon.' }],
      ['unlock', {}, 90, { command: 'unlock', message: sent, openUntil: at(90) }],
      ['unlock', { readyUntil: at(60) }, 90, { command: 'unlock', message: sent, openUntil: at(60) }],
      ['climatization-start', {}, undefined, { command: 'climatization-start', message: sent, assumedUntil: at(1800) }],
      [
        'climatization-start',
        { requestStatus: 'REJECTED' },
        undefined,
        {
          command: 'climatization-start',
          requestStatus: 'REJECTED',
          outcome: 'failed',
          message: 'The car refused the command.',
        },
      ],
      ['navi-poi', {}, undefined, { command: 'navi-poi', message: sent }],
    ];
    for (const [command, changes, unlockSeconds, expected] of records)
      assert.deepEqual(
        recordOf(route(command, unlockSeconds), { ...invocation, ...changes }, { id: 'x', sentAt: now }),
        { ...base, ...expected },
      );
  });

  it('says what is known if no answer came', () => {
    const said = (...failure: Parameters<typeof noAnswer>): string => wordSentence(noAnswer(...failure));
    assert.match(said(), /but no answer came\. It is not sent again/);
    assert.match(said(new VehicleError('TIMEOUT', 'x')), /no answer came \(TIMEOUT\)/);
    assert.match(said(new VehicleError('SERVICE_ERROR', 'x', { httpStatus: 502 })), /an error \(HTTP 502\)/);
    assert.deepEqual(unanswered(asSentence('Nobody knows.')), {
      ...invocation,
      requestStatus: null,
      operationId: null,
      message: 'Nobody knows.',
    });
    assert.equal(unanswered(asSentence('x'), 'op').operationId, 'op');
  });

  it('is read from a flow, with defaults for what is missing and with what is new', () => {
    const least = { command: 'lock', id: 'x', vin: vin.toLowerCase(), interface: 'connected-v1', sentAt: at(0) };
    const defaults = { outcome: 'undetermined', message: '', requestStatus: null, operationId: null, async: null };
    assert.deepEqual(parseRecord({ ...least, mine: 1 }), { ...least, ...defaults, vin, mine: 1 });
    const link = { status: 'RUNNING', id: '5', href: '/x', expires: at(60) };
    assert.deepEqual(parseRecord({ ...record, async: link, openUntil: 'x', assumedUntil: 'y' }), {
      ...record,
      async: link,
      openUntil: 'x',
      assumedUntil: 'y',
    });
    assert.deepEqual(parseRecord({ ...record, async: { expires: now } }).async, {
      status: null,
      id: null,
      href: null,
      expires: at(0),
    });
    const wrong: object[] = [
      { command: 'Lock!' },
      { id: '' },
      { interface: 'extended-v1' },
      { sentAt: 'soon' },
      { outcome: 'done' },
      { message: 7 },
      { async: 'x' },
      { openUntil: 7 },
      { requestStatus: 7 },
    ];
    for (const changes of wrong)
      assert.throws(() => parseRecord({ ...record, ...changes }), { code: 'INPUT_INVALID' }, JSON.stringify(changes));
    assert.throws(() => parseRecord({ ...record, vin: 'x' }), { code: 'VIN_INVALID' });
    assert.throws(() => parseRecord(null), { code: 'INPUT_INVALID' });
  });

  it('is named in a cancellation by its id, or by none for all', () => {
    const named: [payload: unknown, id: string | null][] = [
      ['x', 'x'],
      [{ id: 'x' }, 'x'],
      [{ ...record }, 'x'],
      [{}, null],
      [{ id: null }, null],
      [null, null],
      [undefined, null],
      ['', null],
      [1_780_300_800_000, null],
      [true, null],
    ];
    for (const [payload, id] of named) assert.equal(cancelledId(payload), id, JSON.stringify(payload));
    for (const odd of [{ id: '' }, { id: 7 }, { id: true }, ['x'], []])
      assert.throws(() => cancelledId(odd), { code: 'INPUT_INVALID' }, JSON.stringify(odd));
  });
});

describe('A command in the journal', () => {
  const status = { status: 'open', fault: null } as const;
  const sent = (changes: Partial<CommandRecord> = {}): Command => {
    const command = new Command({ ...record, requestStatus: null }, 'a', { sentBy: 'Evening' }, now);
    command.answer({ record: { ...record, ...changes }, ...status }, now);
    return command;
  };
  const verdict = (outcome: 'succeeded' | 'failed' | 'undetermined', verified: boolean | null) => ({
    outcome,
    verified,
    reason: asSentence(`${outcome} ${verified}`),
  });

  it('is a reading that no request gave, in English and without secrets', () => {
    const command = sent();
    command.keepVerdict(verdict('failed', null), now + 1_000);
    const open = new Command(record, 'a', {}, now);
    const { payload, vehicle } = journalReading([command.journalEntry(), open.journalEntry()], now, (text) =>
      text.replace('failed', '[removed]'),
    );
    assert.deepEqual(payload, [
      {
        id: 'x',
        command: 'lock',
        vin,
        interface: 'connected-v2',
        sentBy: 'Evening',
        sentAt: at(0),
        operationId: 'op',
        states: [{ requestStatus: 'RUNNING', at: at(0) }],
        outcome: 'failed',
        reason: '[removed] null',
        verified: null,
        settledAt: at(1),
      },
      { ...open.journalEntry(), reason: null },
    ]);
    assert.deepEqual(vehicle, {
      vin: null,
      read: 'journal',
      interface: null,
      receivedAt: at(0),
      measuredAt: null,
      source: 'live',
    });
  });
});

describe('The kept properties of a message', () => {
  it('are those that JSON can hold, without the payload and a web request', () => {
    const getter = Object.defineProperty({}, 'odd', { enumerable: true, get: () => assert.fail() }) as object;
    const msg = {
      topic: 't',
      _msgid: 'x',
      n: 1,
      b: true,
      nothing: null,
      list: [1, { a: undefined }],
      deep: { a: [{}] },
    };
    const left = {
      payload: 1,
      req: {},
      res: {},
      date: new Date(0),
      buffer: Buffer.from('x'),
      run: () => 1,
      big: 1n,
      missing: undefined,
      nan: NaN,
      inside: [[Infinity]],
    };
    assert.deepEqual(keptProperties({ ...msg, ...left }), msg);
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    assert.deepEqual(keptProperties({ bare }), { bare });
    assert.deepEqual(keptProperties(Object.assign(getter, { topic: 't' })), { topic: 't' });
    const cycle: Record<string, unknown> = {};
    cycle['own'] = cycle;
    assert.deepEqual(keptProperties({ cycle, topic: 't' }), { topic: 't' });
  });

  it('are of at most 4 KB each and 16 KB together', () => {
    const text = (length: number): string => 'x'.repeat(length);
    assert.deepEqual(Object.keys(keptProperties({ a: text(4_090), b: text(4_091), c: 'x' })), ['a', 'c']);
    const many = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, text(4_000)]));
    assert.deepEqual(Object.keys(keptProperties({ ...many, small: 'x' })), ['a', 'b', 'c', 'd', 'small']);
    assert.deepEqual(keptProperties({ list: Array.from({ length: 1_000 }, () => 1), map: { [text(5_000)]: 1 } }), {});
  });
});
