import { join } from 'node:path';
import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { GuardEvent, GuardKeeper } from '../src/index';
import { badgeOf } from './shared/badge';
import { serveInput } from './shared/funnel';
import { guardRequestOf } from './shared/guard-messages';
import { guardWordsOf, showView } from './shared/guard-words';
import { runtime } from './shared/load';
import type { Message } from './shared/messages';
import type { GuardOptions } from './shared/options';
import { startPolling } from './shared/polling';
import { clock } from './shared/time';
import { vehicleOf } from './shared/vehicle-node';

/** `connected-vehicle-guard`: says when a window, a door or the lock stays open, and when all is closed again. */
export = (RED: NodeAPI): void => {
  function ConnectedVehicleGuard(this: Node, config: NodeDef & Partial<GuardOptions>): void {
    RED.nodes.createNode(this, config);
    const { GuardKeeper, guardOptions, guardText, parseOptions, parseVin, StateFile, VehicleError } = runtime();
    const badge = badgeOf(RED, this);
    const { userDir } = RED.settings;
    const file = new StateFile(userDir ? join(userDir, 'connected-vehicle', 'guards', `${this.id}.json`) : null);
    const inner = new WeakMap<Message, 'look' | 'tick'>();
    let opened: Promise<{ vin: string; keeper: GuardKeeper }> | undefined;
    let endPolling = (): void => undefined;

    const open = async (): Promise<{ vin: string; keeper: GuardKeeper }> => {
      const { vehicle: id, vin: own, poll, ...settings } = parseOptions(guardOptions, config);
      const vehicle = vehicleOf(RED, id);
      const { client } = await vehicle.account();
      const vin = parseVin(vehicle.chooseVin(own));
      const onUnkept = (): void => this.warn(RED._(`${this.type}.notKept`));
      const keeper = await GuardKeeper.open({ settings, client, vin, file, clock: clock(), onDue: () => wake('tick'), onUnkept });
      endPolling = startPolling(this.id, poll, () => wake('look'));
      return { vin, keeper };
    };

    serveInput(this, badge, async ({ msg, send, signal }) => {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      const { vin, keeper } = await opened;
      const self = inner.get(msg);
      const { heard, snooze, ask } = self === undefined ? guardRequestOf(msg) : {};
      if (heard !== undefined && heard.vin !== vin) throw new VehicleError('INPUT_INVALID', 'This reading is of another vehicle. Use one guard for each vehicle.');

      const tell = (events: GuardEvent[]): void => {
        for (const event of events) {
          const payload = { ...event, text: guardText(event, guardWordsOf(RED)) };
          const out = { ...RED.util.cloneMessage(msg), topic: msg.topic || event.type, payload, vehicle: { vin } };
          send(event.type === 'clear' ? [null, out] : [out, null]);
        }
      };
      if (self === 'tick') tell(keeper.step({ type: 'tick' }));
      if (heard !== undefined) tell(keeper.step(heard.reading));
      if (snooze !== undefined) tell(keeper.step({ type: 'snooze', minutes: snooze }));
      const looks = self === 'look' || ask !== undefined || (self === undefined && heard === undefined && snooze === undefined);
      const { events, failure } = looks ? await keeper.look(signal) : { events: [], failure: null };
      tell(events);
      if (ask !== undefined) tell(keeper.step({ type: 'ask', ...ask }));
      showView(badge, RED, keeper.view);
      if (failure !== null) throw failure;
    });

    const wake = (why: 'look' | 'tick'): void => {
      const msg: Message = { _msgid: RED.util.generateId() };
      inner.set(msg, why);
      this.receive(msg);
    };
    // What was open before the restart goes on being counted.
    const start = setImmediate(() => wake('tick'));
    this.on('close', (removed: boolean, done: () => void) => {
      clearImmediate(start);
      const end = async (): Promise<void> => {
        (await opened?.catch(() => undefined))?.keeper.end();
        endPolling();
        await (removed ? file.remove() : file.idle());
      };
      void end().catch(() => undefined).then(done);
    });
  }

  RED.nodes.registerType('connected-vehicle-guard', ConnectedVehicleGuard);
};
