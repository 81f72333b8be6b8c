import * as z from 'zod/mini';
import { isOfWallbox } from '../catalogue/commands';
import { isFinal, meaningOf } from '../catalogue/outcomes';
import type { VehicleError } from '../errors';
import { asSentence, type Sentence } from '../sentence';
import { storedSentence } from '../state/state-store';
import { iso } from '../util/clock';
import type { Invocation } from '../wire/invocations';
import { keptProperties } from './kept-properties';
import { outcomeShape, parseRecord, type CommandEnd, type CommandRecord } from './record';

const text = z.catch(z.nullable(z.string()), null);
const state = z.object({ requestStatus: z.nullable(z.string()), at: z.string() });

const verdictShape = z.object({
  outcome: outcomeShape,
  reason: storedSentence,
  verified: z.nullable(z.boolean()),
  settledAt: z.string(),
});
const followerShape = z.object({
  /** The process that follows the command for the node, and sends the result. */
  by: z.string(),
  /** Milliseconds since 1970. */
  startedAt: z.number(),
  /** The properties of the message that brought the record. */
  msg: z.record(z.string(), z.unknown()),
  /** What the flow added to the record. */
  added: z.record(z.string(), z.unknown()),
  /** A result that was perhaps not sent. */
  result: z.nullable(verdictShape),
  /** How often its sending has begun. */
  tries: z.int(),
});
const originShape = z.object({
  node: z.string(),
  /** The process that forwards the record for the node; empty before it is stored. */
  by: z.catch(z.string(), ''),
  msg: z.catch(z.record(z.string(), z.unknown()), {}),
  /** When the record was forwarded, if another node may still take it over. */
  forwardedAt: text,
});

/**
 * A command without order, account or readable record is lost; any other part that cannot
 * be read is left out.
 */
const storedShape = z.lazy(() =>
  z.object({
    order: z.number(),
    account: z.string(),
    sentBy: text,
    record: z.unknown(),
    fault: z.catch(z.nullable(storedSentence), null),
    status: z.catch(z.enum(['sent', 'open', 'over']), 'open'),
    states: z.catch(z.array(state), []),
    verdict: z.catch(z.nullable(verdictShape), null),
    origin: z.catch(z.nullable(originShape), null),
    followers: z.catch(z.record(z.string(), z.nullable(followerShape)), {}),
    isCleared: z.catch(z.boolean(), false),
  }),
);

type StoredCommand = z.infer<typeof storedShape>;
export type StatusChange = z.infer<typeof state>;
export type Verdict = z.infer<typeof verdictShape>;
/**
 * A node that follows a command, from before its first poll until its result was sent. Its own
 * conditions decide when the result is reached.
 */
export type Follower = z.infer<typeof followerShape>;

/**
 * What a node has to send for a command, its record or its result, and the process that sends it.
 */
type Unsent = Pick<Follower, 'by'> & { forwardedAt?: string | null };

/** Who sent a command. */
export interface Sender {
  /** Names the node, for the journal. */
  sentBy?: string | null;
  /**
   * The node that forwards the record when the command is answered, and its message;
   * null if no node does.
   */
  origin?: { node: string; msg: Record<string, unknown> } | null;
}

/**
 * A command in the journal (docs/internals/contract.md 4 and 5): `sentBy` names the node, `states`
 * are the statuses of the service with their times, `reason` explains the result. Times are
 * ISO-8601; a value that is not known (yet) is null.
 */
export interface JournalEntry extends Omit<Verdict, 'reason' | 'settledAt'> {
  id: string;
  command: string;
  vin: string;
  interface: string | null;
  sentBy: string | null;
  sentAt: string;
  operationId: string | null;
  states: StatusChange[];
  reason: Sentence | null;
  settledAt: string | null;
}

/**
 * The longest time that a car may still act on a command after it was sent
 * (docs/internals/vendor-api.md 5).
 */
export const maxActingMs = 150_000;
/** A status that goes back and forth for hours must not fill the store. */
const maxStates = 50;

/** The result of a command that had no answer when the process ended. */
const neverAnswered = {
  car: asSentence('The command may have reached the car, but Node-RED ended before an answer came. Check the car.'),
  wallbox: asSentence(
    'The command may have reached the wallbox, but Node-RED ended before an answer came. Check the wallbox.',
  ),
} as const;

/**
 * What is known of a command, in memory and, as JSON, on disk: facts, of which the record, the
 * journal and the results are views.
 */
export class Command {
  /** Newer ones have a higher number. */
  order = 0;
  /** The version of the stored command; null before it is stored. */
  version: string | null = null;
  readonly id: string;
  readonly account: string;
  readonly sentBy: string | null;
  /** With the newest status. */
  record: CommandRecord;
  /** Why the record has no answer, in English in its message; null if the service sent one. */
  fault: Sentence | null = null;
  /** `sent`: no answer came yet. `open`: the car may still act. `over`: it no longer acts. */
  status: StoredCommand['status'];
  states: StatusChange[];
  verdict: Verdict | null = null;
  /** The node that forwards the record, and its message; null if no node forwards it anymore. */
  origin: z.infer<typeof originShape> | null;
  /** By the node; null once its result was sent. */
  followers: Record<string, Follower | null> = {};
  /** Whether a person has emptied the journal since. */
  isCleared = false;
  /** Whether the last change is stored. */
  isStored = false;
  /** When its link was read last, in monotonic time. */
  polledAt = -Infinity;
  readonly #onFinal: (() => void)[] = [];
  #isRestored = false;

  /** A command that leaves now, with the record that is valid if no answer comes. */
  constructor(record: CommandRecord, account: string, { sentBy = null, origin = null }: Sender, now: number) {
    this.id = record.id;
    this.account = account;
    this.sentBy = sentBy;
    this.record = record;
    this.status = 'sent';
    this.states = [{ requestStatus: null, at: iso(now) }];
    this.origin = origin && { node: origin.node, by: '', msg: keptProperties(origin.msg), forwardedAt: null };
  }

  /** A command from elsewhere: it blocks no car, because the time of its sending is unknown. */
  static adopt(record: CommandRecord, account: string, now: number): Command {
    const command = new Command(record, account, {}, now);
    const { outcome, sentence } = meaningOf(record.requestStatus, record.command);
    const message = record.message || sentence;
    command.answer({ record: { ...record, outcome, message }, status: 'over', fault: null }, now);
    return command;
  }

  /** @returns null if it cannot be read */
  static parse(stored: unknown): Command | null {
    const parsed = storedShape.safeParse(stored);
    if (!parsed.success) return null;
    try {
      const { record, account, sentBy, ...facts } = parsed.data;
      const command = Object.assign(new Command(parseRecord(record), account, { sentBy }, 0), facts);
      command.#isRestored = true;
      return command;
    } catch {
      return null;
    }
  }

  /** Whether the car may still act on it, as far as the answers show. */
  get mayAct(): boolean {
    return this.status !== 'over' && !isFinal(this.record.outcome);
  }

  /** Whether a node needs its result. */
  get isFollowed(): boolean {
    return Object.values(this.followers).some((follower) => follower !== null);
  }

  /** Whether a node follows it, or has had its result. */
  get hasReachedFollower(): boolean {
    return Object.keys(this.followers).length > 0;
  }

  /** Null if the node does not follow it, or has had the result. */
  followerOf(node: string): Follower | null {
    return (Object.hasOwn(this.followers, node) && this.followers[node]) || null;
  }

  setFollower(node: string, follower: Follower): void {
    this.followers = { ...this.followers, [node]: follower };
  }

  /** The node needs no result. */
  removeFollower(node: string): void {
    const { [node]: _removed, ...others } = this.followers;
    this.followers = others;
  }

  /** The node has had the result. */
  markDone(node: string): void {
    this.followers = { ...this.followers, [node]: null };
  }

  isDone(node: string): boolean {
    return Object.hasOwn(this.followers, node) && this.followers[node] === null;
  }

  /** What a node has to send for it; null if it has nothing to send, or has sent it. */
  unsentOf(node: string): Unsent | null {
    return this.origin?.node === node ? this.origin : this.followerOf(node);
  }

  /**
   * Calls back once: at once if the car no longer acts on the command; otherwise when its
   * link has a final status, here (`addStatus`) or in another process (`merge`).
   */
  whenOver(callback: () => void): void {
    if (this.mayAct) this.#onFinal.push(callback);
    else callback();
  }

  /** What the newest status means. */
  get message(): Sentence {
    return this.fault ?? asSentence(this.record.message);
  }

  answer({ record, status, fault }: CommandEnd, now: number): void {
    Object.assign(this, { record, status, fault });
    this.states = [{ requestStatus: record.requestStatus, at: iso(now) }];
    const { outcome } = record;
    this.verdict =
      outcome === 'pending' ? null : { outcome, reason: this.message, verified: null, settledAt: iso(now) };
  }

  refuse({ sentence, operationId }: VehicleError, now: number): void {
    this.record = { ...this.record, operationId, outcome: 'failed' };
    this.status = 'over';
    this.origin = null;
    this.verdict = { outcome: 'failed', reason: sentence, verified: null, settledAt: iso(now) };
  }

  /** Adds a status of its link. */
  addStatus({ requestStatus, message }: Pick<Invocation, 'requestStatus' | 'message'>, now: number): void {
    if (requestStatus === null || requestStatus === this.record.requestStatus) return;
    const { outcome, sentence } = meaningOf(requestStatus, this.record.command);
    this.states.push({ requestStatus, at: iso(now) });
    this.record = { ...this.record, requestStatus, outcome, message: message ?? sentence };
    this.fault = null;
    if (isFinal(outcome)) for (const call of this.#onFinal.splice(0)) call();
  }

  /**
   * Stores a result. A known result stays: a second one replaces it only if it knows more,
   * and a verification that succeeded is kept.
   * @returns this result
   */
  keepVerdict({ outcome, reason, verified }: Omit<Verdict, 'settledAt'>, now: number): Verdict {
    this.isCleared = false;
    const next = { outcome, reason, verified, settledAt: iso(now) };
    const known = this.verdict;
    if (known === null) this.verdict = next;
    else if (!(isFinal(known.outcome) && outcome !== known.outcome) && knowledgeOf(next) > knowledgeOf(known))
      this.verdict = { ...next, verified: verified ?? known.verified };
    return next;
  }

  /** Takes over what another process has learned of the command. */
  merge(other: Command): void {
    const knowsMore =
      (isFinal(other.record.outcome) && !isFinal(this.record.outcome)) ||
      (this.status === 'sent' && other.status !== 'sent') ||
      (this.#isRestored && other.states.length >= this.states.length);
    const { order, account, record, fault, status, states } = other;
    if (knowsMore) Object.assign(this, { record, fault, status, states });
    Object.assign(this, { order, ...(this.#isRestored && { account }) });
    if (knowledgeOf(other.verdict) > knowledgeOf(this.verdict)) this.verdict = other.verdict;
    const { origin } = this;
    const forwardedAt = origin?.forwardedAt ?? other.origin?.forwardedAt ?? null;
    this.origin = origin && other.origin && { ...origin, by: other.origin.by, forwardedAt };
    const done = Object.keys(this.followers).filter((node) => this.isDone(node));
    this.followers = { ...this.followers, ...other.followers };
    for (const node of done) this.markDone(node);
    this.isCleared ||= other.isCleared;
    if (!this.mayAct) for (const call of this.#onFinal.splice(0)) call();
  }

  journalEntry(): JournalEntry {
    const { id, command, vin, interface: iface, sentAt, operationId, outcome } = this.record;
    const open = { outcome, reason: null, verified: null, settledAt: null };
    const unanswered = this.#isRestored
      ? ({ ...open, outcome: 'undetermined', reason: neverAnswered[isOfWallbox(command) ? 'wallbox' : 'car'] } as const)
      : ({ ...open, outcome: 'pending' } as const);
    return {
      id,
      command,
      vin,
      interface: iface,
      sentBy: this.sentBy,
      sentAt,
      operationId,
      states: structuredClone(this.states.slice(-maxStates)),
      ...(this.verdict ?? (this.status === 'sent' ? unanswered : open)),
    };
  }

  toJSON(): StoredCommand {
    const { order, account, sentBy, record, fault, status, verdict, origin, followers, isCleared } = this;
    const states = this.states.slice(-maxStates);
    return { order, account, sentBy, record, fault, status, states, verdict, origin, followers, isCleared };
  }
}

const knowledgeOf = (verdict: Verdict | null): number =>
  verdict === null ? -1 : (isFinal(verdict.outcome) ? 2 : 0) + (verdict.verified === null ? 0 : 1);
