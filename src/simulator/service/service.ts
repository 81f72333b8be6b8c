import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  refuse,
  type Answer,
  type Refusal,
  type RefusalContext,
  type RefusalName,
  type ServiceRequest,
} from './answer';
import { Car } from '../car/car';
import { interfaceNames, interfaces, type InterfaceName } from '../../catalogue/reads';
import { endpointsOf, type Endpoint } from './endpoints';
import { picture } from './images';
import { Limits } from './limits';
import type { Settings } from './options';
import { Router } from './router';

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** The vehicle service: answers requests, and leaves sockets to the server. */
export class Service {
  readonly cars: ReadonlyMap<string, Car>;
  readonly #settings: Settings;
  readonly #limits: Limits;
  readonly #router = new Router<Endpoint>();
  readonly #url: () => string;
  /** `vcc-api-operationid` for the key header `vcc-api-key` (docs/internals/vendor-api.md 1.1). */
  readonly #operationHeader: string;

  constructor(settings: Settings, url: () => string, signal: AbortSignal) {
    const { clock, dialect } = settings;
    this.cars = new Map(settings.cars.map((options) => [options.vin, new Car(options, clock)]));
    this.#settings = settings;
    this.#limits = new Limits(settings.limits, clock);
    this.#url = url;
    this.#operationHeader = `${settings.apiKeyHeader.toLowerCase().replace(/-key$/, '')}-operationid`;
    const filled = (type: string): string => type.replace('{vendor}', settings.mediaTypeVendor);
    for (const endpoint of endpointsOf({ cars: this.cars, clock, isReal: dialect === 'real', signal })) {
      this.#router.add(endpoint.method, endpoint.path, {
        ...endpoint,
        mediaTypes: endpoint.mediaTypes.map(filled),
        answers: filled(endpoint.answers),
      });
    }
  }

  async answer(request: ServiceRequest): Promise<Answer> {
    if (request.path.startsWith('/images/')) return picture(request, this.#settings.clock.now());
    const context = this.contextOf(request);
    if (request.path.startsWith('/energy/v1/')) return refuse('energy-gone', context);
    const found = this.#router.find(request.method, request.path);
    if (found === null) return refuse(this.#settings.dialect === 'real' ? 'gateway-not-found' : 'not-found', context);
    if (found.endpoint === null)
      return { ...refuse('method-not-allowed', context), headers: { allow: found.methods.join(', ') } };
    return this.#stamped(await this.#pass(request, found.endpoint, found.parameters, context), found.endpoint, context);
  }

  async #pass(
    request: ServiceRequest,
    endpoint: Endpoint,
    parameters: Record<string, string>,
    context: RefusalContext,
  ): Promise<Answer> {
    const no = (name: RefusalName, details?: Partial<Refusal> & { refillIn?: string }): Answer =>
      refuse(name, context, details);
    const keyRefused = this.#refusesKey(request.headers);
    if (keyRefused !== null) return no(keyRefused);
    const excess = this.#limits.take(interfaces[endpoint.interface].api, endpoint.method === 'POST');
    if (excess !== null) return no(excess.kind, excess.kind === 'quota' ? { refillIn: excess.refillIn } : {});
    const refused = this.#refuses(request.headers, endpoint, parameters);
    if (refused !== null) return no(refused);
    const { vin, wallbox } = parameters;
    const car = [...this.cars.values()].find(
      (one) => (vin ?? one.vin) === one.vin && (wallbox ?? one.state.wallbox) === one.state.wallbox,
    );
    if (car === undefined) return no(wallbox === undefined ? 'not-linked' : 'wallbox-unknown');
    const view = {
      url: this.#url(),
      now: this.#settings.clock.now(),
      operationId: context.operationId,
      interface: endpoint.interface,
      isReal: context.dialect === 'real',
    };
    return endpoint.handle({ car, parameters, query: request.query, body: request.body, context: view, refuse: no });
  }

  /** The key comes first, because the gateway checks it. */
  #refusesKey(headers: IncomingHttpHeaders): RefusalName | null {
    const { open, apiKey, apiKeyHeader } = this.#settings;
    const key = headers[apiKeyHeader.toLowerCase()];
    if (key === undefined || key === '') return 'key-missing';
    return open || key === apiKey ? null : 'key-refused';
  }

  /** docs/internals/service.md 5; the refusals: docs/internals/vendor-api.md 1.11. */
  #refuses(headers: IncomingHttpHeaders, endpoint: Endpoint, parameters: Record<string, string>): RefusalName | null {
    const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    const scopes = token === undefined ? null : this.#settings.scopesOf(token);
    if (scopes === null) return 'token-refused';
    const operationId = this.#clientOperationId(headers);
    if (this.#settings.dialect === 'real' && operationId !== undefined && !uuid.test(operationId))
      return 'invalid-uuid';
    if (!this.#fits(headers, endpoint)) return endpoint.method === 'GET' ? 'not-acceptable' : 'media-type';
    const needed = typeof endpoint.scopes === 'function' ? endpoint.scopes(parameters) : endpoint.scopes;
    if (scopes.has('openid') && needed.every((scope) => scopes.has(scope))) return null;
    return endpoint.interface === 'energy-v2' ? 'energy-forbidden' : 'scope-missing';
  }

  /** The correlation id that the client chose (docs/internals/vendor-api.md 1.1). */
  #clientOperationId(headers: IncomingHttpHeaders): string | undefined {
    const id = headers[this.#operationHeader];
    return typeof id === 'string' ? id : undefined;
  }

  #fits(headers: IncomingHttpHeaders, { method, mediaTypes: wanted }: Endpoint): boolean {
    const named = ((method === 'GET' ? headers.accept : headers['content-type']) ?? '')
      .split(',')
      .map((type) => (type.split(';')[0] ?? '').trim().toLowerCase());
    // The service accepts any accept header that allows JSON (docs/internals/vendor-api.md 1.1).
    const lenient = method === 'GET' && wanted.includes('application/json') ? ['*/*', 'application/*'] : [];
    return named.some((type) => wanted.includes(type) || lenient.includes(type));
  }

  contextOf({ path, headers }: Pick<ServiceRequest, 'path' | 'headers'>): RefusalContext {
    const { dialect, apiKeyHeader } = this.#settings;
    return {
      dialect,
      interface: interfaceOf(path),
      operationId: this.#clientOperationId(headers) ?? randomUUID(),
      keyHeader: apiKeyHeader.toUpperCase(),
    };
  }

  /** v2 has the operation id in a header (docs/internals/vendor-api.md 1.1). */
  #stamped(answer: Answer, endpoint: Endpoint, { operationId }: RefusalContext): Answer {
    const headers = { ...answer.headers };
    if (answer.status < 300) headers['content-type'] ??= endpoint.answers;
    if (endpoint.interface === 'connected-v2') headers[this.#operationHeader] = operationId;
    return { ...answer, headers };
  }
}

const interfaceOf = (path: string): InterfaceName | null =>
  interfaceNames.find((name) => path.startsWith(`${interfaces[name].path}/`)) ?? null;
