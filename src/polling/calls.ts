import { isLocalReadName } from '../catalogue/reads';

/** A node that polls, as the editor knows it. */
export interface PolledNode<Read extends string = string> {
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
 * How many requests a day nodes cost that poll at their own intervals, request by request. Nodes of one vehicle share a request
 * (polling/poller); where intervals do not divide each other, the sum is a little high. Free of tables, so that a form can bundle it.
 * @param requestOf reads that one request answers have the same name here (catalogue/groups); default: each its own
 */
export function callsOfRequests<Read extends string>(
  nodes: readonly PolledNode<Read>[],
  requestOf: (read: Read, iface?: string) => string = (read) => read,
): { read: Read; calls: number }[] {
  const requests = new Map<string, { read: Read; intervals: Set<number> }>();
  for (const { vehicle, reads, poll, interface: iface } of nodes) {
    if (!(poll > 0)) continue;
    for (const read of reads) {
      if (isLocalReadName(read)) continue;
      const key = `${vehicle} ${requestOf(read, iface)}`;
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
