import type { ReadName } from '../catalogue/reads';
import type { Place } from '../car/places';
import type { WallboxSession } from '../wire/wallbox';

/**
 * All events, in the order of the form (docs/internals/contract.md 5a), with the
 * reads that show them.
 */
export const eventReads = {
  locked: ['doors'],
  unlocked: ['doors'],
  'door-opened': ['doors'],
  'door-closed': ['doors'],
  'window-opened': ['windows'],
  'window-closed': ['windows'],
  'tailgate-opened': ['doors'],
  'tailgate-closed': ['doors'],
  'hood-opened': ['doors'],
  'hood-closed': ['doors'],
  'engine-started': ['engineRunning'],
  'engine-stopped': ['engineRunning'],
  'trip-ended': ['odometer', 'engineRunning', 'accessibility'],
  'charger-connected': ['charging'],
  'charger-disconnected': ['charging'],
  'charging-started': ['charging'],
  'charging-step': ['charging'],
  'charging-stopped': ['charging'],
  'charging-done': ['charging'],
  'charger-fault': ['charging'],
  'charging-session-ended': ['wallboxSessions'],
  'battery-below': ['charging'],
  'battery-above': ['charging'],
  arrived: ['location'],
  left: ['location'],
  'service-due': ['diagnostics'],
  'warning-on': ['warnings', 'tyres', 'brakes', 'engine', 'diagnostics'],
  'warning-off': ['warnings', 'tyres', 'brakes', 'engine', 'diagnostics'],
  available: ['accessibility'],
  unavailable: ['accessibility'],
  'sign-in-ending': [],
  'sign-in-required': [],
} as const satisfies Record<string, readonly ReadName[]>;

export type EventName = keyof typeof eventReads;
export const eventNames = /* @__PURE__ */ Object.keys(eventReads) as EventName[];
export type EventRead = (typeof eventReads)[EventName][number];

/** Whether an event is one of the account, which needs no read. */
export const isOfSignIn = (event: EventName): boolean => event.startsWith('sign-in-');

/** Whether `place` of an event is a place of the settings. */
export const hasPlace = (event: string): boolean => event === 'arrived' || event === 'left';

/** The reads that the chosen events need. */
export const readsForEvents = (events: readonly EventName[]): EventRead[] => [
  ...new Set(events.flatMap((name): readonly EventRead[] => eventReads[name])),
];

const slowSeconds = 30 * 60;

/** These change over days and cost a request each, so they are polled at most every half hour. */
const isSlow = (read: EventRead): boolean =>
  read === 'diagnostics' || read === 'warnings' || read === 'tyres' || read === 'brakes' || read === 'engine';

/** The reads of the chosen events with the seconds between two polls. */
export const eventPolls = (events: readonly EventName[], seconds: number): { reads: EventRead[]; poll: number }[] =>
  [
    { reads: readsForEvents(events).filter((read) => !isSlow(read)), poll: seconds },
    { reads: readsForEvents(events).filter(isSlow), poll: seconds === 0 ? 0 : Math.max(seconds, slowSeconds) },
  ].filter(({ reads }) => reads.length > 0);

export interface EventSettings {
  events: readonly EventName[];
  /** Percent: `battery-above` is at or above it, `battery-below` is below it. */
  level: number;
  /** Percent: `charging-step` is sent at each multiple of it. */
  step: number;
  places: readonly Place[];
}

/** The payloads of reads, by name, as the client returns them. */
export interface EventReading {
  /** Milliseconds since 1970. */
  at: number;
  payloads: Partial<Record<ReadName, unknown>>;
  /** When each answer was received, which can be earlier than `at`. Default: `at`. */
  receivedAt?: Partial<Record<ReadName, number>>;
  /** When each was asked for. Default: when it was received. */
  askedAt?: Partial<Record<ReadName, number | undefined>>;
  /** How far the clock behind the timestamps is ahead of `at`, if that is known. */
  skewMs?: number;
}

/** `payload` of an event, without its sentence (docs/internals/contract.md 5a). */
export interface VehicleEvent {
  event: EventName;
  /**
   * The values as the service sent them; kilometers for `trip-ended`, the times of the session for
   * `charging-session-ended`.
   */
  from: unknown;
  to: unknown;
  /** The member of doors, windows or warnings; null for other events. */
  name: string | null;
  /** The place of `arrived` and `left`; null for other events. */
  place: string | null;
  /**
   * For `charging-step` only: the level to which the car charges, and when it will reach it
   * (ISO-8601), as the car reports.
   */
  target?: number | null | undefined;
  doneAt?: string | null | undefined;
  /**
   * ISO-8601. The car still had the old value at `since` and had the new one at `until`. Events of
   * the sign-in have no `since`; the `until` of `sign-in-ending` is when the sign-in ends.
   */
  between: { since: string | null; until: string };
  /** For `charging-session-ended` only: the session, in the form of the read `wallboxSessions`. */
  session?: WallboxSession | undefined;
}
