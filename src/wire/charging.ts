import { chargingMemberNames, chargingMembers, type ChargingMemberName, type MemberKind } from '../catalogue/reads';
import { unitInWords } from '../catalogue/units';
import { iso } from '../util/clock';
import { isRecord, memberOf } from '../util/json';
import { atItsTime, unexpectedAnswer, oldest, typedReading, unwrap, type Parsed } from './readings';
import { parseMeasured, type Measured } from './schemas';
import { minuteMs } from '../util/durations';

/** docs/internals/contract.md 3. The unit is null if the service names no unit of distance. */
interface ChargingMember extends Measured {
  /**
   * Only if `value` is null: the service's own code, `NOT_SUPPORTED` for one. `MISSING` if the
   * answer lacks the member, `UNREADABLE` if it holds something else than the member's kind of
   * value, and `NOT_CHARGING` (src/wire/charging `doneAt`).
   */
  reason?: string;
}

export type Charging = Record<string, ChargingMember>;

/** An open map: the service can add members and limits. */
type ChargingCapabilities = Record<string, unknown>;

/** docs/internals/vendor-api.md 12.2: an unreadable member does not affect the others. */
export function parseCharging(body: unknown): Parsed<Charging> {
  const state = new Map(Object.entries(unwrap(body)));
  const members = new Map<string, ChargingMember>(
    chargingMemberNames.map((name) => [name, chargingMember(chargingMembers[name], state.get(name))]),
  );
  for (const [name, member] of state)
    if (!members.has(name) && isMember(member)) members.set(name, chargingMember(null, member));
  const payload: Charging = Object.fromEntries(members);
  payload['chargingDoneAt'] = doneAt(payload);
  return { payload, measuredAt: oldest([...members.values()].map(({ timestamp }) => timestamp)) };
}

/**
 * The time of the end is worked out from the same answer: ISO-8601, null while the car does not
 * charge.
 */
export const parseChargingDoneAt = (body: unknown): Parsed<ChargingMember> =>
  atItsTime(doneAt(parseCharging(body).payload));

/** One member of the same answer. */
export const parseChargingMember = (name: ChargingMemberName, body: unknown): Parsed<ChargingMember> =>
  atItsTime(chargingMember(chargingMembers[name], memberOf(unwrap(body), name)));

/** The longest time that the service reports. It also reports this value for any longer time. */
const maxChargingMinutes = 1440;

/**
 * `reason` is that of the member that lacks; `NOT_CHARGING` for a car that is known not to charge.
 */
function doneAt({ chargingStatus, estimatedChargingTimeToTargetBatteryChargeLevel: left }: Charging): ChargingMember {
  const status = chargingStatus?.value ?? null;
  if (status === null) return cannotTell(chargingStatus?.reason ?? null);
  const word = String(status).trim().toUpperCase();
  const isStatus = chargingMembers.chargingStatus.values.some((known) => known === word);
  if (word !== 'CHARGING') return cannotTell(isStatus ? 'NOT_CHARGING' : 'UNREADABLE');
  const { value, timestamp, reason = null } = left ?? cannotTell(null);
  if (typeof value !== 'number' || value <= 0 || value >= maxChargingMinutes || timestamp === null)
    return cannotTell(reason);
  return { value: iso(Date.parse(timestamp) + value * minuteMs), unit: null, timestamp };
}

const isMember = (input: unknown): boolean =>
  isRecord(input) && (Object.hasOwn(input, 'value') || Object.hasOwn(input, 'status'));

/** @param kind null for a member that is new: its value goes through as it came */
function chargingMember(kind: MemberKind | null, input: unknown): ChargingMember {
  if (!isRecord(input)) return cannotTell(input === undefined || input === null ? 'MISSING' : 'UNREADABLE');
  const { status, code, value, updatedAt } = input;
  // The member's own status decides, not the capabilities (docs/internals/vendor-api.md 12.4).
  if (typeof status === 'string' && status.trim().toUpperCase() !== 'OK')
    return cannotTell(codeOf(code) ?? codeOf(status));
  if (value === undefined || value === null) return cannotTell(codeOf(code));
  const measured = parseMeasured({ timestamp: updatedAt, ...input });
  const { raw: _odd, ...read } =
    kind === null ? { ...measured, unit: unitInWords(measured.unit), raw: null } : typedReading(kind, measured);
  return read.value === null ? cannotTell('UNREADABLE') : read;
}

const cannotTell = (reason: string | null): ChargingMember => ({
  value: null,
  unit: null,
  timestamp: null,
  reason: reason ?? 'MISSING',
});

/** The codes are an open set, but each is a word. */
const codeOf = (input: unknown): string | null =>
  typeof input === 'string' && /^[\w.-]{1,64}$/.test(input.trim()) ? input.trim() : null;

/**
 * The members that the car supports according to the service (docs/internals/vendor-api.md 12.4),
 * with `chargingStatus` under that name. A hint: cars have values that it denies, and lack values
 * that it claims.
 */
export function parseChargingCapabilities(body: unknown): Parsed<ChargingCapabilities> {
  const outer = unwrap(body);
  const { getEnergyState: inner } = outer;
  const entries = Object.entries(isRecord(inner) ? inner : outer).map(
    ([name, value]) => [name === 'chargingSystemStatus' ? 'chargingStatus' : name, value] as const,
  );
  const copies = entries.map(([name, value]) => [name, copyOf(value, maxLevels)]);
  return { payload: Object.fromEntries(copies), measuredAt: null };
}

/** No real answer nests so deep, also with new children (docs/internals/vendor-api.md 12.4). */
const maxLevels = 20;

/** A copy, because other readers hold the same body. */
function copyOf(input: unknown, levels: number): unknown {
  if (typeof input !== 'object' || input === null) return input;
  if (levels === 0) throw unexpectedAnswer();
  if (Array.isArray(input)) return input.map((item) => copyOf(item, levels - 1));
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, copyOf(value, levels - 1)]));
}
