import { textOf } from './forms';
import { sharedText } from './texts';

/** Lowercase without accents. */
const plain = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** Whether a text has each word, or a part that people call so: "plug" for "charging cable". */
export function matches(text: string, typed: string): boolean {
  const label = plain(text);
  const spoken = plain(sharedText('search.words')).split(';');
  const also = spoken.filter((line) => label.includes(line.split(':')[0] ?? ''));
  return plain(typed)
    .split(/\s+/)
    .every((word) => [label, ...also].some((found) => found.includes(word)));
}

/** Adds a search to labels in fieldsets. If it finds nothing, a button shows all. */
export function addSearch(list: JQuery): void {
  const label = sharedText('search.label');
  const input = $('<input type="search" id="connected-vehicle-filter">').attr({
    placeholder: label,
    'aria-label': label,
  });
  const all = $('<button type="button" class="red-ui-button red-ui-button-small">').text(sharedText('search.all'));
  const nothing = $('<div data-part="notFound" role="status">').append(sharedText('search.nothing'), ' ', all);
  list.before(input).after(nothing.hide());
  all.on('click', () => input.val('').trigger('input').trigger('focus'));
  input.on('input', () => {
    let found = 0;
    list.find('fieldset').each((_, group) => {
      const heading = $(group).find('legend').text();
      const labels = $(group).find('label');
      const left = labels.filter((_at, line) =>
        matches(`${heading} ${$(line).text()} ${textOf($(line).find('input'))}`, textOf(input)),
      );
      // `hide` and `show` would ask for the computed style of each of a hundred labels.
      labels.css('display', 'none');
      left.css('display', '');
      $(group).toggle(left.length > 0);
      found += left.length;
    });
    list.toggle(found > 0);
    nothing.toggle(found === 0);
  });
}
