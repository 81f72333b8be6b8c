import type { AnyReadName, InterfaceName, ReadName } from '../catalogue/reads';
import { asVehicleError, VehicleError, type ErrorReport } from '../errors';
import type { SharedAnswer } from '../http/requests';
import type { Openness } from '../catalogue/openings';
import { iso } from '../util/clock';
import { isRecord } from '../util/json';
import { positionOf } from './places';
import { parsers, type Parser, type ReadPayload } from '../wire/parsers';
import { oldest, type AnswerContext } from '../wire/readings';

/** `msg.vehicle` of one read (docs/internals/contract.md 3). */
export interface ReadingInfo extends Partial<Openness> {
  /** Null for the list of vehicles, and for what the pack keeps itself. */
  vin: string | null;
  read: AnyReadName;
  /** Null for what the pack keeps itself. */
  interface: InterfaceName | null;
  /** ISO-8601. */
  receivedAt: string;
  measuredAt: string | null;
  /**
   * The unit of a value, in words; for a group, an object with the unit of each member that has
   * one. Absent if nothing has a unit.
   */
  unit?: string | Readonly<Record<string, string>>;
  source: 'live' | 'shared' | 'kept';
  /** The sentence of `inOrder`; other reads have none. */
  text?: string;
  /** The sums of trips and charges; other reads have none. */
  sums?: Record<'day' | 'week' | 'month', readonly unknown[]>;
  /** The age of the value, if `source` is `kept`. */
  ageSeconds?: number;
}

export interface Reading<Payload = unknown> {
  payload: Payload;
  vehicle: ReadingInfo;
}

interface ReadFailure {
  read: AnyReadName;
  code: ErrorReport['code'];
  message: string;
}

/**
 * `msg.vehicle` of several reads at once (docs/internals/contract.md 3): `interface` is the one
 * that answered, or null if several did, or none was asked; `receivedAt` is the latest,
 * `measuredAt` the oldest.
 */
interface SeveralInfo extends Omit<ReadingInfo, 'read' | 'unit' | keyof Openness> {
  read: AnyReadName[];
  reads: Partial<Record<AnyReadName, ReadingInfo>>;
  errors: ReadFailure[];
}

/** Several reads at once: what worked by its name, and what did not in `vehicle.errors`. */
export interface SeveralReading {
  payload: Partial<Record<AnyReadName, unknown>>;
  vehicle: SeveralInfo;
}

const askedTimes = new WeakMap<object, number>();

/**
 * When a reading was asked for, in milliseconds since 1970; undefined for one that came in
 * a message of a flow.
 */
export const askedAtOf = (vehicle: object): number | undefined => askedTimes.get(vehicle);

/** Keeps that beside `msg.vehicle`, which flows get. */
export function keepAskedAt<Info extends object>(vehicle: Info, at: number): Info {
  askedTimes.set(vehicle, at);
  return vehicle;
}

/** What a reading depends on besides its answer. */
export type ReadingContext = Omit<AnswerContext, 'receivedAt'>;

/** The reading in an answer. @throws VehicleError BAD_RESPONSE if the answer is something else */
export function readingOf<Name extends ReadName>(
  { vin, read }: { vin: string | null; read: Name },
  { value: { body, receivedAt, askedAt }, source }: SharedAnswer,
  context: ReadingContext,
): Reading<ReadPayload<Name>> {
  // A function that is chosen by a name that is a parameter has no single type.
  const parse = parsers[read] as Parser<ReadPayload<Name>>;
  const { payload, measuredAt, openness } = parse(body, { receivedAt, ...context });
  const unit = openness === undefined ? unitOfPayload(payload) : undefined;
  // The answer comes first, because Node-RED previews the first members of an object.
  // `assign`, because each member that is written behind a spread costs a microsecond.
  const info = { vin, read, interface: context.interface, receivedAt: iso(receivedAt), measuredAt };
  const vehicle = Object.assign(openness ?? {}, info, unit === undefined ? { source } : { unit, source });
  return { payload, vehicle: keepAskedAt(vehicle, askedAt) };
}

/**
 * The unit of a payload, in words; for a group an object with the units of its members. Undefined
 * if nothing in it has a unit.
 */
export function unitOfPayload(payload: unknown): string | Record<string, string> | undefined {
  if (!isRecord(payload)) return undefined;
  if (Object.hasOwn(payload, 'value')) return typeof payload['unit'] === 'string' ? payload['unit'] : undefined;
  const units: [name: string, unit: string][] = [];
  for (const name of Object.keys(payload)) {
    const member = payload[name];
    if (isRecord(member) && typeof member['unit'] === 'string') units.push([name, member['unit']]);
  }
  return units.length > 0 ? Object.fromEntries(units) : undefined;
}

export type AnyReading = Reading | SeveralReading;

export const isSeveral = (reading: AnyReading): reading is SeveralReading => 'reads' in reading.vehicle;

/** The reading of each read that worked; of a single one, the reading itself. */
export const readingsIn = (reading: AnyReading): Reading[] =>
  isSeveral(reading)
    ? Object.values(reading.vehicle.reads).map((info) => ({ payload: reading.payload[info.read], vehicle: info }))
    : [reading];

/** Several reads at once, each by its name: what was read, and what failed. */
export async function readAll<Name extends AnyReadName>(
  reads: readonly Name[],
  read: (name: Name) => Promise<Reading>,
): Promise<{ readings: ReadonlyMap<Name, Reading>; failures: ReadonlyMap<Name, VehicleError> }> {
  const results = await Promise.all(reads.map((name) => read(name).catch(asVehicleError)));
  const readings = new Map<Name, Reading>();
  const failures = new Map<Name, VehicleError>();
  for (const [at, name] of reads.entries()) {
    const result = results[at];
    if (result instanceof VehicleError) failures.set(name, result);
    else if (result !== undefined) readings.set(name, result);
  }
  return { readings, failures };
}

/** The same as one reading; it fails only when every read failed, with the first failure. */
export async function readEach<Name extends AnyReadName>(
  reads: readonly Name[],
  read: (name: Name) => Promise<Reading>,
): Promise<SeveralReading & { failures: ReadonlyMap<Name, VehicleError> }> {
  if (reads.length === 0)
    throw new VehicleError(
      'INPUT_INVALID',
      'No read is chosen. Choose at least one, or send a list of names in msg.read.',
    );
  const { readings, failures } = await readAll(reads, read);
  if (readings.size === 0) throw [...failures.values()][0];
  const errors = [...failures].map(([name, { code, message }]) => ({ read: name, code, message }));
  return { ...severalReading([...reads], [...readings.values()], errors), failures };
}

export function severalReading(reads: AnyReadName[], readings: Reading[], errors: ReadFailure[]): SeveralReading {
  const infos = readings.map(({ vehicle }) => vehicle);
  const requested = infos.filter((info) => info.interface !== null);
  const interfaces = new Set(requested.map((info) => info.interface));
  return {
    payload: Object.fromEntries(readings.map(({ vehicle, payload }) => [vehicle.read, payload])),
    vehicle: {
      vin: infos.find(({ vin }) => vin !== null)?.vin ?? null,
      read: reads,
      interface: interfaces.size === 1 ? (requested[0]?.interface ?? null) : null,
      receivedAt: infos.reduce((latest, { receivedAt }) => (receivedAt > latest ? receivedAt : latest), ''),
      measuredAt: oldest(infos.map(({ measuredAt }) => measuredAt)),
      source: requested.length > 0 && requested.every(({ source }) => source === 'shared') ? 'shared' : 'live',
      reads: Object.fromEntries(infos.map((info) => [info.read, info])),
      errors,
    },
  };
}

/**
 * The place of a reading as Node-RED's map and geofence nodes expect it (docs/internals/contract.md
 * 3): null if the location was read and is unknown, undefined if it was not read.
 */
export function placeOf(reading: AnyReading): { lat: number; lon: number } | null | undefined {
  const { read } = reading.vehicle;
  if (read !== 'location' && !(Array.isArray(read) && read.includes('location'))) return undefined;
  const position = positionOf(readingsIn(reading).find(({ vehicle }) => vehicle.read === 'location')?.payload);
  return position && { lat: position.latitude, lon: position.longitude };
}
