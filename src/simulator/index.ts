import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Car } from './car/car';
import { demoCars } from './car/profiles';
import { Control, isControl } from './control/control';
import { failing, FaultList, type Faults } from './service/faults';
import { withDefaults, type SimulatorOptions } from './service/options';
import { SimulatorServer, type RecordedRequest } from './service/server';
import { Service } from './service/service';

/**
 * The simulated service: an HTTP server on a loopback address with cars that have a state. It is
 * written from docs/internals/service.md, and shares with the client only the tables of the
 * catalogue.
 */

export interface Simulator {
  /** `{base_url}`: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** By VIN. */
  readonly cars: ReadonlyMap<string, Car>;
  readonly faults: Faults;
  /** The last 1000, oldest first; the control interface's own are not among them. */
  readonly requests: RecordedRequest[];
  /** Ends all sockets and pending delays. */
  close(): Promise<void>;
}

/** @throws VehicleError CONFIG if the port is in use */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const settings = withDefaults(options);
  const closing = new AbortController();
  // Every delayed request waits for it, and there may be many.
  setMaxListeners(0, closing.signal);
  let url = '';
  const service = new Service(settings, () => url, closing.signal);
  const faults: Faults = new FaultList();
  const fail = failing(faults);
  const server = new SimulatorServer({
    clock: settings.clock,
    signal: closing.signal,
    async answer(request, response) {
      if (isControl(request.path)) return control.answer(request);
      const wait = (ms: number): Promise<void> => settings.clock.sleep(ms, closing.signal);
      const exchange = { request, response, context: service.contextOf(request), wait };
      return settings.middleware(exchange, () => fail(exchange, () => service.answer(request)));
    },
    isPrivate: isControl,
  });
  const control = new Control({
    clock: settings.clock,
    pageToken: randomUUID(),
    cars: service.cars,
    faults,
    requests: server.requests,
    secretHeaders: ['authorization', 'cookie', settings.apiKeyHeader.toLowerCase()],
  });
  url = `http://127.0.0.1:${await server.listen(settings.port, settings.keepsProcessAlive)}`;
  return {
    url,
    cars: service.cars,
    faults,
    requests: server.requests,
    async close() {
      closing.abort();
      await server.close();
    },
  };
}

/** The service of the demo, which answers as the real one does without a key or a sign-in. */
export const startDemo = (options: Pick<SimulatorOptions, 'clock' | 'keepsProcessAlive'> = {}): Promise<Simulator> =>
  startSimulator({ ...options, open: true, dialect: 'real', cars: Object.values(demoCars) });

export * from './car/profiles';
export { clickCar, parseClick, viewOf, type CarClick, type SimulatedCarView } from './control/click';
export { demoFaultOf, type DemoFault } from './control/demo-faults';
export type { CarPart, CarViewState, OpeningName, OpeningState } from '../drawing/car-view-state';
export type { CarChanges, CarOptions } from './car/changes';
export { byRule, type CarState } from './car/state';
export type { Car } from './car/car';
export type { Invocation } from './car/invocation';
export type { FaultOptions, Faults } from './service/faults';
export { realLimits } from './service/limits';
export type { RecordedRequest } from './service/server';
export type { SimulatorOptions } from './service/options';
