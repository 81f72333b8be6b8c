import type { Node, NodeMessage } from 'node-red';
import {
  VehicleError,
  type Account,
  type CarRunnerOptions,
  type DuePoll,
  type Pack,
  type Signal,
} from '../../src/index';
import { editorsOf } from './editors';
import { sendOnce } from './send-once';
import { throwIfInUse } from './storage';
import type { FlowNode } from './flow-node';
import type { Message } from './message';
import { SelfMessages } from './self-messages';
import { clock } from './time';
import { typedProperty, type Typed } from './typed-property';

/** The runner of a node and its polling, from the first message until the node closes. */
interface OpenedCar<Read, Event> {
  vin: string;
  runner: {
    readonly key: string;
    poll(reads: readonly Read[], signal: Signal): unknown;
    mayBeSent(events: readonly Event[]): boolean;
    markSent(events: readonly Event[]): Promise<void>;
    release(events: readonly Event[]): void;
    standBy(): void;
    end(hasWorked?: boolean): Promise<void>;
  };
  /** @returns ends the polling */
  beginPolling(this: void): () => void;
}

/**
 * The content of a message that a node sends to itself: what to read. `due` is set if the
 * poller asked for it.
 */
interface OwnPoll<Read> {
  reads: readonly Read[];
  due?: DuePoll;
}

/** Everything that a node needs to open its runner. */
export interface RunnerContext<Read> {
  /** Store, clock and callbacks of the runner. */
  options: Omit<CarRunnerOptions, 'client' | 'vin'>;
  /** Aborted when the node closes. */
  signal: Signal;
  /** Makes the node send a message to itself. */
  wake(this: void, reads: readonly Read[], due?: DuePoll): void;
}

/** The least time between two samples. */
const testPauseMs = 1_000;

/** A node of which a dialog can send a sample. */
export interface TestableNode extends Node {
  /**
   * @param event the name of an event; a guard ignores it
   * @returns the sentence that was sent
   * @throws VehicleError
   */
  sendTest(event: unknown): Promise<string>;
}

/** The payload of a sample, whose sentence begins with “Test:”. */
export const testPayload = <Payload extends { text: string }>(
  { words }: FlowNode,
  payload: Payload,
): Payload & { test: true } => ({ ...payload, text: words.say('test', { text: payload.text }), test: true });

/** The message of a test. */
interface Sample extends NodeMessage {
  topic: string;
  payload: { text: string };
}

/**
 * A node with a runner, which polls by messages to itself. The first such message has no reads: its
 * step returns the events that were stored before a restart. Opening is tried again until it
 * succeeds, and such a message reports each new reason. A dialog can let the node send a sample. It
 * begins when it is made.
 */
export class CarNode<Read, Event, Opened> {
  readonly #own: FlowNode;
  /** As at the start: when the node closes, its vehicle may be gone. */
  readonly #pack: Pack;
  readonly #collection: 'event' | 'guard';
  readonly #open: (context: RunnerContext<Read>) => Promise<Opened & OpenedCar<Read, Event>>;
  readonly #polls: SelfMessages<OwnPoll<Read>>;
  #opened: Promise<Opened & OpenedCar<Read, Event>> | undefined;
  #testedAt = -Infinity;
  /** Whether this process polls and decides for the node, or did until the node closed. */
  #isWorking = false;

  /**
   * @param collection of the node's stored state, which is removed with the node
   * @param sampleOf the message of a test, for the first output
   */
  constructor(
    own: FlowNode,
    collection: 'event' | 'guard',
    open: (context: RunnerContext<Read>) => Promise<Opened & OpenedCar<Read, Event>>,
    sampleOf: (opened: Opened, event: unknown) => Sample,
  ) {
    this.#own = own;
    this.#pack = own.pack;
    this.#collection = collection;
    this.#open = open;
    this.#polls = new SelfMessages(own);
    // Adds `sendTest` to the node of Node-RED, for the route of the dialog.
    (own.node as TestableNode).sendTest = (event) => this.#sendTest((opened) => sampleOf(opened, event));
    own.showObstacle(false);
    own.beginWithRetries(
      async () => void (await this.running()),
      () => this.#wake([]),
    );
    own.onClose((isDeleted) => this.#end(isDeleted));
  }

  /** Resolves with the result of `open`, and calls it again after a failure. */
  running(): Promise<Opened & OpenedCar<Read, Event>> {
    this.#opened ??= this.#open(this.#context()).then(
      (found) => {
        this.#own.runInOneProcess(() => this.#work(found));
        return found;
      },
      (error: unknown) => {
        this.#opened = undefined;
        throw error;
      },
    );
    return this.#opened;
  }

  /** Undefined for a message that came from a flow. */
  ownPoll(msg: Message): OwnPoll<Read> | undefined {
    return this.#polls.contentOf(msg);
  }

  /**
   * Sends stored events when no deploy is in progress, then marks them as sent, and keeps
   * them for the tab “Cars”.
   * @param sendEvent returns its sentence without the name of the car
   */
  async deliver(events: readonly Event[], sendEvent: (event: Event) => string, signal: Signal): Promise<void> {
    if (events.length === 0) return;
    const own = this.#own;
    const { vin, runner } = await this.running();
    let texts: string[] = [];
    const message = {
      // After a pause, another process may have taken them over. The next step returns them again
      // if none has.
      claim: async () => {
        await this.#pack.presence.renew().catch(() => undefined);
        return runner.mayBeSent(events);
      },
      mayBeSent: () => runner.mayBeSent(events),
      send: () => void (texts = events.map(sendEvent)),
      markSent: () => runner.markSent(events),
    };
    if ((await sendOnce(own, message, signal)) !== 'sent') {
      runner.release(events);
      if (!signal.aborted) this.#wake([]);
      return;
    }
    const at = new Date(clock().now()).toISOString();
    const sent = texts.map((text) => ({ at, text }));
    await own.pack.facts.addEvents(vin, sent);
    editorsOf(own.RED).notify();
  }

  /** Sends a sample. @throws VehicleError */
  async #sendTest(sampleOf: (opened: Opened) => Sample): Promise<string> {
    const { RED, node, deploys, closing } = this.#own;
    throwIfInUse(RED);
    const now = clock().monotonic();
    if (now < this.#testedAt + testPauseMs)
      throw new VehicleError(
        'INPUT_INVALID',
        'The last test was less than a second ago. Wait a moment, then try again.',
      );
    this.#testedAt = now;
    const sample = sampleOf(await this.running());
    const end = await deploys.send({ send: () => node.send(sample) }, closing);
    if (end !== 'sent')
      throw new VehicleError('CANCELLED', 'The node was stopped before the test was sent. Try again.');
    return sample.payload.text;
  }

  #context(): RunnerContext<Read> {
    const own = this.#own;
    return {
      options: {
        store: this.#pack.store,
        key: this.#key,
        clock: clock(),
        presence: this.#pack.presence,
        onDue: () => this.#wake([]),
        onSaveFailed: () => own.warn(`${this.#collection}.notKept`),
        onDropped: () => own.warn(`${this.#collection}.undelivered`),
      },
      signal: own.closing,
      wake: this.#wake,
    };
  }

  get #key(): string {
    return `${this.#collection}/${this.#own.node.id}`;
  }

  readonly #wake: RunnerContext<Read>['wake'] = (reads, due) => this.#polls.send({ reads, ...(due && { due }) });

  #work({ runner, beginPolling }: OpenedCar<Read, Event>): () => void {
    const endPolling = beginPolling();
    // This process may take over messages that another one has stored and not sent.
    const endTakeOver = this.#pack.presence.onGone(() => this.#wake([]));
    this.#wake([]);
    this.#isWorking = true;
    return () => {
      endTakeOver();
      endPolling();
      // While the node closes, it is remembered for its end.
      if (this.#own.closing.aborted) return;
      this.#isWorking = false;
      runner.standBy();
    };
  }

  async #end(isDeleted: boolean): Promise<void> {
    // A node that is closed while it opens still begins to poll.
    const found = await this.#opened?.catch(() => undefined);
    await found?.runner.end(this.#isWorking);
    if (isDeleted) await this.#pack.store.remove(found?.runner.key ?? this.#key);
  }
}

/**
 * The VIN and another typed property are evaluated once, because what the node
 * stores is of one car.
 */
export async function openCar<Name extends string>(
  own: FlowNode,
  options: Typed<'vin' | Name>,
  name: Name,
): Promise<{ account: Account; vin: string; value: unknown }> {
  const vehicle = own.vehicle();
  const started = { _msgid: '' };
  const vin = await typedProperty(own, options, 'vin', started);
  const value = await typedProperty(own, options, name, started);
  const account = await vehicle.account();
  const required = await account.client.requireVin(vehicle.chooseVin(vin));
  own.showsCar(required);
  return { account, vin: required, value };
}
