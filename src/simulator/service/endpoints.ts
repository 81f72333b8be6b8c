import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { iso, type Clock } from '../../util/clock';
import {
  commandRow,
  commands,
  requestDetails,
  runtimeMinutesLimits,
  unlockDurationLimits,
  type CommandRow,
} from '../../catalogue/commands';
import {
  interfaces,
  json,
  reads,
  resourceNames,
  resourcePath,
  type InterfaceName,
  type ReadName,
} from '../../catalogue/reads';
import { ok, type Answer, type Refusal, type RefusalName } from './answer';
import type { Car } from '../car/car';
import { groupNames } from '../car/groups';
import type { InvocationRequest } from '../car/invocation';
import { scheduleShape } from '../car/wallbox';
import {
  acceptedBody,
  accessibilityBody,
  capabilitiesBody,
  commandList,
  detailsBody,
  endedBody,
  energyBody,
  envelope,
  groupBody,
  locationBody,
  openingsBody,
  resourceBody,
  standardCommands,
  yearAfter,
  type ViewContext,
} from './bodies';

/** What a request must meet (docs/internals/service.md 4, 5), and what then answers it. */
export interface Endpoint {
  method: 'GET' | 'POST';
  /** With the parameters `{vin}`, `{resource}`, `{command}` and `{id}`. */
  path: string;
  interface: InterfaceName;
  /** Besides `openid`. */
  scopes: readonly string[] | ((parameters: Record<string, string>) => readonly string[]);
  /** What the accept header (GET) or the content type (POST) may name, with `{vendor}`. */
  mediaTypes: readonly string[];
  answers: string;
  handle(call: Call): Answer | Promise<Answer>;
}

/** A request that passed key, limits, token and scopes. */
export interface Call {
  car: Car;
  parameters: Record<string, string>;
  query: URLSearchParams;
  body: string;
  context: ViewContext;
  refuse(name: RefusalName, details?: Partial<Refusal>): Answer;
}

interface EndpointParts {
  cars: ReadonlyMap<string, Car>;
  clock: Clock;
  /** Whether the service has the shapes and the addresses of the real one. */
  isReal: boolean;
  /** Ends the delays of a service that closes. */
  signal: AbortSignal;
}

const v1Answer = (name: string): string => `application/vnd.{vendor}.api.connected-vehicle.${name}.v1+json`;

/** docs/internals/service.md 4.1 to 4.3, and what docs/internals/vendor-api.md adds. */
export const endpointsOf = (parts: EndpointParts): Endpoint[] => [
  ...readEndpoints(parts),
  ...commandEndpoints(parts),
  extraCommand(parts),
  requestDetail(parts),
  ...wallboxCommands(),
];

function readEndpoints({ cars, isReal }: EndpointParts): Endpoint[] {
  const extendedAnswer = isReal ? `${json};charset=UTF-8` : json;
  const read = (name: ReadName, on: readonly InterfaceName[], handle: Endpoint['handle']): Endpoint[] =>
    reads[name].routes
      .filter((route) => on.includes(route.interface))
      .map(({ interface: from, path, accept, scopes }) => ({
        method: 'GET',
        path: interfaces[from].path + path,
        interface: from,
        scopes,
        mediaTypes: [accept],
        answers: from === 'extended-v1' ? extendedAnswer : accept,
        handle,
      }));
  const connected = (name: ReadName, view: (call: Call) => unknown): Endpoint[] =>
    read(name, ['connected-v1', 'connected-v2'], (call) => ok(envelope(view(call), call.context)));
  const energy = (name: ReadName, view: (car: Car) => object): Endpoint[] =>
    read(name, ['energy-v2'], (call) =>
      call.car.state.energy.notFound ? call.refuse('energy-not-found') : ok(view(call.car)),
    );
  return [
    ...connected('windows', ({ car, context }) => openingsBody(car, 'windows', context)),
    ...connected('doors', ({ car, context }) => openingsBody(car, 'doors', context)),
    ...connected('details', ({ car, context }) => detailsBody(car, context)),
    ...connected('vehicles', () => [...cars.keys()].map((vin) => ({ vin }))),
    ...connected('commands', ({ car, context }) => commandList(car, context)),
    ...connected('accessibility', ({ car, context }) => accessibilityBody(car, context)),
    ...groupNames.flatMap((name) => connected(name, ({ car }) => groupBody(car, name))),
    ...energy('charging', energyBody),
    ...energy('chargingCapabilities', capabilitiesBody),
    ...read('wallboxSessions', ['energy-device-v1'], ({ car, query, refuse }) => {
      const [from, to] = ['start', 'end'].map((name) => Date.parse(query.get(name) ?? ''));
      if (from === undefined || to === undefined || !(from <= to)) return refuse('bad-request');
      return ok(car.wallbox.sessions(from, to));
    }),
    ...read('location', ['location-v1'], ({ car, context, refuse }) =>
      car.state.location.shared ? ok(locationBody(car, context.operationId)) : refuse('no-position'),
    ),
    ...resourceNames.flatMap((name) =>
      read(name, ['extended-v1'], ({ car, context }) => ok(resourceBody(car, name, context))),
    ),
    {
      method: 'GET',
      path: interfaces['extended-v1'].path + resourcePath,
      interface: 'extended-v1',
      scopes: [],
      mediaTypes: [json],
      answers: extendedAnswer,
      handle(call) {
        const { resource = '' } = call.parameters;
        // Unsupported resource: 403 on the real service, not 404
        // (docs/internals/vendor-api.md 3.3).
        return isReal
          ? call.refuse('exve-error', { description: `${resource} is not available for this vehicle` })
          : unsupported(call, resource);
      },
    },
  ];
}

const unsupported = (call: Call, name: string): Answer =>
  call.refuse('not-supported', { description: `${name} is not supported by this vehicle` });

const commandEndpoints = (parts: EndpointParts): Endpoint[] =>
  standardCommands.flatMap((name) => {
    const { routes, scopes }: CommandRow = commands[name];
    return (['connected-v1', 'connected-v2'] as const).flatMap((from): Endpoint[] => {
      const route = routes[from];
      if (route === undefined) return [];
      const endpoint: Endpoint = {
        method: 'POST',
        path: interfaces[from].path + route.path,
        interface: from,
        scopes,
        mediaTypes: [route.contentType],
        answers: from === 'connected-v1' ? v1Answer('commandinvokeresponse') : json,
        handle(call) {
          // "It is unavailable for classic cars" (docs/internals/service.md 4.1 rule 1).
          if (name === 'lock-reduced-guard' && call.car.state.classic) return unsupported(call, name);
          const body = route.body === 'unlockDuration' ? bodyOf<CommandBody>(call, unlockRequest, 'invalid-body') : {};
          if ('status' in body) return body;
          return from === 'connected-v1' ? accept(parts, call, name, body) : carryOut(parts, call, name, body);
        },
      };
      return [endpoint];
    });
  });

/** A command that only some cars accept (docs/internals/vendor-api.md 1.7, 15). */
function extraCommand(parts: EndpointParts): Endpoint {
  return {
    method: 'POST',
    path: `${interfaces['connected-v2'].path}/vehicles/{vin}/commands/{command}`,
    interface: 'connected-v2',
    scopes: ({ command = '' }) => commandRow(command)?.scopes ?? [],
    mediaTypes: [json],
    answers: json,
    handle(call) {
      const { command = '' } = call.parameters;
      const { extraCommands, charger } = call.car.state;
      if (!extraCommands.includes(command)) return unsupported(call, command);
      if (command !== 'engine-start') return carryOut(parts, call, command, {});
      const body = bodyOf(call, runtimeRequest, 'invalid-runtime');
      if ('status' in body) return body;
      if (charger.connection === 'CONNECTED') return call.refuse('plugged-in');
      return carryOut(parts, call, command, body);
    },
  };
}

/** The service allows 0 (docs/internals/vendor-api.md 2.2): the tailgate locks at once. */
const unlockRequest = z.object({
  unlockDuration: z.int().check(z.minimum(0), z.maximum(unlockDurationLimits.maximum)),
});

/** The service publishes no meaning of 0 (docs/internals/vendor-api.md 15.2, 8). */
const runtimeRequest = z.object({
  runtimeMinutes: z.int().check(z.minimum(0), z.maximum(runtimeMinutesLimits.maximum)),
});

type CommandBody = Pick<InvocationRequest, 'unlockDuration' | 'runtimeMinutes'>;

function bodyOf<Body extends object>(call: Call, schema: z.ZodMiniType<Body>, refusal: RefusalName): Body | Answer {
  try {
    const parsed = schema.safeParse(JSON.parse(call.body));
    return parsed.success ? parsed.data : call.refuse(refusal);
  } catch {
    return call.refuse(refusal === 'invalid-body' ? 'bad-request' : refusal);
  }
}

/** v1 answers with the link to the status (docs/internals/service.md 2.5). */
function accept({ isReal }: EndpointParts, { car, context }: Call, command: string, body: CommandBody): Answer {
  const { operationId } = context;
  const id = randomUUID().replaceAll('-', '');
  const invocation = car.invoke({ ...body, id, operationId, command, interface: 'connected-v1' });
  return { status: 202, body: acceptedBody(invocation, car.statusOf(invocation), hrefOf(context, car, id), isReal) };
}

const hrefOf = ({ url }: ViewContext, car: Car, id: string): string =>
  `${url}${interfaces['connected-v1'].path}/vehicles/${car.vin}/requests/${id}`;

/** v2: the request blocks until the command has ended (docs/internals/vendor-api.md 1.9). */
async function carryOut(parts: EndpointParts, call: Call, command: string, body: CommandBody): Promise<Answer> {
  const { isReal, clock, signal } = parts;
  const { car, context } = call;
  const { operationId } = context;
  const invocation = car.invoke({ ...body, id: randomUUID(), operationId, command, interface: 'connected-v2' });
  const { endsAt } = invocation;
  // A timer of the system may fire a millisecond early, when the command has not ended yet.
  while (clock.now() < endsAt) await clock.sleep(endsAt - clock.now(), signal);
  const status = car.statusOf(invocation);
  if (isReal && status === 'REJECTED' && car.state.inUse) return call.refuse('car-in-use');
  return ok(endedBody(car.vin, invocation, status, isReal));
}

/** The commands of a wallbox (docs/internals/vendor-api.md 17). */
function wallboxCommands(): Endpoint[] {
  const accepted: Answer = { status: 202 };
  const post = (path: string, handle: (call: Call) => Answer): Endpoint => ({
    method: 'POST',
    path: `${interfaces['energy-device-v1'].path}/wallbox/{wallbox}/${path}`,
    interface: 'energy-device-v1',
    scopes: ['energy_device:wallbox:write', 'energy_device:wallbox:control'],
    mediaTypes: [json],
    answers: json,
    handle,
  });
  const power =
    (on: boolean) =>
    (call: Call): Answer => {
      const { wallbox } = call.car;
      if (!wallbox.isPluggedIn) return call.refuse('wallbox-status');
      wallbox.switch(on);
      return ok({ value: on ? 'Charging' : 'Paused' });
    };
  return [
    post('start', power(true)),
    post('pause', power(false)),
    post('setChargingAmpLimit', ({ car, query, refuse }) => {
      const limit = Number(query.get('limit') ?? '');
      if (!(limit > 0)) return refuse('bad-request');
      car.wallbox.limit(limit);
      return accepted;
    }),
    post('chargingSchedule', (call) => {
      const body = bodyOf(call, scheduleShape, 'bad-request');
      if ('status' in body) return body;
      call.car.wallbox.schedule(body);
      return accepted;
    }),
  ];
}

/** The target of `async.href` of a v1 command (docs/internals/vendor-api.md 2.2). */
function requestDetail({ clock }: EndpointParts): Endpoint {
  return {
    method: 'GET',
    path: `${interfaces['connected-v1'].path}/vehicles/{vin}/requests/{id}`,
    interface: 'connected-v1',
    scopes: requestDetails.scopes,
    mediaTypes: [requestDetails.accept, json],
    answers: requestDetails.accept,
    handle(call) {
      const { car, context } = call;
      const invocation = car.invocation(call.parameters['id'] ?? '');
      // "The invocation log is kept for one year" (docs/internals/service.md 2.5).
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
      return ok(envelope(data, context));
    },
  };
}
