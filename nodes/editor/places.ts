import { defaultRadius, isRecord, memberOf } from '../../src/index';
import { textOf } from './forms';
import { askValues, errorText } from './runtime-request';
import { sharedText } from './texts';

/** As a flow file and `parsePlace` have them. */
const names = ['name', 'latitude', 'longitude', 'radius'] as const;

/** A place as fields show it, to be compared: a stored one can have numbers. */
export const textOfPlace = (place: unknown): string => names.map((name) => String(memberOf(place, name) ?? '')).join();

/**
 * Adds a field for each part of a place, under its name and unit, and a button that fills in where the car is.
 * @param place as it is stored; anything but an object is a new place
 * @returns what the fields hold
 */
export function addPlaceFields(row: JQuery, place: unknown): () => Record<string, string> {
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
    askValues({ reads: ['location'] }, ({ payloads, errors = [], error = errors[0] }) => {
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
