import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { FittedName } from '../catalogue/openings';
import { setNewest } from '../util/bounded';
import { readUndamaged, type StateStore } from '../state/state-store';

/** False: the service has never reported its state. Null: that is not known, because the store could not be read. */
const isFitted = z.catch(z.nullable(z.boolean()), false);
const factsShape = z.object({
  sunroof: isFitted,
  tankLid: isFitted,
  fuelType: z.catch(z.nullable(z.string()), null),
});
type Facts = z.infer<typeof factsShape>;

/** More cars than any account has, although a message can name any VIN. */
const maxCars = 1_000;

interface Car {
  /** What was learned, and what is stored as soon as that was read. */
  facts: Facts;
  isRead: boolean;
  reading: Promise<void> | null;
}

/** Facts about a car that never change, as they are kept in the state store. */
export class CarFacts {
  readonly #store: StateStore;
  /** The one that was used last comes last. */
  readonly #cars = new Map<string, Car>();
  /** The keys of the store; the one that was written last comes last. */
  #stored: Promise<Map<string, true>> | null = null;

  constructor(store: StateStore) {
    this.#store = store;
  }

  /** Whether the car has an opening: true as soon as the service has reported a state once; null if that is not known. */
  async isFitted(vin: string, name: FittedName): Promise<boolean | null> {
    return (await this.#of(vin)).facts[name];
  }

  /** The service has reported a state of an opening, so the car has it. */
  async learnFitted(vin: string, name: FittedName): Promise<void> {
    const car = await this.#of(vin);
    if (car.facts[name] === true) return;
    car.facts[name] = true;
    await this.#save(vin, car);
  }

  /** The fuel type, which never changes: `ask` is called until it has returned one. */
  async fuelType(vin: string, ask: () => Promise<string | null>): Promise<string | null> {
    const car = await this.#of(vin);
    if (car.facts.fuelType !== null) return car.facts.fuelType;
    const fuelType = await ask();
    // Another account may have learned it meanwhile.
    if (fuelType === null) return car.facts.fuelType;
    car.facts.fuelType = fuelType;
    await this.#save(vin, car);
    return fuelType;
  }

  /** Stores what is known, but not before the stored facts were read. If that fails, they are learned again after a restart. */
  async #save(vin: string, { facts, isRead }: Car): Promise<void> {
    if (!isRead) return;
    const key = keyOf(vin);
    try {
      await this.#store.write(key, facts);
      this.#stored ??= this.#store.entries('car/').then((all) => new Map(all.map((one) => [one.key, true])));
      for (const oldest of setNewest(await this.#stored, key, true, maxCars)) await this.#store.remove(oldest);
    } catch {
      this.#stored = null;
    }
  }

  async #of(vin: string): Promise<Car> {
    const car = this.#cars.get(vin) ?? { facts: nothingKnown(), isRead: false, reading: null };
    setNewest(this.#cars, vin, car, maxCars);
    if (!car.isRead) await (car.reading ??= this.#read(vin, car));
    return car;
  }

  /** Tried again at the next use where it fails. */
  async #read(vin: string, car: Car): Promise<void> {
    try {
      const stored = factsShape.parse((await readUndamaged(this.#store, keyOf(vin))) ?? {});
      const learned = Object.entries(car.facts).filter(([, value]) => value !== null);
      car.facts = { ...stored, ...Object.fromEntries(learned) };
      car.isRead = true;
      if (learned.length > 0) await this.#save(vin, car);
    } catch {
      car.reading = null;
    }
  }
}

const nothingKnown = (): Facts => ({ sunroof: null, tankLid: null, fuelType: null });

const keyOf = (vin: string): string => `car/${createHash('sha256').update(vin).digest('hex')}`;
