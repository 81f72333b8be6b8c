import { systemClock, type Clock } from '../util/clock';
import { createTransport, type Transport } from '../transport';

/** For a request now and then: with sockets of its own, which end with it. */
export function sendOnce(clock: Clock = systemClock): Transport['send'] {
  return async (request) => {
    const transport = createTransport({ clock });
    try {
      return await transport.send(request);
    } finally {
      await transport.close();
    }
  };
}
