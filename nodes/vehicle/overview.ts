import { createHmac, randomBytes } from 'node:crypto';
import type { NodeAPI } from 'node-red';
import {
  isOlder,
  receiptAsOf,
  setNewest,
  timeOf,
  timesOf,
  type CommandRecord,
  type Remember,
  type ValueTimes,
} from '../../src/index';
import { eachShownValue, type ShownValue, type ShownValues } from './shown-values';
import { perNodeRed } from '../per-node-red';
import { editorsOf } from '../node-red/editors';

interface KnownCar {
  /** Names the car in the browser, which gets no VIN, as long as the overview exists. */
  readonly key: string;
  readonly vin: string;
  readonly facts: ShownValues;
}

interface FollowedInfo {
  readonly vin: string;
  readonly command: string;
  /** ISO-8601 */
  readonly sentAt: string;
  requestStatus: string | null;
  followers: number;
}

const timesAt = ({ measuredAt, receivedAt }: ShownValue, now: number): ValueTimes =>
  timesOf(measuredAt, { at: now, receivedAt: receiptAsOf(timeOf(receivedAt), now) });

/** A flow can name any VIN in its messages. */
const maxCars = 20;

/** Keeps what flows have read of the cars of one service, for the tab "Cars", in bounded memory. */
export class Overview {
  readonly #secret = randomBytes(32);
  /** The one that was read last comes last. */
  readonly #cars = new Map<string, KnownCar>();
  readonly #followed = new Map<string, FollowedInfo>();

  /**
   * @param serviceKey identifies the service that the cars belong to
   * @param notify is called when a command that is followed changes
   */
  constructor(
    readonly serviceKey: string,
    readonly notify: () => void,
  ) {}

  get cars(): readonly KnownCar[] {
    return [...this.#cars.values()];
  }

  get followed(): readonly FollowedInfo[] {
    return [...this.#followed.values()];
  }

  /** The car of a VIN, without facts if no flow has read it since the start. */
  car(vin: string): KnownCar {
    return this.#cars.get(vin) ?? { key: createHmac('sha256', this.#secret).update(vin).digest('hex'), vin, facts: {} };
  }

  readonly remember: Remember = (read, vin, reading, { at }) => {
    const car = this.car(vin);
    setNewest(this.#cars, vin, car, maxCars);
    const { facts } = car;
    eachShownValue(read, reading, facts, (name, fact) => {
      const known = facts[name];
      if (known === undefined || !isOlder(timesAt(fact, at), timesAt(known, at))) facts[name] = fact;
    });
  };

  /** A node follows a command from now on, until `end` is called. */
  follow({ id, vin, command, sentAt, requestStatus }: CommandRecord): {
    update(status: string | null): void;
    end(): void;
  } {
    const info = this.#followed.get(id) ?? { vin, command, sentAt, requestStatus, followers: 0 };
    info.followers += 1;
    this.#followed.set(id, info);
    this.notify();
    return {
      update: (status) => {
        info.requestStatus = status;
        this.notify();
      },
      end: () => {
        info.followers -= 1;
        if (info.followers === 0) this.#followed.delete(id);
        this.notify();
      },
    };
  }
}

/**
 * One overview for each config node, and one for all demo cars and for all cars of a client ID. It
 * outlives a deploy, so that the tab still shows the readings from before.
 */
class Overviews {
  readonly #notify: () => void;
  readonly #byId = new Map<string, Overview>();

  constructor(RED: NodeAPI) {
    this.#notify = editorsOf(RED).notify;
  }

  /**
   * @param serviceKey the overview is replaced by another one when the configuration
   * points to another service
   * @param isShared with the other config nodes of this service: they all show the same cars
   */
  open(id: string, serviceKey: string, isShared: boolean): Overview {
    const known = isShared ? [...this.#byId.values()] : [this.#byId.get(id)];
    const overview = known.find((one) => one?.serviceKey === serviceKey) ?? new Overview(serviceKey, this.#notify);
    if (this.#byId.get(id) === overview) return overview;
    this.#byId.set(id, overview);
    this.#notify();
    return overview;
  }

  forget(id: string): void {
    this.#byId.delete(id);
    this.#notify();
  }

  /** Undefined before the account of the configuration was opened. */
  find(id: string): Overview | undefined {
    return this.#byId.get(id);
  }
}

export const overviewsOf = (RED: NodeAPI): Overviews => perNodeRed(RED, Overviews);
