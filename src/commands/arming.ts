import type { Clock } from '../clock';
import { VehicleError } from '../errors';

/** A safety catch: what it guards passes once, within some seconds after it was armed. */
export class Arming {
  readonly #clock: Clock;
  /** When it was armed, and for how long; a wall clock that was set back ends it, too. */
  #armed: { at: number; ms: number } | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @param seconds how long; 0: there is no catch here
   * @throws VehicleError INPUT_INVALID
   */
  arm(seconds: number): void {
    if (seconds === 0) throw new VehicleError('INPUT_INVALID', 'This node needs no arming: nothing was sent. Set how many seconds an arming holds, or leave out msg.arm.');
    this.#armed = { at: this.#clock.now(), ms: seconds * 1000 };
  }

  disarm(): void {
    this.#armed = null;
  }

  /** @throws VehicleError INPUT_INVALID where it is not armed (any more) */
  take(seconds: number): void {
    if (seconds === 0) return;
    const age = this.#armed === null ? NaN : this.#clock.now() - this.#armed.at;
    const holds = age >= 0 && age < (this.#armed?.ms ?? 0);
    this.disarm();
    if (!holds) throw new VehicleError('INPUT_INVALID', `Unlock is not armed, so it was not sent. Send msg.arm = true first; it holds for ${seconds} seconds and one unlock.`);
  }
}
