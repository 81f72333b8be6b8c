import { WebSocket } from 'undici';

/** What a debug node shows. */
export interface Shown {
  /** Of the debug node. */
  id: string;
  name: string;
  /** Parsed if it was an object. */
  value: unknown;
}

interface DebugMessage {
  topic: string;
  data: { id: string; name?: string; msg: unknown; format?: string };
}

/** The debug sidebar of a running Node-RED, over the editor's own socket. */
export class DebugSidebar {
  readonly shown: Shown[] = [];
  readonly #socket: WebSocket;
  #news: () => void = () => undefined;

  static async open(url: string): Promise<DebugSidebar> {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}comms`);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', reject, { once: true });
    });
    return new DebugSidebar(socket);
  }

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data)) as DebugMessage[]));
    socket.send(JSON.stringify({ subscribe: 'debug' }));
  }

  /**
   * The first thing that a debug node shows, or has shown since `clear`.
   * @param ids of the nodes that are meant, if several flows have nodes of this name
   */
  async next(name: string, ...ids: string[]): Promise<unknown> {
    for (;;) {
      const [found] = this.#shownBy(name, ids);
      if (found !== undefined) return found.value;
      await this.more();
    }
  }

  /** Everything that a debug node has shown since `clear`. */
  all(name: string, ...ids: string[]): unknown[] {
    return this.#shownBy(name, ids).map(({ value }) => value);
  }

  /** Until any debug node shows something. */
  more(): Promise<void> {
    return new Promise((resolve) => (this.#news = resolve));
  }

  #shownBy(name: string, ids: string[]): Shown[] {
    return this.shown.filter((shown) => shown.name === name && (ids.length === 0 || ids.includes(shown.id)));
  }

  clear(): void {
    this.shown.length = 0;
  }

  close(): void {
    this.#socket.close();
  }

  #take(messages: DebugMessage[]): void {
    for (const { topic, data } of messages) {
      if (topic !== 'debug') continue;
      const isJson = /^(Object|array)/.test(data.format ?? '');
      this.shown.push({ id: data.id, name: data.name ?? '', value: isJson ? JSON.parse(String(data.msg)) : data.msg });
    }
    this.#news();
  }
}
