import { randomUUID } from 'node:crypto';
import { systemClock, type Clock } from '../../util/clock';
import type { CarOptions } from '../car/changes';
import { demoCar } from '../car/profiles';
import { interfaceNames, type InterfaceName } from '../../catalogue/reads';
import type { LimitOptions } from './limits';
import { everyScope } from './tokens';

/** Options of a simulated service. Everything has a default. */
export interface SimulatorOptions {
  /** Default 0: chosen by the system. Always bound to 127.0.0.1. */
  port?: number;
  clock?: Clock;
  /** Whether the process waits for the simulator to be closed. Default `true`. */
  keepsProcessAlive?: boolean;
  /** `plain`: the specification's shapes; `real`: those of the service behind it (docs/internals/vendor-api.md). Default `plain`. */
  dialect?: 'plain' | 'real';
  /** Default `vendor-api-key`. */
  apiKeyHeader?: string;
  /** The vendor part of the v1 media types (docs/internals/service.md 4). Default `vendor`. */
  mediaTypeVendor?: string;
  /** Default `demo-key`. */
  apiKey?: string;
  /** The other key of the application, with the same rights and quota (docs/internals/vendor-api.md 4.3). Default: none. */
  secondaryApiKey?: string;
  /** A token with every scope that never expires. Default `demo-token`. */
  accessToken?: string;
  /** The client id and the client secret at the identity service. Defaults `demo-client` and `demo-secret`. */
  clientId?: string;
  clientSecret?: string;
  /**
   * The redirect URLs that the application was published with, compared as text. Default: any that begins with `https://` or
   * `http://localhost` (docs/internals/vendor-api.md 4.3), in the dialect `plain` also those on another loopback host.
   */
  redirectUris?: readonly string[];
  /** The scopes that the application was published with. A sign-in that asks for another one ends with `invalid_scope`. Default: every one. */
  scopes?: readonly string[];
  /** Default 299 (docs/internals/vendor-api.md 4.2). */
  accessTokenLifeSeconds?: number;
  /** Seconds that a rotated refresh token still works. Default 0 (docs/internals/vendor-api.md 4.2). */
  refreshGraceSeconds?: number;
  /** Default: one demo car. */
  cars?: readonly CarOptions[];
  /** `true`: the headers are checked for presence, but any key and any token is accepted. Default `false`. */
  open?: boolean;
  /**
   * The interfaces that the service has. Default: every one. Paths of extended v1 answer 410 where it is left out, as the
   * real service does since it was retired; paths of another one 404.
   */
  interfaces?: readonly InterfaceName[];
  /** Simulated limits (docs/internals/vendor-api.md 5). Default: none. */
  limits?: LimitOptions;
  /** The source of ids, codes and tokens. Default: random UUIDs. */
  newId?: () => string;
}

export type Settings = Required<Omit<SimulatorOptions, 'redirectUris'>> & { redirectUris: readonly string[] | null };

export function withDefaults(options: SimulatorOptions): Settings {
  return {
    port: 0,
    clock: systemClock,
    keepsProcessAlive: true,
    dialect: 'plain',
    apiKeyHeader: 'vendor-api-key',
    mediaTypeVendor: 'vendor',
    apiKey: 'demo-key',
    secondaryApiKey: '',
    accessToken: 'demo-token',
    clientId: 'demo-client',
    clientSecret: 'demo-secret',
    redirectUris: null,
    scopes: everyScope,
    accessTokenLifeSeconds: 299,
    refreshGraceSeconds: 0,
    cars: [demoCar],
    open: false,
    interfaces: interfaceNames,
    limits: {},
    newId: randomUUID,
    ...options,
  };
}

/** `vcc-api-key` -> `vcc-api-operationid`: the header that carries the operation id on v2 (docs/internals/vendor-api.md 1.1). */
export const operationHeader = (apiKeyHeader: string): string =>
  `${apiKeyHeader.toLowerCase().replace(/-key$/, '')}-operationid`;
