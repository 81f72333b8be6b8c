import { VehicleError } from '../../../src/errors';
import type { OAuthClient, Send } from '../../../src/session/oauth';
import {
  startSimulator,
  type FaultOptions,
  type RecordedRequest,
  type Simulator,
  type SimulatorOptions,
} from '../../support/simulator';
import { createTransport, type Transport } from '../../../src/http/transport';

const tokenPath = '/as/token.oauth2';

/** The simulated identity service, with what these specs ask of it. */
export class Identity {
  readonly simulator: Simulator;
  readonly transport: Transport;
  /** Every token that it issued. */
  readonly issued: string[] = [];
  /** Runs when the service has answered, before the answer arrives. */
  beforeAnswer: () => void | Promise<void> = () => undefined;

  private constructor(simulator: Simulator) {
    this.simulator = simulator;
    this.transport = createTransport();
  }

  static async start(options: SimulatorOptions): Promise<Identity> {
    return new Identity(await startSimulator({ clientSecret: 'secret:with/odd chars', ...options }));
  }

  get client(): OAuthClient {
    return {
      audience: this.simulator.url,
      tokenUrl: this.simulator.url + tokenPath,
      clientId: 'demo-client',
      clientSecret: 'secret:with/odd chars',
    };
  }

  readonly send: Send = async (request) => {
    const response = await this.transport.send(request);
    this.issued.push(
      ...[...response.body.matchAll(/"(?:access|refresh)_token":"([^"]+)"/g)].map((match) => match[1] ?? ''),
    );
    await this.beforeAnswer();
    return response;
  };

  newRefreshToken(scopes?: readonly string[]): string {
    return this.simulator.issueRefreshToken(scopes);
  }

  /** So many of the next requests for a token go wrong. */
  fault(fault: FaultOptions, times = 1): void {
    this.simulator.faults.add({ match: { path: tokenPath }, times, ...fault });
  }

  get requests(): RecordedRequest[] {
    return this.simulator.requests.filter((request) => request.path === tokenPath);
  }

  get sent(): string[] {
    return this.requests.map((request) => new URLSearchParams(request.body).get('refresh_token') ?? '');
  }

  get refusals(): number {
    return this.requests.filter((request) => [400, 401].includes(request.status)).length;
  }

  /** Whether the vehicle interface takes the token. */
  async accepts(token: string): Promise<boolean> {
    const response = await this.transport.send({
      method: 'GET',
      url: new URL('/connected-vehicle/v2/vehicles', this.simulator.url),
      headers: { accept: 'application/json', authorization: `Bearer ${token}`, 'vendor-api-key': 'demo-key' },
      timeoutMs: 10_000,
    });
    return response.status === 200;
  }

  async close(): Promise<void> {
    await this.transport.close();
    await this.simulator.close();
  }
}

/** A service that takes a request and never answers. */
export const silent =
  (clock: { after(ms: number, callback: () => void): unknown }): Send =>
  (request) => {
    request.mayLeave?.();
    return new Promise((_, reject) =>
      clock.after(request.timeoutMs, () => reject(new VehicleError('TIMEOUT', 'No answer.'))),
    );
  };
