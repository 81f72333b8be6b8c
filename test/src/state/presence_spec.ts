import { strict as assert } from 'node:assert';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectoryOwner, FilePresence, FileStateStore, LocalPresence } from '../../../src/index';
import { ManualClock } from '../../support/manual-clock';
import { removeFolder } from '../../support/remove-folder';

describe('the presence of a process alone', () => {
  it('may act, and takes over from each former run', async () => {
    const [before, presence] = [new LocalPresence(), new LocalPresence()];
    assert.deepEqual([presence.role, presence.isStill(presence.id), presence.fault], ['active', true, null]);
    assert.deepEqual(await Promise.all([before.id, '', presence.id].map((id) => presence.hasEnded(id))), [
      true,
      true,
      false,
    ]);
    assert.deepEqual([presence.isStill(presence.id), presence.isStill(before.id)], [true, false]);
  });

  it('leads at once, and does not wait for a store', async () => {
    const presence = new LocalPresence();
    const led: boolean[] = [];
    presence.onLeading((isLeading) => led.push(isLeading));
    assert.deepEqual([led, presence.isLeading, await presence.settled()], [[true], true, false]);
  });

  it('continues if a change of the store fails', async () => {
    await new LocalPresence().eventually(() => Promise.reject(new Error('no space')));
  });
});

describe('the presence of a process on a directory', () => {
  it('may act while it owns the directory, and says why it may not', async () => {
    const base = mkdtempSync(join(tmpdir(), 'presence-'));
    const directory = join(base, 'connected-vehicle');
    const clock = new ManualClock();
    const owner = new DirectoryOwner({ directory });
    const presence = new FilePresence(owner, new FileStateStore({ directory, owner }), clock);
    assert.deepEqual([presence.role, presence.isStill(presence.id), presence.fault], ['deciding', false, null]);
    await owner.ready();
    assert.deepEqual([presence.role, presence.isStill(presence.id), presence.fault], ['active', true, null]);
    assert.equal(presence.now(), clock.now());
    const next = new DirectoryOwner({ directory });
    const waiting = new FilePresence(next, new FileStateStore({ directory, owner: next }));
    const becomes = async (role: string): Promise<void> => {
      while (waiting.role !== role) await new Promise<void>((resolve) => void waiting.onChange(resolve));
    };
    await becomes('standby');
    assert.equal(waiting.isStill(waiting.id), false);
    assert.match(waiting.fault?.message ?? '', /Another Node-RED uses the folder/);
    await owner.end();
    assert.deepEqual([presence.role, presence.isStill(presence.id)], ['lost', false]);
    assert.match(presence.fault?.message ?? '', /has taken over the folder/);
    await becomes('active');
    assert.deepEqual([waiting.isStill(waiting.id), waiting.fault], [true, null]);
    await next.end();
    await removeFolder(base);
  });
});
