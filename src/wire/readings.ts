import { commandFromWire } from '../catalogue/commands';
import { unitInWords } from '../catalogue/units';
import {
  resources,
  statisticsMembers,
  type InterfaceName,
  type MemberKind,
  type Resource,
  type ResourceName,
  type StatisticsMemberName,
} from '../catalogue/reads';
import { VehicleError } from '../errors';
import { judgeOpenings, openingsOf, type OpeningRead, type Openness } from '../catalogue/openings';
import { isRecord, memberOf, textIn } from '../util/json';
import {
  accessibilityShape,
  commandItem,
  detailsShape,
  isMeasured,
  notMeasured,
  parseMeasured,
  toNumber,
  toTimestamp,
  vehicleItem,
  type Measured,
  type Scalar,
} from './schemas';

/** The service's words, and when the car reported them (docs/internals/contract.md 3). */
export type Members = Record<string, Pick<Measured, 'value' | 'timestamp'>>;

/** What goes into `msg.payload`, when the car measured it, and its summary for openings. */
export interface Parsed<Payload> {
  payload: Payload;
  /** The oldest timestamp in it: nothing in the reading is older. Null if there is none. */
  measuredAt: string | null;
  openness?: Openness;
}

/** Its unit is in words, mostly that of docs/internals/service.md 2.8; null for a word. */
export interface ResourceReading extends Measured {
  /**
   * The service's own value, if the type of docs/internals/service.md 2.8 cannot hold all of it.
   */
  raw?: { value: Scalar; unit: string | null };
}

interface CommandOffer {
  /** In the form that the command node accepts: `honk-flash`. */
  command: string;
  /** Verbatim. */
  href: string | null;
}

/** An answer that is not what was asked for. */
export const unexpectedAnswer = (): VehicleError =>
  new VehicleError(
    'BAD_RESPONSE',
    'The service answered, but not as expected. If this continues, check the base URL and the interface.',
  );

/** The body's `data`, or the body itself (docs/internals/vendor-api.md 1.2). */
export function unwrap(body: unknown): Record<string, unknown> {
  const data = isRecord(body) && Object.hasOwn(body, 'data') ? (body['data'] ?? {}) : body;
  if (!isRecord(data)) throw unexpectedAnswer();
  return data;
}

export function unwrapList(body: unknown, name: string): unknown[] {
  const list = isRecord(body) ? (body['data'] ?? body[name]) : body;
  if (!Array.isArray(list)) throw unexpectedAnswer();
  return list;
}

/** A value with one time. */
export const atItsTime = <Payload extends { timestamp: string | null }>(payload: Payload): Parsed<Payload> => ({
  payload,
  measuredAt: payload.timestamp,
});

/** What an answer does not contain, although its meaning depends on it. */
export interface AnswerContext {
  interface: InterfaceName;
  /** Whether the car has the window or lid that not every car has; null if that is not known. */
  isFitted: boolean | null;
  /** Null if it is not known, or does not matter. */
  burnsFuel: boolean | null;
  /** When the answer was received, in milliseconds since 1970. */
  receivedAt: number;
}

const spellingsOf = {
  windows: new Set(openingsOf.windows.flatMap(({ spellings }) => spellings)),
  doors: new Set(openingsOf.doors.flatMap(({ spellings }) => spellings)),
} as const satisfies Record<OpeningRead, ReadonlySet<string>>;

/**
 * The state of windows or doors, under the v1 names whichever interface answered
 * (docs/internals/service.md 2.3 and 2.4, docs/internals/contract.md 3,
 * docs/internals/vendor-api.md 1.5 and 1.6).
 */
export function parseOpenings(
  read: OpeningRead,
  body: unknown,
  { interface: iface, isFitted }: AnswerContext,
): Parsed<Members> {
  const data = unwrap(body);
  const members: [string, Members[string]][] = [];
  const add = (name: string, { value, timestamp }: Measured): void => {
    // An unknown value has no time.
    members.push([name, { value, timestamp: value === null ? null : timestamp }]);
  };
  for (const { name, spellings, ifFitted } of openingsOf[read]) {
    const isMissing = !spellings.some((spelling) => Object.hasOwn(data, spelling));
    // An answer of v2 has every opening of the car, so one that is missing is unknown.
    if (ifFitted && isMissing && !(isFitted === true && iface === 'connected-v2')) continue;
    add(name, measuredIn(data, spellings));
  }
  for (const name of Object.keys(data)) {
    // Members of the envelope (`status`, `operationId`) are not measured values.
    if (!spellingsOf[read].has(name) && isMeasured(data[name])) add(name, parseMeasured(data[name]));
  }
  return {
    // fromEntries defines own properties, so a member called `__proto__` stays a member.
    payload: Object.fromEntries(members),
    measuredAt: members.reduce<string | null>((first, [, { timestamp }]) => older(first, timestamp), null),
    openness: judgeOpenings(members, isFitted !== false),
  };
}

/** The spelling of a member that has a value; nothing if two have different ones. */
export function measuredIn(data: Record<string, unknown>, spellings: readonly string[]): Measured {
  let best: Measured | null = null;
  for (const name of spellings) {
    if (!Object.hasOwn(data, name)) continue;
    const next = parseMeasured(data[name]);
    if (best === null || worthOf(next) > worthOf(best)) best = next;
    else if (worthOf(next) === 2 && (next.value !== best.value || next.unit !== best.unit)) return notMeasured;
  }
  return best ?? notMeasured;
}

/** How much a value contains: nothing, that it is not specified, or something. */
const worthOf = ({ value }: Measured): 0 | 1 | 2 => (value === null ? 0 : value === 'UNSPECIFIED' ? 1 : 2);

/** The earlier one of two ISO-8601 times; null if there is none. */
const older = (one: string | null, other: string | null): string | null =>
  other !== null && (one === null || other < one) ? other : one;

/** The earliest of ISO-8601 times; null if there is none. */
export const oldest = (timestamps: (string | null)[]): string | null => timestamps.reduce(older, null);

/** docs/internals/service.md 2.8 in any envelope of docs/internals/vendor-api.md 3.1. */
export function parseResource(name: ResourceName, body: unknown): Parsed<ResourceReading> {
  if (!isRecord(body)) throw unexpectedAnswer();
  const { data, resourceValue } = body;
  const candidates = [isRecord(data) ? data[name] : undefined, body[name], resourceValue, data, body];
  const found = candidates.find((candidate) => candidate !== null && isMeasured(candidate));
  return atItsTime(typedReading(resources[name], parseMeasured(found)));
}

/** A single value out of the answer of its group (docs/internals/vendor-api.md 14.2). */
export const parseStatistic = (name: StatisticsMemberName, body: unknown): Parsed<ResourceReading> =>
  atItsTime(typedReading(statisticsMembers[name], parseMeasured(memberOf(unwrap(body), name))));

/** A JSON number, boolean or string, as the catalogue types it, or null. New words pass. */
export function typedReading(type: Resource | MemberKind, { value: raw, unit, timestamp }: Measured): ResourceReading {
  const value =
    raw === null
      ? null
      : type.kind === 'boolean'
        ? toBoolean(raw, type.words)
        : 'values' in type
          ? typeof raw === 'string' && raw.trim() !== ''
            ? raw
            : null
          : toNumber(raw);
  return {
    value,
    unit: 'unit' in type ? (unitInWords(unit) ?? ('mixedUnits' in type ? null : type.unit)) : null,
    timestamp,
    ...(value === null && raw !== null && { raw: { value: raw, unit } }),
  };
}

/**
 * JSON booleans, their text, and the words of the specification for them; anything else is unknown.
 */
function toBoolean(raw: Scalar, words: { true: string; false: string }): boolean | null {
  if (typeof raw === 'boolean') return raw;
  const word = typeof raw === 'string' ? raw.trim().toLowerCase() : '';
  if (word === 'true' || word === words.true) return true;
  if (word === 'false' || word === words.false) return false;
  return null;
}

/** The sides by the number of their angle (docs/internals/vendor-api.md 14.8). */
const sidesByAngle = ['frontRight', 'right', 'backRight', 'front', 'frontLeft', 'backLeft', 'back', 'left'] as const;

/** A side from which the service has a picture of the car. */
type CarSide = (typeof sidesByAngle)[number];

/** The sides by their segment in the path of an address (docs/internals/vendor-api.md 14.8). */
const sidesByPath = {
  right: 'right',
  front: 'front',
  threeQuartersFrontLeft: 'frontLeft',
  threeQuartersRearLeft: 'backLeft',
  rear: 'back',
  left: 'left',
} as const satisfies Record<string, CarSide>;

/**
 * The addresses of all sides follow from that of one. Only a request shows whether a picture is
 * there.
 */
function sidesOf(address: string | null): Partial<Record<CarSide, string>> {
  const url = address !== null && URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return {};
  if (url.searchParams.has('angle'))
    return Object.fromEntries(
      sidesByAngle.map((side, angle) => [side, url.href.replace(/(?<=[?&]angle=)[^&#]*/, String(angle))]),
    );
  const path = url.pathname.split('/');
  if (!Object.hasOwn(sidesByPath, path.at(-2) ?? '')) return {};
  return Object.fromEntries(
    Object.entries(sidesByPath).map(([word, side]) => {
      url.pathname = path.with(path.length - 2, word).join('/');
      return [side, url.href];
    }),
  );
}

/**
 * docs/internals/service.md 2.2; the image URLs go through untouched and are kept nowhere. `sides`
 * has the addresses of the outside from its sides; it is empty if that of `exteriorImageUrl` has no
 * form that is known to offer them.
 */
export function parseDetails(body: unknown) {
  const { images, ...details } = detailsShape.parse(unwrap(body));
  return {
    payload: { ...details, images: { ...images, sides: sidesOf(images.exteriorImageUrl) } },
    measuredAt: null,
  };
}

/** docs/internals/service.md 2.1. */
export function parseVehicles(body: unknown): Parsed<{ vin: string }[]> {
  const vins = unwrapList(body, 'vehicles').flatMap((item) => {
    const parsed = vehicleItem.safeParse(item);
    const vin = parsed.success ? (parsed.data.vin ?? parsed.data.id) : null;
    return vin === null ? [] : [{ vin }];
  });
  return { payload: vins, measuredAt: null };
}

/** docs/internals/service.md 2.6. */
export function parseCommands(body: unknown): Parsed<CommandOffer[]> {
  const offers = unwrapList(body, 'commands').flatMap((item) => {
    const parsed = commandItem.safeParse(item);
    if (!parsed.success || parsed.data.command === null) return [];
    return [{ command: commandFromWire(parsed.data.command), href: parsed.data.href }];
  });
  return { payload: offers, measuredAt: null };
}

/** docs/internals/service.md 2.7. */
export function parseAccessibility(body: unknown) {
  const { availabilityStatus: status, unavailableReason: outerReason } = accessibilityShape.parse(unwrap(body));
  const reason = unavailableReasonOf(status.unavailableReason) ?? unavailableReasonOf(outerReason);
  return atItsTime({ value: status.value, unavailableReason: reason, timestamp: status.timestamp });
}

function unavailableReasonOf(input: unknown): string | null {
  return textIn(typeof input === 'object' && input !== null ? parseMeasured(input).value : input);
}

/** The position at the end of the last trip (docs/internals/contract.md 3); unknown is null. */
interface VehicleLocation {
  /** Degrees, WGS 84; null together with `longitude`. */
  latitude: number | null;
  longitude: number | null;
  /** Meters. */
  altitude: number | null;
  /** Degrees clockwise from north, 0 to below 360. */
  heading: number | null;
  /** ISO-8601; null means that the age is unknown, not that it is new. */
  timestamp: string | null;
}

/** A GeoJSON feature (docs/internals/vendor-api.md 13): the longitude comes first. */
export function parseLocation(body: unknown): Parsed<VehicleLocation> {
  const feature = unwrap(body);
  const { geometry, properties } = feature;
  if (!isRecord(geometry) && !isRecord(properties)) throw unexpectedAnswer();
  const { coordinates = null, type = 'Point' } = isRecord(geometry) ? geometry : {};
  const [longitude, latitude, altitude] =
    type === 'Point' && Array.isArray(coordinates) ? coordinates.slice(0, 3).map(toNumber) : [];
  const isKnown = isWithin(latitude, 90) && isWithin(longitude, 180) && (latitude !== 0 || longitude !== 0);
  const { heading = null, timestamp = null } = isRecord(properties) ? properties : {};
  const degrees = toNumber(heading);
  const measuredAt = toTimestamp(timestamp);
  return {
    payload: {
      latitude: isKnown ? latitude : null,
      longitude: isKnown ? longitude : null,
      altitude: isKnown ? (altitude ?? null) : null,
      heading: degrees !== null && degrees >= 0 && degrees <= 360 ? degrees % 360 : null,
      timestamp: measuredAt,
    },
    measuredAt,
  };
}

const isWithin = (degrees: number | null | undefined, limit: number): degrees is number =>
  typeof degrees === 'number' && Math.abs(degrees) <= limit;
