import type { NodeOfFlow } from './flows';
import { isBlank, type Message } from './message';
import { asSentence, isRecord, sentence, VehicleError } from '../../src/index';
import { redactor } from './redaction';

/** The types of a typed input that hold their value in the node itself. */
export const literalTypes: ReadonlySet<string> = new Set(['str', 'num']);

/** The options of a node, with `<name>Type` beside each typed property. */
export type Typed<Name extends string> = { [Property in Name | `${Name}Type`]: unknown };

/**
 * The value of a property that a person can also take from the message, the context, the
 * environment or an expression, or its promise. Without such a type it is the stored value, as in
 * flows that know no types.
 * @throws VehicleError INPUT_INVALID if the source has no value: a command must not go to the
 * default car instead
 */
export function typedProperty<Name extends string>(
  own: NodeOfFlow,
  options: Typed<Name>,
  name: Name,
  msg: Message,
): unknown {
  const source = options[name];
  const type = String(options[`${name}Type`]);
  const isLiteral = literalTypes.has(type) || (type === 'json' && isBlank(source));
  return isLiteral ? source : evaluated(own, { name, source, type }, msg);
}

async function evaluated(
  { RED, node }: NodeOfFlow,
  { name, source, type }: { name: string; source: unknown; type: string },
  msg: Message,
): Promise<unknown> {
  // A user may enter the VIN itself in the field for the name of its source; the
  // errors below repeat it.
  redactor.learnVin(source);
  const named = asSentence(type.startsWith('json') ? 'The expression' : `${type}.${String(source)}`);
  const label = sentence`${named} for “${asSentence(name)}” of this node`;
  const value = await new Promise<unknown>((resolve, reject) => {
    RED.util.evaluateNodeProperty(String(source), type, node, msg, (error, found) =>
      error ? reject(error) : resolve(found),
    );
  }).catch((error: unknown) => {
    // JSONata throws plain objects.
    const reason = isRecord(error) ? String(error['message'] ?? '') : '';
    const fault = sentence`${label} cannot be evaluated. Correct it in the node.`;
    throw new VehicleError('INPUT_INVALID', reason === '' ? fault : sentence`${fault} ${reason}`);
  });
  if (isBlank(value))
    throw new VehicleError(
      'INPUT_INVALID',
      sentence`${label} has no value. Set it, or choose another source in the node.`,
    );
  return value;
}
