import type { NodeDef } from 'node-red';
import {
  CarRunner,
  Guard,
  guardText,
  parseGuardRequest,
  VehicleError,
  type GuardEvent,
  type GuardRead,
} from '../../src/index';
import { guardWordsOf, showGuardState } from './status';
import { onInput, showFailure } from '../node-red/input-handler';
import { guardOptions, type GuardOptions } from './options';
import { parseOptions } from '../node-red/options';
import type { FlowNode } from '../node-red/flow-node';
import { clock } from '../node-red/time';
import { openCar, startCarNode, testPayload, type RunnerContext } from '../node-red/car-node';

/** `connected-vehicle-guard`: reports when a window, a door or the lock stays open, and when all is closed again. */
export function connectedVehicleGuard(own: FlowNode, config: NodeDef & Partial<GuardOptions>): void {
  const nodeStatus = own.status;
  const payloadOf = (event: GuardEvent) => ({ text: guardText(event, guardWordsOf(own)), ...event });

  const carNode = startCarNode(
    own,
    'guard',
    async ({ options: runnerOptions, signal, wake }: RunnerContext<GuardRead>) => {
      const options = parseOptions(guardOptions, config);
      const { client, poller, vin, value: minutes } = await openCar(own, options, 'minutes');
      const guard = new Guard({ ...options, minutes });
      const runner = await CarRunner.open(guard, { ...runnerOptions, client, vin });
      const polls = options.poll > 0;
      if (polls && !signal.aborted) nodeStatus.show('waiting', 'checking');
      /** The result of the first read after the start, until a message carries it on. */
      const initial =
        polls && runnerOptions.isActive?.() !== false && runner.state.at !== null
          ? await runner.initialRead(guard.readsFor(), signal)
          : null;
      const beginPolling = () => (polls ? runner.startPolling(poller, options.poll, wake) : () => undefined);
      return { vin, guard, runner, polls, initial, hasRead: initial !== null, beginPolling };
    },
    ({ vin, guard }) => {
      const event = guard.sample(clock().now());
      return { topic: event.type, payload: testPayload(own, payloadOf(event)), vehicle: { vin } };
    },
  );

  onInput(own, async ({ msg, send, signal }) => {
    const opened = await carNode.running();
    const { vin, guard, runner } = opened;
    const poll = carNode.ownPoll(msg);
    const { reading, snooze, ask } = poll === undefined ? parseGuardRequest(msg) : {};
    if (reading !== undefined && !isSameVin(reading.vin, vin))
      throw new VehicleError('INPUT_INVALID', 'This reading is of another vehicle. Use one guard for each vehicle.');

    const deliver = (events: readonly GuardEvent[]): Promise<void> =>
      carNode.deliver(
        events,
        (event) => {
          const ownPart = { topic: msg.topic || event.type, payload: payloadOf(event), vehicle: { vin } };
          const out = { ...own.RED.util.cloneMessage(msg), ...ownPart };
          send(event.type === 'clear' ? [null, out] : [out, null]);
          return ownPart.payload.text;
        },
        signal,
      );
    let polled = opened.initial ?? { events: [], failure: null, isNewFailure: false };
    opened.initial = null;
    await deliver(polled.events);
    if (poll?.reads.length === 0) await deliver(await runner.step({ type: 'tick' }));
    if (reading !== undefined) await deliver(await runner.step(reading.values));
    if (snooze !== undefined) await deliver(await runner.step({ type: 'snooze', minutes: snooze }));
    const isPlain = ask === undefined && reading === undefined && snooze === undefined;
    const reads = poll?.reads ?? (ask !== undefined || isPlain ? guard.readsFor(ask?.only) : []);
    if (reads.length > 0) {
      polled = await runner.poll(reads, signal, poll?.due);
      await deliver(polled.events);
    }
    opened.hasRead ||= reading !== undefined || reads.length > 0;
    if (ask !== undefined) await deliver(await runner.step({ type: 'ask', ...ask }));
    const failure = runner.fault ?? polled.failure;
    if (runner.fault !== null) showFailure(nodeStatus, runner.fault);
    else if (opened.polls && !opened.hasRead) nodeStatus.show('waiting', 'checking');
    else showGuardState(own, guard.view(runner.state), failure);
    // A Catch node gets an outage once, not with each poll; the status of the node shows it throughout.
    return failure !== null && (poll === undefined || polled.isNewFailure) ? failure : undefined;
  });
}

/** A message may carry the VIN as a person writes it. */
const isSameVin = (given: unknown, vin: string): boolean =>
  typeof given === 'string' && given.trim().toUpperCase() === vin;
