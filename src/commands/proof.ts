import { commandRow, proofReadOf, type CommandRow } from '../catalogue/commands';
import { statusWord } from '../catalogue/outcomes';
import type { VehicleClient } from '../client';
import { asVehicleError } from '../errors';
import type { Signal } from '../util/cancellation';
import { endingAt } from '../util/abort';
import type { Clock } from '../util/clock';
import type { CommandRecord } from './record';

export type ProofClient = Pick<VehicleClient, 'read'> & Partial<Pick<VehicleClient, 'clockSkewMs' | 'requireWallbox'>>;

/**
 * All that follow a command share a poll, and all that follow commands of one car a proof, that is
 * not older than this.
 */
export const shareMs = 1_000;
/**
 * The doors lag behind the command (docs/internals/vendor-api.md 1.9): the pauses between reads
 * until a value was measured after it.
 */
const proofPollsMs = [0, 2_000, 3_000, 5_000, 10_000] as const;
/** The largest difference between the clocks of car and service. */
const maxClockDifferenceMs = 5_000;
/** A slow service must not hold back the result. */
const maxProofMs = 30_000;

export interface Proof {
  verified: boolean | null;
  /** Doors that are open in the newest reading; none if the engine was read. */
  open: readonly string[];
  /** What was read. */
  source: NonNullable<ReturnType<typeof proofReadOf>>;
  /** Why a wallbox proves nothing; `none`: it has no open session. */
  doubt?: Doubt;
}

type Doubt = 'none' | 'may be older' | 'other wallbox';

/** The value of a reading that can prove a command, and when the car measured it. */
interface Evidence {
  value: string | null;
  measuredAt: string | null;
  open: readonly string[];
  doubt?: Doubt;
}

/**
 * Reads the doors or the engine until the value was measured after the command, and once more if
 * that reading may be from before the car acted. Null if no read proves the command, or none
 * succeeded.
 */
export async function readProof(
  record: CommandRecord,
  client: ProofClient,
  clock: Clock,
  signal?: Signal,
): Promise<Proof | null> {
  const { proof } = commandRow(record.command) ?? {};
  const source = proofReadOf(record.command);
  if (proof === undefined || source === null) return null;
  const mayDisprove = Object.values(proof).includes(false);
  const endedAt = clock.now();
  const at = (moment: number): number => moment + (client.clockSkewMs ?? 0);
  const sentAt = Date.parse(record.sentAt);
  let best: Proof | null = null;
  for (const pause of proofPollsMs) {
    if (clock.now() + pause >= endedAt + maxProofMs) break;
    if (pause > 0) await clock.sleep(pause, signal);
    const evidence = await endingAt(endedAt + maxProofMs, { clock, signal }, (ending) =>
      readEvidence(source, record, client, ending),
    ).catch((error: unknown) => {
      if (signal?.aborted) throw asVehicleError(error);
      return null;
    });
    if (evidence === null) continue;
    // A session that began in the millisecond of the command is a new one.
    const since = source === 'wallboxCharging' ? sentAt - 1 : sentAt;
    const verified = verdictOf(proof, evidence, { sentAt: at(since), now: at(clock.now()) });
    const { open, doubt } = evidence;
    best = { verified, open, source, ...(verified !== true && doubt !== undefined && { doubt }) };
    if (doubt === 'other wallbox') break;
    // A command that no value can disprove needs no second read; a car takes a
    // while until it charges.
    if (!mayDisprove && (source !== 'wallboxCharging' || verified === true)) break;
    if (record.outcome === 'failed' && (best.open.length > 0 || !hasFailedByOpenDoor(record))) break;
    // A value against the command may be from before the car acted: it is read again
    // while there is time.
    if (isAfter(evidence.measuredAt, at(verified === false ? endedAt : sentAt))) break;
  }
  return best;
}

async function readEvidence(
  source: Proof['source'],
  { vin, wallbox, interface: iface }: CommandRecord,
  client: ProofClient,
  signal: Signal,
): Promise<Evidence> {
  const options = { vin, maxAgeMs: shareMs, signal };
  if (source === 'wallboxCharging') {
    // The configuration can have got another one since, and a record can come from another flow.
    if (wallbox !== client.requireWallbox?.())
      return { value: null, measuredAt: null, open: [], doubt: 'other wallbox' };
    const { payload } = await client.read('wallboxSessions', { ...options, maxAgeMs: 0 });
    const session = payload.find(({ open }) => open === true);
    return session === undefined
      ? { value: null, measuredAt: null, open: [], doubt: 'none' }
      : { value: 'CHARGING', measuredAt: session.start, open: [], doubt: 'may be older' };
  }
  if (source === 'engine-status') {
    const engine = (await client.read(source, options)).payload['engineStatus'];
    return { value: String(engine?.value).toUpperCase(), measuredAt: engine?.timestamp ?? null, open: [] };
  }
  const { payload, vehicle } = await client.read(source, {
    ...options,
    interface: iface === 'connected-v1' ? 'v1' : 'v2',
  });
  const { locked = null, open = [] } = vehicle;
  return {
    value: locked === null ? null : locked ? 'LOCKED' : 'UNLOCKED',
    measuredAt: payload['carLocked']?.timestamp ?? null,
    open,
  };
}

/**
 * @returns the proof of a value that was measured after the command was sent; null without a newer
 * value, or for one that proves nothing
 */
function verdictOf(
  proof: NonNullable<CommandRow['proof']>,
  { value, measuredAt }: Evidence,
  { sentAt, now }: { sentAt: number; now: number },
): boolean | null {
  // A value with a future timestamp may as well be from before the command.
  if (!isAfter(measuredAt, sentAt) || isAfter(measuredAt, now + maxClockDifferenceMs)) return null;
  return Object.entries(proof).find(([word]) => word === value)?.[1] ?? null;
}

const isAfter = (timestamp: string | null | undefined, moment: number): boolean =>
  timestamp != null && Date.parse(timestamp) > moment;

export const hasFailedByOpenDoor = ({ requestStatus }: CommandRecord): boolean =>
  statusWord(requestStatus) === 'UNABLE_TO_LOCK_DOOR_OPEN';
