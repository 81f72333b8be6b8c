import type { Clock } from '../clock';
import { VehicleError } from '../errors';

/** A safety catch: what it guards passes once, within some seconds after it was armed. */
export class Arming {
  readonly #clock: Clock;
  #until = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @param seconds how long; 0: there is no catch here
   * @throws VehicleError INPUT_INVALID
   */
  arm(seconds: number): void {
    if (seconds === 0) throw new VehicleError('INPUT_INVALID', 'This node needs no arming: nothing was sent. Set how many seconds an arming holds, or leave out msg.arm.');
    this.#until = this.#clock.now() + seconds * 1000;
  }

  disarm(): void {
    this.#until = 0;
  }

  /** @throws VehicleError INPUT_INVALID where it is not armed (any more) */
  take(seconds: number): void {
    if (seconds === 0) return;
    const armed = this.#clock.now() < this.#until;
    this.disarm();
    if (!armed) throw new VehicleError('INPUT_INVALID', `Unlock is not armed, so it was not sent. Send msg.arm = true first; it holds for ${seconds} seconds and one unlock.`);
  }
}
