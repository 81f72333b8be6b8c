import { systemClock, type Clock } from '../../util/clock';
import type { CarOptions } from '../car/changes';
import { demoCar } from '../car/profiles';
import type { Middleware } from './answer';
import type { LimitOptions } from './limits';

/** Options of a simulated service. Everything has a default. */
export interface SimulatorOptions {
  /** Default 0: chosen by the system. Always bound to 127.0.0.1. */
  port?: number;
  clock?: Clock;
  /** Whether the process waits for the simulator to be closed. Default `true`. */
  keepsProcessAlive?: boolean;
  /** The shapes of the specification, or those of docs/internals/vendor-api.md. Default `plain`. */
  dialect?: 'plain' | 'real';
  apiKeyHeader?: string;
  /** The vendor part of the v1 media types (docs/internals/service.md 4). Default `vendor`. */
  mediaTypeVendor?: string;
  apiKey?: string;
  /** A token with every scope that never expires. Default `demo-token`. */
  accessToken?: string;
  /** Null refuses the token. Default: `accessToken`, with `open` any token, has every scope. */
  scopesOf?: (token: string) => Scopes | null;
  /** Sees each request to the service before its faults. Default: none. */
  middleware?: Middleware;
  cars?: readonly CarOptions[];
  /** Any key and any token is accepted. Default `false`. */
  open?: boolean;
  /** Simulated limits (docs/internals/vendor-api.md 5). Default: none. */
  limits?: LimitOptions;
}

type Scopes = Pick<ReadonlySet<string>, 'has'>;

export type Settings = Required<SimulatorOptions>;

export const withDefaults = ({ open = false, accessToken = 'demo-token', ...options }: SimulatorOptions): Settings => ({
  port: 0,
  clock: systemClock,
  keepsProcessAlive: true,
  dialect: 'plain',
  apiKeyHeader: 'vendor-api-key',
  mediaTypeVendor: 'vendor',
  apiKey: 'demo-key',
  open,
  accessToken,
  scopesOf: (token) => (open || token === accessToken ? { has: () => true } : null),
  middleware: (_, next) => next(),
  cars: [demoCar],
  limits: {},
  ...options,
});
