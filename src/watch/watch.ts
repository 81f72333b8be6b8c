import { commands, isCommandName, type Command } from '../catalogue/commands';
import { meaningOf, statusWord, type Outcome } from '../catalogue/outcomes';
import { titleOf } from '../catalogue/reads';
import type { VehicleClient } from '../client';
import { asVehicleError, type VehicleError } from '../errors';
import type { Reading } from '../reading';
import { systemClock, type Clock } from '../util/clock';
import type { CommandRecord } from '../record';
import { endingAt } from '../util/abort';
import type { Invocation } from '../wire/invocations';
import type { Members } from '../wire/readings';

export interface StatusChange {
  requestStatus: string | null;
  /** ISO-8601. */
  at: string;
}

/** `msg.payload` of both outputs of the watch (contract 5). */
export interface WatchReport extends CommandRecord {
  /** One sentence for a driver. */
  reason: string;
  /** What the doors prove: true, false, or null where nothing could be checked. */
  verified: boolean | null;
  /** Since the command was sent. */
  elapsedMs: number;
  history: StatusChange[];
}

export interface WatchUpdate {
  /** True once, for the last update: the verdict. */
  settled: boolean;
  report: WatchReport;
}

type WatchedClient = Pick<VehicleClient, 'commandStatus' | 'doors'> & Partial<Pick<VehicleClient, 'clockSkewMs'>>;

export interface WatchOptions {
  client: WatchedClient;
  /** From the start of the watch. Default 180 000. */
  timeoutMs?: number;
  /** Longest time between two looks. Default 5 000. */
  intervalMs?: number;
  /** Read the doors at the end. Default true. */
  verify?: boolean;
  /** Milliseconds since 1970; earlier than now where a watch is taken up again. */
  startedAt?: number;
  history?: readonly StatusChange[];
  signal?: AbortSignal;
  clock?: Clock;
}

/** When to look: soon, then less and less often. */
const firstLookMs = 2_000;
const growth = 1.5;
/** How long the look that is under way when the time is up may go on. */
const lastLookMs = 10_000;
/** Watches of one vehicle share looks that are so close together. */
const shareMs = 1_000;
/** A status that says nothing may be followed by one that does: this many looks must find it before it is the end. */
const looksAtAnUnclearStatus = 3;
/** The doors lag behind the command (field notes 1.9): how long to wait for a value measured after it. */
const proofLooksMs = [0, 2_000, 3_000, 5_000, 10_000] as const;
/** So far the clocks of car and service may be apart. */
const clocksDifferByMs = 5_000;
/** A slow service must not hold back the verdict. */
const longestProofMs = 30_000;

/**
 * Follows a command to its end: an update for each change of its state, then the verdict, once. No order of states is
 * assumed, and a look that fails is no failed command.
 * @throws VehicleError UNTRUSTED_LINK before the first look; CANCELLED through the signal
 */
export async function* watchCommand(
  record: CommandRecord,
  options: WatchOptions,
): AsyncGenerator<WatchUpdate, void, void> {
  const clock = options.clock ?? systemClock;
  const interval = options.intervalMs ?? 5_000;
  // A watch that is taken up again has its time from then, but none from the future of a clock that was set back.
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
  let sameUnclearLooks = 0;
  let wait = Math.min(firstLookMs, interval);
  let lastFailure: VehicleError | null = null;
  let looks = 0;
  /** What a clock that is set back meanwhile cannot move. */
  let timeIsUp = false;
  const stopTimer = clock.after(deadline - clock.now(), () => (timeIsUp = true));

  // Copies: whoever gets them may change them, and the watch goes on.
  const report = (reason: string, verified: boolean | null): WatchReport => ({
    ...current,
    async: current.async && { ...current.async },
    reason,
    verified,
    elapsedMs: Math.max(0, clock.now() - Date.parse(record.sentAt)),
    history: history.map((change) => ({ ...change })),
  });

  try {
    while (mayChange(current) && current.async?.href && sameUnclearLooks < looksAtAnUnclearStatus) {
      const left = timeIsUp ? 0 : deadline - clock.now();
      // What happened while nobody watched is worth a look, however late.
      if (left <= 0 && looks > 0) break;
      await clock.sleep(
        Math.max(0, Math.min(left, Math.max(wait, retryDelay(lastFailure, clock.now())))),
        options.signal,
      );
      looks += 1;
      wait = Math.min(interval, wait * growth);
      try {
        const look = (signal: AbortSignal): Promise<Invocation> =>
          options.client.commandStatus(current, { maxAgeMs: shareMs, signal });
        const { requestStatus, message } = await endingAt(
          Math.max(deadline, clock.now()) + lastLookMs,
          { clock, signal: options.signal },
          look,
        );
        lastFailure = null;
        const changed = requestStatus !== null && requestStatus !== current.requestStatus;
        if (changed) {
          history.push({ requestStatus, at: new Date(clock.now()).toISOString() });
          current = { ...current, ...stateOf(requestStatus), ...(message !== null && { message }) };
        }
        sameUnclearLooks = current.outcome === 'undetermined' ? sameUnclearLooks + 1 : 0;
        if (changed && mayChange(current)) yield { settled: false, report: report(current.message, null) };
      } catch (error) {
        lastFailure = asVehicleError(error);
        // The end of the time, while the service had not answered yet.
        if (lastFailure.code === 'CANCELLED' && options.signal?.aborted !== true) break;
        if (lastFailure.code === 'CANCELLED' || lastFailure.code === 'UNTRUSTED_LINK') throw lastFailure;
        // The link is gone: nothing more will be learned from it.
        if (lastFailure.httpStatus === 404 || lastFailure.httpStatus === 410) break;
      }
    }
  } finally {
    stopTimer();
  }

  const doors = options.verify === false ? null : await readProof(current, options.client, clock, options.signal);
  const reason = reasonOf(current, doors, {
    expired: deadline === expires,
    lastFailure,
    now: clock.now(),
    lastChangeAt: history.at(-1)?.at,
  });
  if (current.outcome === 'pending') current = { ...current, outcome: 'undetermined' };
  yield { settled: true, report: report(reason, doors?.verified ?? null) };
}

const stateOf = (requestStatus: string | null): { requestStatus: string | null; outcome: Outcome; message: string } => {
  const { outcome, sentence } = meaningOf(requestStatus);
  return { requestStatus, outcome, message: sentence };
};

const isDoorOpen = ({ requestStatus }: CommandRecord): boolean =>
  statusWord(requestStatus) === 'UNABLE_TO_LOCK_DOOR_OPEN';

const mayChange = ({ outcome }: CommandRecord): boolean => outcome === 'pending' || outcome === 'undetermined';

const retryDelay = (failure: VehicleError | null, now: number): number =>
  failure?.retryAt ? failure.retryAt.getTime() - now : 0;

interface Proof {
  verified: boolean | null;
  /** Doors that stand open, from the newest reading. */
  open: string[];
}

/**
 * Reads the doors until the lock was measured after the command, and once more where that reading may be from before the
 * car acted. Null where the doors prove nothing of this command, or could not be read.
 */
async function readProof(
  record: CommandRecord,
  client: Pick<WatchedClient, 'doors' | 'clockSkewMs'>,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Proof | null> {
  const command: Command | undefined = isCommandName(record.command) ? commands[record.command] : undefined;
  if (command?.proof === undefined) return null;
  const endedAt = clock.now();
  let best: Proof | null = null;
  for (const pause of proofLooksMs) {
    if (clock.now() + pause >= endedAt + longestProofMs) break;
    if (pause > 0) await clock.sleep(pause, signal);
    const doors = await endingAt(endedAt + longestProofMs, { clock, signal }, (ending) =>
      tryDoors(record, client, ending, signal),
    );
    if (doors === null) continue;
    const at = (moment: number): number => moment + (client.clockSkewMs ?? 0);
    const verified = proofOf(command.proof, doors, { sentAt: at(Date.parse(record.sentAt)), now: at(clock.now()) });
    best = { verified, open: doors.vehicle.open ?? [] };
    // An unlocked tailgate leaves the lock as it was: no later look would prove more.
    if (command.proof.LOCKED === undefined) break;
    if (verified === true || (record.outcome === 'failed' && (best.open.length > 0 || !isDoorOpen(record)))) break;
    // What speaks against the command may be from before the car acted: look again while there is time.
    if (
      isAfter(doors.payload['carLocked']?.timestamp, verified === false ? at(endedAt) : at(Date.parse(record.sentAt)))
    )
      break;
  }
  return best;
}

async function tryDoors(
  record: CommandRecord,
  client: Pick<WatchedClient, 'doors' | 'clockSkewMs'>,
  ending: AbortSignal,
  closing?: AbortSignal,
): Promise<Reading<Members> | null> {
  const iface = record.interface === 'connected-v1' ? 'v1' : 'v2';
  try {
    return await client.doors({ vin: record.vin, interface: iface, maxAgeMs: shareMs, signal: ending });
  } catch (error) {
    if (closing?.aborted) throw asVehicleError(error);
    return null;
  }
}

/** What a lock proves that was measured after the command was sent; null where nothing newer came, or where it proves nothing. */
function proofOf(
  proof: NonNullable<Command['proof']>,
  doors: Reading<Members>,
  { sentAt, now }: { sentAt: number; now: number },
): boolean | null {
  const measuredAt = doors.payload['carLocked']?.timestamp;
  // What is ahead of its time may as well be from before the command.
  if (!isAfter(measuredAt, sentAt) || isAfter(measuredAt, now + clocksDifferByMs)) return null;
  const { locked } = doors.vehicle;
  if (locked === true) return proof.LOCKED ?? null;
  return locked === false ? (proof.UNLOCKED ?? null) : null;
}

const isAfter = (timestamp: string | null | undefined, moment: number): boolean =>
  timestamp != null && Date.parse(timestamp) > moment;

interface Ending {
  expired: boolean;
  lastFailure: VehicleError | null;
  now: number;
  lastChangeAt: string | undefined;
}

/** The verdict in a sentence; what the doors say is added where it helps. */
function reasonOf(record: CommandRecord, proof: Proof | null, ending: Ending): string {
  const sentences = [endSentence(record, ending)];
  if (isDoorOpen(record) && proof !== null && proof.open.length > 0) {
    sentences.push(`Open: ${proof.open.map((name) => titleOf(name).toLowerCase()).join(', ')}.`);
  }
  if (record.command === 'unlock' && record.outcome === 'succeeded') sentences.push(...unlockSentences(record, ending));
  if (record.outcome !== 'succeeded' && proof?.verified === true)
    sentences.push('All the same, the doors say that it happened.');
  if (record.outcome === 'succeeded' && proof?.verified === false)
    sentences.push('But the doors say that it did not happen: look at the car.');
  return sentences.join(' ');
}

/** Only the tailgate is released, and for a time (specification 4.1 rule 2, 4.2 rule 1). */
function unlockSentences(record: CommandRecord, { now, lastChangeAt }: Ending): string[] {
  const { openUntil, sentAt } = record;
  if (
    openUntil !== undefined &&
    now > lastMomentOf(openUntil, sentAt, record.interface === 'connected-v1' ? lastChangeAt : undefined)
  ) {
    return [
      `It was the tailgate that could be opened; the time for it has passed (${openUntil}), and unless it was opened the car is locked again.`,
    ];
  }
  const until = openUntil === undefined ? [] : [`The time for it ends at ${openUntil}.`];
  return ['It is the tailgate that can be opened now; the doors unlock when it is opened.', ...until];
}

/** The time of a v1 unlock begins when the car acts, which was at the latest when its success was seen. */
const lastMomentOf = (openUntil: string, sentAt: string, seenAt: string | undefined): number =>
  Math.max(
    Date.parse(openUntil),
    seenAt === undefined ? 0 : Date.parse(seenAt) + Date.parse(openUntil) - Date.parse(sentAt),
  );

function endSentence(record: CommandRecord, { expired, lastFailure }: Ending): string {
  if (record.outcome !== 'pending') return record.message;
  if (!record.async?.href) return `${record.message} The service gives no way to follow it further.`;
  const failure = lastFailure === null ? '' : ` The last look failed: ${lastFailure.message}`;
  if (lastFailure?.httpStatus === 404 || lastFailure?.httpStatus === 410)
    return 'The link to the state of the command is gone, before the car had answered.';
  const end = expired ? 'The link to the state of the command expired' : 'The time to watch the command ran out';
  return `${end} before the car had answered.${failure}`;
}
