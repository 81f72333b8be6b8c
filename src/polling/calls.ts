import { isLocalReadName } from '../catalogue/reads';

/** A node that polls, as the editor knows it. */
export interface PolledNode<Read extends string = string> {
  /** Whatever tells one vehicle of one account from another. */
  vehicle: string;
  reads: readonly Read[];
  /** As the node has it; absent: `auto`. */
  interface?: string | undefined;
  /** Seconds; 0: never. */
  poll: number;
}

const daySeconds = 24 * 60 * 60;

/**
 * What nodes that poll at their own seconds cost a day, request by request: whoever asks for the same meets (polling/meetings), and
 * where intervals do not divide each other, it is a little less. What the pack keeps itself costs none. No table stands behind it, so
 * that a form can use it.
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

/** Its moments are among those of a shorter interval, so its reads are shared. */
const isMultiple = (interval: number, intervals: ReadonlySet<number>): boolean =>
  [...intervals].some((other) => other < interval && interval % other === 0);
