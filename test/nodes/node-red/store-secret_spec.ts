import { strict as assert } from 'node:assert';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeAPI } from 'node-red';
import { storeSecrets } from '../../../nodes/runtime';
import { removeFolder } from '../../support/remove-folder';

describe('the secret of the saved sign-ins', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'store-secret-'))));
  afterEach(() => removeFolder(directory));

  const secretsWith = (settings: Record<string, unknown>): string[] =>
    storeSecrets({ settings: { get: (name: string) => settings[name] } } as unknown as NodeAPI, directory);

  it("is Node-RED's credential secret, with no key of the pack's own", () => {
    assert.deepEqual(secretsWith({ credentialSecret: 'chosen' }), ['chosen']);
    assert.deepEqual(readdirSync(directory), []);
  });

  it("is the pack's own key if nobody chose one, and still decrypts what it encrypted when somebody does", () => {
    const [own = '', ...former] = secretsWith({ _credentialSecret: 'made by Node-RED' });
    assert.match(own, /^[\da-f]{64}$/);
    assert.deepEqual(former, ['made by Node-RED']);
    assert.deepEqual(secretsWith({}), [own]);
    assert.deepEqual(secretsWith({ credentialSecret: 'chosen later' }), ['chosen later', own]);
  });

  for (const damaged of ['', 'cut']) {
    it(`is created again if the key file holds "${damaged}", which is kept aside`, () => {
      writeFileSync(join(directory, 'store.key'), damaged);
      const [secret] = secretsWith({});
      assert.equal(readFileSync(join(directory, 'store.key'), 'utf8'), secret);
      const [, aside = ''] = readdirSync(directory).sort();
      assert.match(aside, /^store\.key\.unreadable-/);
      assert.equal(readFileSync(join(directory, aside), 'utf8'), damaged);
      assert.equal(secretsWith({})[0], secret);
    });
  }
});
