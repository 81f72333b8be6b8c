import { eventNames as allEvents, type EventName as AnyEvent } from '../../src/events/types';
import { hybridCar, startSimulator, type CarChanges } from '../support/simulator';
import type { RealNodeRed } from '../support/real-node-red';
import type { FlowNode } from './checkout';

type EventName = Exclude<AnyEvent, 'sign-in-ending' | 'sign-in-required'>;
/** The events of the car: those of the sign-in happen at no car. */
export const eventNames = allEvents.filter((name): name is EventName => !name.startsWith('sign-in-'));

/** What happens to the car of each event, and how it is before where it differs from the hybrid car of the demo. */
const happenings: Record<EventName, { before?: CarChanges; after: CarChanges }> = {
  locked: { before: { lock: 'UNLOCKED' }, after: { lock: 'LOCKED' } },
  unlocked: { after: { lock: 'UNLOCKED' } },
  'door-opened': { after: { doors: { frontLeft: 'OPEN' } } },
  'door-closed': { before: { doors: { rearRight: 'OPEN' } }, after: { doors: { rearRight: 'CLOSED' } } },
  'window-opened': { after: { windows: { frontRight: 'AJAR' } } },
  'window-closed': { before: { windows: { rearLeft: 'OPEN' } }, after: { windows: { rearLeft: 'CLOSED' } } },
  'tailgate-opened': { after: { doors: { tailGate: 'OPEN' } } },
  'tailgate-closed': { before: { doors: { tailGate: 'OPEN' } }, after: { doors: { tailGate: 'CLOSED' } } },
  'hood-opened': { after: { doors: { hood: 'OPEN' } } },
  'hood-closed': { before: { doors: { hood: 'OPEN' } }, after: { doors: { hood: 'CLOSED' } } },
  'engine-started': { after: { engineRunning: true } },
  'engine-stopped': { before: { engineRunning: true }, after: { engineRunning: false } },
  'trip-ended': { before: { resources: { odometer: 1000 } }, after: { resources: { odometer: 1012 } } },
  'charger-connected': { after: { charger: { connection: 'CONNECTED' } } },
  'charger-disconnected': {
    before: { charger: { connection: 'CONNECTED' } },
    after: { charger: { connection: 'DISCONNECTED' } },
  },
  'charging-started': {
    before: { charger: { connection: 'CONNECTED', hasPower: false } },
    after: { charger: { hasPower: true } },
  },
  'charging-stopped': { before: { charger: { connection: 'CONNECTED' } }, after: { charger: { hasPower: false } } },
  'charging-done': { before: { charger: { connection: 'CONNECTED' } }, after: { battery: { level: 90 } } },
  'charger-fault': { after: { charger: { connection: 'FAULT' } } },
  'battery-below': { after: { battery: { level: 19 } } },
  'battery-above': { before: { battery: { level: 19 } }, after: { battery: { level: 20 } } },
  arrived: {
    before: { location: { latitude: 57.8, longitude: 12.2 } },
    after: { location: { latitude: 57.7, longitude: 11.97 } },
  },
  left: {
    before: { location: { latitude: 57.7, longitude: 11.97 } },
    after: { location: { latitude: 57.8, longitude: 12.2 } },
  },
  'service-due': { after: { resources: { serviceWarningStatus: 'TIME_FOR_SERVICE' } } },
  'warning-on': { after: { resources: { brakeFluid: 'LOW' } } },
  'warning-off': {
    before: { resources: { washerFluidLevel: 'LOW' } },
    after: { resources: { washerFluidLevel: 'NORMAL' } },
  },
  available: { before: { asleep: true }, after: { asleep: false } },
  unavailable: { after: { asleep: true } },
};

export interface EventRow {
  event: EventName;
  /** Its values. */
  seen: string;
  /** The sentence of the message. */
  text: string;
  /** Deviations from the expected message; empty where all was well. */
  problems: string[];
}

const home = { name: 'home', latitude: 57.7, longitude: 11.97, radius: 200 };
const vinOf = (event: EventName): string => `EVENT${String(eventNames.indexOf(event)).padStart(12, '0')}`;

/** Deploys a node for each event, and makes each event happen once. Each node has a car of its own. */
export async function eventTour(nodeRed: RealNodeRed): Promise<EventRow[]> {
  const cars = eventNames.map((event) => ({ ...hybridCar, ...happenings[event].before, vin: vinOf(event) }));
  const service = await startSimulator({
    dialect: 'real',
    cars,
    apiKeyHeader: 'vcc-api-key',
    mediaTypeVendor: 'volvocars',
  });
  try {
    await nodeRed.admin('POST', 'flows', { flows: flowOf(service.url) });
    return await Promise.all(
      eventNames.map(async (event) => {
        const before = await ask(nodeRed, event);
        service.car(vinOf(event)).set(happenings[event].after);
        const changedAt = Date.now();
        return check(event, before, await ask(nodeRed, event), changedAt);
      }),
    );
  } finally {
    await service.close();
  }
}

interface Answer {
  /** The messages that the node of the event has sent so far. */
  messages?: { topic?: unknown; payload: Record<string, unknown> }[];
  error?: { code: string; message: string };
}

async function ask(nodeRed: RealNodeRed, event: EventName): Promise<Answer> {
  const response = await fetch(`${nodeRed.url}tour/event/${event}`, { method: 'POST' });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

function check(event: EventName, before: Answer, { messages = [], error }: Answer, changedAt: number): EventRow {
  const problems = [before.error, error].flatMap((failure) =>
    failure === undefined ? [] : [`${failure.code}: ${failure.message}`],
  );
  if ((before.messages ?? []).length > 0) problems.push(`a message came before the change`);
  if (messages.length !== 1) problems.push(`${messages.length} messages came`);
  const { topic, payload = {} } = messages[0] ?? {};
  const { from, to, name, place, between, text } = payload;
  const { since, until } = (between ?? {}) as { since?: string; until?: string };
  // The service reports whole seconds at some places, so the new value can have the time of the second in which it changed.
  const isBetween = Date.parse(since ?? '') <= changedAt && Date.parse(until ?? '') > changedAt - 1000;
  if (topic !== event || payload['event'] !== event || payload['vin'] !== vinOf(event) || !isBetween)
    problems.push(`the message is ${JSON.stringify({ topic, payload })}`);
  const values = [from, to].map((value) => (typeof value === 'object' ? JSON.stringify(value) : String(value)));
  const subject = [name, place].filter((part) => typeof part === 'string').map((part) => `${String(part)}: `);
  return { event, seen: subject.join('') + values.join(' → '), text: String(text ?? ''), problems };
}

/** An HTTP request reads the car of an event. The answer has the messages that the node of this event has sent. */
function flowOf(baseUrl: string): FlowNode[] {
  const z = 'event-tour';
  const node = (id: string, type: string, properties: object, ...outputs: string[][]): FlowNode => ({
    id: `${z}-${id}`,
    type,
    z,
    ...properties,
    wires: outputs.map((output) => output.map((to) => `${z}-${to}`)),
  });
  const vehicle = `${z}-car`;
  return [
    { id: z, type: 'tab', label: 'Tour, events' },
    {
      id: vehicle,
      type: 'connected-vehicle',
      service: 'custom',
      baseUrl,
      apiKeyHeader: 'vcc-api-key',
      mediaTypeVendor: 'volvocars',
      requestsPerMinute: 1000,
      shareFor: 0,
      credentials: { apiKey: 'demo-key', accessToken: 'demo-token' },
    },
    ...eventNames.flatMap((event) => [
      node(`ask-${event}`, 'http in', { url: `/tour/event/${event}`, method: 'post' }, [event]),
      node(
        event,
        'connected-vehicle-event',
        { vehicle, vin: vinOf(event), events: [event], level: 20, places: [home], poll: 0 },
        ['keep'],
      ),
    ]),
    node('keep', 'function', {
      func: 'const { topic, payload } = msg; flow.set(topic, [...(flow.get(topic) ?? []), { topic, payload }]);',
      outputs: 0,
    }),
    node('complete', 'complete', { scope: eventNames.map((event) => `${z}-${event}`) }, ['wrap']),
    node('catch', 'catch', { scope: null, uncaught: false }, ['wrap']),
    node(
      'wrap',
      'function',
      {
        // The node of an event sends itself a message at the start, which no step waits for.
        func: "if (!msg.req) return; msg.payload = { messages: flow.get(msg.req.url.split('/').pop()) ?? [], error: msg.vehicle?.error }; return msg;",
        outputs: 1,
      },
      ['answer'],
    ),
    node('answer', 'http response', { statusCode: '200', headers: {} }),
  ];
}

/** The events as a table for a person. */
export function eventTable(rows: readonly EventRow[]): string {
  const lines = rows.map(({ event, seen, text, problems }) => [
    event,
    problems.length === 0 ? seen : `**failed**: ${problems.join('; ')}`,
    text,
  ]);
  const header = ['event', 'seen, real dialect', 'text'];
  return [header, header.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
}
