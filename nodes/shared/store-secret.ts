import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeAPI } from 'node-red';
import { runtime } from './load';

/** `credentialSecret` of settings.js; without one, Node-RED makes its own and keeps it under the second name. */
const settingNames = ['credentialSecret', '_credentialSecret'];
const keyFile = 'store.key';

/**
 * What the saved sign-ins are encrypted with: Node-RED's credential secret; where it has none (`credentialSecret: false`, a
 * project), a key of the pack's own, which only the user that runs Node-RED can read.
 * @throws VehicleError CONFIG
 */
export function storeSecret(RED: NodeAPI, directory: string): string {
  const found = settingNames.map((name) => setting(RED, name)).find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found : ownKey(directory);
}

function setting(RED: NodeAPI, name: string): unknown {
  const settings = RED.settings as { get?: (name: string) => unknown };
  try {
    return settings.get?.(name);
  } catch {
    // Node-RED has not read them, or keeps none.
    return undefined;
  }
}

function ownKey(directory: string): string {
  const path = join(directory, keyFile);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(path, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw fault('cannot be made', error);
  }
  try {
    const key = readFileSync(path, 'utf8').trim();
    if (/^[\da-f]{64}$/.test(key)) return key;
  } catch (error) {
    throw fault('cannot be read', error);
  }
  throw fault('is damaged');
}

const isCode = (error: unknown, code: string): boolean => error instanceof Error && 'code' in error && error.code === code;

function fault(what: string, error?: unknown): Error {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  const { VehicleError } = runtime();
  return new VehicleError(
    'CONFIG',
    `The key file "${keyFile}" in the folder "connected-vehicle" of Node-RED's user directory ${what}${code}. Give the user that runs Node-RED access to it, or restore it from a backup; without it, sign in again.`,
  );
}
