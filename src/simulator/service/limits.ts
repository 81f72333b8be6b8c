import type { Clock } from '../../util/clock';
import type { ApiName } from '../../catalogue/reads';
import { dayMs, minuteMs } from '../../util/durations';

/** The limits of docs/internals/vendor-api.md 5. A limit that is not set does not apply. */
export interface LimitOptions {
  requestsPerMinute?: number;
  commandsPerMinute?: number;
  requestsPerDay?: number;
}

/** The limits of the real service (docs/internals/vendor-api.md 5). */
export const realLimits = {
  requestsPerMinute: 100,
  commandsPerMinute: 10,
  requestsPerDay: 10_000,
} as const satisfies LimitOptions;

/** The limit that a request exceeds, and the time until the quota is full again. */
type Excess = { kind: 'rate-limited' } | { kind: 'quota'; refillIn: string };

/** Counts a sliding minute of all APIs, and for each API a day from its first request on. */
export class Limits {
  readonly #limits: LimitOptions;
  readonly #clock: Clock;
  #requests: number[] = [];
  #commands: number[] = [];
  readonly #days = new Map<ApiName, { startedAt: number; count: number }>();

  constructor(limits: LimitOptions, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Counts a request, or returns why it is not let through. */
  take(api: ApiName, isCommand: boolean): Excess | null {
    const { requestsPerMinute = Infinity, commandsPerMinute = Infinity, requestsPerDay = Infinity } = this.#limits;
    const now = this.#clock.now();
    const today = this.#dayOf(api, now);
    if (today.count >= requestsPerDay)
      return { kind: 'quota', refillIn: hoursMinutesSeconds(today.startedAt + dayMs - now) };
    if (Math.min(requestsPerMinute, commandsPerMinute) === Infinity) {
      today.count += 1;
      return null;
    }
    this.#requests = this.#requests.filter((at) => at > now - minuteMs);
    this.#commands = this.#commands.filter((at) => at > now - minuteMs);
    if (this.#requests.length >= requestsPerMinute || (isCommand && this.#commands.length >= commandsPerMinute))
      return { kind: 'rate-limited' };
    today.count += 1;
    this.#requests.push(now);
    if (isCommand) this.#commands.push(now);
    return null;
  }

  #dayOf(api: ApiName, now: number) {
    let found = this.#days.get(api);
    if (found === undefined || now >= found.startedAt + dayMs)
      this.#days.set(api, (found = { startedAt: now, count: 0 }));
    return found;
  }
}

/** The gateway's way to write a span: `03:30:56` (docs/internals/vendor-api.md 1.11). */
function hoursMinutesSeconds(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return [seconds / 3600, (seconds / 60) % 60, seconds % 60]
    .map((part) => String(Math.floor(part)).padStart(2, '0'))
    .join(':');
}
