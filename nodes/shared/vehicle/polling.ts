import type { Node, NodeAPI } from 'node-red';
import type { AnyReadName, DuePoll } from '../../../src/index';
import { runtime } from '../load';
import { typedProperty } from '../input/typed-property';
import type { StatusOptions } from '../input/options';
import { vehicleOf } from './vehicle-node';

/**
 * Calls back whenever the vehicle's poller finds something due. Where nothing can ever be due, once: the poll that fails
 * says what is wrong.
 * @param poll with what is due
 */
export function startPolling(
  RED: NodeAPI,
  node: Node,
  settings: () => StatusOptions,
  poll: (due: DuePoll) => void,
): void {
  const { needsVehicle, parseInterface, parseReads, parseVin } = runtime();
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
    const { poller } = await vehicle.account();
    if (reads.length === 0) return closed ? undefined : poll(nothingDue);
    const vin = reads.some(needsVehicle)
      ? parseVin(vehicle.chooseVin(await typedProperty(RED, node, options, 'vin', started)))
      : '';
    if (closed) return;
    stop = poller.start(
      { vin, reads, everyMs: options.poll * 1000, interface: parseInterface(options.interface) },
      poll,
    );
  };

  const start = setImmediate(() => void begin().catch(() => closed || poll(nothingDue)));
  node.on('close', () => {
    closed = true;
    clearImmediate(start);
    stop?.();
  });
}

const nothingDue: DuePoll = { reads: [], maxAgeMs: 0, failed: () => undefined };
