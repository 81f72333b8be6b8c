import { strict as assert } from 'node:assert';
import * as diskFiles from 'node:fs/promises';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import {
  DirectoryOwner,
  FileStateStore,
  MemoryStateStore,
  Seal,
  SealedStateStore,
  type StateStore,
} from '../../src/index';
import { durableFiles, type StateFiles } from '../../src/state/file-state-store';
import { DirectoryInUse } from '../../src/state/owner';
import { tried } from '../support/property';
import { removeFolder } from '../support/remove-folder';

/** What a client asks of a store; `version` chooses the one that a conditional change names. */
interface Step {
  kind: 'read' | 'write' | 'remove' | 'entries';
  key: 'grant/a' | 'grant/b';
  version: 'any' | 'none' | 'last' | 'first';
}

/**
 * A step with its times, in the order of what happened, and its result; one that a
 * crash cut off has no end.
 */
interface Done {
  step: Step;
  value: number;
  expected: string | null | undefined;
  begun: number;
  ended: number;
  result: unknown;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('read', 'write', 'write', 'write', 'remove', 'entries'),
  key: fc.constantFrom('grant/a', 'grant/a', 'grant/b'),
  version: fc.constantFrom('any', 'none', 'last', 'last', 'first'),
});

/** Several clients at once, each one step after the other. */
const clients = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 3 });

class History {
  readonly done: Done[] = [];
  #time = 0;
  #values = 0;

  /** The steps of one client. @param cut fulfilled when the process ends */
  async run(store: StateStore, steps: readonly Step[]): Promise<void> {
    const seen: string[] = [];
    for (const one of steps) {
      const { version } = one;
      const expected =
        version === 'any'
          ? undefined
          : version === 'none'
            ? null
            : ((version === 'last' ? seen.at(-1) : seen[0]) ?? null);
      const entry: Done = {
        step: one,
        value: (this.#values += 1),
        expected,
        begun: (this.#time += 1),
        ended: Infinity,
        result: undefined,
      };
      this.done.push(entry);
      entry.result = await this.#ask(store, entry);
      entry.ended = this.#time += 1;
      const told = (Array.isArray(entry.result) ? entry.result : [entry.result]) as unknown[];
      for (const result of told)
        if (typeof result === 'string') seen.push(result);
        else if (typeof result === 'object' && result !== null && 'version' in result)
          seen.push(String(result.version));
    }
  }

  #ask(store: StateStore, { step: { kind, key }, value, expected }: Done): Promise<unknown> {
    const condition = expected === undefined ? {} : { expected };
    if (kind === 'read') return store.read(key);
    if (kind === 'write') return store.write(key, value, condition);
    return kind === 'remove' ? store.remove(key, condition) : store.entries('grant/');
  }

  /**
   * Whether there is an order of the steps, each at one moment between its begin and its end, in
   * which a store without concurrency gives these results.
   */
  get isLinearizable(): boolean {
    const seenStates = new Set<string>();
    const search = (left: readonly Done[], held: Held): boolean => {
      if (left.every(({ ended }) => ended === Infinity)) return true;
      const state = JSON.stringify([left.map(({ value }) => value), [...held]]);
      if (seenStates.has(state)) return false;
      seenStates.add(state);
      const firstEnd = Math.min(...left.map(({ ended }) => ended));
      return left.some((entry) => {
        if (entry.begun > firstEnd) return false;
        const next = apply(entry, held);
        const rest = left.filter((other) => other !== entry);
        return next !== null && search(rest, next);
      });
    };
    return search(this.done, new Map());
  }
}

/** What a store holds. */
type Held = ReadonlyMap<string, { value: number; version: string }>;

/**
 * Entries in one order: writes at the same time have none, and the contract of the
 * store checks the others.
 */
const inOrder = (entries: unknown): string =>
  JSON.stringify([...(entries as { key: string }[])].sort((one, other) => one.key.localeCompare(other.key)));

/** The store after a step; null if it would have returned another result. */
function apply({ step: { kind, key }, value, expected, ended, result }: Done, held: Held): Held | null {
  const present = held.get(key);
  const holds = expected === undefined || expected === (present?.version ?? null);
  const isCut = ended === Infinity;
  const next = new Map(held);
  const same = (answer: unknown): boolean => JSON.stringify(answer) === JSON.stringify(result);
  switch (kind) {
    case 'read':
      return isCut || same(present ? { value: present.value, version: present.version } : null) ? held : null;
    case 'entries': {
      const found = [...held].map(([name, entry]) => ({ key: name, value: entry.value, version: entry.version }));
      return isCut || inOrder(result) === inOrder(found) ? held : null;
    }
    case 'remove':
      next.delete(key);
      if (isCut) return holds ? next : held;
      return result === holds ? (holds ? next : held) : null;
    case 'write': {
      if (!holds) return isCut || result === null ? held : null;
      if (!isCut && typeof result !== 'string') return null;
      next.delete(key);
      // The version of a write that was cut off shows when somebody reads the value.
      next.set(key, { value, version: isCut ? `cut ${value}` : String(result) });
      return next;
    }
  }
}

/** Every step of the file system waits for its turn, which the scheduler gives in any order. */
function filesOf(scheduler: fc.Scheduler): StateFiles {
  const inTurn = <Arguments extends unknown[], Result>(work: (...given: Arguments) => Promise<Result>) => {
    const turn = scheduler.scheduleFunction(async (...given: Arguments): Promise<() => Promise<Result>> =>
      Promise.resolve(() => work(...given)),
    );
    return async (...given: Arguments): Promise<Result> => (await turn(...given))();
  };
  const { mkdir, readFile, readdir, rename, unlink } = diskFiles;
  const { writeFile, open, fsync } = durableFiles;
  return Object.assign(
    { ...diskFiles, ...durableFiles },
    Object.fromEntries(
      Object.entries({ mkdir, readFile, readdir, rename, unlink, writeFile, open, fsync }).map(([name, work]) => [
        name,
        inTurn(work as () => Promise<unknown>),
      ]),
    ),
  );
}

describe('A store that several clients use at once', function () {
  this.timeout(0);
  let root: string;
  let count = 0;
  const seal = new Seal('secret');

  before(() => void (root = mkdtempSync(join(tmpdir(), 'properties-'))));
  after(() => removeFolder(root));
  const newDirectory = (): string => join(root, String((count += 1)));

  const stores: [name: string, runs: number, make: (scheduler: fc.Scheduler) => StateStore][] = [
    ['in memory', 300, () => new MemoryStateStore()],
    ['on files', 100, (scheduler) => new FileStateStore({ directory: newDirectory(), files: filesOf(scheduler) })],
    [
      'on files, encrypted,',
      50,
      (scheduler) =>
        new SealedStateStore({
          store: new FileStateStore({ directory: newDirectory(), files: filesOf(scheduler) }),
          seals: () => [seal],
        }),
    ],
  ];
  for (const [name, runs, make] of stores)
    it(`${name} answers as one that does a step after the other`, () =>
      fc.assert(
        fc.asyncProperty(fc.scheduler(), clients, async (scheduler, all) => {
          const store = make(scheduler);
          const history = new History();
          const work = all.map(async (steps) => history.run(store, steps));
          await scheduler.waitFor(Promise.all(work));
          assert.ok(history.isLinearizable, JSON.stringify(history.done, null, 1));
          const versions = history.done.flatMap(({ step: { kind }, result }) =>
            kind === 'write' && result !== null ? [result] : [],
          );
          assert.equal(new Set(versions).size, versions.length, 'a version was given twice');
        }),
        tried(runs),
      ));
});

describe('A directory that several processes want', function () {
  this.timeout(0);

  /** `at` chooses among the processes that there are. */
  const action = fc.record({
    kind: fc.constantFrom('begin', 'begin', 'end', 'count', 'count', 'turn'),
    at: fc.nat(20),
  });

  it('has one owner at a time, the next one after its end, and loses nothing that an owner wrote', () =>
    fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 24 }), async (actions) => {
        const directory = mkdtempSync(join(tmpdir(), 'owners-'));
        const processes: { owner: DirectoryOwner; store: StateStore; work: Promise<unknown>; hasEnded: boolean }[] = [];
        const ours = (): number => processes.filter(({ owner }) => owner.role === 'active').length;
        let most = 0;
        let counted = 0;
        const begin = (): void => {
          const owner = new DirectoryOwner({ directory });
          owner.onChange(() => (most = Math.max(most, ours())));
          processes.push({
            owner,
            store: new FileStateStore({ directory, owner }),
            work: Promise.resolve(),
            hasEnded: false,
          });
        };
        /** One more, if this process may. */
        const count = async (store: StateStore): Promise<void> => {
          try {
            const stored = await store.read('grant/count');
            const written = await store.write('grant/count', Number(stored?.value ?? 0) + 1, {
              expected: stored?.version ?? null,
            });
            if (written !== null) counted += 1;
          } catch (error) {
            assert.ok(error instanceof DirectoryInUse, String(error));
          }
        };
        const end = async (one: (typeof processes)[number]): Promise<void> => {
          one.hasEnded = true;
          // A process ends when its writes have.
          await one.work;
          await one.owner.end();
        };
        const ends: Promise<void>[] = [];
        try {
          for (const { kind, at } of actions) {
            const chosen = processes.filter(({ hasEnded }) => !hasEnded)[at % Math.max(1, processes.length)];
            if (kind === 'begin') begin();
            else if (kind === 'turn') await new Promise((resolve) => setImmediate(resolve));
            else if (chosen !== undefined && kind === 'end') ends.push(end(chosen));
            else if (chosen !== undefined) chosen.work = Promise.all([chosen.work, count(chosen.store)]);
          }
          begin();
          await Promise.all(ends);
          while (ours() === 0)
            await new Promise<void>((resolve) => processes.forEach(({ owner }) => owner.onChange(resolve)));
          const owner = processes.find(({ owner: { role } }) => role === 'active') ?? assert.fail();
          await owner.work;
          const before = counted;
          await count(owner.store);
          assert.equal(counted, before + 1);
          assert.equal((await owner.store.read('grant/count'))?.value, counted);
          assert.equal(most, 1);
        } finally {
          await Promise.all(processes.map(end));
          await removeFolder(directory);
        }
      }),
      tried(25),
    ));
});
