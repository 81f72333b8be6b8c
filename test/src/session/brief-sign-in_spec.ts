import { strict as assert } from 'node:assert';
import { MemoryStateStore, type VehicleError } from '../../../src/index';
import { wordSentence } from '../../../src/sentence';
import type { TokenSource } from '../../../src/http/token-source';
import { createTokenSource } from '../../../src/session/create-token-source';
import { GrantStore, signInKey, type SavedSignIn } from '../../../src/session/grant-store';
import type { OAuthClient, Send } from '../../../src/session/oauth';
import { Session } from '../../../src/session/session';
import { ManualClock } from '../../support/manual-clock';
import { failureOf } from '../../support/failure';
import { signInWith } from '../../support/saved-sign-in';

const start = Date.parse('2026-06-01T08:00:00Z');
const dayMs = 86_400_000;
const client: OAuthClient = {
  audience: 'https://api.example',
  tokenUrl: 'https://id.example/token',
  clientId: 'client',
  clientSecret: 'secret',
};
const key = signInKey(client, 'node');

describe('A sign-in', () => {
  let clock: ManualClock;
  let state: MemoryStateStore;
  let secrets: string[];
  let session: Session;
  let source: TokenSource;
  /** The refresh tokens that were sent. */
  let sent: (string | null)[];
  /** What the service answers to a refresh. */
  let answer: { status: number; body: object };

  beforeEach(() => {
    clock = new ManualClock(start);
    state = new MemoryStateStore();
    [secrets, sent] = [[], []];
    answer = { status: 200, body: { access_token: 'next', refresh_token: 'next', expires_in: 300 } };
    open();
  });
  afterEach(async () => {
    await source.close();
    assert.equal(clock.sleeping, 0);
  });

  /** Starts a process with the store. */
  function open(): void {
    const send: Send = async ({ body, mayLeave }) => {
      await Promise.resolve();
      mayLeave?.();
      sent.push(new URLSearchParams(body).get('refresh_token'));
      return { status: answer.status, headers: {}, body: JSON.stringify(answer.body) };
    };
    const store = new GrantStore({ state, onSecret: (secret) => secrets.push(secret) });
    session = new Session({ store, send, clock, random: () => 0.5 });
    source = createTokenSource({ client, configNodeId: 'node', session });
  }

  const save = (changes: Partial<SavedSignIn> = {}): Promise<void> =>
    session.save(
      key,
      signInWith('', clock.now(), {
        accessToken: 'brief',
        expiresAt: start + 3_600_000,
        scopes: ['openid'],
        ...changes,
      }),
    );

  const failure = (): Promise<VehicleError> => failureOf(source.get());

  describe('without a refresh token', () => {
    it('works until its access token ends, and asks the service for nothing', async () => {
      await save();
      assert.equal(await source.get(), 'brief');
      const { problem, ...description } = source.describe();
      const time = new Date(start + 3_600_000).toTimeString().slice(0, 5);
      assert.equal(
        problem && wordSentence(problem),
        `The service returned no refresh token, so the sign-in ends: ${time}. If every sign-in is this short, enter offline_access under “More scopes”, deploy, and sign in again.`,
      );
      assert.deepEqual(description, {
        kind: 'ending',
        expiresAt: '2026-06-01T09:00:00.000Z',
        scopes: ['openid'],
        signInRequiredSince: null,
        signedInAt: '2026-06-01T08:00:00.000Z',
        endsAt: '2026-06-01T09:00:00.000Z',
        lastRefreshAt: '2026-06-01T08:00:00.000Z',
        retryAt: null,
      });
      await clock.advance(3_599_999);
      assert.equal(await source.get(), 'brief');
      assert.deepEqual([sent, secrets.includes('')], [[], false]);
    });

    it('has ended then, which says since when and what to do, without a request and before any', async () => {
      await save();
      await source.get();
      await clock.advance(3_600_000);
      assert.equal(source.describe().signInRequiredSince, '2026-06-01T09:00:00.000Z');
      const { code, message } = await failure();
      assert.equal(code, 'SIGN_IN_REQUIRED');
      const time = new Date(start + 3_600_000).toTimeString().slice(0, 5);
      assert.equal(
        message,
        `The sign-in has ended (${time}), because the service returned no refresh token. Sign in again in the vehicle configuration. If the new sign-in is as short, enter offline_access under “More scopes” and sign in once more.`,
      );
      const { problem } = source.describe();
      assert.equal(problem && wordSentence(problem), message);
      await clock.advance(30 * dayMs);
      await failure();
      assert.deepEqual(sent, []);
    });

    it('takes the place of one with a refresh token, and gives it to the next', async () => {
      await save({ refreshToken: 'r', accessToken: 'lasting', expiresAt: start + 300_000 });
      assert.equal(await source.get(), 'lasting');
      await save();
      assert.deepEqual([await source.get(), source.describe().kind], ['brief', 'ending']);
      await clock.advance(300_000);
      assert.deepEqual([await source.get(), sent], ['brief', []]);
      await clock.advance(3_600_000);
      await failure();
      await save({ refreshToken: 'later', accessToken: 'again', expiresAt: clock.now() + 300_000 });
      assert.deepEqual([await source.get(), source.describe().kind], ['again', 'refreshing']);
      assert.equal(source.describe().problem, null);
    });
  });

  describe('that the service has ended', () => {
    const endedAfter = async (days: number, idleDays = 0): Promise<string> => {
      await save({
        refreshToken: 'r',
        accessToken: '',
        signedInAt: start,
        refreshedAt: start + (days - idleDays) * dayMs,
      });
      clock.skip(days * dayMs);
      answer = { status: 400, body: { error: 'invalid_grant' } };
      return (await failure()).message;
    };

    for (const days of [6.5, 7, 7.9])
      it(`after ${days} days in use is told to be that of an application from before December 2025`, async () => {
        assert.match(await endedAfter(days), /before December 2025\. Sign in again .* make a new application/);
      });

    const others: [what: string, days: number, idleDays: number][] = [
      ['soon', 2, 0],
      ['later', 12, 0],
      ['after a week in which nothing used it', 7, 7],
    ];
    for (const [what, days, idleDays] of others)
      it(`${what} says to sign in again, and promises nothing of a backup`, async () => {
        assert.equal(
          await endedAfter(days, idleDays),
          'The service has ended the sign-in: its refresh token has expired, was used elsewhere (a restored backup contains a used one), or is unknown. Sign in again in the vehicle configuration.',
        );
      });
  });
});
