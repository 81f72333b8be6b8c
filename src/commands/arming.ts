import type { Clock } from '../util/clock';
import { VehicleError } from '../errors';
import { sentence } from '../sentence';

/** Arming: a guarded command may be sent once, within some seconds after an arming message. */
export class Arming {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  #armed: Armed | null = null;
  #disarms = 0;

  /** @param onEnd called when an arming ends without having been used */
  constructor(clock: Clock, onEnd: () => void = () => undefined) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  /**
   * @param seconds how long the arming lasts; 0 if this node needs no arming
   * @throws VehicleError INPUT_INVALID
   */
  arm(seconds: number): void {
    if (seconds === 0)
      throw new VehicleError(
        'INPUT_INVALID',
        'This node needs no arming, so nothing was sent. Leave out msg.arm, or enter seconds under “Safety catch” in this node.',
      );
    this.#end();
    this.#armed = {
      at: this.#clock.now(),
      seconds,
      stopTimer: this.#clock.after(seconds * 1000, () => this.#expire()),
    };
  }

  /** Ends the arming, also that of a command that is waiting to be sent. */
  disarm(): void {
    this.#disarms += 1;
    if (this.#end() !== null) this.#onEnd();
  }

  #expire(): void {
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
   * Uses up the arming.
   * @returns a function to call when the command is sent; it throws INPUT_INVALID if the arming has ended by then
   * @throws VehicleError INPUT_INVALID if it is not armed
   */
  take(seconds: number): () => void {
    if (seconds === 0) return () => undefined;
    const armed = this.#end();
    if (armed === null || !this.#isValid(armed)) {
      throw new VehicleError(
        'INPUT_INVALID',
        sentence`This command is not armed, so it was not sent. Send msg.arm = true first; it holds for ${seconds} seconds and one command.`,
      );
    }
    const disarms = this.#disarms;
    return () => {
      if (disarms !== this.#disarms)
        throw new VehicleError(
          'INPUT_INVALID',
          'The command was disarmed while it waited, so it was not sent. Arm it again, and send it again.',
        );
      if (!this.#isValid(armed)) {
        throw new VehicleError(
          'INPUT_INVALID',
          sentence`The arming ran out after ${armed.seconds} seconds, while the command waited, so it was not sent. Arm it again, and send it again.`,
        );
      }
    };
  }

  /** An arming also ends when the clock is set back. */
  #isValid({ at, seconds }: Armed): boolean {
    const age = this.#clock.now() - at;
    return age >= 0 && age < seconds * 1000;
  }
}

interface Armed {
  at: number;
  seconds: number;
  stopTimer: () => void;
}
