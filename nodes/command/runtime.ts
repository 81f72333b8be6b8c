import {
  Arming,
  CancelledByMessage,
  CommandAttempt,
  isUnlock,
  needsArming,
  parseInterface,
  parseSwitch,
  storeAwayMs,
  VehicleError,
  type CommandRecord,
  type LoggedCommand,
} from '../../src/index';
import type { FlowNode } from '../node-red/flow-node';
import { leadsTo } from '../node-red/flows';
import { onInput } from '../node-red/input-handler';
import { nonBlank, type Message } from '../node-red/message';
import { commandOptions, type CommandOptions } from './options';
import { typedProperty } from '../node-red/typed-property';
import { safeRecord } from '../node-red/redaction';
import { clock } from '../node-red/time';

/** An unlock or engine start that may not wait is sent so soon or not at all: neither quota nor network may delay it further. */
const promptMs = 10_000;

/** How a command waits when it cannot be sent at once. */
function waitPolicy(options: CommandOptions, isGuarded: boolean) {
  const mayWait = !isGuarded || options.waitUnlock;
  const whenBusy = mayWait ? options.whenBusy : 'refuse';
  const whenUnavailable = mayWait ? options.whenUnavailable : 'fail';
  const waits = whenBusy === 'queue' || whenUnavailable === 'wait';
  return {
    // A user whose other commands wait for the car does not want an unlock sent to a car that cannot take it.
    precheck: options.precheck || (options.whenUnavailable === 'wait' && !mayWait),
    whenBusy,
    whenUnavailable,
    waitMs: waits ? options.deadline * 1000 : isGuarded ? promptMs : undefined,
  };
}

/** `connected-vehicle-command` (docs/internals/contract.md 4): sends a command once and passes on its invocation record. */
export function connectedVehicleCommand(own: FlowNode): void {
  const { node, sharedId } = own;
  own.showCause();
  const nodeStatus = own.status;
  const { presence, store } = own.pack;
  const arming = new Arming({
    clock: clock(),
    onEnd: () => nodeStatus.clear('armed'),
    shared: presence.group === null ? null : { store, node: sharedId, now: () => presence.now() },
  });
  /** The commands that wait here, for their turn or for a car that takes commands. */
  const waiting = new Set<CommandAttempt>();

  const sendRecord = (record: CommandRecord, msg: Message, send: (msg: Message) => void): void => {
    send({
      ...msg,
      payload: safeRecord(record),
      vehicle: { vin: record.vin, command: record.command, interface: record.interface },
    });
    nodeStatus.showOutcome(record);
  };
  const handOn = handsOnCommands(own, (record, msg) => sendRecord(record, msg, (out) => node.send(out)));

  const cancel = async (): Promise<void> => {
    for (const attempt of waiting) attempt.cancel(new CancelledByMessage());
    await arming.cancel();
  };

  const arm = async (attempt: CommandAttempt, seconds: number): Promise<void> => {
    try {
      Object.assign(attempt, await arming.take(seconds));
    } catch (error) {
      // Another copy of the flow, which got the same message, has used the arming.
      if (!presence.joinsCommands || !(error instanceof VehicleError)) throw error;
      attempt.unarmed = error;
    }
  };

  onInput(own, async ({ msg, send, signal }) => {
    // A message with one of these properties never sends a command, regardless of its other properties.
    const cancels = parseSwitch('cancel', msg['cancel']);
    const arms = parseSwitch('arm', msg['arm']);
    if (cancels === true) return await cancel();
    if (arms === false) return await arming.disarm();
    const options = own.options(commandOptions);
    if (arms === true) {
      await arming.arm(options.arming);
      return nodeStatus.show('waiting', 'armed', { seconds: options.arming });
    }
    if (cancels === false) return;
    // Before anything is awaited: a cancelling message that comes next must find this one.
    const attempt = new CommandAttempt({ clock: clock(), signal });
    waiting.add(attempt);
    let command: unknown = msg['command'];
    try {
      const { account, vin } = await own.car(options, msg);
      command ??= await typedProperty(own, options, 'command', msg);
      const isGuarded = needsArming(command);
      const unlockDuration =
        nonBlank(msg['unlockDuration']) ??
        (isUnlock(command) ? await typedProperty(own, options, 'unlockDuration', msg) : options.unlockDuration);
      attempt.signal.throwIfAborted();
      await arm(attempt, isGuarded ? options.arming : 0);
      nodeStatus.show('busy', 'sending');
      const input = {
        vin,
        interface: parseInterface(nonBlank(msg['interface']) ?? options.interface),
        unlockDuration,
        runtimeMinutes: nonBlank(msg['runtimeMinutes']) ?? options.runtimeMinutes,
        ...waitPolicy(options, isGuarded),
        onWaiting: () => nodeStatus.show('waiting', 'waiting'),
        sentBy: node.name || node.id,
        origin: { node: sharedId, msg },
      };
      const record = await account.dispatcher.send(command, input, attempt);
      const isJoined = record.id !== attempt.id;
      if (!(await handOn(record, () => sendRecord(record, msg, send), signal, isJoined)))
        own.warn('commands.closedMeanwhile', { command: record.command });
    } catch (error) {
      if (attempt.wasStopped) own.warn('commands.notSent', { command: String(command ?? '') });
      throw error;
    } finally {
      attempt.end();
      waiting.delete(attempt);
    }
  });
  own.closing.addEventListener('abort', () => arming.close());
}

/**
 * @param isJoined whether the record is that of the same command in another copy, which sends it on, too
 * @returns false where the node was closed before the record was sent on: it is sent on after the next start
 */
type HandOn = (record: CommandRecord, send: () => void, signal: AbortSignal, isJoined?: boolean) => Promise<boolean>;

/** Shown while a record waits for a store that cannot be reached. */
const storeAway = 'failed.STORE_UNAVAILABLE';

/**
 * Sends the records of commands on, once each. A record that a former node of the same id did not send on, because that node was closed or the
 * process ended, is sent on after the start, when the node has wires; without an answer, its outcome is `undetermined`, and a result node can
 * follow it. So is a record that was on its way through other nodes to a result node.
 * @param sendRecord gets a record of the former node, and the message that sent the command
 */
function handsOnCommands(own: FlowNode, sendRecord: (record: CommandRecord, msg: Message) => void): HandOn {
  const { sharedId, deploys, closing } = own;
  const { log } = own.pack;
  const warn = (key: string): void => own.warn(`commands.${key}`);
  const handOn: HandOn = async ({ id }, send, signal, isJoined = false) => {
    // A result node that got the record is still storing that it follows it: a kill in between must leave one of the two on disk.
    const isDelivered = async (): Promise<boolean> => !isJoined && (await log.isTakenOver(id));
    const mayBeSent = (): boolean => isJoined || log.mayBeSent(id);
    for (;;) {
      const end = await deploys.send(send, { signal, mayBeSent, isDelivered });
      if (end === 'closed') return false;
      if (isJoined || (await isDelivered())) return true;
      if (end === 'sent') break;
      // This process was paused. While a shared store cannot be reached, it is unknown whether another copy has taken the command over.
      const isOwn = await log.isOwn(id).catch(() => {
        own.status.show('failed', storeAway);
        return clock()
          .sleep(storeAwayMs, signal)
          .catch(() => undefined);
      });
      if (isOwn === false) {
        own.status.clear(storeAway);
        return true;
      }
    }
    const mayBeFollowed = leadsTo(own, 'connected-vehicle-command-status');
    await log.handedOn(id, mayBeFollowed ? clock().now() : null).catch(() => warn('notKept'));
    return true;
  };

  let resuming: Promise<unknown> = Promise.resolve();
  // Every property of a message is optional.
  const resume = async ({ record, origin }: LoggedCommand): Promise<unknown> =>
    closing.aborted || handOn(record, () => sendRecord(record, { ...origin?.msg } as Message), closing);
  const begin = async (isStart = true): Promise<void> => {
    const commands = await log.notTakenOver(sharedId, clock().now(), isStart);
    resuming = commands.reduce((before, command) => before.then(() => resume(command)), resuming);
  };
  own.beginWithRetries(begin, () => warn('notRead'));
  own.pack.presence.onGone(() => void begin(false).catch(() => warn('notRead')), closing);

  own.onClose(async (isDeleted) => {
    await resuming;
    if (isDeleted) await log.forgetNode(sharedId).catch(() => warn('notKept'));
  });
  return handOn;
}
