import { homedir } from 'node:os';
import { debuglog } from 'node:util';
import type { NodeAPI } from 'node-red';
import { memberOf, type VehicleError } from '../../src/index';
import { partOf } from '../pack';
import { redactor, safeError } from '../vehicle/redaction';
import { clock } from './time';

const debug = debuglog('connected-vehicle');
const maxKept = 10;
const stackLines = 12;

/** A failure without secrets and without the home directory, in English. */
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

/** The last failures of a Node-RED, oldest first, for *Copy diagnostics*. */
export class LastFailures {
  readonly list: LoggedFailure[] = [];

  add(from: string, { code, message, cause, stack = '' }: VehicleError): LoggedFailure {
    const safe = (text: string): string => redactor.text(text).replaceAll(homedir(), '~');
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
 * Anything that was thrown, as an error that may be shown: *Copy diagnostics* lists it, and `NODE_DEBUG=connected-vehicle` prints it.
 * @param log of Node-RED, which gets the stack of a fault of the pack itself at its level debug
 */
export function reportedError(
  RED: NodeAPI,
  from: string,
  error: unknown,
  log: { debug(text: string): void },
): VehicleError {
  const failure = safeError(error);
  const { code, message, stack } = partOf(RED, LastFailures).add(from, failure);
  debug('%s: %s %s\n%s', from, code, message, stack);
  if (code === 'INTERNAL') log.debug(stack);
  return failure;
}
