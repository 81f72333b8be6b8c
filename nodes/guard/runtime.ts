import type { Node, NodeAPI, NodeDef } from 'node-red';
import { GuardRunner, guardText, parseGuardRequest, VehicleError, type GuardPollResult } from '../../src/index';
import { showGuardState } from './status';
import { guardWordsOf } from './words';
import { onInput } from '../node-red/input-handler';
import { guardOptions, parseMinutes, parseOptions, type GuardOptions } from '../node-red/options';
import { deploysOf } from '../node-red/deploys';
import { translate } from '../node-red/i18n';
import { clock } from '../node-red/time';
import { nodeStatusOf } from '../node-red/node-status';
import { openCar, startSelfPolling, type Opening } from '../node-red/self-polling';

interface OpenedGuard {
  vin: string;
  runner: GuardRunner;
  polls: boolean;
  /** The result of the first read after the start, until a message carries it on. */
  initial: GuardPollResult | null;
  endPolling(): void;
}

/** `connected-vehicle-guard`: reports when a window, a door or the lock stays open, and when all is closed again. */
export function connectedVehicleGuard(RED: NodeAPI, node: Node, config: NodeDef & Partial<GuardOptions>): void {
  RED.nodes.createNode(node, config);
  const nodeStatus = nodeStatusOf(RED, node);
  const deploys = deploysOf(RED);
  const whenSendable = async (signal: AbortSignal): Promise<void> => {
    await deploys.whenOver(clock(), signal);
    signal.throwIfAborted();
  };

  const open = async ({ signal, store, key, wake }: Opening<GuardRunner>): Promise<OpenedGuard> => {
    const options = parseOptions(guardOptions, config);
    const { client, poller, vin, value: minutes } = await openCar(RED, node, options, 'minutes');
    const runner = await GuardRunner.open({
      settings: { ...options, minutes: parseMinutes(minutes) },
      client,
      vin,
      store,
      key,
      clock: clock(),
      onDue: () => wake([]),
      whenSendable: () => whenSendable(signal),
      onSaveFailed: () => node.warn(translate(RED, 'warning.guard.notKept')),
    });
    if (options.poll === 0) return { vin, runner, polls: false, initial: null, endPolling: () => undefined };
    if (!signal.aborted) nodeStatus.show('waiting', 'checking');
    const initial = await runner.initialRead(signal);
    const endPolling = runner.startPolling(poller, options.poll, wake);
    return { vin, runner, polls: true, initial, endPolling };
  };
  const selfPolling = startSelfPolling(RED, node, 'guard', open);

  onInput(node, nodeStatus, async ({ msg, send, signal }) => {
    const guard = await selfPolling.running();
    const { vin, runner } = guard;
    const { reads: due, duePoll } = selfPolling.ownPoll(msg) ?? {};
    const { reading, snooze, ask } = due === undefined ? parseGuardRequest(msg) : {};
    if (reading !== undefined && !isSameVin(reading.vin, vin))
      throw new VehicleError('INPUT_INVALID', 'This reading is of another vehicle. Use one guard for each vehicle.');

    const sendEvents = (events: GuardPollResult['events']): void => {
      for (const event of events) {
        const payload = { text: guardText(event, guardWordsOf(RED)), ...event };
        const out = { ...RED.util.cloneMessage(msg), topic: msg.topic || event.type, payload, vehicle: { vin } };
        send(event.type === 'clear' ? [null, out] : [out, null]);
      }
    };
    await whenSendable(signal);
    let polled = guard.initial ?? { events: [], failure: null, isNewFailure: false };
    guard.initial = null;
    sendEvents(polled.events);
    if (due?.length === 0) sendEvents(runner.step({ type: 'tick' }));
    if (reading !== undefined) sendEvents(runner.step(reading.values));
    if (snooze !== undefined) sendEvents(runner.step({ type: 'snooze', minutes: snooze }));
    const isPlain = ask === undefined && reading === undefined && snooze === undefined;
    const reads = due ?? (ask !== undefined || isPlain ? runner.readsFor(ask?.only) : []);
    if (reads.length > 0) {
      polled = await runner.poll(reads, signal, duePoll);
      sendEvents(polled.events);
    }
    if (ask !== undefined) sendEvents(runner.step({ type: 'ask', ...ask }));
    if (guard.polls && !runner.hasRead) nodeStatus.show('waiting', 'checking');
    else showGuardState(nodeStatus, RED, runner.view, polled.failure);
    // A Catch node gets an outage once, not with each poll; the status of the node shows it throughout.
    if (polled.failure !== null && (due === undefined || polled.isNewFailure)) throw polled.failure;
  });
}

/** A message may carry the VIN as a person writes it. */
const isSameVin = (given: unknown, vin: string): boolean =>
  typeof given === 'string' && given.trim().toUpperCase() === vin;
