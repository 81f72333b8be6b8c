import { isLoopback } from '../../../src/index';
import type { Verdict } from './validators';
import { shared } from './words';

/** docs/message-contract.md 2: https, or http on a loopback address; nothing else. */
export function addressVerdict(value = ''): Verdict {
  const address = parseAddress(value);
  if (address === null) return shared('reason.address');
  if (address.username + address.password !== '') return shared('reason.addressSecret');
  return (
    address.protocol === 'https:' ||
    (address.protocol === 'http:' && isLoopback(address.hostname)) ||
    shared('reason.addressInsecure')
  );
}

function parseAddress(text: string): URL | null {
  try {
    return new URL(text.trim());
  } catch {
    return null;
  }
}
