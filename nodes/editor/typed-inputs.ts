import { chooseVehicle, nodeField, showProperties, textOf } from './forms';
import { validateVin, type Validity } from './validators';
import { sharedText } from './texts';

/** A type of a typed input that this pack defines; the others are Node-RED's own. */
interface OwnType {
  value: string;
  label: string;
  icon?: string;
  hasValue?: false;
  options?: { value: string; label: string }[];
}

/** The sources that every typed property of a node offers besides its own value. */
export const sources = ['msg', 'flow', 'global', 'env', 'jsonata'] as const;

/** Guards and event nodes evaluate their properties when they start, without a message. */
export const startSources = ['flow', 'global', 'env', 'jsonata'] as const;

/**
 * Makes a typed input of the field of a property, whose type is in the field `<name>Type`.
 * @param types the first one is the type of a node that has none, because it is
 * older than the types
 */
export function showTyped(
  node: Readonly<Record<string, unknown>>,
  name: string,
  types: readonly [string | OwnType, ...(string | OwnType)[]],
  fieldOf = nodeField,
): void {
  const [first] = types;
  const field = fieldOf(name);
  // The widget copies the width from the style of its field.
  if (!field.prop('style').width) field.css('width', 'calc(100% - 140px)');
  const typeField = fieldOf(`${name}Type`);
  typeField.val(String(node[`${name}Type`] ?? (typeof first === 'string' ? first : first.value)));
  field.typedInput({ types, typeField: `#${typeField.attr('id')}` });
  labelTyped(field);
}

/**
 * Shows the properties that all nodes for a car have.
 * @param offered the sources of the VIN besides itself
 */
export function prepareNode(
  node: EditorNode<{ vehicle: string }> & Record<string, unknown>,
  offered: readonly string[] = sources,
): void {
  showProperties(node, nodeField);
  chooseVehicle(node);
  showTyped(node, 'vin', ['str', ...offered]);
}

/** Names the parts of a typed input by its label, and a button also by its own text. */
function labelTyped(field: JQuery): void {
  const id = String(field.attr('id'));
  const label = `${id}-label`;
  field.closest('.form-row').find('label').first().attr('id', label);
  const parts = field.next('.red-ui-typedInput-container');
  parts.find('input').attr({ 'aria-labelledby': label, spellcheck: 'false' });
  parts.find('button').each((index, button) => {
    $(button).attr('id', `${id}-button-${index}`).attr('aria-labelledby', `${label} ${id}-button-${index}`);
  });
}

/** The type of a typed property: that of the open form, else that of the stored node. */
export const typeOf = (node: Readonly<Record<string, unknown>>, name: string): string =>
  textOf(nodeField(`${name}Type`)) || String(node[`${name}Type`] ?? '');

/** A typed value has its own rule; of a source it is only known that it must be named. */
export const validateTyped = (name: string, validate: (value: string | undefined) => Validity) =>
  function (this: Readonly<Record<string, unknown>>, value: string | undefined, _opt: unknown): Validity {
    if (!sources.some((source) => source === typeOf(this, name))) return validate(value);
    return String(value ?? '').trim() !== '' || sharedText('reason.source');
  };

export const validateTypedVin = validateTyped('vin', validateVin);
