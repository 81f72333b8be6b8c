import {
  commandNames,
  commands,
  connectedReadNames,
  connectedReads,
  interfacePaths,
  resourceNames,
  resourceRoute,
  resources,
  type CommandRoute,
  type InterfaceName,
  type Resource,
  type ResourceName,
} from '../../src/index';
import { demoCar, startSimulator, type Simulator } from '../../src/simulator/index';
import type { RealNodeRed } from '../support/real-node-red';
import type { FlowNode } from './checkout';

/**
 * A tour of the whole service through deployed flows: every endpoint of the specification and each of the 39 resources,
 * asked by the nodes of a real Node-RED from a service started apart, in both dialects of the simulator.
 */

export const dialects = ['plain', 'real'] as const;
export type Dialect = (typeof dialects)[number];

/** One endpoint, or one resource of the extended endpoint. */
export interface Stop {
  kind: 'read' | 'command';
  name: string;
  interface: InterfaceName;
  method: 'GET' | 'POST';
  /** With `{vin}` in it. */
  path: string;
  /** The specification does not name it; only the real dialect has it (field notes 1.10). */
  unlisted: boolean;
}

/** What was seen at a stop. */
export interface Seen {
  /** In a few words; null where the dialect does not have the endpoint. */
  answer: string | null;
  /** What was not as it must be; empty where all was well. */
  problems: string[];
}

export type TourRow = Stop & { seen: Record<Dialect, Seen> };

type Routes = Partial<Record<InterfaceName, Pick<CommandRoute, 'path' | 'unlisted'>>>;

const stopsOf = (kind: Stop['kind'], name: string, routes: Routes): Stop[] =>
  Object.entries(routes).map(([key, { path, unlisted = false }]) => {
    const iface = key as InterfaceName;
    return {
      kind,
      name,
      interface: iface,
      method: kind === 'read' ? 'GET' : 'POST',
      path: interfacePaths[iface] + path,
      unlisted,
    };
  });

export const stops: readonly Stop[] = [
  ...connectedReadNames.flatMap((name) => stopsOf('read', name, connectedReads[name].routes)),
  ...commandNames.flatMap((name) => stopsOf('command', name, commands[name].routes)),
  ...resourceNames.flatMap((name) =>
    stopsOf('read', name, { 'extended-v1': { path: resourceRoute.path.replace('{resource}', name) } }),
  ),
];

/** The names of the real dialect differ, as those of the real service do (field notes 0). */
const naming = {
  plain: { apiKeyHeader: 'vendor-api-key', mediaTypeVendor: 'vendor' },
  real: { apiKeyHeader: 'vcc-api-key', mediaTypeVendor: 'volvocars' },
} as const;

/** Commands run at the same time, so each has a car of its own. */
const vinOf = (stop: Stop): string =>
  stop.kind === 'read' ? demoCar.vin : `TOUR${String(stops.indexOf(stop)).padStart(13, '0')}`;

/** Deploys the flows of the tour and makes every stop. */
export async function tour(nodeRed: RealNodeRed): Promise<TourRow[]> {
  const cars = [demoCar, ...stops.filter(({ kind }) => kind === 'command').map((stop) => ({ vin: vinOf(stop) }))];
  const services = await Promise.all(dialects.map((dialect) => startSimulator({ dialect, cars, ...naming[dialect] })));
  try {
    await nodeRed.admin('POST', 'flows', {
      flows: dialects.flatMap((dialect, index) => flowOf(dialect, services[index] as Simulator)),
    });
    const seen = await Promise.all(
      dialects.map((dialect, index) => makeStops(nodeRed, dialect, services[index] as Simulator)),
    );
    return stops.map((stop, index) => ({
      ...stop,
      seen: Object.fromEntries(dialects.map((dialect, at) => [dialect, seen[at]?.[index]])) as Record<Dialect, Seen>,
    }));
  } finally {
    await Promise.all(services.map((service) => service.close()));
  }
}

const makeStops = (nodeRed: RealNodeRed, dialect: Dialect, service: Simulator): Promise<Seen[]> =>
  Promise.all(
    stops.map(async (stop) => {
      if (stop.unlisted && dialect === 'plain') return { answer: null, problems: [] };
      return look(stop, await ask(nodeRed, dialect, stop), service);
    }),
  );

/** What the flows answer with: the message that came out of the nodes. */
interface Answer {
  payload?: unknown;
  vehicle?: { interface?: string; read?: string; source?: string; error?: { code: string; message: string } };
}

async function ask(nodeRed: RealNodeRed, dialect: Dialect, stop: Stop): Promise<Answer> {
  const choice = stop.interface === 'connected-v1' ? 'v1' : stop.interface === 'connected-v2' ? 'v2' : 'auto';
  const body = JSON.stringify({ [stop.kind]: stop.name, interface: choice, vin: vinOf(stop) });
  const response = await fetch(`${nodeRed.url}tour/${dialect}/${stop.kind}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return (await response.json()) as Answer;
}

function look(stop: Stop, answer: Answer, service: Simulator): Seen {
  const { error } = answer.vehicle ?? {};
  if (error !== undefined) return { answer: '', problems: [`${error.code}: ${error.message}`] };
  const path = stop.path.replace('{vin}', vinOf(stop));
  const asked = service.requests.filter((request) => request.method === stop.method && request.path === path);
  const problems =
    asked.length === 1 && (asked[0]?.status ?? 500) < 300
      ? []
      : [`the service saw ${asked.length} requests to ${path}`];
  const payload = answer.payload as Record<string, unknown>;
  if (stop.kind === 'command') {
    const { outcome, requestStatus, interface: iface, history } = payload;
    if (outcome !== 'succeeded' || iface !== stop.interface) problems.push(`the verdict is ${JSON.stringify(payload)}`);
    const states = (history as { requestStatus: string }[] | undefined)?.map((change) => change.requestStatus) ?? [
      requestStatus,
    ];
    return { answer: `${states.join(' → ')}: ${String(outcome)}`, problems };
  }
  if (answer.vehicle?.interface !== stop.interface || answer.vehicle.read !== stop.name)
    problems.push(`it is reported as ${JSON.stringify(answer.vehicle)}`);
  if (stop.interface === 'extended-v1' && !fits(resources[stop.name as ResourceName], payload))
    problems.push(`specification 2.8 has no ${JSON.stringify(payload)}`);
  return { answer: inWords(payload), problems };
}

/** Whether a value is of the type, the unit and the words that specification 2.8 gives to the resource. */
function fits(resource: Resource, { value, unit }: Record<string, unknown>): boolean {
  if (resource.kind === 'boolean') return typeof value === 'boolean' && unit === null;
  if (resource.kind === 'enum') return resource.values.includes(value as string) && unit === null;
  return (
    typeof value === 'number' && (resource.kind !== 'integer' || Number.isInteger(value)) && unit === resource.unit
  );
}

function inWords(payload: unknown): string {
  if (Array.isArray(payload))
    return payload
      .map((item: Record<string, unknown>) => String(item['command'] ?? `…${String(item['vin']).slice(-6)}`))
      .join(', ');
  const { value, unit, descriptions, ...members } = payload as Record<string, unknown>;
  if (descriptions !== undefined)
    return `${String((descriptions as { model: unknown }).model)}, ${String(members['modelYear'])}`;
  if (value !== undefined) return [value, unit].filter((part) => part !== null && part !== undefined).join(' ');
  const states = Object.entries(members).map(
    ([name, state]) => `${name} ${String((state as { value: unknown }).value)}`,
  );
  return states.join(', ');
}

/** A way in by HTTP, through the nodes, and out again; the catch node answers what failed. */
function flowOf(dialect: Dialect, service: Simulator): object[] {
  const z = `tour-${dialect}`;
  const id = (name: string): string => `${z}-${name}`;
  const node = (name: string, type: string, properties: object, ...outputs: string[][]): FlowNode => ({
    id: id(name),
    type,
    z,
    ...properties,
    wires: outputs.map((output) => output.map(id)),
  });
  const set = (p: string, to: string, tot = 'msg'): object => ({ t: 'set', p, pt: 'msg', to, tot });
  const fromPayload = (...names: string[]): object => ({ rules: names.map((name) => set(name, `payload.${name}`)) });
  const vehicle = id('car');
  return [
    { id: z, type: 'tab', label: `Tour, ${dialect}` },
    {
      id: vehicle,
      type: 'connected-vehicle',
      service: 'custom',
      baseUrl: service.url,
      ...naming[dialect],
      requestsPerMinute: 1000,
      commandsPerMinute: 100,
      credentials: { apiKey: 'demo-key', accessToken: 'demo-token' },
    },
    node('ask-read', 'http in', { url: `/tour/${dialect}/read`, method: 'post' }, ['take-read']),
    node('take-read', 'change', fromPayload('read', 'interface', 'vin'), ['read']),
    node('read', 'connected-vehicle-status', { vehicle, read: 'windows' }, ['wrap']),
    node('ask-command', 'http in', { url: `/tour/${dialect}/command`, method: 'post' }, ['take-command']),
    node('take-command', 'change', fromPayload('command', 'interface', 'vin'), ['send']),
    node('send', 'connected-vehicle-command', { vehicle, command: '' }, ['watch']),
    node('watch', 'connected-vehicle-command-status', { vehicle, interval: 2 }, ['wrap'], []),
    node('catch', 'catch', { scope: null, uncaught: false }, ['wrap']),
    node('wrap', 'change', { rules: [set('payload', '{ "payload": payload, "vehicle": vehicle }', 'jsonata')] }, [
      'answer',
    ]),
    node('answer', 'http response', { statusCode: '200', headers: {} }),
  ];
}

/** The tour as a table for a person. */
export function tourTable(rows: readonly TourRow[]): string {
  const cell = ({ answer, problems }: Seen): string =>
    problems.length === 0 ? (answer ?? '–') : `**failed**: ${problems.join('; ')}`;
  const lines = rows.map((row) => [
    row.interface,
    `${row.method} ${row.path}`,
    row.name,
    ...dialects.map((dialect) => cell(row.seen[dialect])),
  ]);
  const header = ['interface', 'endpoint', 'read or command', ...dialects.map((dialect) => `seen, ${dialect} dialect`)];
  return [header, header.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
}
