import type { OpeningKind, OpeningRead, WatchName } from '../openings';

/** The payload of the read `windows` or `doors` (docs/message-contract.md 3). What is missing or odd in it cannot be told. */
export type OpeningMembers = Readonly<
  Record<string, { readonly value?: unknown; readonly timestamp?: unknown } | null | undefined>
>;

/** What a look at the car brought. */
export interface GuardReading {
  type: 'reading';
  /** Milliseconds since 1970. */
  at: number;
  windows?: OpeningMembers | undefined;
  doors?: OpeningMembers | undefined;
  /** Reads that gave no answer, or only a kept one: their openings cannot be told. */
  failed?: readonly OpeningRead[] | undefined;
  /** The sunroof is unknown and not absent (docs/message-contract.md 3), so it counts. */
  hasSunroof?: boolean | undefined;
  /** How far the clock behind the timestamps is ahead of `at`, where that is known. */
  skewMs?: number | undefined;
  /** null: cannot be told, which counts as not in use, for an alert too many is better than none. */
  inUse?: boolean | null | undefined;
}

/** What happens to a guard; `at` is milliseconds since 1970. */
export type GuardInput =
  | GuardReading
  | { type: 'tick'; at: number }
  /** No unasked alert for so many minutes (null: until what is open is closed, or something else opens); 0 ends a snooze. What is still open then is said again. */
  | { type: 'snooze'; at: number; minutes: number | null }
  /** It rains, everybody left: answered at once with one event, quiet or not. `only`: what the answer is about. */
  | { type: 'ask'; at: number; only?: readonly WatchName[] | undefined };

export interface NamedOpening {
  kind: OpeningKind;
  /** The member's name (docs/message-contract.md 3): `frontLeft`, `tailGate`, `carLocked`. */
  name: string;
}

export interface OpenOpening extends NamedOpening {
  /** ISO-8601. */
  since: string;
  /** Whole minutes. */
  minutes: number;
  /** false: it was open when it was last told, and cannot be told now. */
  confirmed: boolean;
}

/** What the guard says; `at` is ISO-8601. */
export type GuardEvent =
  | {
      type: 'alert';
      at: string;
      reason: 'open-too-long' | 'repeat' | 'asked';
      /** Unasked: all whose time is up, not only the newest. Asked: all that are open. */
      openings: OpenOpening[];
      /** What cannot be told besides. */
      unknown: NamedOpening[];
    }
  /**
   * All that is watched (or asked about) was told to be closed. Unasked only after an alert. `everything`: nothing of the
   * car but its lock is left out, so that "all" may be said.
   */
  | { type: 'clear'; at: string; reason: 'closed' | 'asked'; openings: NamedOpening[]; everything: boolean }
  /** Unasked once for each opening until it can be told again. */
  | { type: 'cannot-tell'; at: string; reason: 'unknown-too-long' | 'asked'; openings: NamedOpening[] };

/** How things stand, for a badge. */
export interface GuardView {
  /** In the order of the car. */
  open: OpenOpening[];
  /** What cannot be told and was not open when it was last told. */
  unknown: NamedOpening[];
  /** Told, not assumed. */
  allClosed: boolean;
  /** What was told to be closed, and whether nothing of the car but its lock is left out. */
  closed: NamedOpening[];
  everything: boolean;
  /** Milliseconds since 1970, Infinity until it is closed; null: not snoozed. */
  snoozedUntil: number | null;
}
