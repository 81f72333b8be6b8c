import type { NodeAPI, NodeDef } from 'node-red';
import type { Account, StateStore } from '../src/index';
import { accessOf } from './shared/vehicle/access';
import { serveEditor } from './shared/admin';
import { forgetSaved, forgetSignIns } from './shared/admin/sign-in';
import { demoAccess } from './shared/vehicle/demo-car';
import { forgetOverview, overviewOf } from './shared/overview/overview';
import { changed } from './shared/overview/signal';
import { isDeleted } from './shared/node-red/flows';
import { runtime } from './shared/load';
import { redactor, safeError } from './shared/vehicle/redaction';
import { ownStateStoreOf, stateStoreOf } from './shared/vehicle/state-store';
import type { VehicleNode } from './shared/vehicle/vehicle-node';

/** A store for the journal that signals every change to the tab "Cars". */
const signalling = (store: StateStore): Pick<StateStore, 'read' | 'write'> => ({
  read: (key) => store.read(key),
  write(key, value) {
    changed();
    return store.write(key, value);
  },
});

/** `connected-vehicle` (docs/message-contract.md 2): an account, its credentials and its default vehicle. */
export = (RED: NodeAPI): void => {
  function ConnectedVehicle(this: VehicleNode, config: NodeDef): void {
    RED.nodes.createNode(this, config);
    const { parseOptions, vehicleOptions, vehicleCredentials, openAccount } = runtime();
    const ownStore = ownStateStoreOf(RED, this);
    const journal = { store: signalling(ownStore), key: `journal/${this.id}` };
    const kept = { store: stateStoreOf(RED), journal, warn: (sentence: string) => this.warn(sentence) };
    let opened: Promise<Account> | undefined;
    let demoVin: string | undefined;

    const open = async (): Promise<Account> => {
      const options = parseOptions(vehicleOptions, config);
      const observer = overviewOf(this.id, `${options.service} ${options.baseUrl}`);
      if (options.service !== 'demo')
        return openAccount({
          ...accessOf(RED, this.id, options, parseOptions(vehicleCredentials, this.credentials ?? {})),
          ...kept,
          observer,
        });
      const access = await demoAccess(options);
      demoVin = access.vin;
      return openAccount({ ...access, ...kept, observer });
    };

    this.config = config;
    this.account = () => {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    };
    this.chooseVin = (...given) => {
      const chosen = [...given, (config as { vin?: unknown } & NodeDef).vin, demoVin].find(
        (vin) => vin !== undefined && vin !== null && !(typeof vin === 'string' && vin.trim() === ''),
      );
      redactor().learnVin(chosen);
      return chosen;
    };

    // Opened while nothing reads, too: a sign-in is kept alive, and a command of before the restart is known to all that send to its car.
    const openEarly = setImmediate(() => {
      if (this.credentials && Object.keys(this.credentials).length > 0) void this.account().catch(() => undefined);
    });

    this.on('close', (removed: boolean, done: () => void) => {
      const deleted = isDeleted(RED, this, removed);
      if (removed) forgetSignIns(RED, this.id);
      if (deleted) forgetOverview(this.id);
      clearImmediate(openEarly);
      const close = async (): Promise<void> => {
        await (await opened?.catch(() => undefined))?.close();
        if (deleted) await ownStore.remove(journal.key);
        if (deleted) await forgetSaved(RED, config, this.credentials);
      };
      void close()
        .catch((error: unknown) => this.warn(safeError(error).message))
        .then(done);
    });
  }

  serveEditor(RED);
  RED.nodes.registerType('connected-vehicle', ConnectedVehicle as never, {
    credentials: {
      apiKey: { type: 'password' },
      accessToken: { type: 'password' },
      // The client ID is no secret: every sign-in address contains it.
      clientId: { type: 'text' },
      clientSecret: { type: 'password' },
      refreshToken: { type: 'password' },
    },
  });
};
