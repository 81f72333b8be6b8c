import { needsVehicle, parseInterface, parseReads, type AnyReadName, type DuePoll } from '../../src/index';
import type { FlowNode } from '../node-red/flow-node';
import type { StatusOptions } from './options';
import { beginWithRetries } from '../node-red/begin-with-retries';

/**
 * Calls back whenever the vehicle's poller finds something due. While polling cannot start, it is tried again, and one message without
 * due reads is sent for each new reason, so that the failing read shows it.
 * @param poll with what is due
 */
export function startPolling(own: FlowNode, settings: () => StatusOptions, poll: (due: DuePoll) => void): void {
  const { closing } = own;
  const begin = async (): Promise<void> => {
    const options = settings();
    const started = { _msgid: '' };
    const reads: AnyReadName[] = [
      parseReads(options.read === 'several' ? options.reads : await own.typed(options, 'read', started)),
    ].flat();
    const vehicle = own.vehicle();
    // Only then the demo car's VIN is known.
    const { client, poller } = await vehicle.account();
    if (reads.length === 0) return closing.aborted ? undefined : poll(nothingDue);
    const vin = reads.some(needsVehicle)
      ? await client.requireVin(vehicle.chooseVin(await own.typed(options, 'vin', started)))
      : '';
    if (closing.aborted) return;
    const stop = poller.start(
      { vin, reads, everyMs: options.poll * 1000, interface: parseInterface(options.interface) },
      poll,
    );
    closing.addEventListener('abort', stop);
  };

  beginWithRetries(own, begin, () => poll(nothingDue));
}

const nothingDue: DuePoll = { reads: [], maxAgeMs: 0, failed: () => undefined };
