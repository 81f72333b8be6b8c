/** How often a test tries what is random: `few` times in `npm test`, FACTOR times as often in `npm run test:slow`. */
export const times = (few: number): number => Math.max(1, Math.ceil(few * Number(process.env['FACTOR'] ?? 1)));

/** The seed of the first random history, or of the random cases. A failure names the seed that repeats it. */
export const firstSeed = Number(process.env['SEED'] ?? 1);

/** Repeatable chance: the same seed gives the same numbers on every machine (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.between(0, items.length - 1)] ?? items[0];
  }
}
