import { isLoopback } from '../../src/index';
import type { Validity } from './validators';
import { sharedText } from './texts';

/** docs/message-contract.md 2: https, or http on a loopback address; nothing else. */
export function validateAddress(value = ''): Validity {
  const address = parseAddress(value);
  if (address === null) return sharedText('reason.address');
  if (address.username + address.password !== '') return sharedText('reason.addressSecret');
  return (
    address.protocol === 'https:' ||
    (address.protocol === 'http:' && isLoopback(address.hostname)) ||
    sharedText('reason.addressInsecure')
  );
}

function parseAddress(text: string): URL | null {
  try {
    return new URL(text.trim());
  } catch {
    return null;
  }
}
