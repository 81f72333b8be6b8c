import * as z from 'zod/mini';

/** If the process ends so often while the same message is sent, the message is dropped. */
export const maxTries = 3;

const entryShape = z.lazy(() =>
  z.object({ tries: z.catch(z.int().check(z.minimum(0)), 0), message: z.optional(z.unknown()) }),
);

interface Entry<Message> {
  /** How often its sending has begun. */
  tries: number;
  message: Message;
}

/**
 * Messages that were not sent yet. They are stored in the record that they follow from, sent, and then removed from it: a process that
 * is killed on the way sends the same message again, rather than none. Who wrote the record sends them. An outbox is never changed.
 */
export class Outbox<Message> {
  readonly entries: readonly Entry<Message>[];

  constructor(entries: readonly Entry<Message>[] = []) {
    this.entries = entries;
  }

  /**
   * @param stored `entries`; a damaged one is forgotten
   * @param parse returns null for a message that is damaged or not wanted any more
   */
  static parse<Message>(stored: unknown, parse: (message: unknown) => Message | null): Outbox<Message> {
    const found = (Array.isArray(stored) ? (stored as unknown[]) : []).flatMap((entry): Entry<Message>[] => {
      const { success, data } = entryShape.safeParse(entry);
      const message = success ? parse(data.message) : null;
      return success && message !== null ? [{ tries: data.tries, message }] : [];
    });
    return new Outbox(found);
  }

  get messages(): Message[] {
    return this.entries.map(({ message }) => message);
  }

  /** With messages whose sending begins now. */
  with(messages: readonly Message[]): Outbox<Message> {
    return new Outbox([...this.entries, ...messages.map((message) => ({ tries: 1, message }))]);
  }

  without(sent: readonly Message[]): Outbox<Message> {
    const texts = new Set(sent.map((message) => JSON.stringify(message)));
    return new Outbox(this.entries.filter(({ message }) => !texts.has(JSON.stringify(message))));
  }

  /** Without those that were tried too often; the sending of the others begins again. */
  retried(): Outbox<Message> {
    const left = this.entries.filter(({ tries }) => tries < maxTries);
    return new Outbox(left.map(({ tries, message }) => ({ tries: tries + 1, message })));
  }

  /** An orderly end is no crash: the last try does not count. */
  ended(): Outbox<Message> {
    return new Outbox(this.entries.map(({ tries, message }) => ({ tries: Math.max(0, tries - 1), message })));
  }
}
