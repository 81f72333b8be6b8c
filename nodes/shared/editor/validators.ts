import { vinPattern } from '../../../src/index';
import { shared } from './words';

/**
 * Validators of the forms: true, or the reason in words. The editor itself takes `${NAME}` for valid before it asks, so
 * none of them has to.
 */
export type Verdict = true | string;

/** Contract 2: 17 characters of A-Z and 0-9 in either case, blanks around them allowed. Empty: it is named elsewhere. */
export const vinVerdict = (value = ''): Verdict => {
  const vin = value.trim().toUpperCase();
  return vin === '' || vinPattern.test(vin) || shared('reason.vin');
};

/** `value` is text in an open form, a number in a stored node, or missing there: then the default holds. */
export const wholeVerdict = (value: string | number | undefined, minimum: number, maximum = Infinity): Verdict => {
  if (value === undefined) return true;
  const number = String(value).trim() === '' ? NaN : Number(value);
  if (Number.isInteger(number) && number >= minimum && number <= maximum) return true;
  return shared(maximum === Infinity ? 'reason.atLeast' : 'reason.between', { minimum, maximum });
};
