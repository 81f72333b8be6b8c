import type { Clock } from '../util/clock';

/** Limits of field notes 5; a limit that is not given does not apply. */
export interface LimitOptions {
  requestsPerMinute?: number;
  commandsPerMinute?: number;
  requestsPerDay?: number;
}

/** The limits of the real service (field notes 5). */
export const realLimits = {
  requestsPerMinute: 100,
  commandsPerMinute: 10,
  requestsPerDay: 10_000,
} as const satisfies LimitOptions;

const minute = 60_000;
const day = 86_400_000;

/** What is over the limit, and for how long. */
export type Excess = { kind: 'rate-limited' } | { kind: 'quota'; refillIn: string };

/** Counts what is let through: a sliding minute, and a day that starts with its first request. */
export class Limits {
  readonly #limits: LimitOptions;
  readonly #clock: Clock;
  #requests: number[] = [];
  #commands: number[] = [];
  #dayStartedAt = -Infinity;
  #today = 0;

  constructor(limits: LimitOptions, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Counts a request, or says why it is not let through. */
  take(isCommand: boolean): Excess | null {
    const { requestsPerMinute = Infinity, commandsPerMinute = Infinity, requestsPerDay = Infinity } = this.#limits;
    if (Math.min(requestsPerMinute, commandsPerMinute, requestsPerDay) === Infinity) return null;
    const now = this.#clock.now();
    if (now >= this.#dayStartedAt + day) {
      this.#dayStartedAt = now;
      this.#today = 0;
    }
    if (this.#today >= requestsPerDay)
      return { kind: 'quota', refillIn: hoursMinutesSeconds(this.#dayStartedAt + day - now) };
    this.#requests = this.#requests.filter((at) => at > now - minute);
    this.#commands = this.#commands.filter((at) => at > now - minute);
    if (this.#requests.length >= requestsPerMinute || (isCommand && this.#commands.length >= commandsPerMinute))
      return { kind: 'rate-limited' };
    this.#today += 1;
    this.#requests.push(now);
    if (isCommand) this.#commands.push(now);
    return null;
  }
}

/** The gateway's way to write a span: `03:30:56` (field notes 1.11). */
function hoursMinutesSeconds(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return [seconds / 3600, (seconds / 60) % 60, seconds % 60]
    .map((part) => String(Math.floor(part)).padStart(2, '0'))
    .join(':');
}
