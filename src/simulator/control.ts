import { VehicleError } from '../errors';
import type { Answer } from './answer';
import type { Car } from './car';
import { parseChanges } from './car-state';
import { parseFault, type Faults } from './faults';
import { Router } from './router';
import type { RecordedRequest, SimulatorServer } from './server';
import type { ServiceRequest } from './request';

/**
 * The control interface: the car's state, the faults and the record of requests as JSON below `/control`. It is for
 * programs on this machine. A web page that a browser on this machine shows is none of them, however it found the
 * address: what carries an `Origin`, or a `Host` that is not the loopback address, is refused.
 */
export interface ControlParts {
  url: () => string;
  dialect: string;
  cars: ReadonlyMap<string, Car>;
  faults: Faults;
  server: Pick<SimulatorServer, 'requests' | 'connections' | 'inFlight' | 'clear'>;
  /** Names of headers that hold secrets. */
  secretHeaders: readonly string[];
}

type Handler = (request: { parameters: Record<string, string>; body: string }) => Answer;

const controlPath = '/control';

export const isControl = (path: string): boolean => path === controlPath || path.startsWith(`${controlPath}/`);

export class Control {
  readonly #parts: ControlParts;
  readonly #router = new Router<Handler>();

  constructor(parts: ControlParts) {
    this.#parts = parts;
    for (const [method, path, handler] of this.#handlers()) this.#router.add(method, controlPath + path, handler);
  }

  answer({ method, path, headers, body }: ServiceRequest): Answer {
    if (headers.origin !== undefined || !this.#isOwnHost(headers.host))
      return problem(403, 'The control interface is for programs on this machine, not for web pages.');
    const found = this.#router.find(method, path);
    if (found === null) return problem(404, `There is nothing here. Look at ${controlPath}.`);
    if (found.endpoint === null)
      return {
        ...problem(405, 'This address does not take this method.'),
        headers: { allow: found.methods.join(', ') },
      };
    try {
      return found.endpoint({ parameters: found.parameters, body });
    } catch (error) {
      if (error instanceof VehicleError) return problem(422, error.message);
      if (error instanceof SyntaxError) return problem(400, 'The body is not JSON.');
      throw error;
    }
  }

  #isOwnHost(host: string | undefined): boolean {
    const { port } = new URL(this.#parts.url());
    return host === `127.0.0.1:${port}` || host === `localhost:${port}`;
  }

  #handlers(): [method: string, path: string, handler: Handler][] {
    const { url, dialect, cars, faults, server } = this.#parts;
    const list = (): Answer => ({ status: 200, body: faults.list });
    return [
      [
        'GET',
        '',
        () => ({
          status: 200,
          body: {
            url: url(),
            dialect,
            cars: [...cars.keys()],
            faults: faults.list,
            connections: server.connections,
            inFlight: server.inFlight,
          },
        }),
      ],
      ['GET', '/cars', () => ({ status: 200, body: [...cars.values()].map(describe) })],
      ['GET', '/cars/{vin}', (request) => this.#withCar(request, describe)],
      [
        'PATCH',
        '/cars/{vin}',
        (request) => this.#withCar(request, (car) => describe(car.set(parseChanges(JSON.parse(request.body))))),
      ],
      [
        'PUT',
        '/cars/{vin}',
        (request) => this.#withCar(request, (car) => describe(car.replace(parseChanges(JSON.parse(request.body))))),
      ],
      ['POST', '/cars/{vin}/report', (request) => this.#withCar(request, (car) => describe(car.report()))],
      [
        'POST',
        '/cars/{vin}/open-tailgate',
        (request) => this.#withCar(request, (car) => ({ opened: car.openTailgate() })),
      ],
      ['GET', '/faults', list],
      ['POST', '/faults', ({ body }) => ({ status: 201, body: faults.add(parseFault(JSON.parse(body))) })],
      ['DELETE', '/faults', () => (faults.clear(), list())],
      [
        'DELETE',
        '/faults/{id}',
        ({ parameters }) =>
          faults.remove(Number(parameters['id'])) ? list() : problem(404, 'There is no such fault.'),
      ],
      [
        'GET',
        '/requests',
        () => ({ status: 200, body: server.requests.map((record) => this.#withoutSecrets(record)) }),
      ],
      ['DELETE', '/requests', () => (server.clear(), { status: 204 })],
    ];
  }

  #withCar({ parameters }: { parameters: Record<string, string> }, act: (car: Car) => unknown): Answer {
    const car = this.#parts.cars.get(parameters['vin'] ?? '');
    return car === undefined ? problem(404, 'There is no such car.') : { status: 200, body: act(car) };
  }

  /** Tokens, keys and what is sent to the identity service stay out. */
  #withoutSecrets({ headers, body, path, ...record }: RecordedRequest): object {
    const shown = Object.entries(headers).map(([name, value]) => [
      name,
      this.#parts.secretHeaders.includes(name) ? '…' : value,
    ]);
    const isIdentity = path.startsWith('/as/');
    return {
      ...record,
      path: isIdentity ? path.replace(/\?.*/, '') : path,
      headers: Object.fromEntries(shown),
      body: isIdentity ? '…' : body,
    };
  }
}

const describe = (car: Car): object => ({
  vin: car.vin,
  ...car.state,
  invocations: car.invocations.map((invocation) => ({
    id: invocation.id,
    command: invocation.command,
    interface: invocation.interface,
    receivedAt: new Date(invocation.receivedAt).toISOString(),
    status: car.statusOf(invocation),
    acted: invocation.actedAt !== null,
  })),
});

const problem = (status: number, description: string): Answer => ({ status, body: { error: { description } } });
