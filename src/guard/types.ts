import * as z from 'zod/mini';
import { openingKinds, type OpeningRead, type WatchName } from '../catalogue/openings';

export type GuardRead = OpeningRead | 'accessibility';

/**
 * The payload of the read `windows` or `doors` (docs/internals/contract.md 3). A missing or
 * odd member is unknown.
 */
export type OpeningMembers = Readonly<
  Record<string, { readonly value?: unknown; readonly timestamp?: unknown } | null | undefined>
>;

/** The result of a poll of the car. */
export interface GuardReading {
  type: 'reading';
  /** Milliseconds since 1970. */
  at: number;
  windows?: OpeningMembers | undefined;
  doors?: OpeningMembers | undefined;
  /** Reads without an answer, or with only a kept one: their openings are unknown. */
  failed?: readonly OpeningRead[] | undefined;
  /** The sunroof is unknown and not absent (docs/internals/contract.md 3), so it counts. */
  hasSunroof?: boolean | undefined;
  /** When each answer was received, in milliseconds since 1970. Default: `at`. */
  receivedAt?: Partial<Record<GuardRead, number>> | undefined;
  /** When each was asked for. Default: when it was received. */
  askedAt?: Partial<Record<GuardRead, number>> | undefined;
  /** How far the clock behind the timestamps is ahead of `at`, if that is known. */
  skewMs?: number | undefined;
  /**
   * null: unknown, which counts as not in use, because an unnecessary alert is
   * better than a missing one.
   */
  inUse?: boolean | null | undefined;
}

/** The inputs of a guard; `at` is in milliseconds since 1970. */
export type GuardInput =
  | GuardReading
  | { type: 'tick'; at: number }
  /**
   * Suppresses alerts for so many minutes (null: until the open ones are closed, or another one
   * opens); 0 ends a snooze. Openings that are still open then are reported again.
   */
  | { type: 'snooze'; at: number; minutes: number | null }
  /**
   * A question, for example when rain begins: answered at once with one event, also in quiet hours.
   * `only`: the openings in question.
   */
  | { type: 'ask'; at: number; only?: readonly WatchName[] | undefined };

/** An input as its node passes it: the runner adds the time. */
export type GuardStep = WithoutTime<GuardInput>;
type WithoutTime<Input> = Input extends GuardInput ? Omit<Input, 'at'> : never;

/** The events of a guard; `at` and `since` are ISO-8601. */
export const eventShape = z.lazy(() => {
  /**
   * `name` is that of the member (docs/internals/contract.md 3): `frontLeft`,
   * `tailGate`, `carLocked`.
   */
  const opening = { kind: z.enum(openingKinds), name: z.string() };
  const named = z.array(z.object(opening));
  /**
   * Whole minutes. Not confirmed: it was open when its state was last known, and is unknown now.
   */
  const open = z.object({ ...opening, since: z.iso.datetime(), minutes: z.number(), confirmed: z.boolean() });
  const at = z.iso.datetime();
  return z.discriminatedUnion('type', [
    z.object({
      type: z.literal('alert'),
      at,
      reason: z.enum(['open-too-long', 'repeat', 'asked']),
      /**
       * All openings that have been open for too long, not only the newest; in answer to a
       * question, all that are open.
       */
      openings: z.array(open),
      /** The other openings whose state is unknown. */
      unknown: named,
    }),
    /**
     * All watched openings (or those in question) are known to be closed. Without a question it
     * comes only after an alert.
     */
    z.object({
      type: z.literal('clear'),
      at,
      reason: z.enum(['closed', 'asked']),
      openings: named,
      /**
       * All openings of the car except its lock are among them, so that a sentence may say "all".
       */
      everything: z.boolean(),
    }),
    /** Without a question it comes once for each opening, until its state is known again. */
    z.object({ type: z.literal('cannot-tell'), at, reason: z.enum(['unknown-too-long', 'asked']), openings: named }),
  ]);
});
export type GuardEvent = z.infer<typeof eventShape>;
export type OpenOpening = Extract<GuardEvent, { type: 'alert' }>['openings'][number];
export type NamedOpening = Pick<OpenOpening, 'kind' | 'name'>;

/** The present state, for the node status. */
export interface GuardView {
  /** In the order of the car. */
  open: OpenOpening[];
  /** True only if every watched opening is known to be closed. */
  allClosed: boolean;
  /** The openings that are known to be closed; `everything` as in the event `clear`. */
  closed: NamedOpening[];
  everything: boolean;
  /** Milliseconds since 1970, Infinity until it is closed; null: not snoozed. */
  snoozedUntil: number | null;
  /** When the last alert was sent for what is open, in milliseconds since 1970; null: not yet. */
  alertedAt: number | null;
}
