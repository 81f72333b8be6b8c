import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { provesSunroof } from './openings';
import type { StateStore } from './state/state-store';

const factsShape = z.object({
  hasSunroof: z.catch(z.boolean(), false),
  fuelType: z.catch(z.nullable(z.string()), null),
});
type Facts = z.infer<typeof factsShape>;

/** Facts about a car that never change, as they are kept in the state store. */
export class CarFacts {
  readonly #store: StateStore;
  readonly #facts = new Map<string, Promise<Facts>>();

  constructor(store: StateStore) {
    this.#store = store;
  }

  /** Whether the service has ever reported a state of the sunroof, this value included. True if the store cannot be read. */
  async hasSunroof(vin: string, value: unknown): Promise<boolean> {
    const key = keyOf(vin);
    const facts = await this.#of(key);
    if (!facts.hasSunroof && provesSunroof(value)) {
      facts.hasSunroof = true;
      // If it cannot be stored, it is learned again after a restart.
      await this.#store.write(key, facts).catch(() => undefined);
    }
    return facts.hasSunroof;
  }

  /** The fuel type, which never changes: `ask` is called until it has returned one. */
  async fuelType(vin: string, ask: () => Promise<string | null>): Promise<string | null> {
    const key = keyOf(vin);
    const facts = await this.#of(key);
    if (facts.fuelType !== null) return facts.fuelType;
    facts.fuelType = await ask();
    // If it cannot be stored, it is asked for again after a restart.
    if (facts.fuelType !== null) await this.#store.write(key, facts).catch(() => undefined);
    return facts.fuelType;
  }

  #of(key: string): Promise<Facts> {
    let reading = this.#facts.get(key);
    if (reading === undefined) {
      reading = this.#read(key);
      this.#facts.set(key, reading);
    }
    return reading;
  }

  async #read(key: string): Promise<Facts> {
    try {
      return factsShape.parse((await this.#store.read(key))?.value ?? {});
    } catch {
      return { hasSunroof: true, fuelType: null };
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
