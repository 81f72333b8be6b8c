import type { EventOptions } from './options';

const { memberOf, nodeField: field, part, sharedText, textOf, wordsOf, ...shared } = connectedVehicle;

const type = 'connected-vehicle-event';
const say = wordsOf(type);

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
  for (const name of shared.eventNames) {
    const heading = headings[name];
    if (heading !== undefined)
      group = $('<fieldset>')
        .append($('<legend>').text(say(`heading.${heading}`)))
        .appendTo(part('events'));
    group.append(shared.choiceLine(name, say(`event.${name}`), chosen.includes(name)));
  }
  shared.addSearch(part('events'));
}

function addPlace(place?: unknown): void {
  const row = $('<div>');
  const remove = $('<button type="button" class="red-ui-button red-ui-button-small">');
  remove.append($('<i class="fa fa-remove">')).attr('aria-label', say('label.remove'));
  const onRemove = (): void => {
    row.remove();
    showNeeded();
  };
  row.data('place', shared.addPlaceFields(row, place)).append(remove.on('click', onRemove));
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

/** Why the events cannot be reported with these places; true where they can. */
function validatePlaces(events: readonly string[], places: readonly unknown[]): true | string {
  if (!places.every((place) => shared.parsePlace(place) !== null)) return say('reason.place');
  return !events.some(shared.hasPlace) || places.length > 0 || sharedText('cause.ADD_PLACE');
}

/** Shows the level and the places only where a chosen event needs them, and says when an event or a place is missing. */
function showNeeded(): void {
  const events = shared.chosenIn('events');
  part('nothing').toggle(events.length === 0);
  const tested = textOf(part('tested'));
  part('tested')
    .empty()
    .append(shared.optionElements(events.map((value) => ({ value, text: say(`event.${value}`) }))))
    .val(events.includes(tested) ? tested : (events[0] ?? ''));
  part('level').toggle(events.some((name) => name.startsWith('battery-')));
  part('where').toggle(events.some(shared.hasPlace));
  const places = placesOf();
  const isEmpty = places.length === 0 && part('places').children().length > 0 && events.some(shared.hasPlace);
  const reason = isEmpty ? say('reason.place') : validatePlaces(events, places);
  part('placeReason').text(reason === true ? '' : reason);
}

/** The event that a node waits for, with its place: “Arrived at Home”. */
function labelOfEvents({ events: [event, ...others] = [], places = [] }: Partial<EventOptions>): string {
  if (event === undefined || others.length > 0) return say('palette.name');
  const [place, ...more] = [places].flat().map((one) => memberOf(one, 'name'));
  const isOne = shared.hasPlace(event) && typeof place === 'string' && place !== '' && more.length === 0;
  return isOne ? say(`at.${event}`, { place }) : say(`event.${event}`);
}

RED.nodes.registerType<EventOptions>('connected-vehicle-event', {
  category: 'connected vehicle',
  color: '#90B8BC',
  icon: 'connected-vehicle-event.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', validate: shared.validateVehicle },
    vin: { value: '', validate: shared.validateTypedVin },
    vinType: { value: 'str' },
    events: {
      value: [],
      validate: (value, _opt) => value === undefined || value.length > 0 || say('reason.nothing'),
    },
    level: { value: 20, validate: shared.validateTyped('level', (value) => shared.validateWhole(value, 1, 100)) },
    levelType: { value: 'num' },
    places: {
      value: [],
      validate(value, _opt) {
        return validatePlaces(this.events ?? [], value ?? []);
      },
    },
    hours: { value: 'always' },
    quietHours: { value: '', validate: shared.validateHours },
    timeZone: { value: '', validate: shared.validateTimeZone },
    poll: { value: 120, validate: shared.validatePoll },
  },
  inputs: 1,
  outputs: 1,
  inputLabels: () => say('port.input'),
  outputLabels: () => say('port.output'),
  paletteLabel: () => say('palette.name'),
  label() {
    return this.name || shared.labelOf(this.vehicle, labelOfEvents(this));
  },
  labelStyle: shared.labelStyle,
  onpaletteadd: () => shared.addSearchWords(type, `${say('palette.search')} ${sharedText('search.words')}`),
  onadd: shared.giveVehicle,
  oneditprepare() {
    fillEvents(this.events ?? []);
    for (const place of this.places ?? []) addPlace(place);
    part('add').on('click', () => {
      addPlace();
      part('places').find('.place:last-child input').first().trigger('focus');
      showNeeded();
    });
    shared.prepareNode(this, shared.startSources);
    shared.showTyped(this, 'level', ['num', ...shared.startSources]);
    shared.showHours(this);
    shared.showTest(this.id, $('<select data-part="tested" style="flex: 1">').attr('aria-label', say('label.events')));
    part('events').add(part('places')).on('change', showNeeded);
    showNeeded();
  },
  oneditsave() {
    const events = shared.chosenIn('events');
    // A flow file may have the same events in another order, and numbers as such.
    if (!shared.isSameList(events, this.events ?? [])) this.events = events;
    const places = placesOf();
    const [now, before] = [places, this.places ?? []].map((list) => JSON.stringify(list.map(shared.textOfPlace)));
    if (now !== before) this.places = places;
    shared.saveProperties(this, field);
  },
});
