import { parseRange, timeZoneOf, type HoursSettings } from '../../src/index';
import { nodeField, part, shownDefault, textOf } from './forms';
import { sharedText } from './texts';
import type { Validity } from './validators';

/** The range that the form fills in when a mode is chosen and the field is empty. */
const usualRanges: Partial<Record<string, string>> = { only: '18:00-22:00', not: '22:00-07:00' };

/** The fields of the hours in which guard and event node send without being asked. */
export function showHours({ hours, quietHours = '' }: HoursSettings): void {
  const [mode, range] = [nodeField('hours'), nodeField('quietHours')];
  // A flow that is older than the choice has the quiet hours alone.
  if (hours === undefined && quietHours !== '') mode.val('not').data(shownDefault, 'not');
  const row = range.closest('.form-row');
  const show = (): JQuery => row.add(row.next('.hint')).toggle(mode.val() !== 'always');
  mode.on('change', () => {
    if (textOf(range) === '') range.val(usualRanges[textOf(mode)] ?? '');
    show();
    range.trigger('change');
  });
  show();
  const zones = Intl.supportedValuesOf('timeZone').map((zone) => $('<option>').val(zone));
  part('time-zones').attr('id', 'connected-vehicle-time-zones').append(zones);
}

export function validateHours(this: HoursSettings, value: string | undefined, _opt: unknown): Validity {
  const mode = textOf(nodeField('hours')) || this.hours;
  const text = (value ?? '').trim();
  if (mode === 'always' || (mode !== 'only' && text === '')) return true;
  const range = parseRange(text);
  if (range === null) return sharedText('reason.hours');
  return range.from !== range.to || sharedText('reason.hoursEqual');
}

export function validateTimeZone(value: string | undefined, _opt: unknown): Validity {
  // An offset like +02:00 knows no summer time, and Node.js 20 does not accept it.
  return !value?.trim() || /^[^+-]/.test(timeZoneOf(value) ?? '') || sharedText('reason.timeZone');
}
