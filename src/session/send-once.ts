import { systemClock, type Clock } from '../util/clock';
import { createTransport, type Transport } from '../transport';

/** Sends single requests, each over a transport of its own that is closed afterwards. */
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
