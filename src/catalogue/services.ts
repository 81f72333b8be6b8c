import { interfaceNames, type InterfaceName } from './reads';

/** docs/internals/contract.md 2; `volvo-cars`: docs/internals/vendor-api.md 0, 4.1 and 7. */
export type ServiceName = 'demo' | 'volvo-cars' | 'custom';

export interface Issuer {
  /** As the document names it, and without the path of the document. */
  url: string;
  /** The addresses of the document are trusted on this domain and below it only. */
  domain: string;
}

export interface ServiceProfile {
  service: ServiceName;
  baseUrl: string;
  apiKeyHeader: string;
  /** The vendor part of the v1 media types (docs/internals/service.md 4). */
  mediaTypeVendor: string;
  authorizeUrl: string;
  tokenUrl: string;
  /**
   * Its document takes precedence over both addresses if it answers. Null: these addresses alone.
   */
  issuer: Issuer | null;
  redirectUrl: string;
  /** The interfaces that the service has: `auto` chooses among these only. */
  availableInterfaces: readonly InterfaceName[];
  /** Milliseconds since 1970. A simulated service knows nothing from before. */
  since?: number;
}

/** The parts that the configuration (custom) or the started simulator (demo) fills in. */
const unnamed = {
  baseUrl: '',
  apiKeyHeader: 'vendor-api-key',
  mediaTypeVendor: 'vendor',
  authorizeUrl: '',
  tokenUrl: '',
  issuer: null,
  redirectUrl: '',
  availableInterfaces: interfaceNames,
} as const;

export const services = {
  demo: { service: 'demo', ...unnamed },
  'volvo-cars': {
    service: 'volvo-cars',
    baseUrl: 'https://api.volvocars.com',
    apiKeyHeader: 'vcc-api-key',
    mediaTypeVendor: 'volvocars',
    authorizeUrl: 'https://volvoid.eu.volvocars.com/as/authorization.oauth2',
    tokenUrl: 'https://volvoid.eu.volvocars.com/as/token.oauth2',
    issuer: { url: 'https://volvoid.eu.volvocars.com', domain: 'volvocars.com' },
    redirectUrl: '',
    availableInterfaces: ['connected-v2', 'energy-v2', 'location-v1', 'energy-device-v1'],
  },
  custom: { service: 'custom', ...unnamed },
} as const satisfies Record<ServiceName, ServiceProfile>;

export const serviceNames = /* @__PURE__ */ Object.keys(services) as ServiceName[];
