import type { Signal } from '../../src/index';
import type { FlowNode } from './flow-node';
import { clock } from './time';

/** A message that is stored until it was sent: after a crash while it is sent, it is sent again. */
interface UnsentMessage {
  /**
   * Makes sure that this process sends it, and stores everything that must be stored before.
   * @returns false if another process sends it, or has sent it
   * @throws while it cannot be known, because a shared store is away
   */
  claim(): Promise<boolean>;
  /**
   * Whether no other process may have taken it over. Called right before each try,
   * with no `await` between.
   */
  mayBeSent(): boolean;
  /**
   * Asked before each try. Default: the next node has the message unless a deploy began meanwhile.
   */
  isDelivered?(): Promise<boolean>;
  send(): void;
  markSent(): Promise<void>;
  /**
   * Called if the signal was aborted before it was sent: it is sent after the next start. A deploy
   * is not a crash, so the try does not count.
   */
  release?(): Promise<void> | void;
}

/** Shown while a message waits for a store that cannot be reached. */
const storeAway = 'failed.STORE_UNAVAILABLE';
const storeAwayMs = 3_000;

/**
 * How it ended. `taken`: another process sends it, or has sent it. `closed`: the signal was aborted
 * first; a try during a deploy may have arrived anyway.
 */
export type SendEnd = 'sent' | 'taken' | 'closed';

/** Sends a stored message when all flows run, and notes that it was sent. */
export async function sendOnce(
  { deploys, status }: Pick<FlowNode, 'deploys'> & { status: Pick<FlowNode['status'], 'show' | 'clear'> },
  message: UnsentMessage,
  signal: Signal,
): Promise<SendEnd> {
  for (;;) {
    const isOwn = await message.claim().catch(() => null);
    if (isOwn === null) {
      status.show('failed', storeAway);
      await clock()
        .sleep(storeAwayMs, signal)
        .catch(() => undefined);
      if (signal.aborted) return 'closed';
      continue;
    }
    if (!isOwn) {
      status.clear(storeAway);
      return 'taken';
    }
    const end = await deploys.send(message, signal);
    // This process was paused. Before the next try, `claim` finds out whether another one has
    // taken the message over.
    if (end === 'unsure') continue;
    await (end === 'sent' ? message.markSent() : message.release?.());
    return end;
  }
}
