import { join } from 'node:path';
import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { OpenWatch } from '../src/index';
import { badgeOf } from './shared/badge';
import { serveInput, unfinished } from './shared/funnel';
import { runtime } from './shared/load';
import type { Message } from './shared/messages';
import { showOutcome } from './shared/outcome-badge';
import type { CommandStatusOptions } from './shared/options';
import { RecentIds } from './shared/recent-ids';
import { safeRecord } from './shared/redaction';
import { clock } from './shared/time';
import { isInFlows } from './shared/flows';
import { vehicleOf } from './shared/vehicle-node';

/** `connected-vehicle-command-status` (contract 5): follows commands to their verdicts, also over a restart. */
export = (RED: NodeAPI): void => {
  function ConnectedVehicleCommandStatus(this: Node, config: NodeDef & Partial<CommandStatusOptions>): void {
    RED.nodes.createNode(this, config);
    const { asVehicleError, cancelledId, commandStatusOptions, parseOptions, parseRecord, VehicleError, watchCommand, WatchStore } = runtime();
    const badge = badgeOf(RED, this);
    const { userDir } = RED.settings;
    const store = new WatchStore(userDir ? join(userDir, 'connected-vehicle', 'watches', this.id) : null);
    const watching = new Map<string, AbortController>();
    const settled = new RecentIds();
    const resumed = new WeakMap<Message, OpenWatch>();

    serveInput(this, badge, async ({ msg, send, signal }) => {
      if (msg['cancel'] === true) return cancel(cancelledId(msg.payload));
      const options = parseOptions(commandStatusOptions, config);
      const open: OpenWatch = resumed.get(msg) ?? { record: parseRecord(msg.payload), startedAt: clock().now(), history: [], msg };
      const { id } = open.record;
      if (watching.has(id) || settled.has(id)) return;
      const abort = new AbortController();
      watching.set(id, abort);
      try {
        const { client, commands } = await vehicleOf(RED, options.vehicle).account();
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
        for await (const update of updates) {
          const report = safeRecord(update.report);
          commands.learned(report, update.settled);
          const out = { ...RED.util.cloneMessage(msg), payload: report };
          if (update.settled) {
            settled.add(id);
            forget(id);
            send([out, null]);
            showOutcome(badge, RED, report);
          } else {
            keep({ ...open, history: report.history });
            send([null, out]);
          }
        }
      } catch (error) {
        if (abort.signal.aborted) {
          forget(id);
          throw new VehicleError('CANCELLED', 'The watch was cancelled by a message.');
        }
        // Closed: the watch goes on after the deploy. A link that must not be followed is the end of it.
        if (signal.aborted) return unfinished;
        if (asVehicleError(error).code === 'UNTRUSTED_LINK') forget(id);
        throw error;
      } finally {
        watching.delete(id);
      }
    });

    /** A disk that is full or locked must not end a watch, nor hold back its verdict. */
    const tryStore = (change: () => void): void => {
      try {
        change();
      } catch {
        this.warn(RED._(`${this.type}.notKept`));
      }
    };
    const keep = (open: OpenWatch): void => tryStore(() => store.put(open));
    const forget = (id: string): void => tryStore(() => store.remove(id));

    const cancel = (id: string | null): void => {
      for (const [watched, abort] of watching) if (id === null || id === watched) abort.abort();
    };

    const resume = setImmediate(() => {
      for (const open of store.open((file) => this.warn(RED._(`${this.type}.damaged`, { file })))) {
        const msg = open.msg as Message;
        resumed.set(msg, open);
        this.receive(msg);
      }
    });
    this.on('close', (removed: boolean, done: () => void) => {
      clearImmediate(resume);
      if (removed && !isInFlows(RED, this)) {
        if (watching.size > 0) this.warn(RED._(`${this.type}.deleted`, { count: watching.size }));
        store.clear();
      }
      done();
    });
  }

  RED.nodes.registerType('connected-vehicle-command-status', ConnectedVehicleCommandStatus);
};
