import { VehicleError } from '../../../src/errors';
import { EventRunner } from '../../../src/events/event-runner';
import type { HistoryReading } from './oracle';

export const vin = 'YV1EVENTRUNNER001';

type EventRunnerOptions = Parameters<typeof EventRunner.open>[0];

/** A client that answers from a reading of a history. */
export const clientOf = (current: () => HistoryReading): EventRunnerOptions['client'] => ({
  clockSkewMs: 0,
  read(read) {
    const { payloads, receivedAt, at } = current();
    if (!(read in payloads)) return Promise.reject(new VehicleError('SERVICE_ERROR', 'The service did not answer.'));
    return Promise.resolve({
      payload: payloads[read],
      vehicle: {
        vin,
        read,
        interface: null,
        receivedAt: new Date(receivedAt[read] ?? at).toISOString(),
        measuredAt: null,
        source: 'live',
      },
    });
  },
});

/** Opens the events of one node, as after a start of the process. */
export const openRunner = (
  options: Pick<EventRunnerOptions, 'settings' | 'client' | 'store' | 'clock'> & Partial<EventRunnerOptions>,
): Promise<EventRunner> =>
  EventRunner.open({
    vin,
    key: 'event/node',
    onSaveFailed: () => undefined,
    onDropped: () => undefined,
    ...options,
  });
