import * as z from 'zod/mini';
import { itemsIn } from '../util/json';

/** A message whose sending was interrupted by so many crashes is dropped. */
export const maxTries = 3;

const entryShape = z.lazy(() =>
  z.object({
    tries: z.catch(z.int().check(z.minimum(0)), 0),
    sender: z.catch(z.string(), ''),
    message: z.optional(z.unknown()),
  }),
);

interface Entry<Message> {
  /** How often its sending has begun. */
  tries: number;
  /** The process that sends it; empty after that process has ended without a crash. */
  sender: string;
  message: Message;
}

/**
 * Messages that were not sent yet. They are stored in the record that they follow from, sent, and
 * then removed from it: a process that is killed on the way sends the same message again, rather
 * than none. After the end of a sender, another one takes its messages over. An outbox is never
 * changed.
 */
export class Outbox<Message> {
  readonly entries: readonly Entry<Message>[];

  constructor(entries: readonly Entry<Message>[] = []) {
    this.entries = entries;
  }

  /**
   * @param stored `entries`; a damaged one is forgotten
   * @param parse returns null for a message that is damaged or no longer wanted
   */
  static parse<Message>(stored: unknown, parse: (message: unknown) => Message | null): Outbox<Message> {
    const found = itemsIn(stored).flatMap((entry): Entry<Message>[] => {
      const { success, data } = entryShape.safeParse(entry);
      const message = success ? parse(data.message) : null;
      return success && message !== null ? [{ ...data, message }] : [];
    });
    return new Outbox(found);
  }

  messagesOf(sender: string): Message[] {
    return this.entries.flatMap((entry) => (entry.sender === sender ? entry.message : []));
  }

  /** With messages whose sending begins now. */
  with(messages: readonly Message[], sender: string): Outbox<Message> {
    return new Outbox([...this.entries, ...messages.map((message) => ({ tries: 1, sender, message }))]);
  }

  /** @param sent as JSON */
  without(sent: ReadonlySet<string>): Outbox<Message> {
    return new Outbox(this.entries.filter(({ message }) => !sent.has(JSON.stringify(message))));
  }

  /**
   * Assigns the messages of senders that have ended to `by`, which sends them again; a message that
   * was tried too often is dropped.
   */
  takenOver(by: string, ended: ReadonlySet<string>): Outbox<Message> {
    const take = (entry: Entry<Message>): Entry<Message>[] => {
      if (!ended.has(entry.sender)) return [entry];
      return entry.tries < maxTries ? [{ ...entry, tries: entry.tries + 1, sender: by }] : [];
    };
    return new Outbox(this.entries.flatMap(take));
  }

  /** The sender ends without a crash, so its last try does not count. */
  released(by: string): Outbox<Message> {
    const release = ({ tries, sender, message }: Entry<Message>): Entry<Message> =>
      sender === by ? { tries: Math.max(0, tries - 1), sender: '', message } : { tries, sender, message };
    return new Outbox(this.entries.map(release));
  }
}
