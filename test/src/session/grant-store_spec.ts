import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VehicleError } from '../../../src/errors';
import { GrantStore, type Grant } from '../../../src/session/grant-store';
import { Seal } from '../../../src/state/seal';
import { removeFolder } from '../../support/remove-folder';
import { sealedFiles } from '../../support/sealed-files';

const key = 'signed-in\nhttps://api.example\nclient\nconfig-1';
const [seal, formerSeal] = [new Seal('credential secret'), new Seal('former secret')];
const grant = (count: number): Grant => ({
  generation: count,
  refreshToken: `refresh-${count}`,
  accessToken: 'access',
  expiresAt: null,
  scopes: ['openid'],
  refreshedAt: 0,
  signedInAt: 0,
  pastedBefore: '',
  refreshing: null,
});

describe('The saved sign-ins', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'grants-'));
  });

  afterEach(() => removeFolder(directory));

  const open = (seals = [seal], secrets?: Set<string>): GrantStore =>
    new GrantStore({
      state: sealedFiles(seals, { directory }),
      ...(secrets && { onSecret: (secret: string) => secrets.add(secret) }),
    });
  const folder = (): string => join(directory, 'state', 'sign-in');
  const names = async (): Promise<string[]> => (await readdir(folder())).sort();
  const file = async (): Promise<string> =>
    join(folder(), (await names()).find((name) => name.endsWith('.json')) ?? '');

  it('are read as they were saved, and replaced only if the version is still the same', async () => {
    const saved = await open().write(key, grant(1), null);
    assert.deepEqual(await open().read(key), saved);
    assert.deepEqual(saved?.grant, grant(1));
    assert.equal(await open().write(key, grant(2), null), null);
    assert.notEqual(await open().write(key, grant(2), saved?.version), null);
    assert.equal(await open().write(key, grant(3), saved?.version), null);
    assert.equal((await open().read(key))?.grant.refreshToken, 'refresh-2');
    assert.equal(await open().read('another key'), null);
  });

  it('hold nothing in plain: no token, no address, no client', async () => {
    await open().write(key, grant(1));
    assert.doesNotMatch(await readFile(await file(), 'utf8'), /refresh-1|access|openid|api\.example|config-1/);
  });

  it('pass each token to the redactor before it is written or used', async () => {
    const secrets = new Set<string>();
    await open([seal], secrets).write(key, grant(1));
    assert.deepEqual([...secrets], ['refresh-1', 'access']);
    secrets.clear();
    await open([seal], secrets).read(key);
    assert.deepEqual([...secrets], ['refresh-1', 'access']);
  });

  const faults: [string, () => Promise<void>, RegExp][] = [
    ['are damaged', async () => writeFile(await file(), '{"format":1,'), /damaged/],
    ['were written by a newer version', async () => writeFile(await file(), '{"format":9,"key":"x"}'), /newer version/],
    [
      'cannot be read',
      async () => {
        const path = await file();
        await rm(path);
        await mkdir(path);
      },
      /cannot be read.*readable/,
    ],
  ];
  for (const [what, harm, sentence] of faults) {
    it(`say what to do where they ${what}`, async () => {
      await open().write(key, grant(1));
      await harm();
      await assert.rejects(
        open().read(key),
        // In a shared store there is no file.
        ({ code, message }: VehicleError) => code === 'CONFIG' && sentence.test(message) && !/\bfile\b/.test(message),
      );
    });
  }

  it('say what to do where they were encrypted with another secret', async () => {
    await open().write(key, grant(1));
    await assert.rejects(
      open([formerSeal]).read(key),
      (error: VehicleError) =>
        error.code === 'CONFIG' && /credentialSecret/.test(error.message) && !/\bfile\b/.test(error.message),
    );
  });
});
