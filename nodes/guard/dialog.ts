import type { OpeningKind, WatchName } from '../../src/index';
import { choiceLine, isSameList, nodeField as field, part, saveProperties, textOf } from '../editor/forms';
import { showHours } from '../editor/hours';
import { addStyles } from '../editor/styles';
import { showTest } from '../editor/test-now';
import { prepareNode, showTyped, startSources } from '../editor/typed-inputs';
import { isMinutes, say } from './common';
import styles from './guard.css';
import type { GuardOptions } from './options';

const { defaultWatch, openingKinds } = connectedVehicle;

addStyles(styles);

/** Single openings, which only a flow file can name. */
const singleOf = (watch: readonly WatchName[]): WatchName[] =>
  watch.filter((name) => !openingKinds.some((kind) => kind === name));

/** One line for each kind of opening: whether it is watched, and its own minutes. */
function fillList({ watch = [...defaultWatch], minutesFor = {} }: Partial<GuardOptions>): void {
  part('kinds').toggleClass('has-single', singleOf(watch).length > 0);
  part('kinds').append(
    openingKinds.map((kind) => {
      const line = choiceLine(kind, say(`kind.${kind}`), watch.includes(kind));
      const minutes = $('<input type="text" inputmode="numeric">')
        .attr('aria-label', say('label.minutesOf', { kind: say(`kind.${kind}`) }))
        .val(String(minutesFor[kind] ?? ''));
      return $('<div class="kind">').append(line, minutes);
    }),
  );
}

interface Line {
  kind: OpeningKind;
  isWatched: boolean;
  minutes: JQuery;
}

const linesOf = (): Line[] =>
  part('kinds')
    .find('.kind')
    .get()
    .map((line) => {
      const box = $(line).find<HTMLInputElement>('[type=checkbox]');
      return {
        kind: String(box.val()) as OpeningKind, // The value that the box was made with.
        isWatched: box.prop('checked') === true,
        minutes: $(line).find('[type=text]'),
      };
    });

/** Shows the minutes that hold, marks wrong ones, and warns if nothing is watched. */
function showList(): void {
  const all = textOf(field('minutesType')) === 'num' ? textOf(field('minutes')) : '';
  for (const { minutes, isWatched } of linesOf()) {
    minutes.attr('placeholder', all).prop('disabled', !isWatched);
    const isWrong = !isMinutes(textOf(minutes));
    minutes.toggleClass('input-error', isWrong).attr('aria-invalid', String(isWrong));
  }
  part('nothing').toggle(!part('kinds').hasClass('has-single') && !linesOf().some(({ isWatched }) => isWatched));
}

/** Keeps what means the same as it is stored: numbers, and single openings. */
function readList(node: Partial<GuardOptions>): void {
  const { watch = [...defaultWatch], minutesFor = {} } = node;
  const lines = linesOf();
  const watched = lines.flatMap(({ kind, isWatched }) => (isWatched ? [kind] : []));
  const chosen = [...watched, ...singleOf(watch)];
  if (!isSameList(chosen, watch)) node.watch = chosen;
  const stored = (kind: OpeningKind, text: string): string | number => {
    const before = minutesFor[kind];
    if (String(before ?? '') === text) return before ?? '';
    return isMinutes(text) ? Number(text) : text;
  };
  const own = lines.flatMap(({ kind, minutes }) =>
    textOf(minutes) === '' ? [] : [[kind, stored(kind, textOf(minutes))] as const],
  );
  const next = Object.fromEntries(own) as GuardOptions['minutesFor'];
  const isEqual =
    own.length === Object.keys(minutesFor).length && own.every(([kind, value]) => minutesFor[kind] === value);
  if (!isEqual) node.minutesFor = next;
}

export function prepare(node: EditorNode<GuardOptions>): void {
  fillList(node);
  prepareNode(node, startSources);
  showTyped(node, 'minutes', ['num', ...startSources]);
  showHours(node);
  showTest(node.id);
  part('kinds').on('input change', showList);
  for (const name of ['all', 'none'])
    part(name).on('click', () => {
      part('kinds')
        .find('[type=checkbox]')
        .prop('checked', name === 'all');
      showList();
    });
  field('minutes').on('change keyup', showList);
  showList();
}

export function save(node: EditorNode<GuardOptions>): void {
  readList(node);
  saveProperties(node, field);
}
