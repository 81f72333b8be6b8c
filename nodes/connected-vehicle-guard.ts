import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { DuePoll, GuardEvent, GuardPollResult, GuardRead, GuardRunner } from '../src/index';
import { guardRequestOf } from './shared/guard/guard-messages';
import { guardWordsOf, showState } from './shared/guard/guard-words';
import { onInput } from './shared/input/input-handler';
import type { Message } from './shared/input/message';
import type { GuardOptions } from './shared/input/options';
import { typedProperty } from './shared/input/typed-property';
import { runtime } from './shared/load';
import { isDeleted } from './shared/node-red/flows';
import { word } from './shared/node-red/i18n';
import { clock } from './shared/node-red/time';
import { nodeStatusOf } from './shared/status/node-status';
import { ownStateStoreOf } from './shared/vehicle/state-store';
import { vehicleOf } from './shared/vehicle/vehicle-node';

interface OpenedGuard {
  vin: string;
  runner: GuardRunner;
  polls: boolean;
  /** The result of the first read after the start, until a message carries it on. */
  initial: GuardPollResult | null;
}

/** `connected-vehicle-guard`: reports when a window, a door or the lock stays open, and when all is closed again. */
export = (RED: NodeAPI): void => {
  function ConnectedVehicleGuard(this: Node, config: NodeDef & Partial<GuardOptions>): void {
    RED.nodes.createNode(this, config);
    const { GuardRunner, guardOptions, guardText, parseMinutes, parseOptions, parseVin, VehicleError } = runtime();
    const nodeStatus = nodeStatusOf(RED, this);
    const store = ownStateStoreOf(RED, this);
    const key = `guard/${this.id}`;
    /** The reads for each message that the node sends to itself. */
    const ownMessages = new WeakMap<Message, { reads: readonly GuardRead[]; duePoll?: DuePoll }>();
    let opened: Promise<OpenedGuard> | undefined;
    let endPolling = (): void => undefined;

    const open = async (signal: AbortSignal): Promise<OpenedGuard> => {
      const options = parseOptions(guardOptions, config);
      const { vehicle: id, poll } = options;
      const vehicle = vehicleOf(RED, id);
      // Evaluated once: what the guard remembers is of one car.
      const started = { _msgid: '' };
      const own = await typedProperty(RED, this, options, 'vin', started);
      const settings = {
        ...options,
        minutes: parseMinutes(await typedProperty(RED, this, options, 'minutes', started)),
      };
      const { client, poller } = await vehicle.account();
      const vin = parseVin(vehicle.chooseVin(own));
      const runner = await GuardRunner.open({
        settings,
        client,
        vin,
        store,
        key,
        clock: clock(),
        onDue: () => wake([]),
        onSaveFailed: () => this.warn(word(RED, 'warning.guard.notKept')),
      });
      if (poll === 0) return { vin, runner, polls: false, initial: null };
      nodeStatus.show('waiting', 'checking');
      const initial = await runner.initialRead(signal);
      endPolling = poller.start(
        { vin, reads: runner.readsFor(), everyMs: poll * 1000, timeZone: settings.timeZone },
        (duePoll) =>
          wake(
            runner.readsFor().filter((read) => duePoll.reads.includes(read)),
            duePoll,
          ),
      );
      return { vin, runner, polls: true, initial };
    };

    onInput(this, nodeStatus, async ({ msg, send, signal }) => {
      opened ??= open(signal).catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      const guard = await opened;
      const { vin, runner } = guard;
      const { reads: due, duePoll } = ownMessages.get(msg) ?? {};
      const { reading, snooze, ask } = due === undefined ? guardRequestOf(msg) : {};
      if (reading !== undefined && !isSameVin(reading.vin, vin))
        throw new VehicleError('INPUT_INVALID', 'This reading is of another vehicle. Use one guard for each vehicle.');

      const sendEvents = (events: GuardEvent[]): void => {
        for (const event of events) {
          const payload = { text: guardText(event, guardWordsOf(RED)), ...event };
          const out = { ...RED.util.cloneMessage(msg), topic: msg.topic || event.type, payload, vehicle: { vin } };
          send(event.type === 'clear' ? [null, out] : [out, null]);
        }
      };
      let polled = guard.initial ?? { events: [], failure: null, isNewFailure: false };
      guard.initial = null;
      sendEvents(polled.events);
      if (due?.length === 0) sendEvents(runner.step({ type: 'tick' }));
      if (reading !== undefined) sendEvents(runner.step(reading.values));
      if (snooze !== undefined) sendEvents(runner.step({ type: 'snooze', minutes: snooze }));
      const isPlain = ask === undefined && reading === undefined && snooze === undefined;
      const reads = due ?? (ask !== undefined || isPlain ? runner.readsFor(ask?.only) : []);
      if (reads.length > 0) {
        polled = await runner.poll(reads, signal, duePoll);
        sendEvents(polled.events);
      }
      if (ask !== undefined) sendEvents(runner.step({ type: 'ask', ...ask }));
      if (guard.polls && !runner.hasRead) nodeStatus.show('waiting', 'checking');
      else showState(nodeStatus, RED, runner.view, polled.failure);
      // A Catch node gets an outage once, not with each poll; the status of the node shows it throughout.
      if (polled.failure !== null && (due === undefined || polled.isNewFailure)) throw polled.failure;
    });

    const wake = (reads: readonly GuardRead[], duePoll?: DuePoll): void => {
      const msg: Message = { _msgid: RED.util.generateId() };
      ownMessages.set(msg, { reads, ...(duePoll && { duePoll }) });
      this.receive(msg);
    };
    // The time of an opening that was open before the restart continues.
    const start = setImmediate(() => wake([]));
    this.on('close', (removed: boolean, done: () => void) => {
      clearImmediate(start);
      const close = async (): Promise<void> => {
        const found = await opened?.catch(() => undefined);
        // A node that is closed while it opens begins to poll all the same.
        endPolling();
        await found?.runner.end();
        if (isDeleted(RED, this, removed)) await store.remove(key);
      };
      void close()
        .catch(() => undefined)
        .then(done);
    });
  }

  RED.nodes.registerType('connected-vehicle-guard', ConnectedVehicleGuard);
};

/** A message may carry the VIN as a person writes it. */
const isSameVin = (given: unknown, vin: string): boolean =>
  typeof given === 'string' && given.trim().toUpperCase() === vin;
