import { ask, type Refusal } from './ask';
import { complaint } from './complaint';
import { part } from './forms';
import { shared } from './words';

/** A value as the service gives it. */
interface Value {
  value?: unknown;
  unit?: unknown;
  timestamp?: unknown;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isValue = (found: unknown): found is Value => isRecord(found) && 'value' in found;

/** As many lines as a person reads in a dialog. */
const maxLines = 40;

function textOf(found: unknown): string {
  if (!isValue(found)) return isRecord(found) || Array.isArray(found) ? JSON.stringify(found) : String(found);
  const { value, unit, timestamp } = found;
  const measured = typeof timestamp === 'string' ? new Date(timestamp) : null;
  const at = measured === null || Number.isNaN(measured.getTime()) ? '' : ` (${measured.toLocaleString()})`;
  return `${value === null || value === undefined ? shared('answer.unknown') : String(value)}${typeof unit === 'string' ? ` ${unit}` : ''}${at}`;
}

/** One line for each value of a payload. */
function linesOf(title: string, payload: unknown): string[] {
  if (!isRecord(payload) || isValue(payload)) return [`${title}: ${textOf(payload)}`];
  return Object.entries(payload).map(([name, found]) => `${name}: ${textOf(found)}`);
}

/**
 * Reads now, and shows the answer below the button.
 * @param reads the names, with the titles to show them under
 */
export function showAnswer(vehicle: string, query: object, titleOf: (read: string) => string): void {
  const box = part('answer');
  const tell = (lines: readonly string[], isBad = false): void =>
    void box
      .empty()
      .toggleClass('answer', true)
      .toggleClass('warning', isBad)
      .append(lines.slice(0, maxLines).map((line) => $('<div>').text(line)));
  if (vehicle === '' || vehicle === '_ADD_') return tell([shared('answer.noVehicle')], true);
  tell([shared('dialog.asking')]);
  ask<{ payloads: Record<string, unknown>; errors: (Refusal & { read: string })[] }>(
    vehicle,
    'values',
    query,
    ({ payloads = {}, errors = [], error }) => {
      if (error) return tell([complaint(error)], true);
      const failed = errors.map((refusal) => `${titleOf(refusal.read)}: ${complaint(refusal)}`);
      const lines = Object.entries(payloads).flatMap(([read, payload]) => linesOf(titleOf(read), payload));
      tell([...lines, ...failed], lines.length === 0);
    },
  );
}
