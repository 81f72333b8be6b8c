import {
  cancelledId,
  followCommand,
  parseRecord,
  parseSwitch,
  Subscriptions,
  VehicleError,
  withSignals,
  type FollowReport,
  type Subscription,
} from '../../src/index';
import type { FlowNode } from '../node-red/flow-node';
import { wordsOf, type Values } from '../node-red/i18n';
import type { SendEnd } from '../node-red/deploys';
import { handedOver, onInput, type Task } from '../node-red/input-handler';
import type { Message } from '../node-red/message';
import { commandStatusOptions, type CommandStatusOptions } from './options';
import { safeError, safeRecord } from '../node-red/redaction';
import { clock } from '../node-red/time';
import { overviewsOf } from '../vehicle/overview';

/** `connected-vehicle-command-status` (docs/internals/contract.md 5): follows commands to their results, also over a restart. */
export function connectedVehicleCommandStatus(own: FlowNode): void {
  const { RED } = own;
  own.showCause(Boolean(own.config.vehicle));
  const nodeStatus = own.status;
  const warn = (key: string, values?: Values): void => own.warn(`watches.${key}`, values);
  const subscriptions = new Subscriptions({
    log: own.pack.log,
    node: own.sharedId,
    clock: clock(),
    onFault: () => warn('notKept'),
  });
  /** By the id of the command. */
  const following = new Map<string, AbortController>();
  const resumed = own.selfMessages<Subscription>();

  onInput(own, async ({ msg, send, signal }) => {
    if (parseSwitch('cancel', msg['cancel']) === true) return await cancel(cancelledId(msg.payload));
    const options = own.options(commandStatusOptions);
    const record = resumed.contents.get(msg)?.command.record ?? parseRecord(msg.payload);
    const { id } = record;
    if (following.has(id)) return;
    const abort = new AbortController();
    following.set(id, abort);
    try {
      const subscription = resumed.contents.get(msg) ?? (await subscriptions.begin(record, msg, options.vehicle));
      if (subscription === null) return;
      return await withSignals([signal, abort.signal], (ending) =>
        follow(subscription, options, { msg, send, signal, ending }),
      );
    } catch (error) {
      if (abort.signal.aborted) {
        await subscriptions.end(id);
        throw new VehicleError('CANCELLED', 'The watch was cancelled by a message.');
      }
      // The node was closed: the command is followed further after the deploy. A link that must not be followed ends it.
      if (signal.aborted) return handedOver;
      if (safeError(error).code === 'UNTRUSTED_LINK') await subscriptions.end(id);
      throw error;
    } finally {
      following.delete(id);
    }
  });

  const follow = async (
    subscription: Subscription,
    options: CommandStatusOptions,
    { msg, send, signal, ending }: Pick<Task, 'msg' | 'send' | 'signal'> & { ending: AbortSignal },
  ): Promise<void | typeof handedOver> => {
    const { command } = subscription;
    const vehicle = options.vehicle || command.account;
    const { client } = await own.vehicle(vehicle).account();
    const shown = overviewsOf(RED).find(vehicle)?.watch(command.record);
    nodeStatus.show('busy', 'watching', { count: following.size });
    const { say, word } = wordsOf(RED, vehicle);
    const { command: name, vin } = command.record;
    const car = own.carName(vin, vehicle);
    own.showsCar(vin, vehicle);
    const messageOf = (report: FollowReport): Message => ({
      ...RED.util.cloneMessage(msg),
      topic: msg.topic || report.command,
      payload: report,
    });
    try {
      for await (const update of followCommand(command, {
        ...subscription,
        client,
        timeoutMs: options.timeout * 1000,
        intervalMs: options.interval * 1000,
        verify: options.verify,
        signal: ending,
        clock: clock(),
      })) {
        const text = `${say(`command.${name}`, { defaultValue: name })}: ${word(update.reason)}`;
        const report = safeRecord({ ...update.report, car, text: own.withCar(text, vin, vehicle) });
        if (update.settled) {
          const settle = (): Promise<boolean> => subscriptions.settle(subscription, update, ending);
          return await deliver(subscription, report, settle, () => send([messageOf(report), null]), signal);
        }
        await subscriptions.change(subscription);
        shown?.update(report.requestStatus);
        send([null, messageOf(report)]);
      }
    } finally {
      shown?.end();
    }
  };

  /** Stores a result, and sends it when all flows run. If another process may have taken the command over meanwhile, it begins again with `settle`. */
  const deliver = async (
    subscription: Subscription,
    report: FollowReport,
    settle: () => Promise<boolean>,
    send: () => void,
    signal: AbortSignal,
  ): Promise<void | typeof handedOver> => {
    const mayBeSent = (): boolean => subscriptions.mayBeSent(subscription);
    let end: SendEnd;
    do {
      if (!(await settle())) return;
      end = await own.deploys.send(send, { signal, mayBeSent });
    } while (end === 'takenOver');
    if (end === 'closed') {
      await subscriptions.heldBack(subscription);
      return handedOver;
    }
    await subscriptions.delivered(subscription);
    nodeStatus.showOutcome(report);
  };

  const cancel = async (id: string | null): Promise<void> => {
    if (id !== null && !following.has(id) && !(await subscriptions.hasDelivered(id))) {
      throw new VehicleError(
        'INPUT_INVALID',
        'No watch of that id is open here, so none was ended. Send the id of the record in msg.payload.id, or none to end all.',
      );
    }
    for (const [followed, abort] of following) if (id === null || id === followed) abort.abort();
  };

  const resume = async (): Promise<void> => {
    for (const open of await subscriptions.open(warn)) {
      if (own.closing.aborted) return;
      // A message has no property that it must have.
      resumed.send(open, { ...open.msg, payload: open.command.record } as Message);
    }
  };
  own.beginWithRetries(resume, () => warn('notRead'));
  own.pack.presence.onGone(() => void resume().catch(() => warn('notRead')), own.closing);
  own.onClose(async (isDeleted) => {
    if (!isDeleted) return;
    if (following.size > 0) warn('deleted', { count: following.size });
    await subscriptions.clear();
  });
}
