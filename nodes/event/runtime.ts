import type { Node, NodeAPI, NodeDef } from 'node-red';
import { EventRunner, eventText, openingKeyOf, titleOf, type EventRead, type VehicleEvent } from '../../src/index';
import { languageOf, translate } from '../node-red/i18n';
import { onInput, showFailure } from '../node-red/input-handler';
import { eventOptions, type EventOptions } from './options';
import { parseOptions } from '../node-red/options';
import { nodeStatusOf } from '../node-red/node-status';
import { openCar, startCarNode, type RunnerContext } from '../node-red/car-node';

/** `connected-vehicle-event` (docs/message-contract.md 5a): sends a message when something happens to the car. */
export function connectedVehicleEvent(RED: NodeAPI, node: Node, config: NodeDef & Partial<EventOptions>): void {
  RED.nodes.createNode(node, config);
  const nodeStatus = nodeStatusOf(RED, node);
  /** The status of the node is the text of the last event. */
  let showsEvent = false;

  const carNode = startCarNode(
    RED,
    node,
    'event',
    async ({ options: tools, signal, wake }: RunnerContext<EventRead>) => {
      const options = parseOptions(eventOptions, config);
      const { client, poller, signIn, vin, value: level } = await openCar(RED, node, options, 'level');
      const runner = await EventRunner.open({ ...tools, settings: { ...options, level }, signIn, client, vin });
      if (!signal.aborted) nodeStatus.show('waiting', 'checking');
      const endPolling = options.poll > 0 ? runner.startPolling(poller, options.poll, wake) : () => undefined;
      return { vin, runner, endPolling };
    },
  );

  onInput(RED, node, nodeStatus, async ({ msg, send, signal }) => {
    const { vin, runner } = await carNode.running();
    const own = carNode.ownPoll(msg);
    const sendEvent = (event: VehicleEvent): void => {
      const text = eventText(event, eventWordsOf(RED));
      const payload = { ...event, vin, text };
      send({ ...RED.util.cloneMessage(msg), topic: event.event, payload, vehicle: { vin } });
      nodeStatus.showWithTime('good', 'value', { value: text });
      showsEvent = true;
    };
    await carNode.deliver(runner.takeUnsent(), sendEvent, signal);
    const reads = own?.reads ?? runner.reads;
    const { events, failure, isNewFailure } = await runner.poll(reads, signal, own?.due);
    await carNode.deliver(events, sendEvent, signal);
    if (failure !== null) showFailure(nodeStatus, failure);
    // Without a read, the status of the last one stays.
    else if (!showsEvent && (reads.length > 0 || runner.reads.length === 0)) nodeStatus.show('good', 'listening');
    showsEvent &&= failure === null;
    // A Catch node gets an outage once, not with each poll; the status of the node shows it throughout.
    return failure !== null && (own === undefined || isNewFailure) ? failure : undefined;
  });
}

/** The words for the sentences of events, in the language of the runtime. */
const eventWordsOf = (RED: NodeAPI) => ({
  language: languageOf(RED),
  sentence: (key: string) => translate(RED, `event.${key}`),
  name: (event: string, member: string): string =>
    event.startsWith('warning-')
      ? translate(RED, `event.name.${member}`, { defaultValue: titleOf(member) })
      : translate(RED, `part.${openingKeyOf(member, event.startsWith('door-') ? 'doors' : 'windows')}`, {
          defaultValue: member,
        }),
});
