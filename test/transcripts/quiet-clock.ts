import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { isDeriving, ManualClock } from '../support/manual-clock';

/** A request of a client, and one of a server, as `diagnostics_channel` publishes them. */
interface Sent {
  request: object;
}
interface Arrival {
  response: { once(event: 'close', listener: () => void): void };
}

/**
 * A clock that stops until nothing is on the wire or on the way to the disk, and then jumps to the
 * next timer. So the same flow has the same times in each run, and a day passes in a second.
 */
export class QuietClock extends ManualClock {
  /**
   * Requests that a client has begun and not ended, and those that a server has and did not end.
   */
  readonly #sent = new Set<unknown>();
  readonly #arrived = new Set<unknown>();
  readonly #listeners: [string, (message: unknown) => void][] = [
    ['undici:request:create', (message) => void this.#sent.add((message as Sent).request)],
    ['undici:request:trailers', (message) => void this.#sent.delete((message as Sent).request)],
    ['undici:request:error', (message) => void this.#sent.delete((message as Sent).request)],
    [
      'http.server.request.start',
      (message) => {
        const { response } = message as Arrival;
        this.#arrived.add(response);
        response.once('close', () => void this.#arrived.delete(response));
      },
    ],
  ];

  constructor(start?: string) {
    super(start);
    for (const [channel, listener] of this.#listeners) subscribe(channel, listener);
  }

  /** Ends the counting of requests. */
  close(): void {
    for (const [channel, listener] of this.#listeners) unsubscribe(channel, listener);
  }

  /** Lets time pass, with everything that is due in it. */
  async pass(ms: number): Promise<void> {
    const end = this.monotonic() + ms;
    for (;;) {
      await this.quiet();
      if (this.nextDue > end) break;
      await this.advance(Math.max(0, this.nextDue - this.monotonic()));
    }
    await this.advance(end - this.monotonic());
    await this.quiet();
  }

  /**
   * Lets timers fire, one moment after the other, until it is so.
   * @throws Error if an hour is not enough
   */
  async passUntil(isSo: () => boolean): Promise<void> {
    const end = this.monotonic() + 3_600_000;
    for (;;) {
      await this.quiet();
      if (isSo()) return;
      if (this.nextDue > end) throw new Error('It did not come to this within an hour.');
      await this.advance(Math.max(0, this.nextDue - this.monotonic()));
    }
  }

  /** Waits, in real time, until everything that runs waits for the clock. */
  async quiet(): Promise<void> {
    for (let turns = 0, busy = 0; turns < quietTurns; turns += 1) {
      // A slow disk must not keep the processor busy.
      await new Promise((resolve) => (busy < quietTurns ? setImmediate(resolve) : setTimeout(resolve, 1)));
      const isBusy =
        this.#sent.size !== this.#arrived.size ||
        isDeriving() ||
        process.getActiveResourcesInfo().some((one) => work.test(one));
      busy = isBusy ? busy + 1 : 0;
      if (isBusy) turns = 0;
    }
  }
}

/** Turns of the event loop without work, after which nothing more comes. */
const quietTurns = 12;
/** Requests to the system, other than handles such as an open socket. */
const work = /^(FSReq|CloseReq|GetAddrInfoReq|WriteWrap$|ShutdownWrap$)|ConnectWrap$/;
