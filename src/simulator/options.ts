import { randomUUID } from 'node:crypto';
import { systemClock, type Clock } from '../util/clock';
import { demoCar, type CarOptions } from './demo-car';
import { interfacePaths } from '../catalogue/reads';
import type { ServedInterface } from './dialect';
import type { LimitOptions } from './limits';

/** How a simulated service is started. Everything has a default. */
export interface SimulatorOptions {
  /** Default 0: chosen by the system. Always bound to 127.0.0.1. */
  port?: number;
  clock?: Clock;
  /** Whether the process waits for the simulator to be closed. Default `true`. */
  keepsProcessAlive?: boolean;
  /** `plain`: the specification's shapes; `real`: those of the service behind it (field notes). Default `plain`. */
  dialect?: 'plain' | 'real';
  /** Default `vendor-api-key`. */
  apiKeyHeader?: string;
  /** The vendor part of the v1 media types (specification 4). Default `vendor`. */
  mediaTypeVendor?: string;
  /** Default `demo-key`. */
  apiKey?: string;
  /** A token with every scope that never expires. Default `demo-token`. */
  accessToken?: string;
  /** Of the identity service. Defaults `demo-client` and `demo-secret`. */
  clientId?: string;
  clientSecret?: string;
  /** The redirect addresses that sign-in accepts, exactly. Default: any that is https or on a loopback host (field notes 4.3). */
  redirectUris?: readonly string[];
  /** Default 299 (field notes 4.2). */
  accessTokenLifeSeconds?: number;
  /** How long a rotated refresh token still works. Default 0 (field notes 4.2). */
  refreshGraceSeconds?: number;
  /** Default: one demo car. */
  cars?: readonly CarOptions[];
  /** `true`: the headers are checked for presence, but any key and any token is accepted. Default `false`. */
  open?: boolean;
  /**
   * The interfaces that the service has. Default: every one. Paths of extended v1 answer 410 where it is left out, as the
   * real service does since it was retired; paths of another one 404.
   */
  interfaces?: readonly ServedInterface[];
  /** Simulated limits (field notes 5). Default: none. */
  limits?: LimitOptions;
  /** Where ids, codes and tokens come from. Default: random UUIDs. */
  newId?: () => string;
}

/** The base path of each interface. */
export const paths: Readonly<Record<ServedInterface, string>> = {
  ...interfacePaths,
  'energy-v2': '/energy/v2',
  'location-v1': '/location/v1',
};
export const everyInterface = Object.keys(paths) as ServedInterface[];

export type Settings = Required<Omit<SimulatorOptions, 'redirectUris'>> & { redirectUris: readonly string[] | null };

export function settle(options: SimulatorOptions): Settings {
  return {
    port: 0,
    clock: systemClock,
    keepsProcessAlive: true,
    dialect: 'plain',
    apiKeyHeader: 'vendor-api-key',
    mediaTypeVendor: 'vendor',
    apiKey: 'demo-key',
    accessToken: 'demo-token',
    clientId: 'demo-client',
    clientSecret: 'demo-secret',
    redirectUris: null,
    accessTokenLifeSeconds: 299,
    refreshGraceSeconds: 0,
    cars: [demoCar],
    open: false,
    interfaces: everyInterface,
    limits: {},
    newId: randomUUID,
    ...options,
  };
}

/** `vcc-api-key` -> `vcc-api-operationid`: the header that carries the operation id on v2 (field notes 1.1). */
export const operationHeader = (apiKeyHeader: string): string =>
  `${apiKeyHeader.toLowerCase().replace(/-key$/, '')}-operationid`;
