import { strict as assert } from 'node:assert';
import { Pack, type Account } from '../../../src/index';
import { CarEvents } from '../../../src/events/car-events';
import { CarRunner } from '../../../src/car-runner';
import type { EventRunner } from './event-runners';
import { createTokenSource } from '../../../src/session/create-token-source';
import { GrantStore } from '../../../src/session/grant-store';
import { Session } from '../../../src/session/session';
import { Seal } from '../../../src/state/seal';
import { SealedStateStore } from '../../../src/state/sealed-store';
import { MemoryStateStore } from '../../../src/state/state-store';
import { demoCar } from '../../../src/simulator/index';
import { accountOn } from '../../support/account';
import { signInAtPage } from '../../support/editor-client';
import { itLong } from '../../support/long';
import { ManualClock } from '../../support/manual-clock';
import { Identity } from '../session/identity';

const redirectUrl = 'http://localhost:1880/connected-vehicle/callback';
const hour = 3_600_000;
const keyRefused = { match: { path: '/connected-vehicle/' }, error: 'key-refused' } as const;
const { signal } = new AbortController();

describe('The events of a sign-in', function () {
  let clock: ManualClock;
  let identity: Identity;
  let session: Session;
  let store: MemoryStateStore;
  let account: Account;
  let runner: EventRunner;
  let seen: string[];

  beforeEach(async () => {
    clock = new ManualClock('2026-01-10T08:00:00Z');
    identity = await Identity.start({ clock, dialect: 'real', redirectUris: [redirectUrl] });
    store = new MemoryStateStore();
    const seal = new Seal('credential secret');
    // Its key is derived once, outside of the time that the test moves.
    await seal.seal('', '');
    const state = new SealedStateStore({ store, seals: () => [seal] });
    session = new Session({ store: new GrantStore({ state }), send: identity.send, clock, random: () => 0.5 });
    seen = [];
  });

  afterEach(async () => {
    await runner.end();
    await account.close();
    await identity.close();
  });

  async function signIn(): Promise<void> {
    const { url } = await session.signIns.begin({
      authorizeUrl: `${identity.simulator.url}/as/authorization.oauth2`,
      client: identity.client,
      redirectUrl,
      scopes: ['openid', 'conve:vehicle_relation'],
      configNodeId: 'car',
    });
    await session.signIns.finish({ redirected: await signInAtPage(url) });
  }

  /** Opens the account and the runner, as a start of Node-RED does. */
  async function start(): Promise<void> {
    account = accountOn(identity.simulator, {
      pack: new Pack({ clock }),
      settings: { mediaTypeVendor: 'volvocars' },
      tokens: createTokenSource({ client: identity.client, configNodeId: 'car', session }),
    });
    const { client } = account;
    const signIn = account.signIn.bind(account);
    runner = await CarRunner.open(new CarEvents({ events: ['sign-in-ending', 'sign-in-required'] }, signIn), {
      client,
      vin: demoCar.vin,
      store,
      key: 'event/one',
      clock,
      onDue: () => void look(),
      onSaveFailed: () => assert.fail('could not be saved'),
      onDropped: () => assert.fail('was dropped'),
    });
    await look();
  }

  async function look(): Promise<void> {
    const { events } = await runner.poll([], signal);
    for (const { event, from, to, name, place, between } of events) {
      assert.deepEqual([from, to, name, place, between.since], [null, null, null, null, null]);
      seen.push(`${new Date(clock.now()).toISOString().slice(0, 10)} ${event} ${between.until.slice(0, 10)}`);
    }
    await runner.markSent(events);
  }

  async function restart(): Promise<void> {
    await runner.end();
    await account.close();
    await start();
  }

  const until = (day: string): Promise<void> => clock.advanceInSteps(Date.parse(day) - clock.now(), 24 * hour);

  itLong(
    'come 14 and 3 days before its end and once when it has ended, over a year, restarts and a new sign-in',
    async () => {
      await signIn();
      await start();
      await until('2026-04-01T08:00:00Z');
      assert.deepEqual(seen, []);
      assert.equal(account.token().endsAt, '2026-07-10T08:00:00.000Z');
      await until('2026-06-28T08:00:00Z');
      assert.deepEqual(seen, ['2026-06-26 sign-in-ending 2026-07-10']);
      await restart();
      await until('2026-07-09T08:00:00Z');
      assert.deepEqual(seen.splice(0), [
        '2026-06-26 sign-in-ending 2026-07-10',
        '2026-07-07 sign-in-ending 2026-07-10',
      ]);
      await until('2026-07-20T08:00:00Z');
      // An unused refresh token is renewed every third day, so the end is found at
      // most three days later.
      assert.match(seen.join(), /^2026-07-1[0-3] sign-in-required 2026-07-1[0-3]$/);
      await restart();
      await until('2026-08-01T08:00:00Z');
      assert.equal(seen.splice(0).length, 1, 'a restart reports nothing again');
      await signIn();
      await until('2027-01-30T08:00:00Z');
      assert.deepEqual(seen.splice(0), [
        '2027-01-18 sign-in-ending 2027-02-01',
        '2027-01-29 sign-in-ending 2027-02-01',
      ]);
      await until('2027-02-10T08:00:00Z');
      assert.match(seen.join(), /^2027-02-0[1-4] sign-in-required /);
    },
  );

  it('come when the API key is refused, once until it works again', async () => {
    await signIn();
    await start();
    const read = (): Promise<unknown> => account.client.read('vehicles', { maxAgeMs: 0 }).catch(() => undefined);
    identity.simulator.faults.add(keyRefused);
    for (let times = 0; times < 3; times += 1) {
      await read();
      await clock.advanceInSteps(hour, hour);
    }
    assert.deepEqual(seen.splice(0), ['2026-01-10 sign-in-required 2026-01-10']);
    identity.simulator.faults.clear();
    await read();
    await clock.advanceInSteps(hour, hour);
    identity.simulator.faults.add(keyRefused);
    await read();
    await clock.advanceInSteps(hour, hour);
    assert.equal(seen.length, 1);
  });
});
