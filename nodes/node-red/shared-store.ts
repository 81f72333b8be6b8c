import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { NodeAPI } from 'node-red';
import * as z from 'zod/mini';
import { RedisStateStore, sentence, VehicleError, type Clock } from '../../src/index';
import { redactor } from './redaction';
import { settingOfNodeRed, sharedSecret } from './store-secret';

const trimmedText = z.string().check(z.trim());
/** `connectedVehicle` of settings.js. */
const settingsSchema = z.lazy(() =>
  z.strictObject({
    store: z.optional(trimmedText),
    group: z.optional(trimmedText),
    prefix: z.optional(trimmedText),
    /** `each`: the same command from the same node of two copies is sent twice. */
    commands: z.optional(z.enum(['joined', 'each'])),
    /** As `tls.connect` accepts them. */
    tls: z.optional(z.looseObject({})),
  }),
);

interface SharedStoreChoice {
  store: RedisStateStore;
  /**
   * The same text in all copies of the same flows, of which one polls; null if this
   * process is not such a copy.
   */
  group: string | null;
  joinsCommands: boolean;
  /**
   * Names the part of the store for the nodes of this process, or of its group: the group, or the
   * host name and the user directory.
   */
  scope: string;
}

/**
 * The store that the environment chooses (`CONNECTED_VEHICLE_STORE`, `_GROUP`, `_PREFIX`,
 * `_COMMANDS`), else settings.js; null if neither does: then everything is kept in files. A wrong
 * setting is reported as a fault of the store; files are not used instead.
 */
export function chooseSharedStore(RED: NodeAPI, clock: Clock): SharedStoreChoice | null {
  const { env } = process;
  const given = settingOfNodeRed(RED, 'connectedVehicle') ?? {};
  const ofEnvironment: Record<string, string> = {};
  for (const name of ['store', 'group', 'prefix', 'commands']) {
    const value = env[variableOf(name)]?.trim();
    if (value) ofEnvironment[name] = value;
  }
  const settings = settingsSchema.safeParse(typeof given === 'object' ? { ...given, ...ofEnvironment } : given);
  const { data: { store: url = '', group = '', prefix, commands, tls } = {} } = settings;
  if (url === '' && settings.success) return null;
  // settings.js may name it with a slash at its end, or from where Node-RED was started.
  const userDir = RED.settings.userDir ? resolve(RED.settings.userDir) : '';
  const address = settings.success ? storeUrlOf(url, tls !== undefined) : null;
  const isUsable = address !== null;
  if (isUsable) redactor.learn(decodeURIComponent(address.password));
  // The devices of an instance of FlowFuse also have its id, and each may have its own car.
  const ofFlowFuse = env['FF_DEVICE_ID'] ? undefined : env['FF_INSTANCE_ID'];
  const ownGroup = group || ofFlowFuse || null;
  const scope = ownGroup ?? `${hostname()}\n${userDir}`;
  return {
    group: ownGroup,
    joinsCommands: commands !== 'each',
    scope,
    store: new RedisStateStore({
      url: isUsable ? address.href : 'redis://unknown',
      ...(prefix && { prefix }),
      ...(tls !== undefined && { tls }),
      scope,
      secret: () => sharedSecret(RED),
      clock,
      load() {
        if (isUsable) return loadClient(userDir);
        throw faultOf(settings.error, ofEnvironment);
      },
    }),
  };
}

/** @param error undefined if only the address is wrong */
function faultOf(error: z.core.$ZodError | undefined, ofEnvironment: object): VehicleError {
  const [issue] = error?.issues ?? [];
  if (issue?.code === 'unrecognized_keys')
    return new VehicleError(
      'STORE_UNAVAILABLE',
      sentence`connectedVehicle in settings.js has no setting “${issue.keys[0] ?? ''}”, only store, group, prefix, commands and tls. Correct its name, or remove it.`,
    );
  const [wrong] = issue?.path ?? [];
  if (wrong === undefined)
    return new VehicleError(
      'STORE_UNAVAILABLE',
      'The address of the shared store is not valid. Write it as redis://user:password@host:6379, or rediss:// for TLS, into CONNECTED_VEHICLE_STORE, or into connectedVehicle.store of settings.js.',
    );
  const name = String(wrong);
  const place = name in ofEnvironment ? variableOf(name) : `connectedVehicle.${name} (settings.js)`;
  return new VehicleError(
    'STORE_UNAVAILABLE',
    sentence`The value of ${place} is not valid. Correct it as docs/several-node-reds.md describes, or remove it.`,
  );
}

const variableOf = (setting: string): string => `CONNECTED_VEHICLE_${setting.toUpperCase()}`;

/**
 * @returns null for a text that is not the address of a store: its password is not percent-encoded,
 * or TLS has options and the address is without TLS
 */
function storeUrlOf(text: string, hasTlsOptions: boolean): URL | null {
  try {
    const url = new URL(text);
    const { protocol, hostname: host, password, pathname, search, hash } = url;
    decodeURIComponent(password);
    const isAddress = (hasTlsOptions ? /^(redis|valkey)s:$/ : /^(redis|valkey)s?:$/).test(protocol);
    return isAddress && host !== '' && /^\/?\d*$/.test(pathname) && search + hash === '' ? url : null;
  } catch {
    return null;
  }
}

/**
 * The client that a person has installed beside the pack.
 * @throws VehicleError STORE_UNAVAILABLE
 */
function loadClient(userDir: string): ReturnType<ConstructorParameters<typeof RedisStateStore>[0]['load']> {
  // A pack that is linked into the user directory does not find what is installed there.
  for (const from of [join(userDir, 'package.json'), __filename]) {
    try {
      // The package has the functions that its documentation names.
      return createRequire(from)('@redis/client') as ReturnType<typeof loadClient>;
    } catch {
      // Perhaps it is at the other place.
    }
  }
  throw new VehicleError(
    'STORE_UNAVAILABLE',
    sentence`The client of the shared store is not installed. Run “npm install @redis/client” in the user directory of Node-RED (${userDir}), then restart Node-RED.`,
  );
}
