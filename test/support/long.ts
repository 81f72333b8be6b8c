/**
 * Whether a test has its long form. `npm test` runs the short forms, which take a fraction of
 * the time, and `npm run test:slow` the long ones: scripts/test-slow.mjs finds a spec by its
 * import of this file.
 * Stored transcripts are written from all of their cases, so `UPDATE_TRANSCRIPTS=1` also
 * chooses the long forms.
 */
export const isLong = process.env['LONG'] === 'true' || process.env['UPDATE_TRANSCRIPTS'] === '1';

/** All of a list in the long form, and every `nth` of it, from the first one, in the short form. */
export const everyNth = <Item>(nth: number, items: readonly Item[]): Item[] =>
  items.filter((_, index) => isLong || index % nth === 0);

/** A test that only the long form has. */
export const itLong = (
  title: string,
  test: Mocha.AsyncFunc,
  declare: (title: string, test: Mocha.AsyncFunc) => unknown = it,
): void => {
  if (isLong) declare(title, test);
};

/** A suite that only the long form has. */
export const describeLong = (title: string, suite: (this: Mocha.Suite) => void): void => {
  if (isLong) describe(title, suite);
};
