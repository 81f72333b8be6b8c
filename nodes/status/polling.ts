import type { Node, NodeAPI } from 'node-red';
import { needsVehicle, parseInterface, parseReads, type AnyReadName, type DuePoll } from '../../src/index';
import { typedProperty } from '../node-red/typed-property';
import type { StatusOptions } from './options';
import { beginWithRetries } from '../node-red/begin-with-retries';
import { vehicleOf } from '../vehicle/vehicle-node';

/**
 * Calls back whenever the vehicle's poller finds something due. While polling cannot start, it is tried again, and one message without
 * due reads is sent for each new reason, so that the failing read shows it.
 * @param poll with what is due
 */
export function startPolling(
  RED: NodeAPI,
  node: Node,
  settings: () => StatusOptions,
  poll: (due: DuePoll) => void,
): void {
  let stop: (() => void) | undefined;
  let closed = false;

  const begin = async (): Promise<void> => {
    const options = settings();
    const started = { _msgid: '' };
    const reads: AnyReadName[] = [
      parseReads(options.read === 'several' ? options.reads : await typedProperty(RED, node, options, 'read', started)),
    ].flat();
    const vehicle = vehicleOf(RED, options.vehicle);
    // Only then the demo car's VIN is known.
    const { client, poller } = await vehicle.account();
    if (reads.length === 0) return closed ? undefined : poll(nothingDue);
    const vin = reads.some(needsVehicle)
      ? await client.requireVin(vehicle.chooseVin(await typedProperty(RED, node, options, 'vin', started)))
      : '';
    if (closed) return;
    stop = poller.start(
      { vin, reads, everyMs: options.poll * 1000, interface: parseInterface(options.interface) },
      poll,
    );
  };

  const endRetries = beginWithRetries(RED, node, begin, () => poll(nothingDue));
  node.on('close', () => {
    closed = true;
    endRetries();
    stop?.();
  });
}

const nothingDue: DuePoll = { reads: [], maxAgeMs: 0, failed: () => undefined };
