const { validateWhole, wordsOf } = connectedVehicle;

export const type = 'connected-vehicle-guard';
export const say = wordsOf(type);

/** The minutes of one kind: empty, or a number from 0 up. */
export const isMinutes = (value: unknown): boolean =>
  value === undefined || String(value).trim() === '' || validateWhole(String(value), 0) === true;
