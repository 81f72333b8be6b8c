import type { Node, NodeAPI } from 'node-red';
import { parseVin, type Account, type DuePoll, type StateStore } from '../../src/index';
import type { Message } from './message';
import { typedProperty, type Typed } from './typed-property';
import { isDeleted } from './flows';
import { beginWithRetries } from './begin-with-retries';
import { ownedStoreOf } from '../vehicle/state-store';
import { vehicleOf } from '../vehicle/vehicle-node';

/** Reads a car; it ends with its node. */
interface Runner {
  poll(reads: readonly never[], ...more: never[]): unknown;
  end(): Promise<void>;
}
type ReadsOf<Polled extends Runner> = Parameters<Polled['poll']>[0];

/** The tools with which a node opens its runner. */
export interface Opening<Polled extends Runner> {
  /** The store and the key of the node's knowledge of its car. */
  store: StateStore;
  key: string;
  /** Aborted when the node closes. */
  signal: AbortSignal;
  /** Makes the node send a message to itself. */
  wake(this: void, reads: ReadsOf<Polled>, duePoll?: DuePoll): void;
}

/** The runner of a node and its polling, from the first message until the node closes. */
interface Polling {
  runner: Runner;
  endPolling(): void;
}

/** The reads of a message that a node sends to itself; `duePoll` where the poller asked for them. */
interface OwnPoll<Polled extends Runner> {
  reads: ReadsOf<Polled>;
  duePoll: DuePoll | undefined;
}

interface SelfPolling<Running extends Polling> {
  /** Resolves with the runner, which is opened again if opening it has failed. */
  running(): Promise<Running>;
  /** Undefined for a message that came from a flow. */
  ownPoll(msg: Message): OwnPoll<Running['runner']> | undefined;
}

/**
 * Opens what the node runs for its car, and lets the node poll by messages to itself, because its input handler sends and reports. The
 * first such message has no read: what the node knew before a restart continues. While opening fails, it is tried again, and such a
 * message reports each new reason.
 * @param collection of what the node stores; it is removed with the node
 */
export function startSelfPolling<Running extends Polling>(
  RED: NodeAPI,
  node: Node,
  collection: 'event' | 'guard',
  open: (opening: Opening<Running['runner']>) => Promise<Running>,
): SelfPolling<Running> {
  const { store } = ownedStoreOf(RED);
  const key = `${collection}/${node.id}`;
  const ownPolls = new WeakMap<Message, OwnPoll<Running['runner']>>();
  let opened: Promise<Running> | undefined;

  const wake = (reads: ReadsOf<Running['runner']>, duePoll?: DuePoll): void => {
    const msg: Message = { _msgid: RED.util.generateId() };
    ownPolls.set(msg, { reads, duePoll });
    node.receive(msg);
  };
  const closing = new AbortController();
  const running = (): Promise<Running> => {
    opened ??= open({ store, key, signal: closing.signal, wake }).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const begin = async (): Promise<void> => {
    await running();
    if (!closing.signal.aborted) wake([]);
  };
  const endRetries = beginWithRetries(begin, () => wake([]));

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

  return { running, ownPoll: (msg) => ownPolls.get(msg) };
}

/** The vehicle of a node, and the value of another typed property. */
interface OpenedCar extends Pick<Account, 'client' | 'poller'> {
  vin: string;
  value: unknown;
}

/** The VIN and the other typed property are evaluated once, because what the node stores is of one car. */
export async function openCar<Name extends string>(
  RED: NodeAPI,
  node: Node,
  options: { vehicle: string } & Typed<'vin' | Name>,
  name: Name,
): Promise<OpenedCar> {
  const vehicle = vehicleOf(RED, options.vehicle);
  const started = { _msgid: '' };
  const own = await typedProperty(RED, node, options, 'vin', started);
  const value = await typedProperty(RED, node, options, name, started);
  const { client, poller } = await vehicle.account();
  return { client, poller, vin: parseVin(vehicle.chooseVin(own)), value };
}
