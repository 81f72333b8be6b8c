import type { Node, NodeAPI, NodeDef } from 'node-red';
import { EventRunner, eventText, type VehicleEvent } from '../../src/index';
import { eventWordsOf } from './words';
import { onInput, showFailure } from '../node-red/input-handler';
import { eventOptions, parseOptions, type EventOptions } from '../node-red/options';
import { deploysOf } from '../node-red/deploys';
import { translate } from '../node-red/i18n';
import { clock } from '../node-red/time';
import { nodeStatusOf } from '../node-red/node-status';
import { openCar, startSelfPolling, type Opening } from '../node-red/self-polling';

interface OpenedEvents {
  vin: string;
  runner: EventRunner;
  /** The events that a former process did not send, until a message carries them on. */
  unsent: VehicleEvent[];
  endPolling(): void;
}

/** `connected-vehicle-event` (docs/message-contract.md 5a): sends a message when something happens to the car. */
export function connectedVehicleEvent(RED: NodeAPI, node: Node, config: NodeDef & Partial<EventOptions>): void {
  RED.nodes.createNode(node, config);
  const nodeStatus = nodeStatusOf(RED, node);
  const deploys = deploysOf(RED);
  /** The status of the node is the text of the last event. */
  let showsEvent = false;

  const open = async ({ signal, store, key, wake }: Opening<EventRunner>): Promise<OpenedEvents> => {
    const options = parseOptions(eventOptions, config);
    const { client, poller, vin, value: level } = await openCar(RED, node, options, 'level');
    const runner = await EventRunner.open({
      settings: { ...options, level },
      client,
      vin,
      store,
      key,
      clock: clock(),
      onSaveFailed: () => node.warn(translate(RED, 'warning.event.notKept')),
      onDropped: () => node.warn(translate(RED, 'warning.event.undelivered')),
    });
    const unsent = await runner.takeUnsent();
    if (!signal.aborted) nodeStatus.show('waiting', 'checking');
    const endPolling = options.poll > 0 ? runner.startPolling(poller, options.poll, wake) : () => undefined;
    return { vin, runner, unsent, endPolling };
  };
  const selfPolling = startSelfPolling(RED, node, 'event', open);

  onInput(node, nodeStatus, async ({ msg, send, signal }) => {
    const { vin, runner, unsent } = await selfPolling.running();
    const own = selfPolling.ownPoll(msg);
    const sendEvents = async (events: readonly VehicleEvent[]): Promise<void> => {
      if (events.length === 0) return;
      const send = (): void => events.forEach(sendEvent);
      if (await deploys.send(send, { clock: clock(), signal })) await runner.markSent(events);
    };
    const sendEvent = (event: VehicleEvent): void => {
      const text = eventText(event, eventWordsOf(RED));
      const payload = { ...event, vin, text };
      send({ ...RED.util.cloneMessage(msg), topic: event.event, payload, vehicle: { vin } });
      nodeStatus.showWithTime('good', 'value', { value: text });
      showsEvent = true;
    };
    await sendEvents(unsent.splice(0));
    const reads = own?.reads ?? runner.reads;
    if (reads.length === 0) return;
    const { events, failure, isNewFailure } = await runner.poll(reads, signal, own?.duePoll);
    await sendEvents(events);
    if (failure !== null) showsEvent = false;
    // A Catch node gets an outage once, not with each poll; the status of the node shows it throughout.
    if (failure !== null && (own === undefined || isNewFailure)) throw failure;
    if (failure !== null) showFailure(nodeStatus, failure);
    else if (!showsEvent) nodeStatus.show('good', 'listening');
  });
}
