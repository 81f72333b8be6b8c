import { setTimeout as sleep } from 'node:timers/promises';
import { useClock } from '../../nodes/runtime';
import { sleepOn, systemClock, type Clock } from '../../src/util/clock';
import { embed } from './embedded';
import { inputOf } from './processes';

/** The child of `growth`: so many things that wait, and what they cost while nothing happens. */
export interface GrowthInput {
  what: 'nodes' | 'watches';
  count: number;
  url: string;
}

export interface Idle {
  /** Of the heap, after a collection. */
  megabytes: number;
  /** Milliseconds of CPU in a second of rest. */
  cpuPerSecond: number;
}

const restMs = 5_000;
const nodesPerVehicle = 10;
/** Long, so that nothing is due while it is measured. */
const hours = 24;

const vinOf = (index: number): string => `YV1CT9551B15${10_000 + index}`;

function flowsOf({ what, count, url }: GrowthInput): object[] {
  const unlimited = { requestsPerDay: 1e9, requestsPerMinute: 1e9, commandsPerMinute: 1e9 };
  const vehicle = {
    id: 'car',
    type: 'connected-vehicle',
    service: 'custom',
    baseUrl: url,
    vin: vinOf(0),
    ...unlimited,
    credentials: { apiKey: 'demo-key', accessToken: 'demo-token' },
  };
  const tab = { id: 'tab', type: 'tab', label: 'growth' };
  if (what === 'watches')
    return [
      tab,
      vehicle,
      {
        id: 'watch',
        z: 'tab',
        type: 'connected-vehicle-command-status',
        vehicle: 'car',
        timeout: hours * 3600,
        interval: hours * 3600,
        verify: false,
        wires: [[], []],
      },
    ];
  const nodes = Array.from({ length: count }, (_, index) => ({
    id: `node ${index}`,
    z: 'tab',
    type: 'connected-vehicle-status',
    vehicle: 'car',
    vin: vinOf(Math.floor(index / nodesPerVehicle)),
    read: ['doors', 'windows', 'engineRunning', 'odometer', 'fuelAmount'][index % 5],
    poll: hours * 3600,
    wires: [[]],
  }));
  return [tab, vehicle, ...nodes];
}

async function main(input: GrowthInput): Promise<void> {
  const { node } = await embed(flowsOf(input));
  if (input.what === 'watches') {
    useClock(slow);
    for (let index = 0; index < input.count; index += 1)
      node('watch').receive({ payload: recordOf(index, input.url) } as never);
  }
  // The first polls, and everything that is written once.
  await sleep(15_000);
  globalThis.gc?.();
  const before = process.cpuUsage();
  await sleep(restMs);
  const { user, system } = process.cpuUsage(before);
  globalThis.gc?.();
  process.send?.({
    megabytes: process.memoryUsage().heapUsed / 2 ** 20,
    cpuPerSecond: (user + system) / restMs,
  } satisfies Idle);
}

/** Real timers, but so long that all watches are between two looks. */
const slow: Clock = {
  now: systemClock.now,
  monotonic: systemClock.monotonic,
  uptime: systemClock.uptime,
  after: (ms, callback) => systemClock.after(ms * 1_000, callback),
  sleep: (ms, signal) => sleepOn(slow, ms, signal),
};

/** A command that never comes to its end. */
const recordOf = (index: number, url: string): object => ({
  id: `watch ${index}`,
  command: 'flash',
  vin: vinOf(index % 1_000),
  interface: 'connected-v1',
  sentAt: new Date().toISOString(),
  requestStatus: 'RUNNING',
  outcome: 'pending',
  async: {
    status: 'RUNNING',
    id: `${index}`,
    href: `${url}/connected-vehicle/v1/vehicles/${vinOf(index % 1_000)}/requests/${index}`,
    expires: null,
  },
});

void main(inputOf<GrowthInput>());
