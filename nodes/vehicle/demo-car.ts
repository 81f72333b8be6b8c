import type { NodeAPI } from 'node-red';
import { pastedToken, resolveService, type AccountOptions } from '../../src/index';
import type { Simulator } from '../../src/simulator/index';
import { settingsOf } from './account-options';
import type { VehicleOptions } from './options';
import { clock } from '../node-red/time';

/** The code of the simulated service. The build keeps it in a file of its own, which only demo vehicles load. */
export const simulator = (): typeof import('../../src/simulator/index') =>
  require('../../src/simulator/index') as typeof import('../../src/simulator/index');

/**
 * The simulated service of the demo cars. It starts when the first demo vehicle is opened and runs until Node-RED ends: a
 * deploy changes neither its address nor the state of its cars.
 */
let running: { service: Promise<Simulator>; since: number } | undefined;

/** The two cars of the demo. The VIN decides which of them a request is about, so both are always there. */
function start(): { service: Promise<Simulator>; since: number } {
  const { startSimulator, demoCars } = simulator();
  const service = startSimulator({
    open: true,
    cars: Object.values(demoCars),
    clock: clock(),
    keepsProcessAlive: false,
  });
  // The next vehicle tries again.
  service.catch(() => (running = undefined));
  return { service, since: clock().now() };
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
  const { service, since } = (running ??= start());
  const { url: baseUrl } = await service;
  return {
    vin: simulator().demoCars[options.demoCar].vin,
    service: { ...resolveService('demo', { baseUrl }), since },
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
export const demoService = async (): Promise<Simulator | null> => (await running?.service) ?? null;

/** For tests: the next demo vehicle finds the cars as they are at first. */
export async function endDemoService(): Promise<void> {
  const ending = running;
  running = undefined;
  await (await ending?.service)?.close();
}
