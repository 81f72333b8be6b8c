import { join } from 'node:path';
import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { GuardEvent, GuardKeeper, GuardRead } from '../src/index';
import { badgeOf } from './shared/badge';
import { serveInput, showFailure } from './shared/funnel';
import { guardRequestOf } from './shared/guard-messages';
import { guardWordsOf, showView } from './shared/guard-words';
import { isInFlows } from './shared/flows';
import { runtime } from './shared/load';
import type { Message } from './shared/messages';
import type { GuardOptions } from './shared/options';
import { clock } from './shared/time';
import { vehicleOf } from './shared/vehicle-node';
import { word } from './shared/words';

/** As a person writes it, too. */
const isVin = (given: unknown, vin: string): boolean => typeof given === 'string' && given.trim().toUpperCase() === vin;

/** `connected-vehicle-guard`: says when a window, a door or the lock stays open, and when all is closed again. */
export = (RED: NodeAPI): void => {
  function ConnectedVehicleGuard(this: Node, config: NodeDef & Partial<GuardOptions>): void {
    RED.nodes.createNode(this, config);
    const { GuardKeeper, guardOptions, guardText, parseOptions, parseVin, StateFile, VehicleError } = runtime();
    const badge = badgeOf(RED, this);
    const { userDir } = RED.settings;
    const file = new StateFile(userDir ? join(userDir, 'connected-vehicle', 'guards', `${this.id}.json`) : null);
    /** Of the messages that come from the guard itself: what to read. */
    const inner = new WeakMap<Message, readonly GuardRead[]>();
    let opened: Promise<{ vin: string; keeper: GuardKeeper }> | undefined;
    /** What the last look could not read. */
    const failing = new Set<GuardRead>();
    let endPolling = (): void => undefined;

    const open = async (): Promise<{ vin: string; keeper: GuardKeeper }> => {
      const { vehicle: id, vin: own, poll, ...settings } = parseOptions(guardOptions, config);
      const vehicle = vehicleOf(RED, id);
      const { client, poller } = await vehicle.account();
      const vin = parseVin(vehicle.chooseVin(own));
      const onUnkept = (): void => this.warn(word(RED, 'warning.guard.notKept'));
      const keeper = await GuardKeeper.open({ settings, client, vin, file, clock: clock(), onDue: () => wake([]), onUnkept });
      if (poll > 0) endPolling = poller.start({ vin, reads: keeper.readsFor(), everyMs: poll * 1000 }, (due) => wake(keeper.readsFor().filter((read) => due.includes(read))));
      return { vin, keeper };
    };

    serveInput(this, badge, async ({ msg, send, signal }) => {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      const { vin, keeper } = await opened;
      const due = inner.get(msg);
      const { heard, snooze, ask } = due === undefined ? guardRequestOf(msg) : {};
      if (heard !== undefined && !isVin(heard.vin, vin)) throw new VehicleError('INPUT_INVALID', 'This reading is of another vehicle. Use one guard for each vehicle.');

      const tell = (events: GuardEvent[]): void => {
        for (const event of events) {
          const payload = { ...event, text: guardText(event, guardWordsOf(RED)) };
          const out = { ...RED.util.cloneMessage(msg), topic: msg.topic || event.type, payload, vehicle: { vin } };
          send(event.type === 'clear' ? [null, out] : [out, null]);
        }
      };
      if (due?.length === 0) tell(keeper.step({ type: 'tick' }));
      if (heard !== undefined) tell(keeper.step(heard.reading));
      if (snooze !== undefined) tell(keeper.step({ type: 'snooze', minutes: snooze }));
      const reads = due ?? (ask !== undefined || (heard === undefined && snooze === undefined) ? keeper.readsFor(ask?.only) : []);
      const { events, failure } = reads.length > 0 ? await keeper.look(reads, signal) : { events: [], failure: null };
      tell(events);
      if (ask !== undefined) tell(keeper.step({ type: 'ask', ...ask }));
      showView(badge, RED, keeper.view);
      const isNews = reads.some((read) => !failing.has(read));
      for (const read of reads) {
        if (failure === null) failing.delete(read);
        else failing.add(read);
      }
      if (failure === null) return;
      // An outage goes to a Catch node once, not with each look of the guard's own; the badge tells on.
      if (due === undefined || isNews) throw failure;
      showFailure(badge, failure);
    });

    const wake = (reads: readonly GuardRead[]): void => {
      const msg: Message = { _msgid: RED.util.generateId() };
      inner.set(msg, reads);
      this.receive(msg);
    };
    // What was open before the restart goes on being counted.
    const start = setImmediate(() => wake([]));
    this.on('close', (removed: boolean, done: () => void) => {
      clearImmediate(start);
      const end = async (): Promise<void> => {
        (await opened?.catch(() => undefined))?.keeper.end();
        endPolling();
        await (removed && !isInFlows(RED, this) ? file.remove() : file.idle());
      };
      void end().catch(() => undefined).then(done);
    });
  }

  RED.nodes.registerType('connected-vehicle-guard', ConnectedVehicleGuard);
};
