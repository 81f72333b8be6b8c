import { strict as assert } from 'node:assert';
import { electricCar, type Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, setUpFlow, type Flow } from '../support/flow';
import type { ManualClock } from '../support/manual-clock';

const hour = 60 * 60_000;

describe('The wallbox of a vehicle configuration', () => {
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ service, flow } = setUp), { cars: [electricCar] });

  const load = (wallbox: string): Promise<void> =>
    flow.load(
      { type: 'connected-vehicle-status', read: 'wallboxCharging' },
      { ...customVehicle(service, { vin: electricCar.vin }), wallbox },
      demoCredentials,
    );

  it('is read with the id that is entered there', async () => {
    await load(` ${electricCar.wallbox} `);
    const { payload } = await flow.ask();
    assert.deepEqual(payload, { value: true, unit: null, timestamp: null });
  });

  for (const [what, id] of [
    ['no id', ''],
    ['the id of something else', 'YV1CT9551B1570982'],
  ] as const)
    it(`gives a sentence and no request with ${what}`, async () => {
      await load(id);
      assert.equal((await flow.fail()).vehicle?.error?.['code'], 'CONFIG');
      assert.deepEqual(service.requests, []);
    });
});

describe('The end of a session of the wallbox', () => {
  const type = 'connected-vehicle-event';
  let clock: ManualClock;
  let service: Simulator;
  let flow: Flow;

  setUpFlow((setUp) => ({ clock, service, flow } = setUp), { cars: [electricCar], dialect: 'real' });

  const load = (): Promise<void> =>
    flow.load(
      { type, events: ['charging-session-ended'], poll: 60 },
      { ...customVehicle(service), wallbox: electricCar.wallbox, language: 'en-US' },
      demoCredentials,
    );
  const payloads = () => (flow.outputs[0] ?? []).map(({ payload }) => payload as Record<string, unknown>);
  const reads = (): number => service.requests.filter(({ path }) => path.includes('chargingsessions')).length;
  /** Lets one more poll happen. */
  const poll = async (): Promise<void> => {
    const before = reads();
    await clock.advanceUntil(() => reads() > before);
    await clock.advance(1_000);
  };
  const at = (ms: number): string => new Date(clock.now() + ms).toISOString();
  const session = (transactionId: string, changes: object = {}): object => ({
    wallboxId: electricCar.wallbox,
    transactionId,
    idToken: 'APP',
    start: at(-3 * hour),
    end: at(-hour),
    chargedEnergy: 7.25,
    connectorId: 1,
    ...changes,
  });
  const answer = (sessions: object[]): void => {
    service.faults.clear();
    service.faults.add({ match: { path: 'chargingsessions' }, status: 200, body: sessions });
  };

  it('is an event with its energy and its times, once, and not for the sessions from before', async () => {
    await load();
    await poll();
    const begin = service.car().wallbox.sessions(0, clock.now()).length;
    assert.deepEqual([begin, payloads()], [3, []]);
    await clock.advance(hour);
    service.car().wallbox.switch(false);
    const end = at(0);
    await poll();
    await poll();
    const [payload, ...others] = payloads();
    assert.deepEqual(others, []);
    const { session: ended, between, from, to, text } = payload ?? assert.fail();
    const { id, kWh, open } = ended as Record<string, unknown>;
    assert.deepEqual([id, open, to], ['3', false, end]);
    assert.equal(from, (ended as Record<string, unknown>)['start']);
    assert.ok(Number(kWh) > 9 && Number(kWh) < 12, String(kWh));
    assert.equal((between as Record<string, unknown>)['until'], end);
    assert.match(String(text), /^The wallbox has ended a session: (9|10|11)(\.\d+)? kWh$/);
  });

  it('is an event for each, in their order, also if Node-RED was off meanwhile', async () => {
    const first = session('1');
    answer([first]);
    await load();
    await poll();
    await flow.endProcess();
    answer([
      session('3', { end: at(-60_000), chargedEnergy: -2 }),
      first,
      session('2', { end: at(-120_000) }),
      session('4', { end: at(-60_000) }),
      session('5', { end: null }),
      session('6', { end: 'later' }),
    ]);
    await load();
    await clock.advanceUntil(() => payloads().length === 3);
    await poll();
    assert.deepEqual(
      payloads().map((payload) => {
        const { id, kWh, reason } = payload['session'] as Record<string, unknown>;
        return [id, kWh, reason];
      }),
      [
        ['2', 7.25, undefined],
        ['3', null, 'NEGATIVE'],
        ['4', 7.25, undefined],
      ],
    );
    assert.match(String(payloads()[1]?.['text']), /its energy is not known/);
  });

  it('is no event while a session is open, even for days, and is one for the first session of a wallbox', async () => {
    answer([]);
    await load();
    await poll();
    const open = session('1', { start: at(-4 * 24 * hour), end: null });
    answer([open]);
    await poll();
    assert.deepEqual(payloads(), []);
    answer([{ ...open, end: at(0) }]);
    await poll();
    assert.equal(payloads().length, 1);
  });

  it('is found after an end that is still to come, as a service writes for none', async () => {
    const endless = session('1', { end: '9999-12-31T23:59:59Z' });
    answer([endless]);
    await load();
    await poll();
    answer([endless, session('2', { end: at(0) })]);
    await poll();
    assert.equal(payloads().length, 1);
  });

  it('is one event for each of those that end at once or are reported late, whatever their ids and their order', async () => {
    const end = at(0);
    const first = session('5', { end });
    answer([session('0', { end: at(-hour) })]);
    await load();
    await poll();
    answer([first]);
    await poll();
    const late = session('9', { end: at(-2 * hour) });
    const offline = session('11', { end: new Date(Date.parse(end) - 10 * 60_000).toISOString() });
    answer([session('10', { end }), first, offline, late]);
    await poll();
    await flow.endProcess();
    await load();
    await poll();
    assert.deepEqual(
      payloads().map(({ session: ended }) => (ended as Record<string, unknown>)['id']),
      ['5', '11', '10'],
    );
  });

  it('is found among 1,000 sessions, and an answer that is something else ends none', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => session(String(index), { end: at(-hour - index) }));
    answer(many);
    await load();
    await poll();
    const fresh = session('new', { end: at(-1_000) });
    answer([...many, fresh]);
    await poll();
    answer([]);
    await poll();
    answer([...many, { ...fresh, end: at(-hour / 2) }]);
    await poll();
    assert.equal(payloads().length, 1);
  });
});
