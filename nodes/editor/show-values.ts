import { isRecord } from '../../src/index';
import { askValues, errorText } from './runtime-request';
import { part } from './forms';
import { sharedText, timeText, wordsOf } from './texts';

const ofStatus = wordsOf('connected-vehicle-status');

interface Value {
  value?: unknown;
  unit?: unknown;
  timestamp?: unknown;
}

const isValue = (found: unknown): found is Value => isRecord(found) && 'value' in found;

/** As many lines as a person reads in a dialog. */
const maxLines = 60;

function textOf(found: unknown): string {
  const { value, unit, timestamp } = isValue(found) ? found : { value: found };
  const at = typeof timestamp === 'string' && !Number.isNaN(Date.parse(timestamp)) ? ` (${timeText(timestamp)})` : '';
  const text = value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value);
  const known = value === null || value === undefined ? sharedText('answer.unknown') : text;
  const shownUnit = typeof unit === 'string' ? ` ${ofStatus(`unit.${unit}`, { count: 2, defaultValue: unit })}` : '';
  return `${known}${shownUnit}${at}`;
}

type Line = [path: string, text: string];

/** The values of a message, each with the path where a flow finds it. */
function linesOf(path: string, found: unknown): Line[] {
  // The value may list the reasons for it.
  const reasons =
    isRecord(found) && Array.isArray(found['reasons']) ? linesOf(`${path}.reasons`, found['reasons']) : [];
  if (isValue(found)) return [[`${path}.value`, textOf(found)], ...reasons];
  if (Array.isArray(found)) return found.flatMap((item, at) => linesOf(`${path}[${at}]`, item));
  if (!isRecord(found)) return [[path, textOf(found)]];
  return Object.entries(found).flatMap(([name, inner]) => linesOf(path + memberPath(name), inner));
}

/** `.odometer`, `["engine-status"]`. */
const memberPath = (name: string): string => (/^[\w$]+$/.test(name) ? `.${name}` : `["${name}"]`);

/** The button copies the path as a property of `msg`, which Node-RED's fields accept. */
function elementOf([path, text]: Line): JQuery {
  const button = $('<button type="button" class="red-ui-button red-ui-button-small">')
    .attr({ title: sharedText('answer.copy'), 'aria-label': `${sharedText('answer.copy')}: ${path}` })
    .append('<i class="fa fa-clipboard" aria-hidden="true"></i>')
    .on('click', () => RED.clipboard.copyText(path.replace('msg.', ''), button, 'clipboard.copyMessagePath'));
  return $('<div class="value">').append(
    button,
    $('<div>').append($('<code>').text(path), ' ', $('<span>').text(text)),
  );
}

/** An answer that comes later is dropped: the form asks for something else now. */
export function clearAnswer(): void {
  part('answer').empty().removeClass('answer warning');
}

export const lineOf = (text: string): JQuery => $('<div>').text(text);

/** The returned function shows the answer, unless another one is asked for meanwhile. */
export function beginAnswer(): (elements: () => JQuery[], isBad?: boolean) => void {
  const show = (elements: JQuery[], isBad = false): void =>
    void part('answer')
      .empty()
      .toggleClass('answer', true)
      .toggleClass('warning', isBad)
      .append(elements)
      .get(0)
      ?.scrollIntoView({ block: 'nearest' });
  const asking = lineOf(sharedText('dialog.asking'));
  show([asking]);
  return (elements, isBad) => {
    if (asking.parent().length > 0) show(elements(), isBad);
  };
}

/**
 * Reads now, and shows each value with its path below the button.
 * @param isSeveral whether the message holds each read under its name
 * @param titleOf the title to show the failure of a read under
 * @param done called when the answer is there
 */
export function showAnswer(
  query: Parameters<typeof askValues>[0],
  isSeveral: boolean,
  titleOf: (read: string) => string,
  done: () => void,
): void {
  const show = beginAnswer();
  askValues(query, ({ payloads = {}, errors = [], error }) => {
    done();
    if (error) return show(() => [lineOf(errorText(error))], true);
    const failed = (refusal: (typeof errors)[number]): JQuery =>
      lineOf(`${titleOf(refusal.read)}: ${errorText(refusal)}`).addClass('warning');
    const lines = Object.entries(payloads).flatMap(([read, payload]) =>
      linesOf(`msg.payload${isSeveral ? memberPath(read) : ''}`, payload),
    );
    show(() => [
      ...lines.slice(0, maxLines).map(elementOf),
      ...(lines.length > maxLines ? [lineOf('…')] : []),
      ...errors.map(failed),
    ]);
  });
}
