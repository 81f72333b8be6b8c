import { setMaxListeners } from 'node:events';
import type { Node } from 'node-red';
import type { VehicleError } from '../../../src/index';
import type { Badge } from '../status/node-status';
import type { Message } from './message';
import { changed } from '../overview/signal';
import { safeError } from '../vehicle/redaction';

/** One piece of work that a message started. */
export interface Task {
  msg: Message;
  send: (msg: Message | (Message | null)[]) => void;
  /** Aborted when the node closes. */
  signal: AbortSignal;
  /** Nothing else of this node was under way when it began. */
  alone: boolean;
}

/** What a task answers when its message goes on later, after a redeploy. */
export const unfinished = Symbol('unfinished');

/**
 * The one place that calls `done`, shows a failure and catches (house rule 3): a rejected listener would end Node-RED. The
 * node's close aborts what runs and waits for it.
 */
export function serveInput(node: Node, badge: Badge, work: (task: Task) => Promise<void | typeof unfinished>): void {
  const closing = new AbortController();
  // Every request under way listens to it, and there may be many.
  setMaxListeners(0, closing.signal);
  let underWay = 0;
  let atRest = (): void => undefined;

  const attempt = async (task: Task, done: (error?: Error) => void): Promise<void> => {
    underWay += 1;
    try {
      if ((await work(task)) !== unfinished) done();
    } catch (error) {
      const failure = safeError(error);
      tell(task.msg, failure);
      if (!task.signal.aborted) showFailure(badge, failure);
      // It can be news about the session or the quota.
      changed();
      done(failure);
    } finally {
      underWay -= 1;
      if (underWay === 0) atRest();
    }
  };

  node.on('input', (msg, send, done) => {
    const task = attempt({ msg: msg as Message, send, signal: closing.signal, alone: underWay === 0 }, done);
    // What is thrown while a failure is told, by a Catch node's flow for one, ends here.
    task.catch((error: unknown) => node.warn(safeError(error).message));
  });

  node.on('close', (_removed: boolean, done: () => void) => {
    closing.abort();
    atRest = () => {
      badge.clear();
      done();
    };
    if (underWay === 0) atRest();
  });
}

/** A Catch node gets the very message that came in; one that takes no new property is caught without `msg.vehicle`. */
function tell(msg: Message, failure: VehicleError): void {
  try {
    msg['vehicle'] = { ...(isRecord(msg['vehicle']) && msg['vehicle']), error: failure.report() };
  } catch {
    // `done` tells the failure all the same.
  }
}

export const showFailure = (badge: Badge, failure: VehicleError): void =>
  badge.stamp('failed', `failed.${failure.code}`);

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
