/** The kinds of openings, in the guard's options `watch` and `minutesFor` and in its events. */
export const openingKinds = ['window', 'sunroof', 'door', 'tailGate', 'hood', 'tankLid', 'lock'] as const;
export type OpeningKind = (typeof openingKinds)[number];

/** All but the tank lid, which is open for hours while a car charges. */
export const defaultWatch: readonly OpeningKind[] = /* @__PURE__ */ openingKinds.filter((kind) => kind !== 'tankLid');

/** The reads of openings (docs/internals/contract.md 3). */
export type OpeningRead = 'windows' | 'doors';

export interface OpeningRow {
  kind: OpeningKind;
  read: OpeningRead;
  /**
   * Its member in the read's payload (docs/internals/contract.md 3), which is also that of v1
   * (docs/internals/service.md 2.3, 2.4).
   */
  name: string;
  /** Its member in the answer of v2 (docs/internals/vendor-api.md 1.5, 1.6). Default: its key. */
  v2?: string;
  /**
   * Equipment that not every car has: a car that lacks it always reports UNSPECIFIED
   * (docs/internals/vendor-api.md 1.6), so the guard counts it from the first time that its state
   * was known. v1 does not have it.
   */
  ifFitted?: true;
}

/** Each opening has a unique name, which is also the key of its text and of its drawing. */
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
  tailGate: { kind: 'tailGate', read: 'doors', name: 'tailGate', v2: 'tailgate' },
  hood: { kind: 'hood', read: 'doors', name: 'hood' },
  tankLid: { kind: 'tankLid', read: 'doors', name: 'tankLid', ifFitted: true },
  carLocked: { kind: 'lock', read: 'doors', name: 'carLocked', v2: 'centralLock' },
} as const satisfies Record<string, OpeningRow>;

export type OpeningKey = keyof typeof openings;
export const openingKeys = /* @__PURE__ */ Object.keys(openings) as OpeningKey[];

/** `spellings`: its members in the answers of v1 and v2. */
const openingRows = (read: OpeningRead): readonly (OpeningRow & { v2: string; spellings: readonly string[] })[] =>
  Object.entries<OpeningRow>(openings)
    .flatMap(([key, row]) => {
      const { name, v2 = key } = row;
      return row.read === read ? [{ ...row, v2, spellings: [...new Set([name, v2])] }] : [];
    })
    .sort((one, other) => Number(other.kind === 'lock') - Number(one.kind === 'lock'));

/** The openings of each read in the order of its payload: the lock comes first. */
export const openingsOf = {
  windows: /* @__PURE__ */ openingRows('windows'),
  doors: /* @__PURE__ */ openingRows('doors'),
} as const;

/** A kind (all windows) or one opening (the left front window). */
export type WatchName = OpeningKind | OpeningKey;
export const watchNames: readonly WatchName[] = /* @__PURE__ */ (openingKinds as readonly WatchName[]).concat(
  /* @__PURE__ */ openingKeys.filter((key) => !openingKinds.some((kind) => kind === key)),
);

/** The openings that a list of names means, in the order of the table. */
export const openingsNamed = (names: readonly WatchName[]): OpeningKey[] =>
  openingKeys.filter((key) => names.includes(key) || names.includes(openings[key].kind));

/** Other words are unknown (docs/internals/service.md 3, docs/internals/vendor-api.md 1.5). */
export const openingWords = { OPEN: 'open', AJAR: 'open', CLOSED: 'closed' } as const;
/** Unlocked is "open" (docs/internals/service.md 3). */
export const lockWords = { LOCKED: 'closed', UNLOCKED: 'open' } as const;

const stateIn =
  (words: Readonly<Record<string, 'open' | 'closed'>>) =>
  (word: unknown): 'open' | 'closed' | null =>
    typeof word === 'string' && Object.hasOwn(words, word) ? (words[word] ?? null) : null;

export const openingKeyOf = (name: string, readOrKind: string): OpeningKey | undefined =>
  openingKeys.find((key) => {
    const { kind, read, name: own } = openings[key];
    return own === name && (read === readOrKind || kind === readOrKind);
  });

export const openingState = /* @__PURE__ */ stateIn(openingWords);
export const lockState = /* @__PURE__ */ stateIn(lockWords);

/** The state of the windows or doors (docs/internals/contract.md 3). */
export interface Openness {
  open: string[];
  unknown: string[];
  /** Windows only: equipment that this car does not have. */
  absent?: string[];
  /** False as soon as one is open; null if none is open but one is unknown. */
  allClosed: boolean | null;
  /** Doors only; null if unknown. */
  locked?: boolean | null;
}

/** The lock is a member of the doors: it counts for `locked`, never for `open` and `allClosed`. */
const lockName = openings.carLocked.name;
const sunroofName = openings.sunroof.name;
/** The car lacks the equipment, or the state is not known at the moment. */
export const unspecified = 'UNSPECIFIED';

/**
 * Judges the members of a window or door status.
 * @param hasSunroof false if the service has never reported a state of the
 * sunroof (src/car/facts.ts)
 */
export function judgeOpenings(
  members: Iterable<readonly [name: string, member: { value: unknown }]>,
  hasSunroof = true,
): Openness {
  const open: string[] = [];
  const unknown: string[] = [];
  let locked: boolean | null | undefined;
  let isSunroofUnspecified = false;
  for (const [name, { value }] of members) {
    const state = (name === lockName ? lockState : openingState)(value);
    if (name === lockName) locked = state === null ? null : state === 'closed';
    else if (state === 'open') open.push(name);
    if (state === null) unknown.push(name);
    if (name === sunroofName && value === unspecified) isSunroofUnspecified = true;
  }
  // If other members are unknown as well, the state of the sunroof may be
  // unknown only at the moment.
  const isAbsent = isSunroofUnspecified && !hasSunroof && unknown.length === 1 && locked === undefined;
  const isUnknown = !isAbsent && unknown.some((name) => name !== lockName);
  const allClosed = open.length > 0 ? false : isUnknown ? null : true;
  // In the order in which `msg.vehicle` shows them.
  if (locked !== undefined) return { allClosed, open, locked, unknown };
  return isAbsent ? { allClosed, open, unknown: [], absent: [sunroofName] } : { allClosed, open, unknown };
}

export type FittedName = 'sunroof' | 'tankLid';

export const openingIfFitted: Readonly<Partial<Record<string, FittedName>>> = { windows: 'sunroof', doors: 'tankLid' };
