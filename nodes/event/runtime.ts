import {
  CarEvents,
  CarRunner,
  copyOfJson,
  eventText,
  hasRecord,
  inUnit,
  openingKeyOf,
  recordOfEvent,
  sampleRecord,
  titleOf,
  unitOf,
  type EventRead,
  type LogRecord,
  type UnitSystem,
  type VehicleEvent,
} from '../../src/index';
import type { Words } from '../node-red/i18n';
import { onInput, noNews } from '../node-red/input-handler';
import { eventOptions } from './options';
import type { FlowNode } from '../node-red/flow-node';
import { textOfValue } from '../node-red/reading-text';
import { clock } from '../node-red/time';
import { CarNode, openCar, testPayload, type RunnerContext } from '../node-red/car-node';

/** `connected-vehicle-event` (docs/internals/contract.md 5a). */
export function connectedVehicleEvent(own: FlowNode): void {
  const nodeStatus = own.status;
  /** The status of the node is the text of the last event. */
  let showsEvent = false;

  const carNode = new CarNode(
    own,
    'event',
    (context: RunnerContext<EventRead>) => openEvents(own, context),
    ({ vin, events, account }, event) => {
      const given = events.sample(event, clock().now());
      const text = textOf(own, given, account.units);
      const sample = messageOf(own, given, { vin, text, record: sampleOf(given) });
      return { ...sample, payload: testPayload(own, sample.payload) };
    },
  );

  onInput(own, async ({ msg, send, signal }) => {
    const { vin, events: chosen, runner, account } = await carNode.running();
    const poll = carNode.ownPoll(msg);
    let log: Record<'trips' | 'charges', LogRecord[]> = { trips: [], charges: [] };
    const sendEvent = (event: VehicleEvent): string => {
      const record = hasRecord(event.event) ? recordOfEvent(event, log) : undefined;
      const text = textOf(own, event, account.units);
      send({ ...own.RED.util.cloneMessage(msg), ...messageOf(own, event, { vin, text, record }) });
      nodeStatus.showWithTime('good', 'value', { value: text });
      showsEvent = true;
      return text;
    };
    const reads = poll?.reads ?? chosen.reads;
    const { events, failure, isNewFailure } = await runner.poll(reads, signal, poll?.due);
    if (events.some(({ event }) => hasRecord(event))) log = await own.pack.logbook.records(vin).catch(() => log);
    await carNode.deliver(events, sendEvent, signal);
    const unread = chosen.reads.length === 0 ? account.obstacle() : null;
    if (failure !== null) nodeStatus.showFailure(failure);
    else if (unread !== null) nodeStatus.show('failed', `failed.${unread}`);
    // Without a read, the status of the last one stays.
    else if (!showsEvent && (reads.length > 0 || chosen.reads.length === 0)) nodeStatus.show('good', 'listening');
    showsEvent &&= failure === null && unread === null;
    // A Catch node gets an outage once, not with each poll; the status of the node
    // shows it throughout.
    if (failure === null) return reads.length > 0 ? undefined : noNews;
    return poll === undefined || isNewFailure ? failure : noNews;
  });
}

async function openEvents(own: FlowNode, { options: runnerOptions, signal, wake }: RunnerContext<EventRead>) {
  const options = own.options(eventOptions);
  const { account, vin, value: level } = await openCar(own, options, 'level');
  const events = new CarEvents({ ...options, level, namedPlaces: own.places }, () => account.signIn());
  const runner = await CarRunner.open(events, { ...runnerOptions, client: account.client, vin });
  if (!signal.aborted) own.status.show('waiting', 'checking');
  const beginPolling = () =>
    options.poll > 0 ? runner.startPolling(account.poller, options.poll, wake) : () => undefined;
  // Events of the sign-in need no read, so nothing else would show or report it.
  if (!signal.aborted) own.onObstacle(() => wake([]));
  return { vin, events, runner, account, beginPolling };
}

const textOf = (own: FlowNode, event: VehicleEvent, units: UnitSystem): string =>
  eventText(event, eventWordsOf(own.words, units), clock().now());

const messageOf = (
  own: FlowNode,
  event: VehicleEvent,
  { vin, text, record }: { vin: string; text: string; record: LogRecord | null | undefined },
) => ({
  topic: event.event,
  // A copy: the runner finds the event by what is in it, and a flow can change its message.
  payload: copyOfJson({
    ...event,
    vin,
    car: own.carName(vin),
    text: own.withCar(text, vin),
    ...(record !== undefined && { record }),
  }),
  vehicle: { vin },
});

const sampleOf = ({ event }: VehicleEvent): LogRecord | undefined =>
  hasRecord(event) ? sampleRecord(event, clock().now()) : undefined;

const eventWordsOf = (words: Words, units: UnitSystem) => {
  const { language, say } = words;
  return {
    language,
    distance: (kilometers: number): string => {
      const unit = unitOf(units, 'kilometers');
      return textOfValue({ value: Math.round(inUnit(kilometers, 'kilometers', unit) ?? 0), unit }, words) ?? '';
    },
    sentence: (key: string) => say(`event.${key}`),
    name: (event: string, member: string): string =>
      event.startsWith('warning-')
        ? say(`event.name.${member}`, { defaultValue: titleOf(member) })
        : say(`part.${openingKeyOf(member, event.startsWith('door-') ? 'doors' : 'windows')}`, {
            defaultValue: member,
          }),
  };
};
