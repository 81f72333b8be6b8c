import { isRecord, parseCondition, parseRow, secondMs, type Condition } from '../../src/index';
import type { FlowNode } from '../node-red/flow-node';
import { errorOf, onInput } from '../node-red/input-handler';
import type { Message } from '../node-red/message';
import { literalTypes, typedProperty } from '../node-red/typed-property';
import { safeError } from '../node-red/redaction';
import { factsText, judgeAll, requireRows } from './check';
import { conditionOptions, type ConditionOptions } from './options';

/** `connected-vehicle-condition` (docs/internals/contract.md 5c). */
export function connectedVehicleCondition(own: FlowNode): void {
  own.showObstacle();
  const nodeStatus = own.status;

  onInput(own, async ({ msg, send, signal, alone }) => {
    const options = own.options(conditionOptions);
    const { match, maxAge } = options;
    const conditions = await parseConditions(own, options, msg);
    const { account, vin: chosen } = await own.car(options, msg);
    const { client } = account;
    const vin = await client.requireVin(chosen, signal);
    if (alone) nodeStatus.show('busy', 'reading');
    const query = { match, vin, maxAgeMs: maxAge * secondMs, signal };
    const { judged, failures, now, result } = await judgeAll(account, conditions, query);
    const decisive = judged.filter((one) => one.result === result);
    const facts = factsText(own.words, decisive, now);
    const text = own.withCar(result === null ? own.words.say('condition.cannotTell', { facts }) : facts, vin);
    const fault =
      result === null ? decisive.map(({ condition }) => failures.get(condition.value.read)).find(Boolean) : undefined;
    const failure = fault && safeError(fault);
    if (failure !== undefined) nodeStatus.showFailure(failure);
    else if (result === null) nodeStatus.showWithTime('unclear', 'cannotTell');
    else nodeStatus.showWithTime(result ? 'good' : 'waiting', result ? 'yes' : 'no');
    const out = {
      ...msg,
      ...(options.payload === 'text' && { payload: text }),
      vehicle: {
        ...(isRecord(msg['vehicle']) && msg['vehicle']),
        condition: { result, conditions: judged.map(({ condition: _condition, shown: _shown, ...one }) => one) },
        text,
        ...(failure && { error: errorOf(own, failure) }),
      },
    };
    send([true, false, null].map((port) => (port === result ? out : null)));
  });
}

/**
 * @throws VehicleError CONFIG for what the form holds, INPUT_INVALID for an
 * operand from another source
 */
async function parseConditions(own: FlowNode, { conditions }: ConditionOptions, msg: Message): Promise<Condition[]> {
  requireRows(conditions);
  const rows = conditions.map((row, index) => parseRow(index + 1, row));
  return Promise.all(
    rows.map(async (row, index) => {
      const { operand, operandType } = conditions[index] ?? { operand: '', operandType: 'str' };
      const found = await typedProperty(own, { operand, operandType }, 'operand', msg);
      const code = literalTypes.has(operandType) ? 'CONFIG' : 'INPUT_INVALID';
      return parseCondition(index + 1, row, found, code, own.places);
    }),
  );
}
