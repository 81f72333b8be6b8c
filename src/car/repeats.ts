import type { SharedAnswer } from '../http/requests';
import { minuteMs, secondMs } from '../util/durations';
import type { ReadingContext } from './reading';

/** When an answer came. */
export interface Moment {
  /** Milliseconds since 1970. */
  at: number;
  /** How far the clock of the service was ahead, in milliseconds. */
  skewMs: number;
}

/** An answer, with all that its reading depends on. */
export interface ReceivedAnswer {
  answer: SharedAnswer;
  context: ReadingContext;
  moment: Moment;
}

/** The last answers to a read of a car. */
export interface LastAnswers {
  /** The last one that was remembered at once; null: none was. */
  remembered: ReceivedAnswer | null;
  /** The number of the last change of the car when that one was remembered. */
  change: number;
  /** The last equal one since then, and its place among the answers of all cars. */
  deferred: ReceivedAnswer | null;
  order: number;
  /** Remembers what a deferred answer shows. */
  remember(came: ReceivedAnswer): unknown;
}

interface Car {
  /** The number of its last change. */
  change: number;
  /** When its last answer came, and its place among the answers of all cars. */
  moment: Moment;
  order: number;
  /** The reads with a deferred answer. */
  readonly deferred: LastAnswers[];
}

/**
 * As many as an overview (nodes/vehicle/overview.ts) has: the next answer of a car that it has
 * forgotten must reach it at once.
 */
const maxCars = 20;

/**
 * No hour, and no day of any time zone, begins within one: an answer can mean something else then.
 */
const intervalMs = 5 * minuteMs;

/**
 * The answers of a parked car are mostly equal, and to remember what one shows takes more than a
 * quarter of the CPU of a read. While no answer of a car changes, the last one of each read is
 * deferred, and replaces the one before it. All deferred answers are remembered when somebody asks
 * what is known of a car, and before an answer that cannot be deferred. The first one of each read
 * in five minutes of the clock is not deferred.
 */
export class Repeats {
  readonly #cars = new Map<string, Car>();
  #changes = 0;
  #answers = 0;

  /**
   * @param last null: no answer to this read is deferred
   * @returns false if the answer must be remembered now
   */
  defer(vin: string, last: LastAnswers | null, came: ReceivedAnswer): boolean {
    const car = this.#cars.get(vin) ?? this.#newCar();
    const { remembered, deferred } = last ?? { remembered: null, deferred: null };
    const { moment } = came;
    const isRepeat = remembered !== null && isSame(remembered, came) && isOneClock(car.moment, moment);
    car.moment = moment;
    car.order = this.#answers += 1;
    const isOvertaken = deferred !== null && came.answer.value.askedAt < deferred.answer.value.askedAt;
    const mayDefer = isRepeat && last?.change === car.change && !isOvertaken;
    if (mayDefer && isOneInterval(remembered.moment, moment)) {
      if (deferred === null) car.deferred.push(last);
      last.deferred = came;
      last.order = car.order;
      return true;
    }
    this.catchUp();
    if (!this.#cars.has(vin)) this.#add(vin, car);
    if (!isRepeat) car.change = this.#changes += 1;
    if (last !== null) Object.assign(last, { remembered: came, change: car.change });
    return false;
  }

  /** Remembers what is deferred of all cars, in the order in which it came. */
  catchUp(): void {
    const all = [...this.#cars.values()].flatMap(({ deferred }) => deferred.splice(0));
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

  #newCar(): Car {
    return { change: (this.#changes += 1), moment: { at: -Infinity, skewMs: 0 }, order: 0, deferred: [] };
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

/** They have one body and one context: what is remembered of them differs only in its times. */
const isSame = (one: ReceivedAnswer, other: ReceivedAnswer): boolean =>
  one.answer.value.body === other.answer.value.body &&
  one.context.isFitted === other.context.isFitted &&
  one.context.burnsFuel === other.context.burnsFuel;

/** False if a clock was set between them. */
const isOneClock = (before: Moment, after: Moment): boolean =>
  after.at >= before.at && Math.abs(after.skewMs - before.skewMs) < 2 * secondMs;

const isOneInterval = (before: Moment, after: Moment): boolean =>
  Math.floor(before.at / intervalMs) === Math.floor(after.at / intervalMs);
