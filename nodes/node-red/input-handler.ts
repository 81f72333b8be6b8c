import { isRecord, type Signal, type VehicleError } from '../../src/index';
import { endFailure, ErrorLog } from './error-log';
import type { FlowNode } from './flow-node';
import type { Message } from './message';
import { editorsOf } from './editors';
import { safeError } from './redaction';
import { reportedError } from './failures';
import { isFromItself } from './self-messages';
import { faultOfUse, throwIfInUse } from './storage';

/** The work that one message started. */
export interface Task {
  msg: Message;
  send: (msg: Message | (Message | null)[]) => void;
  /** Aborted when the node closes. */
  signal: Signal;
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

type Work = (task: Task) => Promise<void | typeof handedOver | typeof noNews | VehicleError>;

class InputHandler {
  readonly #own: FlowNode;
  readonly #work: Work;
  /** Made at the first failure. */
  #errorLog: ErrorLog | undefined;
  #underWay = 0;
  #ended: (() => void) | undefined;

  constructor(own: FlowNode, work: Work) {
    this.#own = own;
    this.#work = work;
    const { node } = own;
    node.on('input', (msg, send, done) => {
      // A message can have any properties.
      const task = { msg: msg as Message, send, signal: own.closing, alone: this.#underWay === 0 };
      // An error that is thrown while a failure is reported, for example in the flow of a
      // Catch node, ends here.
      this.#attempt(task, done).catch((error: unknown) => node.warn(safeError(error).message));
    });
    own.onClose((isDeleted) => this.#end(isDeleted));
  }

  async #attempt(task: Task, done: (error?: Error) => void): Promise<void> {
    const { RED } = this.#own;
    this.#underWay += 1;
    let sent: Message | undefined;
    let isShown = false;
    const { send } = task;
    // In place: the task is of this message only, and a copy for each message costs more.
    task.send = (out) => {
      sent = (Array.isArray(out) ? out.find((msg) => msg !== null) : out) ?? sent;
      send(out);
    };
    try {
      throwIfInUse(RED);
      const result = await this.#work(task);
      if (result === handedOver) return;
      isShown = typeof result === 'object';
      if (typeof result === 'object') throw result;
      if (result !== noNews) endFailure(this.#own);
      if (sent !== undefined) takeOver(task.msg, sent);
      done();
    } catch (error) {
      done(this.#failed(task, error, isShown));
    } finally {
      this.#underWay -= 1;
      this.#rest();
    }
  }

  #failed({ msg, signal }: Task, error: unknown, isShown: boolean): VehicleError {
    const own = this.#own;
    const failure = reportedError(own.RED, own.node.type, error, own.node);
    addError(msg, errorOf(own, failure));
    if (!isShown && !signal.aborted && faultOfUse(own.RED) === null) own.status.showFailure(failure);
    // It can be news about the session or the quota.
    editorsOf(own.RED).notify();
    this.#errorLog ??= new ErrorLog(own);
    this.#errorLog.failed(failure, isFromItself(own, msg));
    return failure;
  }

  #end(isDeleted: boolean): Promise<void> {
    if (isDeleted) endFailure(this.#own);
    return new Promise((resolve) => {
      this.#ended = resolve;
      this.#rest();
    });
  }

  /** The last running task of a node that is closed clears its status. */
  #rest(): void {
    if (this.#ended === undefined || this.#underWay > 0) return;
    this.#own.status.clear();
    this.#ended();
  }
}

/**
 * Calls `done` and catches everything that the work throws, because a rejected listener would end
 * Node-RED. A failure that the work returns also goes to `done`, but is not shown: the work has set
 * the status itself. While another Node-RED uses the folder of the pack, every message is refused.
 * Closing the node aborts the running tasks and waits for them.
 */
export const onInput = (own: FlowNode, work: Work): void => void new InputHandler(own, work);

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
