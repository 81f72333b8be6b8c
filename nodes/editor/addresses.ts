import { addressFault } from '../../src/index';
import type { Validity } from './validators';
import { sharedText } from './texts';

/** docs/message-contract.md 2: https, or http on a loopback address; nothing else. */
export function validateAddress(value = '', options: Parameters<typeof addressFault>[1] = {}): Validity {
  const fault = addressFault(value.trim(), options);
  return fault === null || sharedText(`reason.${fault}`);
}
