import { addressFault, vinPattern } from '../../src/index';
import { sharedText } from './texts';

/**
 * Validators of the forms: true, or the reason in words. The editor itself takes `${NAME}` for valid before it asks, so
 * none of them has to.
 */
export type Validity = true | string;

/** docs/message-contract.md 2: 17 characters of A-Z and 0-9 in either case, blanks around them allowed. Empty: it is named elsewhere. */
export const validateVin = (value = ''): Validity => {
  const vin = value.trim().toUpperCase();
  return vin === '' || vinPattern.test(vin) || sharedText('reason.vin');
};

/** `value` is text in an open form, a number in a stored node, or missing there: then the default holds. */
export const validateWhole = (value: string | number | undefined, minimum: number, maximum = Infinity): Validity => {
  if (value === undefined) return true;
  const number = String(value).trim() === '' ? NaN : Number(value);
  if (Number.isInteger(number) && number >= minimum && number <= maximum) return true;
  return sharedText(maximum === Infinity ? 'reason.atLeast' : 'reason.between', { minimum, maximum });
};

/** docs/message-contract.md 2: https, or http on a loopback address; nothing else. */
export function validateAddress(value = '', options: Parameters<typeof addressFault>[1] = {}): Validity {
  const fault = addressFault(value.trim(), options);
  return fault === null || sharedText(`reason.${fault}`);
}
