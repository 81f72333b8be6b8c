import { element } from '../../../src/drawing/elements';

const { editorLanguage } = connectedVehicle;

const steps: readonly [unit: string, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** `3 min`; the tooltip shows the time. */
function ageText(iso: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000);
  const language = editorLanguage();
  for (const [unit, length] of steps)
    if (seconds >= length)
      return Math.floor(seconds / length).toLocaleString(language, { style: 'unit', unit, unitDisplay: 'short' });
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(0, 'second');
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
