import { keepAskedAt } from '../../../src/car/reading';
import { VehicleError } from '../../../src/errors';
import { CarEvents, CarRunner, type CarRunnerOptions, type VehicleEvent } from '../../../src/index';
import type { HistoryReading } from './oracle';

export const vin = 'YV1EVENTRUNNER001';

/** A client that answers from a reading of a history. */
export const clientOf = (current: () => HistoryReading): CarRunnerOptions['client'] => ({
  clockSkewMs: 0,
  read(read) {
    const { payloads, receivedAt, askedAt, at } = current();
    if (!(read in payloads)) return Promise.reject(new VehicleError('SERVICE_ERROR', 'The service did not answer.'));
    return Promise.resolve({
      payload: payloads[read],
      vehicle: keepAskedAt(
        {
          vin,
          read,
          interface: null,
          receivedAt: new Date(receivedAt[read] ?? at).toISOString(),
          measuredAt: null,
          source: 'live',
        },
        askedAt?.[read] ?? receivedAt[read] ?? at,
      ),
    });
  },
});

type Opening = Pick<CarRunnerOptions, 'client' | 'store' | 'clock'> &
  Partial<CarRunnerOptions> & {
    settings: ConstructorParameters<typeof CarEvents>[0];
    signIn?: ConstructorParameters<typeof CarEvents>[1];
  };

/** Opens the events of one node, as after a start of the process. */
export const openRunner = ({ settings, signIn, ...options }: Opening) =>
  CarRunner.open(new CarEvents(settings, signIn), {
    vin,
    key: 'event/node',
    onSaveFailed: () => undefined,
    onDropped: () => undefined,
    ...options,
  });
/** The events that a former process has left, as the first step returns them. */
export const unsentOf = async (runner: EventRunner): Promise<VehicleEvent[]> =>
  (await runner.poll([], new AbortController().signal)).events;

export type EventRunner = Awaited<ReturnType<typeof openRunner>>;
