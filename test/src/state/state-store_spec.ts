import { strict as assert } from 'node:assert';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import * as diskFiles from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { FileStateStore, MemoryStateStore, Seal, type StateStore } from '../../../src/index';
import { durableFiles, type StateFiles } from '../../../src/state/file-state-store';
import { StateFault } from '../../../src/state/state-store';
import { ManualClock } from '../../support/manual-clock';
import { removeFolder } from '../../support/remove-folder';
import { sealedFiles } from '../../support/sealed-files';
import { watched } from '../../support/watched';
import { keepsTheContract } from './state-store-contract';
import { VolatileFiles } from './volatile-files';
import { wordSentence, type Sentence } from '../../../src/sentence';

const isFault =
  (fault: StateFault['fault']) =>
  (error: unknown): boolean =>
    error instanceof StateFault && error.fault === fault && error.code === 'CONFIG';

/** Each one derives its key once. */
const seals: Record<string, Seal> = { first: new Seal('first'), old: new Seal('old'), new: new Seal('new') };

describe('the state store', () => {
  let root: string;
  let directory: string;
  let warnings: string[];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'state-store-'));
    directory = join(root, 'connected-vehicle');
    warnings = [];
  });
  afterEach(() => removeFolder(root));

  const options = () => ({ directory, warn: (warning: Sentence) => warnings.push(wordSentence(warning)) });
  const open = (): FileStateStore => new FileStateStore(options());
  const sealed = (...secrets: string[]): StateStore =>
    sealedFiles(
      (secrets.length === 0 ? ['first'] : secrets).map((secret) => seals[secret] ?? assert.fail()),
      options(),
    );
  const filesOf = (collection: string): string[] => readdirSync(join(directory, 'state', collection)).sort();
  const onlyFileOf = (collection: string): string => {
    const [name = '', ...others] = filesOf(collection);
    assert.deepEqual(others, []);
    return join(directory, 'state', collection, name);
  };

  describe('on files', () => keepsTheContract(open, open));
  describe('on files, encrypted', () => keepsTheContract(sealed, sealed));
  describe('in memory', () => keepsTheContract(() => new MemoryStateStore()));

  it('keeps everything readable by its owner only, and leaves no draft and no lock', async (): Promise<void> => {
    // A umask that takes nothing away: only the store itself closes its files to others.
    const ofMachine = process.umask(0);
    const store = open();
    await store.write('guard/a', 1);
    assert.equal(statSync(onlyFileOf('guard')).mode & 0o777, 0o600);
    await store.write('guard/a', 2, { expected: (await store.read('guard/a'))?.version ?? null });
    assert.equal(statSync(onlyFileOf('guard')).mode & 0o777, 0o600);
    for (const folder of [directory, join(directory, 'state'), join(directory, 'state', 'guard')])
      assert.equal(statSync(folder).mode & 0o777, 0o700);
    process.umask(ofMachine);
  });

  it('writes nothing outside its folder, with any key', async () => {
    const keys = ['guard/../../../x', 'guard/..', 'guard/\u0000', `guard/${'long'.repeat(200)}`, 'guard/ü/\\..\\'];
    const store = open();
    for (const key of keys) await store.write(key, key);
    assert.deepEqual(readdirSync(root), ['connected-vehicle']);
    assert.deepEqual(readdirSync(directory), ['state']);
    assert.equal(filesOf('guard').length, keys.length);
    for (const key of keys) await store.remove(key);
    assert.deepEqual(filesOf('guard'), []);
  });

  describe('an encrypted value', () => {
    it('is not on disk in plain text, and also opens with a former secret', async () => {
      await sealed('old').write('grant/a', { token: 'sesame' });
      assert.doesNotMatch(readFileSync(onlyFileOf('grant'), 'utf8'), /sesame/);
      assert.deepEqual((await sealed('new', 'old').read('grant/a'))?.value, { token: 'sesame' });
      assert.deepEqual((await sealed('new', 'old').entries('grant/'))[0]?.value, { token: 'sesame' });
    });
  });

  describe('a file that cannot be read', () => {
    for (const [fault, text] of [
      ['damaged', '{"format":2,"key":"guard/a","version":1,"val'],
      ['damaged', '[]'],
      ['damaged', '{"format":2,"key":"guard/b","version":1,"value":1}'],
      ['damaged', '{"format":2,"key":"guard/a","value":1}'],
      ['newer', '{"format":3,"key":"guard/a","anything":1}'],
    ] as const) {
      it(`reports that it is ${fault}, and is kept when the key is written again: ${text}`, async () => {
        await open().write('guard/a', 1);
        writeFileSync(onlyFileOf('guard'), text);
        await assert.rejects(open().read('guard/a'), isFault(fault));
        await open().write('guard/a', 2);
        assert.equal((await open().read('guard/a'))?.value, 2);
        const aside = filesOf('guard').find((name) => name.includes('unreadable')) ?? '';
        assert.equal(readFileSync(join(directory, 'state', 'guard', aside), 'utf8'), text);
        assert.equal(warnings.length, 1);
      });

      it(`is put aside and reported when keys are listed: ${text}`, async () => {
        await open().write('guard/a', 1);
        writeFileSync(onlyFileOf('guard'), text);
        await open().write('guard/b', 2);
        assert.deepEqual(
          (await open().entries('guard/')).map(({ key }) => key),
          ['guard/b'],
        );
        assert.equal(warnings.length, 1);
        assert.deepEqual(
          (await open().entries('guard/')).map(({ key }) => key),
          ['guard/b'],
        );
        assert.equal(warnings.length, 1);
      });
    }
  });

  it('says why it cannot write, and continues with the next write', async () => {
    mkdirSync(directory);
    writeFileSync(join(directory, 'state'), 'a file in the way');
    const store = open();
    await assert.rejects(store.write('guard/a', 1), isFault('inaccessible'));
    assert.equal(await store.read('guard/a'), null, 'nothing is stored there');
    rmSync(join(directory, 'state'));
    await store.write('guard/a', 2);
    rmSync(join(directory, 'state'), { recursive: true });
    await store.write('guard/a', 3).catch(() => undefined);
    await store.write('guard/a', 4);
    assert.equal((await store.read('guard/a'))?.value, 4);
  });

  it('leaves the old value if the disk is full at any step', async () => {
    await open().write('guard/a', 'old');
    for (const step of ['writeFile', 'rename'] as const) {
      const full = (): never => {
        throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      };
      const store = new FileStateStore({ directory, files: { ...diskFiles, ...durableFiles, [step]: full } });
      await assert.rejects(
        store.write('guard/a', 'new'),
        (error) => error instanceof StateFault && error.systemCode === 'ENOSPC',
      );
      assert.equal((await open().read('guard/a'))?.value, 'old');
      onlyFileOf('guard');
    }
  });

  for (const code of ['EPERM', 'EACCES', 'EBUSY'])
    it(`tries a rename again for two seconds while another program has the file open (${code})`, async () => {
      const clock = new ManualClock();
      let heldForMs = 1_900;
      let since = 0;
      let last = 0;
      const rename: typeof diskFiles.rename = async (from, to) => {
        since ||= clock.now();
        last = clock.now();
        if (clock.now() < since + heldForMs) throw Object.assign(new Error(code), { code });
        await diskFiles.rename(from, to);
      };
      const store = new FileStateStore({ directory, files: { ...diskFiles, ...durableFiles, rename }, clock });
      const write = watched(store.write('guard/a', 'held for a moment'));
      await clock.advanceUntil(() => write.done);
      assert.equal((await open().read('guard/a'))?.value, 'held for a moment');

      [heldForMs, since] = [Number.POSITIVE_INFINITY, 0];
      const refused = watched(store.write('guard/a', 'held for ever'));
      await clock.advanceUntil(() => refused.done, 100);
      assert.ok(refused.error instanceof StateFault && refused.error.systemCode === code);
      assert.ok(last - since >= 2_000 && last - since < 2_500);
      assert.equal((await open().read('guard/a'))?.value, 'held for a moment');
      onlyFileOf('guard');
    });

  it('has a value on disk, and the name of its file, when the write is fulfilled: the power may fail in that moment', async () => {
    const disk = new VolatileFiles();
    const store = new FileStateStore({ directory, files: disk.files });
    await store.write('guard/a', 'first');
    await store.write('guard/b', 'second');
    await store.write('guard/a', 'third');
    await disk.failPower();
    assert.equal((await open().read('guard/a'))?.value, 'third');
    assert.equal((await open().read('guard/b'))?.value, 'second');
  });

  it('has it on disk also if it was renamed while the folder was forced to disk for another value', async () => {
    const disk = new VolatileFiles();
    let renames = 0;
    let goOn = (): void => undefined;
    const isSecondRenamed = new Promise<void>((resolve) => (goOn = resolve));
    const files: StateFiles = {
      ...disk.files,
      rename: async (from, to) => {
        await disk.files.rename(from, to);
        renames += 1;
        if (renames === 2) goOn();
      },
      fsync: async (descriptor) => {
        const synced = disk.files.fsync(descriptor);
        await isSecondRenamed;
        await synced;
      },
    };
    const store = new FileStateStore({ directory, files });
    await Promise.all([store.write('guard/a', 'first'), store.write('guard/b', 'second')]);
    await disk.failPower();
    assert.equal((await open().read('guard/a'))?.value, 'first');
    assert.equal((await open().read('guard/b'))?.value, 'second');
  });

  it('removes the drafts of a process that was killed', async () => {
    await open().write('guard/a', 1);
    writeFileSync(`${onlyFileOf('guard')}.0123456789ab.new`, '{');
    await open().write('guard/a', 2);
    onlyFileOf('guard');
  });

  it('removes no file of others, even if the folder is a link', async () => {
    const others = mkdtempSync(join(tmpdir(), 'others-'));
    const names = ['notes.new', 'notes.json.0123456789ab.new', `${'0'.repeat(31)}.json.0123456789ab.new`];
    try {
      for (const name of names) writeFileSync(join(others, name), '');
      mkdirSync(join(directory, 'state'), { recursive: true });
      symlinkSync(others, join(directory, 'state', 'guard'), 'dir');
      await open().write('guard/a', 1);
      await open().remove('guard/a');
      assert.deepEqual(readdirSync(others).sort(), names.sort());
    } finally {
      rmSync(others, { recursive: true });
    }
  });

  it('removes what was put aside together with its key, also what a former process put aside', async () => {
    await open().write('guard/a', 1);
    const file = onlyFileOf('guard');
    const store = open();
    for (const writer of [open(), store]) {
      writeFileSync(file, '{');
      await writer.write('guard/a', 2);
    }
    assert.equal(filesOf('guard').length, 3);
    await store.remove('guard/a');
    assert.deepEqual(filesOf('guard'), []);
  });

  it('reads a file again that could not be read for a moment, and does not overwrite it before', async () => {
    await open().write('guard/a', 'kept');
    const name = basename(onlyFileOf('guard'));
    await open().write('guard/b', 'other');
    let isReadable = false;
    const readFile = ((path: string, encoding: 'utf8') =>
      isReadable || !path.endsWith(name)
        ? diskFiles.readFile(path, encoding)
        : Promise.reject(Object.assign(new Error('EMFILE'), { code: 'EMFILE' }))) as typeof diskFiles.readFile;
    const store = new FileStateStore({ directory, files: { ...diskFiles, ...durableFiles, readFile } });
    await assert.rejects(store.read('guard/a'), isFault('inaccessible'));
    await assert.rejects(store.write('guard/a', 'lost'), isFault('inaccessible'));
    await assert.rejects(store.entries('guard/'), isFault('inaccessible'));
    assert.equal((await store.read('guard/b'))?.value, 'other');
    isReadable = true;
    assert.equal((await store.read('guard/a'))?.value, 'kept');
    assert.equal((await store.entries('guard/')).length, 2);
  });

  it('gives what a person has restored from a backup', async () => {
    await open().write('guard/a', 'kept');
    const backup = readFileSync(onlyFileOf('guard'));
    writeFileSync(onlyFileOf('guard'), '{');
    const store = open();
    await assert.rejects(store.read('guard/a'), isFault('damaged'));
    writeFileSync(onlyFileOf('guard'), backup);
    assert.equal((await store.read('guard/a'))?.value, 'kept');
  });
});
