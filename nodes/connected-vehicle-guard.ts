import { join } from 'node:path';
import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { GuardEvent, GuardKeeper, GuardLooked, GuardRead, DuePoll } from '../src/index';
import { badgeOf } from './shared/status/node-status';
import { serveInput } from './shared/input/input-handler';
import { guardRequestOf } from './shared/guard/guard-messages';
import { guardWordsOf, showLook } from './shared/guard/guard-words';
import { fileNameOf, isDeleted } from './shared/node-red/flows';
import { runtime } from './shared/load';
import type { Message } from './shared/input/message';
import type { GuardOptions } from './shared/input/options';
import { clock } from './shared/node-red/time';
import { vehicleOf } from './shared/vehicle/vehicle-node';
import { word } from './shared/node-red/i18n';

/** As a person writes it, too. */
const isVin = (given: unknown, vin: string): boolean => typeof given === 'string' && given.trim().toUpperCase() === vin;

/** `connected-vehicle-guard`: says when a window, a door or the lock stays open, and when all is closed again. */
export = (RED: NodeAPI): void => {
  function ConnectedVehicleGuard(this: Node, config: NodeDef & Partial<GuardOptions>): void {
    RED.nodes.createNode(this, config);
    const { GuardKeeper, guardOptions, guardText, parseOptions, parseVin, StateFile, VehicleError } = runtime();
    const badge = badgeOf(RED, this);
    const { userDir } = RED.settings;
    const file = new StateFile(
      userDir ? join(userDir, 'connected-vehicle', 'guards', `${fileNameOf(this.id)}.json`) : null,
    );
    /** Of the messages that come from the guard itself: what to read. */
    const inner = new WeakMap<Message, { reads: readonly GuardRead[]; duePoll?: DuePoll }>();
    let opened: Promise<{ vin: string; keeper: GuardKeeper; first: GuardLooked[] }> | undefined;
    let endPolling = (): void => undefined;

    const open = async (signal: AbortSignal): Promise<{ vin: string; keeper: GuardKeeper; first: GuardLooked[] }> => {
      const { vehicle: id, vin: own, poll, ...settings } = parseOptions(guardOptions, config);
      const vehicle = vehicleOf(RED, id);
      const { client, poller } = await vehicle.account();
      const vin = parseVin(vehicle.chooseVin(own));
      const onUnkept = (): void => this.warn(word(RED, 'warning.guard.notKept'));
      const keeper = await GuardKeeper.open({
        settings,
        client,
        vin,
        file,
        clock: clock(),
        onDue: () => wake([]),
        onUnkept,
      });
      const first = poll > 0 ? await keeper.lookFirst(signal) : null;
      if (poll > 0)
        endPolling = poller.start(
          { vin, reads: keeper.readsFor(), everyMs: poll * 1000, timeZone: settings.timeZone },
          (duePoll) =>
            wake(
              keeper.readsFor().filter((read) => duePoll.reads.includes(read)),
              duePoll,
            ),
        );
      return { vin, keeper, first: first === null ? [] : [first] };
    };

    serveInput(this, badge, async ({ msg, send, signal }) => {
      opened ??= open(signal).catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      const { vin, keeper, first } = await opened;
      const { reads: due, duePoll } = inner.get(msg) ?? {};
      const { heard, snooze, ask } = due === undefined ? guardRequestOf(msg) : {};
      if (heard !== undefined && !isVin(heard.vin, vin))
        throw new VehicleError('INPUT_INVALID', 'This reading is of another vehicle. Use one guard for each vehicle.');

      const tell = (events: GuardEvent[]): void => {
        for (const event of events) {
          const payload = { ...event, text: guardText(event, guardWordsOf(RED)) };
          const out = { ...RED.util.cloneMessage(msg), topic: msg.topic || event.type, payload, vehicle: { vin } };
          send(event.type === 'clear' ? [null, out] : [out, null]);
        }
      };
      // What was found at the start comes out with whatever comes first.
      let looked = first.pop() ?? { events: [], failure: null, isNews: false };
      tell(looked.events);
      if (due?.length === 0) tell(keeper.step({ type: 'tick' }));
      if (heard !== undefined) tell(keeper.step(heard.reading));
      if (snooze !== undefined) tell(keeper.step({ type: 'snooze', minutes: snooze }));
      const reads =
        due ?? (ask !== undefined || (heard === undefined && snooze === undefined) ? keeper.readsFor(ask?.only) : []);
      if (reads.length > 0) tell((looked = await keeper.look(reads, signal, duePoll)).events);
      if (ask !== undefined) tell(keeper.step({ type: 'ask', ...ask }));
      showLook(badge, RED, keeper.view, looked.failure);
      // An outage goes to a Catch node once, not with each look of the guard's own; the badge tells on.
      if (looked.failure !== null && (due === undefined || looked.isNews)) throw looked.failure;
    });

    const wake = (reads: readonly GuardRead[], duePoll?: DuePoll): void => {
      const msg: Message = { _msgid: RED.util.generateId() };
      inner.set(msg, { reads, ...(duePoll && { duePoll }) });
      this.receive(msg);
    };
    // What was open before the restart goes on being counted.
    const start = setImmediate(() => wake([]));
    this.on('close', (removed: boolean, done: () => void) => {
      clearImmediate(start);
      const end = async (): Promise<void> => {
        (await opened?.catch(() => undefined))?.keeper.end();
        endPolling();
        await (isDeleted(RED, this, removed) ? file.remove() : file.idle());
      };
      void end()
        .catch(() => undefined)
        .then(done);
    });
  }

  RED.nodes.registerType('connected-vehicle-guard', ConnectedVehicleGuard);
};
