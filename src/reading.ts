import type { InterfaceName, ReadName } from './catalogue/reads';
import type { ErrorReport } from './errors';
import type { Answer } from './request/core';
import { oldest, type Openness, type Parsed } from './wire/readings';

/** `msg.vehicle` of one read (contract 3). */
export interface ReadingInfo extends Partial<Openness> {
  /** Null for the list of vehicles. */
  vin: string | null;
  read: ReadName;
  interface: InterfaceName;
  /** ISO-8601. */
  receivedAt: string;
  measuredAt: string | null;
  source: 'live' | 'shared' | 'kept';
  /** Only where `source` is `kept`. */
  ageSeconds?: number;
}

export interface Reading<Payload = unknown> {
  payload: Payload;
  vehicle: ReadingInfo;
}

export interface ReadFailure {
  read: ReadName;
  code: ErrorReport['code'];
  message: string;
}

/** `msg.vehicle` of several reads at once (contract 3). */
export interface SeveralInfo {
  vin: string | null;
  read: ReadName[];
  /** The one that answered, or null where several did. */
  interface: InterfaceName | null;
  /** The latest, ISO-8601. */
  receivedAt: string;
  /** The oldest, ISO-8601 or null. */
  measuredAt: string | null;
  source: ReadingInfo['source'];
  /** Only where `source` is `kept`. */
  ageSeconds?: number;
  reads: Partial<Record<ReadName, ReadingInfo>>;
  errors: ReadFailure[];
}

/** Several reads at once: what worked by its name, and what did not in `vehicle.errors`. */
export interface SeveralReading {
  payload: Partial<Record<ReadName, unknown>>;
  vehicle: SeveralInfo;
}

/** A parsed answer with where it came from. */
export function readingOf<Payload>(
  parsed: Parsed<Payload>,
  answer: Answer & { source: 'live' | 'shared' },
  { vin, read, interface: iface }: Pick<ReadingInfo, 'vin' | 'read' | 'interface'>,
): Reading<Payload> {
  return {
    payload: parsed.payload,
    vehicle: {
      vin,
      read,
      interface: iface,
      receivedAt: new Date(answer.receivedAt).toISOString(),
      measuredAt: parsed.measuredAt,
      source: answer.source,
      ...parsed.openness,
    },
  };
}

/** Several readings as one. */
export function severalReading(reads: ReadName[], readings: Reading[], errors: ReadFailure[]): SeveralReading {
  const infos = readings.map(({ vehicle }) => vehicle);
  const interfaces = new Set(infos.map((info) => info.interface));
  return {
    payload: Object.fromEntries(readings.map(({ vehicle, payload }) => [vehicle.read, payload])),
    vehicle: {
      vin: infos.find(({ vin }) => vin !== null)?.vin ?? null,
      read: reads,
      interface: interfaces.size === 1 ? (infos[0]?.interface ?? null) : null,
      receivedAt: infos.reduce((latest, { receivedAt }) => (receivedAt > latest ? receivedAt : latest), ''),
      measuredAt: oldest(infos.map(({ measuredAt }) => measuredAt)),
      source: infos.every(({ source }) => source === 'shared') ? 'shared' : 'live',
      reads: Object.fromEntries(infos.map((info) => [info.read, info])),
      errors,
    },
  };
}
