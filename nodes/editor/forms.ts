import { parsePlace, type Place } from '../../src/index';
import { sharedText, wordsOf } from './texts';

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

/** The names that are ticked or chosen in a list of the open form, in its order. */
export const chosenIn = (list: string): string[] =>
  part(list)
    .find<HTMLInputElement>('input:checked')
    .get()
    .map(({ value }) => value);

export const choiceLine = (value: string, text: string, isChosen: boolean, kind: 'checkbox' | 'radio' = 'checkbox') =>
  $('<label>').append($(`<input type="${kind}">`).val(value).prop('checked', isChosen), $('<span>').text(text));

/** Whether two lists have the same names, in any order. */
export const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((name) => other.includes(name));

/** The text of an input or a dropdown, without spaces around it. */
export const textOf = (element: JQuery): string => String(element.val() ?? '').trim();

export const optionElements = (choices: readonly Choice[]): JQuery[] =>
  choices.map(({ value, text }) => $('<option>').val(value).text(text));

/** Adds a value that is not offered (`${NAME}`, written by hand), so that saving keeps it. */
export function choose(select: JQuery, value: string): void {
  select.val(value);
  if (select.val() !== value) select.append(...optionElements([{ value, text: value }])).val(value);
}

/** The field shows the default of a property that the node lacks. */
export const shownDefault = 'shown-default';

/** Shows the default of a property that an older or handwritten node lacks. */
export function showProperties(node: AnyNode, field: Field): void {
  fillOptions(field('name').closest('.car-form'), node.type);
  fillShared(field('name').closest('.car-form'));
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

/** Adds options: `polling fixed adaptive`, the key of their texts and their values. */
function fillOptions(form: JQuery, type: string): void {
  form.find('[data-options]').each((_, element) => {
    const [key = '', ...values] = String($(element).data('options')).split(' ');
    const say = key.startsWith('shared:') ? sharedText : wordsOf(type);
    const texts = values.map((value) => ({ value, text: say(`${key.replace('shared:', '')}.${value}`) }));
    $(element).append(optionElements(texts));
  });
}

/** Texts of the configuration's catalogue: `label.vin`, or `[placeholder]placeholder.vin`. */
function fillShared(form: JQuery): void {
  form.find('[data-shared]').each((_, element) => {
    const [, attribute, key = ''] = /^(?:\[(.+)\])?(.*)/.exec(String($(element).data('shared'))) ?? [];
    if (attribute === undefined) $(element).text(sharedText(key));
    else $(element).attr(attribute, sharedText(key));
  });
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
 * Removes the spaces around a pasted address, key or token, and stores numbers as such: the
 * editor would store a changed one as text. The editor keeps a text that is not a number
 * (`${NAME}`, a space). The field of a property that the node lacks is removed if it still shows
 * the default, so that closing a form changes nothing.
 */
export function saveProperties(node: AnyNode, field: Field): void {
  for (const name of Object.keys({ ...node._def.defaults, ...node._def.credentials })) {
    const input = field(name);
    const written = input.filter('[type=text], [type=password]');
    written.val(textOf(written));
    const holdsNumber = input.is('[inputmode]') || textOf(field(`${name}Type`)) === 'num';
    const text = textOf(input);
    if (node[name] === undefined && input.data(shownDefault) === String(stateOf(input))) input.remove();
    // The editor compares loosely: "10" equals the 10 that is stored.
    else if (holdsNumber && text !== '' && !Number.isNaN(Number(text)) && node[name] !== text)
      node[name] = Number(text);
  }
}

/** Italic if a person gave the node its name, as everywhere in Node-RED. */
export function labelStyle(this: { name?: string }): string {
  return this.name ? 'node_label_italic' : '';
}

function vehicles(): CarConfig[] {
  const found: CarConfig[] = [];
  RED.nodes.eachConfig((config) => {
    if (config.type === 'connected-vehicle' && !config.d) found.push(config);
  });
  return found;
}

/** A stored list; one that was written by hand can be a single item. */
export const listIn = <Item>(stored: Item | readonly Item[] | undefined): Item[] => [stored ?? []].flat() as Item[]; // `flat` forgets the type.

/** The places of a list that are complete: only these can be named. */
export const completePlaces = (places: unknown): Place[] => listIn(places).flatMap((place) => parsePlace(place) ?? []);

/** Those of a vehicle configuration, as the editor has them. */
export const namedPlaces = (vehicle = ''): Place[] => completePlaces(RED.nodes.node(vehicle)?.places);

/** The label of a node: what it does, with its car if the flows have several: “Lock · Wife car”. */
export function labelOf(vehicle: string | undefined, text: string): string {
  const found = vehicles();
  const car = found.find(({ id }) => id === vehicle);
  return car !== undefined && found.length > 1 ? `${text} · ${RED.utils.getNodeLabel(car, '')}` : text;
}

/** Labels name the car as soon as there are two. */
export function drawLabels({ type }: { type: string }): void {
  if (type !== 'connected-vehicle') return;
  RED.nodes.eachNode((node) => {
    if (node.type.startsWith(type)) node.dirty = true;
  });
  RED.view.redraw();
}

/**
 * The vehicle that a new node on this tab uses: that of the last one there, else the only one, or
 * the first if all are demo cars. A command with several cars has none, because it would be sent to
 * the wrong one.
 */
function defaultVehicle(type: string, tab: string | undefined): string | undefined {
  const all = vehicles();
  if (type === 'connected-vehicle-command' && all.length > 1) return undefined;
  const found = all.filter(({ z }) => !z || z === tab);
  let ofTab: string | undefined;
  RED.nodes.eachNode(({ z, vehicle }) => {
    if (z === tab && found.some(({ id }) => id === vehicle)) ofTab = vehicle;
  });
  if (ofTab !== undefined) return ofTab;
  return found.length === 1 || found.every(({ service }) => service === 'demo') ? found[0]?.id : undefined;
}

/** A node of the palette gets a vehicle; one that is pasted or imported is in the flows already. */
export function giveVehicle(this: EditorNode<{ vehicle: string }>): void {
  if (!RED.nodes.node(this.id) && !this.vehicle)
    this.vehicle = defaultVehicle(this.type, RED.workspaces.active()) ?? '';
}

/** Chooses the default vehicle in the form of a node that has none. */
export function chooseVehicle(node: EditorNode<{ vehicle: string }>): void {
  const vehicle = defaultVehicle(node.type, node.z);
  if (!node.vehicle && vehicle !== undefined) nodeField('vehicle').val(vehicle);
}

/** Node-RED searches the palette by type and label, which lack a driver's words. */
export function addSearchWords(type: string, words: string): void {
  const entry = $(`.red-ui-palette-node[data-palette-type="${type}"]`);
  entry.attr('data-palette-label', `${entry.attr('data-palette-label') ?? ''} ${words}`);
}
