import {
  apiNames,
  apiOfRead,
  isKeptName,
  isReadName,
  requestNameOf,
  routeOf,
  type ApiName,
  type InterfaceName,
} from '../catalogue/reads';
import { byName } from '../util/json';

/** A node that polls, as the editor knows it. */
interface PolledNode<Read extends string = string> {
  /** Identifies the vehicle and its account. */
  vehicle: string;
  reads: readonly Read[];
  /** Absent: `auto`. */
  interface?: string | undefined;
  /** Seconds; 0: never. */
  poll: number;
}

const daySeconds = 24 * 60 * 60;

/**
 * The share of its fixed schedule that a read costs in the adaptive profile on an ordinary day:
 * between a fifth and a third.
 */
const adaptiveShare = 1 / 4;

/**
 * How many requests a day the nodes of a vehicle send to each API; with adaptive polling an
 * estimate.
 * @param isShared false if each read of each node is a request
 */
export function callsPerDay(
  nodes: readonly PolledNode[],
  {
    interfaces,
    isShared,
    isAdaptive,
  }: { interfaces: readonly InterfaceName[]; isShared: boolean; isAdaptive: boolean },
): Record<ApiName, number> {
  const choiceOf = (iface?: string): 'v1' | 'auto' => (iface === 'v1' ? 'v1' : 'auto');
  // One request answers all resources of a group, unless version 1 asks the
  // extended interface for each.
  const request = (read: string, iface?: string): string =>
    isReadName(read) && isShared ? requestNameOf(read, interfaces, choiceOf(iface)) : read;
  // What the service does not have is refused without a request.
  const served = nodes.map((node) => ({
    ...node,
    reads: node.reads.filter((read) => !isReadName(read) || routeOf(read, interfaces, choiceOf(node.interface))),
  }));
  // The adaptive profile reads the others less often while somebody polls the doors.
  const saves = isAdaptive && nodes.some(({ reads, poll }) => poll > 0 && reads.includes('doors'));
  const shareOf = (read: string): number =>
    saves && !(isReadName(read) && requestNameOf(read, ['connected-v2']) === 'doors') ? adaptiveShare : 1;
  const requests = callsOfRequests(served, request);
  const calls = byName(apiNames, () => 0);
  // A name that no read has comes from a form that is being filled in.
  for (const { read, calls: of } of requests)
    calls[isReadName(read) ? apiOfRead(read) : 'connected'] += of * shareOf(read);
  return byName(apiNames, (api) => Math.round(calls[api]));
}

/**
 * How many requests a day nodes cost that poll at their own intervals, request by request. Nodes of
 * one vehicle share a request (polling/poller); if intervals do not divide each other, the sum is a
 * little high.
 * @param nameOf the name of the request that answers a read (catalogue/groups); default: each read
 * has its own
 */
export function callsOfRequests<Read extends string>(
  nodes: readonly PolledNode<Read>[],
  nameOf: (read: Read, iface?: string) => string = (read) => read,
): { read: Read; calls: number }[] {
  const requests = new Map<string, { read: Read; intervals: Set<number> }>();
  for (const { vehicle, reads, poll, interface: iface } of nodes) {
    if (!(poll > 0)) continue;
    for (const read of reads) {
      if (isKeptName(read)) continue;
      const key = `${vehicle} ${nameOf(read, iface)}`;
      const request = requests.get(key) ?? { read, intervals: new Set<number>() };
      requests.set(key, request);
      request.intervals.add(poll);
    }
  }
  return [...requests.values()].map(({ read, intervals }) => {
    const lasting = [...intervals].filter((interval) => !isMultiple(interval, intervals));
    return { read, calls: lasting.reduce((sum, interval) => sum + daySeconds / interval, 0) };
  });
}

/** It polls at moments of a shorter interval, so its requests are shared. */
const isMultiple = (interval: number, intervals: ReadonlySet<number>): boolean =>
  [...intervals].some((other) => other < interval && interval % other === 0);
