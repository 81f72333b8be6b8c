import { isUnderWay, statusWord } from '../catalogue/outcomes';
import { wallboxMembers, type WallboxMemberName } from '../catalogue/reads';
import { dayMs } from '../util/durations';
import { isRecord, textIn } from '../util/json';
import { unexpectedAnswer, unwrapList, type Parsed } from './readings';
import type { Invocation } from './invocations';
import { identifier, toNumber, toTimestamp, type Measured } from './schemas';

/**
 * A charging session of a wallbox (docs/internals/contract.md 3.2); what cannot be read is null.
 */
export interface WallboxSession {
  id: string | null;
  /** ISO-8601. */
  start: string | null;
  /** Null while the session is open, and if it cannot be read. */
  end: string | null;
  /** Null if it is unknown. */
  open: boolean | null;
  kWh: number | null;
  /** The reason why `kWh` is null: `MISSING`, `NEGATIVE` or `UNREADABLE`. */
  reason?: string | undefined;
  connector: number | null;
  /** The card or the app that began the session. */
  token: string | null;
}

/** `reason` only if `value` is null: that of a session, or `OPEN_FOR_DAYS`. */
interface WallboxReading extends Omit<Measured, 'timestamp'> {
  /** The service sends no time. */
  timestamp: null;
  reason?: string;
}

/** At 6 ampere on one phase, the largest battery is full before. */
const maxOpenMs = 3 * dayMs;

/** Whether an answer to a command of a wallbox contains its outcome, although it is no success. */
export const isWallboxRefusal = (status: number): boolean => status === 409 || status === 422;

/** Any success accepts the command, and a refusal has a code. */
export function wallboxInvocation(body: unknown, isSuccess: boolean): Invocation {
  const { code } = isRecord(body) ? body : {};
  // A refusal with the word of a success, or of a command in progress, is unclear.
  const isClear =
    typeof code === 'string' && identifier.test(code) && statusWord(code) !== 'ACCEPTED' && !isUnderWay(code);
  const refusal = isClear ? code : 'UNKNOWN_ERROR';
  const requestStatus = isSuccess ? 'ACCEPTED' : refusal;
  return { requestStatus, operationId: null, message: null, async: null, readyUntil: null };
}

/** The newest first, and in one order, whatever the order of the service. */
export function parseWallboxSessions(body: unknown): Parsed<WallboxSession[]> {
  return { payload: unwrapList(body, 'sessions').map(sessionOf).sort(newestFirst), measuredAt: null };
}

function newestFirst(one: WallboxSession, other: WallboxSession): number {
  const [ones, others] = [one, other].map(({ start }) => (start === null ? 0 : Date.parse(start)));
  if (ones !== others) return Number(others) - Number(ones);
  const [first, second] = [one, other].map((session) => JSON.stringify(session));
  return String(first) < String(second) ? -1 : 1;
}

/** @param now when the answer was received */
export function parseWallboxMember(name: WallboxMemberName, body: unknown, now: number): Parsed<WallboxReading> {
  const { payload: sessions } = parseWallboxSessions(body);
  const payload =
    name === 'wallboxCharging' ? chargingOf(sessions, now) : energyOf(sessions, beginOf[name](new Date(now)));
  return {
    payload: {
      ...payload,
      unit: payload.value !== null && 'unit' in wallboxMembers[name] ? kilowattHours : null,
      timestamp: null,
    },
    measuredAt: null,
  };
}

const kilowattHours = wallboxMembers.wallboxEnergyTotal.unit;

/** Days and months begin at midnight in the zone of the process. */
const beginOf = {
  wallboxEnergyToday: (now: Date) => new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime(),
  wallboxEnergyMonth: (now: Date) => new Date(now.getFullYear(), now.getMonth()).getTime(),
  wallboxEnergyTotal: () => -Infinity,
} as const satisfies Partial<Record<WallboxMemberName, (now: Date) => number>>;

function sessionOf(item: unknown): WallboxSession {
  if (!isRecord(item)) throw unexpectedAnswer();
  const { transactionId, start, end = null, chargedEnergy, connectorId, idToken } = item;
  const ended = toTimestamp(end);
  const kWh = toNumber(chargedEnergy);
  const reason = chargedEnergy == null ? 'MISSING' : kWh === null ? 'UNREADABLE' : kWh < 0 ? 'NEGATIVE' : null;
  return {
    id: textIn(transactionId),
    start: toTimestamp(start),
    end: ended,
    open: end === null ? true : ended === null ? null : false,
    kWh: reason === null ? kWh : null,
    ...(reason !== null && { reason }),
    connector: toNumber(connectorId),
    token: textIn(idToken),
  };
}

type Found = Pick<WallboxReading, 'value' | 'reason'>;

/** Whether a session is open; a session that was left open shows nothing. */
function chargingOf(sessions: readonly WallboxSession[], now: number): Found {
  const maybeOpen = sessions.filter(({ open }) => open !== false);
  const lasting = maybeOpen.filter(({ start }) => start !== null && now - Date.parse(start) < maxOpenMs);
  if (lasting.some(({ open }) => open === true)) return { value: true };
  if (maybeOpen.length === 0) return { value: false };
  const isReadable = maybeOpen.every(({ open, start }) => open === true && start !== null);
  return { value: null, reason: isReadable ? 'OPEN_FOR_DAYS' : 'UNREADABLE' };
}

/** A session counts by its begin: the service does not spread it over hours. */
function energyOf(sessions: readonly WallboxSession[], begin: number): Found {
  const counted = sessions.filter(({ start }) => start === null || Date.parse(start) >= begin);
  const odd = counted.find(({ start, kWh }) => kWh === null || (start === null && begin > -Infinity));
  if (odd !== undefined) return { value: null, reason: odd.reason ?? 'UNREADABLE' };
  const sum = counted.reduce((total, { kWh }) => total + (kWh ?? 0), 0);
  return { value: Math.round(sum * 1_000) / 1_000 };
}
