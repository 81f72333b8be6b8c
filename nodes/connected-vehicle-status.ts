import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { AnyReading } from '../src/index';
import { badgeOf } from './shared/badge';
import { serveInput } from './shared/funnel';
import { runtime } from './shared/load';
import type { Message } from './shared/messages';
import type { StatusOptions } from './shared/options';
import { startPolling } from './shared/polling';
import { showReading } from './shared/reading-badge';
import { clock } from './shared/time';
import { vehicleOf } from './shared/vehicle-node';

/** `connected-vehicle-status` (contract 3): one read or several, on a message or by itself, into the message. */
export = (RED: NodeAPI): void => {
  function ConnectedVehicleStatus(this: Node, config: NodeDef & Partial<StatusOptions>): void {
    RED.nodes.createNode(this, config);
    const { LastReadings, parseInterface, parseOptions, statusOptions } = runtime();
    const badge = badgeOf(RED, this);
    const last = new LastReadings();
    const polls = new WeakSet<Message>();

    serveInput(this, badge, async ({ msg, send, signal }) => {
      const options = parseOptions(statusOptions, config);
      const vehicle = vehicleOf(RED, options.vehicle);
      const { client } = await vehicle.account();
      const chosen = msg['read'] ?? (options.read === 'several' ? options.reads : options.read);
      const vin = vehicle.chooseVin(msg['vin'], options.vin);
      const readOptions = { vin, interface: parseInterface(msg['interface'] ?? options.interface), signal };
      const key = (): string => JSON.stringify([vin, chosen]);

      badge.show('busy', 'reading');
      try {
        const reading = Array.isArray(chosen) ? await client.readSeveral(chosen, readOptions) : await client.read(chosen, readOptions);
        showReading(badge, RED, reading);
        const keeps = options.emit === 'changes' || options.poll > 0;
        const changed = keeps && last.remember(key(), reading);
        if (options.emit === 'always' || changed) send(fill(msg, reading));
      } catch (error) {
        // What a poll last knew goes on, marked as such; who asked by message is told by the failure.
        const kept = polls.has(msg) && options.emit === 'always' && !signal.aborted ? last.kept(key(), clock().now()) : undefined;
        if (kept !== undefined) send(fill(msg, kept));
        throw error;
      }
    });

    const poll = (): void => {
      const msg: Message = { _msgid: RED.util.generateId() };
      polls.add(msg);
      this.receive(msg);
    };
    this.on('close', startPolling(this.id, Number(config.poll) || 0, poll));
  }

  RED.nodes.registerType('connected-vehicle-status', ConnectedVehicleStatus);
};

function fill(msg: Message, { payload, vehicle }: AnyReading): Message {
  const topic = msg.topic || (Array.isArray(vehicle.read) ? 'several' : vehicle.read);
  return { ...msg, payload, vehicle, topic };
}
