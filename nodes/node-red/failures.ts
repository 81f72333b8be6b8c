import { homedir } from 'node:os';
import { debuglog } from 'node:util';
import type { NodeAPI } from 'node-red';
import { version } from '../../package.json';
import { memberOf, type VehicleError } from '../../src/index';
import { perNodeRed } from '../per-node-red';
import { redactor, safeError } from './redaction';
import { clock } from './time';

const debug = debuglog('connected-vehicle');
const maxKept = 10;
const stackLines = 12;
/** The part of a path, or of a URL of a file, up to the last `node_modules`. */
const folderOfPackages = /(?:file:\/\/\/|(?<![\w/~\]])(?:[A-Z]:)?[\\/])[^()'"\n]{0,300}[\\/](?=node_modules[\\/])/gi;

/** A failure without secrets and without folders of the machine, in English. */
interface LoggedFailure {
  /** ISO-8601. */
  at: string;
  /** The type of the node, or the action of a dialog. */
  from: string;
  code: string;
  message: string;
  /** The first 12 lines of the stack of the cause; without a cause, of the error itself. */
  stack: string;
}

/**
 * The last failures of a Node-RED, oldest first, for *Copy diagnostics*. The first use prints the
 * versions for `NODE_DEBUG`.
 */
export class LastFailures {
  readonly list: LoggedFailure[] = [];
  /**
   * Folders, and the text that replaces each. The longest is first, because it may
   * be inside another one.
   */
  readonly #folders: readonly (readonly [folder: string, by: string])[];

  constructor(RED: NodeAPI) {
    const places = [
      [__dirname, 'dist/nodes'] as const,
      [RED.settings.userDir ?? '', '[userDir]'],
      [homedir(), '~'],
    ] as const;
    this.#folders = places.filter(([folder]) => folder.length > 1).sort(([one], [other]) => other.length - one.length);
    debug(
      '%s, Node-RED %s, Node.js %s, %s %s',
      version,
      RED.version?.(),
      process.version,
      process.platform,
      process.arch,
    );
  }

  add(from: string, { code, message, cause, stack = '' }: VehicleError): LoggedFailure {
    const safe = (text: string): string =>
      this.#folders
        .reduce((shorter, [folder, by]) => shorter.replaceAll(folder, by), redactor.text(text))
        .replaceAll(folderOfPackages, '…/');
    const lines = String(memberOf(cause, 'stack') ?? stack).split('\n');
    const failure = {
      at: new Date(clock().now()).toISOString(),
      from,
      code,
      message: safe(message),
      stack: safe(lines.slice(0, stackLines).join('\n')),
    };
    this.list.push(failure);
    if (this.list.length > maxKept) this.list.shift();
    return failure;
  }
}

/**
 * Anything that was thrown, as an error that may be shown: *Copy diagnostics* lists it, and
 * `NODE_DEBUG=connected-vehicle` prints it.
 * @param log of Node-RED, which gets the stack of a fault of the pack itself at its level debug
 */
export function reportedError(
  RED: NodeAPI,
  from: string,
  error: unknown,
  log: { debug(text: string): void },
): VehicleError {
  const failure = safeError(error);
  const { code, message, stack } = perNodeRed(RED, LastFailures).add(from, failure);
  debug('%s: %s %s\n%s', from, code, message, stack);
  if (code === 'INTERNAL') log.debug(stack);
  return failure;
}
