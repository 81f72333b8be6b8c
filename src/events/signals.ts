import { inUseOf } from '../catalogue/accessibility';
import type { ReadName } from '../catalogue/reads';
import { lockWords, openingsOf, openingWords, type OpeningKind, type OpeningRead } from '../catalogue/openings';
import { serviceUrgency, warningClasses } from '../catalogue/warnings';
import { isInside, positionOf, type Position } from '../car/places';
import type { EventName, EventSettings } from './types';

/** A value that a fact can have, as the service sends it. */
export type FactValue = string | number | boolean | Position;

/** An event that follows from two values of a fact. */
export interface Change {
  event: EventName;
  place?: string;
}

/** A fact about the car from which events follow: a member of a read, or its whole payload. */
export interface EventSignal {
  read: ReadName;
  /**
   * The members of the payload that carry it; null: the payload itself; `all`: each member of it.
   */
  members: readonly string[] | 'all' | null;
  /** Distinguishes several facts of one member. */
  fact?: string;
  /** In `payload.name`. Default: none. */
  nameOf?: (member: string) => string;
  /** The part of a member (or payload) that holds the value. Default: `value`. */
  extract?: (member: Readonly<Record<string, unknown>>) => unknown;
  /**
   * Whether a value is known, of an answer or of the stored state: the service can add words, and a
   * file can be damaged.
   */
  isKnown: (value: unknown) => value is FactValue;
  /** The events between two known values. */
  changes: (from: FactValue, to: FactValue, settings: EventSettings) => Change[];
  /** Several signals with this mark make one event of a name for each reading. */
  once?: true;
}

type Classes = Readonly<Record<string, string>>;

/** A word with its class; every other word is unknown. */
const isWordOf =
  (classes: Classes) =>
  (value: unknown): value is string =>
    typeof value === 'string' && Object.hasOwn(classes, value);

/** An event for each class that a word changes to. */
const changesOfWords =
  (classes: Classes, events: Readonly<Partial<Record<string, EventName>>>) =>
  (from: FactValue, to: FactValue): Change[] => {
    const [before, now] = [classes[String(from)], classes[String(to)]];
    const event = now === undefined ? undefined : events[now];
    return before === now || event === undefined ? [] : [{ event }];
  };

const wordSignal = (
  read: ReadName,
  members: EventSignal['members'],
  classes: Classes,
  events: Readonly<Partial<Record<string, EventName>>>,
  more: Partial<EventSignal> = {},
): EventSignal => ({ read, members, isKnown: isWordOf(classes), changes: changesOfWords(classes, events), ...more });

const same = (member: string): string => member;

const membersOf = (read: OpeningRead, ...kinds: OpeningKind[]): string[] =>
  openingsOf[read].flatMap(({ kind, name }) => (kinds.includes(kind) ? [name] : []));

const openingSignal = (read: OpeningRead, kinds: OpeningKind[], opened: EventName, closed: EventName): EventSignal =>
  wordSignal(read, membersOf(read, ...kinds), openingWords, { open: opened, closed }, { nameOf: same });

const chargingClasses: Classes = {
  CHARGING: 'charging',
  DONE: 'done',
  IDLE: 'idle',
  SCHEDULED: 'idle',
  DISCHARGING: 'idle',
  ERROR: 'idle',
};

const warningSignal = (
  read: ReadName,
  members: EventSignal['members'],
  nameOf: (member: string) => string = same,
): EventSignal => wordSignal(read, members, warningClasses, { on: 'warning-on', off: 'warning-off' }, { nameOf });

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isPosition = (value: unknown): value is Position => positionOf(value) !== null;

export const signals: readonly EventSignal[] = [
  wordSignal('doors', membersOf('doors', 'lock'), lockWords, { closed: 'locked', open: 'unlocked' }),
  openingSignal('doors', ['door'], 'door-opened', 'door-closed'),
  openingSignal('doors', ['tailGate'], 'tailgate-opened', 'tailgate-closed'),
  openingSignal('doors', ['hood'], 'hood-opened', 'hood-closed'),
  openingSignal('windows', ['window', 'sunroof'], 'window-opened', 'window-closed'),
  {
    read: 'engineRunning',
    members: null,
    isKnown: isBoolean,
    changes: (from, to) => (from === to ? [] : [{ event: to === true ? 'engine-started' : 'engine-stopped' }]),
  },
  wordSignal(
    'charging',
    ['chargerConnectionStatus'],
    { CONNECTED: 'yes', DISCONNECTED: 'no' },
    { yes: 'charger-connected', no: 'charger-disconnected' },
  ),
  // The connection and the status of charging report the same fault.
  // A car can report chargerPowerStatus FAULT when charging is done
  // (docs/internals/vendor-api.md 12.3), so that is not counted as a fault.
  wordSignal(
    'charging',
    ['chargerConnectionStatus'],
    { CONNECTED: 'ok', DISCONNECTED: 'ok', FAULT: 'fault' },
    { fault: 'charger-fault' },
    { fact: 'fault', once: true },
  ),
  wordSignal(
    'charging',
    ['chargingStatus'],
    { ...Object.fromEntries(Object.keys(chargingClasses).map((word) => [word, 'ok'])), ERROR: 'fault' },
    { fault: 'charger-fault' },
    { fact: 'fault', once: true },
  ),
  {
    read: 'charging',
    members: ['chargingStatus'],
    isKnown: isWordOf(chargingClasses),
    changes(from, to) {
      const [before, now] = [chargingClasses[String(from)], chargingClasses[String(to)]];
      if (before === now) return [];
      if (now === 'charging') return [{ event: 'charging-started' }];
      if (now === 'done') return [{ event: 'charging-done' }];
      return before === 'charging' ? [{ event: 'charging-stopped' }] : [];
    },
  },
  {
    read: 'charging',
    members: ['batteryChargeLevel'],
    isKnown: isNumber,
    changes(from, to, { level, step }) {
      const [before, now] = [Number(from) >= level, Number(to) >= level];
      const isStep = Math.floor(Number(to) / step) > Math.floor(Number(from) / step);
      return [
        ...(isStep ? [{ event: 'charging-step' as const }] : []),
        ...(before === now ? [] : [{ event: now ? ('battery-above' as const) : ('battery-below' as const) }]),
      ];
    },
  },
  {
    read: 'location',
    members: null,
    extract: positionOf,
    isKnown: isPosition,
    changes(from, to, { places }) {
      if (typeof from !== 'object' || typeof to !== 'object') return [];
      return places.flatMap((place) => {
        const [before, now] = [isInside(from, place), isInside(to, place)];
        return before === now ? [] : [{ event: now ? ('arrived' as const) : ('left' as const), place: place.name }];
      });
    },
  },
  {
    read: 'diagnostics',
    members: ['serviceWarning'],
    isKnown: (value): value is string => typeof value === 'string' && serviceUrgency(value) >= 0,
    changes: (from, to) => (serviceUrgency(to) > serviceUrgency(from) ? [{ event: 'service-due' }] : []),
  },
  warningSignal('warnings', 'all'),
  warningSignal('tyres', 'all', (member) => `${member}Tyre`),
  warningSignal('brakes', 'all'),
  warningSignal('engine', 'all'),
  warningSignal('diagnostics', ['washerFluidLevelWarning']),
  wordSignal('accessibility', null, { AVAILABLE: 'yes', UNAVAILABLE: 'no' }, { yes: 'available', no: 'unavailable' }),
  // These have no events: they show whether a trip has ended.
  { read: 'odometer', members: null, isKnown: isNumber, changes: () => [] },
  {
    read: 'accessibility',
    members: null,
    fact: 'inUse',
    extract: inUseOf,
    isKnown: isBoolean,
    changes: () => [],
  },
];
