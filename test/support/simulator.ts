import { interfaceNames, type InterfaceName } from '../../src/catalogue/reads';
import {
  startSimulator as start,
  type Car,
  type Simulator as Plain,
  type SimulatorOptions as Options,
} from '../../src/simulator';
import { refuse, type Exchange, type Middleware } from '../../src/simulator/service/answer';
import { FaultList } from '../../src/simulator/service/faults';
import { failing, type FaultOptions } from './simulated-faults';
import { everyScope, Identity, type IdentityOptions } from './simulated-identity';

/**
 * The simulated service with what tests need besides: an identity service, every fault, other keys
 * and interfaces, and counts.
 */

export * from '../../src/simulator';
export { everyScope };
export type { FaultOptions };

export interface SimulatorOptions extends Omit<Options, 'middleware' | 'scopesOf'>, Omit<IdentityOptions, 'clock'> {
  /**
   * The other key of the application, with the same rights and quota
   * (docs/internals/vendor-api.md 4.3). Default: none.
   */
  secondaryApiKey?: string;
  /**
   * The interfaces that the service has. Default: every one. Paths of extended v1 answer 410 if it
   * is left out, as the real service does since it was retired; paths of another one 404.
   */
  interfaces?: readonly InterfaceName[];
}

/** The total, the number at the moment, and the highest number at once. */
export interface Count {
  total: number;
  current: number;
  peak: number;
}

export interface Simulator extends Omit<Plain, 'faults'> {
  readonly faults: FaultList<FaultOptions>;
  /** The faults that a person sets on the page. */
  readonly demoFaults: Plain['faults'];
  /** The first car by default. */
  car(vin?: string): Car;
  /** Forgets the recorded requests, and resets the counts of connections and requests. */
  clearRequests(): void;
  /** Sockets that had a request. */
  readonly connections: Readonly<Count>;
  /** Requests, without those of the control interface. */
  readonly inFlight: Readonly<Count>;
  /**
   * An access token with just these scopes (default: every one; name `openid` too), good for 299 s,
   * in the form of a JWT.
   */
  issueToken(options?: { scopes?: readonly string[]; lifeSeconds?: number }): string;
  /** A refresh token as if a driver had signed in (default: with every scope). */
  issueRefreshToken(scopes?: readonly string[]): string;
  /** No refresh token still works. */
  revokeGrants(): void;
}

export async function startSimulator({
  secondaryApiKey,
  interfaces = interfaceNames,
  ...options
}: SimulatorOptions = {}): Promise<Simulator> {
  const { apiKey = 'demo-key', apiKeyHeader = 'vendor-api-key' } = options;
  let url = '';
  const identity = new Identity(options, () => url);
  const faults = new FaultList<FaultOptions>();
  const fail = failing(faults, ({ request }, status) => {
    const record = simulator.requests.find(({ headers }) => headers === request.headers);
    if (record !== undefined) record.status = status;
  });
  const traffic = new Traffic();
  const middleware: Middleware = (exchange, next) => {
    traffic.count(exchange);
    const { request, context } = exchange;
    return fail(exchange, async () => {
      const own = identity.answer(request);
      if (own !== null) return own;
      if (context.interface !== null && !interfaces.includes(context.interface))
        return refuse(context.interface === 'extended-v1' ? 'gone' : 'gateway-not-found', context);
      const key = apiKeyHeader.toLowerCase();
      if (secondaryApiKey !== undefined && request.headers[key] === secondaryApiKey)
        request.headers = { ...request.headers, [key]: apiKey };
      return next();
    });
  };
  const simulator = await start({
    ...options,
    middleware,
    ...(options.open !== true && { scopesOf: (token: string) => identity.scopesOf(token) }),
  });
  url = simulator.url;
  return {
    ...simulator,
    faults,
    demoFaults: simulator.faults,
    car(vin) {
      const car = vin === undefined ? simulator.cars.values().next().value : simulator.cars.get(vin);
      if (car === undefined) throw new RangeError(`There is no car ${vin ?? ''} here.`);
      return car;
    },
    clearRequests() {
      simulator.requests.splice(0);
      traffic.clear();
    },
    connections: traffic.connections,
    inFlight: traffic.inFlight,
    issueToken: ({ scopes, lifeSeconds } = {}) => identity.issue(scopes, lifeSeconds),
    issueRefreshToken: (scopes) => identity.grant(scopes),
    revokeGrants: () => identity.revokeAll(),
  };
}

/** Counts sockets and requests. */
class Traffic {
  readonly connections: Count = { total: 0, current: 0, peak: 0 };
  readonly inFlight: Count = { total: 0, current: 0, peak: 0 };
  readonly #seen = new WeakSet<object>();

  count({ response }: Exchange): void {
    const { socket } = response.req;
    if (!this.#seen.has(socket)) {
      this.#seen.add(socket);
      enter(this.connections);
      socket.once('close', () => leave(this.connections));
    }
    enter(this.inFlight);
    // `close` alone comes after the client has its answer, and may already count what is in flight.
    let left = false;
    for (const event of ['finish', 'close']) response.once(event, () => (left ||= leave(this.inFlight)));
  }

  clear(): void {
    for (const count of [this.connections, this.inFlight])
      Object.assign(count, { total: count.current, peak: count.current });
  }
}

function enter(count: Count): void {
  count.total += 1;
  count.current += 1;
  count.peak = Math.max(count.peak, count.current);
}

function leave(count: Count): true {
  count.current -= 1;
  return true;
}
