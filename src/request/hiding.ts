import type { Transport } from '../transport';

/**
 * What a service answers never holds what was sent to it in secret: should it repeat a key or a token, in an error, an
 * operation id or a value, this takes it out before anybody reads it.
 * @param hide takes secrets out of a text, and leaves all the rest
 */
export const hiding = (transport: Transport, hide: (text: string) => string): Transport => ({
  async send(request) {
    const response = await transport.send(request);
    const headers = Object.entries(response.headers).map(([name, value]) => [name, Array.isArray(value) ? value.map(hide) : value === undefined ? value : hide(value)]);
    return { status: response.status, headers: Object.fromEntries(headers) as typeof response.headers, body: hide(response.body) };
  },
  close: () => transport.close(),
});
