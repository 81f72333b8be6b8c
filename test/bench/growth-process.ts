import type { Node } from 'node-red';
import { setTimeout as sleep } from 'node:timers/promises';
import { useClock } from '../../nodes/runtime';
import { sleepOn, systemClock, type Clock } from '../../src/util/clock';
import { benchVehicle, embed } from './embedded';
import { inputOf } from './processes';

/** The child of `growth`: so many things that wait, and what they cost while nothing happens. */
export interface GrowthInput {
  what: 'nodes' | 'watches' | 'reads';
  /** Of the nodes or watches; for `reads`, of the reads in a second. */
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
/** Milliseconds of CPU in a second: less shows that nothing happens. */
const atRest = 50;
const nodesPerVehicle = 10;
/** Long, so that nothing is due while it is measured. */
const hours = 24;

const vinOf = (index: number): string => `YV1CT9551B15${10_000 + index}`;

function flowsOf({ what, count, url }: GrowthInput): object[] {
  const vehicle = benchVehicle(url, { vin: vinOf(0) });
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
  const nodes = Array.from({ length: what === 'reads' ? 1 : count }, (_, index) => ({
    id: `node ${index}`,
    z: 'tab',
    type: 'connected-vehicle-status',
    vehicle: 'car',
    vin: vinOf(Math.floor(index / nodesPerVehicle)),
    read: ['doors', 'windows', 'engineRunning', 'odometer', 'fuelAmount'][index % 5],
    poll: what === 'reads' ? 0 : hours * 3600,
    wires: [[]],
  }));
  return [tab, vehicle, ...nodes];
}

/** Reads one car again and again, as a poll would. */
function repeatReads(node: Node, perSecond: number): void {
  setInterval(() => node.receive({ payload: '' } as never), 1_000 / perSecond).unref();
}

/**
 * Until the first polls and everything that is written once are over: two rests in a row that cost
 * little, which takes a minute on a busy machine.
 */
async function whenAtRest(): Promise<number> {
  let before = Number.POSITIVE_INFINITY;
  let cpuPerSecond = await rest();
  for (let rests = 0; rests < 60 && (cpuPerSecond > atRest || before > atRest); rests += 1) {
    before = cpuPerSecond;
    cpuPerSecond = await rest();
  }
  return cpuPerSecond;
}

/** Repeated reads never cost little, and what a start leaves behind costs as much as they do. */
async function lowest(): Promise<number> {
  const each: number[] = [];
  for (let rests = 0; rests < 6; rests += 1) each.push(await rest());
  return Math.min(...each);
}

async function main(input: GrowthInput): Promise<void> {
  const { node } = await embed(flowsOf(input));
  if (input.what === 'reads' && input.count > 0) repeatReads(node('node 0'), input.count);
  if (input.what === 'watches') {
    useClock(slow);
    for (let index = 0; index < input.count; index += 1)
      node('watch').receive({ payload: recordOf(index, input.url) } as never);
  }
  const cpuPerSecond = input.what === 'reads' ? await lowest() : await whenAtRest();
  globalThis.gc?.();
  process.send?.({ megabytes: process.memoryUsage().heapUsed / 2 ** 20, cpuPerSecond } satisfies Idle);
}

/**
 * Milliseconds of CPU in a second of it. A collection before it would continue in the background.
 */
async function rest(): Promise<number> {
  const before = process.cpuUsage();
  await sleep(restMs);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / restMs;
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
