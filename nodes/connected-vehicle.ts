import type { NodeAPI, NodeDef } from 'node-red';
import type { Account, AccountOptions } from '../src/index';
import { accessOf } from './shared/access';
import { Demo } from './shared/demo';
import { runtime } from './shared/load';
import type { VehicleOptions } from './shared/options';
import { clock } from './shared/time';
import type { VehicleNode } from './shared/vehicle-node';

/** `connected-vehicle` (contract 2): an account, its credentials and its default vehicle. */
export = (RED: NodeAPI): void => {
  function ConnectedVehicle(this: VehicleNode, config: NodeDef): void {
    RED.nodes.createNode(this, config);
    const { parseOptions, vehicleOptions, vehicleCredentials, resolveService, openAccount, pastedToken } = runtime();
    const demo = new Demo();
    let opened: Promise<Account> | undefined;
    let demoVin: string | undefined;

    const demoAccess = async (options: VehicleOptions): Promise<AccountOptions> => {
      const simulated = await demo.start();
      demoVin = simulated.car().vin;
      const service = resolveService('demo', { baseUrl: simulated.url });
      return { service, apiKey: 'demo-key', tokens: pastedToken('demo-token'), readOnly: options.readOnly, limits: options, clock: clock() };
    };

    const open = async (): Promise<Account> => {
      const options = parseOptions(vehicleOptions, config);
      const credentials = parseOptions(vehicleCredentials, this.credentials ?? {});
      return openAccount(options.service === 'demo' ? await demoAccess(options) : accessOf(RED, this.id, options, credentials));
    };

    this.account = () => {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    };
    this.chooseVin = (...given) => [...given, (config as { vin?: unknown } & NodeDef).vin, demoVin].find((vin) => vin !== undefined && vin !== null && vin !== '');

    // A sign-in is kept alive while nothing reads, too.
    const keepAlive = setImmediate(() => {
      if (this.credentials && 'clientId' in this.credentials) void this.account().catch(() => undefined);
    });

    this.on('close', (_removed: boolean, done: () => void) => {
      clearImmediate(keepAlive);
      const close = async (): Promise<void> => {
        await (await opened?.catch(() => undefined))?.close();
        await demo.end();
      };
      void close().catch(() => undefined).then(done);
    });
  }

  RED.nodes.registerType('connected-vehicle', ConnectedVehicle as never, {
    credentials: {
      apiKey: { type: 'password' },
      accessToken: { type: 'password' },
      clientId: { type: 'password' },
      clientSecret: { type: 'password' },
      refreshToken: { type: 'password' },
    },
  });
};
