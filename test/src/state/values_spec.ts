import { strict as assert } from 'node:assert';
import { MemoryStateStore } from '../../../src/index';
import { wordSentence } from '../../../src/sentence';
import { Seal } from '../../../src/state/seal';
import { SealedStateStore } from '../../../src/state/sealed-store';
import { StateFault, retryOnConflict, type StateStore } from '../../../src/state/state-store';

describe('A change of what others also change', () => {
  it('is tried again until it is made, a hundred times', async () => {
    const again: boolean[] = [];
    assert.equal(await retryOnConflict(async (isAgain) => (again.push(isAgain) < 3 ? null : Promise.resolve(0))), 0);
    assert.deepEqual(again, [false, true, true]);
    let tries = 0;
    await assert.rejects(
      retryOnConflict(async () => {
        await Promise.resolve((tries += 1));
        return null;
      }),
      { code: 'STORE_UNAVAILABLE', fault: 'unavailable', message: /refused the same change 100 times/ },
    );
    assert.equal(tries, 100);
  });
});

describe('An encrypted value', () => {
  const [own, former, foreign] = ['own', 'former', 'foreign'].map((secret) => new Seal(secret));
  let plain: StateStore;
  let warnings: string[];
  const storeOf = (...seals: (Seal | undefined)[]): SealedStateStore =>
    new SealedStateStore({
      store: plain,
      seals: () => seals.flatMap((seal) => seal ?? []),
      warn: (warning) => warnings.push(wordSentence(warning)),
    });
  const aside = async (): Promise<string[]> => (await plain.entries('unreadable/')).map(({ key }) => key);
  beforeEach(() => {
    plain = new MemoryStateStore();
    warnings = [];
  });

  it('is read with each of the secrets, in its own place, and nothing of it is in plain text', async () => {
    await storeOf(former).write('grant/a', { secret: 'token' });
    await storeOf(own, former).write('grant/b', undefined);
    assert.doesNotMatch(JSON.stringify(await plain.entries('grant/')), /token|secret"/);
    const store = storeOf(own, former);
    assert.deepEqual((await store.read('grant/a'))?.value, { secret: 'token' });
    assert.equal((await store.read('grant/b'))?.value, null);
    assert.equal(await store.read('grant/c'), null);
    const moved = await plain.read('grant/a');
    await plain.write('grant/moved', moved?.value);
    await assert.rejects(store.read('grant/moved'), { fault: 'damaged' });
    await assert.rejects(storeOf(former).read('grant/b'), { fault: 'foreign' });
    await plain.write('grant/plain', { keyId: 'x' });
    await assert.rejects(store.read('grant/plain'), { fault: 'damaged' });
    assert.deepEqual(
      (await store.entries('grant/')).map(({ key, value }) => [key, value]),
      [
        ['grant/a', { secret: 'token' }],
        ['grant/b', null],
      ],
    );
    await assert.rejects(storeOf().write('grant/a', 1), TypeError);
  });

  it('is put aside once if it cannot be read and its key is written again, and removed with the key', async () => {
    await storeOf(foreign).write('grant/a', 'foreign');
    const store = storeOf(own);
    assert.equal(await store.write('grant/a', 1, { expected: 'another' }), null);
    assert.deepEqual([await aside(), warnings], [[], []]);
    await store.write('grant/a', 1);
    const [kept = ''] = await aside();
    assert.match(kept, /^unreadable\/grant\/a\/[0-9a-f]{6}$/);
    assert.deepEqual(warnings.length, 1);
    assert.match(
      warnings[0] ?? '',
      /^The saved state “grant” was encrypted with another secret\..* The old value is kept/,
    );
    await store.write('grant/a', 2);
    await storeOf(foreign).write('grant/ab', 'foreign');
    await store.write('grant/ab', 1);
    assert.equal((await aside()).length, 2);
    assert.equal(await store.remove('grant/a', { expected: 'another' }), false);
    assert.equal((await aside()).length, 2);
    assert.equal(await store.remove('grant/a'), true);
    assert.deepEqual(
      (await aside()).map((key) => key.slice(0, 20)),
      ['unreadable/grant/ab/'],
    );
  });

  it('is written in the order of the changes, and continues after a fault', async () => {
    const store = storeOf(own);
    const write = plain.write.bind(plain);
    plain.write = () => Promise.reject(new StateFault('inaccessible', 'grant', '/folder', 'ENOSPC'));
    await assert.rejects(store.write('grant/a', 0), { systemCode: 'ENOSPC' });
    plain.write = write;
    await Promise.all([store.write('grant/a', 1), store.write('grant/a', 2), store.remove('grant/b')]);
    assert.equal((await store.read('grant/a'))?.value, 2);
    plain.read = () => Promise.reject(new Error('not of the store'));
    await assert.rejects(store.write('grant/a', 3), /not of the store/);
    plain.read = () => Promise.reject(new StateFault('damaged', 'grant'));
    assert.notEqual(await store.write('grant/a', 4), null);
  });

  it('has a salt of its own or one that is given, and a nonce of its own', async () => {
    const [one, two] = [await own?.seal('a longer text', 'c'), await own?.seal('a longer text', 'c')];
    assert.equal(one?.salt, two?.salt);
    assert.equal(one?.keyId, two?.keyId);
    assert.notEqual(one?.nonce, two?.nonce);
    assert.equal(Buffer.from(one?.salt ?? '', 'base64').length, 16);
    const salt = Buffer.from('sixteen bytes ..').toString('base64');
    const salted = new Seal('own', salt);
    assert.equal((await salted.seal('x', 'c')).salt, salt);
    assert.deepEqual(await salted.open(one ?? assert.fail(), 'c'), { text: 'a longer text' });
    assert.equal((await salted.seal('x', 'c')).salt, salt);
    const next = new Seal('own');
    await next.open(one ?? assert.fail(), 'c');
    assert.equal((await next.seal('y', 'c')).salt, one?.salt, 'one derivation serves all');
    const stranger = new Seal('stranger');
    assert.deepEqual(await stranger.open(one ?? assert.fail(), 'c'), { fault: 'foreign' });
    assert.notEqual((await stranger.seal('y', 'c')).salt, one?.salt);
    for (const changes of [{ tag: two?.tag }, { data: two?.data }, { nonce: two?.nonce }, { nonce: '' }] as const)
      assert.deepEqual(await own?.open({ ...(one ?? assert.fail()), ...(changes as object) }, 'c'), {
        fault: 'damaged',
      });
    assert.deepEqual(await own?.open(one ?? assert.fail(), 'elsewhere'), { fault: 'damaged' });
  });
});
