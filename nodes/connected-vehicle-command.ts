import type { Node, NodeAPI, NodeDef } from 'node-red';
import { badgeOf } from './shared/badge';
import { expiryNote } from './shared/expiry';
import { serveInput } from './shared/funnel';
import { runtime } from './shared/load';
import type { CommandOptions } from './shared/options';
import { showOutcome } from './shared/outcome-badge';
import { safeRecord } from './shared/redaction';
import { clock } from './shared/time';
import { vehicleOf } from './shared/vehicle-node';

/** `connected-vehicle-command` (contract 4): sends one command, once and with care, and hands on its invocation record. */
export = (RED: NodeAPI): void => {
  function ConnectedVehicleCommand(this: Node, config: NodeDef & Partial<CommandOptions>): void {
    RED.nodes.createNode(this, config);
    const { Arming, commandOptions, isUnlock, parseInterface, parseOptions, parseSwitch, VehicleError } = runtime();
    const badge = badgeOf(RED, this);
    const arming = new Arming(clock());
    /** What waits here: for its turn, or for a car that takes commands. */
    const unsent = new Set<AbortController>();

    const cancel = (): void => {
      arming.disarm();
      for (const one of unsent) one.abort(new VehicleError('CANCELLED', 'The waiting command was cancelled by a message. It was not sent.'));
    };

    serveInput(this, badge, async ({ msg, send, signal }) => {
      // A message that carries one of these never sends, whatever else it says.
      const cancels = parseSwitch('cancel', msg['cancel']);
      const arms = parseSwitch('arm', msg['arm']);
      if (cancels === true) return cancel();
      if (arms === false) return arming.disarm();
      const options = parseOptions(commandOptions, config);
      if (arms === true) {
        arming.arm(options.arming);
        return badge.show('waiting', 'armed', { seconds: options.arming });
      }
      if (cancels === false) return;
      const vehicle = vehicleOf(RED, options.vehicle);
      const account = await vehicle.account();
      const { commands } = account;
      badge.note = () => expiryNote(RED, account);
      const command = msg['command'] ?? options.command;
      const unlocks = isUnlock(command);
      if (unlocks) arming.take(options.arming);

      const waits = options.whenUnavailable === 'wait' && (!unlocks || options.waitUnlock);
      const own = new AbortController();
      unsent.add(own);
      badge.show('busy', 'sending');
      try {
        const record = await commands.send(command, {
          vin: vehicle.chooseVin(msg['vin'], options.vin),
          interface: parseInterface(msg['interface'] ?? options.interface),
          unlockDuration: msg['unlockDuration'] ?? options.unlockDuration,
          // Who lets other commands wait does not want an unlock sent into the blue either.
          precheck: !waits && (options.precheck || options.whenUnavailable === 'wait'),
          whenBusy: options.whenBusy,
          waitMs: waits ? options.deadline * 1000 : undefined,
          onWaiting: () => badge.show('waiting', 'waiting'),
          sentBy: this.name || this.id,
          cancel: own.signal,
          signal,
        });
        showOutcome(badge, RED, record);
        if (signal.aborted) this.warn(RED._(`${this.type}.closedMeanwhile`, { command: record.command }));
        send({ ...msg, payload: safeRecord(record), vehicle: { vin: record.vin, command: record.command, interface: record.interface } });
      } finally {
        unsent.delete(own);
      }
    });
  }

  RED.nodes.registerType('connected-vehicle-command', ConnectedVehicleCommand);
};
