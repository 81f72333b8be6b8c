/** The first tries come soon: a server that has rotated a token unheard may take the old one for a minute yet (see account.ts). */
const shortest = 2_000;
const longest = 15 * 60_000;

/** Growing pauses, spread by a quarter so that many do not come back together. @param failures from 1 on */
export function pauseAfter(failures: number, random: () => number): number {
  const pause = Math.min(longest, shortest * 2 ** (failures - 1));
  return Math.round(pause * (0.75 + 0.5 * random()));
}
