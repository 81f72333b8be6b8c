import type { Node, NodeAPI, NodeDef } from 'node-red';
import { badgeOf } from './shared/badge';
import { serveInput } from './shared/funnel';
import { runtime } from './shared/load';
import type { CommandOptions } from './shared/options';
import { showOutcome } from './shared/outcome-badge';
import { safeRecord } from './shared/redaction';
import { vehicleOf } from './shared/vehicle-node';

/** `connected-vehicle-command` (contract 4): sends one command, once, and hands on its invocation record. */
export = (RED: NodeAPI): void => {
  function ConnectedVehicleCommand(this: Node, config: NodeDef & Partial<CommandOptions>): void {
    RED.nodes.createNode(this, config);
    const { commandOptions, parseInterface, parseOptions } = runtime();
    const badge = badgeOf(RED, this);

    serveInput(this, badge, async ({ msg, send, signal }) => {
      const options = parseOptions(commandOptions, config);
      const vehicle = vehicleOf(RED, options.vehicle);
      const { client } = await vehicle.account();

      badge.show('busy', 'sending');
      const record = await client.send(msg['command'] ?? options.command, {
        vin: vehicle.chooseVin(msg['vin'], options.vin),
        interface: parseInterface(msg['interface'] ?? options.interface),
        unlockDuration: msg['unlockDuration'] ?? options.unlockDuration,
        precheck: options.precheck,
        signal,
      });
      showOutcome(badge, RED, record);
      if (signal.aborted) this.warn(RED._(`${this.type}.closedMeanwhile`, { command: record.command }));
      send({ ...msg, payload: safeRecord(record), vehicle: { vin: record.vin, command: record.command, interface: record.interface } });
    });
  }

  RED.nodes.registerType('connected-vehicle-command', ConnectedVehicleCommand);
};
