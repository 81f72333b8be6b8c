/**
 * The properties of each node as Node-RED stores them (contract 2 to 5): the shape that the editor half writes and the
 * runtime half parses. Types only, so that both halves can import it. What a flow file really holds may be older, odd
 * or hand-written: the runtime checks it before use.
 */

/** A tri-state of the contract: which interface answers. */
export type InterfaceChoice = 'auto' | 'v1' | 'v2';

/** `connected-vehicle` (contract 2). Credentials stand apart, below. */
export interface VehicleOptions {
  name: string;
  service: 'demo' | 'volvo-cars' | 'custom';
  baseUrl: string;
  apiKeyHeader: string;
  mediaTypeVendor: string;
  authorizeUrl: string;
  tokenUrl: string;
  redirectUrl: string;
  vin: string;
  readOnly: boolean;
  requestsPerDay: number;
  requestsPerMinute: number;
  commandsPerMinute: number;
}

/** All of type `password`: none ever reaches a browser. */
export interface VehicleCredentials {
  apiKey?: string;
  accessToken?: string;
  clientId?: string;
  clientSecret?: string;
  refreshToken?: string;
}

/** `connected-vehicle-status` (contract 3). */
export interface StatusOptions {
  name: string;
  vehicle: string;
  vin: string;
  /** One read name, or `several`. */
  read: string;
  /** The read names where `read` is `several`. */
  reads: string[];
  interface: InterfaceChoice;
  /** Seconds; 0 = only on a message. */
  poll: number;
  emit: 'always' | 'changes';
}

/** `connected-vehicle-command` (contract 4). */
export interface CommandOptions {
  name: string;
  vehicle: string;
  vin: string;
  /** Empty: taken from `msg.command`. */
  command: string;
  interface: InterfaceChoice;
  /** Seconds, 1 to 120; the v1 unlock only. Empty: the maximum. */
  unlockDuration: number | '';
  precheck: boolean;
}

/** `connected-vehicle-command-status` (contract 5). */
export interface CommandStatusOptions {
  name: string;
  vehicle: string;
  /** Seconds. */
  timeout: number;
  /** Seconds. */
  interval: number;
  verify: boolean;
}
