import { lockWords, openingWords } from './catalogue/members';

/** What the guard tells apart; the vocabulary of its options `watch` and `minutesFor` and of its events. */
export const openingKinds = ['window', 'sunroof', 'door', 'tailGate', 'hood', 'tankLid', 'lock'] as const;
export type OpeningKind = (typeof openingKinds)[number];

/** All but the tank lid, which stands open for hours while a car charges. */
export const defaultWatch: readonly OpeningKind[] = /* @__PURE__ */ openingKinds.filter((kind) => kind !== 'tankLid');

/** The reads that tell of openings (contract 3). */
export type OpeningRead = 'windows' | 'doors';

export interface OpeningRow {
  kind: OpeningKind;
  read: OpeningRead;
  /** Its member in the read's payload (contract 3). */
  name: string;
  /**
   * Equipment that not every car has: where it is missing the service says UNSPECIFIED for ever (field notes 1.6), so it
   * counts only from the first time that the car told something of it.
   */
  ifFitted?: true;
}

/** Every opening under a name that is unique, which is also the key of its words (see text.ts). */
export const openings = {
  frontLeftWindow: { kind: 'window', read: 'windows', name: 'frontLeft' },
  frontRightWindow: { kind: 'window', read: 'windows', name: 'frontRight' },
  rearLeftWindow: { kind: 'window', read: 'windows', name: 'rearLeft' },
  rearRightWindow: { kind: 'window', read: 'windows', name: 'rearRight' },
  sunroof: { kind: 'sunroof', read: 'windows', name: 'sunroof', ifFitted: true },
  frontLeftDoor: { kind: 'door', read: 'doors', name: 'frontLeft' },
  frontRightDoor: { kind: 'door', read: 'doors', name: 'frontRight' },
  rearLeftDoor: { kind: 'door', read: 'doors', name: 'rearLeft' },
  rearRightDoor: { kind: 'door', read: 'doors', name: 'rearRight' },
  tailGate: { kind: 'tailGate', read: 'doors', name: 'tailGate' },
  hood: { kind: 'hood', read: 'doors', name: 'hood' },
  tankLid: { kind: 'tankLid', read: 'doors', name: 'tankLid', ifFitted: true },
  carLocked: { kind: 'lock', read: 'doors', name: 'carLocked' },
} as const satisfies Record<string, OpeningRow>;

export type OpeningKey = keyof typeof openings;
export const openingKeys = /* @__PURE__ */ Object.keys(openings) as OpeningKey[];

/** A kind (all windows) or one opening (the left front window). */
export type WatchName = OpeningKind | OpeningKey;
export const watchNames: readonly WatchName[] = /* @__PURE__ */ (openingKinds as readonly WatchName[]).concat(
  /* @__PURE__ */ openingKeys.filter((key) => !openingKinds.some((kind) => kind === key)),
);

/** The openings that a list of names means, in the order of the table. */
export const openingsNamed = (names: readonly WatchName[]): OpeningKey[] =>
  openingKeys.filter((key) => names.includes(key) || names.includes(openings[key].kind));

/** Unlocked is what "open" is for a lock; a word outside the tables cannot be told (specification 3, field notes 1.5). */
export function interpretState(kind: OpeningKind, word: unknown): 'open' | 'closed' | null {
  if (typeof word !== 'string') return null;
  if (kind !== 'lock')
    return Object.hasOwn(openingWords, word) ? openingWords[word as keyof typeof openingWords] : null;
  if (!Object.hasOwn(lockWords, word)) return null;
  return lockWords[word as keyof typeof lockWords] ? 'closed' : 'open';
}
