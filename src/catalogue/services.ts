import type { InterfaceName } from './reads';

/** The service profiles (contract 2; `volvo-cars`: field notes 0, 4.1 and 7). */
export type ServiceName = 'demo' | 'volvo-cars' | 'custom';

export interface ServiceProfile {
  service: ServiceName;
  /** Empty where the configuration (custom) or the started simulator (demo) gives it. */
  baseUrl: string;
  apiKeyHeader: string;
  /** The vendor part of the v1 media types (specification 4). */
  mediaTypeVendor: string;
  authorizeUrl: string;
  tokenUrl: string;
  redirectUrl: string;
  /** Which interfaces answer: `auto` chooses among these only. */
  alive: readonly InterfaceName[];
  /** Milliseconds since 1970, of a service that began anew then: it knows of nothing before. */
  since?: number;
}

const everyInterface = ['connected-v1', 'connected-v2', 'extended-v1'] as const;

export const services = {
  demo: {
    service: 'demo',
    baseUrl: '',
    apiKeyHeader: 'vendor-api-key',
    mediaTypeVendor: 'vendor',
    authorizeUrl: '',
    tokenUrl: '',
    redirectUrl: '',
    alive: everyInterface,
  },
  'volvo-cars': {
    service: 'volvo-cars',
    baseUrl: 'https://api.volvocars.com',
    apiKeyHeader: 'vcc-api-key',
    mediaTypeVendor: 'volvocars',
    authorizeUrl: 'https://volvoid.eu.volvocars.com/as/authorization.oauth2',
    tokenUrl: 'https://volvoid.eu.volvocars.com/as/token.oauth2',
    redirectUrl: '',
    alive: ['connected-v2'],
  },
  custom: {
    service: 'custom',
    baseUrl: '',
    apiKeyHeader: 'vendor-api-key',
    mediaTypeVendor: 'vendor',
    authorizeUrl: '',
    tokenUrl: '',
    redirectUrl: '',
    alive: everyInterface,
  },
} as const satisfies Record<ServiceName, ServiceProfile>;

export const serviceNames = /* @__PURE__ */ Object.keys(services) as ServiceName[];
