import {
  Arming,
  CancelledByMessage,
  CommandAttempt,
  needsArming,
  parseInterface,
  parseSwitch,
  secondMs,
  settingOf,
  VehicleError,
  type CommandRecord,
} from '../../src/index';
import type { FlowNode } from '../node-red/flow-node';
import { leadsTo } from '../node-red/flows';
import { onInput, type Task } from '../node-red/input-handler';
import { nonBlank, type Message } from '../node-red/message';
import { sendOnce } from '../node-red/send-once';
import { commandOptions, type CommandOptions } from './options';
import { typedProperty } from '../node-red/typed-property';
import { safeRecord } from '../node-red/redaction';
import { clock } from '../node-red/time';

/**
 * An unlock or engine start that may not wait is sent so soon or not at all: neither quota nor
 * network may delay it further.
 */
const promptMs = 10_000;

/** How a command waits when it cannot be sent at once. */
function waitPolicy(options: CommandOptions, mustBeArmed: boolean) {
  const mayWait = !mustBeArmed || options.waitUnlock;
  const whenBusy = mayWait ? options.whenBusy : 'refuse';
  const whenUnavailable = mayWait ? options.whenUnavailable : 'fail';
  const waits = whenBusy === 'queue' || whenUnavailable === 'wait';
  return {
    // A user whose other commands wait for the car does not want an unlock sent to a car
    // that is not available.
    precheck: options.precheck || (options.whenUnavailable === 'wait' && !mayWait),
    whenBusy,
    whenUnavailable,
    waitMs: waits ? options.deadline * secondMs : mustBeArmed ? promptMs : undefined,
  };
}

/**
 * `connected-vehicle-command` (docs/internals/contract.md 4): sends a command once and passes on
 * its invocation record.
 */
export function connectedVehicleCommand(own: FlowNode): void {
  own.showObstacle();
  const commands = new CommandNode(own);
  onInput(own, (task) => commands.handle(task));
  own.closing.addEventListener('abort', () => commands.arming.close());
}

class CommandNode {
  readonly arming: Arming;
  readonly #own: FlowNode;
  readonly #forwarder: RecordForwarder;
  /** The commands that wait here, for their turn or for a car that is not available. */
  readonly #waiting = new Set<CommandAttempt>();

  constructor(own: FlowNode) {
    this.#own = own;
    this.arming = new Arming({
      clock: clock(),
      onEnd: () => own.status.clear('armed'),
      presence: own.pack.presence,
      node: own.sharedId,
    });
    this.#forwarder = new RecordForwarder(own);
  }

  async handle(task: Task): Promise<void> {
    const { msg } = task;
    // A message with one of these properties never sends a command, regardless of
    // its other properties.
    const cancels = parseSwitch('cancel', msg['cancel']);
    const arms = parseSwitch('arm', msg['arm']);
    if (cancels === true) return await this.#cancel();
    if (arms === false) return await this.arming.disarm();
    const options = this.#own.options(commandOptions);
    if (arms === true) {
      await this.arming.arm(options.arming);
      return this.#own.status.show('waiting', 'armed', { seconds: options.arming });
    }
    if (cancels !== false) await this.#send(task, options);
  }

  async #cancel(): Promise<void> {
    for (const attempt of this.#waiting) attempt.cancel(new CancelledByMessage());
    await this.arming.cancel();
  }

  async #arm(attempt: CommandAttempt, seconds: number): Promise<void> {
    try {
      ({ check: attempt.check, confirm: attempt.confirm } = await this.arming.take(seconds));
    } catch (error) {
      // Another copy of the flow, which got the same message, has used the arming.
      if (!this.#own.pack.presence.joinsCommands || !(error instanceof VehicleError)) throw error;
      attempt.whyUnarmed = error;
    }
  }

  /** The setting that a command needs: that of the message, else that of the node. */
  async #setting(
    command: unknown,
    options: CommandOptions,
    msg: Message,
  ): Promise<Partial<Record<NonNullable<ReturnType<typeof settingOf>>, unknown>>> {
    const name = settingOf(command);
    return name === null ? {} : { [name]: nonBlank(msg[name]) ?? (await typedProperty(this.#own, options, name, msg)) };
  }

  async #send({ msg, send, signal }: Task, options: CommandOptions): Promise<void> {
    const own = this.#own;
    // Before anything is awaited: a cancelling message that comes next must find this one.
    const attempt = new CommandAttempt({ clock: clock(), signal });
    this.#waiting.add(attempt);
    let command: unknown = msg['command'];
    try {
      const { account, vin } = await own.car(options, msg);
      command ??= await typedProperty(own, options, 'command', msg);
      const mustBeArmed = needsArming(command);
      const setting = await this.#setting(command, options, msg);
      attempt.signal.throwIfAborted();
      await this.#arm(attempt, mustBeArmed ? options.arming : 0);
      own.status.show('busy', 'sending');
      const input = {
        vin,
        interface: parseInterface(nonBlank(msg['interface']) ?? options.interface),
        ...setting,
        runtimeMinutes: nonBlank(msg['runtimeMinutes']) ?? options.runtimeMinutes,
        ...waitPolicy(options, mustBeArmed),
        onWaiting: () => own.status.show('waiting', 'waiting'),
        sentBy: own.node.name || own.node.id,
        origin: { node: own.sharedId, msg },
      };
      const record = await account.dispatcher.send(command, input, attempt);
      if (!(await this.#forwarder.forward(record, { msg, send, signal }, record.id !== attempt.id)))
        own.warn('commands.closedMeanwhile', { command: record.command });
    } catch (error) {
      if (attempt.wasStopped) own.warn('commands.notSent', { command: String(command ?? '') });
      throw error;
    } finally {
      attempt.end();
      this.#waiting.delete(attempt);
    }
  }
}

/**
 * Forwards the record of each command once. A record that a former node of the same id did not
 * forward, because that node was closed or the process ended, is forwarded after the start, when
 * the node has wires; without an answer, its outcome is `undetermined`, and a result node can
 * follow it. A record that was on its way through other nodes to a result node is forwarded again.
 */
class RecordForwarder {
  readonly #own: FlowNode;
  #resuming: Promise<unknown> = Promise.resolve();

  constructor(own: FlowNode) {
    const { sharedId } = own;
    const { log } = own.pack;
    const warnNotRead = (): void => own.warn('commands.notRead');
    this.#own = own;
    own.beginWithRetries(() => this.#resume(), warnNotRead);
    own.onGone(() => void this.#resume(false).catch(warnNotRead));
    own.onClose(async (isDeleted) => {
      await this.#resuming;
      if (isDeleted) await log.forgetNode(sharedId).catch(() => own.warn('commands.notKept'));
    });
  }

  /**
   * @param isJoined whether it is the record of the same command in another copy,
   * which also forwards it
   * @returns false if the node was closed before: the record is forwarded after the next start
   */
  async forward(
    record: CommandRecord,
    { msg, send: next, signal }: Pick<Task, 'msg' | 'send' | 'signal'>,
    isJoined = false,
  ): Promise<boolean> {
    const own = this.#own;
    const { sharedId } = own;
    const { log } = own.pack;
    const { id, vin, command: name, interface: iface } = record;
    const command = log.find(id);
    const send = (): void => {
      next({ ...msg, payload: safeRecord(record), vehicle: { vin, command: name, interface: iface } });
      own.status.showOutcome(record);
    };
    if (isJoined || !command) return (await own.deploys.send({ send }, signal)) === 'sent';
    const message = {
      claim: () => log.claim(command, sharedId),
      mayBeSent: () => log.mayBeSent(command, sharedId),
      // A result node that got the record is still storing that it follows it: a kill in between
      // must leave one of the two on disk.
      isDelivered: () => log.hasReachedFollower(id),
      send,
      markSent: async () => {
        if (await log.hasReachedFollower(id)) return;
        const mayBeFollowed = leadsTo(own, 'connected-vehicle-command-status');
        const at = mayBeFollowed ? clock().now() : null;
        await log.markForwarded(command, at).catch(() => own.warn('commands.notKept'));
      },
    };
    return (await sendOnce(own, message, signal)) !== 'closed';
  }

  /**
   * Forwards the records that a former node has not. Only at the start are those of this process
   * among them: later, `forward` is sending them.
   * @param isStart false: only those of another process that has ended
   */
  async #resume(isStart = true): Promise<void> {
    const { pack, sharedId, node, closing } = this.#own;
    const send: Task['send'] = (msg) => node.send(msg);
    for (const { record, origin } of await pack.log.openFor(sharedId, clock().now(), isStart))
      this.#resuming = this.#resuming.then(() => {
        // Every property of a message is optional.
        const msg = { ...origin?.msg } as Message;
        return closing.aborted || this.forward(record, { msg, send, signal: closing });
      });
  }
}
