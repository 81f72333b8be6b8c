import {
  nodeField,
  choiceLine,
  chosenIn,
  isSameList,
  optionElements,
  part,
  saveProperties,
  textOf,
} from '../editor/forms';
import { showHours } from '../editor/hours';
import { addPlaceFields, textOfPlace } from '../editor/places';
import { addSearch } from '../editor/search';
import { showTest } from '../editor/test-now';
import { prepareNode, showTyped, startSources } from '../editor/typed-inputs';
import { say, validatePlaces } from './common';
import type { EventOptions } from './options';

const field = nodeField;

const { eventNames, hasPlace } = connectedVehicle;

/** Headings of the checklist, each before its first event. */
const headings: Partial<Record<string, string>> = {
  locked: 'doors',
  'engine-started': 'driving',
  'charger-connected': 'charging',
  arrived: 'places',
  'service-due': 'service',
  'sign-in-ending': 'signIn',
};

function fillEvents(chosen: readonly string[]): void {
  let group = $();
  for (const name of eventNames) {
    const heading = headings[name];
    if (heading !== undefined)
      group = $('<fieldset>')
        .append($('<legend>').text(say(`heading.${heading}`)))
        .appendTo(part('events'));
    group.append(choiceLine(name, say(`event.${name}`), chosen.includes(name)));
  }
  addSearch(part('events'));
}

function addPlace(place?: unknown): void {
  const row = $('<div>');
  const remove = $('<button type="button" class="red-ui-button red-ui-button-small">');
  remove.append($('<i class="fa fa-remove">')).attr('aria-label', say('label.remove'));
  const onRemove = (): void => {
    row.remove();
    showNeeded();
  };
  row.data('place', addPlaceFields(row, place)).append(remove.on('click', onRemove));
  part('places').append(row);
}

/** The rows of the form without the empty ones. */
const placesOf = (): Record<string, string>[] =>
  part('places')
    .find('.place')
    .get()
    // Stored with the row.
    .map((row) => ($(row).data('place') as () => Record<string, string>)())
    .filter((place) => Object.entries(place).some(([name, text]) => name !== 'radius' && text !== ''));

/** Shows the level and the places only where a chosen event needs them, and says when an event or a place is missing. */
function showNeeded(): void {
  const events = chosenIn('events');
  part('nothing').toggle(events.length === 0);
  const tested = textOf(part('tested'));
  part('tested')
    .empty()
    .append(optionElements(events.map((value) => ({ value, text: say(`event.${value}`) }))))
    .val(events.includes(tested) ? tested : (events[0] ?? ''));
  part('level').toggle(events.some((name) => name.startsWith('battery-')));
  part('step').toggle(events.includes('charging-step'));
  part('where').toggle(events.some(hasPlace));
  const places = placesOf();
  const isEmpty = places.length === 0 && part('places').children().length > 0 && events.some(hasPlace);
  const reason = isEmpty ? say('reason.place') : validatePlaces(events, places);
  part('placeReason').text(reason === true ? '' : reason);
}

export function prepare(node: EditorNode<EventOptions>): void {
  fillEvents(node.events ?? []);
  for (const place of node.places ?? []) addPlace(place);
  part('add').on('click', () => {
    addPlace();
    part('places').find('.place:last-child input').first().trigger('focus');
    showNeeded();
  });
  prepareNode(node, startSources);
  showTyped(node, 'level', ['num', ...startSources]);
  showHours(node);
  showTest(node.id, $('<select data-part="tested" style="flex: 1">').attr('aria-label', say('label.events')));
  part('events').add(part('places')).on('change', showNeeded);
  showNeeded();
}

export function save(node: EditorNode<EventOptions>): void {
  const events = chosenIn('events');
  // A flow file may have the same events in another order, and numbers as such.
  if (!isSameList(events, node.events ?? [])) node.events = events;
  const places = placesOf();
  const [now, before] = [places, node.places ?? []].map((list) => JSON.stringify(list.map(textOfPlace)));
  if (now !== before) node.places = places;
  saveProperties(node, field);
}
