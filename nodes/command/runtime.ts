import type { NodeDef } from 'node-red';
import {
  Arming,
  cancelledByMessage,
  cancelWaiting,
  CommandAttempt,
  isUnlock,
  needsArming,
  parseInterface,
  parseSwitch,
  VehicleError,
  type CommandRecord,
} from '../../src/index';
import type { FlowNode } from '../node-red/flow-node';
import { onInput } from '../node-red/input-handler';
import { nonBlank, type Message } from '../node-red/message';
import { commandOptions, type CommandOptions } from './options';
import { parseOptions } from '../node-red/options';
import { showOutcome } from '../node-red/node-status';
import { safeRecord } from '../vehicle/redaction';
import { clock } from '../node-red/time';
import { handsOnCommands } from './handing-on';

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

/** `connected-vehicle-command` (docs/internals/contract.md 4): sends a command once and hands on its invocation record. */
export function connectedVehicleCommand(own: FlowNode, config: NodeDef & Partial<CommandOptions>): void {
  const { node } = own;
  own.showCause();
  const nodeStatus = own.status;
  const { membership, store } = own.pack;
  const arming = new Arming({
    clock: clock(),
    onEnd: () => nodeStatus.clear('armed'),
    shared: membership?.group == null ? null : { store, node: node.id, now: () => membership.now() },
  });
  /** The commands that wait here, for their turn or for a car that takes commands. */
  const waiting = new Set<CommandAttempt>();

  const sendRecord = (record: CommandRecord, msg: Message, send: (msg: Message) => void): void => {
    send({
      ...msg,
      payload: safeRecord(record),
      vehicle: { vin: record.vin, command: record.command, interface: record.interface },
    });
    showOutcome(nodeStatus, record);
  };
  const handOn = handsOnCommands(own, (record, msg) => sendRecord(record, msg, (out) => node.send(out)));

  const cancel = async (): Promise<void> => {
    for (const attempt of waiting) attempt.cancel(cancelledByMessage());
    await arming.disarm();
    if (membership !== null) await cancelWaiting(store, membership, node.id);
  };

  const arm = async (attempt: CommandAttempt, seconds: number): Promise<void> => {
    try {
      Object.assign(attempt, await arming.take(seconds));
    } catch (error) {
      // Another copy of the flow, which got the same message, has used the arming.
      if (!membership?.joinsCommands || !(error instanceof VehicleError)) throw error;
      attempt.unarmed = error;
    }
  };

  onInput(own, async ({ msg, send, signal }) => {
    // A message with one of these properties never sends a command, whatever its other properties are.
    const cancels = parseSwitch('cancel', msg['cancel']);
    const arms = parseSwitch('arm', msg['arm']);
    if (cancels === true) return await cancel();
    if (arms === false) return await arming.disarm();
    const options = parseOptions(commandOptions, config);
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
      command ??= await own.typed(options, 'command', msg);
      const isGuarded = needsArming(command);
      const unlockDuration =
        nonBlank(msg['unlockDuration']) ??
        (isUnlock(command) ? await own.typed(options, 'unlockDuration', msg) : options.unlockDuration);
      attempt.signal.throwIfAborted();
      if (isGuarded) await arm(attempt, options.arming);
      nodeStatus.show('busy', 'sending');
      const input = {
        vin,
        interface: parseInterface(nonBlank(msg['interface']) ?? options.interface),
        unlockDuration,
        runtimeMinutes: nonBlank(msg['runtimeMinutes']) ?? options.runtimeMinutes,
        ...waitPolicy(options, isGuarded),
        onWaiting: () => nodeStatus.show('waiting', 'waiting'),
        sentBy: node.name || node.id,
        origin: { node: node.id, msg },
      };
      const record = await account.dispatcher.send(command, input, attempt);
      if (!(await handOn(record, () => sendRecord(record, msg, send), signal)))
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
