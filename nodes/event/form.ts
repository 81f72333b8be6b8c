import type { EventOptions } from './options';

const {
  addSearchWords,
  chooseVehicle,
  giveVehicle,
  eventNames,
  labelStyle,
  nodeField: field,
  parsePlace,
  part,
  validatePoll,
  saveProperties,
  sharedText,
  showProperties,
  showTyped,
  startSources,
  textOf,
  validateTyped,
  validateTypedVin,
  validateWhole,
  validateVehicle,
  wordsOf,
} = connectedVehicle;

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

const placeFields = ['name', 'latitude', 'longitude', 'radius'] as const;

function fillEvents(chosen: readonly string[]): void {
  for (const name of eventNames) {
    const heading = headings[name];
    if (heading !== undefined) part('events').append($('<legend>').text(say(`heading.${heading}`)));
    const box = $('<input type="checkbox">').val(name).prop('checked', chosen.includes(name));
    part('events').append($('<label>').append(box, $('<span>').text(say(`event.${name}`))));
  }
}

function addPlace(place: Record<string, unknown>): void {
  const row = $('<div class="place">');
  for (const name of placeFields) {
    const text = say(`place.${name}`);
    const input = $('<input type="text">').attr({ placeholder: text, 'aria-label': text });
    row.append(input.val(String(place[name] ?? '')));
  }
  const remove = $('<button type="button" class="red-ui-button red-ui-button-small">');
  remove.append($('<i class="fa fa-remove">')).attr('aria-label', say('label.remove'));
  row.append(remove.on('click', () => void row.remove()));
  part('places').append(row);
}

/** The rows of the form without the empty ones. */
const placesOf = (): Record<string, string>[] =>
  part('places')
    .find('.place')
    .get()
    .map((row) =>
      Object.fromEntries(
        $(row)
          .find('input')
          .get()
          .map((input, i) => [placeFields[i] ?? '', textOf($(input))]),
      ),
    )
    .filter((place) => Object.entries(place).some(([name, text]) => name !== 'radius' && text !== ''));

/** The names of the checked events. */
const eventsOf = (): string[] =>
  part('events')
    .find<HTMLInputElement>('input:checked')
    .get()
    .map(({ value }) => value);

const textOfPlaces = (places: readonly unknown[]): string =>
  JSON.stringify(
    places.map((place) => placeFields.map((name) => String((place as Record<string, unknown>)[name] ?? ''))),
  );

/** Shows the level and the places only where a chosen event needs them, and says when no event is chosen. */
function showNeeded(): void {
  const events = eventsOf();
  part('nothing').toggle(events.length === 0);
  part('level').toggle(events.some((name) => name.startsWith('battery-')));
  part('where').toggle(events.some((name) => name === 'arrived' || name === 'left'));
}

RED.nodes.registerType<EventOptions>('connected-vehicle-event', {
  category: 'connected vehicle',
  color: '#90B8BC',
  icon: 'connected-vehicle-event.svg',
  defaults: {
    name: { value: '' },
    vehicle: { value: '', type: 'connected-vehicle', validate: validateVehicle },
    vin: { value: '', validate: validateTypedVin },
    vinType: { value: 'str' },
    events: {
      value: [],
      validate: (value, _opt) => value === undefined || value.length > 0 || say('reason.nothing'),
    },
    level: {
      value: 20,
      validate(value, _opt) {
        return validateTyped(this, 'level', value, () => validateWhole(value, 1, 100));
      },
    },
    levelType: { value: 'num' },
    places: {
      value: [],
      validate(value, _opt) {
        const places = value ?? [];
        if (!places.every((place) => parsePlace(place) !== null)) return say('reason.place');
        const needsPlace = (this.events ?? []).some((name) => name === 'arrived' || name === 'left');
        return !needsPlace || places.length > 0 || sharedText('cause.ADD_PLACE');
      },
    },
    poll: { value: 120, validate: validatePoll },
  },
  inputs: 1,
  outputs: 1,
  inputLabels: () => say('port.input'),
  outputLabels: () => say('port.output'),
  paletteLabel: () => say('palette.name'),
  label() {
    return this.name || say('palette.name');
  },
  labelStyle,
  onpaletteadd: () => addSearchWords(type, say('palette.search')),
  onadd: giveVehicle,
  oneditprepare() {
    fillEvents(this.events ?? []);
    for (const place of this.places ?? []) addPlace((place ?? {}) as Record<string, unknown>);
    part('add').on('click', () => addPlace({ radius: 200 }));
    showProperties(this, field);
    chooseVehicle(this);
    showTyped(this, 'level', ['num', ...startSources]);
    showTyped(this, 'vin', ['str', ...startSources]);
    part('events').on('change', showNeeded);
    showNeeded();
  },
  oneditsave() {
    const events = eventsOf();
    const kept = this.events ?? [];
    // A flow file may have the same events in another order, and numbers as such.
    if (events.length !== kept.length || !events.every((name) => kept.some((other) => other === name)))
      this.events = events;
    const places = placesOf();
    if (textOfPlaces(places) !== textOfPlaces(this.places ?? [])) this.places = places;
    saveProperties(this, field);
  },
});
