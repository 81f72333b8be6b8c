/** How urgent a service warning is, by the end of its word (docs/internals/vendor-api.md 14.4). */
export const serviceUrgency = (word: unknown): number => {
  const text = String(word);
  if (text === 'NO_WARNING') return 0;
  if (text.endsWith('_ALMOST_TIME_FOR_SERVICE')) return 1;
  if (text.endsWith('_OVERDUE_FOR_SERVICE')) return 3;
  return text.endsWith('_TIME_FOR_SERVICE') ? 2 : -1;
};

/** The words of lamps, tyres, fluids and levels (docs/internals/vendor-api.md 14.3 to 14.6). */
export const warningClasses: Readonly<Record<string, 'on' | 'off'>> = {
  NO_WARNING: 'off',
  FAILURE: 'on',
  SERVICE_REQUIRED: 'on',
  TOO_LOW: 'on',
  TOO_HIGH: 'on',
  VERY_LOW_PRESSURE: 'on',
  LOW_PRESSURE: 'on',
  HIGH_PRESSURE: 'on',
};
