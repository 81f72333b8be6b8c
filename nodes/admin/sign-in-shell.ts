import { createDecipheriv, createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, hostname } from 'node:os';
import { basename, join, posix, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import type { NodeAPI } from 'node-red';
import * as z from 'zod/mini';
import { memberOf, sentence, VehicleError, wordSentence } from '../../src/index';
import { parseOptions } from '../node-red/options';
import { endPack } from '../per-node-red';
import { vehicleCredentials, vehicleOptions } from '../vehicle/options';
import { safeError } from '../node-red/redaction';
import { packOf, sharedStoreOf } from '../node-red/storage';
import { signInsOf } from '../vehicle/sign-in';

const usage = `connected-vehicle sign-in [--user-dir DIRECTORY] [--settings FILE] [--config ID]

Signs in to the account of a vehicle configuration, for a Node-RED without an editor.
  --user-dir   the user directory of Node-RED; default ~/.node-red
  --settings   its settings file; default settings.js in the user directory
  --config     the id or name of the vehicle configuration, where the flows have several
The redirect URL is the one of the vehicle configuration; where that is empty, /connected-vehicle/callback on localhost,
with uiPort and httpAdminRoot of the settings. It has to be listed by your application at the developer portal.
Without a flow file, or to replace what it says: CONNECTED_VEHICLE_CLIENT_ID, CONNECTED_VEHICLE_CLIENT_SECRET,
and other properties in the same way, such as CONNECTED_VEHICLE_SERVICE and CONNECTED_VEHICLE_REDIRECT_URL.
`;

const configShape = z.looseObject({ id: z.string(), type: z.literal('connected-vehicle') });
type Config = z.infer<typeof configShape> & { credentials?: unknown };

/** The command line of the pack. @returns the exit code */
export async function runCli(given: readonly string[]): Promise<number> {
  const { stdout, stderr } = process;
  let RED: NodeAPI | undefined;
  try {
    const { values, positionals } = parseArguments(given);
    if (positionals[0] !== 'sign-in' || positionals.length > 1) {
      stderr.write(usage);
      return 2;
    }
    const userDir = resolve(values['user-dir'] ?? join(homedir(), '.node-red'));
    const settings = readSettings(values.settings ?? join(userDir, 'settings.js'));
    RED = standIn({ ...settings, userDir }, (text) => stderr.write(`${text}\n`));
    await signIn(RED, chooseConfig(readConfigs(userDir, settings), values.config));
    stdout.write(`Signed in. ${readersOf(RED, userDir)} reads with it from now on.\n`);
    return 0;
  } catch (error) {
    stderr.write(`${wordSentence(safeError(error).sentence)}\n`);
    return 1;
  } finally {
    if (RED !== undefined) await endPack(RED);
  }
}

/** Which Node-REDs use the sign-in. The user can compare it, because the environment of a shell often differs from that of Node-RED. */
function readersOf(RED: NodeAPI, userDir: string): string {
  const place = sharedStoreOf(RED)?.place;
  if (place === undefined) return `The Node-RED that keeps its files in ${userDir}, and none with a shared store,`;
  const group = packOf(RED).presence.group;
  return group === null
    ? `The Node-RED of the machine ${hostname()} and the user directory ${userDir} without a group, with the shared store at ${place},`
    : `Every copy of the group ${group}, with the shared store at ${place},`;
}

function parseArguments(args: readonly string[]) {
  const option = { type: 'string' } as const;
  try {
    const options = { 'user-dir': option, settings: option, config: option };
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch {
    return { values: {}, positionals: [] };
  }
}

async function signIn(RED: NodeAPI, { id, credentials, ...config }: Config): Promise<void> {
  const options = parseOptions(vehicleOptions, config);
  const form = { id, options, credentials: parseOptions(vehicleCredentials, credentials ?? {}) };
  const signIns = signInsOf(RED);
  const { url, redirectUrl } = await signIns.begin(form, callbackUrl(RED.settings));
  process.stdout.write(
    `Open this address in a browser and sign in:\n\n${url}\n\nThe browser then goes to ${redirectUrl}, which may show an error. Copy the whole address of that page.\n`,
  );
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Without a terminal nothing is ever pasted.
  const closed = once(terminal, 'close').then(() => '');
  const redirected = await Promise.race([terminal.question('Paste it here: '), closed]).finally(() => terminal.close());
  const { missing, warning } = await signIns.finish(redirected, id);
  if (warning !== null)
    process.stdout.write(`${wordSentence(warning)}
`);
  for (const { scopes } of missing) process.stdout.write(`Not granted: ${scopes.join(', ')}\n`);
}

/** Where the dialog would send the browser back, if the editor is opened on the machine of Node-RED. */
function callbackUrl(settings: object): string {
  const { uiPort, https, httpRoot, httpAdminRoot = httpRoot } = settings as Record<string, unknown>;
  const path = posix.join('/', String(httpAdminRoot || ''), 'connected-vehicle/callback');
  return new URL(path, `http${https ? 's' : ''}://localhost:${Number(uiPort) || 1880}`).href;
}

/** What this module needs of Node-RED, which does not run. */
function standIn(settings: Record<string, unknown>, warn: (text: string) => void): NodeAPI {
  const nodes = { getNode: () => null, eachNode: () => undefined, getCredentials: () => undefined };
  const log = { warn, error: warn, info: () => undefined };
  // The pack reports a fault of the shared store to open editors through this; here no editor is open.
  const comms = { publish: () => undefined };
  // The sign-in uses these members only.
  return { settings, nodes, log, comms, events: new EventEmitter(), _: (key: string) => key } as unknown as NodeAPI;
}

function readSettings(file: string): Record<string, unknown> {
  if (!existsSync(file)) return {};
  // Node-RED loads it in the same way.
  return { ...(createRequire(__filename)(resolve(file)) as Record<string, unknown>) };
}

/** The vehicle configurations of the flow file, with their credentials. */
function readConfigs(userDir: string, settings: Record<string, unknown>): Config[] {
  const named = typeof settings['flowFile'] === 'string' ? [settings['flowFile']] : [];
  const file = [...named, 'flows.json', `flows_${hostname()}.json`]
    .map((name) => resolve(userDir, name))
    .find((path) => existsSync(path));
  if (file === undefined) return [];
  const flows = readJson(file);
  const credentials = readCredentials(userDir, file, settings);
  return (Array.isArray(flows) ? (flows as unknown[]) : [])
    .flatMap((node) => configShape.safeParse(node).data ?? [])
    .map((node) => ({ ...node, credentials: memberOf(credentials, node.id) }));
}

/** As Node-RED encrypts them: AES-256-CTR with the hash of the secret. */
function readCredentials(userDir: string, flowFile: string, settings: Record<string, unknown>): unknown {
  const path = flowFile.replace(/(\.[^./\\]+)?$/, (end) => `_cred${end}`);
  if (!existsSync(path)) return {};
  const stored = readJson(path);
  const sealed = memberOf(stored, '$');
  if (typeof sealed !== 'string') return stored;
  const runtime = join(userDir, '.config.runtime.json');
  const secret =
    settings['credentialSecret'] ?? memberOf(existsSync(runtime) ? readJson(runtime) : {}, '_credentialSecret');
  try {
    const key = createHash('sha256').update(String(secret)).digest();
    const decipher = createDecipheriv('aes-256-ctr', key, Buffer.from(sealed.slice(0, 32), 'hex'));
    return JSON.parse(decipher.update(sealed.slice(32), 'base64', 'utf8') + decipher.final('utf8')) as unknown;
  } catch {
    throw new VehicleError(
      'CONFIG',
      sentence`The credentials in “${basename(path)}” cannot be read. Give the settings file with their credentialSecret by --settings, or the client ID and secret in the environment.`,
    );
  }
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as unknown;
  } catch {
    throw new VehicleError('CONFIG', sentence`The file “${basename(path)}” cannot be read.`);
  }
}

/** @throws VehicleError CONFIG where it is not clear which one is meant */
function chooseConfig(configs: readonly Config[], named: string | undefined): Config {
  const real = configs.filter(({ service }) => service !== undefined && service !== 'demo');
  const found = named === undefined ? real : real.filter(({ id, name }) => id === named || name === named);
  const [config, ...others] = found.length === 0 && named !== undefined ? [fromEnvironment(named)] : found;
  if (config === undefined)
    throw new VehicleError(
      'CONFIG',
      'The flows have no vehicle configuration with a real service. Name the user directory by --user-dir, or the id of the configuration by --config.',
    );
  if (others.length > 0)
    throw new VehicleError(
      'CONFIG',
      sentence`The flows have several vehicle configurations. Name one by --config: ${found.map(({ id }) => id)}.`,
    );
  return withEnvironment(config);
}

const fromEnvironment = (id: string): Config => ({ id, type: 'connected-vehicle', service: 'volvo-cars' });

/** With the properties that the environment gives, and with its values in place of their names. */
function withEnvironment(config: Config): Config {
  const { env } = process;
  const replaced = (values: object): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]: [string, unknown]) => {
        const [, variable = ''] = /^\$\{([^}]+)\}$/.exec(typeof value === 'string' ? value.trim() : '') ?? [];
        return [name, variable === '' ? value : (env[variable] ?? '')];
      }),
    );
  const given = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = env[`CONNECTED_VEHICLE_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`];
        return value === undefined ? [] : [[name, value]];
      }),
    );
  const { credentials, ...options } = config;
  return {
    ...config,
    ...replaced(options),
    ...given(optionNames),
    credentials: { ...replaced(Object(credentials) as object), ...given(['clientId', 'clientSecret']) },
  };
}

const optionNames = [
  'service',
  'baseUrl',
  'apiKeyHeader',
  'mediaTypeVendor',
  'authorizeUrl',
  'tokenUrl',
  'redirectUrl',
  'access',
  'moreScopes',
  'interfaces',
  'readOnly',
] as const;
