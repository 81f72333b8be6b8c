import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeAPI } from 'node-red';
import { memberOf, sentence, systemCodeOf, textIn, VehicleError } from '../../src/index';

const keyFile = 'store.key';

/**
 * The secrets that encrypt the saved sign-ins: `credentialSecret` of settings.js, or a key file of
 * the pack that only the user who runs Node-RED can read. The secret that Node-RED generates is not
 * used: it is in a file that is equally readable, and is deleted when a person sets a
 * credentialSecret, who would then have to sign in again.
 * @returns first the one that encrypts, then earlier ones, which still open what they sealed
 * @throws VehicleError CONFIG
 */
export function storeSecrets(RED: NodeAPI, directory: string): string[] {
  const path = join(directory, keyFile);
  const secret = setting(RED, 'credentialSecret') ?? ownKey(directory, path);
  const former = [readable(path), setting(RED, '_credentialSecret')].filter((found) => found !== null);
  return [...new Set([secret, ...former])];
}

/**
 * The secret that several Node-REDs share: only a person can give them the same one.
 * @throws VehicleError STORE_UNAVAILABLE
 */
export function sharedSecret(RED: NodeAPI): string {
  const secret = setting(RED, 'credentialSecret');
  if (secret !== null) return secret;
  throw new VehicleError(
    'STORE_UNAVAILABLE',
    'A shared store needs a credentialSecret in settings.js, the same one in each Node-RED, because it encrypts what they share.',
  );
}

const setting = (RED: NodeAPI, name: string): string | null => textIn(settingOfNodeRed(RED, name));

/** A member of settings.js. */
export function settingOfNodeRed(RED: NodeAPI, name: string): unknown {
  const settings = RED.settings as { get?: (name: string) => unknown };
  try {
    return memberOf(settings, name) ?? settings.get?.(name);
  } catch {
    // Node-RED has no settings, or has not read them yet.
    return undefined;
  }
}

/** A damaged key file is put aside, and a new one is created for the next sign-in. */
function ownKey(directory: string, path: string): string {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const key = readKey(path);
    if (key) return key;
    if (key === '') renameSync(path, `${path}.unreadable-${randomBytes(3).toString('hex')}`);
    const created = randomBytes(32).toString('hex');
    // In one step, so that a crash leaves no half key. Only the process that uses the
    // directory comes here.
    writeFileSync(`${path}.new`, created, { mode: 0o600, flush: true });
    renameSync(`${path}.new`, path);
    return created;
  } catch (error) {
    throw fault(error);
  }
}

/** The key in the file; empty if it is damaged, null if the file does not exist. */
function readKey(path: string): string | null {
  try {
    const key = readFileSync(path, 'utf8').trim();
    return /^[\da-f]{64}$/.test(key) ? key : '';
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Also null if the file cannot be read. */
function readable(path: string): string | null {
  try {
    return readKey(path) || null;
  } catch {
    return null;
  }
}

function fault(error: unknown): Error {
  const code = systemCodeOf(error) === '' ? '' : ` (${systemCodeOf(error)})`;
  return new VehicleError(
    'CONFIG',
    sentence`The key file "${keyFile}" in the folder "connected-vehicle" of Node-RED's user directory can be neither read nor created${code}. Give the user that runs Node-RED access to it. Until then, a pasted access token works.`,
  );
}
