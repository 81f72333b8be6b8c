import {
  commandPattern,
  commands,
  isCommandName,
  type CommandInterface,
  type CommandName,
  type CommandRow,
} from '../catalogue/commands';
import { json, newestOf, type InterfaceChoice, type InterfaceName } from '../catalogue/reads';
import type { ServiceProfile } from '../catalogue/services';
import type { VehicleClient } from '../client';
import { VehicleError } from '../errors';
import { followLink, mediaType, noInterface, urlOf } from '../http/addresses';
import { needsArming, parseAmpere, parseCommandName, parseRuntimeMinutes, parseUnlockDuration } from '../inputs';
import { sentence } from '../sentence';
import type { Signal } from '../util/cancellation';
import { parseSchedule } from './schedule';

/** A command as a message or a node names it. */
export interface CommandInput {
  vin?: unknown;
  interface?: InterfaceChoice;
  /** Seconds, 1 to 120: the v1 unlock only (docs/internals/service.md 4.2 rule 1). */
  unlockDuration?: unknown;
  /** Minutes, 1 to 15: `engine-start` only (docs/internals/vendor-api.md 15.2). */
  runtimeMinutes?: unknown;
  /** 6 to 32: `wallbox-limit` only. */
  ampere?: unknown;
  /** A list of `{ from, to, ampere | watt }`: `wallbox-schedule` only. */
  schedule?: unknown;
}

/** A validated command with its interface, address and body, ready to be sent. */
export interface CommandRoute {
  command: string;
  vin: string;
  /** The id of the wallbox that the command is for; undefined for a command of the car. */
  wallbox?: string;
  interface: CommandInterface;
  url: URL;
  contentType: string;
  body: string | undefined;
  unlockSeconds: number | undefined;
  scopes: readonly string[];
}

type Client = Pick<VehicleClient, 'service' | 'read' | 'requireVin' | 'requireWallbox'>;

/**
 * Validates a command and finds its address: POST …/commands/{command}
 * (docs/internals/service.md 4.1, 4.2). A command that the specification does not name goes to the
 * href of the vehicle's own list, which is read for it (docs/internals/service.md 4.1 rule
 * 3).
 * @throws VehicleError VIN_INVALID, INPUT_INVALID, NOT_SUPPORTED, UNTRUSTED_LINK, and what
 * reading the list throws
 */
export async function commandRoute(
  name: unknown,
  input: CommandInput,
  client: Client,
  { signal, now }: { signal?: Signal; now: number },
): Promise<CommandRoute> {
  const vin = await client.requireVin(input.vin, signal);
  const command = parseCommandName(name);
  if (!isCommandName(command)) return routeFromList(command, vin, input, client, signal);
  const { service } = client;
  const { scopes }: CommandRow = commands[command];
  const { iface, route } = chooseInterface(command, input.interface ?? 'auto', service);
  const unlockDuration = command === 'unlock' ? parseUnlockDuration(input.unlockDuration) : undefined;
  const runtimeMinutes = command === 'engine-start' ? parseRuntimeMinutes(input.runtimeMinutes) : undefined;
  const schedule = command === 'wallbox-schedule' ? parseSchedule(input.schedule, now) : undefined;
  const ampere = command === 'wallbox-limit' ? String(parseAmpere(input.ampere)) : '';
  const wallbox = iface === 'energy-device-v1' ? client.requireWallbox() : undefined;
  const bodies = { unlockDuration: { unlockDuration }, runtimeMinutes: { runtimeMinutes }, schedule };
  return {
    command,
    vin,
    ...(wallbox !== undefined && { wallbox }),
    interface: iface,
    url: urlOf(service, iface, route.path, { vin, ampere, wallbox: wallbox ?? '' }),
    contentType: mediaType(service, route.contentType),
    body: route.body === undefined ? undefined : JSON.stringify(bodies[route.body]),
    unlockSeconds: route.body === 'unlockDuration' ? unlockDuration : undefined,
    scopes,
  };
}

/**
 * The route that a message or a node chose, or that `auto` chooses (docs/internals/contract.md 3).
 */
function chooseInterface(name: CommandName, chosen: InterfaceChoice, { availableInterfaces }: ServiceProfile) {
  const { routes }: CommandRow = commands[name];
  // A command of a wallbox has one interface, so there is no choice.
  const choice = routes['energy-device-v1'] === undefined ? chosen : 'auto';
  const candidates: readonly CommandInterface[] =
    choice === 'auto' ? ['connected-v2', 'connected-v1', 'energy-device-v1'] : [`connected-${choice}`];
  const usable = candidates.flatMap((iface) => {
    const route = routes[iface];
    if (route === undefined || !availableInterfaces.includes(iface)) return [];
    return [{ iface, route, ...(route.unlisted && { unlisted: route.unlisted }) }];
  });
  const best = newestOf(usable, availableInterfaces);
  if (best === undefined) throw noInterface(name, new Set(Object.keys(routes) as InterfaceName[]), choice);
  return best;
}

async function routeFromList(
  command: string,
  vin: string,
  input: CommandInput,
  client: Client,
  signal: Signal | undefined,
): Promise<CommandRoute> {
  if (input.interface === 'v1')
    throw new VehicleError('NOT_SUPPORTED', sentence`The command ${command} is not part of v1. Choose v2 or auto.`);
  const { payload: offers } = await client.read('commands', { vin, forCommand: true, signal });
  const offer = offers.find((one) => one.command === command);
  if (!offer?.href) {
    const names = offers.map((one) => one.command).filter((one) => commandPattern.test(one));
    throw new VehicleError(
      'INPUT_INVALID',
      sentence`This vehicle has no command “${command}”. Send one of its own list: ${names.length === 0 ? 'none' : names.slice(0, 30)}.`,
    );
  }
  const url = followLink(client.service, offer.href);
  // Under another name the command would bypass the arming that a flow sets up.
  if (!needsArming(command) && needsArming(decoded(url.pathname)))
    throw new VehicleError(
      'INPUT_INVALID',
      sentence`“${command}” unlocks the vehicle or starts its engine. Send it as the command unlock or engine-start.`,
    );
  return {
    command,
    vin,
    interface: 'connected-v2',
    url,
    contentType: json,
    body: undefined,
    unlockSeconds: undefined,
    scopes: [],
  };
}

/** The path without percent-encoding. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
