import { shared } from './words';

export interface Choice {
  value: string;
  text: string;
}

type AnyNode = EditorNode<object> & Record<string, unknown>;

export type Field = (name: string) => JQuery;

/** The input of a property, by the id that the editor looks for. */
export const nodeField: Field = (name) => $(`#node-input-${name}`);
export const configField: Field = (name) => $(`#node-config-input-${name}`);

/** A part of an open form that is no property. */
export const part = (name: string): JQuery => $(`.car-form [data-part="${name}"]`);

/** What stands in an input or a dropdown, without blanks around it. */
export const textOf = (element: JQuery): string => String(element.val() ?? '').trim();

export const options = (choices: readonly Choice[]): JQuery[] =>
  choices.map(({ value, text }) => $('<option>').val(value).text(text));

/** Selects a value; one that the dropdown does not offer (`${NAME}`, written by hand, newer) is added, so that saving keeps it. */
function choose(select: JQuery, value: string): void {
  select.val(value);
  if (select.val() !== value) select.append(...options([{ value, text: value }])).val(value);
}

/** Shows the default of each property that the node lacks (it is older than the property, or was written by hand), and chooses in the dropdowns. */
export function showProperties(node: AnyNode, field: Field): void {
  for (const [name, { value: preset, type }] of Object.entries(node._def.defaults)) {
    const value = node[name] ?? preset;
    // A configuration node is chosen by the editor itself.
    if (type === undefined && field(name).is('select')) choose(field(name), String(value));
    else if (node[name] !== undefined) continue;
    else if (typeof value === 'boolean') field(name).prop('checked', value);
    else field(name).val(String(value));
  }
}

/**
 * Takes away the blanks that came along with a pasted address, key or token, and stores numbers as such: the editor would store
 * a changed one as text. What is no number (`${NAME}`, a blank) is left to the editor.
 */
export function saveProperties(node: AnyNode, field: Field): void {
  for (const name of Object.keys({ ...node._def.defaults, ...node._def.credentials })) {
    const input = field(name).filter('[type=text], [type=password]');
    const text = textOf(input);
    input.val(text);
    if (input.is('[inputmode]') && text !== '' && !Number.isNaN(Number(text))) node[name] = Number(text);
  }
}

/** Names the scopes, each once; says nothing where there is none. */
export function showScopes(line: JQuery, scopes: readonly string[]): void {
  line.empty();
  if (scopes.length > 0)
    line.append(shared('scopes'), ...[...new Set(scopes)].flatMap((scope) => [' ', $('<code>').text(scope)]));
}

/** Italic where a person gave the node its name, as everywhere in Node-RED. */
export const labelStyle = (node: { name?: string }): string => (node.name ? 'node_label_italic' : '');
