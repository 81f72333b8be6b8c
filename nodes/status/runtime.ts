import { isDeepStrictEqual } from 'node:util';
import {
  Cancellation,
  isRecord,
  LastReadings,
  listedValues,
  needsVehicle,
  parseInterface,
  parseReads,
  placeOf,
  plainPayload,
  readEach,
  secondMs,
  type Account,
  type AnyReading,
  type AnyReadName,
  type DuePoll,
  type Reading,
} from '../../src/index';
import type { FlowNode } from '../node-red/flow-node';
import { onInput } from '../node-red/input-handler';
import type { Words } from '../node-red/i18n';
import { nonBlank, type Message } from '../node-red/message';
import { typedProperty } from '../node-red/typed-property';
import { statusOptions, type StatusOptions } from './options';
import { describeReading, inOrderText } from '../node-red/reading-text';
import { safeError } from '../node-red/redaction';
import { SelfMessages } from '../node-red/self-messages';
import { clock } from '../node-red/time';

/**
 * `connected-vehicle-status` (docs/internals/contract.md 3): one read or several, on a message or
 * repeatedly, into the message.
 */
export function connectedVehicleStatus(own: FlowNode): void {
  own.showObstacle();
  const nodeStatus = own.status;
  const last = new LastReadings();
  const polls = new SelfMessages<DuePoll>(own);

  onInput(own, async ({ msg, send, signal, alone }) => {
    nodeStatus.keptNote = null;
    const options = own.options(statusOptions);
    const { account, vin } = await own.car(options, msg);
    const chosen = parseReads(nonBlank(msg['read']) ?? (await readsOf(own, options, msg)));
    const duePoll = polls.contentOf(msg);
    const readOptions = {
      vin,
      interface: parseInterface(nonBlank(msg['interface']) ?? options.interface),
      signal,
      clear: msg['clear'] === true,
      from: msg['from'],
      to: msg['to'],
      maxAgeMs: duePoll?.maxAgeMs,
    };
    const readOne = (name: AnyReadName): Promise<Reading> => {
      const given = account.read(name, readOptions);
      const reading = name === 'inOrder' ? given.then((one) => withText(one, own.words)) : given;
      if (duePoll === undefined) return reading;
      return reading.catch((error: unknown) => {
        duePoll.failed(name, safeError(error));
        throw error;
      });
    };
    const due = duePoll?.reads.length ? duePoll.reads : Array.isArray(chosen) ? chosen : [chosen];
    const key = (): string => JSON.stringify([vin, chosen]);
    // A poll can have some of the reads only: the last readings fill in the others.
    const isWhole = due.length === chosen.length;
    if (alone) showBegin(own, account, due);
    try {
      const reading =
        typeof chosen === 'string'
          ? await readOne(chosen)
          : isWhole
            ? await readEach(chosen, readOne)
            : last.filled(key(), await readEach(due, readOne), clock().now());
      showReading(own, reading);
      const keeps = options.emit === 'changes' || options.poll > 0;
      const changed = keeps && last.remember(key(), reading, clock().now());
      if (options.emit === 'always') send(fill(options, msg, reading));
      // A change that gets lost would not be sent again.
      else if (changed) await own.deploys.send({ send: () => send(fill(options, msg, reading)) }, signal);
    } catch (error) {
      if (duePoll !== undefined) last.failed(key(), due, safeError(error));
      // A failed poll sends the last known values again, marked as kept. A failed read on
      // a message only fails.
      const kept = duePoll === undefined || signal.aborted ? undefined : last.kept(key(), clock().now());
      nodeStatus.keptNote = kept === undefined ? null : keptNote(own, kept);
      if (kept !== undefined && options.emit === 'always') send(fill(options, msg, kept));
      throw error;
    }
  });

  // Also with a number that is not valid: the first poll reports it.
  if (Number(own.config.poll ?? 0) !== 0) void new StatusPolling(own, polls);
}

/** Shows that the node reads, or how long the service makes it wait. */
function showBegin({ status }: FlowNode, account: Account, due: readonly AnyReadName[]): void {
  const pausedUntil = Math.max(...due.map((name) => account.pausedUntil(name) ?? 0));
  const wait = Math.ceil((pausedUntil - clock().now()) / 1000);
  if (wait > 0) status.show('waiting', 'waitsForQuota', { seconds: wait });
  else status.show('busy', 'reading');
}

function showReading({ status, words }: FlowNode, reading: AnyReading): void {
  const described = describeReading(reading, words);
  if (described === null) status.showWithTime('unclear', 'unknown');
  else status.showWithTime(described.style, 'value', { value: described.text });
}

const withText = (reading: Reading, words: Words): Reading => ({
  payload: reading.payload,
  vehicle: { ...reading.vehicle, text: inOrderText(isRecord(reading.payload) ? reading.payload : {}, words) },
});

/** The reads of the node, which a message without a `read` gets. */
const readsOf = (own: FlowNode, options: StatusOptions, msg: Message): unknown =>
  options.read === 'several' ? options.reads : typedProperty(own, options, 'read', msg);

const payloads: Readonly<Record<StatusOptions['payload'], (reading: AnyReading) => unknown>> = {
  object: ({ payload }) => payload,
  value: plainPayload,
  list: listedValues,
};

function fill(options: StatusOptions, msg: Message, reading: AnyReading): Message {
  const { vehicle } = reading;
  const payload = payloads[options.payload](reading);
  const topic = msg.topic || (Array.isArray(vehicle.read) ? 'several' : vehicle.read);
  const place = placeOf(reading);
  if (place === undefined) return Object.assign({}, msg, { payload, vehicle, topic });
  // Drop a location that came with the message: it is not the car's.
  const { location: _ofMessage, ...others } = msg;
  return { ...others, payload, vehicle, topic, ...(place !== null && { location: place }) };
}

/** `last known value, 7 min old`: shown after the failure of a poll. */
function keptNote({ words }: FlowNode, { vehicle: { ageSeconds = 0 } }: AnyReading): string {
  const minutes = Math.floor(ageSeconds / 60);
  const age = minutes < 1 ? `${ageSeconds} s` : minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
  return words.say('status.kept', { age });
}

/**
 * Sends the node a message whenever the vehicle's poller finds something due. While polling cannot
 * start, it is tried again, and one message without due reads is sent for each new reason, so that
 * the failing read shows it. It begins again when a variable chooses other reads.
 */
class StatusPolling {
  readonly #own: FlowNode;
  readonly #polls: SelfMessages<DuePoll>;
  readonly #beginAgain: () => void;
  #reads: readonly AnyReadName[] = [];
  /** Aborted when other reads are chosen, and when the node closes. */
  #plan: Cancellation | undefined;

  constructor(own: FlowNode, polls: SelfMessages<DuePoll>) {
    this.#own = own;
    this.#polls = polls;
    own.closing.addEventListener('abort', () => this.#plan?.abort());
    this.#beginAgain = own.beginWithRetries(
      () => this.#begin(),
      () => polls.send(nothingDue),
    );
  }

  async #begin(): Promise<void> {
    const own = this.#own;
    const options = own.options(statusOptions);
    const reads = await this.#chosen();
    const vehicle = own.vehicle();
    // Only then the demo car's VIN is known.
    const { client, poller } = await vehicle.account();
    if (reads.length === 0) return own.closing.aborted ? undefined : this.#polls.send(nothingDue);
    const vin = reads.some(needsVehicle)
      ? await client.requireVin(vehicle.chooseVin(await typedProperty(own, options, 'vin', started)))
      : '';
    if (own.closing.aborted) return;
    this.#reads = reads;
    this.#poll(poller, { vin, reads, everyMs: options.poll * secondMs, interface: parseInterface(options.interface) });
  }

  #poll(poller: Account['poller'], user: Parameters<Account['poller']['start']>[0]): void {
    this.#plan?.abort();
    const plan = new Cancellation();
    this.#plan = plan;
    this.#own.runInOneProcess(() => poller.start(user, (due) => void this.#pollChosen(due, plan)), plan);
  }

  async #pollChosen(due: DuePoll, plan: Cancellation): Promise<void> {
    // A choice that cannot be evaluated now fails with the message.
    const now = await this.#chosen().catch(() => this.#reads);
    if (plan.aborted) return;
    if (isDeepStrictEqual(now, this.#reads)) return this.#polls.send(due);
    plan.abort();
    this.#beginAgain();
  }

  async #chosen(): Promise<AnyReadName[]> {
    return [parseReads(await readsOf(this.#own, this.#own.options(statusOptions), started))].flat();
  }
}

/** A polling node evaluates its properties without a message of a flow. */
const started: Message = { _msgid: '' };
const nothingDue: DuePoll = { reads: [], maxAgeMs: 0, failed: () => undefined };
