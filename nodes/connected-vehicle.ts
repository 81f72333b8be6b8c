import type { NodeAPI, NodeDef } from 'node-red';
import type { Account } from '../src/index';
import type { Simulator } from '../src/simulator/index';
import { runtime, simulator } from './shared/load';
import { clock } from './shared/time';
import type { VehicleNode } from './shared/vehicle-node';

/** All demo vehicles share one simulated service; it ends with the last of them. */
const demo = { users: 0, service: undefined as Promise<Simulator> | undefined };

/** `connected-vehicle` (contract 2): an account, its credentials and its default vehicle. */
export = (RED: NodeAPI): void => {
  function ConnectedVehicle(this: VehicleNode, config: NodeDef): void {
    RED.nodes.createNode(this, config);
    const { parseOptions, vehicleOptions, vehicleCredentials, resolveService, openAccount, pastedToken } = runtime();
    let opened: Promise<Account> | undefined;
    let demoVin: string | undefined;

    const open = async (): Promise<Account> => {
      const options = parseOptions(vehicleOptions, config);
      const { apiKey, accessToken } = parseOptions(vehicleCredentials, this.credentials ?? {});
      if (options.service !== 'demo') {
        const service = resolveService(options.service, options.service === 'custom' ? options : {});
        return openAccount({ service, apiKey, tokens: pastedToken(accessToken), readOnly: options.readOnly, limits: options, clock: clock() });
      }
      const service = await startDemo();
      demoVin = service.car().vin;
      return openAccount({
        service: resolveService('demo', { baseUrl: service.url }),
        apiKey: 'demo-key',
        tokens: pastedToken('demo-token'),
        readOnly: options.readOnly,
        limits: options,
        clock: clock(),
      });
    };

    let usesDemo = false;
    const startDemo = (): Promise<Simulator> => {
      if (!usesDemo) demo.users += 1;
      usesDemo = true;
      return (demo.service ??= simulator().startSimulator({ open: true, clock: clock() }));
    };

    const endDemo = async (): Promise<void> => {
      if (!usesDemo || --demo.users > 0) return;
      const service = demo.service;
      demo.service = undefined;
      await (await service)?.close();
    };

    this.account = () => {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    };
    this.chooseVin = (...given) => [...given, (config as { vin?: unknown } & NodeDef).vin, demoVin].find((vin) => vin !== undefined && vin !== null && vin !== '');

    this.on('close', (_removed: boolean, done: () => void) => {
      const close = async (): Promise<void> => {
        await (await opened)?.close();
        await endDemo();
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
