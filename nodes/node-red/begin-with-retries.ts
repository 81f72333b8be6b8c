import type { NodeOfFlow } from './flows';
import { clock } from './time';
import { safeError } from '../vehicle/redaction';
import { whenOurs } from '../vehicle/state-store';

const firstPauseMs = 1_000;
const maxPauseMs = 60_000;

/**
 * Begins something that needs a vehicle or a value of the context, and tries again until it has begun, because the flow may set the
 * value after the start, and the vehicle may be added later. Closing the node ends the tries. While another Node-RED uses the folder of the pack, nothing begins.
 * @param report called when it fails for another reason than before
 */
export function beginWithRetries(own: NodeOfFlow, begin: () => Promise<void>, report: () => void): void {
  const { closing } = own;
  let reported = '';
  let cancel: () => void = () => undefined;

  const attempt = async (pauseMs: number): Promise<void> => {
    try {
      await begin();
    } catch (error) {
      if (closing.aborted) return;
      cancel = clock().after(pauseMs, () => void attempt(Math.min(2 * pauseMs, maxPauseMs)));
      const { message } = safeError(error);
      if (message === reported) return;
      reported = message;
      report();
    }
  };

  const start = setImmediate(() => void whenOurs(own).then((isOurs) => (isOurs ? attempt(firstPauseMs) : undefined)));
  closing.addEventListener('abort', () => {
    clearImmediate(start);
    cancel();
  });
}
