import { join } from 'node:path';
import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { OpenWatch } from '../src/index';
import { badgeOf } from './shared/badge';
import { isRecord, serveInput, unfinished } from './shared/funnel';
import { runtime } from './shared/load';
import type { Message } from './shared/messages';
import { showOutcome } from './shared/outcome-badge';
import type { CommandStatusOptions } from './shared/options';
import { clock } from './shared/time';
import { vehicleOf } from './shared/vehicle-node';

/** `connected-vehicle-command-status` (contract 5): follows commands to their verdicts, also over a restart. */
export = (RED: NodeAPI): void => {
  function ConnectedVehicleCommandStatus(this: Node, config: NodeDef & Partial<CommandStatusOptions>): void {
    RED.nodes.createNode(this, config);
    const { asVehicleError, commandStatusOptions, parseOptions, parseRecord, VehicleError, watchCommand, WatchStore } = runtime();
    const badge = badgeOf(RED, this);
    const { userDir } = RED.settings;
    const store = new WatchStore(userDir ? join(userDir, 'connected-vehicle', 'watches', this.id) : null);
    const watching = new Map<string, AbortController>();
    const resumed = new WeakMap<Message, OpenWatch>();

    serveInput(this, badge, async ({ msg, send, signal }) => {
      if (msg['cancel'] === true) return cancel(isRecord(msg.payload) ? msg.payload['id'] : undefined);
      const options = parseOptions(commandStatusOptions, config);
      const open: OpenWatch = resumed.get(msg) ?? { record: parseRecord(msg.payload), startedAt: clock().now(), history: [], msg };
      const { id } = open.record;
      if (watching.has(id)) return;
      const abort = new AbortController();
      watching.set(id, abort);
      try {
        const { client } = await vehicleOf(RED, options.vehicle).account();
        keep(open);
        badge.show('busy', 'watching', { count: watching.size });
        const updates = watchCommand(open.record, {
          client,
          timeoutMs: options.timeout * 1000,
          intervalMs: options.interval * 1000,
          verify: options.verify,
          startedAt: open.startedAt,
          history: open.history,
          signal: AbortSignal.any([signal, abort.signal]),
          clock: clock(),
        });
        for await (const { settled, report } of updates) {
          const out = { ...RED.util.cloneMessage(msg), payload: report };
          if (settled) {
            store.remove(id);
            send([out, null]);
            showOutcome(badge, RED, report);
          } else {
            keep({ ...open, history: report.history });
            send([null, out]);
          }
        }
      } catch (error) {
        if (abort.signal.aborted) {
          store.remove(id);
          throw new VehicleError('CANCELLED', 'The watch was cancelled by a message.');
        }
        // Closed: the watch goes on after the deploy. A link that must not be followed is the end of it.
        if (signal.aborted) return unfinished;
        if (asVehicleError(error).code === 'UNTRUSTED_LINK') store.remove(id);
        throw error;
      } finally {
        watching.delete(id);
      }
    });

    /** A full disk must not end a watch; it only cannot outlive a restart then. */
    const keep = (open: OpenWatch): void => {
      try {
        store.put(open);
      } catch {
        this.warn(RED._(`${this.type}.notKept`));
      }
    };

    const cancel = (id: unknown): void => {
      for (const [watched, abort] of watching) if (id === undefined || id === watched) abort.abort();
    };

    const resume = setImmediate(() => {
      for (const open of store.open()) {
        const msg = open.msg as Message;
        resumed.set(msg, open);
        this.receive(msg);
      }
    });
    this.on('close', (removed: boolean, done: () => void) => {
      clearImmediate(resume);
      if (removed) store.clear();
      done();
    });
  }

  RED.nodes.registerType('connected-vehicle-command-status', ConnectedVehicleCommandStatus);
};
