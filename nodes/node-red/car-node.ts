import type { Node } from 'node-red';
import { VehicleError, type Account, type CarRunnerOptions, type DuePoll } from '../../src/index';
import { editorsOf } from './editors';
import { sendOnce } from './send-once';
import { throwIfInUse } from './storage';
import type { FlowNode } from './flow-node';
import type { Message } from './message';
import { clock } from './time';
import { typedProperty, type Typed } from './typed-property';

/** The runner of a node and its polling, from the first message until the node closes. */
interface OpenedCar<Read, Event> {
  vin: string;
  runner: {
    readonly key: string;
    poll(reads: readonly Read[], signal: AbortSignal): unknown;
    mayBeSent(events: readonly Event[]): boolean;
    markSent(events: readonly Event[]): Promise<void>;
    release(events: readonly Event[]): void;
    standBy(): void;
    end(): Promise<void>;
  };
  /** @returns ends the polling */
  beginPolling(this: void): () => void;
}

/** The content of a message that a node sends to itself: what to read. `due` is set if the poller asked for it. */
interface OwnPoll<Read> {
  reads: readonly Read[];
  due?: DuePoll;
}

/** Everything that a node needs to open its runner. */
export interface RunnerContext<Read> {
  /** Store, clock and callbacks of the runner. */
  options: Omit<CarRunnerOptions, 'client' | 'vin'>;
  /** Aborted when the node closes. */
  signal: AbortSignal;
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

/** The payload of a sample, whose sentence says that it is a test. */
export const testPayload = <Payload extends { text: string }>(
  { words }: FlowNode,
  payload: Payload,
): Payload & { test: true } => ({ ...payload, text: words.say('test', { text: payload.text }), test: true });

interface CarNode<Read, Event, Opened> {
  /** Resolves with the result of `open`, and calls it again after a failure. */
  running(): Promise<Opened>;
  /** Undefined for a message that came from a flow. */
  ownPoll(msg: Message): OwnPoll<Read> | undefined;
  /**
   * Sends stored events when no deploy is under way, then marks them as sent, and keeps them for the tab “Cars”.
   * @param sendEvent returns its sentence without the name of the car
   */
  deliver(events: readonly Event[], sendEvent: (event: Event) => string, signal: AbortSignal): Promise<void>;
}

/**
 * Opens the runner of a node, and lets the node poll by messages to itself. The first such message has no reads: its step returns the
 * events that were stored before a restart. Opening is tried again until it succeeds, and such a message reports each new reason.
 * @param collection of the node's stored state, which is removed with the node
 * @param sampleOf the message of a test, for the first output
 */
export function startCarNode<Read, Event, Opened>(
  own: FlowNode,
  collection: 'event' | 'guard',
  open: (context: RunnerContext<Read>) => Promise<Opened & OpenedCar<Read, Event>>,
  sampleOf: (opened: Opened, event: unknown) => { topic: string; payload: { text: string } },
): CarNode<Read, Event, Opened> {
  const { node, deploys, closing } = own;
  own.showCause(false);
  const { store, presence } = own.pack;
  const key = `${collection}/${node.id}`;
  const polls = own.selfMessages<OwnPoll<Read>>();
  let opened: Promise<Opened & OpenedCar<Read, Event>> | undefined;

  const wake: RunnerContext<Read>['wake'] = (reads, due) => polls.send({ reads, ...(due && { due }) });
  const options: RunnerContext<Read>['options'] = {
    store,
    key,
    clock: clock(),
    presence,
    onDue: () => wake([]),
    onSaveFailed: () => own.warn(`${collection}.notKept`),
    onDropped: () => own.warn(`${collection}.undelivered`),
  };
  const running = (): Promise<Opened & OpenedCar<Read, Event>> => {
    opened ??= open({ options, signal: closing, wake }).then(
      (found) => {
        own.runInOneProcess(() => work(found));
        return found;
      },
      (error: unknown) => {
        opened = undefined;
        throw error;
      },
    );
    return opened;
  };
  const work = ({ runner, beginPolling }: OpenedCar<Read, Event>): (() => void) => {
    const endPolling = beginPolling();
    const ending = new AbortController();
    // What another process has stored and not sent may be taken over.
    presence.onGone(() => wake([]), ending.signal);
    wake([]);
    return () => {
      ending.abort();
      endPolling();
      if (!closing.aborted) runner.standBy();
    };
  };
  const begin = async (): Promise<void> => void (await running());
  own.beginWithRetries(begin, () => wake([]));

  let testedAt = -Infinity;
  // This adds the member.
  (node as TestableNode).sendTest = async (event) => {
    throwIfInUse(own.RED);
    const now = clock().monotonic();
    if (now < testedAt + testPauseMs)
      throw new VehicleError(
        'INPUT_INVALID',
        'A test was asked for less than a second ago. Wait a moment, then try again.',
      );
    testedAt = now;
    const sample = sampleOf(await running(), event);
    const end = await deploys.send({ send: () => node.send(sample) }, closing);
    if (end !== 'sent')
      throw new VehicleError('CANCELLED', 'The node was stopped before the test was sent. Try again.');
    return sample.payload.text;
  };

  own.onClose(async (isDeleted) => {
    // A node that is closed while it opens still begins to poll.
    const found = await opened?.catch(() => undefined);
    await found?.runner.end();
    if (isDeleted) await store.remove(found?.runner.key ?? key);
  });

  return {
    running,
    ownPoll: (msg) => polls.contents.get(msg),
    async deliver(events, sendEvent, signal) {
      if (events.length === 0) return;
      const { vin, runner } = await running();
      let texts: string[] = [];
      const message = {
        // After a pause, another process may have taken them over. The next step returns them again where none has.
        claim: async () => {
          await presence.renew().catch(() => undefined);
          return runner.mayBeSent(events);
        },
        mayBeSent: () => runner.mayBeSent(events),
        send: () => void (texts = events.map(sendEvent)),
        markSent: () => runner.markSent(events),
      };
      if ((await sendOnce(own, message, signal)) !== 'sent') {
        runner.release(events);
        if (!signal.aborted) wake([]);
        return;
      }
      const at = new Date(clock().now()).toISOString();
      const sent = texts.map((text) => ({ at, text }));
      await own.pack.facts.addEvents(vin, sent);
      editorsOf(own.RED).notify();
    },
  };
}

/** The VIN and another typed property are evaluated once, because what the node stores is of one car. */
export async function openCar<Name extends string>(
  own: FlowNode,
  options: Typed<'vin' | Name>,
  name: Name,
): Promise<Pick<Account, 'client' | 'poller' | 'signIn' | 'cause'> & { vin: string; value: unknown }> {
  const vehicle = own.vehicle();
  const started = { _msgid: '' };
  const vin = await typedProperty(own, options, 'vin', started);
  const value = await typedProperty(own, options, name, started);
  const { client, poller, signIn, cause } = await vehicle.account();
  const required = await client.requireVin(vehicle.chooseVin(vin));
  own.showsCar(required);
  return { client, poller, signIn, cause, vin: required, value };
}
