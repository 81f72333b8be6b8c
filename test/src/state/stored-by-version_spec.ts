import { strict as assert } from 'node:assert';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  CarRunner,
  FileStateStore,
  Guard,
  Seal,
  SealedStateStore,
  FollowedCommands,
  wordSentence,
} from '../../../src/index';
import { CommandLog } from '../../../src/commands/log';
import { CarFacts } from '../../../src/car/facts';
import { RateLimiter } from '../../../src/http/rate-limiter';
import { clientOf } from '../events/event-runners';
import { ManualClock } from '../../support/manual-clock';
import { removeFolder } from '../../support/remove-folder';

/**
 * What each released version has stored: one folder for each. `test/nodes/stored-state_spec.ts`
 * writes that of this version.
 */
const fixtures = resolve(__dirname, '../../../../test/fixtures/state');
const vin = 'YV4952NA4F120DEMO';
const collections = ['car', 'command', 'event', 'guard', 'quota', 'sign-in', 'journal', 'watches'];

describe('What earlier versions have stored', () => {
  let directory: string;
  let warnings: string[];
  let clock: ManualClock;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'connected-vehicle-'));
    warnings = [];
    clock = new ManualClock();
  });
  afterEach(() => removeFolder(directory));

  const open = (version: string): FileStateStore => {
    cpSync(join(fixtures, version), directory, { recursive: true });
    return storeOf();
  };
  const storeOf = (): FileStateStore =>
    new FileStateStore({ directory, clock, warn: (warning) => void warnings.push(wordSentence(warning)) });
  const filesLeft = (): string[] =>
    readdirSync(join(directory, 'state'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
      .map(({ name }) => name);

  it('1.0.0: is removed, and reported once, with each command whose result is lost', async () => {
    const store = open('1.0.0');
    assert.ok(filesLeft().length > 5);
    for (const collection of collections) assert.deepEqual(await store.entries(`${collection}/`), [], collection);
    assert.equal(warnings.length, 2);
    assert.match(
      warnings[0] ?? '',
      /^An earlier version of this pack has sent the command “lock” to the car …20DEMO \(.*\d\d:\d\d\), and its result is lost\. Check the car\.$/,
    );
    assert.match(
      warnings[1] ?? '',
      /^This version cannot read .* Sign in again .* no command is sent for 150 seconds\.$/,
    );
    assert.deepEqual(filesLeft(), []);
    assert.ok(existsSync(join(directory, 'store.key')));
    assert.equal(await store.earlierFoundAt(), clock.monotonic());
    assert.equal(await storeOf().earlierFoundAt(), null);
    assert.equal(warnings.length, 2);
  });

  it('1.0.0: is removed also beside files that a crash cut off', async () => {
    cpSync(join(fixtures, '1.0.0'), directory, { recursive: true });
    const before = filesLeft().length;
    const cut = ['event', 'guard', 'quota', 'sign-in'].flatMap((collection) =>
      ['0', '7', 'f'].map((digit) => join(directory, 'state', collection, `${digit.repeat(32)}.json`)),
    );
    for (const file of cut) writeFileSync(file, '{"format":1,"ke');
    await storeOf().earlierFoundAt();
    const left = filesLeft();
    assert.ok(before > 5);
    assert.deepEqual(
      left.filter((name) => new Set(name.slice(0, 32)).size > 1),
      [],
    );
  });

  it('unreleased, in collections of former names: is also removed', async () => {
    const store = storeOf();
    await store.write('journal/v', { entries: [] });
    await store.write('delivered/n', ['hash']);
    await store.write('guard/g', { vin });
    const next = storeOf();
    assert.deepEqual(await next.entries('journal/'), []);
    assert.equal((await next.read('guard/g'))?.version, '3');
    assert.equal(warnings.length, 1);
    assert.equal(filesLeft().length, 1);
  });

  it('this version: is read', async () => {
    const store = open('2.0.0');
    const log = new CommandLog({ store });
    const [entry] = await log.journal('v');
    assert.deepEqual([entry?.command, entry?.vin, entry?.sentBy, entry?.outcome], ['lock', vin, 'c', 'pending']);
    const followed = await new FollowedCommands({ log, node: 'n', clock, onFault: assert.fail }).open(assert.fail);
    assert.deepEqual(
      followed.map(({ command, msg }) => [command.id, msg?.['topic']]),
      [[entry?.id, 'goodbye']],
    );
    const guard = new Guard({ minutes: 1 });
    const runnerOptions = { store, clock, vin, onSaveFailed: assert.fail, onDropped: assert.fail };
    const client = clientOf(() => assert.fail());
    const { state } = await CarRunner.open(guard, { ...runnerOptions, client, key: 'guard/g' });
    assert.deepEqual(
      guard.view(state).open.map(({ name }) => name),
      ['rearRight'],
    );
    const { value } = (await store.read('event/e')) ?? {};
    assert.deepEqual(Object.keys(value as object), ['vin', 'state', 'unsent']);
    const facts = await new CarFacts(store).known(vin);
    assert.equal(facts.equipment['odometer'], true);
    const [{ key } = assert.fail()] = await store.entries('quota/');
    const limiter = new RateLimiter({ clock, store, key });
    const end = limiter.use({ requestsPerDay: 100, requestsPerMinute: 100, commandsPerMinute: 10 });
    await limiter.acquire('read', { api: 'connected', deadline: Infinity });
    assert.ok(limiter.snapshot().usedToday > 4);
    await end();
    const seals = (): Seal[] => [new Seal(readFileSync(join(directory, 'store.key'), 'utf8'))];
    const sealed = new SealedStateStore({ store, seals });
    const [grant] = await sealed.entries('sign-in/');
    assert.match(JSON.stringify(grant?.value), /"refreshToken"/);
    assert.deepEqual(warnings, []);
  });
});
