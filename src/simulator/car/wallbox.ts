import * as z from 'zod/mini';
import { iso, type Clock } from '../../util/clock';
import { chargingStatus } from './battery';
import type { CarState } from './state';
import { hourMs, secondMs } from '../../util/durations';

/** Volts of three phases: 16 ampere are 11 kW. */
const volts = 690;

/** What of its car it sees and does. */
interface ChargedCar {
  readonly state: Readonly<CarState>;
  set(changes: {
    charger?: { hasPower: boolean; scheduled?: boolean };
    battery?: { currentLimit: number; power: number };
  }): void;
  measuredAt(path: string): number;
  plan(at: number, act: () => void): void;
  onChange(listener: () => void): void;
}

interface Session {
  id: number;
  start: number;
  end: number | null;
  kWh: number;
}

/** The body of `chargingSchedule` (docs/internals/vendor-api.md 17). */
export const scheduleShape = z.object({
  start: z.iso.datetime({ offset: true }),
  periods: z.array(
    z.intersection(
      z.object({ duration: z.string().check(z.regex(/^-?(\d+\.)?\d{2}:\d{2}:\d{2}(\.\d{1,7})?$/)) }),
      z.discriminatedUnion('$type', [
        z.object({ $type: z.literal('WattPeriod'), watt: z.number() }),
        z.object({ $type: z.literal('AmperePeriod'), ampere: z.number() }),
      ]),
    ),
  ),
  scheduleId: z.nullable(z.object({ value: z.optional(z.nullable(z.string())) })),
});
type Schedule = z.infer<typeof scheduleShape>;

/** The wallbox of a car: it has power or pauses, and a session is open while the car charges. */
export class Wallbox {
  readonly #car: ChargedCar;
  readonly #sessions: Session[];
  #level = 0;
  /** Which schedule is the latest: an earlier one no longer acts. */
  #schedules = 0;

  constructor(car: ChargedCar, clock: Pick<Clock, 'now'>) {
    const now = clock.now();
    this.#car = car;
    this.#sessions = [
      { id: 1, start: now - 73 * hourMs, end: now - 71 * hourMs, kWh: 21.4 },
      { id: 2, start: now - 25 * hourMs, end: now - 24 * hourMs, kWh: 10.2 },
    ];
    car.onChange(() => this.#follow());
    this.#follow();
  }

  /** Whether it can do something with the car. */
  get isPluggedIn(): boolean {
    return this.#car.state.charger.connection === 'CONNECTED';
  }

  /** Those that began between two times, in milliseconds since 1970, as the service shows them. */
  sessions(from: number, to: number): object[] {
    this.#follow();
    return this.#sessions
      .filter(({ start }) => start >= from && start <= to)
      .map(({ id, start, end, kWh }) => ({
        wallboxId: this.#car.state.wallbox,
        transactionId: String(id),
        idToken: 'APP',
        start: iso(start),
        end: end === null ? null : iso(end),
        chargedEnergy: Math.round(kWh * 1_000) / 1_000,
        connectorId: 1,
      }));
  }

  switch(on: boolean): void {
    this.#car.set({ charger: { hasPower: on, ...(on && { scheduled: false }) } });
  }

  limit(ampere: number): void {
    this.#car.set({ battery: { currentLimit: ampere, power: ampere * volts } });
  }

  schedule({ start, periods }: Schedule): void {
    const schedule = ++this.#schedules;
    let at = Date.parse(start);
    for (const period of periods) {
      const ampere = 'watt' in period ? period.watt / volts : period.ampere;
      this.#car.plan(at, () => {
        if (schedule !== this.#schedules) return;
        this.switch(ampere > 0);
        if (ampere > 0) this.limit(ampere);
      });
      at += durationMs(period.duration);
    }
  }

  /** Opens, fills or ends a session, as the car charges. */
  #follow(): void {
    const { state } = this.#car;
    const level = state.battery.level ?? 0;
    const open = this.#sessions.find(({ end }) => end === null);
    if (open) open.kWh += (Math.max(0, level - this.#level) / 100) * state.battery.capacityKWH;
    this.#level = level;
    const isCharging = state.wallbox !== null && chargingStatus(state) === 'CHARGING';
    if (isCharging === (open !== undefined)) return;
    const at = this.#car.measuredAt('energy.chargingStatus');
    if (open) open.end = at;
    else this.#sessions.push({ id: this.#sessions.length + 1, start: at, end: null, kWh: 0 });
  }
}

/** `d.hh:mm:ss`, with or without days. */
function durationMs(text: string): number {
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] = (/^-?(?:(\d+)\.)?(\d+):(\d+):(\d+)/.exec(text) ?? []).map(
    (part) => Number(part ?? 0),
  );
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * secondMs;
}
