import type { Node } from 'node-red';
import { asSentence, openAccount, VehicleError, type Account, type VehicleObserver } from '../../src/index';
import { accountOptionsOf } from './account-options';
import { signInsOf } from './sign-in';
import { runVehicle } from '../node-red/car-name';
import { demoAccountOptions } from './demo-car';
import { overviewsOf } from './overview';
import type { FlowNode } from '../node-red/flow-node';
import { LastFailures } from '../node-red/failures';
import { isBlank } from '../node-red/message';
import { partOf } from '../per-node-red';
import { editorsOf } from '../node-red/editors';
import { redactor, safeError } from '../node-red/redaction';
import { onUse, throwIfInUse, whenOurs } from '../node-red/storage';
import type { VehicleNode } from '../node-red/vehicle-node';
import { parseOptions } from '../node-red/options';
import { vehicleCredentials, vehicleOptions } from './options';

/** `connected-vehicle` (docs/internals/contract.md 2): an account, its credentials and its default vehicle. */
export function connectedVehicle(own: FlowNode): void {
  const { RED, node, config } = own;
  // Prints the versions before the first request.
  partOf(RED, LastFailures);
  let opened: Promise<Account> | undefined;
  let demoVin: string | undefined;
  let knownCause: string | null = null;
  let tokenTried: Promise<void> | undefined;
  let looking: Promise<string | null> | undefined;

  const open = async (): Promise<Account> => {
    // A node that asked late would open an account that is never closed.
    if (own.closing.aborted)
      throw new VehicleError('CANCELLED', 'The request was cancelled because the flow was stopped or redeployed.');
    const options = own.options(vehicleOptions);
    const isDemo = options.service === 'demo';
    const credentials = parseOptions(vehicleCredentials, node.credentials ?? {});
    // Configurations of one application are for cars that any of them can read.
    const client = isDemo ? 'demo' : credentials.clientId.trim();
    const serviceKey = isDemo ? 'demo' : `${options.service} ${options.baseUrl} ${client}`;
    const overview = overviewsOf(RED).open(node.id, serviceKey, client !== '');
    const observer: VehicleObserver = {
      observe(...reading) {
        overview.observe(...reading);
        // The account works again.
        if (knownCause !== null) editorsOf(RED).notify();
      },
      commandSent: editorsOf(RED).notify,
    };
    const demo = isDemo ? await demoAccountOptions(RED, options) : null;
    demoVin = demo?.vin;
    const access = demo ?? accountOptionsOf(RED, node.id, options, credentials);
    const account = openAccount({
      ...access,
      id: node.id,
      warn: (sentence) => node.warn(own.words.word(asSentence(sentence))),
      observer,
    });
    editorsOf(RED).notify();
    return account;
  };

  const account = async (): Promise<Account> => {
    throwIfInUse(RED);
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const findCause = async (): Promise<string | null> => {
    try {
      if (!(await whenOurs(own)) || own.options(vehicleOptions).service === 'demo') return null;
      const found = await account();
      // Whether somebody is signed in is known when a token was asked for, which the start of the account does, too.
      await (tokenTried ??= found.refreshToken(own.closing).catch(() => undefined));
      knownCause = found.cause();
    } catch (error) {
      knownCause = safeError(error).status?.word ?? null;
    } finally {
      looking = undefined;
    }
    return knownCause;
  };
  // Every node of the vehicle asks at the same news.
  const cause = (): Promise<string | null> => (looking ??= findCause());
  const chooseVin = (...given: unknown[]): unknown => {
    // A configuration of any service can have a VIN.
    const chosen = [...given, config.vin, demoVin].find((vin) => !isBlank(vin));
    redactor.learnVin(chosen);
    return chosen;
  };
  runVehicle(
    RED,
    Object.assign(node, { config, account, cause, chooseVin } satisfies Omit<VehicleNode, keyof Node>),
    own.closing,
  );

  onUse(own, (isUsed) => {
    if (!isUsed) return;
    own.warn('secondProcess');
    // One that was opened before this was decided has read nothing, and would not read again.
    void opened?.then((before) => before.close()).catch(() => undefined);
    opened = undefined;
  });

  // Opened while nothing reads, too: a sign-in is refreshed, and commands sent before the restart are in the car's queue before
  // anything new is sent.
  const openEarly = setImmediate(() => {
    const isUsable = node.credentials && Object.keys(node.credentials).length > 0;
    if (isUsable) void whenOurs(own).then((isOurs) => (isOurs ? account().catch(() => undefined) : undefined));
  });

  own.onClose(async (isDeleted) => {
    clearImmediate(openEarly);
    if (isDeleted) overviewsOf(RED).forget(node.id);
    await (await opened?.catch(() => undefined))?.close();
    if (!isDeleted) return;
    await signInsOf(RED).forget(config, node.credentials);
    await own.pack.log.clear(node.id);
  });
}
