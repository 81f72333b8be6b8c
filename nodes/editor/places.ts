import { defaultRadius, isRecord, memberOf } from '../../src/index';
import { choose, namedPlaces, nodeField, optionElements, textOf } from './forms';
import styles from './places.css';
import { askValues, errorText } from './runtime-request';
import { addStyles } from './styles';
import { sharedText, wordsOf } from './texts';

addStyles(styles);

/** As a flow file and `parsePlace` have them. */
const names = ['name', 'latitude', 'longitude', 'radius'] as const;

/** A place as its fields hold it, or the name of a place of the vehicle configuration. */
type ShownPlace = Record<string, string> | string;

/** A place as fields show it, to be compared: a stored one can have numbers. */
export const textOfPlace = (place: unknown): string =>
  typeof place === 'string' ? place : names.map((name) => String(memberOf(place, name) ?? '')).join();

/** Asks for the position of the car that a form is about, with the answer of `values`. */
type AskPosition = (done: Parameters<typeof askValues>[1]) => void;
const askPosition: AskPosition = (done) => askValues({ reads: ['location'] }, done);

/**
 * Adds a field for each part of a place, under its name and unit, and a button that fills in the
 * position of the car.
 * @param place as it is stored; anything but an object is a new place
 * @returns what the fields hold
 */
export function addPlaceFields(row: JQuery, place: unknown, ask = askPosition): () => Record<string, string> {
  const stored = isRecord(place) ? place : { radius: defaultRadius };
  const inputs = names.map((name) => $('<input type="text">').val(String(stored[name] ?? '')));
  const labels = inputs.map((input, at) =>
    $('<label>')
      .text(sharedText(`place.${names[at]}`))
      .append(input),
  );
  inputs[3]?.attr('placeholder', defaultRadius);
  const status = $('<span role="status">');
  const button = $('<button type="button" class="red-ui-button red-ui-button-small">').append(
    '<i class="fa fa-crosshairs" aria-hidden="true"></i> ',
    $('<span>').text(sharedText('place.ofCar')),
  );
  button.on('click', () => {
    status.text(sharedText('dialog.asking')).removeClass('warning');
    ask(({ payloads, errors = [], error = errors[0] }) => {
      const position = memberOf(payloads, 'location');
      const isKnown = typeof memberOf(position, 'latitude') === 'number';
      if (isKnown) for (const at of [1, 2]) inputs[at]?.val(String(memberOf(position, names[at] ?? '')));
      status.text(error ? errorText(error) : isKnown ? '' : sharedText('place.unknown')).addClass('warning');
      row.trigger('change');
    });
  });
  row.addClass('place').append(labels, $('<div>').append(button, ' ', status));
  return () => Object.fromEntries(names.map((name, at) => [name, textOf(inputs[at] ?? $())]));
}

/**
 * Adds a choice of the places of the vehicle configuration, and the fields for another one. Without
 * such places there are only the fields.
 * @param place as it is stored: a name, or a place with coordinates; anything else is a new one
 */
export function addPlaceChoice(row: JQuery, place: unknown): () => ShownPlace {
  const select = $('<select>').attr('aria-label', sharedText('place.choice')).appendTo(row);
  const fields = addPlaceFields(row, place);
  const ofOther = row.children().not(select);
  const vehicle = nodeField('vehicle');
  const offered = (): string[] => namedPlaces(textOf(vehicle)).map(({ name }) => name);
  const show = (chosen: string): void => {
    const choices = offered().map((name) => ({ value: name, text: name }));
    select.empty().append(optionElements([...choices, { value: '', text: sharedText('place.other') }]));
    choose(select, chosen);
    select.toggle(choices.length > 0 || chosen !== '');
    showFields();
  };
  const showFields = (): void => {
    const isOther = textOf(select) === '';
    select.toggleClass('other', isOther);
    ofOther.toggle(isOther);
  };
  const isName = typeof place === 'string' && place !== '';
  show(isName ? place : isRecord(place) ? '' : (offered()[0] ?? ''));
  select.on('change', showFields);
  vehicle.on('change', () => show(textOf(select)));
  return () => textOf(select) || fields();
}

const ofEvents = wordsOf('connected-vehicle-event');

/** Adds a place to a list, with a button that removes it. @param add one of the functions above */
export function addPlaceRow(list: JQuery, place: unknown, add: typeof addPlaceChoice): void {
  const row = $('<div>').appendTo(list);
  const remove = $('<button type="button" class="red-ui-button red-ui-button-small">');
  remove.append($('<i class="fa fa-remove">')).attr('aria-label', ofEvents('label.remove'));
  row.data('place', add(row, place)).append(remove);
  remove.on('click', () => {
    row.remove();
    list.trigger('change');
  });
}

export function addPlaceButton(list: JQuery, button: JQuery, add: typeof addPlaceChoice): void {
  button.on('click', () => {
    addPlaceRow(list, undefined, add);
    list.children().last().find('select, input').filter(':visible').first().trigger('focus');
    list.trigger('change');
  });
}

export const placesIn = (list: JQuery): ShownPlace[] =>
  list
    .find('.place')
    .get()
    // `addPlaceRow` stores it with the row.
    .map((row) => ($(row).data('place') as () => ShownPlace)())
    .filter((place) => Object.entries(place).some(([name, text]) => name !== 'radius' && text !== ''));

/** Whether a list holds other places than those that are stored. */
export function isOtherList(places: readonly ShownPlace[], stored: readonly unknown[]): boolean {
  const [now, before] = [places, stored].map((list) => JSON.stringify(list.map(textOfPlace)));
  return now !== before;
}
