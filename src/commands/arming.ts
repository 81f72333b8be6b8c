import type { Clock } from '../util/clock';
import { VehicleError } from '../errors';

/** A safety catch: what it guards passes once, within some seconds after it was armed. */
export class Arming {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  #armed: Armed | null = null;
  #disarms = 0;

  /** @param onEnd called when an arming ends that nobody has used */
  constructor(clock: Clock, onEnd: () => void = () => undefined) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  /**
   * @param seconds how long; 0: there is no catch here
   * @throws VehicleError INPUT_INVALID
   */
  arm(seconds: number): void {
    if (seconds === 0)
      throw new VehicleError(
        'INPUT_INVALID',
        'This node needs no arming: nothing was sent. Set how many seconds an arming holds, or leave out msg.arm.',
      );
    this.#end();
    this.#armed = {
      at: this.#clock.now(),
      seconds,
      stopTimer: this.#clock.after(seconds * 1000, () => this.#runOut()),
    };
  }

  /** Takes back what is armed, and what was armed for something that waits. */
  disarm(): void {
    this.#disarms += 1;
    if (this.#end() !== null) this.#onEnd();
  }

  #runOut(): void {
    this.#end();
    this.#onEnd();
  }

  #end(): Armed | null {
    const armed = this.#armed;
    armed?.stopTimer();
    this.#armed = null;
    return armed;
  }

  /**
   * Uses the arming up.
   * @returns throws INPUT_INVALID where it does not hold any more: for whoever sends later
   * @throws VehicleError INPUT_INVALID where it is not armed (any more)
   */
  take(seconds: number): () => void {
    if (seconds === 0) return () => undefined;
    const armed = this.#end();
    if (armed === null || !this.#holds(armed)) {
      throw new VehicleError(
        'INPUT_INVALID',
        `Unlock is not armed, so it was not sent. Send msg.arm = true first; it holds for ${seconds} seconds and one unlock.`,
      );
    }
    const disarms = this.#disarms;
    return () => {
      if (disarms !== this.#disarms)
        throw new VehicleError(
          'INPUT_INVALID',
          'The arming was taken back while the unlock waited, so it was not sent.',
        );
      if (!this.#holds(armed)) {
        throw new VehicleError(
          'INPUT_INVALID',
          `The arming ran out after ${armed.seconds} seconds, while the unlock waited, so it was not sent. Arm it again, and send it again.`,
        );
      }
    };
  }

  /** A wall clock that was set back ends it, too. */
  #holds({ at, seconds }: Armed): boolean {
    const age = this.#clock.now() - at;
    return age >= 0 && age < seconds * 1000;
  }
}

interface Armed {
  at: number;
  seconds: number;
  stopTimer: () => void;
}
