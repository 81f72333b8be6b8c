import { shared } from './words';

export interface Choice {
  value: string;
  text: string;
}

export type Field = (name: string) => JQuery;

/** The input of a property, by the id that the editor looks for. */
export const nodeField: Field = (name) => $(`#node-input-${name}`);
export const configField: Field = (name) => $(`#node-config-input-${name}`);

/** A part of an open form that is no property. */
export const part = (name: string): JQuery => $(`.connected-vehicle-form [data-part="${name}"]`);

/** What stands in an input or a dropdown, without blanks around it. */
export const textOf = (element: JQuery): string => String(element.val() ?? '').trim();

export const options = (choices: readonly Choice[]): JQuery[] => choices.map(({ value, text }) => $('<option>').val(value).text(text));

/** Shows the default of each property that the node lacks: it is older than the property, or was written by hand. */
export function showDefaults(node: EditorNode<object> & Record<string, unknown>, field: Field): void {
  for (const [name, { value }] of Object.entries(node._def.defaults)) {
    if (node[name] !== undefined) continue;
    if (typeof value === 'boolean') field(name).prop('checked', value);
    else field(name).val(String(value));
  }
}

/** Selects a value; one that the dropdown does not offer (`${NAME}`, written by hand, newer) is added, so that saving keeps it. */
export function choose(select: JQuery, value: string | undefined): void {
  if (value === undefined) return;
  select.val(value);
  if (select.val() !== value) select.append(...options([{ value, text: value }])).val(value);
}

/** The editor would store a changed number as text. What is no number (`${NAME}`, a blank) is left to the editor. */
export function saveNumbers<Name extends string>(node: Partial<Record<Name, number | string>>, names: readonly Name[], field: Field): void {
  for (const name of names) {
    const text = textOf(field(name));
    if (text !== '' && !Number.isNaN(Number(text))) node[name] = Number(text);
  }
}

/** Takes away the blanks that came along with a pasted address, key or token. */
export function trimFields(names: readonly string[], field: Field): void {
  for (const name of names) field(name).val(textOf(field(name)));
}

/** Names the scopes, each once; says nothing where there is none. */
export function showScopes(line: JQuery, scopes: readonly string[]): void {
  line.empty();
  if (scopes.length > 0) line.append(shared('scopes'), ...[...new Set(scopes)].flatMap((scope) => [' ', $('<code>').text(scope)]));
}

/** Italic where a person gave the node its name, as everywhere in Node-RED. */
export const labelStyle = (node: { name?: string }): string => (node.name ? 'node_label_italic' : '');
