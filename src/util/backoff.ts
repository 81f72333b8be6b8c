interface Backoff {
  firstMs: number;
  maxMs: number;
}

/**
 * The pause before the next try: it doubles with each failure up to a maximum, give or take a
 * quarter at random, so that many clients do not retry at the same moment.
 * @param failures from 1 on
 * @param random 0 to 1
 */
export const backoffMs = (failures: number, { firstMs, maxMs }: Backoff, random: () => number): number =>
  Math.min(maxMs, firstMs * 2 ** (failures - 1)) * (0.75 + random() / 2);
