import { element } from '../../../src/drawing/elements';

const { editorLanguage } = connectedVehicle;

const steps: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** `3 min ago`. */
function ageText(iso: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000);
  const format = new Intl.RelativeTimeFormat(editorLanguage(), { numeric: 'auto', style: 'short' });
  for (const [unit, length] of steps) if (seconds >= length) return format.format(-Math.floor(seconds / length), unit);
  return format.format(0, 'second');
}

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
