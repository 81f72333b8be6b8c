import type { Clock } from '../util/clock';

/** A write happens this long after the change. */
const delay = 10_000;

/**
 * Writes something that is counted up seldom, yet so that what is written never says too little after a crash: each write
 * says how many more may have been counted since (`ahead`), and more than that are written at once. A clean end writes 0.
 */
export class LateWriter {
  readonly #write: (ahead: number) => Promise<void>;
  readonly #ahead: number;
  readonly #clock: Clock;
  /** How many more the last write allows for. */
  #allowed = 0;
  #unwritten = 0;
  #alarm: AbortController | null = null;
  #writing: Promise<void> | null = null;
  #isImportant = false;
  #closed = false;

  constructor(write: (ahead: number) => Promise<void>, ahead: number, clock: Clock) {
    this.#write = write;
    this.#ahead = ahead;
    this.#clock = clock;
  }

  /** One more was counted. */
  changed(): void {
    if (this.#closed) return;
    this.#unwritten += 1;
    if (this.#writing !== null) return;
    if (this.#unwritten > this.#allowed) this.#writeNow();
    else if (this.#alarm === null) this.#writeLater();
  }

  /** What must not be lost, however seldom the rest is written. */
  important(): void {
    if (this.#closed) return;
    this.#unwritten += 1;
    if (this.#writing === null) this.#writeNow();
    else this.#isImportant = true;
  }

  /** Writes the last state. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#alarm?.abort();
    await this.#writing;
    await this.#try(0);
  }

  #writeLater(): void {
    this.#alarm = new AbortController();
    this.#clock.sleep(delay, this.#alarm.signal).then(
      () => this.#writeNow(),
      () => undefined,
    );
  }

  #writeNow(): void {
    this.#alarm?.abort();
    this.#alarm = null;
    this.#writing = this.#try(this.#ahead).then(() => {
      this.#writing = null;
      if (this.#unwritten === 0 || this.#closed) return;
      if (this.#isImportant) this.#writeNow();
      else this.#writeLater();
    });
  }

  async #try(ahead: number): Promise<void> {
    this.#isImportant = false;
    this.#unwritten = 0;
    this.#allowed = ahead;
    try {
      await this.#write(ahead);
    } catch {
      // A disk that is full or gone must not stop what is counted: try again later, not with every count.
      this.#unwritten += 1;
      this.#allowed = Number.POSITIVE_INFINITY;
    }
  }
}
