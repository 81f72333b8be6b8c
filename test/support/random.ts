import { strict as assert } from 'node:assert';

/**
 * How often a test tries what is random: `few` times in `npm test`, FACTOR times as often in
 * `npm run test:slow`.
 */
export const times = (few: number): number => Math.max(1, Math.ceil(few * Number(process.env['FACTOR'] ?? 1)));

/**
 * The seed of the first random history, or of the random cases. A failure names the
 * seed that repeats it.
 */
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

/**
 * Declares a test that lives through random histories. A failure names the seed that
 * repeats its history alone.
 */
export function itOnHistories(title: string, histories: number, live: (random: Random, seed: number) => unknown): void {
  it(`${title} (${histories} histories from seed ${firstSeed})`, async function () {
    this.timeout(0);
    for (let seed = firstSeed; seed < firstSeed + histories; seed += 1)
      try {
        await live(new Random(seed), seed);
      } catch (error) {
        throw new Error(`seed ${seed}: repeat with SEED=${seed} FACTOR=0. ${String(error)}`, { cause: error });
      }
  });
}

/**
 * Declares the test that the histories met each thing more often than `least` times; few of them
 * meet not everything.
 */
export function itMetEverything(isEnough: boolean, least: number, count: () => Record<string, number>): void {
  it('met everything on the way', function () {
    if (!isEnough) this.skip();
    for (const [what, many] of Object.entries(count())) assert.ok(many > least, `${what}: ${many} times only`);
  });
}
