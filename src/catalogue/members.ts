/**
 * The members of the window and the door status under their one name (docs/message-contract.md 3), and the names that the wire uses for
 * them: v1 as in docs/service.md 2.3 and 2.4, v2 as in docs/field-notes.md 1.5 and 1.6.
 */
export interface Member {
  /** Other spellings on the wire. */
  aliases: readonly string[];
  /** A lock is not an opening: it counts for `locked`, never for `open` and `allClosed`. */
  lock?: true;
}

export const windowMembers = {
  frontLeft: { aliases: ['frontLeftWindow'] },
  frontRight: { aliases: ['frontRightWindow'] },
  rearLeft: { aliases: ['rearLeftWindow'] },
  rearRight: { aliases: ['rearRightWindow'] },
} as const satisfies Record<string, Member>;

export const doorMembers = {
  carLocked: { aliases: ['centralLock'], lock: true },
  frontLeft: { aliases: ['frontLeftDoor'] },
  frontRight: { aliases: ['frontRightDoor'] },
  rearLeft: { aliases: ['rearLeftDoor'] },
  rearRight: { aliases: ['rearRightDoor'] },
  tailGate: { aliases: ['tailgate'] },
  hood: { aliases: [] },
} as const satisfies Record<string, Member>;

/** The state of an opening for each word on the wire; a word that is not in the table is unknown (docs/service.md 3, docs/field-notes.md 1.5). */
export const openingWords = { OPEN: 'open', AJAR: 'open', CLOSED: 'closed' } as const satisfies Record<
  string,
  'open' | 'closed'
>;

/** The state of the lock for each word on the wire (docs/service.md 3). */
export const lockWords = { LOCKED: 'closed', UNLOCKED: 'open' } as const satisfies Record<string, 'open' | 'closed'>;
