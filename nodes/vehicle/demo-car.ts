import type { NodeAPI } from 'node-red';
import { pastedToken, resolveService, type AccountOptions } from '../../src/index';
import type { Simulator } from '../../src/simulator/index';
import { settingsOf } from './account-options';
import type { VehicleOptions } from './options';
import { clock } from '../node-red/time';
import { partOf } from '../pack';

/** The code of the simulated service. The build keeps it in a file of its own, which only demo vehicles load. */
export const simulator = (): typeof import('../../src/simulator/index') =>
  require('../../src/simulator/index') as typeof import('../../src/simulator/index');

/**
 * The simulated service of the demo cars. It starts when the first demo vehicle is opened and runs until Node-RED ends: a
 * deploy changes neither its address nor the state of its cars.
 */
class DemoService {
  /** Null before the first demo vehicle was opened. */
  running: Promise<Simulator> | null = null;
  /** When it was started, in milliseconds since 1970. */
  since = 0;

  /** Both cars of the demo are always there, because the VIN decides which of them a request is about. */
  start(): Promise<Simulator> {
    if (this.running !== null) return this.running;
    const { startSimulator, demoCars } = simulator();
    const cars = Object.values(demoCars);
    this.running = startSimulator({ open: true, cars, clock: clock(), keepsProcessAlive: false });
    this.since = clock().now();
    // The next vehicle tries again.
    this.running.catch(() => (this.running = null));
    return this.running;
  }

  async end(): Promise<void> {
    const ending = this.running;
    this.running = null;
    await (await ending)?.close();
  }
}

/** Nobody pays for requests to the simulated service. */
const noQuota = {
  requestsPerDay: Number.MAX_SAFE_INTEGER,
  requestsPerMinute: Number.MAX_SAFE_INTEGER,
  commandsPerMinute: Number.MAX_SAFE_INTEGER,
};

/** The options of an account of a demo car, and the VIN of the car that the configuration chooses. */
export async function demoAccountOptions(
  RED: NodeAPI,
  options: VehicleOptions,
): Promise<AccountOptions & { vin: string }> {
  const demo = partOf(RED, DemoService);
  const { url: baseUrl } = await demo.start();
  return {
    vin: simulator().demoCars[options.demoCar].vin,
    service: { ...resolveService('demo', { baseUrl }), since: demo.since },
    apiKey: 'demo-key',
    tokens: pastedToken('demo-token'),
    owner: 'demo',
    ...settingsOf(RED, options),
    limits: noQuota,
    // A click on the demo car shows with the next read.
    shareForMs: 0,
  };
}

/** The simulated service, to show and to change its cars. Null where no demo vehicle was opened yet. */
export const demoService = (RED: NodeAPI): Promise<Simulator | null> =>
  partOf(RED, DemoService).running ?? Promise.resolve(null);
