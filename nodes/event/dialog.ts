import {
  nodeField,
  choiceLine,
  namedPlaces,
  chosenIn,
  isSameList,
  listIn,
  optionElements,
  part,
  saveProperties,
  textOf,
} from '../editor/forms';
import { showHours } from '../editor/hours';
import { addPlaceButton, addPlaceChoice, addPlaceRow, isOtherList, placesIn } from '../editor/places';
import { addSearch } from '../editor/search';
import { showTest } from '../editor/test-now';
import { sharedText } from '../editor/texts';
import { prepareNode, showTyped, startSources } from '../editor/typed-inputs';
import { say, validateEventPlaces } from './common';
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

/** Shows what the chosen events need, and warns if an event or a place is missing. */
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
  const places = placesIn(part('places'));
  const isEmpty = places.length === 0 && part('places').children().length > 0 && events.some(hasPlace);
  const reason = isEmpty ? sharedText('reason.place') : validateEventPlaces(events, places, textOf(field('vehicle')));
  part('once').toggle(namedPlaces(textOf(field('vehicle'))).length === 0);
  part('placeReason').text(reason === true ? '' : reason);
}

export function prepare(node: EditorNode<EventOptions>): void {
  fillEvents(node.events ?? []);
  prepareNode(node, startSources);
  for (const place of listIn(node.places)) addPlaceRow(part('places'), place, addPlaceChoice);
  addPlaceButton(part('places'), part('add'), addPlaceChoice);
  showTyped(node, 'level', ['num', ...startSources]);
  showHours(node);
  showTest(node.id, $('<select data-part="tested" style="flex: 1">').attr('aria-label', say('label.events')));
  part('where').append($('<div class="hint" data-part="once">').text(sharedText('hint.namedPlaces')));
  part('events').add(part('places')).add(field('vehicle')).on('change', showNeeded);
  showNeeded();
}

export function save(node: EditorNode<EventOptions>): void {
  const events = chosenIn('events');
  // A flow file may have the same events in another order, and numbers as such.
  if (!isSameList(events, node.events ?? [])) node.events = events;
  const places = placesIn(part('places'));
  if (isOtherList(places, listIn(node.places))) node.places = places;
  saveProperties(node, field);
}
