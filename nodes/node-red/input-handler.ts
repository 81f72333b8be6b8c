import { isRecord, type VehicleError } from '../../src/index';
import { errorLogOf } from './error-log';
import type { FlowNode } from './flow-node';
import type { Message } from './message';
import { editorsOf } from './editors';
import { safeError } from './redaction';
import { reportedError } from './failures';
import { isInUse, throwIfInUse } from './storage';

/** The work that one message started. */
export interface Task {
  msg: Message;
  send: (msg: Message | (Message | null)[]) => void;
  /** Aborted when the node closes. */
  signal: AbortSignal;
  /** Nothing else of this node was in progress when it began. */
  alone: boolean;
}

/**
 * The result of a task that read nothing, or failed as the one before it, which has
 * reported the failure.
 */
export const noNews = Symbol('noNews');

/** The result of a task whose message continues later, after a redeploy. */
export const handedOver = Symbol('handedOver');

/**
 * Calls `done` and catches everything that the work throws, because a rejected listener would end
 * Node-RED. A failure that the work returns also goes to `done`, but is not shown: the work has set
 * the status itself. While another Node-RED uses the folder of the pack, every message is refused.
 * Closing the node aborts the running tasks and waits for them.
 */
export function onInput(
  own: FlowNode,
  work: (task: Task) => Promise<void | typeof handedOver | typeof noNews | VehicleError>,
): void {
  const { RED, node, status: nodeStatus, closing: signal } = own;
  const errorLog = errorLogOf(own);
  let underWay = 0;
  let atRest = (): void => undefined;

  const attempt = async (msg: Message, pass: Task['send'], done: (error?: Error) => void): Promise<void> => {
    const alone = underWay === 0;
    underWay += 1;
    let sent: Message | undefined;
    let isShown = false;
    const send: Task['send'] = (out) => {
      sent = (Array.isArray(out) ? out.find((one) => one !== null) : out) ?? sent;
      pass(out);
    };
    try {
      throwIfInUse(RED);
      const result = await work({ msg, send, signal, alone });
      if (result === handedOver) return;
      isShown = typeof result === 'object';
      if (typeof result === 'object') throw result;
      if (result !== noNews) errorLog.works();
      if (sent !== undefined) takeOver(msg, sent);
      done();
    } catch (error) {
      const failure = reportedError(RED, node.type, error, node);
      addError(msg, errorOf(own, failure));
      if (!isShown && !signal.aborted && !isInUse(RED)) nodeStatus.showFailure(failure);
      // It can be news about the session or the quota.
      editorsOf(RED).notify();
      errorLog.failed(failure, own.isOwnMessage(msg));
      done(failure);
    } finally {
      underWay -= 1;
      if (underWay === 0) atRest();
    }
  };

  node.on('input', (msg, send, done) => {
    // A message can have any properties.
    const attempted = attempt(msg as Message, send, done);
    // An error that is thrown while a failure is reported, for example in the flow of a
    // Catch node, ends here.
    attempted.catch((error: unknown) => node.warn(safeError(error).message));
  });

  node.on('close', (_removed: boolean, done: () => void) => {
    atRest = () => {
      nodeStatus.clear();
      done();
    };
    if (underWay === 0) atRest();
  });
}

/**
 * A Complete node gets the message that came in, so that one becomes the message that was sent
 * last; a frozen one stays as it is.
 */
function takeOver(msg: Message, sent: Message): void {
  if (Object.isFrozen(msg)) return;
  for (const name of Object.keys(msg)) if (!(name in sent)) delete msg[name];
  Object.assign(msg, sent);
}

/** `msg.vehicle.error` (docs/internals/contract.md 6). */
export const errorOf = ({ words }: FlowNode, failure: VehicleError) => ({
  ...failure.report(),
  text: words.translate(failure.sentence),
});

/** A Catch node gets the message that came in; a frozen one is caught without `msg.vehicle`. */
function addError(msg: Message, error: ReturnType<typeof errorOf>): void {
  try {
    msg['vehicle'] = { ...(isRecord(msg['vehicle']) && msg['vehicle']), error };
  } catch {
    // `done` still reports the failure.
  }
}
