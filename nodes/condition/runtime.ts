import {
  combine,
  isRecord,
  judge,
  openingKeyOf,
  parseCondition,
  parseRow,
  readAll,
  VehicleError,
  type Condition,
  type ConditionResult,
  type ConditionValue,
} from '../../src/index';
import type { FlowNode } from '../node-red/flow-node';
import type { Words } from '../node-red/i18n';
import { errorOf, onInput } from '../node-red/input-handler';
import type { Message } from '../node-red/message';
import { clock } from '../node-red/time';
import { literalTypes, typedProperty } from '../node-red/typed-property';
import { textOf } from '../node-red/reading-text';
import { safeError } from '../node-red/redaction';
import { conditionOptions, type ConditionOptions } from './options';

/** `connected-vehicle-condition` (docs/internals/contract.md 5c): sends a message on by what is known of the car. */
export function connectedVehicleCondition(own: FlowNode): void {
  own.showCause();
  const nodeStatus = own.status;

  onInput(own, async ({ msg, send, signal, alone }) => {
    const options = own.options(conditionOptions);
    const conditions = await parseConditions(own, options, msg);
    const { account, vin: chosen } = await own.car(options, msg);
    const { client } = account;
    const vin = await client.requireVin(chosen, signal);
    if (alone) nodeStatus.show('busy', 'reading');
    const reads = [...new Set(conditions.map(({ value }) => value.read))];
    const { readings, failures } = await readAll(reads, (read, batch) =>
      client.read(read, { vin, maxAgeMs: options.maxAge * 1000, batch, signal }),
    );
    if (signal.aborted) throw failures.values().next().value;
    const now = clock().now() + client.clockSkewMs;
    const judged = conditions.map((condition) => ({
      condition,
      ...judge(condition, readings.get(condition.value.read), now),
    }));
    const result = combine(
      options.match,
      judged.map((one) => one.result),
    );
    const decisive = judged.filter((one) => one.result === result);
    const facts = factsText(own.words, decisive, now);
    const fault =
      result === null ? decisive.map(({ condition }) => failures.get(condition.value.read)).find(Boolean) : undefined;
    const failure = fault && safeError(fault);
    if (failure !== undefined) nodeStatus.showFailure(failure);
    else if (result === null) nodeStatus.showWithTime('unclear', 'cannotTell', { facts });
    else nodeStatus.showWithTime(result ? 'good' : 'waiting', result ? 'yes' : 'no', { facts });
    const out = {
      ...msg,
      vehicle: {
        ...(isRecord(msg['vehicle']) && msg['vehicle']),
        condition: { result, conditions: judged.map(({ condition: _condition, ...one }) => one) },
        text: result === null ? own.words.say('condition.cannotTell', { facts }) : facts,
        ...(failure && { error: errorOf(own, failure) }),
      },
    };
    send([true, false, null].map((port) => (port === result ? out : null)));
  });
}

/** @throws VehicleError CONFIG for what the form holds, INPUT_INVALID for an operand from another source */
async function parseConditions(own: FlowNode, { conditions }: ConditionOptions, msg: Message): Promise<Condition[]> {
  if (conditions.length === 0)
    throw new VehicleError('CONFIG', 'This node has no condition. Add one and deploy again.', {
      status: { word: 'ADD_CONDITION' },
    });
  const rows = conditions.map((row, index) => parseRow(index + 1, row));
  return Promise.all(
    rows.map(async (row, index) => {
      const { operand, operandType } = conditions[index] ?? { operand: '', operandType: 'str' };
      const found = await typedProperty(own, { operand, operandType }, 'operand', msg);
      return parseCondition(index + 1, row, found, literalTypes.has(operandType) ? 'CONFIG' : 'INPUT_INVALID');
    }),
  );
}

/** More of them would make the sentence too long to read. */
const maxFacts = 5;

interface Judged extends ConditionResult {
  condition: Condition;
}

/** "Battery level: 24 %, Charging cable: not plugged in". Never contains the position, because the node status has it. */
function factsText(words: Words, judged: readonly Judged[], now: number): string {
  const fact = (one: Judged): string =>
    words.say('condition.fact', { title: titleOf(words, one.condition.value), value: factText(words, one, now) });
  const texts = [...new Set(judged.map(fact))];
  const facts = texts.slice(0, maxFacts).join(', ');
  const count = texts.length - maxFacts;
  return count > 0 ? words.say('condition.more', { facts, count }) : facts;
}

function titleOf({ language, say }: Words, { read, member }: ConditionValue): string {
  if (member === undefined) return say(`reading.title.${read}`);
  const key = member === 'locked' ? 'carLocked' : openingKeyOf(member, read);
  const title = say(member === 'allClosed' ? `guard.${read}` : `part.${key}`);
  return title.charAt(0).toLocaleUpperCase(language) + title.slice(1);
}

function factText(
  words: Words,
  { condition: { value, operator, operand }, is, unit, measuredAt, result }: Judged,
  now: number,
): string {
  const { say } = words;
  const { type } = value;
  if (is === null || result === null) return say('condition.unknown');
  if (operator === 'older than') {
    const minutes = Math.max(0, Math.floor((now - Date.parse(measuredAt ?? '')) / 60_000));
    return say('condition.age', { minutes });
  }
  if (type.kind === 'position') {
    const place = isRecord(operand) ? String(operand['name']) : '';
    return say(`condition.${(operator === 'within') === result ? 'within' : 'outside'}`, { place });
  }
  if (value.member !== undefined && type.kind === 'boolean')
    return say(`reading.word.${type.words[is === true ? 'true' : 'false']}`);
  return textOf({ value: is, unit }, words, value.read) ?? String(is);
}
