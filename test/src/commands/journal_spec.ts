import { strict as assert } from 'node:assert';
import {
  Journal as KeyedJournal,
  journalEntry,
  type JournalChanges,
  type JournalEntry,
  type JournalOptions,
} from '../../../src/commands/journal';
import type { CommandRecord } from '../../../src/commands/record';
import { StateFault, type StateStore, type Stored } from '../../../src/state/state-store';
import { Random } from '../../support/random';

type Store = Pick<StateStore, 'read' | 'write'>;

class Journal extends KeyedJournal {
  constructor(store: Store, options?: JournalOptions) {
    super(store, 'journal/test', options);
  }
}

/** A store that only ever gives back one stored text. */
const storeOf = (json: string | undefined): Store => ({
  read: () => Promise.resolve({ value: JSON.parse(json ?? '') as unknown, version: '' }),
  write: () => Promise.resolve(''),
});

const entry = (id: string, more: Partial<JournalEntry> = {}): JournalEntry => ({
  id,
  command: 'lock',
  vin: 'YV1CT9551B1570982',
  interface: 'connected-v1',
  sentBy: 'Evening lock',
  sentAt: '2026-06-01T08:00:00.000Z',
  operationId: 'op-1',
  states: [{ requestStatus: 'RUNNING', at: '2026-06-01T08:00:00.000Z' }],
  outcome: 'pending',
  reason: null,
  verified: null,
  settledAt: null,
  ...more,
});

const settled = {
  states: [
    { requestStatus: 'RUNNING', at: '2026-06-01T08:00:00.000Z' },
    { requestStatus: 'COMPLETED', at: '2026-06-01T08:00:04.000Z' },
  ],
  outcome: 'succeeded' as const,
  reason: 'The car carried out the command.',
  verified: true,
  settledAt: '2026-06-01T08:00:05.000Z',
} satisfies JournalChanges;

/** A store in memory, as JSON like a real one; a test may hold its saves, or make it fail. */
class MemoryStore implements Store {
  json: string | undefined;
  saves = 0;
  saving = 0;
  failure: Error | null = null;
  #held: (() => void)[] | null = null;

  constructor(data?: unknown) {
    this.json = JSON.stringify(data);
  }

  hold(): void {
    this.#held = [];
  }

  release(): void {
    for (const go of this.#held?.splice(0) ?? []) go();
  }

  async read(): Promise<Stored | null> {
    await this.#turn();
    return this.json === undefined ? null : { value: JSON.parse(this.json) as unknown, version: '' };
  }

  async write(_key: string, data: unknown): Promise<string> {
    this.saves++;
    assert.equal(++this.saving, 1, 'saves must not overlap');
    try {
      await this.#turn();
      this.json = JSON.stringify(data);
      return '';
    } finally {
      this.saving--;
    }
  }

  async #turn(): Promise<void> {
    await new Promise<void>((resolve) => (this.#held === null ? setImmediate(resolve) : this.#held.push(resolve)));
    if (this.failure !== null) throw this.failure;
  }
}

const ids = async (journal: Journal): Promise<string[]> => (await journal.list()).map(({ id }) => id);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('The journal', () => {
  it('calls a command without an answer undetermined after a restart', async () => {
    const store = new MemoryStore();
    const journal = new Journal(store);
    await journal.add(entry('answered'));
    await journal.add(entry('on its way', { states: [{ requestStatus: null, at: '2026-06-01T08:00:00.000Z' }] }));
    const [lost, followed] = await new Journal(store).list();
    assert.deepEqual([lost?.id, lost?.outcome, lost?.settledAt], ['on its way', 'undetermined', null]);
    assert.match(lost?.reason ?? '', /ended before an answer came/);
    assert.equal(followed?.outcome, 'pending');
  });

  it('lists the commands, newest first, and the same after a restart', async () => {
    const store = new MemoryStore();
    const journal = new Journal(store);
    assert.deepEqual(await journal.list(), []);
    await journal.add(entry('a'));
    await journal.add(entry('b', { command: 'honk-flash', sentBy: null }));
    assert.deepEqual(await journal.list(), [entry('b', { command: 'honk-flash', sentBy: null }), entry('a')]);
    assert.deepEqual(await new Journal(store).list(), await journal.list());
  });

  it('adds the states and the result of a command', async () => {
    const store = new MemoryStore();
    const journal = new Journal(store);
    await journal.add(entry('a'));
    await journal.add(entry('b'));
    assert.equal(await journal.update('a', { ...settled, states: [...settled.states] }), true);
    assert.deepEqual(await new Journal(store).list(), [
      entry('b'),
      entry('a', { ...settled, states: [...settled.states] }),
    ]);
  });

  it('keeps a result when a second watch of the command reports something else', async () => {
    const journal = new Journal(new MemoryStore());
    await journal.add(entry('a'));
    await journal.update('a', settled);
    await journal.update('a', { states: entry('a').states, outcome: 'pending' });
    await journal.update('a', {
      ...settled,
      outcome: 'undetermined',
      reason: 'The time ran out.',
      verified: null,
      settledAt: '2026-06-01T08:10:00.000Z',
    });
    await journal.update('a', { ...settled, outcome: 'failed', reason: 'Odd.', settledAt: '2026-06-01T08:10:00.000Z' });
    assert.deepEqual(await journal.list(), [entry('a', settled)]);
  });

  it('replaces a result with one that knows more', async () => {
    const journal = new Journal(new MemoryStore());
    const unclear = {
      outcome: 'undetermined',
      reason: 'The time ran out.',
      verified: null,
      settledAt: '2026-06-01T08:00:03.000Z',
    } as const;
    await journal.add(entry('a', unclear));
    await journal.update('a', {
      ...unclear,
      verified: true,
      reason: 'The doors say that it happened.',
      settledAt: '2026-06-01T08:01:00.000Z',
    });
    await journal.update('a', { ...unclear, reason: 'Cannot tell.' });
    assert.equal((await journal.list())[0]?.reason, 'The doors say that it happened.');
    await journal.update('a', { ...settled, verified: null });
    const [last] = await journal.list();
    assert.deepEqual(
      [last?.outcome, last?.verified, last?.reason, last?.settledAt],
      ['succeeded', true, settled.reason, settled.settledAt],
    );
    assert.deepEqual(last?.states, settled.states);
  });

  it('removes a command that was not sent after all', async () => {
    const store = new MemoryStore();
    const journal = new Journal(store);
    await journal.add(entry('a'));
    await journal.add(entry('b'));
    await journal.remove('b');
    await journal.remove('never');
    assert.deepEqual(await ids(journal), ['a']);
    assert.deepEqual(await ids(new Journal(store)), ['a']);
  });

  it('does not know an entry that it never had, that fell out or that was cleared', async () => {
    const store = new MemoryStore();
    const journal = new Journal(store, { limit: 1 });
    await journal.add(entry('a'));
    await journal.add(entry('b'));
    const { saves } = store;
    assert.equal(await journal.update('never', { verified: true }), false);
    assert.equal(await journal.update('a', { verified: true }), false);
    await journal.clear();
    assert.equal(await journal.update('b', { verified: true }), false);
    assert.equal(store.saves, saves + 1);
    assert.deepEqual(await ids(new Journal(store)), []);
  });

  it('keeps the newest 100 entries, or as many as the limit says, stored ones included', async () => {
    const store = new MemoryStore();
    const journal = new Journal(store);
    await Promise.all(Array.from({ length: 130 }, (_, i) => journal.add(entry(`c${i}`))));
    assert.deepEqual(
      await ids(journal),
      Array.from({ length: 100 }, (_, i) => `c${129 - i}`),
    );
    assert.deepEqual(await ids(new Journal(store, { limit: 3 })), ['c129', 'c128', 'c127']);
  });

  it('keeps the last fifty states of a command', async () => {
    const store = new MemoryStore();
    const journal = new Journal(store);
    const states = Array.from({ length: 60 }, (_, i) => ({ requestStatus: `S${i}`, at: settled.settledAt }));
    await journal.add(entry('a', { states }));
    assert.deepEqual((await journal.list())[0]?.states, states.slice(10));
  });

  it('returns copies, which a flow may change', async () => {
    const journal = new Journal(new MemoryStore());
    const mine = entry('a');
    await journal.add(mine);
    mine.states.push({ requestStatus: 'FORGED', at: '' });
    Object.assign(mine.states[0] ?? {}, { requestStatus: 'FORGED' });
    const [listed] = await journal.list();
    listed?.states.pop();
    Object.assign(listed ?? {}, { outcome: 'succeeded' });
    assert.deepEqual(await journal.list(), [entry('a')]);
  });

  it('replaces an entry with the same id', async () => {
    const journal = new Journal(new MemoryStore());
    await journal.add(entry('a'));
    await journal.add(entry('b'));
    await journal.add(entry('a', { outcome: 'failed' }));
    assert.deepEqual(await journal.list(), [entry('b'), entry('a', { outcome: 'failed' })]);
  });

  it('makes the entry of a record', () => {
    const record: CommandRecord = {
      id: 'a',
      command: 'lock',
      vin: 'YV1CT9551B1570982',
      interface: 'connected-v1',
      sentAt: '2026-06-01T08:00:00.000Z',
      operationId: 'op-1',
      requestStatus: 'RUNNING',
      outcome: 'pending',
      message: 'The command is on its way to the car.',
      async: null,
    };
    assert.deepEqual(journalEntry(record, 'Evening lock', new Date('2026-06-01T08:00:00Z')), entry('a'));
    const done = journalEntry(
      { ...record, requestStatus: 'REJECTED', outcome: 'failed', message: 'The car refused the command.' },
      null,
      new Date('2026-06-01T08:00:09Z'),
    );
    assert.deepEqual(
      [done.reason, done.settledAt, done.outcome],
      ['The car refused the command.', '2026-06-01T08:00:09.000Z', 'failed'],
    );
  });
});

describe('The journal and its store', () => {
  it('is read once, and not before it is needed', async () => {
    const store = new MemoryStore();
    let loads = 0;
    const journal = new Journal({ read: () => (loads++, store.read()), write: (key, data) => store.write(key, data) });
    assert.equal(loads, 0);
    await Promise.all([journal.list(), journal.add(entry('a')), journal.list()]);
    assert.equal(loads, 1);
  });

  it('gets one save at a time; changes meanwhile share the next', async () => {
    const store = new MemoryStore();
    const journal = new Journal(store);
    await journal.list();
    store.hold();
    const first = journal.add(entry('a'));
    await turn();
    assert.equal(store.saves, 1);
    let done = 0;
    const others = Array.from({ length: 50 }, (_, i) => journal.add(entry(`b${i}`)).then(() => done++));
    await turn();
    assert.equal(store.saves, 1);
    store.release();
    await first;
    await turn();
    assert.deepEqual([store.saves, done], [2, 0], 'fulfilled when stored, not before');
    store.release();
    await Promise.all(others);
    assert.equal((await ids(new Journal(storeOf(store.json)))).length, 51);
  });

  it('rejects for each caller when it cannot be written, and gets every change with the next one', async () => {
    const store = new MemoryStore();
    const journal = new Journal(store);
    await journal.add(entry('a'));
    store.failure = new Error('disk full');
    await assert.rejects(journal.add(entry('b')), /disk full/);
    await assert.rejects(journal.update('a', { verified: true }), /disk full/);
    assert.deepEqual(await ids(journal), ['b', 'a']);
    store.failure = null;
    await journal.add(entry('c'));
    assert.deepEqual(await new Journal(store).list(), [entry('c'), entry('b'), entry('a', { verified: true })]);
  });

  it('is not overwritten while it cannot be read; later entries are added afterwards', async () => {
    const store = new MemoryStore({ version: 1, entries: [entry('old'), entry('older')] });
    const journal = new Journal(store);
    store.failure = new Error('not now');
    await assert.rejects(journal.list(), /not now/);
    await assert.rejects(journal.add(entry('new')), /not now/);
    await assert.rejects(journal.update('new', { verified: false }), /not now/);
    assert.equal(store.saves, 0);
    store.failure = null;
    assert.equal(await journal.update('old', { verified: true }), true);
    assert.deepEqual(await new Journal(store).list(), [
      entry('new', { verified: false }),
      entry('old', { verified: true }),
      entry('older'),
    ]);
  });

  it('rejects also when it throws synchronously', async () => {
    const journal = new Journal({
      read: async () => null,
      write: () => {
        throw new Error('at once');
      },
    });
    await assert.rejects(journal.add(entry('a')), /at once/);
  });

  it('is emptied by clear, even while it is still being read', async () => {
    const store = new MemoryStore([entry('old')]);
    store.hold();
    const journal = new Journal(store);
    const listing = journal.list();
    const clearing = journal.clear();
    for (let i = 0; i < 3; i++) {
      await turn();
      store.release();
    }
    await clearing;
    assert.deepEqual(await listing, []);
    assert.deepEqual(await ids(new Journal(storeOf(store.json))), []);
  });

  it('does not bring back what was cleared, even where that could not be stored at first', async () => {
    const store = new MemoryStore([entry('old')]);
    const journal = new Journal(store);
    store.failure = new Error('disk full');
    await assert.rejects(journal.clear(), /disk full/);
    store.failure = null;
    assert.deepEqual(await ids(journal), []);
    await journal.add(entry('new'));
    assert.deepEqual(await ids(new Journal(store)), ['new']);
  });

  const unreadable: unknown[] = ['journal', 42, true, {}, { entries: 'none' }, { entries: { a: entry('a') } }];
  for (const odd of unreadable) {
    it(`that holds ${JSON.stringify(odd)} causes a warning, and the journal starts empty`, async () => {
      const warnings: string[] = [];
      const journal = new Journal(new MemoryStore(odd), { warn: (sentence) => warnings.push(sentence) });
      assert.deepEqual(await journal.list(), []);
      assert.match(warnings.join(), /^The stored command journal cannot be read/);
      await journal.add(entry('a'));
      assert.deepEqual(await ids(journal), ['a']);
    });
  }

  for (const fault of ['damaged', 'newer', 'foreign'] as const) {
    it(`that is ${fault} causes a warning, and the journal starts empty`, async () => {
      const warnings: string[] = [];
      const store = new MemoryStore();
      store.failure = new StateFault(fault, 'journal');
      const journal = new Journal(store, { warn: (sentence) => warnings.push(sentence) });
      assert.deepEqual(await journal.list(), []);
      assert.match(warnings.join(), /^The stored command journal cannot be read/);
      store.failure = null;
      await journal.add(entry('a'));
      assert.deepEqual(await ids(new Journal(store)), ['a']);
    });
  }

  for (const nothing of [undefined, null, { entries: [] }]) {
    it(`that holds ${JSON.stringify(nothing) ?? 'nothing'} is an empty journal, without a warning`, async () => {
      const journal = new Journal(new MemoryStore(nothing), { warn: assert.fail });
      assert.deepEqual(await journal.list(), []);
    });
  }

  it('loses only broken entries, and warns how many', async () => {
    const warnings: string[] = [];
    const broken = [
      null,
      'x',
      {},
      [],
      { ...entry('c'), id: 7 },
      { ...entry('d'), sentAt: 'noon' },
      { ...entry(''), vin: null },
    ];
    const store = new MemoryStore({ version: 9, entries: [entry('b'), ...broken, entry('a')] });
    const journal = new Journal(store, { warn: (sentence) => warnings.push(sentence) });
    assert.deepEqual(await journal.list(), [entry('b'), entry('a')]);
    assert.deepEqual(warnings, ['7 of 9 entries of the stored command journal cannot be read and are left out.']);
  });

  it('loses only the broken parts of an entry', async () => {
    const odd = {
      ...entry('a'),
      interface: 1,
      sentBy: {},
      operationId: undefined,
      states: [
        null,
        { requestStatus: 'RUNNING' },
        { requestStatus: null, at: 'x' },
        { requestStatus: 'COMPLETED', at: 'y', more: 1 },
      ],
      outcome: 'perfect',
      reason: 0,
      verified: 'yes',
      settledAt: false,
    };
    const expected = entry('a', {
      interface: null,
      sentBy: null,
      operationId: null,
      states: [
        { requestStatus: null, at: 'x' },
        { requestStatus: 'COMPLETED', at: 'y' },
      ],
      outcome: 'undetermined',
    });
    assert.deepEqual(await new Journal(new MemoryStore({ entries: [odd] })).list(), [expected]);
    assert.deepEqual(
      (await new Journal(new MemoryStore({ entries: [{ ...odd, states: 'many' }] })).list())[0]?.states,
      [],
    );
  });

  it('always equals a plain list in the end, with overlapping and failing saves (300 random runs)', async () => {
    for (let seed = 1; seed <= 300; seed++) await randomRun(new Random(seed), `seed ${seed}`);
  });
});

/** What a failing store does to a call is shown above; here only what is left in the end counts. */
const ignored = (): void => {};

async function randomRun(random: Random, why: string): Promise<void> {
  let model = [entry('s2'), entry('s1')];
  const store = new MemoryStore({ version: 1, entries: model });
  const limit = random.between(2, 6);
  const journal = new Journal(store, { limit });
  await journal.list();
  model = model.slice(0, limit);
  const calls: Promise<unknown>[] = [];
  for (let i = 0; i < 20; i++) {
    const target = `n${random.between(0, i)}`;
    if (random.chance(0.1)) {
      model = [];
      calls.push(journal.clear().catch(ignored));
    } else if (random.chance(0.5)) {
      model = model.map((one) => (one.id === target ? { ...one, operationId: `op${i}` } : one));
      calls.push(journal.update(target, { operationId: `op${i}` }).catch(ignored));
    } else {
      model = [entry(`n${i}`), ...model].slice(0, limit);
      calls.push(journal.add(entry(`n${i}`)).catch(ignored));
    }
    store.failure = random.chance(0.1) ? new Error('broken') : null;
    if (random.chance(0.3)) await turn();
  }
  await Promise.all(calls);
  store.failure = null;
  await journal.add(entry('last'));
  model = [entry('last'), ...model].slice(0, limit);
  assert.deepEqual(await journal.list(), model, why);
  assert.deepEqual(await new Journal(store, { limit }).list(), model, `${why}, stored`);
}
