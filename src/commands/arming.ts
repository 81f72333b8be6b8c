import * as z from 'zod/mini';
import { VehicleError } from '../errors';
import { sentence } from '../sentence';
import { LocalPresence, type Presence } from '../state/presence';
import { readForUpdate, retryOnConflict } from '../state/state-store';
import type { Clock } from '../util/clock';
import { Serial } from '../util/serial';
import { CancelledByMessage } from './attempt';
import { secondMs } from '../util/durations';

interface ArmingOptions {
  clock: Clock;
  /** Called when an arming of this process ends without having been used here. */
  onEnd?: () => void;
  /** Has the armings, and the time that they have. Default: they end with this object. */
  presence?: Pick<Presence, 'armings' | 'now'>;
  /** Names the node there, in all copies of the flow. */
  node?: string;
}

const armedShape = z.object({ at: z.number(), seconds: z.number() });
const armingShape = z.lazy(() =>
  z.object({ armed: z.nullable(armedShape), disarms: z.number(), cancels: z._default(z.number(), 0) }),
);
type StoredArming = z.infer<typeof armingShape>;
type Armed = z.infer<typeof armedShape>;

/** The right to send one command. */
interface ArmedCommand {
  /**
   * Asked when the command is sent.
   * @throws VehicleError INPUT_INVALID if the arming has ended by then
   */
  check: () => void;
  /**
   * Awaited before: whether a message has ended it in another process.
   * @throws VehicleError INPUT_INVALID, CANCELLED, STORE_UNAVAILABLE
   */
  confirm: () => Promise<void>;
}

/**
 * Arming, disarming and cancelling by messages, for the commands of a node in all copies of its
 * flow: a command that needs arming may be sent once, within some seconds after an arming message,
 * and a command that waits is not sent after a message that cancels or disarms it. The store has
 * counts of the disarming and cancelling messages, because their times would depend on the clock of
 * the store.
 */
export class Arming {
  readonly #options: Required<ArmingOptions>;
  #stopTimer: (() => void) | null = null;
  #disarms = 0;
  readonly #changes = new Serial();

  constructor({ clock, onEnd = () => undefined, presence = new LocalPresence(clock), node = '' }: ArmingOptions) {
    this.#options = { clock, onEnd, presence, node };
  }

  /**
   * @param seconds how long the arming lasts; 0 if this node needs no arming
   * @throws VehicleError INPUT_INVALID, STORE_UNAVAILABLE
   */
  async arm(seconds: number): Promise<void> {
    if (seconds === 0)
      throw new VehicleError(
        'INPUT_INVALID',
        'This node needs no arming, so nothing was sent. Leave out msg.arm, or enter seconds under “Arming” in this node.',
      );
    this.#end();
    const { clock, onEnd, presence } = this.#options;
    this.#stopTimer = clock.after(seconds * secondMs, () => this.#end() && onEnd());
    await this.#change((before) => ({ ...before, armed: { at: presence.now(), seconds } }));
  }

  /**
   * Ends the arming, also that of a command that is waiting to be sent, in any process.
   * @throws StateFault
   */
  async disarm(): Promise<void> {
    await this.#disarm(0);
  }

  /**
   * Ends the arming, and each command of the node that waits, in any process.
   * @throws StateFault
   */
  async cancel(): Promise<void> {
    await this.#disarm(1);
  }

  async #disarm(cancels: number): Promise<void> {
    this.#disarms += 1;
    if (this.#end()) this.#options.onEnd();
    await this.#change((before) => ({ armed: null, disarms: before.disarms + 1, cancels: before.cancels + cancels }));
  }

  /** Ends the arming of this process. */
  close(): void {
    this.#disarms += 1;
    if (this.#end()) void this.disarm().catch(() => undefined);
  }

  #end(): boolean {
    const isArmed = this.#stopTimer !== null;
    this.#stopTimer?.();
    this.#stopTimer = null;
    return isArmed;
  }

  /**
   * Uses up the arming.
   * @param seconds how long an arming lasts; 0 if the command needs none
   * @throws VehicleError INPUT_INVALID if it is not armed; STORE_UNAVAILABLE
   */
  async take(seconds: number): Promise<ArmedCommand> {
    // A command that needs no arming can also be canceled: by a message to
    // another copy of the flow.
    if (seconds === 0) return { check: () => undefined, confirm: this.#confirm(this.#read()) };
    const disarmsHere = this.#disarms;
    const before = await this.#change((now) => ({ ...now, armed: null }));
    const { armed } = before;
    this.#end();
    if (armed === null || !this.#isValid(armed)) {
      throw new VehicleError(
        'INPUT_INVALID',
        sentence`This command is not armed, so it was not sent. Send msg.arm = true first; it holds for ${seconds} seconds and one command.`,
      );
    }
    return {
      check: () => {
        if (disarmsHere !== this.#disarms) throw disarmed();
        if (!this.#isValid(armed)) throw late(armed);
      },
      confirm: this.#confirm(Promise.resolve(before), true),
    };
  }

  /** @param asking the stored counts when the command was asked for */
  #confirm(asking: Promise<StoredArming>, wasArmed = false): () => Promise<void> {
    // If the store cannot be reached, the command fails when it awaits this.
    asking.catch(() => undefined);
    return async () => {
      const [before, now] = await Promise.all([asking, this.#read()]);
      if (now.cancels !== before.cancels) throw new CancelledByMessage();
      if (wasArmed && now.disarms !== before.disarms) throw disarmed();
    };
  }

  #read(): Promise<StoredArming> {
    return this.#change((now) => now);
  }

  /** @returns what was stored before */
  #change(change: (before: StoredArming) => StoredArming): Promise<StoredArming> {
    const { node, presence } = this.#options;
    const { armings } = presence;
    const key = `arming/${node}`;
    const attempt = async (): Promise<StoredArming | null> => {
      const { value, version: expected } = await readForUpdate(armings, key, armingShape);
      const before = value ?? { armed: null, disarms: 0, cancels: 0 };
      const after = change(before);
      const isSame =
        after === before || (before.armed === null && after.armed === null && after.disarms === before.disarms);
      return isSame || (await armings.write(key, after, { expected })) !== null ? before : null;
    };
    return this.#changes.run(() => retryOnConflict(attempt));
  }

  /**
   * An arming also ends when the clock is set back. Two processes know the time of their store to
   * some milliseconds.
   */
  #isValid({ at, seconds }: Armed): boolean {
    const age = this.#options.presence.now() - at;
    return age > -1_000 && age < seconds * secondMs;
  }
}

const disarmed = (): VehicleError =>
  new VehicleError(
    'INPUT_INVALID',
    'The command was disarmed while it was waiting, so it was not sent. Arm the node and send the command again.',
  );

const late = ({ seconds }: Armed): VehicleError =>
  new VehicleError(
    'INPUT_INVALID',
    sentence`The arming expired after ${seconds} seconds while the command was waiting, so it was not sent. Arm the node and send the command again.`,
  );
