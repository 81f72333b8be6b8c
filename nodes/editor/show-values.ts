import { isRecord } from '../../src/index';
import { ask, errorText, type Refusal } from './runtime-request';
import { part } from './forms';
import { sharedText, timeText } from './texts';

/** A value as the service gives it. */
interface Value {
  value?: unknown;
  unit?: unknown;
  timestamp?: unknown;
}

const isValue = (found: unknown): found is Value => isRecord(found) && 'value' in found;

/** As many lines as a person reads in a dialog. */
const maxLines = 40;

function textOf(found: unknown): string {
  if (!isValue(found)) return isRecord(found) || Array.isArray(found) ? JSON.stringify(found) : String(found);
  const { value, unit, timestamp } = found;
  const at = typeof timestamp === 'string' && !Number.isNaN(Date.parse(timestamp)) ? ` (${timeText(timestamp)})` : '';
  return `${value === null || value === undefined ? sharedText('answer.unknown') : String(value)}${typeof unit === 'string' ? ` ${unit}` : ''}${at}`;
}

/** One line for each value of a payload. */
function linesOf(title: string, payload: unknown): string[] {
  if (!isRecord(payload) || isValue(payload)) return [`${title}: ${textOf(payload)}`];
  return Object.entries(payload).map(([name, found]) => `${name}: ${textOf(found)}`);
}

let asked = 0;

/** Takes away the answer, and one that is still to come: the form asks for something else now. */
export function clearAnswer(): void {
  asked += 1;
  part('answer').empty().removeClass('answer warning');
}

/**
 * Reads now, and shows the answer below the button.
 * @param titleOf the title to show a read under
 * @param done called when the answer is there
 */
export function showAnswer(vehicle: string, query: object, titleOf: (read: string) => string, done: () => void): void {
  const box = part('answer');
  const showLines = (lines: readonly string[], isBad = false): void =>
    void box
      .empty()
      .toggleClass('answer', true)
      .toggleClass('warning', isBad)
      .append(lines.slice(0, maxLines).map((line) => $('<div>').text(line)))
      .get(0)
      ?.scrollIntoView({ block: 'nearest' });
  if (vehicle === '' || vehicle === '_ADD_') return showLines([sharedText('answer.noVehicle')], true);
  showLines([sharedText('dialog.asking')]);
  asked += 1;
  const own = asked;
  ask<{ payloads: Record<string, unknown>; errors: (Refusal & { read: string })[] }>(
    vehicle,
    'values',
    query,
    ({ payloads = {}, errors = [], error }) => {
      done();
      if (own !== asked) return;
      if (error) return showLines([errorText(error)], true);
      const failed = errors.map((refusal) => `${titleOf(refusal.read)}: ${errorText(refusal)}`);
      const lines = Object.entries(payloads).flatMap(([read, payload]) => linesOf(titleOf(read), payload));
      showLines([...lines, ...failed], lines.length === 0);
    },
  );
}
