import { routeOf, type ReadName } from '../../src/catalogue/reads';
import { urlOf } from '../../src/http/addresses';
import { resolveService } from '../../src/index';
import { measured, median, startService } from './processes';
import type { Row } from './table';

export interface ThroughputInput {
  url: string;
  /**
   * One for each message in flight, no two the same, because equal reads at the same
   * time are one request.
   */
  asked: readonly Asked[];
  rounds: number;
  msPerRound: number;
}

/** What a message asks for. */
export interface Asked {
  vin: string;
  read: ReadName;
  /** Of the read. */
  url: string;
}

/**
 * A home with many cars: no more of them than the tab "Cars" keeps, and of each what a home polls.
 */
const readsOfCar = ['windows', 'doors', 'engineRunning', 'odometer', 'tyres'] as const satisfies ReadName[];

export const contestants = ['status', 'http request', 'five lines', 'five lines, six connections'] as const;
export type Contestant = (typeof contestants)[number];

export interface Pace {
  perSecond: number;
  /** Milliseconds from a message to its answer. */
  latency: number;
  /** Of this process, in milliseconds. */
  cpuPerRead: number;
}

export type Throughput = Record<Contestant, Pace[]>;

/**
 * Reads through deployed nodes, one after the other in the same runtime: ours, Node-RED's own, and
 * five lines around undici.
 */
export async function throughput({ rounds = 7, msPerRound = 1_500 } = {}): Promise<Row[]> {
  return [...(await atOnce(50, rounds, msPerRound)), ...(await atOnce(1, rounds, msPerRound))];
}

function askedOf(baseUrl: string, vin: string, read: ReadName): Asked {
  const service = resolveService('custom', { baseUrl });
  const route = routeOf(read, service.availableInterfaces, 'v2');
  if (route === undefined) throw new Error(`Version 2 has no ${read}`);
  return { vin, read, url: urlOf(service, route.interface, route.path, { vin, wallbox: '' }).href };
}

async function atOnce(inFlight: number, rounds: number, msPerRound: number): Promise<Row[]> {
  const service = await startService(Math.ceil(inFlight / readsOfCar.length));
  try {
    const { url, vins } = service;
    const asked = vins.flatMap((vin) => readsOfCar.map((read) => askedOf(url, vin, read))).slice(0, inFlight);
    const input: ThroughputInput = { url, asked, rounds, msPerRound };
    const paces = await measured<Throughput>('throughput-process', input);
    const typical = (name: Contestant, pick: (pace: Pace) => number): number => median(paces[name].map(pick));
    // A ratio is taken within a round, because both ran under the same load of the machine there.
    const ratioOf = (one: Contestant, other: Contestant, pick: (pace: Pace) => number): number =>
      median(paces[one].map((pace, round) => pick(pace) / pick(paces[other][round] ?? pace)));
    const ratio = (other: Contestant, pick: (pace: Pace) => number): number => ratioOf('status', other, pick);
    const speed = ({ perSecond }: Pace): number => perSecond;
    const title = `${inFlight} in flight`;
    return [
      ...contestants.map((name): Row => ({
        what: `${title}: ${name}`,
        value: `${typical(name, speed).toFixed(0)}/s, ${typical(name, ({ latency }) => latency).toFixed(2)} ms, CPU ${typical(name, ({ cpuPerRead }) => cpuPerRead).toFixed(3)} ms a read`,
      })),
      {
        what: `${title}: times the http request node`,
        value: ratio('http request', speed),
        // Six connections to the service; the other two open fifty. With one read in flight, the
        // latency below has the limit.
        ...(inFlight > 1 && { atLeast: 3.5, aim: 4.8 }),
      },
      // The pace that is possible without anything that a reading needs.
      ...(['five lines', 'five lines, six connections'] as const).map((name): Row => ({
        what: `${title}: the ${name}, times the http request node`,
        value: ratioOf(name, 'http request', speed),
      })),
      ...(inFlight === 1
        ? [
            {
              what: `${title}: latency, times the five lines`,
              value: ratio('five lines', ({ latency }) => latency),
              atMost: 1.5,
              aim: 1.15,
            },
          ]
        : [
            { what: `${title}: share of the five lines`, value: ratio('five lines', speed) },
            {
              what: `${title}: share of the five lines, six connections`,
              value: ratio('five lines, six connections', speed),
              atLeast: 0.72,
              aim: 0.85,
            },
            {
              what: `${title}: CPU of a read, times the five lines`,
              value: ratio('five lines', ({ cpuPerRead }) => cpuPerRead),
              atMost: 1.5,
              aim: 1.2,
            },
          ]),
    ];
  } finally {
    await service.stop();
  }
}
