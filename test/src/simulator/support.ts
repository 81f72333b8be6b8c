import { startSimulator, type Simulator, type SimulatorOptions } from '../../support/simulator';
import { ManualClock } from '../../support/manual-clock';

/** JSON as it came, to look into without ceremony. */
export type Json = { readonly [key: string]: Json } & readonly Json[] & (string | number | boolean | null);

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  body: Json;
}

/** A simulator on a clock of the test's own, and raw requests to it: no client in between. */
export class Bench {
  clock!: ManualClock;
  simulator!: Simulator;

  async start(options: SimulatorOptions = {}): Promise<this> {
    this.clock = new ManualClock();
    this.simulator = await startSimulator({ clock: this.clock, ...options });
    this.simulator.car().set({ commandPlan: { answerAfterMs: 0 } });
    return this;
  }

  get vin(): string {
    return this.simulator.car().vin;
  }

  /** Any request, with nothing added to it. */
  async raw(path: string, init: RequestInit = {}): Promise<Reply> {
    const response = await fetch(path.startsWith('http') ? path : this.simulator.url + path, {
      redirect: 'manual',
      ...init,
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  }

  /** A GET with the three mandatory headers; `{vin}` is filled in. */
  get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.raw(this.#fill(path), { headers: { ...credentials, accept: 'application/json', ...headers } });
  }

  post(path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Reply> {
    const payload = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    return this.raw(this.#fill(path), {
      method: 'POST',
      headers: { ...credentials, 'content-type': 'application/json', ...headers },
      ...payload,
    });
  }

  getV1 = (path: string): Promise<Reply> =>
    this.get(path, { accept: 'application/vnd.vendor.api.connected-vehicle.vehicledata.v1+json' });

  postV1 = (name: string, body?: unknown): Promise<Reply> =>
    this.post(
      `/connected-vehicle/v1/vehicles/{vin}/commands/${name}`,
      {
        'content-type': `application/vnd.vendor.api.connected-vehicle.${name.replace('honk-flash', 'honkandflash')}.v1+json`,
      },
      body,
    );

  postV2 = (name: string): Promise<Reply> => this.post(`/connected-vehicle/v2/vehicles/{vin}/commands/${name}`);

  #fill(path: string): string {
    return path.replace('{vin}', this.vin);
  }
}

export const credentials = { authorization: 'Bearer demo-token', 'vendor-api-key': 'demo-key' };

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null as unknown as Json;
  }
}
