import type { Node, NodeAPI, NodeDef } from 'node-red';
import {
  LastReadings,
  parseInterface,
  parseReads,
  placeOf,
  readEach,
  type AnyReading,
  type AnyReadName,
  type DuePoll,
  type Reading,
} from '../../src/index';
import { nodeStatusOf, type NodeStatus } from '../node-red/node-status';
import { expiryNote } from '../node-red/expiry-note';
import { languageOf, translate } from '../node-red/i18n';
import { onInput } from '../node-red/input-handler';
import { nonBlank, type Message } from '../node-red/message';
import { parseOptions } from '../node-red/options';
import { statusOptions, type StatusOptions } from './options';
import { selfMessages } from '../node-red/self-message';
import { typedProperty } from '../node-red/typed-property';
import { startPolling } from './polling';
import { describeReading } from './reading-text';
import { safeError } from '../vehicle/redaction';
import { deploysOf } from '../node-red/deploys';
import { clock } from '../node-red/time';
import { showMissingVehicle, vehicleOf } from '../vehicle/vehicle-node';

/** `connected-vehicle-status` (docs/message-contract.md 3): one read or several, on a message or by itself, into the message. */
export function connectedVehicleStatus(RED: NodeAPI, node: Node, config: NodeDef & Partial<StatusOptions>): void {
  RED.nodes.createNode(node, config);
  const nodeStatus = nodeStatusOf(RED, node);
  showMissingVehicle(RED, node, nodeStatus, config.vehicle);
  const deploys = deploysOf(RED);
  const last = new LastReadings();
  const polls = selfMessages<DuePoll>(RED, node);
  let parsed: StatusOptions | undefined;
  const settings = (): StatusOptions => (parsed ??= parseOptions(statusOptions, config));

  onInput(RED, node, nodeStatus, async ({ msg, send, signal, alone }) => {
    nodeStatus.keptNote = null;
    const options = settings();
    const vehicle = vehicleOf(RED, options.vehicle);
    const account = await vehicle.account();
    nodeStatus.note = () => expiryNote(RED, account);
    const chosen = parseReads(
      nonBlank(msg['read']) ??
        (options.read === 'several' ? options.reads : await typedProperty(RED, node, options, 'read', msg)),
    );
    const vin = vehicle.chooseVin(nonBlank(msg['vin']) ?? (await typedProperty(RED, node, options, 'vin', msg)));
    const duePoll = polls.contentOf(msg);
    const readOptions = {
      vin,
      interface: parseInterface(nonBlank(msg['interface']) ?? options.interface),
      signal,
      clear: msg['clear'] === true,
      ...(duePoll && { maxAgeMs: duePoll.maxAgeMs }),
    };
    const readOne = (name: AnyReadName, batch?: string): Promise<Reading> =>
      account.read(name, { ...readOptions, ...(batch !== undefined && { batch }) }).catch((error: unknown) => {
        duePoll?.failed(name, safeError(error));
        throw error;
      });
    const due = duePoll?.reads;
    const key = (): string => JSON.stringify([vin, chosen]);

    const read = async (): Promise<AnyReading> => {
      if (typeof chosen === 'string') return readOne(chosen);
      if (!due?.length || due.length === chosen.length) return readEach(chosen, readOne);
      return last.filled(key(), await readEach(due, readOne), clock().now());
    };

    const { blockedUntil } = account.quota();
    const wait = blockedUntil === null ? 0 : Math.ceil((Date.parse(blockedUntil) - clock().now()) / 1000);
    if (alone && wait > 0) nodeStatus.show('waiting', 'waitsForQuota', { seconds: wait });
    else if (alone) nodeStatus.show('busy', 'reading');
    try {
      const reading = await read();
      showReading(nodeStatus, RED, reading);
      const keeps = options.emit === 'changes' || options.poll > 0;
      const changed = keeps && last.remember(key(), reading, clock().now());
      if (options.emit === 'always') send(fill(msg, reading));
      // A change that gets lost would not be sent again.
      else if (changed) await deploys.send(() => send(fill(msg, reading)), { clock: clock(), signal });
    } catch (error) {
      if (duePoll !== undefined) last.failed(key(), due?.length ? due : [chosen].flat(), safeError(error));
      // A failed poll sends the last known values again, marked as kept. A failed read on a message only fails.
      const kept = duePoll === undefined || signal.aborted ? undefined : last.kept(key(), clock().now());
      nodeStatus.keptNote = kept === undefined ? null : keptNote(RED, kept);
      if (kept !== undefined && options.emit === 'always') send(fill(msg, kept));
      throw error;
    }
  });

  // Also with a number that is not valid: the first poll says so.
  if (Number(config.poll ?? 0) !== 0) startPolling(RED, node, settings, polls.send);
}

function fill(msg: Message, reading: AnyReading): Message {
  const { payload, vehicle } = reading;
  const topic = msg.topic || (Array.isArray(vehicle.read) ? 'several' : vehicle.read);
  const place = placeOf(reading);
  if (place === undefined) return Object.assign({}, msg, { payload, vehicle, topic });
  // Drop a location that came with the message: it is not the car's.
  const { location: _former, ...others } = msg;
  return { ...others, payload, vehicle, topic, ...(place !== null && { location: place }) };
}

/** Shows what was read, in a few words with the time of day. */
function showReading(nodeStatus: NodeStatus, RED: NodeAPI, reading: AnyReading): void {
  const words = { language: languageOf(RED), say: (key: string, values = {}) => translate(RED, key, values) };
  const described = describeReading(reading, words);
  if (described === null) nodeStatus.showWithTime('unclear', 'unknown');
  else nodeStatus.showWithTime(described.style, 'value', { value: described.text });
}

/** `last known value, 7 min old`: shown after the failure of a poll. */
function keptNote(RED: NodeAPI, { vehicle: { ageSeconds = 0 } }: AnyReading): string {
  const minutes = Math.floor(ageSeconds / 60);
  const age = minutes < 1 ? `${ageSeconds} s` : minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
  return translate(RED, 'status.kept', { age });
}
