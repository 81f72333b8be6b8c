import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * The connection of one process to a server on this machine: it can be cut, and it can
 * hold back what was sent.
 */
export class StoreLine {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #state: 'open' | 'cut' | 'held' = 'open';
  #to: number;

  private constructor(to: number) {
    this.#to = to;
    this.#server = createServer((near) => {
      if (this.#state === 'cut') return void near.destroy();
      const far = createConnection(this.#to, '127.0.0.1');
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket);
        socket.pipe(other);
        socket
          .on('error', () => undefined)
          .on('close', () => {
            this.#sockets.delete(socket);
            other.destroy();
          });
        if (this.#state === 'held') socket.cork();
      }
    });
  }

  /** @param port of the server */
  static async open(port: number): Promise<StoreLine> {
    const line = new StoreLine(port);
    line.#server.listen(0, '127.0.0.1');
    await once(line.#server, 'listening');
    return line;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * `cut`: connections end and none begins. `held`: what is sent waits, in both directions, until
   * the line is open again.
   */
  set(state: 'open' | 'cut' | 'held'): void {
    this.#state = state;
    for (const socket of this.#sockets) {
      if (state === 'cut') socket.destroy();
      else if (state === 'held') socket.cork();
      else socket.uncork();
    }
  }

  /** From now on it leads to another server. @param port of that server */
  lead(port: number): void {
    this.#to = port;
    this.set('cut');
    this.set('open');
  }

  async close(): Promise<void> {
    this.set('cut');
    this.#server.close();
    await once(this.#server, 'close');
  }
}
