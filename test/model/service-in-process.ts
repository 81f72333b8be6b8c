import { VehicleError } from '../../src/index';
import type { Car } from '../../src/simulator/index';
import { withDefaults, type SimulatorOptions } from '../../src/simulator/service/options';
import { Service } from '../../src/simulator/service/service';
import type { Transport, TransportRequest, TransportResponse } from '../../src/http/transport';
import type { ManualClock } from '../support/manual-clock';

/**
 * The fate of a request on its way. `unheard`: everything is done, nothing is answered.
 * `connecting`: the first byte leaves late.
 */
export type Mishap = 'lost' | 'unheard' | 'error' | 'html' | 'slow' | 'connecting' | null;

/** What the service really answered, and the real state of the car at that time. */
export interface Said {
  request: TransportRequest;
  response: TransportResponse;
  lock: string | null;
  lockMeasuredAt: number;
  engine: 'RUNNING' | 'STOPPED' | null;
  engineMeasuredAt: number;
}

const url = 'http://127.0.0.1:1';

/**
 * The simulated service itself, without sockets between it and the client: what ten thousand
 * histories have time for.
 */
export class ServiceInProcess implements Transport {
  readonly car: Car;
  readonly requests: TransportRequest[] = [];
  /** What arrived, oldest first. */
  readonly said: Said[] = [];
  readonly url = url;
  readonly #service: Service;
  readonly #clock: ManualClock;
  readonly #mishap: (request: TransportRequest) => Mishap;

  constructor(options: SimulatorOptions & { clock: ManualClock }, mishap: (request: TransportRequest) => Mishap) {
    this.#clock = options.clock;
    this.#mishap = mishap;
    this.#service = new Service(withDefaults(options), () => url, new AbortController().signal);
    const [car] = this.#service.cars.values();
    if (car === undefined) throw new Error('There is no car.');
    this.car = car;
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    if (request.signal?.aborted === true) throw cancelled();
    const mishap = this.#mishap(request);
    if (mishap === 'connecting') await this.#clock.sleep(connectingMs, request.signal);
    request.mayLeave?.();
    this.requests.push(request);
    if (mishap === 'lost') throw new VehicleError('NETWORK', 'The connection ended.');
    const response = await this.#unlessEnded(request, this.#answer(request, mishap));
    if (mishap === 'unheard') throw new VehicleError('NETWORK', 'The connection ended.');
    if (mishap === 'error') return { status: 500, headers: {}, body: '{"error":{"message":"INTERNAL_SERVER_ERROR"}}' };
    if (mishap === 'html')
      return { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Maintenance</html>' };
    const { lock, engineRunning } = this.car.state;
    this.said.push({
      request,
      response,
      lock,
      lockMeasuredAt: this.car.measuredAt('lock'),
      engine: engineRunning === null ? null : engineRunning ? 'RUNNING' : 'STOPPED',
      engineMeasuredAt: this.car.measuredAt('engineRunning'),
    });
    return response;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #answer(
    { method, url: asked, headers, body = '' }: TransportRequest,
    mishap: Mishap,
  ): Promise<TransportResponse> {
    if (mishap === 'slow') await this.#clock.sleep(25_000);
    const answer = await this.#service.answer({
      method,
      path: asked.pathname,
      query: new URLSearchParams(asked.search),
      headers,
      body,
    });
    const text =
      answer.body === undefined ? '' : typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return { status: answer.status, headers: answer.headers ?? {}, body: text };
  }

  /** As a socket would: the caller may give up, and the time may be up. */
  #unlessEnded(
    { signal, timeoutMs }: TransportRequest,
    answer: Promise<TransportResponse>,
  ): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      const stop = (): void => end(() => reject(cancelled()));
      const cancelTimer = this.#clock.after(timeoutMs, () =>
        end(() => reject(new VehicleError('TIMEOUT', 'No answer in time.'))),
      );
      const end = (how: () => void): void => {
        cancelTimer();
        signal?.removeEventListener('abort', stop);
        how();
      };
      signal?.addEventListener('abort', stop, { once: true });
      answer.then(
        (value) => end(() => resolve(value)),
        (error: unknown) => end(() => reject(error as Error)),
      );
    });
  }
}

const connectingMs = 8_000;

const cancelled = (): VehicleError => new VehicleError('CANCELLED', 'The request was cancelled.');
