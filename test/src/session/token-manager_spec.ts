import { strict as assert } from 'node:assert';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VehicleError } from '../../../src/errors';
import { createTokenSource, type TokenSourceOptions } from '../../../src/session/create-token-source';
import { Session, type SessionOptions } from '../../../src/session/session';
import { wordSentence } from '../../../src/sentence';
import { GrantStore, signInKey } from '../../../src/session/grant-store';
import type { TokenSource } from '../../../src/http/token-source';
import { FileStateStore } from '../../../src/state/file-state-store';
import { Seal } from '../../../src/state/seal';
import { DirectoryInUse, DirectoryOwner } from '../../../src/state/owner';
import { SealedStateStore } from '../../../src/state/sealed-store';
import type { SimulatorOptions } from '../../support/simulator';
import { closeAccounts } from '../../support/account';
import { ManualClock } from '../../support/manual-clock';
import { grantWith, saveSignIn } from '../../support/saved-sign-in';
import { Identity } from './identity';
import { removeFolder } from '../../support/remove-folder';

const firstSeal = new Seal('credential secret');
const minute = 60_000;
const day = 86_400_000;

describe('a refreshing access token', () => {
  let clock: ManualClock;
  let identity: Identity;
  let directory: string;
  let session: Session;
  let sources: TokenSource[];
  /** Every token that the redactor received. */
  let secrets: Set<string>;
  /** All sessions of a test use it, one after the other. */
  let files: FileStateStore;

  beforeEach(async () => {
    clock = new ManualClock();
    identity = await Identity.start({ clock });
    directory = await mkdtemp(join(tmpdir(), 'sign-in-'));
    secrets = new Set();
    files = new FileStateStore({ directory });
    session = newProcess();
    sources = [];
  });

  afterEach(async () => {
    await closeAccounts();
    await Promise.all(sources.map((source) => source.close()));
    await identity.close();
    await removeFolder(directory);
    assert.equal(clock.sleeping, 0, 'a timer was left behind');
  });

  const serviceWith = async (options: SimulatorOptions): Promise<void> => {
    await identity.close();
    identity = await Identity.start({ clock, ...options });
  };

  const newStore = (seal = firstSeal): GrantStore =>
    new GrantStore({
      state: new SealedStateStore({ store: files, seals: () => [seal] }),
      onSecret: (secret) => secrets.add(secret),
    });

  /** The session of another process, or of this one after a restart. */
  const newProcess = (options: Partial<SessionOptions> = {}): Session =>
    new Session({
      store: newStore(),
      send: (request) => identity.send(request),
      clock,
      random: () => 0.5,
      ...options,
    });

  const source = (options: Partial<TokenSourceOptions> = {}): TokenSource => {
    const made = createTokenSource({ client: identity.client, configNodeId: 'config-1', session, ...options });
    sources.push(made);
    return made;
  };

  const ownKey = (): string => signInKey(identity.client, 'config-1');
  const signIn = (scopes?: readonly string[], configNodeId = 'config-1'): Promise<void> =>
    saveSignIn(session, identity.client, configNodeId, identity.newRefreshToken(scopes));
  const signedIn = async (options: Partial<TokenSourceOptions> = {}): Promise<TokenSource> => {
    await signIn();
    return source(options);
  };

  const grantFolder = (): string => join(directory, 'state', 'sign-in');
  const grantFiles = async (): Promise<string[]> =>
    (await readdir(grantFolder()).catch(() => [])).filter((name) => name.endsWith('.json'));

  /** Waits in real time, without guessing how long, for what real files and sockets bring about. */
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };

  const requestsMade = (count: number): Promise<void> => until(() => identity.requests.length === count);

  it('comes from the refresh token of a sign-in, with the life and scopes that the service gives it', async () => {
    await signIn(['openid', 'conve:vehicle_relation']);
    const token = source();
    assert.ok(await identity.accepts(await token.get()));
    assert.deepEqual(token.describe(), {
      kind: 'refreshing',
      expiresAt: '2026-06-01T08:04:59.000Z',
      scopes: ['openid', 'conve:vehicle_relation'],
      signInRequiredSince: null,
      signedInAt: '2026-06-01T08:00:00.000Z',
      endsAt: '2026-12-01T08:00:00.000Z',
      lastRefreshAt: '2026-06-01T08:00:00.000Z',
      retryAt: null,
      problem: null,
    });
  });

  it('is taken from memory while it is valid: the stored grant is not read for each request', async () => {
    const token = await signedIn();
    const first = await token.get();
    let reads = 0;
    const read = files.read.bind(files);
    files.read = (key) => ((reads += 1), read(key));
    assert.deepEqual([await token.get(), reads], [first, 0]);
    await clock.advance(299_000);
    assert.deepEqual([(await clock.until(token.get(), 200)) === first, reads > 0], [false, true]);
  });

  it('holds a deploy for a few seconds if the service hangs, and uses the answer that comes after it', async () => {
    await signIn();
    const before = source();
    const first = await before.get();
    let answer = (): void => undefined;
    identity.beforeAnswer = () => new Promise((resolve) => (answer = resolve));
    const waiting = before.onUnauthorized(first);
    await requestsMade(2);
    let isClosed = false;
    const closing = before.close().then(() => (isClosed = true));
    await clock.advance(2_900);
    assert.equal(isClosed, false);
    await clock.advance(200);
    await closing;
    const after = source();
    const second = after.onUnauthorized(first).then(() => after.get());
    answer();
    assert.ok(await identity.accepts(await second));
    await waiting;
    assert.equal(identity.requests.length, 2);
  });

  it('is not held by a service that cannot be reached, and the next process asks with the same refresh token', async () => {
    await signIn();
    const connecting: typeof identity.send = ({ signal }) =>
      new Promise((_, reject) =>
        signal?.addEventListener('abort', () => reject(new VehicleError('CANCELLED', 'Cancelled.'))),
      );
    let isConnecting = false;
    const token = source({
      session: newProcess({ send: (request) => ((isConnecting = true), connecting(request)) }),
    });
    const refused = assert.rejects(token.get(), { code: 'CANCELLED' });
    await until(() => isConnecting);
    await token.close();
    await refused;
    assert.ok(await identity.accepts(await source({ session: newProcess() }).get()));
    assert.equal(identity.refusals, 0);
  });

  for (const life of [1, 3, 20, 299, 1799, 3599]) {
    it(`never gives an ended token if a token lives ${life} s`, async () => {
      await serviceWith({ accessTokenLifeSeconds: life });
      const token = await signedIn();
      for (let step = 0; step < 20; step++) {
        const [got, until] = [await token.get(), Date.parse(token.describe().expiresAt ?? '')];
        assert.ok((await identity.accepts(got)) && until > clock.now());
        await clock.advance(life * 310);
      }
      assert.ok(identity.requests.length <= 15, `${identity.requests.length} refreshes in some six lives`);
    });
  }

  it('is not lost to a mistyped client secret that a dialog tries meanwhile', async () => {
    const deployed = await signedIn();
    await deployed.get();
    await clock.advance(5 * minute);
    const tried = source({ client: { ...identity.client, clientSecret: 'mistyped' } });
    await assert.rejects(tried.get(), { code: 'SIGN_IN_REQUIRED', message: /client secret/ });
    await tried.close();
    assert.equal(deployed.describe().signInRequiredSince, null);
    assert.ok(await identity.accepts(await deployed.get()));
  });

  it('that could not be saved is saved when its configuration closes, without another request', async () => {
    const token = await signedIn();
    const write = files.write.bind(files);
    identity.beforeAnswer = () => void (files.write = () => Promise.reject(new Error('no space')));
    await assert.rejects(token.get(), { code: 'INTERNAL' });
    files.write = write;
    await token.close();
    assert.equal((await newStore().read(ownKey()))?.grant.generation, 2);
    assert.equal(identity.requests.length, 1);
  });

  for (const [what, fault, code] of [
    ['a cut connection', { cut: 'before-headers' }, 'NETWORK'],
    ['a fault of the server', { status: 500, body: { error: 'server_error' } }, 'SERVICE_ERROR'],
    ['a page of a gateway', { status: 403, html: true }, 'SERVICE_ERROR'],
    [
      'a fault of the server with status 400',
      { status: 400, body: { error: 'temporarily_unavailable' } },
      'SERVICE_ERROR',
    ],
    ['a page instead of tokens', { html: true }, 'SERVICE_ERROR'],
    ['an empty answer', { status: 200, body: '' }, 'SERVICE_ERROR'],
    ['an endless answer', { hugeBytes: 2 ** 21 }, 'SERVICE_ERROR'],
    ['too many requests', { error: 'rate-limited' }, 'SERVICE_ERROR'],
  ] as const) {
    it(`tries again after ${what}, with growing pauses and no loop`, async () => {
      const token = await signedIn();
      identity.fault(fault, 4);
      for (let request = 0; request < 50; request++) {
        await assert.rejects(token.get(), (error: VehicleError) => {
          assert.equal(error.code, code);
          assert.equal(error.retryAt?.toISOString(), '2026-06-01T08:00:02.000Z');
          return true;
        });
      }
      assert.equal(identity.requests.length, 1);
      assert.equal(token.describe().signInRequiredSince, null);
      const tries: number[] = [];
      for (let second = 1; second <= 40; second++) {
        await clock.advance(1_000);
        await token.get().catch(() => undefined);
        if (identity.requests.length > tries.length + 1) tries.push(second);
      }
      assert.deepEqual(tries, [2, 6, 14, 30]);
      assert.ok(await identity.accepts(await token.get()));
      assert.equal(token.describe().problem, null);
    });
  }

  it('refreshes an unused grant every third day', async () => {
    const token = await signedIn();
    await clock.advance(1_000);
    await until(() => clock.sleeping > 0);
    await clock.advance(1_000);
    await until(() => token.describe().lastRefreshAt !== null && clock.sleeping > 0);
    for (let count = 2; count <= 20; count++) {
      await clock.advance(3 * day);
      await until(() => token.describe().lastRefreshAt === new Date(clock.now()).toISOString() && clock.sleeping > 0);
      assert.equal(identity.requests.length, count);
    }
    assert.equal(identity.refusals, 0);
  });

  it('waits longer and longer if the service refuses each new token, and asks for the next one automatically', async () => {
    const token = await signedIn();
    assert.equal(await token.onUnauthorized(await token.get()), true);
    const waits = /^The service refused a new access token\. .*The pack tries again automatically\.$/;
    const pauses: number[] = [];
    for (let round = 0; round < 12; round++) {
      const got = await token.get();
      await assert.rejects(token.onUnauthorized(got), { code: 'SERVICE_ERROR', retryable: true, message: waits });
      const before = identity.requests.length;
      await assert.rejects(token.get(), { code: 'SERVICE_ERROR', message: waits }, 'a refused token was given out');
      const { retryAt, problem, signInRequiredSince } = token.describe();
      assert.match(problem === null ? '' : wordSentence(problem), waits);
      assert.equal(signInRequiredSince, null);
      const pause = Date.parse(retryAt ?? '') - clock.now();
      await clock.advance(pause - 1);
      assert.equal(identity.requests.length, before, 'asked within the pause');
      await clock.advance(1);
      await until(() => token.describe().retryAt === null);
      assert.equal(identity.requests.length, before + 1);
      pauses.push(pause / 1000);
    }
    assert.deepEqual(pauses, [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
  });

  for (const [when, isAnswered] of [
    ['before it is requested', false],
    ['while the answer is saved', true],
  ] as const) {
    it(`is not stored if its configuration is deleted ${when}`, async () => {
      await signIn();
      const { store } = session;
      const read = store.read.bind(store);
      let isDeleted = false;
      store.read = async (key) => {
        const stored = await read(key);
        const isItsTurn = identity.requests.length === Number(isAnswered);
        if (key !== ownKey() || !isItsTurn || isDeleted) return stored;
        isDeleted = true;
        await session.removeGrant(ownKey());
        return stored;
      };
      await source()
        .get()
        .catch(({ code }: VehicleError) => assert.equal(code, 'CANCELLED'));
      assert.deepEqual([isDeleted, await grantFiles()], [true, []]);
      assert.equal(identity.requests.length, Number(isAnswered));
    });
  }

  it('gives every token to the redactor before it is used, also one that a former process stored', async () => {
    const token = await signedIn();
    await token.get();
    await clock.advance(300_000);
    const given = await token.get();
    assert.deepEqual(
      identity.issued.slice(1).filter((secret) => !secrets.has(secret)),
      [],
    );
    secrets.clear();
    assert.equal(await source({ session: newProcess() }).get(), given);
    assert.ok(secrets.has(given) && identity.issued.slice(-2).every((secret) => secrets.has(secret)));
  });

  it('is refreshed by the process that uses the directory and by no other', async () => {
    await signIn();
    const owners = [0, 1].map(() => new DirectoryOwner({ directory }));
    const [one, two] = owners.map((owner) => {
      files = new FileStateStore({ directory, owner });
      return source({ session: newProcess() });
    }) as [TokenSource, TokenSource];
    const results = await Promise.allSettled([one.get(), two.get()]);
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const refused = results.find((result) => result.status === 'rejected');
    assert.ok(refused?.reason instanceof DirectoryInUse);
    assert.equal(identity.requests.length, 1);
    await Promise.all([one.close(), two.close()]);
    await Promise.all(owners.map((owner) => owner.end()));
  });

  for (const [what, textOf] of [
    ['survives a backup of the store that is restored under it', (backup: string) => backup],
    ['replaces a stored grant that is damaged under it', () => 'damaged'],
  ] as const)
    it(what, async () => {
      await signIn();
      const token = source();
      await token.get();
      const [name = assert.fail()] = await grantFiles();
      const backup = await readFile(join(grantFolder(), name), 'utf8');
      await clock.advance(5 * minute);
      await token.get();
      await writeFile(join(grantFolder(), name), textOf(backup));
      await clock.advance(5 * minute);
      const last = await token.get();
      assert.ok(await identity.accepts(last));
      await token.close();
      files = new FileStateStore({ directory });
      assert.equal(await source({ session: newProcess() }).get(), last);
      assert.equal(identity.refusals, 0);
    });

  it('does not overwrite what a process with another secret has stored', async () => {
    await signIn();
    const token = source();
    await token.get();
    const other = newStore(new Seal('another secret'));
    await other.write(ownKey(), grantWith('x', 0, { generation: 9 }));
    await clock.advance(5 * minute);
    await assert.rejects(token.get(), { code: 'CONFIG', message: /previous credentialSecret/ });
    assert.equal(identity.requests.length, 1);
  });

  it('reports a client that cannot be sent, without repeating it', async () => {
    for (const change of [{ clientId: 'abc\ndef' }, { clientSecret: 'abc\ndef' }]) {
      const token = source({ client: { ...identity.client, ...change } });
      await assert.rejects(
        token.get(),
        (error: VehicleError) => error.code === 'CONFIG' && !/abc|def/.test(error.message),
      );
      assert.match(token.describe().problem?.template ?? '', /configuration/);
    }
  });

  it('uses no rotated token before it is saved, and loses none', async () => {
    const token = await signedIn();
    identity.beforeAnswer = async () => {
      await rename(directory, `${directory}-away`);
      await writeFile(directory, 'not a folder');
    };
    await assert.rejects(token.get(), { code: 'CONFIG', retryable: true });
    identity.beforeAnswer = () => undefined;
    await rm(directory);
    await rename(`${directory}-away`, directory);
    await clock.advance(2_000);
    assert.ok(await identity.accepts(await token.get()));
    assert.equal(identity.refusals, 0);
  });
});
