import {
  Cancellation,
  cancelledId,
  followCommand,
  FollowedCommands,
  parseRecord,
  parseSwitch,
  secondMs,
  VehicleError,
  withSignals,
  type FollowedCommand,
  type FollowUpdate,
  type Signal,
} from '../../src/index';
import type { FlowNode } from '../node-red/flow-node';
import { wordsOf } from '../node-red/i18n';
import { handedOver, onInput, type Task } from '../node-red/input-handler';
import type { Message } from '../node-red/message';
import { SelfMessages } from '../node-red/self-messages';
import { sendOnce, type SendEnd } from '../node-red/send-once';
import { commandStatusOptions, type CommandStatusOptions } from './options';
import { safeError, safeRecord } from '../node-red/redaction';
import { clock } from '../node-red/time';
import { overviewsOf } from '../vehicle/overview';

/**
 * `connected-vehicle-command-status` (docs/internals/contract.md 5): follows commands to their
 * results, also over a restart.
 */
export function connectedVehicleCommandStatus(own: FlowNode): void {
  own.showObstacle(Boolean(own.config.vehicle));
  const results = new ResultNode(own);
  const warnNotRead = (): void => own.warn('watches.notRead');
  onInput(own, (task) => results.handle(task));
  own.beginWithRetries(() => results.resume(), warnNotRead);
  own.onGone(() => void results.resume().catch(warnNotRead));
  own.onClose(async (isDeleted) => {
    if (isDeleted) await results.clear();
  });
}

class ResultNode {
  readonly #own: FlowNode;
  readonly #followed: FollowedCommands;
  /** By the id of the command. */
  readonly #following = new Map<string, Cancellation>();
  readonly #resumed: SelfMessages<FollowedCommand>;

  constructor(own: FlowNode) {
    this.#own = own;
    this.#resumed = new SelfMessages(own);
    this.#followed = new FollowedCommands({
      log: own.pack.log,
      node: own.sharedId,
      clock: clock(),
      onFault: () => own.warn('watches.notKept'),
    });
  }

  async handle(task: Task): Promise<void | typeof handedOver> {
    const { msg, signal } = task;
    if (parseSwitch('cancel', msg['cancel']) === true) return await this.#cancel(cancelledId(msg.payload));
    const options = this.#own.options(commandStatusOptions);
    const resumed = this.#resumed.contentOf(msg);
    const record = resumed?.command.record ?? parseRecord(msg.payload);
    const { id } = record;
    if (this.#following.has(id)) return;
    const abort = new Cancellation();
    this.#following.set(id, abort);
    try {
      const followed = resumed ?? (await this.#followed.begin(record, msg, options.vehicle));
      if (followed === null) return;
      await withSignals([signal, abort], (ending) => this.#follow(followed, options, { ...task, signal: ending }));
    } catch (error) {
      if (abort.aborted) {
        await this.#followed.end(id);
        throw new VehicleError('CANCELLED', 'Following the command was canceled by a message.');
      }
      // The node was closed: the command is followed further after the deploy. A link that must not
      // be followed ends it.
      if (signal.aborted) return handedOver;
      if (safeError(error).code === 'UNTRUSTED_LINK') await this.#followed.end(id);
      throw error;
    } finally {
      this.#following.delete(id);
    }
  }

  async #follow(followed: FollowedCommand, options: CommandStatusOptions, { msg, send, signal }: Task): Promise<void> {
    const own = this.#own;
    const { command } = followed;
    const { vin, command: name } = command.record;
    const vehicle = options.vehicle || command.account;
    const { client } = await own.vehicle(vehicle).account();
    const shown = overviewsOf(own.RED).find(vehicle)?.follow(command.record);
    own.status.show('busy', 'watching', { count: this.#following.size });
    const { say, translate } = wordsOf(own.RED, vehicle);
    const car = own.carName(vin, vehicle);
    own.showsCar(vin, vehicle);
    const { timeout, interval, verify } = options;
    const limits = { timeoutMs: timeout * secondMs, intervalMs: interval * secondMs, verify, signal, clock: clock() };
    try {
      for await (const update of followCommand(command, { ...followed, client, ...limits })) {
        const text = `${say(`command.${name}`, { defaultValue: name })}: ${translate(update.reason)}`;
        const report = safeRecord({ ...update.report, car, text: own.withCar(text, vin, vehicle) });
        const topic = msg.topic || report.command;
        // A copy of the record would be replaced.
        const out: Message = { ...own.RED.util.cloneMessage({ ...msg, payload: null }), topic, payload: report };
        if (update.settled) {
          const end = await this.#sendResult(followed, update, () => send([out, null]), signal);
          if (end === 'sent') own.status.showOutcome(report);
          return;
        }
        await this.#followed.change(followed);
        shown?.update(report.requestStatus);
        send([null, out]);
      }
    } finally {
      shown?.end();
    }
  }

  /** @throws the reason of the signal, if it was aborted before the result was sent */
  async #sendResult(
    followed: FollowedCommand,
    update: FollowUpdate,
    send: () => void,
    signal: Signal,
  ): Promise<SendEnd> {
    const message = {
      claim: () => this.#followed.settle(followed, update),
      mayBeSent: () => this.#followed.mayBeSent(followed),
      send,
      markSent: () => this.#followed.markSent(followed),
      release: () => this.#followed.release(followed),
    };
    const end = await sendOnce(this.#own, message, signal);
    if (end === 'closed') signal.throwIfAborted();
    return end;
  }

  async #cancel(id: string | null): Promise<void> {
    if (id !== null && !this.#following.has(id) && !(await this.#followed.hasSent(id))) {
      throw new VehicleError(
        'INPUT_INVALID',
        'This node is not following a command with that id. Send the id of its record in msg.payload.id, or no id to stop following all commands.',
      );
    }
    for (const [followed, abort] of this.#following) if (id === null || id === followed) abort.abort();
  }

  /** Continues with the commands that a former node, or a process that has ended, followed. */
  async resume(): Promise<void> {
    for (const open of await this.#followed.open(() => this.#own.warn('watches.undelivered'))) {
      if (this.#own.closing.aborted) return;
      // Every property of a message is optional.
      this.#resumed.send(open, { ...open.msg, payload: open.command.record } as Message);
    }
  }

  /** The node is deleted. */
  async clear(): Promise<void> {
    const { size } = this.#following;
    if (size > 0) this.#own.warn('watches.deleted', { count: size });
    await this.#followed.clear();
  }
}
