import { strict as assert } from 'node:assert';
import { EventEmitter } from 'node:events';
import * as fc from 'fast-check';
import { Deploys, sendOnce, useClock } from '../../nodes/runtime';
import { maxTries, Outbox } from '../../src/state/outbox';
import { ManualClock } from '../support/manual-clock';
import { tried } from '../support/property';

/**
 * `race`: a deploy begins when the next message was just sent. `pause`: the process stands still
 * until another one has taken over what it left, and continues then.
 */
const happenings = ['message', 'deploy', 'race', 'deployed', 'close', 'kill', 'pause', 'away', 'back', 'time'] as const;
type Happening = (typeof happenings)[number];

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A Node-RED, a store with one record, and the flow behind the node. */
class World {
  readonly clock = new ManualClock('2026-06-01T08:00:00Z');
  readonly events = new EventEmitter();
  // It uses the events of Node-RED only.
  readonly deploys = new Deploys({ events: this.events } as never);
  readonly status = { show: () => undefined, clear: () => undefined };
  readonly ended = new Set(['']);
  readonly received: string[] = [];
  /** Sent by a process after another one had taken them over. */
  readonly stolen: string[] = [];
  outbox = new Outbox<string>();
  isAway = false;
  isRace = false;
  #begun = 0;
  #isOver = false;

  /**
   * Node-RED gives a message to the next node later; a node that a deploy replaces
   * meanwhile does not get it.
   */
  pass(message: string): void {
    const begun = this.#begun;
    setImmediate(() => begun === this.#begun && this.#isOver && this.received.push(message));
    if (this.isRace) process.nextTick(() => this.deploy(false));
    this.isRace = false;
  }

  deploy(isOver: boolean): void {
    if (!isOver && this.#isOver) this.#begun += 1;
    if (isOver !== this.#isOver) this.events.emit(isOver ? 'flows:started' : 'flows:stopping');
    this.#isOver = isOver;
  }
}

/** A process with one node, whose messages stand in the record until they were sent. */
class Process {
  static count = 0;
  readonly #id = `process ${(Process.count += 1)}`;
  readonly #closing = new AbortController();
  readonly #sending = new Set<Promise<unknown>>();
  isKilled = false;
  constructor(readonly world: World) {}

  get #isSure(): boolean {
    return !this.world.ended.has(this.#id);
  }

  /** A call to the store; one of a process that was killed is never answered. */
  async #change<T>(change: () => T): Promise<T> {
    await turn();
    if (this.isKilled) return new Promise<never>(() => undefined);
    return change();
  }

  begin(): void {
    const { world } = this;
    world.outbox = world.outbox.takenOver(this.#id, world.ended);
    for (const message of world.outbox.messagesOf(this.#id)) this.#deliver(message);
  }

  add(message: string): void {
    this.world.outbox = this.world.outbox.with([message], this.#id);
    this.#deliver(message);
  }

  #deliver(message: string): void {
    const { world } = this;
    const unsent = {
      claim: () =>
        this.#change(() => {
          if (world.isAway) throw new Error('away');
          return this.#isSure && world.outbox.messagesOf(this.#id).includes(message);
        }),
      mayBeSent: () => this.#isSure,
      send: () => {
        if (this.isKilled) return;
        if (!this.#isSure) world.stolen.push(message);
        world.pass(message);
      },
      markSent: () =>
        this.#change(() => void (world.outbox = world.outbox.without(new Set([JSON.stringify(message)])))),
    };
    this.#sending.add(sendOnce(world, unsent, this.#closing.signal));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#sending);
    this.world.outbox = this.world.outbox.released(this.#id);
  }

  end(): void {
    this.world.ended.add(this.#id);
  }
}

async function run(history: readonly Happening[]) {
  const world = new World();
  useClock(world.clock);
  let messages = 0;
  let current = new Process(world);
  const next = (): void => {
    current = new Process(world);
    current.begin();
  };
  const doing: Record<Happening, () => void | Promise<void>> = {
    message: () => current.add(`${(messages += 1)}`),
    deploy: () => world.deploy(false),
    race: () => void (world.isRace = true),
    deployed: () => world.deploy(true),
    close: () => current.close().then(next),
    kill: () => {
      current.isKilled = true;
      current.end();
      next();
    },
    pause: () => {
      current.end();
      next();
    },
    away: () => void (world.isAway = true),
    back: () => void (world.isAway = false),
    // A deploy of 30 seconds is over, whatever Node-RED reports.
    time: () => {
      world.deploy(true);
      return world.clock.advance(5_000);
    },
  };
  try {
    for (const happening of [...history, 'back', 'deployed', 'time', 'time'] as const) {
      await doing[happening]();
      for (let turns = 0; turns < 3; turns += 1) await turn();
    }
    for (let turns = 0; turns < 20; turns += 1) await turn();
    await current.close();
  } finally {
    world.deploys.end();
    useClock(undefined);
  }
  const stored = Array.from({ length: messages }, (_, index) => `${index + 1}`);
  return { stored, received: world.received, stolen: world.stolen, left: world.outbox.entries };
}

const histories = (chosen: readonly Happening[]) => fc.array(fc.constantFrom(...chosen), { maxLength: 20 });

describe('A message that is stored until it was sent', () => {
  it('reaches the flow once, whatever deploys, ends of the node and absences of the store do', () =>
    fc.assert(
      fc.asyncProperty(histories(happenings.filter((one) => one !== 'kill' && one !== 'pause')), async (history) => {
        const { stored, received, left } = await run(history);
        assert.deepEqual([received.toSorted(), left], [stored.toSorted(), []]);
      }),
      tried(100),
    ));

  it('reaches the flow after crashes and pauses, again at most after each', () =>
    fc.assert(
      fc.asyncProperty(histories(happenings), async (history) => {
        const crashes = history.filter((one) => one === 'kill' || one === 'pause').length;
        const { stored, received, stolen, left } = await run(history);
        assert.deepEqual([stolen, left], [[], []]);
        for (const message of stored) {
          const times = received.filter((one) => one === message).length;
          assert.ok(times <= 1 + crashes, `${message} came ${times} times`);
          assert.ok(times >= 1 || crashes >= maxTries, `${message} did not come`);
        }
      }),
      tried(100),
    ));
});
