/**
 * Hosts that name this machine: only to them may a key or token travel over plain http, and
 * never through a proxy.
 */
export const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);

/**
 * Whether a service accepts it as a redirect URL. It is compared as text: https, or http on
 * `localhost` (docs/internals/vendor-api.md 4.3).
 */
export const isRedirectUrl = (input: string): boolean =>
  addressFault(input, { mayHaveQuery: true }) === null &&
  /^(https:\/\/|http:\/\/localhost(?![^:/?]))[^\s\\]*$/.test(input);

/**
 * What is wrong with an address that keys, tokens or a sign-in go to; null if nothing is. Browsers
 * also use it.
 */
export function addressFault(
  input: string,
  { mayHaveQuery = false } = {},
): 'address' | 'addressInsecure' | 'addressSecret' | 'addressQuery' | null {
  let url: URL;
  try {
    url = new URL(input);
  } catch {
    return 'address';
  }
  if (url.username + url.password !== '') return 'addressSecret';
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) return 'addressInsecure';
  return (mayHaveQuery ? /#/ : /[?#]/).test(input) ? 'addressQuery' : null;
}
