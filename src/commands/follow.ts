import { commands, isCommandName, proofReadOf, type Command } from '../catalogue/commands';
import { isFinal, meaningOf, statusWord, type Outcome } from '../catalogue/outcomes';
import { titleOf } from '../catalogue/reads';
import { openingKeys, openings } from '../catalogue/openings';
import type { VehicleClient } from '../client';
import { asVehicleError, type VehicleError } from '../errors';
import { systemClock, type Clock } from '../util/clock';
import type { CommandRecord } from './record';
import { endingAt } from '../util/abort';
import type { Invocation } from '../wire/invocations';

export interface StatusChange {
  requestStatus: string | null;
  /** ISO-8601. */
  at: string;
}

/** `msg.payload` of both outputs of the watch (docs/message-contract.md 5). */
export interface WatchReport extends CommandRecord {
  /** One sentence for a driver. */
  reason: string;
  /** Whether the doors or the engine confirm the command; null if they could not be checked or prove nothing. */
  verified: boolean | null;
  /** Milliseconds since the command was sent. */
  elapsedMs: number;
  history: StatusChange[];
}

export interface WatchUpdate {
  /** True once, for the last update: the result. */
  settled: boolean;
  report: WatchReport;
}

type WatchedClient = Pick<VehicleClient, 'commandStatus' | 'read'> & Partial<Pick<VehicleClient, 'clockSkewMs'>>;

export interface WatchOptions {
  client: WatchedClient;
  /** The longest duration of the watch. Default 180 000. */
  timeoutMs?: number;
  /** Longest time between two polls. Default 5 000. */
  intervalMs?: number;
  /** Read the doors or the engine at the end. Default true. */
  verify?: boolean;
  /** Milliseconds since 1970; earlier than now where a watch is resumed. */
  startedAt?: number;
  history?: readonly StatusChange[];
  signal?: AbortSignal;
  clock?: Clock;
}

/** The pause before the first poll; each later one is longer by the factor `growth`. */
const firstPollMs = 2_000;
const growth = 1.5;
/** The time that a poll in flight gets when the watch has timed out. */
const lastPollMs = 10_000;
/** Watches of one vehicle share a poll that is not older than this. */
const shareMs = 1_000;
/** The number of polls that must find an unclear status before it counts as the end, because a clear one may follow. */
const maxUnclearPolls = 3;
/** The doors lag behind the command (docs/field-notes.md 1.9): the pauses between reads until a value was measured after it. */
const proofPollsMs = [0, 2_000, 3_000, 5_000, 10_000] as const;
/** The largest difference between the clocks of car and service. */
const maxClockDifferenceMs = 5_000;
/** A slow service must not hold back the result. */
const maxProofMs = 30_000;

/**
 * Follows a command to its end: an update for each change of its state, then the result, once. No order of states is assumed, and
 * a failed poll does not mean a failed command.
 * @throws VehicleError UNTRUSTED_LINK before the first poll; CANCELLED through the signal
 */
export async function* watchCommand(
  record: CommandRecord,
  options: WatchOptions,
): AsyncGenerator<WatchUpdate, void, void> {
  const clock = options.clock ?? systemClock;
  const interval = options.intervalMs ?? 5_000;
  // The time of a resumed watch counts from its first start, but not from the future if the clock was set back.
  const startedAt = Math.min(options.startedAt ?? Infinity, clock.now());
  const expires = record.async?.expires ? Date.parse(record.async.expires) : Infinity;
  const deadline = Math.min(startedAt + (options.timeoutMs ?? 180_000), expires);
  const history = options.history?.length
    ? [...options.history]
    : [{ requestStatus: record.requestStatus, at: record.sentAt }];
  const lastStatus = history.at(-1)?.requestStatus ?? null;
  let current: CommandRecord =
    lastStatus === record.requestStatus
      ? { ...record, outcome: meaningOf(lastStatus).outcome }
      : { ...record, ...stateOf(lastStatus) };
  let unclearPolls = 0;
  let wait = Math.min(firstPollMs, interval);
  let lastFailure: VehicleError | null = null;
  let polls = 0;
  /** A timer is not affected by a clock that is set back meanwhile. */
  let isTimedOut = false;
  const stopTimer = clock.after(deadline - clock.now(), () => (isTimedOut = true));

  // Copies, because the receiver may change them while the watch goes on.
  const report = (reason: string, verified: boolean | null): WatchReport => ({
    // Node-RED previews the first members of an object: `outcome`, `command`, `reason`.
    ...withReason(current, reason),
    async: current.async && { ...current.async },
    verified,
    elapsedMs: Math.max(0, clock.now() - Date.parse(record.sentAt)),
    history: history.map((change) => ({ ...change })),
  });

  try {
    while (!isFinal(current.outcome) && current.async?.href && unclearPolls < maxUnclearPolls) {
      const left = isTimedOut ? 0 : deadline - clock.now();
      // After a restart, the command is polled once, however late.
      if (left <= 0 && polls > 0) break;
      await clock.sleep(
        Math.max(0, Math.min(left, Math.max(wait, retryDelay(lastFailure, clock.now())))),
        options.signal,
      );
      polls += 1;
      wait = Math.min(interval, wait * growth);
      try {
        const poll = (signal: AbortSignal): Promise<Invocation> =>
          options.client.commandStatus(current, { maxAgeMs: shareMs, signal });
        const { requestStatus, message } = await endingAt(
          Math.max(deadline, clock.now()) + lastPollMs,
          { clock, signal: options.signal },
          poll,
        );
        lastFailure = null;
        const changed = requestStatus !== null && requestStatus !== current.requestStatus;
        if (changed) {
          history.push({ requestStatus, at: new Date(clock.now()).toISOString() });
          current = { ...current, ...stateOf(requestStatus), ...(message !== null && { message }) };
        }
        unclearPolls = current.outcome === 'undetermined' ? unclearPolls + 1 : 0;
        if (changed && !isFinal(current.outcome)) yield { settled: false, report: report(current.message, null) };
      } catch (error) {
        lastFailure = asVehicleError(error);
        // The watch timed out before the service had answered.
        if (lastFailure.code === 'CANCELLED' && options.signal?.aborted !== true) break;
        if (lastFailure.code === 'CANCELLED' || lastFailure.code === 'UNTRUSTED_LINK') throw lastFailure;
        // The link is gone, and no poll of it can succeed any more.
        if (lastFailure.httpStatus === 404 || lastFailure.httpStatus === 410) break;
      }
    }
  } finally {
    stopTimer();
  }

  const proof = options.verify === false ? null : await readProof(current, options.client, clock, options.signal);
  const reason = reasonOf(current, proof, {
    expired: deadline === expires,
    lastFailure,
    now: clock.now(),
    lastChangeAt: history.at(-1)?.at,
  });
  if (current.outcome === 'pending') current = { ...current, outcome: 'undetermined' };
  if (current.outcome === 'failed') delete current.assumedUntil;
  yield { settled: true, report: report(reason, proof?.verified ?? null) };
}

const stateOf = (requestStatus: string | null): { requestStatus: string | null; outcome: Outcome; message: string } => {
  const { outcome, sentence } = meaningOf(requestStatus);
  return { requestStatus, outcome, message: sentence };
};

const hasFailedByOpenDoor = ({ requestStatus }: CommandRecord): boolean =>
  statusWord(requestStatus) === 'UNABLE_TO_LOCK_DOOR_OPEN';

const retryDelay = (failure: VehicleError | null, now: number): number =>
  failure?.retryAt ? failure.retryAt.getTime() - now : 0;

interface Proof {
  verified: boolean | null;
  /** Doors that are open in the newest reading; none where the engine was read. */
  open: string[];
  /** Names the source in a sentence. */
  source: 'the doors say' | 'the engine status says';
}

/** The value of a reading that can prove a command, and when the car measured it. */
interface Evidence {
  value: 'LOCKED' | 'UNLOCKED' | 'RUNNING' | 'STOPPED' | null;
  measuredAt: string | null;
  open: string[];
}

/**
 * Reads the doors or the engine until the value was measured after the command, and once more where that reading may be from before
 * the car acted. Null where no read proves the command, or none succeeded.
 */
async function readProof(
  record: CommandRecord,
  client: WatchedClient,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Proof | null> {
  const command: Command | undefined = isCommandName(record.command) ? commands[record.command] : undefined;
  if (command?.proof === undefined) return null;
  const isEngine = proofReadOf(record.command) === 'engine-status';
  const mayDisprove = Object.values(command.proof).includes(false);
  const endedAt = clock.now();
  let best: Proof | null = null;
  for (const pause of proofPollsMs) {
    if (clock.now() + pause >= endedAt + maxProofMs) break;
    if (pause > 0) await clock.sleep(pause, signal);
    const evidence = await endingAt(endedAt + maxProofMs, { clock, signal }, (ending) =>
      readEvidence(isEngine ? readEngine : readDoors, record, client, ending, signal),
    );
    if (evidence === null) continue;
    const at = (moment: number): number => moment + (client.clockSkewMs ?? 0);
    const verified = verdictOf(command.proof, evidence, {
      sentAt: at(Date.parse(record.sentAt)),
      now: at(clock.now()),
    });
    best = { verified, open: evidence.open, source: isEngine ? 'the engine status says' : 'the doors say' };
    // A command that no value can disprove needs no second read.
    if (!mayDisprove) break;
    if (verified === true || (record.outcome === 'failed' && (best.open.length > 0 || !hasFailedByOpenDoor(record))))
      break;
    // A value against the command may be from before the car acted: it is read again while there is time.
    if (isAfter(evidence.measuredAt, verified === false ? at(endedAt) : at(Date.parse(record.sentAt)))) break;
  }
  return best;
}

type ReadEvidence = (record: CommandRecord, client: WatchedClient, signal: AbortSignal) => Promise<Evidence | null>;

async function readEvidence(
  read: ReadEvidence,
  record: CommandRecord,
  client: WatchedClient,
  ending: AbortSignal,
  closing?: AbortSignal,
): Promise<Evidence | null> {
  try {
    return await read(record, client, ending);
  } catch (error) {
    if (closing?.aborted) throw asVehicleError(error);
    return null;
  }
}

async function readDoors(record: CommandRecord, client: WatchedClient, signal: AbortSignal): Promise<Evidence> {
  const iface = record.interface === 'connected-v1' ? 'v1' : 'v2';
  const { payload, vehicle } = await client.read('doors', {
    vin: record.vin,
    interface: iface,
    maxAgeMs: shareMs,
    signal,
  });
  const { locked } = vehicle;
  return {
    value: locked === true ? 'LOCKED' : locked === false ? 'UNLOCKED' : null,
    measuredAt: payload['carLocked']?.timestamp ?? null,
    open: vehicle.open ?? [],
  };
}

async function readEngine(record: CommandRecord, client: WatchedClient, signal: AbortSignal): Promise<Evidence | null> {
  const { payload } = await client.read('engine-status', { vin: record.vin, maxAgeMs: shareMs, signal });
  const engine = payload['engineStatus'];
  if (engine === undefined) return null;
  const word = String(engine.value).toUpperCase();
  return { value: word === 'RUNNING' || word === 'STOPPED' ? word : null, measuredAt: engine.timestamp, open: [] };
}

/** The proof of a value that was measured after the command was sent; null where there is no newer value, or where it proves nothing. */
function verdictOf(
  proof: NonNullable<Command['proof']>,
  { value, measuredAt }: Evidence,
  { sentAt, now }: { sentAt: number; now: number },
): boolean | null {
  // A value with a future timestamp may as well be from before the command.
  if (!isAfter(measuredAt, sentAt) || isAfter(measuredAt, now + maxClockDifferenceMs)) return null;
  return value === null ? null : (proof[value] ?? null);
}

const isAfter = (timestamp: string | null | undefined, moment: number): boolean =>
  timestamp != null && Date.parse(timestamp) > moment;

interface Ending {
  expired: boolean;
  lastFailure: VehicleError | null;
  now: number;
  lastChangeAt: string | undefined;
}

/** The record with its reason behind outcome and command. */
function withReason(
  { outcome, command, ...others }: CommandRecord,
  reason: string,
): CommandRecord & { reason: string } {
  return { outcome, command, reason, ...others };
}

/** The result in a sentence; the proof is added where it helps. */
function reasonOf(record: CommandRecord, proof: Proof | null, ending: Ending): string {
  const sentences = [endSentence(record, ending)];
  if (hasFailedByOpenDoor(record) && proof !== null && proof.open.length > 0) {
    sentences.push(`Open: ${proof.open.map(doorName).join(', ')}.`);
  }
  if (record.command === 'unlock' && record.outcome === 'succeeded') sentences.push(...unlockSentences(record, ending));
  if (record.outcome !== 'succeeded' && proof?.verified === true)
    sentences.push(`However, ${proof.source} that it happened.`);
  if (record.outcome === 'succeeded' && proof?.verified === false)
    sentences.push(`But ${proof.source} that it did not happen. Check the car.`);
  if (record.outcome === 'succeeded' && record.assumedUntil !== undefined)
    sentences.push(`The car does not report whether it still runs. It is assumed to run until ${record.assumedUntil}.`);
  return sentences.join(' ');
}

/** `frontLeft` as "front left door". */
function doorName(name: string): string {
  const key = openingKeys.find((one) => openings[one].read === 'doors' && openings[one].name === name);
  return titleOf(key ?? name).toLowerCase();
}

/** Only the tailgate is released, and for a limited time (docs/service.md 4.1 rule 2, 4.2 rule 1). */
function unlockSentences(record: CommandRecord, { now, lastChangeAt }: Ending): string[] {
  const { openUntil, sentAt } = record;
  if (
    openUntil !== undefined &&
    now > lastMomentOf(openUntil, sentAt, record.interface === 'connected-v1' ? lastChangeAt : undefined)
  ) {
    return [
      `The time to open the tailgate ended at ${openUntil}. If it was not opened, the car is locked again. Send the command again to unlock it.`,
    ];
  }
  const until = openUntil === undefined ? [] : [`Open it before ${openUntil}.`];
  return ['The tailgate can be opened now. The doors unlock when it is opened.', ...until];
}

/** The time of a v1 unlock begins when the car acts, at the latest when its success was seen. */
const lastMomentOf = (openUntil: string, sentAt: string, seenAt: string | undefined): number =>
  Math.max(
    Date.parse(openUntil),
    seenAt === undefined ? 0 : Date.parse(seenAt) + Date.parse(openUntil) - Date.parse(sentAt),
  );

function endSentence(record: CommandRecord, { expired, lastFailure }: Ending): string {
  if (record.outcome !== 'pending') return record.message;
  if (!record.async?.href)
    return `${record.message} The service gives no link to follow it further. Check at the car whether it acted.`;
  const failure = lastFailure === null ? '' : ` The last poll failed: ${lastFailure.message}`;
  if (lastFailure?.httpStatus === 404 || lastFailure?.httpStatus === 410)
    return 'The service removed the link to the state of the command before the car had answered. Check at the car whether it acted.';
  const end = expired ? 'The link to the state of the command expired' : 'The time to watch the command ran out';
  return `${end} before the car had answered. Check at the car whether it acted.${failure}`;
}
