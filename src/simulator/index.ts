import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { ApiName } from '../catalogue/reads';
import type { Car } from './car/car';
import { Control, isControl } from './control/control';
import { Faults } from './service/faults';
import { Identity } from './service/identity';
import { withDefaults, type SimulatorOptions } from './service/options';
import { SimulatorServer, type Count, type RecordedRequest } from './service/server';
import { Service } from './service/service';
import { everyScope, Tokens } from './service/tokens';

/**
 * The simulated service: an HTTP server on a loopback address with cars that have a state. It is written from docs/internals/service.md, and
 * shares with the client only the tables of the catalogue.
 */

/** A running simulated service. */
export interface Simulator {
  /** `{base_url}`: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** By VIN. */
  readonly cars: ReadonlyMap<string, Car>;
  /** The first car by default. */
  car(vin?: string): Car;
  readonly faults: Faults;
  /** The last 1000, oldest first; the control interface's own are not among them. */
  readonly requests: readonly RecordedRequest[];
  /** Forgets the recorded requests, and resets the counts of connections and requests. */
  clearRequests(): void;
  /** Requests of the day that passed the limits, by API: each has a quota of its own. */
  readonly requestsToday: Readonly<Partial<Record<ApiName, number>>>;
  /** Sockets. */
  readonly connections: Readonly<Count>;
  /** Requests, without those of the control interface. */
  readonly inFlight: Readonly<Count>;
  /** An access token with just these scopes (default: every one; name `openid` too), good for 299 s, in the form of a JWT. */
  issueToken(options?: { scopes?: readonly string[]; lifeSeconds?: number }): string;
  /** A refresh token as if a driver had signed in (default: with every scope). */
  issueRefreshToken(scopes?: readonly string[]): string;
  /** No refresh token works any more. */
  revokeGrants(): void;
  /** Ends all sockets and pending delays. */
  close(): Promise<void>;
}

/** @throws VehicleError CONFIG where the port is taken */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const settings = withDefaults(options);
  const closing = new AbortController();
  // Every delayed request waits for it, and there may be many.
  setMaxListeners(0, closing.signal);
  let url = '';
  const tokens = new Tokens(settings.clock, settings.newId, settings.accessToken, () => url);
  const service = new Service(settings, tokens, () => url, closing.signal);
  const identity = new Identity(settings, tokens);
  const faults = new Faults();
  const server = new SimulatorServer({
    clock: settings.clock,
    faults,
    signal: closing.signal,
    contextOf: (request) => service.contextOf(request),
    answer: async (request) =>
      isControl(request.path) ? control.answer(request) : (identity.answer(request) ?? service.answer(request)),
    isPrivate: isControl,
  });
  const control = new Control({
    url: () => url,
    clock: settings.clock,
    requestsToday: () => service.requestsToday,
    pageToken: randomUUID(),
    dialect: settings.dialect,
    cars: service.cars,
    faults,
    server,
    secretHeaders: ['authorization', 'cookie', settings.apiKeyHeader.toLowerCase()],
  });
  url = `http://127.0.0.1:${await server.listen(settings.port, settings.keepsProcessAlive)}`;
  return {
    url,
    cars: service.cars,
    car(vin) {
      const car = vin === undefined ? service.cars.values().next().value : service.cars.get(vin);
      if (car === undefined) throw new RangeError(`There is no car ${vin ?? ''} here.`);
      return car;
    },
    faults,
    requests: server.requests,
    clearRequests: () => server.clear(),
    get requestsToday() {
      return service.requestsToday;
    },
    connections: server.connections,
    inFlight: server.inFlight,
    issueToken: ({ scopes = everyScope, lifeSeconds = settings.accessTokenLifeSeconds } = {}) =>
      tokens.issue(scopes, lifeSeconds),
    issueRefreshToken: (scopes) => identity.grant(scopes),
    revokeGrants: () => identity.revokeAll(),
    async close() {
      closing.abort();
      await server.close();
    },
  };
}

export {
  carProfiles,
  classicCar,
  classicHybridCar,
  demoCar,
  demoCars,
  electricCar,
  hybridCar,
  isCarProfile,
  milesCar,
  quirkyCar,
  type CarProfile,
} from './car/profiles';
export { clickCar, parseClick, viewOf, type CarClick, type SimulatedCarView } from './control/click';
export { demoFaultOf, type DemoFault } from './control/demo-faults';
export type { CarPart, CarViewState, OpeningName, OpeningState } from './control/car-view-state';
export type { CarChanges, CarOptions } from './car/changes';
export { byRule, type CarState } from './car/state';
export type { Car } from './car/car';
export type { Invocation } from './car/invocation';
export type { Fault, FaultOptions, Faults } from './service/faults';
export { realLimits, type LimitOptions } from './service/limits';
export type { Count, RecordedRequest } from './service/server';
export type { SimulatorOptions } from './service/options';
export { everyScope } from './service/tokens';
