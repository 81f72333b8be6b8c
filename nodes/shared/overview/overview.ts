import { randomUUID } from 'node:crypto';
import type { CommandRecord, Reading, ReadName, VehicleObserver } from '../../../src/index';
import { clock } from '../node-red/time';
import { factsOf, type Facts } from './facts';
import { changed } from './signal';

/** The facts that flows have read of one car. */
export interface KnownCar {
  /** Stands for the car in the browser, which never gets the VIN. */
  readonly key: string;
  readonly vin: string;
  facts: Facts;
}

export interface OpenWatchInfo {
  readonly vin: string;
  readonly command: string;
  /** ISO-8601 */
  readonly sentAt: string;
  /** The service's last word. */
  requestStatus: string | null;
}

/** A flow can name any VIN in its messages. */
const maxCars = 20;

/** The tab "Cars" shows this of the cars of one configuration: only facts that flows have read, in bounded memory. */
export class Overview implements VehicleObserver {
  /** The one that was read last comes last. */
  readonly #cars = new Map<string, KnownCar>();
  readonly #watches = new Map<string, OpenWatchInfo>();

  /** @param place the service that the cars belong to */
  constructor(readonly place: string) {}

  get cars(): readonly KnownCar[] {
    return [...this.#cars.values()];
  }

  get watches(): readonly OpenWatchInfo[] {
    return [...this.#watches.values()];
  }

  /** The car of a VIN, known from now on. */
  car(vin: string): KnownCar {
    const car = this.#cars.get(vin) ?? { key: randomUUID(), vin, facts: {} };
    this.#cars.delete(vin);
    this.#cars.set(vin, car);
    for (const oldest of this.#cars.keys()) {
      if (this.#cars.size <= maxCars) break;
      this.#cars.delete(oldest);
    }
    return car;
  }

  observe(read: ReadName, vin: string, reading: Reading): void {
    const car = this.car(vin);
    const now = new Date(clock().now()).toISOString();
    // A shared answer can arrive after a newer one. What was received later than now was received before the clock was set back.
    const isOlder = ([name, { receivedAt }]: [string, { receivedAt: string }]): boolean => {
      const known = (car.facts as Record<string, { receivedAt: string }>)[name]?.receivedAt ?? '';
      return receivedAt < known && known <= now;
    };
    const news = Object.entries(factsOf(read, reading)).filter((fact) => !isOlder(fact));
    if (news.length === 0) return;
    car.facts = { ...car.facts, ...Object.fromEntries(news) };
    changed();
  }

  commandSent(): void {
    changed();
  }

  /** A node follows a command from now on, until `end` is called. */
  watch({ id, vin, command, sentAt, requestStatus }: CommandRecord): {
    update(status: string | null): void;
    end(): void;
  } {
    const info: OpenWatchInfo = { vin, command, sentAt, requestStatus };
    this.#watches.set(id, info);
    changed();
    return {
      update: (status) => {
        info.requestStatus = status;
        changed();
      },
      end: () => {
        if (this.#watches.get(id) === info) this.#watches.delete(id);
        changed();
      },
    };
  }
}

/** One overview for each config node. It outlives a deploy, so that the tab still shows the readings from before. */
const overviews = new Map<string, Overview>();

/** @param place a configuration that points to another service begins anew */
export function overviewOf(id: string, place: string): Overview {
  let overview = overviews.get(id);
  if (overview === undefined || overview.place !== place) {
    overview = new Overview(place);
    overviews.set(id, overview);
  }
  changed();
  return overview;
}

export function forgetOverview(id: string): void {
  overviews.delete(id);
  changed();
}

/** The overview of a configuration; undefined before its account was opened. */
export const knownOverview = (id: string): Overview | undefined => overviews.get(id);
