import type { SharedAnswer } from '../http/requests';
import { minuteMs, secondMs } from '../util/durations';
import type { ReadingContext } from './reading';

/** When an answer came. */
export interface Moment {
  /** When it came and when it was asked for, in milliseconds since 1970. */
  at: number;
  askedAt: number;
  /** How far the clock of the service was ahead, in milliseconds. */
  skewMs: number;
}

/** An answer, with all that its reading depends on. */
export interface Came {
  answer: SharedAnswer;
  context: ReadingContext;
  moment: Moment;
}

/** The last answers to a read of a car. */
export interface LastAnswers {
  /** The last one that was remembered at once; null: none was. */
  remembered: Came | null;
  /** The number of the last change of the car then. */
  change: number;
  /** The last one since then, and its number among those of all cars. */
  deferred: Came | null;
  order: number;
  /** Remembers what a deferred answer shows. */
  remember(came: Came): unknown;
}

interface Car {
  /** The number of its last change. */
  change: number;
  /** When its last answer came, and its number among those of all cars. */
  moment: Moment;
  order: number;
  /** The reads with a deferred answer. */
  readonly deferred: LastAnswers[];
}

/** As many as an overview (nodes/vehicle/overview.ts) has: one that it has forgotten comes back. */
const maxCars = 20;

/** No hour and no day of a time zone may begin in one: an answer can mean something else then. */
const intervalMs = 5 * minuteMs;

/**
 * The answers of a parked car are mostly equal, and to remember what one shows takes a third of the
 * CPU of a read. While no answer of a car changes, the last one of each read is deferred, and
 * replaces the one before it. It is remembered when somebody asks what is known of the car, before
 * the next change, and with the first answer in the next five minutes of the clock.
 */
export class Repeats {
  readonly #cars = new Map<string, Car>();
  #changes = 0;
  #answers = 0;

  /** @returns false if the answer must be remembered now */
  defer(vin: string, last: LastAnswers, came: Came): boolean {
    const car = this.#cars.get(vin) ?? newCar();
    const { remembered, deferred } = last;
    const { moment } = came;
    const isRepeat = remembered !== null && isSame(remembered, came) && isOneClock(car.moment, moment);
    car.moment = moment;
    car.order = this.#answers += 1;
    const isOvertaken = deferred !== null && moment.askedAt < deferred.moment.askedAt;
    const isQuiet = isRepeat && last.change === car.change && !isOvertaken;
    if (isQuiet && isOneInterval(remembered.moment, moment)) {
      if (deferred === null) car.deferred.push(last);
      last.deferred = came;
      last.order = car.order;
      return true;
    }
    this.catchUp();
    if (!this.#cars.has(vin)) this.#add(vin, car);
    if (!isRepeat) car.change = this.#changes += 1;
    Object.assign(last, { remembered: came, change: car.change });
    return false;
  }

  /** Remembers what is deferred, in the order in which it came. @param vin default: all cars */
  catchUp(vin?: string): void {
    const cars = vin === undefined ? [...this.#cars.values()] : [this.#cars.get(vin)];
    const all = cars.flatMap((car) => car?.deferred.splice(0) ?? []);
    for (const last of all.sort((one, other) => one.order - other.order)) {
      const { deferred } = last;
      last.deferred = null;
      if (deferred !== null) last.remember(deferred);
    }
  }

  /** The next answer to each read must be remembered at once, because it can mean something new. */
  noteChange(vin: string): void {
    const car = this.#cars.get(vin);
    if (car !== undefined) car.change = this.#changes += 1;
  }

  /** Forgets the car that was read longest ago, as an overview does. */
  #add(vin: string, car: Car): void {
    if (this.#cars.size >= maxCars) {
      const [[oldest = ''] = []] = [...this.#cars].sort(([, one], [, other]) => one.order - other.order);
      this.#cars.delete(oldest);
    }
    this.#cars.set(vin, car);
  }
}

const newCar = (): Car => ({
  change: 0,
  moment: { at: -Infinity, askedAt: 0, skewMs: 0 },
  order: 0,
  deferred: [],
});

/** Their readings differ only in the times at which they came. */
const isSame = (one: Came, other: Came): boolean =>
  one.answer.value.body === other.answer.value.body &&
  one.context.isFitted === other.context.isFitted &&
  one.context.burnsFuel === other.context.burnsFuel;

/** False if a clock was set between them. */
const isOneClock = (before: Moment, after: Moment): boolean =>
  after.at >= before.at && Math.abs(after.skewMs - before.skewMs) < 2 * secondMs;

const isOneInterval = (before: Moment, after: Moment): boolean =>
  Math.floor(before.at / intervalMs) === Math.floor(after.at / intervalMs);
