import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeAPI } from 'node-red';
import { runtime } from '../load';

const keyFile = 'store.key';

export interface StoreSecrets {
  secret: string;
  /** What sealed the sign-ins before: still opens them. */
  former: string[];
}

/**
 * What the saved sign-ins are encrypted with: `credentialSecret` of settings.js; without one, a key of the pack's own, which
 * only the user that runs Node-RED can read. The secret that Node-RED makes for itself lies in a file as open as that, and
 * goes for good when a person sets one; the own key stays, so that such a person need not sign in again.
 * @throws VehicleError CONFIG
 */
export function storeSecrets(RED: NodeAPI, directory: string): StoreSecrets {
  const path = join(directory, keyFile);
  const secret = setting(RED, 'credentialSecret') ?? ownKey(directory, path);
  const former = [readable(path), setting(RED, '_credentialSecret')].filter(
    (found) => found !== null && found !== secret,
  );
  return { secret, former: former as string[] };
}

function setting(RED: NodeAPI, name: string): string | null {
  const settings = RED.settings as { get?: (name: string) => unknown };
  try {
    const value = settings.get?.(name);
    return typeof value === 'string' && value !== '' ? value : null;
  } catch {
    // Node-RED has not read them, or keeps none.
    return null;
  }
}

/** A damaged key opens nothing: it is put aside, for whoever has a backup to compare, and a new one serves the next sign-in. */
function ownKey(directory: string, path: string): string {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const key = readKey(path);
    if (typeof key === 'string') return key;
    if (key !== null) renameSync(path, `${path}.unreadable-${randomBytes(3).toString('hex')}`);
    publish(path);
    return String(readKey(path));
  } catch (error) {
    throw fault(error);
  }
}

/** Null where there is none. */
function readKey(path: string): string | { damaged: true } | null {
  try {
    const key = readFileSync(path, 'utf8').trim();
    return /^[\da-f]{64}$/.test(key) ? key : { damaged: true };
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function readable(path: string): string | null {
  try {
    const key = readKey(path);
    return typeof key === 'string' ? key : null;
  } catch {
    return null;
  }
}

/** Whole or not at all: a cut leaves no half key, and of two processes one is the first. */
function publish(path: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}.new`;
  writeFileSync(draft, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    // Not every file system has links.
    if (!isCode(error, 'EEXIST')) return renameSync(draft, path);
  }
  unlinkSync(draft);
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

function fault(error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  const { VehicleError } = runtime();
  return new VehicleError(
    'CONFIG',
    `The key file "${keyFile}" in the folder "connected-vehicle" of Node-RED's user directory can be neither read nor made${code}. Give the user that runs Node-RED access to it. Until then, a pasted access token works.`,
  );
}
