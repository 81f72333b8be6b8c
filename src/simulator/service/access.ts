import type { IncomingHttpHeaders } from 'node:http';
import type { RefusalName } from './answer';
import type { Endpoint } from './endpoints';
import { operationHeader, type Settings } from './options';
import { everyScope, type Tokens } from './tokens';

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const all: ReadonlySet<string> = new Set(everyScope);

/** Checks key, token, media type and scopes of a request (docs/internals/service.md 5; the refusals: docs/internals/vendor-api.md 1.11). */
export class Access {
  readonly #settings: Settings;
  readonly #tokens: Tokens;
  readonly #keyHeader: string;
  readonly #operationHeader: string;

  constructor(settings: Settings, tokens: Tokens) {
    this.#settings = settings;
    this.#tokens = tokens;
    this.#keyHeader = settings.apiKeyHeader.toLowerCase();
    this.#operationHeader = operationHeader(settings.apiKeyHeader);
  }

  /** The key comes first, because the gateway checks it. */
  refusesKey(headers: IncomingHttpHeaders): RefusalName | null {
    const key = headers[this.#keyHeader];
    if (key === undefined || key === '') return 'key-missing';
    const { open, apiKey, secondaryApiKey } = this.#settings;
    return open || key === apiKey || key === secondaryApiKey ? null : 'key-refused';
  }

  /** Checks the token, the media type and the scopes. */
  refuses(headers: IncomingHttpHeaders, endpoint: Endpoint, parameters: Record<string, string>): RefusalName | null {
    const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    const scopes = token === undefined ? null : this.#settings.open ? all : this.#tokens.scopesOf(token);
    if (scopes === null) return 'token-refused';
    const operationId = this.clientOperationId(headers);
    if (this.#settings.dialect === 'real' && operationId !== undefined && !uuid.test(operationId))
      return 'invalid-uuid';
    if (!this.#fits(headers, endpoint)) return endpoint.method === 'GET' ? 'not-acceptable' : 'media-type';
    const needed = typeof endpoint.scopes === 'function' ? endpoint.scopes(parameters) : endpoint.scopes;
    if (scopes.has('openid') && needed.every((scope) => scopes.has(scope))) return null;
    return endpoint.interface === 'energy-v2' ? 'energy-forbidden' : 'scope-missing';
  }

  /** The correlation id that the client chose (docs/internals/vendor-api.md 1.1). */
  clientOperationId(headers: IncomingHttpHeaders): string | undefined {
    const id = headers[this.#operationHeader];
    return typeof id === 'string' ? id : undefined;
  }

  #fits(headers: IncomingHttpHeaders, { method, mediaTypes: wanted }: Endpoint): boolean {
    const named = ((method === 'GET' ? headers.accept : headers['content-type']) ?? '')
      .split(',')
      .map((type) => (type.split(';')[0] ?? '').trim().toLowerCase());
    // The service takes any accept header that allows JSON (docs/internals/vendor-api.md 1.1).
    const lenient = method === 'GET' && wanted.includes('application/json') ? ['*/*', 'application/*'] : [];
    return named.some((type) => wanted.includes(type) || lenient.includes(type));
  }
}
