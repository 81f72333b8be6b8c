import { strict as assert } from 'node:assert';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  promises,
  readdirSync,
  readlinkSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { FileStateStore } from '../../../src/index';
import { DirectoryInUse, DirectoryOwner, type DirectoryOwnerOptions, type Role } from '../../../src/state/owner';
import { ManualClock } from '../../support/manual-clock';
import { removeFolder } from '../../support/remove-folder';
import { watched } from '../../support/watched';

const child = resolve(__dirname, '../../support/owning-process.js');

describe('The use of a directory', () => {
  let root: string;
  let directory: string;
  const owners: DirectoryOwner[] = [];
  const children: ChildProcess[] = [];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'owner-'));
    directory = join(root, 'connected-vehicle');
  });
  afterEach(async () => {
    for (const owner of owners.splice(0)) await owner.end();
    for (const one of children.splice(0)) await kill(one);
    await removeFolder(root);
  });

  const claim = (options: Partial<DirectoryOwnerOptions> = {}): DirectoryOwner => {
    const owner = new DirectoryOwner({ directory, ...options });
    owners.push(owner);
    return owner;
  };
  const until = async (owner: DirectoryOwner, state: Role): Promise<void> => {
    while (owner.role !== state)
      await new Promise<void>((look) => {
        const stop = owner.onChange(() => {
          stop();
          look();
        });
      });
  };
  const owned = async (options: Partial<DirectoryOwnerOptions> = {}): Promise<DirectoryOwner> => {
    const owner = claim(options);
    await owner.ready();
    return owner;
  };
  /** The server of an owner, and all connections that it has had. */
  const listening = (): { listen: (path: string) => Promise<Server>; server: Server; connections: Socket[] } => {
    const connections: Socket[] = [];
    const server = createServer((connection) => connections.push(connection));
    const listen = async (path: string): Promise<Server> => {
      await once(server.listen(path), 'listening');
      return server;
    };
    return { listen, server, connections };
  };
  const turns = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn += 1) await new Promise((wake) => setImmediate(wake));
  };
  /** A process that uses the directory. */
  const start = async (): Promise<ChildProcess> => {
    const one = fork(child, [directory], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    children.push(one);
    assert.deepEqual((await once(one, 'message'))[0], 'active');
    return one;
  };
  const kill = async (one: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    if (one.exitCode !== null || one.signalCode !== null) return;
    const exit = once(one, 'exit');
    one.kill(signal);
    await exit;
  };
  const files = (): string[] => readdirSync(join(directory, 'state')).sort();
  const markOf = (number: number): string => join(directory, 'state', `owner-${number}`);
  const leave = (number: number | string, text: string): void => {
    mkdirSync(join(directory, 'state'), { recursive: true });
    writeFileSync(join(directory, 'state', `owner-${number}`), text);
  };
  const socketless = (): Promise<never> =>
    Promise.reject(Object.assign(new Error('EOPNOTSUPP'), { code: 'EOPNOTSUPP' }));

  it('is that of the first process, and of the next one within a second after it was killed', async () => {
    const first = await start();
    // No time passes: it learns the end of the other process from the system.
    const second = claim({ clock: new ManualClock() });
    await until(second, 'standby');
    await assert.rejects(second.ready(), /uses the folder .* until the other one has ended/);
    await assert.rejects(second.confirm(), DirectoryInUse);
    await kill(first);
    await until(second, 'active');
    await second.ready();
    await second.confirm();
  });

  it('is free at once for a process that starts after one that was killed, whatever host and number it had', async () => {
    await kill(await start());
    await owned({ clock: new ManualClock() });
  });

  it('stays that of a process that is stopped', async function () {
    if (process.platform === 'win32') this.skip();
    const first = await start();
    first.kill('SIGSTOP');
    const second = claim();
    await until(second, 'standby');
    const third = claim();
    await until(third, 'standby');
    first.kill('SIGCONT');
    await kill(first);
    await Promise.race([until(second, 'active'), until(third, 'active')]);
    assert.deepEqual([second.role, third.role].sort(), ['active', 'standby']);
  });

  it('is not taken twice by a process that was stopped while it took the directory', async () => {
    const rest = new Map<string, () => void>();
    const late = claim({ isLocal: () => new Promise((resolve) => rest.set('late', () => resolve(true))) });
    while (!rest.has('late')) await new Promise((wake) => setImmediate(wake));
    for (let count = 0; count < 3; count += 1) await (await owned()).end();
    const last = await owned();
    rest.get('late')?.();
    await until(late, 'standby');
    await last.confirm();
    assert.equal(last.role, 'active');
    assert.match(files().join(), /^owner-4,owner-4\.[0-9a-f]{12}$/);
  });

  it('is lost to the processes that took over after a person has removed its socket', async () => {
    const first = await owned();
    await first.confirm();
    for (const name of files()) if (name.startsWith('owner-1.')) rmSync(join(directory, 'state', name));
    const second = await owned();
    const third = claim();
    await second.end();
    await until(third, 'active');
    assert.match(files().join(), /^owner-3,owner-3\.[0-9a-f]{12}$/);
    await assert.rejects(first.confirm(), DirectoryInUse);
    assert.equal(first.role, 'lost');
    await third.confirm();
  });

  it('is lost to a process that began at the same number after a person had emptied the folder', async () => {
    const first = await owned();
    const store = new FileStateStore({ directory, owner: first });
    await store.write('guard/a', 1);
    rmSync(join(directory, 'state'), { recursive: true });
    const second = await owned();
    const mark = readFileSync(markOf(1), 'utf8');
    await assert.rejects(store.write('guard/a', 2), DirectoryInUse);
    assert.deepEqual([first.role, second.role], ['lost', 'active']);
    await second.confirm();
    assert.equal(readFileSync(markOf(1), 'utf8'), mark);
  });

  it('ends without a change of the file of a process that began at the same number', async () => {
    const first = await owned();
    rmSync(join(directory, 'state'), { recursive: true });
    const second = await owned();
    await first.end();
    await second.confirm();
    assert.equal(second.role, 'active');
    const third = claim();
    await until(third, 'standby');
  });

  it('stays that of a process whose folder a person has emptied or restored', async () => {
    const owner = await owned();
    await owner.confirm();
    cpSync(join(directory, 'state'), join(root, 'backup'), {
      recursive: true,
      filter: (name) => !name.includes('owner-1.'),
    });
    rmSync(join(directory, 'state'), { recursive: true });
    mkdirSync(join(directory, 'state'));
    await Promise.all([owner.confirm(), owner.confirm()]);
    await owner.confirm();
    rmSync(join(directory, 'state'), { recursive: true });
    cpSync(join(root, 'backup'), join(directory, 'state'), { recursive: true });
    await owner.confirm();
    assert.equal(owner.role, 'active');
  });

  it('is lost also if a file of a former owner could not be removed', async () => {
    const first = await owned();
    await first.confirm();
    for (const name of files()) if (name.startsWith('owner-1.')) rmSync(join(directory, 'state', name));
    const { unlink } = promises;
    // A virus scanner holds it open.
    promises.unlink = (path) =>
      String(path).endsWith('owner-1')
        ? Promise.reject(Object.assign(new Error('EBUSY'), { code: 'EBUSY' }))
        : unlink(path);
    try {
      await (await owned()).end();
      const third = await owned();
      await assert.rejects(first.confirm(), DirectoryInUse);
      await third.confirm();
    } finally {
      promises.unlink = unlink;
    }
  });

  it('waits for the end of another process with one connection, and closes it with its own end', async () => {
    const { connections, ...options } = listening();
    await owned(options);
    const second = claim({ clock: new ManualClock() });
    await until(second, 'standby');
    await turns(100);
    assert.equal(connections.length, 1);
    const closed = once(connections[0] ?? assert.fail(), 'close');
    await second.end();
    await closed;
    assert.equal(second.role, 'lost');
  });

  it('passes on at once if a process on a network file system was seen on this machine', async () => {
    const isLocal = (): Promise<boolean> => Promise.resolve(false);
    const { connections, ...options } = listening();
    await owned({ ...options, isLocal, clock: new ManualClock() });
    const second = claim({ isLocal, clock: new ManualClock() });
    await until(second, 'standby');
    // As it is killed: it writes nothing.
    options.server.close();
    while (connections.length < 1) await turns(1);
    for (const connection of connections) connection.destroy();
    await until(second, 'active');
  });

  it('needs a folder that only its user can read, and a file that says nothing of the process', async () => {
    await owned();
    assert.equal(statSync(join(directory, 'state')).mode & 0o777, 0o700);
    assert.equal(statSync(markOf(1)).mode & 0o777, 0o600);
    assert.deepEqual(Object.keys(JSON.parse(readFileSync(markOf(1), 'utf8')) as object), ['socket', 'beats']);
  });

  it('works in a folder whose path is too long for a socket', async () => {
    directory = join(root, ...Array.from({ length: 4 }, () => 'a-folder-with-a-long-name-'.repeat(4)), 'ü');
    const first = await start();
    assert.ok(files().some((name) => /^owner-1\.[0-9a-f]{12}$/.test(name)));
    const second = claim();
    await until(second, 'standby');
    await kill(first);
    await until(second, 'active');
    // Linux names the files that a process has open.
    const open = existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd') : [];
    assert.ok(
      !open.some((fd) => existsSync(`/proc/self/fd/${fd}`) && readlinkSync(`/proc/self/fd/${fd}`).startsWith(root)),
    );
    await second.end();
    assert.deepEqual(files(), ['owner-2']);
  });

  it('is nobody’s if the file of the last process cannot be read', async () => {
    mkdirSync(markOf(3), { recursive: true });
    const owner = await owned({ clock: new ManualClock() });
    await owner.confirm();
    assert.deepEqual(files(), ['owner-3']);
  });

  for (const text of ['nonsense', '{"socket":"../../socket","beats":false}', '{"socket":null}'])
    it(`is free after 20 seconds if the file of the last process holds ${text}`, async () => {
      leave(3, text);
      const clock = new ManualClock();
      const owner = claim({ clock });
      const since = clock.now();
      await clock.advanceUntil(() => owner.role === 'active');
      assert.ok(clock.now() - since >= 20_000 && clock.now() - since < 25_000, `${clock.now() - since}`);
    });

  it('passes on at the end of a process that does not end it, and leaves nothing in one that does', async () => {
    const before = process.listeners('exit');
    const first = await owned();
    const added = process.listeners('exit').filter((one) => !before.includes(one));
    assert.equal(added.length, 1);
    added[0]?.(0);
    assert.equal(readFileSync(markOf(1), 'utf8'), 'ended');
    assert.deepEqual(files(), ['owner-1']);
    await first.end();
    assert.deepEqual(process.listeners('exit'), before);
  });

  describe('after a process that was killed before it wrote its file', () => {
    it('begins after two seconds', async () => {
      leave(7, '');
      const clock = new ManualClock();
      const owner = claim({ clock });
      const since = clock.now();
      const ready = watched(owner.ready());
      await clock.advanceUntil(() => ready.done, 100);
      assert.equal(ready.error, null);
      assert.ok(clock.now() - since >= 2_000 && clock.now() - since < 5_000);
      assert.ok(existsSync(markOf(8)));
    });
  });

  for (const [where, options] of [
    ['on a network file system', { isLocal: () => Promise.resolve(false) }],
    ['if no socket can be created', { listen: socketless }],
  ] as const)
    describe(where, () => {
      /**
       * As a process on another machine: its socket is in the folder, and no process here listens
       * to it. It has its own clock.
       */
      const foreign = async (): Promise<{ first: DirectoryOwner; time: ManualClock }> => {
        const time = new ManualClock();
        const first = await owned({ ...options, clock: time });
        for (const name of files()) if (name.includes('.')) rmSync(join(directory, 'state', name));
        return { first, time };
      };

      it('shows that it lives by the time of its file, and is followed 20 seconds after the last one', async () => {
        const { first, time } = await foreign();
        const clock = new ManualClock();
        const second = claim({ ...options, clock });
        const both = (ms: number): Promise<unknown> => Promise.all([time.advance(ms), clock.advanceInSteps(ms)]);
        while (second.role === 'deciding') await both(500);
        for (let passed = 0; passed < 60_000; passed += 500) await both(500);
        assert.deepEqual([first.role, second.role], ['active', 'standby']);
        // The machine of the first one loses its power.
        const since = clock.now();
        await clock.advanceUntil(() => second.role === 'active');
        assert.ok(clock.now() - since >= 15_000 && clock.now() - since < 45_000, `${clock.now() - since}`);
      });

      it('is lost to a process that took over while this one was stopped, and writes nothing after that', async () => {
        const { first } = await foreign();
        const store = new FileStateStore({ directory, owner: first });
        await store.write('guard/a', 1);
        const mark = JSON.stringify({ socket: null, beats: true });
        leave(2, mark);
        await assert.rejects(store.write('guard/a', 2), DirectoryInUse);
        await assert.rejects(store.remove('guard/a'), DirectoryInUse);
        await assert.rejects(store.read('guard/a'), DirectoryInUse);
        assert.equal(first.role, 'lost');
        // The new owner removes what this one left.
        rmSync(markOf(1));
        await first.end();
        assert.equal(readFileSync(markOf(2), 'utf8'), mark);
        assert.ok(!existsSync(markOf(1)));
        assert.equal((await new FileStateStore({ directory }).read('guard/a'))?.value, 1);
      });
    });

  it('is nobody’s if the folder cannot be written, and everything else continues', async () => {
    writeFileSync(directory, 'a file in the way');
    const clock = new ManualClock();
    const owner = await owned({ clock });
    await owner.confirm();
    rmSync(directory);
    mkdirSync(join(directory, 'state'), { recursive: true });
    await owner.confirm();
    assert.deepEqual(files(), [], 'it writes no file of an owner before it has a number');
    await clock.advanceUntil(() => existsSync(markOf(1)));
    const second = claim();
    await until(second, 'standby');
  });

  it('writes nothing after its end, although a person has emptied the folder', async () => {
    const owner = await owned();
    await owner.end();
    rmSync(markOf(1));
    await assert.rejects(owner.confirm(), DirectoryInUse);
    assert.deepEqual(files(), []);
  });
});
