import type { AccountOptions } from '../../../src/index';
import type { Simulator } from '../../../src/simulator/index';
import { settingsOf } from './access';
import { runtime } from '../load';
import type { VehicleOptions } from '../input/options';
import { clock } from '../node-red/time';

/** All demo vehicles share one simulated service; it ends with the last of them. */
let users = 0;
let running: Promise<Simulator> | undefined;
let since = 0;

/** A vehicle's part in the simulated service. */
export class Demo {
  #uses = false;

  /** What an account of the demo car is opened with, and the car's VIN. */
  async access(options: VehicleOptions): Promise<AccountOptions & { vin: string }> {
    const { resolveService, pastedToken } = runtime();
    const simulated = await this.#start();
    const service = { ...resolveService('demo', { baseUrl: simulated.url }), since };
    return {
      vin: simulated.car().vin,
      service,
      apiKey: 'demo-key',
      tokens: pastedToken('demo-token'),
      owner: 'demo',
      ...settingsOf(options),
    };
  }

  async end(): Promise<void> {
    if (!this.#uses) return;
    this.#uses = false;
    if (--users > 0) return;
    const service = running;
    running = undefined;
    await (await service)?.close();
  }

  #start(): Promise<Simulator> {
    if (!this.#uses) users += 1;
    this.#uses = true;
    if (running === undefined) {
      since = clock().now();
      running = runtime().simulator().startSimulator({ open: true, clock: clock() });
    }
    return running;
  }
}
