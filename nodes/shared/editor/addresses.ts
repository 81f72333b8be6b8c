import type { Verdict } from './validators';
import { shared } from './words';

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Contract 2: https, or http on a loopback address; nothing else. */
export function addressVerdict(value = ''): Verdict {
  const address = parseAddress(value);
  if (address === null) return shared('reason.address');
  if (address.username + address.password !== '') return shared('reason.addressSecret');
  return (
    address.protocol === 'https:' ||
    (address.protocol === 'http:' && loopback.test(address.hostname)) ||
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
