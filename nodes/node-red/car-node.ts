import type { Node, NodeAPI } from 'node-red';
import { parseVin, type Account, type CarRunnerOptions, type DuePoll } from '../../src/index';
import { stateStoreOf } from '../vehicle/state-store';
import { vehicleOf } from '../vehicle/vehicle-node';
import { beginWithRetries } from './begin-with-retries';
import { deploysOf } from './deploys';
import { isDeleted } from './flows';
import { translate } from './i18n';
import type { Message } from './message';
import { selfMessages } from './self-message';
import { clock } from './time';
import { typedProperty, type Typed } from './typed-property';

/** What a node runs for its car, from the first message until the node closes. */
interface OpenedCar<Read, Event> {
  runner: {
    poll(reads: readonly Read[], signal: AbortSignal): unknown;
    takeUnsent(): Event[];
    markSent(events: readonly Event[]): Promise<void>;
    end(): Promise<void>;
  };
  endPolling(): void;
}

/** The reads of a message that a node sends to itself; `due` where the poller asked for them. */
interface OwnPoll<Read> {
  reads: readonly Read[];
  due?: DuePoll;
}

/** What opens the runner of a node. */
export interface CarTools<Read> {
  /** Of the runner: where it stores what it knows, and whom it calls. */
  options: Omit<CarRunnerOptions, 'client' | 'vin'>;
  /** Aborted when the node closes. */
  signal: AbortSignal;
  /** Makes the node send a message to itself. */
  wake(this: void, reads: readonly Read[], due?: DuePoll): void;
}

interface CarNode<Read, Event, Opened> {
  /** Resolves with what was opened; it is opened again if that has failed. */
  running(): Promise<Opened>;
  /** Undefined for a message that came from a flow. */
  ownPoll(msg: Message): OwnPoll<Read> | undefined;
  /** Sends stored events when no deploy is under way, and then marks them as sent. */
  deliver(events: readonly Event[], sendEvent: (event: Event) => void, signal: AbortSignal): Promise<void>;
}

/**
 * Opens what the node runs for its car, and lets the node poll by messages to itself. The first such message has no read: what the node
 * knew before a restart continues. While opening fails, it is tried again, and such a message reports each new reason.
 * @param collection of what the node stores; it is removed with the node
 */
export function startCarNode<Read, Event, Opened>(
  RED: NodeAPI,
  node: Node,
  collection: 'event' | 'guard',
  open: (tools: CarTools<Read>) => Promise<Opened & OpenedCar<Read, Event>>,
): CarNode<Read, Event, Opened> {
  const store = stateStoreOf(RED);
  const key = `${collection}/${node.id}`;
  const deploys = deploysOf(RED);
  const polls = selfMessages<OwnPoll<Read>>(RED, node);
  const closing = new AbortController();
  let opened: Promise<Opened & OpenedCar<Read, Event>> | undefined;

  const wake: CarTools<Read>['wake'] = (reads, due) => polls.send({ reads, ...(due && { due }) });
  const options: CarTools<Read>['options'] = {
    store,
    key,
    clock: clock(),
    onDue: () => wake([]),
    onSaveFailed: () => node.warn(translate(RED, `warning.${collection}.notKept`)),
    onDropped: () => node.warn(translate(RED, `warning.${collection}.undelivered`)),
  };
  const running = (): Promise<Opened & OpenedCar<Read, Event>> => {
    opened ??= open({ options, signal: closing.signal, wake }).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const begin = async (): Promise<void> => {
    await running();
    if (!closing.signal.aborted) wake([]);
  };
  const endRetries = beginWithRetries(RED, node, begin, () => wake([]));

  node.on('close', (removed: boolean, done: () => void) => {
    closing.abort();
    endRetries();
    const close = async (): Promise<void> => {
      // A node that is closed while it opens begins to poll all the same.
      const found = await opened?.catch(() => undefined);
      found?.endPolling();
      await found?.runner.end();
      if (isDeleted(RED, node, removed)) await store.remove(key);
    };
    void close()
      .catch(() => undefined)
      .then(done);
  });

  return {
    running,
    ownPoll: (msg) => polls.contentOf(msg),
    async deliver(events, sendEvent, signal) {
      if (events.length === 0) return;
      const send = (): void => events.forEach(sendEvent);
      if (await deploys.send(send, { clock: clock(), signal })) await (await running()).runner.markSent(events);
    },
  };
}

/** The VIN and another typed property are evaluated once, because what the node stores is of one car. */
export async function openCar<Name extends string>(
  RED: NodeAPI,
  node: Node,
  options: { vehicle: string } & Typed<'vin' | Name>,
  name: Name,
): Promise<Pick<Account, 'client' | 'poller'> & { vin: string; value: unknown }> {
  const vehicle = vehicleOf(RED, options.vehicle);
  const started = { _msgid: '' };
  const own = await typedProperty(RED, node, options, 'vin', started);
  const value = await typedProperty(RED, node, options, name, started);
  const { client, poller } = await vehicle.account();
  return { client, poller, vin: parseVin(vehicle.chooseVin(own)), value };
}
