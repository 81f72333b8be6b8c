import { strict as assert } from 'node:assert';
import { fork, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VehicleError } from '../../../src/errors';
import { TokenStore, type NewGrant } from '../../../src/session/store';
import { ManualClock } from '../../support/manual-clock';

const account = 'account-1';
/** Of killing; each takes about a second. */
const rounds = Number(process.env['ROUNDS'] ?? 8);
const grant = (count: number): NewGrant => ({
  refreshToken: `refresh-${count}`,
  accessToken: 'access',
  expiresAt: null,
  scopes: ['openid'],
  refreshedAt: 0,
  outdated: [],
});

describe('the store of sign-ins', () => {
  let directory: string;
  let store: TokenStore;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'store-'));
    store = new TokenStore({ directory, secret: 'credential secret' });
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  const save = (count: number, follows?: number): Promise<unknown> =>
    store.exclusive(account, (locked) => locked.save(grant(count), follows));
  const names = async (): Promise<string[]> => (await readdir(directory)).sort();
  const file = async (): Promise<string> =>
    join(directory, (await names()).find((name) => name.endsWith('.json')) ?? '');
  const other = (secret: string): TokenStore => new TokenStore({ directory, secret });

  it('gives back what was saved, in this process and in the next', async () => {
    await save(1);
    assert.deepEqual(await store.read(account), { ...grant(1), generation: 1 });
    assert.deepEqual(await other('credential secret').read(account), { ...grant(1), generation: 1 });
    assert.equal(await store.read('another account'), null);
  });

  it('opens what a former secret sealed, and seals it with the new one at the next save', async () => {
    await save(1);
    const moved = new TokenStore({ directory, secret: 'a new secret', former: ['an older one', 'credential secret'] });
    assert.equal((await moved.read(account))?.refreshToken, 'refresh-1');
    await moved.exclusive(account, (locked) => locked.save(grant(2), 1));
    assert.deepEqual(await other('a new secret').read(account), { ...grant(2), generation: 2 });
  });

  it('holds nothing that can be read without the secret', async () => {
    await save(1);
    assert.doesNotMatch(await readFile(await file(), 'utf8'), /refresh-1|access|openid|account-1/);
  });

  it('keeps each account in a file of its own', async () => {
    await save(1);
    await store.exclusive('account-2', (locked) => locked.save(grant(2)));
    assert.equal((await names()).length, 2);
    assert.equal((await store.read(account))?.refreshToken, 'refresh-1');
  });

  it('leaves nothing but the file behind', async () => {
    await store.exclusive(account, async (locked) => {
      await locked.prepare();
      assert.equal((await names()).length, 2);
    });
    assert.deepEqual(await names(), []);
    await save(1);
    assert.equal((await names()).length, 1);
  });

  it('does not replace what is newer than what it comes from', async () => {
    await save(1);
    await save(2);
    const kept = await store.exclusive(account, (locked) => locked.save(grant(3), 1));
    assert.deepEqual([kept.refreshToken, kept.generation], ['refresh-2', 2]);
    assert.equal((await store.read(account))?.refreshToken, 'refresh-2');
  });

  it('cannot be opened under the name of another account', async () => {
    await save(1);
    const one = await file();
    await store.exclusive('account-2', (locked) => locked.save(grant(2)));
    const two = (await names()).map((name) => join(directory, name)).find((name) => name !== one) ?? '';
    await rename(one, two);
    await assert.rejects(store.read('account-2'), { code: 'CONFIG' });
  });

  const faults: Record<string, { make: () => Promise<void>; says: RegExp }> = {
    'is empty': { make: async () => writeFile(await file(), ''), says: /damaged/ },
    'is cut off': { make: async () => truncate(await file(), 100), says: /damaged/ },
    'is not JSON': { make: async () => writeFile(await file(), '\0\0\0'), says: /damaged/ },
    'is other JSON': { make: async () => writeFile(await file(), '[]'), says: /damaged/ },
    'lacks a part': { make: () => edit((head) => ({ version: head['version'] })), says: /damaged/ },
    'was changed': {
      make: () => edit((head) => ({ ...head, data: Buffer.from('changed').toString('base64') })),
      says: /damaged/,
    },
    'has a short tag': { make: () => edit((head) => ({ ...head, tag: 'AAAA' })), says: /damaged/ },
    'was written by a newer version': {
      make: () => edit(() => ({ version: 2, of: 'another shape' })),
      says: /newer version/,
    },
    'was encrypted with another secret': {
      make: async () => void (store = other('another secret')),
      says: /credentialSecret/,
    },
    'cannot be read': { make: () => replaceByFolder(), says: /readable/ },
  };

  const edit = async (change: (head: Record<string, unknown>) => object): Promise<void> => {
    const head: Record<string, unknown> = JSON.parse(await readFile(await file(), 'utf8'));
    await writeFile(await file(), JSON.stringify(change(head)));
  };

  const replaceByFolder = async (): Promise<void> => {
    const path = await file();
    await rm(path);
    await mkdir(path);
  };

  for (const [what, { make, says }] of Object.entries(faults)) {
    it(`says what to do where a file ${what}, and keeps that file when it is replaced`, async () => {
      await save(1);
      await make();
      await assert.rejects(
        store.read(account),
        (error: VehicleError) => error.code === 'CONFIG' && says.test(error.message),
      );
      const before = await contents();
      await save(2);
      assert.equal((await store.read(account))?.refreshToken, 'refresh-2');
      const aside = (await names()).filter((name) => name.includes('.unreadable-'));
      assert.equal(aside.length, 1);
      assert.equal(await readFile(join(directory, aside[0] ?? ''), 'utf8').catch(() => 'a folder'), before);
    });
  }

  const contents = async (): Promise<string> => readFile(await file(), 'utf8').catch(() => 'a folder');

  it('says what to do where it cannot write', async () => {
    await writeFile(join(directory, 'in the way'), '');
    store = new TokenStore({ directory: join(directory, 'in the way'), secret: '' });
    await assert.rejects(save(1), (error: VehicleError) => error.code === 'CONFIG' && /writable/.test(error.message));
  });

  describe('between processes', () => {
    /** Another process on this machine, alive or not. */
    const another = (alive: boolean, clock?: ManualClock): TokenStore =>
      new TokenStore({
        directory,
        secret: 'credential secret',
        ...(clock && { clock }),
        self: { pid: 1_000_001, host: 'here', isAlive: () => alive, held: new Set() },
      });
    const here = (alive: boolean, clock?: ManualClock): TokenStore =>
      new TokenStore({
        directory,
        secret: 'credential secret',
        ...(clock && { clock }),
        self: { pid: 1_000_002, host: 'here', isAlive: () => alive, held: new Set() },
      });

    const ends: (() => Promise<void>)[] = [];
    afterEach(() => Promise.all(ends.splice(0).map((end) => end())));

    /** Holds the account until the test ends. */
    const hold = async (holder: TokenStore, prepare = false): Promise<void> => {
      let letGo = (): void => undefined;
      const work = new Promise<void>((resolve) => (letGo = resolve));
      await new Promise<void>((held) => {
        const holding = holder.exclusive(account, async (locked) => {
          if (prepare) await locked.prepare();
          held();
          await work;
        });
        ends.push(() => (letGo(), holding));
      });
    };

    const tookOver = (taker: TokenStore): Promise<boolean> =>
      taker.exclusive(account, async ({ afterCrash }) => afterCrash);

    /** Lets time pass while somebody sleeps, until the work is done. */
    const passing = async (
      clock: ManualClock,
      work: Promise<unknown>,
      each = (): Promise<void> => Promise.resolve(),
    ): Promise<void> => {
      let done = false;
      void work.finally(() => (done = true));
      while (!done) {
        await each();
        await clock.advance(clock.sleeping > 0 ? 1_000 : 0);
      }
    };

    it('waits for a living holder, and can be called off', async () => {
      await hold(another(true));
      const controller = new AbortController();
      const refused = assert.rejects(
        here(true).exclusive(account, async () => undefined, controller.signal),
        { code: 'CANCELLED' },
      );
      controller.abort();
      await refused;
      const waiting = tookOver(here(true));
      await ends.pop()?.();
      assert.equal(await waiting, false);
    });

    it('takes over at once from a dead holder, says so, and clears away what it left', async () => {
      await hold(another(true), true);
      assert.equal((await names()).length, 2);
      assert.equal(await tookOver(here(false)), true);
      assert.deepEqual(await names(), []);
      assert.equal(await tookOver(here(false)), false);
    });

    it('takes over from a dead holder that had the same process number, as in a container', async () => {
      await hold(another(true));
      assert.equal(await tookOver(another(true)), true);
    });

    it('takes over from a holder of another machine when it has held for longer than any work takes', async () => {
      const clock = new ManualClock();
      await hold(elsewhere(clock));
      const taken = tookOver(here(true, clock));
      await passing(clock, taken);
      assert.equal(await taken, true);
      assert.ok(clock.now() - new ManualClock().now() > 120_000);
    });

    it('gives up after a while with a holder that lives on', async () => {
      const clock = new ManualClock();
      await hold(elsewhere(clock));
      const [lock = ''] = await names();
      const renew = async (): Promise<void> => {
        await writeFile(
          join(directory, 'renewed'),
          JSON.stringify({ pid: 1, host: 'elsewhere', nonce: 'new', at: clock.now() }),
        );
        await rename(join(directory, 'renewed'), join(directory, lock));
      };
      const refused = assert.rejects(tookOver(here(true, clock)), { code: 'TIMEOUT' });
      await passing(clock, refused, renew);
      await refused;
    });

    const elsewhere = (clock: ManualClock): TokenStore =>
      new TokenStore({
        directory,
        secret: '',
        clock,
        self: { pid: 1, host: 'elsewhere', isAlive: () => true, held: new Set() },
      });

    it('does not stop at a lock that was cut while it was written', async () => {
      const clock = new ManualClock();
      await save(1);
      await writeFile(`${await file()}.lock`, '');
      const taken = tookOver(here(true, clock));
      await passing(clock, taken);
      assert.equal(await taken, true);
    });

    it('loses no save of two processes that hammer it', async function () {
      this.timeout(60_000);
      const children = [hammer(directory, 200), hammer(directory, 200)];
      const counts = (await Promise.all(children.map((child) => child.ended))).flat();
      assert.equal(new Set(counts).size, 400);
      assert.equal((await store.read(account))?.refreshToken, 'refresh-400');
      assert.equal((await names()).length, 1);
    });

    it('loses no save, and never the file, when processes are killed at any moment', async function () {
      this.timeout(rounds * 15_000);
      const told: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const children = [hammer(directory, Infinity), hammer(directory, Infinity)];
        await Promise.all(children.map((child) => child.firstSave));
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
        children[0]?.process.kill('SIGKILL');
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
        children[1]?.process.kill('SIGKILL');
        told.push(...(await Promise.all(children.map((child) => child.ended))).flat());
        const stored = Number((await store.read(account))?.refreshToken.slice('refresh-'.length));
        assert.ok(stored >= Math.max(...told), `saved up to ${Math.max(...told)}, stored ${stored}`);
      }
      assert.equal(new Set(told).size, told.length, 'a save was overwritten');
      await save(1);
      assert.deepEqual(
        (await names()).filter((name) => /\.(new|lock)$/.test(name)),
        [],
      );
    });
  });
});

/** A process that counts up in the store, and tells each number once it is saved. */
function hammer(
  directory: string,
  times: number,
): { process: ChildProcess; firstSave: Promise<void>; ended: Promise<number[]> } {
  const child = fork(join(__dirname, 'hammer.js'), [directory, account, String(times)]);
  const counts: number[] = [];
  let saved = (): void => undefined;
  const firstSave = new Promise<void>((resolve) => (saved = resolve));
  child.on('message', (count) => {
    counts.push(Number(count));
    saved();
  });
  return { process: child, firstSave, ended: new Promise((resolve) => child.on('close', () => resolve(counts))) };
}
