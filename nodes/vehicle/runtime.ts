import type { Node } from 'node-red';
import { asSentence, cancelledError, openAccount, type Account, type VehicleObserver } from '../../src/index';
import { accountOptionsOf } from './account-options';
import { signInsOf } from './sign-in';
import { runVehicle } from '../node-red/car-name';
import { demoAccountOptions } from './demo-car';
import { overviewsOf } from './overview';
import type { FlowNode } from '../node-red/flow-node';
import { LastFailures } from '../node-red/failures';
import { isBlank } from '../node-red/message';
import { typedProperty } from '../node-red/typed-property';
import { perNodeRed } from '../per-node-red';
import { editorsOf } from '../node-red/editors';
import { redactor, safeError } from '../node-red/redaction';
import { faultOfUse } from '../node-red/storage';
import type { VehicleNode } from '../node-red/vehicle-node';
import { parseOptions } from '../node-red/options';
import { vehicleCredentials, vehicleOptions, type VehicleOptions } from './options';

/** `connected-vehicle` (docs/internals/contract.md 2): an account and its default vehicle. */
export function connectedVehicle(own: FlowNode): void {
  const { RED, node, config } = own;
  // Prints the versions before the first request.
  perNodeRed(RED, LastFailures);
  const vehicle = new Vehicle(own);
  const ofNode: Omit<VehicleNode, keyof Node> = {
    config,
    account: () => vehicle.account(),
    obstacle: () => vehicle.obstacle(),
    chooseVin: (...given) => vehicle.chooseVin(given),
    places: () => own.options(vehicleOptions).places,
  };
  runVehicle(RED, Object.assign(node, ofNode), own.closing);

  own.onRole((role) => {
    const isUsable = node.credentials && Object.keys(node.credentials).length > 0;
    // Opened even if nothing reads: the sign-in is refreshed, and commands that were sent before
    // the restart have the slots of their cars before a new one is sent.
    if (role === 'active' && isUsable) void vehicle.account().catch(() => undefined);
    if (role === 'active') return;
    own.warn('secondProcess');
    // One that was opened before this was decided has read nothing, and would not read again.
    void vehicle.closeAccount().catch(() => undefined);
  });

  own.onClose(async (isDeleted) => {
    if (isDeleted) overviewsOf(RED).forget(node.id);
    await vehicle.closeAccount();
    if (!isDeleted) return;
    await signInsOf(RED).forget(config, node.credentials);
    await own.pack.log.clear(node.id);
  });
}

/** The account of the configuration, which the first use opens. */
class Vehicle {
  readonly #own: FlowNode;
  #opened: Promise<Account> | undefined;
  #demoVin: string | undefined;
  #knownObstacle: string | null = null;
  #tokenTried: Promise<void> | undefined;
  #looking: Promise<string | null> | undefined;

  constructor(own: FlowNode) {
    this.#own = own;
  }

  account(): Promise<Account> {
    const fault = faultOfUse(this.#own.RED);
    if (fault !== null) return Promise.reject(fault);
    // Opening begins after the assignment: it signals the nodes, and they ask for the account at
    // once. Before it, they would open a second one, which nothing closes.
    this.#opened ??= Promise.resolve()
      .then(() => this.#open())
      .catch((error: unknown) => {
        this.#opened = undefined;
        throw error;
      });
    return this.#opened;
  }

  async closeAccount(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await (await opened?.catch(() => undefined))?.close();
  }

  /** All nodes of the vehicle ask at the same time, so they share one answer. */
  obstacle(): Promise<string | null> {
    return (this.#looking ??= this.#findObstacle());
  }

  chooseVin(given: readonly unknown[]): unknown {
    // A configuration of any service can have a VIN.
    const chosen = [...given, this.#own.config.vin, this.#demoVin].find((vin) => !isBlank(vin));
    redactor.learnVin(chosen);
    return chosen;
  }

  async #open(): Promise<Account> {
    const { RED, node, words, closing } = this.#own;
    // A node that asked late would open an account that is never closed.
    if (closing.aborted) throw cancelledError();
    const options = this.#own.options(vehicleOptions);
    const isDemo = options.service === 'demo';
    const credentials = parseOptions(vehicleCredentials, node.credentials ?? {});
    // Configurations of one application are for cars that any of them can read.
    const client = isDemo ? 'demo' : credentials.clientId.trim();
    const serviceKey = isDemo ? 'demo' : `${options.service} ${options.baseUrl} ${client}`;
    const overview = overviewsOf(RED).open(node.id, serviceKey, client !== '');
    const demo = isDemo ? await demoAccountOptions(RED, options) : null;
    this.#demoVin = demo?.vin;
    const access = demo ?? accountOptionsOf(RED, node.id, options, credentials);
    const account = openAccount({
      ...access,
      id: node.id,
      warn: (sentence) => node.warn(words.translate(asSentence(sentence))),
      observer: this.#observer(),
      remember: overview.remember,
      ...(!isBlank(options.tariff) && { tariff: () => this.#tariff(options) }),
    });
    editorsOf(RED).notify();
    return account;
  }

  /** A price can change with each reading, so it is evaluated each time. */
  async #tariff(options: VehicleOptions): Promise<{ price: unknown; currency: unknown }> {
    return { price: await typedProperty(this.#own, options, 'tariff', { _msgid: '' }), currency: options.currency };
  }

  /** The tab “Cars” shows when the car was read last, and whether the account works. */
  #observer(): VehicleObserver {
    const { notify } = editorsOf(this.#own.RED);
    return { observe: notify, commandSent: notify };
  }

  async #findObstacle(): Promise<string | null> {
    const own = this.#own;
    try {
      if (own.options(vehicleOptions).service === 'demo') return null;
      const account = await this.account();
      // Only the first request for a token shows whether somebody is signed in.
      await (this.#tokenTried ??= account.refreshToken(own.closing).catch(() => undefined));
      this.#knownObstacle = account.obstacle();
    } catch (error) {
      this.#knownObstacle = safeError(error).status?.word ?? null;
    } finally {
      this.#looking = undefined;
    }
    return this.#knownObstacle;
  }
}
