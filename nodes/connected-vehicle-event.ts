import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { DuePoll, EventRead, EventRunner } from '../src/index';
import { eventWordsOf } from './shared/event/event-words';
import { onInput, showFailure } from './shared/input/input-handler';
import type { Message } from './shared/input/message';
import type { EventOptions } from './shared/input/options';
import { runtime } from './shared/load';
import { isDeleted } from './shared/node-red/flows';
import { word } from './shared/node-red/i18n';
import { clock } from './shared/node-red/time';
import { nodeStatusOf } from './shared/status/node-status';
import { ownStateStoreOf } from './shared/vehicle/state-store';
import { vehicleOf } from './shared/vehicle/vehicle-node';

/** `connected-vehicle-event` (docs/message-contract.md 5a): sends a message when something happens to the car. */
export = (RED: NodeAPI): void => {
  function ConnectedVehicleEvent(this: Node, config: NodeDef & Partial<EventOptions>): void {
    RED.nodes.createNode(this, config);
    const { EventRunner, eventOptions, eventText, parseEventSettings, parseOptions, parseVin } = runtime();
    const nodeStatus = nodeStatusOf(RED, this);
    const store = ownStateStoreOf(RED, this);
    const key = `event/${this.id}`;
    /** The reads that are due, for a message that the node sends to itself. */
    const ownMessages = new WeakMap<Message, { reads: EventRead[]; due?: DuePoll }>();
    let opened: Promise<{ vin: string; runner: EventRunner }> | undefined;
    let endPolling = (): void => undefined;
    let lastText: string | null = null;

    const open = async (): Promise<{ vin: string; runner: EventRunner }> => {
      const options = parseOptions(eventOptions, config);
      const settings = parseEventSettings(options);
      const vehicle = vehicleOf(RED, options.vehicle);
      const { client, poller } = await vehicle.account();
      const vin = parseVin(vehicle.chooseVin(options.vin));
      const runner = await EventRunner.open({
        settings,
        client,
        vin,
        store,
        key,
        clock: clock(),
        onSaveFailed: () => this.warn(word(RED, 'warning.event.notKept')),
      });
      nodeStatus.show('waiting', 'checking');
      if (options.poll > 0) endPolling = runner.startPolling(poller, options.poll, poll);
      return { vin, runner };
    };

    onInput(this, nodeStatus, async ({ msg, send, signal }) => {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      const { vin, runner } = await opened;
      const own = ownMessages.get(msg);
      const reads = own?.reads ?? runner.reads;
      if (reads.length === 0) return;
      const { events, failure, isNewFailure } = await runner.poll(reads, signal, own?.due);
      for (const event of events) {
        const text = eventText(event, eventWordsOf(RED));
        const payload = { ...event, vin, text };
        send({ ...RED.util.cloneMessage(msg), topic: event.event, payload, vehicle: { vin } });
        lastText = text;
      }
      // A Catch node gets an outage once, not with each poll; the status of the node shows it throughout.
      if (failure !== null && (own === undefined || isNewFailure)) throw failure;
      if (failure !== null) showFailure(nodeStatus, failure);
      else if (lastText === null) nodeStatus.show('good', 'listening');
      else if (events.length > 0) nodeStatus.showWithTime('good', 'value', { value: lastText });
    });

    const poll = (reads: EventRead[], due?: DuePoll): void => {
      const msg: Message = { _msgid: RED.util.generateId() };
      ownMessages.set(msg, { reads, ...(due && { due }) });
      this.receive(msg);
    };
    const start = setImmediate(() => poll([]));
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

  RED.nodes.registerType('connected-vehicle-event', ConnectedVehicleEvent);
};
