import * as z from 'zod/mini';
import type { Clock } from '../../util/clock';
import {
  commands,
  isCommandName,
  requestDetails,
  unlockDurationLimits,
  type Command,
  type CommandRoute,
} from '../../catalogue/commands';
import {
  connectedReadNames,
  connectedReads,
  interfacePaths,
  json,
  resourceNames,
  resourceRoute,
  reads,
  resources,
  type ConnectedRead,
  type ConnectedReadName,
  type InterfaceName,
  type ReadName,
  type Route,
} from '../../catalogue/reads';
import { groupPath, groups as groupRows } from '../../catalogue/groups';
import type { Answer, Refusal, RefusalName } from './answer';
import type { Car } from '../car/car';
import { iso, standardCommands, yearAfter, type ConnectedInterface, type Dialect, type ViewContext } from './dialect';
import { capabilitiesBody, energyBody, groupBody, locationBody } from './common-bodies';
import { groups } from '../car/groups';
import { maxRuntimeMinutes } from '../car/invocation';
import { extendedListScope } from './tokens';

/** The handler of one path and method, and the requirements that a request must meet first (docs/service.md 4, 5). */
export interface Endpoint {
  method: 'GET' | 'POST';
  /** With the parameters `{vin}`, `{resource}`, `{command}` and `{id}`. */
  path: string;
  interface: InterfaceName;
  /** Besides `openid`. */
  scopes: readonly string[] | ((parameters: Record<string, string>) => readonly string[]);
  /** The media types that the accept header (GET) or the content type (POST) may name; `{vendor}` is filled in. */
  mediaTypes: readonly string[];
  /** The media type of the answer. */
  answers: string;
  handle(call: Call): Answer | Promise<Answer>;
}

/** A request that passed key, limits, token and scopes. */
export interface Call {
  car: Car;
  parameters: Record<string, string>;
  body: string;
  context: ViewContext;
  refuse(name: RefusalName, details?: Partial<Refusal>): Answer;
}

/** Everything that the endpoints share. */
interface EndpointParts {
  cars: ReadonlyMap<string, Car>;
  clock: Clock;
  dialect: Dialect;
  newId: () => string;
  /** Ends the delays of a service that closes. */
  signal: AbortSignal;
}

const v1Answer = (name: string): string => `application/vnd.{vendor}.api.connected-vehicle.${name}.v1+json`;

/** The routes of the catalogue (docs/service.md 4.1 to 4.3), and in the real dialect those of the field notes. */
export function endpointsOf(parts: EndpointParts): Endpoint[] {
  return [
    ...connectedEndpoints(parts),
    ...commandEndpoints(parts),
    requestDetail(parts),
    ...resourceEndpoints(parts),
    ...groupEndpoints(parts),
    ...energyEndpoints(),
    ...(parts.dialect.name === 'real' ? realEndpoints(parts) : []),
  ];
}

type ReadView = (call: Call) => unknown;

function connectedEndpoints(parts: EndpointParts): Endpoint[] {
  const { dialect, cars } = parts;
  const views: Record<ConnectedReadName, ReadView> = {
    windows: ({ car, context }) => dialect.windows(car, context),
    doors: ({ car, context }) => dialect.doors(car, context),
    details: ({ car, context }) => dialect.details(car, context),
    vehicles: () => [...cars.keys()].map((vin) => ({ vin })),
    commands: ({ car, context }) => dialect.commands(car, context),
    accessibility: ({ car }) => dialect.accessibility(car),
  };
  return connectedReadNames.flatMap((name) => {
    const { routes, scopes }: ConnectedRead = connectedReads[name];
    return entries(routes).map(([from, route]) => connectedRead(parts, name, from, route, scopes, views[name]));
  });
}

const entries = <Row extends Route | CommandRoute>(
  routes: Partial<Record<ConnectedInterface, Row>>,
): [ConnectedInterface, Row][] =>
  (['connected-v1', 'connected-v2'] as const).flatMap((name): [ConnectedInterface, Row][] =>
    routes[name] === undefined ? [] : [[name, routes[name]]],
  );

function connectedRead(
  { dialect }: EndpointParts,
  name: string,
  from: ConnectedInterface,
  { path, accept }: Route,
  scopes: readonly string[],
  view: ReadView,
): Endpoint {
  return {
    method: 'GET',
    path: interfacePaths[from] + path,
    interface: from,
    scopes,
    mediaTypes: [accept],
    answers: accept,
    handle: (call) =>
      path.includes('{vin}') && lacks(call.car, name)
        ? unsupported(call, name)
        : { status: 200, body: dialect.envelope(view(call), 200, call.context) },
  };
}

const lacks = (car: Car, name: string): boolean => car.state.unsupported.includes(name);

const unsupported = (call: Call, name: string): Answer =>
  call.refuse('not-supported', { description: `${name} is not supported by this vehicle` });

function commandEndpoints(parts: EndpointParts): Endpoint[] {
  const named = standardCommands.flatMap((name) => {
    const { routes, scopes }: Command = commands[name];
    return entries<CommandRoute>(routes)
      .filter(([, route]) => route.unlisted !== true || parts.dialect.name === 'real')
      .map(([from, route]) => commandEndpoint(parts, name, from, route, scopes));
  });
  return [...named, extraCommand(parts)];
}

function commandEndpoint(
  parts: EndpointParts,
  name: string,
  from: ConnectedInterface,
  route: CommandRoute,
  scopes: readonly string[],
): Endpoint {
  return {
    method: 'POST',
    path: interfacePaths[from] + route.path,
    interface: from,
    scopes,
    mediaTypes: [route.contentType],
    answers: from === 'connected-v1' ? v1Answer('commandinvokeresponse') : json,
    handle(call) {
      // "It is unavailable for classic cars" (docs/service.md 4.1 rule 1).
      if (lacks(call.car, name) || (name === 'lock-reduced-guard' && call.car.state.classic))
        return unsupported(call, name);
      const body =
        route.body === 'unlockDuration'
          ? bodyOf(call, unlockRequest, 'invalid-body')
          : { unlockDuration: unlockDurationLimits.maximum };
      if ('status' in body) return body;
      return from === 'connected-v1'
        ? accept(parts, call, name, body.unlockDuration)
        : carryOut(parts, call, name, body.unlockDuration);
    },
  };
}

/** A command that only some cars take (docs/field-notes.md 1.7, docs/energy-location-api.md 5). */
function extraCommand(parts: EndpointParts): Endpoint {
  return {
    method: 'POST',
    path: `${interfacePaths['connected-v2']}/vehicles/{vin}/commands/{command}`,
    interface: 'connected-v2',
    scopes: ({ command = '' }) => (isCommandName(command) ? commands[command].scopes : []),
    mediaTypes: [json],
    answers: json,
    handle(call) {
      const { command = '' } = call.parameters;
      const { extraCommands, charger } = call.car.state;
      if (!extraCommands.includes(command)) return unsupported(call, command);
      if (command !== 'engine-start') return carryOut(parts, call, command, unlockDurationLimits.maximum);
      const body = bodyOf(call, runtimeRequest, 'invalid-runtime');
      if ('status' in body) return body;
      if (charger.connection === 'CONNECTED') return call.refuse('plugged-in');
      return carryOut(parts, call, command, unlockDurationLimits.maximum, body.runtimeMinutes);
    },
  };
}

/** The service's own description allows 0 (docs/field-notes.md 2.2): the tailgate locks again at once. */
const unlockRequest = z.object({
  unlockDuration: z.int().check(z.minimum(0), z.maximum(unlockDurationLimits.maximum)),
});

/** 0 is in the range that the service publishes; what it does is not (docs/energy-location-api.md 5.2, 9). */
const runtimeRequest = z.object({ runtimeMinutes: z.int().check(z.minimum(0), z.maximum(maxRuntimeMinutes)) });

/** The body as the schema has it, or the refusal. */
function bodyOf<Body extends object>(call: Call, schema: z.ZodMiniType<Body>, refusal: RefusalName): Body | Answer {
  try {
    const parsed = schema.safeParse(JSON.parse(call.body));
    return parsed.success ? parsed.data : call.refuse(refusal);
  } catch {
    return call.refuse(refusal === 'invalid-body' ? 'bad-request' : refusal);
  }
}

/** v1: the service takes the command and answers with the link to its status (docs/service.md 2.5). */
function accept(
  { dialect, newId }: EndpointParts,
  { car, context }: Call,
  command: string,
  unlockDuration: number,
): Answer {
  const id = newId().replaceAll('-', '');
  const invocation = car.invoke({
    id,
    operationId: context.operationId,
    command,
    interface: 'connected-v1',
    unlockDuration,
  });
  return {
    status: 202,
    body: dialect.accepted(invocation, car.statusOf(invocation), { ...context, href: hrefOf(context, car, id) }),
  };
}

const hrefOf = ({ url }: ViewContext, car: Car, id: string): string =>
  `${url}${interfacePaths['connected-v1']}/vehicles/${car.vin}/requests/${id}`;

/** v2: the request blocks until the command has ended (docs/field-notes.md 1.9). */
async function carryOut(
  { dialect, newId, clock, signal }: EndpointParts,
  call: Call,
  command: string,
  unlockDuration: number,
  runtimeMinutes?: number,
): Promise<Answer> {
  const { car, context } = call;
  const invocation = car.invoke({
    id: newId(),
    operationId: context.operationId,
    command,
    interface: 'connected-v2',
    unlockDuration,
    ...(runtimeMinutes !== undefined && { runtimeMinutes }),
  });
  const end = invocation.receivedAt + car.state.commandPlan.answerAfterMs;
  // A timer of the system may fire a millisecond early, when the command has not ended yet.
  while (clock.now() < end) await clock.sleep(end - clock.now(), signal);
  const status = car.statusOf(invocation);
  if (dialect.name === 'real' && status === 'REJECTED' && car.state.inUse) return call.refuse('car-in-use');
  return { status: 200, body: dialect.ended(car, invocation, status) };
}

/** The target of `async.href` of a v1 command (docs/field-notes.md 2.2). */
function requestDetail({ dialect, clock }: EndpointParts): Endpoint {
  return {
    method: 'GET',
    path: `${interfacePaths['connected-v1']}/vehicles/{vin}/requests/{id}`,
    interface: 'connected-v1',
    scopes: requestDetails.scopes,
    mediaTypes: [requestDetails.accept, json],
    answers: requestDetails.accept,
    handle(call) {
      const { car, context } = call;
      const invocation = car.invocation(call.parameters['id'] ?? '');
      // "The invocation log is kept for one year" (docs/service.md 2.5).
      if (invocation === undefined || clock.now() >= Date.parse(yearAfter(invocation.receivedAt)))
        return call.refuse('not-found', { description: 'No such request' });
      const data = {
        created: iso(invocation.receivedAt),
        updated: iso(invocation.updatedAt(clock.now())),
        command: invocation.command.toUpperCase().replaceAll('-', '_'),
        requestId: invocation.id,
        invokeStatus: car.statusOf(invocation),
        href: hrefOf(context, car, invocation.id),
      };
      return { status: 200, body: dialect.envelope(data, 200, context) };
    },
  };
}

function resourceEndpoints({ dialect }: EndpointParts): Endpoint[] {
  const shared = {
    method: 'GET',
    interface: 'extended-v1',
    mediaTypes: [resourceRoute.accept],
    answers: dialect.name === 'real' ? `${json};charset=UTF-8` : json,
  } as const;
  const path = interfacePaths['extended-v1'] + resourceRoute.path;
  // Unsupported resource: 403 on the real service, not 404 (docs/field-notes.md 3.3).
  const missing = (call: Call, name: string): Answer =>
    dialect.name === 'real'
      ? call.refuse('exve-error', { description: `${name} is not available for this vehicle` })
      : unsupported(call, name);
  return [
    ...resourceNames.map((name): Endpoint => ({
      ...shared,
      path: path.replace('{resource}', name),
      scopes: [resources[name].scope],
      handle: (call) =>
        lacks(call.car, name) ? missing(call, name) : { status: 200, body: dialect.resource(call.car, name) },
    })),
    { ...shared, path, scopes: [], handle: (call) => missing(call, call.parameters['resource'] ?? '') },
  ];
}

/** The groups of connected v2 (docs/energy-location-api.md 4). */
const groupEndpoints = (parts: EndpointParts): Endpoint[] =>
  Object.entries(groups).map(([name, group]) => {
    const known = name as keyof typeof groups;
    const route = { path: groupPath(known), accept: json };
    return connectedRead(parts, name, 'connected-v2', route, groupRows[known].scopes, ({ car }) =>
      groupBody(car, name, group),
    );
  });

/** Energy v2 and location v1 (docs/energy-location-api.md 2, 3). */
function energyEndpoints(): Endpoint[] {
  const read = (name: ReadName, handle: (call: Call) => Answer): Endpoint[] =>
    reads[name].routes.map(({ interface: from, path, scopes }) => ({
      method: 'GET',
      path: interfacePaths[from] + path,
      interface: from,
      scopes,
      mediaTypes: [json],
      answers: json,
      handle,
    }));
  const energy = (name: ReadName, view: (car: Car) => object): Endpoint[] =>
    read(name, (call) =>
      call.car.state.energy.notFound ? call.refuse('energy-not-found') : { status: 200, body: view(call.car) },
    );
  return [
    ...energy('charging', energyBody),
    ...energy('chargingCapabilities', capabilitiesBody),
    ...read('location', (call) =>
      call.car.state.location.shared
        ? { status: 200, body: locationBody(call.car, call.context.operationId) }
        : call.refuse('no-position'),
    ),
  ];
}

/** The lists of the extended interface, which only the real service has (docs/field-notes.md 3.2). */
function realEndpoints(parts: EndpointParts): Endpoint[] {
  const { cars, clock } = parts;
  const lists = {
    method: 'GET',
    interface: 'extended-v1',
    mediaTypes: [json],
    answers: `${json};charset=UTF-8`,
    scopes: [extendedListScope],
  } as const;
  const base = interfacePaths['extended-v1'];
  return [
    {
      ...lists,
      path: `${base}/vehicles`,
      handle: () => ({
        status: 200,
        body: { vehicles: [...cars.keys()].map((id) => ({ timestamp: clock.now(), id })) },
      }),
    },
    {
      ...lists,
      path: `${base}/vehicles/{vin}/resources`,
      handle: ({ car, context }) => ({
        status: 200,
        body: {
          resources: resourceNames
            .filter((name) => !lacks(car, name))
            .map((name) => ({
              version: '1.0',
              name,
              href: `${context.url}${base}/vehicles/${car.vin}/resources/${name}`,
            })),
        },
      }),
    },
  ];
}
