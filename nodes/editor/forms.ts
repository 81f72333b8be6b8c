import { defaultAccess, type AccessName } from '../../src/index';
import { sharedText } from './texts';

interface Choice {
  value: string;
  text: string;
}

type AnyNode = EditorNode<object> & Record<string, unknown>;

type Field = (name: string) => JQuery;

/** The input of a property, by the id that the editor looks for. */
export const nodeField: Field = (name) => $(`#node-input-${name}`);
export const configField: Field = (name) => $(`#node-config-input-${name}`);

/** An element of the open form other than a field, by its `data-part`. */
export const part = (name: string): JQuery => $(`.car-form [data-part="${name}"]`);

/** The text of an input or a dropdown, without blanks around it. */
export const textOf = (element: JQuery): string => String(element.val() ?? '').trim();

export const optionElements = (choices: readonly Choice[]): JQuery[] =>
  choices.map(({ value, text }) => $('<option>').val(value).text(text));

/** Selects a value. One that the dropdown does not offer (`${NAME}`, written by hand, newer) is added, so that saving keeps it. */
export function choose(select: JQuery, value: string): void {
  select.val(value);
  if (select.val() !== value) select.append(...optionElements([{ value, text: value }])).val(value);
}

/** The field shows the default of a property that the node lacks. */
export const shownDefault = 'shown-default';

/** Shows the default of each property that the node lacks (it is older than the property, or was written by hand), and chooses in the dropdowns. */
export function showProperties(node: AnyNode, field: Field): void {
  for (const [name, { value: preset, type }] of Object.entries(node._def.defaults)) {
    const value = node[name] ?? preset;
    const input = field(name);
    // The editor itself chooses a configuration node.
    if (type === undefined && input.is('select')) choose(input, String(value));
    else if (node[name] === undefined && typeof value === 'boolean') input.prop('checked', value);
    else if (node[name] === undefined) input.val(String(value));
    if (node[name] === undefined) input.data(shownDefault, String(stateOf(input)));
  }
  describeFields(field('name').closest('.car-form'));
}

/** Lets a screen reader read a hint with the field in the row above it, and no icon. */
function describeFields(form: JQuery): void {
  form.find('i.fa').attr('aria-hidden', 'true');
  form.find('.form-row + .hint').each((_, hint) => {
    const fields = $(hint).prev().find('input, select');
    const id = `${fields.first().attr('id')}-hint`;
    $(hint).attr('id', id);
    fields.attr('aria-describedby', id);
  });
}

const stateOf = (input: JQuery): unknown => (input.is('[type=checkbox]') ? input.prop('checked') : input.val());

/**
 * Takes away the blanks around a pasted address, key or token, and stores numbers as such: the editor would store a
 * changed one as text. The editor keeps a text that is not a number (`${NAME}`, a blank). The field of a property that the
 * node lacks is taken away where it still shows the default, so that closing a form changes nothing.
 */
export function saveProperties(node: AnyNode, field: Field): void {
  for (const name of Object.keys({ ...node._def.defaults, ...node._def.credentials })) {
    const input = field(name);
    const written = input.filter('[type=text], [type=password]');
    written.val(textOf(written));
    const holdsNumber = input.is('[inputmode]') || textOf(field(`${name}Type`)) === 'num';
    const text = textOf(input);
    if (node[name] === undefined && input.data(shownDefault) === String(stateOf(input))) input.remove();
    // The editor compares loosely: it takes "10" for the 10 that is stored.
    else if (holdsNumber && text !== '' && !Number.isNaN(Number(text)) && node[name] !== text)
      node[name] = Number(text);
  }
}

/** Names the scopes, each once; says nothing where there is none. */
export function showScopes(line: JQuery, scopes: readonly string[]): void {
  line.empty();
  if (scopes.length > 0)
    line.append(sharedText('scopes'), ...[...new Set(scopes)].flatMap((scope) => [' ', $('<code>').text(scope)]));
}

/** Italic where a person gave the node its name, as everywhere in Node-RED. */
export function labelStyle(this: { name?: string }): string {
  return this.name ? 'node_label_italic' : '';
}

/** The vehicle that a new node on this tab uses: that of the last one there, else the only one, or the first where all are demo cars. */
function defaultVehicle(tab: string | undefined): string | undefined {
  const found: { id: string; service?: string }[] = [];
  RED.nodes.eachConfig((config) => {
    if (config.type === 'connected-vehicle' && (!config.z || config.z === tab)) found.push(config);
  });
  let ofTab: string | undefined;
  RED.nodes.eachNode(({ z, vehicle }) => {
    if (z === tab && found.some(({ id }) => id === vehicle)) ofTab = vehicle;
  });
  if (ofTab !== undefined) return ofTab;
  return found.length === 1 || found.every(({ service }) => service === 'demo') ? found[0]?.id : undefined;
}

/** Gives a node that comes from the palette the default vehicle. A node that is pasted or imported is in the flows already. */
export function giveVehicle(this: EditorNode<{ vehicle: string }>): void {
  if (!RED.nodes.node(this.id) && !this.vehicle) this.vehicle = defaultVehicle(RED.workspaces.active()) ?? '';
}

/** Chooses the default vehicle in the form of a node that has none. */
export function chooseVehicle(node: EditorNode<{ vehicle: string }>): void {
  const vehicle = defaultVehicle(node.z);
  if (!node.vehicle && vehicle !== undefined) nodeField('vehicle').val(vehicle);
}

/** Whether the configuration of the chosen vehicle leaves out what a read or a command needs. */
export function isNotAllowed(access: AccessName | null): boolean {
  const { service = 'demo', access: allowed = defaultAccess } = RED.nodes.node(textOf(nodeField('vehicle'))) ?? {};
  return service !== 'demo' && access !== null && !allowed.includes(access);
}

/** Whether the chosen vehicle sends no command at all. */
export const isReadOnly = (): boolean => RED.nodes.node(textOf(nodeField('vehicle')))?.readOnly === true;

/** The service of the chosen vehicle, or an empty text as long as there is none. */
export const chosenService = (): string => RED.nodes.node(textOf(nodeField('vehicle')))?.service ?? '';

/** Node-RED searches the palette by type and label. This adds the words that a driver would look for. */
export function addSearchWords(type: string, words: string): void {
  const entry = $(`.red-ui-palette-node[data-palette-type="${type}"]`);
  entry.attr('data-palette-label', `${entry.attr('data-palette-label') ?? ''} ${words}`);
}
