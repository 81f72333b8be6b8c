import { element } from './elements';

/** In the language of the editor, not in that of the browser. */
const language = (): string => RED.i18n.lang();

const steps: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** `3 min ago`. */
export function ageText(iso: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000);
  const format = new Intl.RelativeTimeFormat(language(), { numeric: 'auto', style: 'narrow' });
  for (const [unit, length] of steps) if (seconds >= length) return format.format(-Math.floor(seconds / length), unit);
  return format.format(0, 'second');
}

/** `14:05` today, with the date on any other day. */
export function timeText(iso: string): string {
  const date = new Date(iso);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? date.toLocaleTimeString(language(), { hour: '2-digit', minute: '2-digit' })
    : date.toLocaleString(language(), { dateStyle: 'medium', timeStyle: 'short' });
}

export const numberText = (value: number, digits = 0): string =>
  value.toLocaleString(language(), { maximumFractionDigits: digits });

/** An age that `refreshAges` keeps right. */
export const ageOf = (iso: string, title: string): HTMLTimeElement =>
  element('time', { datetime: iso, title, class: 'cars-age' }, ageText(iso, Date.now()));

export function refreshAges(root: HTMLElement): void {
  const now = Date.now();
  for (const time of root.querySelectorAll('time.cars-age')) {
    const text = ageText(time.getAttribute('datetime') ?? '', now);
    if (time.textContent !== text) time.textContent = text;
  }
}
