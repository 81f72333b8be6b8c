import {
  CarRunner,
  copyOfJson,
  Guard,
  guardText,
  normalVin,
  openingKeyOf,
  openings,
  parseGuardRequest,
  VehicleError,
  type GuardEvent,
  type GuardRead,
  type GuardView,
} from '../../src/index';
import type { Words } from '../node-red/i18n';
import { onInput, noNews } from '../node-red/input-handler';
import { guardOptions } from './options';
import type { FlowNode } from '../node-red/flow-node';
import { clock } from '../node-red/time';
import { CarNode, openCar, testPayload, type RunnerContext } from '../node-red/car-node';

/** `connected-vehicle-guard` (docs/internals/contract.md 5b). */
export function connectedVehicleGuard(own: FlowNode): void {
  const nodeStatus = own.status;
  const carNode = new CarNode(
    own,
    'guard',
    (context: RunnerContext<GuardRead>) => openGuard(own, context),
    ({ vin, guard }) => {
      const event = guard.sample(clock().now());
      return { topic: event.type, payload: testPayload(own, payloadOf(own, event, vin)), vehicle: { vin } };
    },
  );

  onInput(own, async ({ msg, send, signal }) => {
    const opened = await carNode.running();
    const { vin, guard, runner } = opened;
    const poll = carNode.ownPoll(msg);
    const { reading, snooze, ask } = poll === undefined ? parseGuardRequest(msg) : {};
    if (reading !== undefined && normalVin(reading.vin) !== vin)
      throw new VehicleError(
        'INPUT_INVALID',
        'This reading belongs to another vehicle. Use one guard for each vehicle.',
      );

    // Events that could not be sent now are returned by a later step.
    const deliver = (events: readonly GuardEvent[]): Promise<void> =>
      carNode.deliver(
        events,
        (event) => {
          const ownPart = { topic: msg.topic || event.type, payload: payloadOf(own, event, vin), vehicle: { vin } };
          const out = { ...own.RED.util.cloneMessage(msg), ...ownPart };
          send(event.type === 'clear' ? [null, out] : [out, null]);
          return textOf(own, event);
        },
        signal,
      );
    let polled = opened.takeInitial() ?? { events: [], failure: null, isNewFailure: false };
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
    if (runner.fault !== null) nodeStatus.showFailure(runner.fault);
    else if (opened.polls && !opened.hasRead) nodeStatus.show('waiting', 'checking');
    else showGuardState(own, guard.view(runner.state), failure);
    // A Catch node gets an outage once, not with each poll; the status of the node
    // shows it throughout.
    if (failure === null) return reads.length > 0 ? undefined : noNews;
    return poll === undefined || polled.isNewFailure ? failure : noNews;
  });
}

const textOf = (own: FlowNode, event: GuardEvent): string => guardText(event, guardWordsOf(own.words));

/** A copy: the runner finds the event by what is in it, and a flow can change its message. */
const payloadOf = (own: FlowNode, event: GuardEvent, vin: string) =>
  copyOfJson({ text: own.withCar(textOf(own, event), vin), car: own.carName(vin), ...event });

async function openGuard(own: FlowNode, { options: runnerOptions, signal, wake }: RunnerContext<GuardRead>) {
  const options = own.options(guardOptions);
  const { account, vin, value: minutes } = await openCar(own, options, 'minutes');
  const guard = new Guard({ ...options, minutes });
  const runner = await CarRunner.open(guard, { ...runnerOptions, client: account.client, vin });
  const polls = options.poll > 0;
  if (polls && !signal.aborted) own.status.show('waiting', 'checking');
  let initial =
    polls && own.pack.presence.isLeading && runner.state.at !== null
      ? await runner.initialRead(guard.readsFor(), signal)
      : null;
  const hasRead = initial !== null;
  /** The result of the first read after the start, once: the first message passes it on. */
  const takeInitial = () => {
    const taken = initial;
    initial = null;
    return taken;
  };
  const beginPolling = () => (polls ? runner.startPolling(account.poller, options.poll, wake) : () => undefined);
  return { vin, guard, runner, polls, takeInitial, hasRead, beginPolling };
}

/**
 * Shows the state of a guard: what has been open since when, and the last alert about it; else why
 * the last read failed; else what is closed, in words, because not everything need be watched.
 */
function showGuardState(own: FlowNode, view: GuardView, failure: VehicleError | null): void {
  const { words, status: nodeStatus } = own;
  const { open, allClosed, closed, everything, snoozedUntil, alertedAt } = view;
  const [first, ...others] = open;
  if (first !== undefined) {
    const more = others.length === 0 ? '' : ` +${others.length}`;
    const isLock = first.kind === 'lock';
    const text = words.say(`status.${isLock ? 'unlockedSince' : 'openSince'}`, {
      names: words.say(`part.${openingKeyOf(first.name, first.kind)}`) + more,
      time: nodeStatus.time(Date.parse(first.since)) + (isLock ? more : ''),
    });
    if (snoozedUntil === null && alertedAt !== null)
      return nodeStatus.show('attention', 'alerted', { text, time: nodeStatus.time(alertedAt) });
    if (snoozedUntil === null) return nodeStatus.show('attention', 'value', { value: text });
    if (snoozedUntil === Infinity) return nodeStatus.show('waiting', 'silentUntilClosed', { text });
    return nodeStatus.show('waiting', 'silentUntil', { text, time: nodeStatus.time(snoozedUntil) });
  }
  if (failure !== null) return nodeStatus.showFailure(failure);
  if (!allClosed) return nodeStatus.showWithTime('unclear', 'unknown');
  const text = guardText(
    { type: 'clear', at: '', reason: 'closed', openings: closed, everything },
    guardWordsOf(words),
  );
  nodeStatus.showWithTime('good', 'value', { value: text });
}

const guardWordsOf = ({ language, say }: Words) => ({
  language,
  text: (key: string): string => say(`${Object.hasOwn(openings, key) ? 'part' : 'guard'}.${key}`),
});
