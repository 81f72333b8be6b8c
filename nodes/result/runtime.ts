import type { Node, NodeAPI, NodeDef } from 'node-red';
import { cancelledId, followWatch, parseRecord, parseSwitch, VehicleError, type OpenWatch } from '../../src/index';
import { nodeStatusOf } from '../node-red/node-status';
import { onInput, handedOver } from '../node-red/input-handler';
import { selfMessages } from '../node-red/self-message';
import { WatchPersistence } from './watch-persistence';
import { showOutcome } from '../node-red/outcome-status';
import { commandStatusOptions, type CommandStatusOptions } from './options';
import { parseOptions } from '../node-red/options';
import { safeError, safeRecord } from '../vehicle/redaction';
import { clock } from '../node-red/time';
import { knownOverview, type Overview } from '../cars/runtime/overview';
import { showMissingVehicle, vehicleOf } from '../vehicle/vehicle-node';

/** `connected-vehicle-command-status` (docs/message-contract.md 5): follows commands to their results, also over a restart. */
export function connectedVehicleCommandStatus(
  RED: NodeAPI,
  node: Node,
  config: NodeDef & Partial<CommandStatusOptions>,
): void {
  RED.nodes.createNode(node, config);
  const nodeStatus = nodeStatusOf(RED, node);
  showMissingVehicle(RED, node, nodeStatus, config.vehicle);
  const watches = new WatchPersistence(RED, node, 'watches');
  const watching = new Map<string, AbortController>();
  const resumed = selfMessages<OpenWatch>(RED, node);

  onInput(RED, node, nodeStatus, async ({ msg, send, signal }) => {
    if (parseSwitch('cancel', msg['cancel']) === true) return await cancel(cancelledId(msg.payload));
    const options = parseOptions(commandStatusOptions, config);
    const open: OpenWatch = resumed.contentOf(msg) ?? {
      record: parseRecord(msg.payload),
      startedAt: clock().now(),
      history: [],
      msg,
    };
    const { id } = open.record;
    if (watching.has(id)) return;
    const abort = new AbortController();
    watching.set(id, abort);
    let shown: ReturnType<Overview['watch']> | undefined;
    try {
      // Begun before anything is awaited: the command node forgets its command when the watch has stored it.
      const stored = watches.keep(open);
      if (await watches.hasEnded(id)) return await stored.then(() => watches.forget(id));
      await stored;
      const { client, dispatcher } = await vehicleOf(RED, options.vehicle).account();
      shown = knownOverview(options.vehicle)?.watch(open.record);
      nodeStatus.show('busy', 'watching', { count: watching.size });
      const updates = followWatch(open, {
        client,
        timeoutMs: options.timeout * 1000,
        intervalMs: options.interval * 1000,
        verify: options.verify,
        signal,
        cancel: abort.signal,
        clock: clock(),
      });
      for await (const update of updates) {
        const report = safeRecord(update.report);
        await dispatcher.applyReport(report, update.settled);
        const out = { ...RED.util.cloneMessage(msg), payload: report };
        if (update.settled) {
          if (!(await watches.deliver(open, report, () => send([out, null]), signal))) return handedOver;
          showOutcome(nodeStatus, RED, report);
        } else {
          await watches.keep({ ...open, history: report.history });
          shown?.update(report.requestStatus);
          send([null, out]);
        }
      }
    } catch (error) {
      if (abort.signal.aborted) {
        await watches.forget(id);
        throw new VehicleError('CANCELLED', 'The watch was cancelled by a message.');
      }
      // The node was closed: the watch continues after the deploy. A link that must not be followed ends it.
      if (signal.aborted) return handedOver;
      if (safeError(error).code === 'UNTRUSTED_LINK') await watches.forget(id);
      throw error;
    } finally {
      watching.delete(id);
      shown?.end();
    }
  });

  const cancel = async (id: string | null): Promise<void> => {
    if (id !== null && !watching.has(id) && !(await watches.hasEnded(id))) {
      throw new VehicleError(
        'INPUT_INVALID',
        'No watch of that id is open here, so none was ended. Send the id of the record in msg.payload.id, or none to end all.',
      );
    }
    for (const [watched, abort] of watching) if (id === null || id === watched) abort.abort();
  };

  let closed = false;
  const resume = async (): Promise<void> => {
    // After the constructor, when the flows around this node are set up, too.
    await new Promise((resolve) => setImmediate(resolve));
    for (const open of closed ? [] : await watches.open()) {
      if (closed) return;
      resumed.send(open, { ...open.msg, payload: open.record });
    }
  };
  const resuming = resume();
  node.on('close', (removed: boolean, done: () => void) => {
    closed = true;
    const open = watching.size;
    void resuming.then(() => watches.close(removed, open)).then(done);
  });
}
