import type { Transport } from '../transport';

/**
 * What a service answers never holds what was sent to it in secret: should it repeat a key or a token, in an error, an
 * operation id or a value, this takes it out before anybody reads it.
 * @param hide takes secrets out of a text, and leaves all the rest
 */
export const hiding = (transport: Transport, hide: (text: string) => string): Transport => ({
  async send(request) {
    const response = await transport.send(request);
    const { status, headers, body } = response;
    // One look tells that an answer holds nothing, as almost all do.
    const all = `${body}\n${Object.values(headers).join('\n')}`;
    if (hide(all) === all) return response;
    const hidden = Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(hide) : value === undefined ? value : hide(value),
    ]);
    return { status, headers: Object.fromEntries(hidden) as typeof headers, body: hide(body) };
  },
  close: () => transport.close(),
});
