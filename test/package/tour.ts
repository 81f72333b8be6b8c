import { commandNames, type InterfaceName } from '../../src/index';
import { commands, type CommandRoute } from '../../src/catalogue/commands';
import {
  chargingMembers,
  connectedReadNames,
  isResourceName,
  readNames,
  reads,
  resourceNames,
  resources,
  statisticsMembers,
  type MemberKind,
  type Resource,
  chargingMemberNames,
  interfaces,
  resourcePath,
  type ReadName,
  type ResourceName,
} from '../../src/catalogue/reads';
import { carProfiles, demoCar, hybridCar, startSimulator, type CarOptions, type Simulator } from '../support/simulator';
import type { RealNodeRed } from '../support/real-node-red';
import type { FlowNode } from './checkout';

/**
 * A tour of the whole service through deployed flows: every endpoint of the specification, each of the 39 resources, and every
 * newer read and command. The nodes of a real Node-RED ask a simulated service in each dialect.
 */

export const dialects = ['plain', 'real'] as const;
export type Dialect = (typeof dialects)[number];

/** One read or command by one interface. */
export interface Stop {
  kind: 'read' | 'command';
  name: string;
  interface: InterfaceName;
  method: 'GET' | 'POST';
  /** With `{vin}` in it. */
  path: string;
  /** Whether the specification lacks it (docs/internals/vendor-api.md 1.10, docs/internals/vendor-api.md). */
  unlisted: boolean;
}

/** The result of a stop. */
export interface Seen {
  /** In a few words. */
  answer: string;
  /** Deviations from the expected answer; empty where all was well. */
  problems: string[];
}

export type TourRow = Stop & { seen: Record<Dialect, Seen> };

/** Each car of the simulated service with the reads that differ between cars: a value in words, or the reason why there is none. */
export type ProfileTable = Record<string, Record<string, string>>;

export interface Tour {
  rows: TourRow[];
  profiles: ProfileTable;
}

type Routes = Partial<Record<InterfaceName, Pick<CommandRoute, 'path' | 'unlisted'>>>;

const stopsOf = (kind: Stop['kind'], name: string, routes: Routes): Stop[] =>
  Object.entries(routes).map(([key, { path, unlisted = false }]) => {
    const iface = key as InterfaceName;
    return {
      kind,
      name,
      interface: iface,
      method: kind === 'read' ? 'GET' : 'POST',
      path: interfaces[iface].path + path,
      unlisted,
    };
  });

/** The reads of the newer APIs, which docs/internals/service.md does not have. */
const newerReads = readNames.filter(
  (name) => !isResourceName(name) && !connectedReadNames.some((read) => read === name),
);
const newerReadOf = (name: string): ReadName | undefined => newerReads.find((read) => read === name);

export const stops: readonly Stop[] = [
  ...connectedReadNames.flatMap((name) =>
    stopsOf('read', name, Object.fromEntries(reads[name].routes.map((route) => [route.interface, route]))),
  ),
  ...commandNames.flatMap((name) => stopsOf('command', name, commands[name].routes)),
  ...resourceNames.flatMap((name) =>
    stopsOf('read', name, { 'extended-v1': { path: resourcePath.replace('{resource}', name) } }),
  ),
  ...newerReads.flatMap((name) =>
    reads[name].routes.flatMap(({ interface: iface, path }) =>
      stopsOf('read', name, { [iface]: { path, unlisted: true } }),
    ),
  ),
];

/** The header and the media types of the real dialect have other names, as those of the real service do (docs/internals/vendor-api.md 0). */
const naming = {
  plain: { apiKeyHeader: 'vendor-api-key', mediaTypeVendor: 'vendor' },
  real: { apiKeyHeader: 'vcc-api-key', mediaTypeVendor: 'volvocars' },
} as const;

/** A hybrid that is plugged in has a value for every newer read. */
const livingCar: CarOptions = { ...hybridCar, vin: 'TOURHYBR1DPLUGGED', charger: { connection: 'CONNECTED' } };

/** The demo car tells neither its washer fluid nor one of its tires. */
const wholeCar: CarOptions = {
  ...demoCar,
  vin: 'TOURWHOLECAR00000',
  resources: { washerFluidLevel: 'NORMAL', frontLeftTyrePressure: 'NORMAL' },
};

/** The kinds of cars, by name. */
const profiles = Object.entries(carProfiles) as [string, CarOptions][];

/** Commands run at the same time, so each has a car of its own. */
function vinOf(stop: Stop): string {
  if (stop.kind === 'command') return `TOUR${String(stops.indexOf(stop)).padStart(13, '0')}`;
  return newerReadOf(stop.name) !== undefined ? livingCar.vin : wholeCar.vin;
}

/** Deploys the flows of the tour and makes every stop. */
export async function tour(nodeRed: RealNodeRed): Promise<Tour> {
  const commandCars = stops.filter(({ kind }) => kind === 'command').map((stop) => ({ ...demoCar, vin: vinOf(stop) }));
  const cars = [...profiles.map(([, car]) => car), livingCar, wholeCar, ...commandCars];
  const services = await Promise.all(dialects.map((dialect) => startSimulator({ dialect, cars, ...naming[dialect] })));
  try {
    await nodeRed.admin('POST', 'flows', {
      flows: dialects.flatMap((dialect, index) => flowOf(dialect, services[index] as Simulator)),
    });
    const seen = await Promise.all(
      dialects.map((dialect, index) => makeStops(nodeRed, dialect, services[index] as Simulator)),
    );
    const rows = stops.map((stop, index) => ({
      ...stop,
      seen: Object.fromEntries(dialects.map((dialect, at) => [dialect, seen[at]?.[index]])) as Record<Dialect, Seen>,
    }));
    return { rows, profiles: await compareProfiles(nodeRed) };
  } finally {
    await Promise.all(services.map((service) => service.close()));
  }
}

const compareProfiles = async (nodeRed: RealNodeRed): Promise<ProfileTable> =>
  Object.fromEntries(
    await Promise.all(
      profiles.map(async ([profile, { vin }]) => {
        const read = async (name: string): Promise<[string, string]> => {
          const { payload, vehicle } = await ask(nodeRed, 'real', { kind: 'read', name, interface: 'auto', vin });
          const { value, reason } = payload as Leaf;
          return [
            name,
            vehicle?.error?.code ?? (typeof reason === 'string' ? reason : value === null ? 'null' : inWords(payload)),
          ];
        };
        const names = [...chargingMemberNames, 'fuelAmount', 'distanceToEmpty', 'averageEnergyConsumption', 'commands'];
        return [profile, Object.fromEntries(await Promise.all(names.map(read)))];
      }),
    ),
  );

const makeStops = (nodeRed: RealNodeRed, dialect: Dialect, service: Simulator): Promise<Seen[]> =>
  Promise.all(
    stops.map(async (stop) => {
      return check(stop, await ask(nodeRed, dialect, { ...stop, vin: vinOf(stop) }), service);
    }),
  );

/** The parts of the message that came out of the nodes. */
interface Answer {
  payload?: unknown;
  location?: { lat?: unknown; lon?: unknown };
  vehicle?: { interface?: string; read?: string; source?: string; error?: { code: string; message: string } };
}

interface Question extends Pick<Stop, 'kind' | 'name'> {
  interface: InterfaceName | 'auto';
  vin: string;
}

async function ask(nodeRed: RealNodeRed, dialect: Dialect, stop: Question): Promise<Answer> {
  const choice = {
    'connected-v1': 'v1',
    'extended-v1': 'v1',
    'connected-v2': newerReadOf(stop.name) !== undefined ? 'auto' : 'v2',
  }[stop.interface as string];
  const body = JSON.stringify({ [stop.kind]: stop.name, interface: choice ?? 'auto', vin: stop.vin });
  const response = await fetch(`${nodeRed.url}tour/${dialect}/${stop.kind}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

function check(stop: Stop, answer: Answer, service: Simulator): Seen {
  const { error } = answer.vehicle ?? {};
  if (error !== undefined) return { answer: '', problems: [`${error.code}: ${error.message}`] };
  const path = stop.path.replace('{vin}', vinOf(stop));
  const asked = service.requests.filter((request) => request.method === stop.method && request.path === path);
  // Reads that one request answers share it, as long as it is fresh.
  const isShared = stop.kind === 'read' && newerReadOf(stop.name) !== undefined;
  const isRight = asked.length > 0 && (isShared || asked.length === 1) && asked.every(({ status }) => status < 300);
  const problems = isRight ? [] : [`the service saw ${asked.length} requests to ${path}`];
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
    problems.push(`docs/internals/service.md 2.8 has no ${JSON.stringify(payload)}`);
  const newer = newerReadOf(stop.name);
  if (newer !== undefined) problems.push(...livingProblems(newer, payload, answer));
  return { answer: inWords(payload), problems };
}

/** Whether a value is of the type, the unit and the words that docs/internals/service.md 2.8 gives to the resource. */
function fits(resource: Resource, { value, unit }: Record<string, unknown>): boolean {
  if (resource.kind === 'boolean') return typeof value === 'boolean' && unit === null;
  if (resource.kind === 'enum') return resource.values.includes(value as string) && unit === null;
  return (
    typeof value === 'number' && (resource.kind !== 'integer' || Number.isInteger(value)) && unit === resource.unit
  );
}

type Leaf = Record<string, unknown>;

/** Deviations of a newer read (docs/internals/contract.md 3). */
function livingProblems(name: ReadName, payload: Leaf, { location }: Answer): string[] {
  const wrong = (what: string): string[] => [`${what} is ${JSON.stringify(payload)}`];
  const isTold = ({ value, timestamp }: Leaf): boolean =>
    value !== null && Number.isFinite(Date.parse(String(timestamp)));
  const member = new Map<string, MemberKind>(Object.entries({ ...chargingMembers, ...statisticsMembers })).get(name);
  if (member !== undefined) return fitsMember(member, payload) && isTold(payload) ? [] : wrong(name);
  switch (name) {
    // The pack computes it from the minutes that are left, so no document has its unit.
    case 'chargingDoneAt':
      return Number.isFinite(Date.parse(String(payload['value']))) && isTold(payload) ? [] : wrong(name);
    case 'charging':
      return chargingMemberNames.every((member) => fitsMember(chargingMembers[member], payload[member] as Leaf))
        ? []
        : wrong('the energy state');
    case 'chargingCapabilities':
      return chargingMemberNames.every((member) => (payload[member] as Leaf | undefined)?.['isSupported'] === true)
        ? []
        : wrong('the list of capabilities');
    case 'location': {
      const { latitude, longitude, altitude, heading, timestamp } = payload;
      const isWhole = [latitude, longitude, altitude, heading].every((value) => typeof value === 'number');
      return isWhole && typeof timestamp === 'string' && location?.lat === latitude && location?.lon === longitude
        ? []
        : wrong('the location');
    }
    default: {
      // Without a warning there is nothing that triggered it.
      const { serviceTrigger, ...members } = payload;
      const isUntold = serviceTrigger === undefined || !isTold(serviceTrigger as Leaf);
      return isUntold && Object.values(members).length > 0 && Object.values(members).every((one) => isTold(one as Leaf))
        ? []
        : wrong('the group');
    }
  }
}

const fitsMember = (row: MemberKind, { value, unit }: Leaf): boolean =>
  row.kind === 'word'
    ? row.values.includes(String(value)) && unit === null
    : typeof value === 'number' && unit === row.unit;

function inWords(payload: unknown): string {
  if (Array.isArray(payload))
    return payload
      .map((item: Record<string, unknown>) => String(item['command'] ?? `…${String(item['vin']).slice(-6)}`))
      .join(', ');
  const { value, unit, descriptions, ...members } = payload as Record<string, unknown>;
  if (descriptions !== undefined)
    return `${String((descriptions as { model: unknown }).model)}, ${String(members['modelYear'])}`;
  if (value !== undefined) return [value, unit].filter((part) => part !== null && part !== undefined).join(' ');
  const states = Object.entries(members).map(([name, state]) => {
    if (typeof state !== 'object' || state === null) return `${name} ${String(state)}`;
    const member = state as Leaf;
    return `${name} ${[member['value'] ?? member['isSupported'], member['unit']].filter(Boolean).join(' ')}`;
  });
  return states.join(', ');
}

/** HTTP requests go through the nodes and return as answers; a catch node answers for a failed one. */
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
    node(
      'wrap',
      'change',
      { rules: [set('payload', '{ "payload": payload, "vehicle": vehicle, "location": location }', 'jsonata')] },
      ['answer'],
    ),
    node('answer', 'http response', { statusCode: '200', headers: {} }),
  ];
}

/** The kinds of cars side by side. */
export function profileTable(table: ProfileTable): string {
  const names = Object.keys(table);
  const reads = Object.keys(table[names[0] ?? ''] ?? {});
  const lines = reads.map((read) => [read, ...names.map((name) => table[name]?.[read] ?? '')]);
  return [['read', ...names], ['---', ...names.map(() => '---')], ...lines]
    .map((line) => `| ${line.join(' | ')} |`)
    .join('\n');
}

/** The tour as a table for a person. */
export function tourTable(rows: readonly TourRow[]): string {
  const cell = ({ answer, problems }: Seen): string =>
    problems.length === 0 ? answer : `**failed**: ${problems.join('; ')}`;
  const lines = rows.map((row) => [
    row.interface,
    `${row.method} ${row.path}`,
    row.name,
    ...dialects.map((dialect) => cell(row.seen[dialect])),
  ]);
  const header = ['interface', 'endpoint', 'read or command', ...dialects.map((dialect) => `seen, ${dialect} dialect`)];
  return [header, header.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
}
