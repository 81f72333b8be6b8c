import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { provesFitted } from '../catalogue/openings';
import type { StateStore } from '../state/state-store';

/** False: the service has never reported its state. Null: that is not known, because the store could not be read. */
const isFitted = z.catch(z.nullable(z.boolean()), false);
const factsShape = z.object({
  hasSunroof: isFitted,
  hasTankLid: isFitted,
  fuelType: z.catch(z.nullable(z.string()), null),
});
type Facts = z.infer<typeof factsShape>;

const factOf = { sunroof: 'hasSunroof', tankLid: 'hasTankLid' } as const;
/** An opening that not every car has. */
export type FittedName = keyof typeof factOf;

/** Facts about a car that never change, as they are kept in the state store. */
export class CarFacts {
  readonly #store: StateStore;
  readonly #facts = new Map<string, Promise<Facts>>();

  constructor(store: StateStore) {
    this.#store = store;
  }

  /** Whether the car has an opening: true as soon as the service has reported a state once; null if that is not known. */
  async isFitted(vin: string, name: FittedName): Promise<boolean | null> {
    return (await this.#of(vin))[factOf[name]];
  }

  /** Learns from a state of an opening whether the car has it. */
  async learnFitted(vin: string, name: FittedName, value: unknown): Promise<void> {
    const facts = await this.#of(vin);
    if (facts[factOf[name]] === true || !provesFitted(value)) return;
    facts[factOf[name]] = true;
    await this.#save(vin, facts);
  }

  /** The fuel type, which never changes: `ask` is called until it has returned one. */
  async fuelType(vin: string, ask: () => Promise<string | null>): Promise<string | null> {
    const facts = await this.#of(vin);
    if (facts.fuelType !== null) return facts.fuelType;
    facts.fuelType = await ask();
    if (facts.fuelType !== null) await this.#save(vin, facts);
    return facts.fuelType;
  }

  /** Stores what is known. If that fails, it is learned again after a restart. */
  async #save(vin: string, facts: Facts): Promise<void> {
    const known = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null));
    await this.#store.write(keyOf(vin), known).catch(() => undefined);
  }

  #of(vin: string): Promise<Facts> {
    let reading = this.#facts.get(vin);
    if (reading === undefined) {
      reading = this.#read(vin);
      this.#facts.set(vin, reading);
    }
    return reading;
  }

  async #read(vin: string): Promise<Facts> {
    try {
      return factsShape.parse((await this.#store.read(keyOf(vin)))?.value ?? {});
    } catch {
      return { hasSunroof: null, hasTankLid: null, fuelType: null };
    }
  }
}

const keyOf = (vin: string): string => `car/${createHash('sha256').update(vin).digest('hex')}`;

const shared = new WeakMap<StateStore, CarFacts>();

/** Accounts on one store share what they learn. */
export function carFactsOf(store: StateStore): CarFacts {
  const facts = shared.get(store) ?? new CarFacts(store);
  shared.set(store, facts);
  return facts;
}
