import type { Node, NodeAPI, NodeDef } from 'node-red';
import type * as z from 'zod/mini';
import {
  Cancellation,
  memberOf,
  minuteMs,
  normalVin,
  VehicleError,
  type Account,
  type Pack,
  type Place,
  type Presence,
  type Signal,
} from '../../src/index';
import { faultOfUse, packOf } from './storage';
import { safeError } from './redaction';
import { findVehicle, type VehicleNode } from './vehicle-node';
import { carName, hasSeveralCars } from './car-name';
import { deploysOf } from './deploys';
import { isDeleted, type NodeOfFlow } from './flows';
import { wordsOf, type Values, type Words } from './i18n';
import { nonBlank, type Message } from './message';
import { NodeStatus } from './node-status';
import { parseOptions } from './options';
import { runningNodesOf, type News } from './running-nodes';
import { clock } from './time';
import { typedProperty, type Typed } from './typed-property';

/** The pauses between the tries to begin. */
const firstPauseMs = 1_000;
const maxPauseMs = minuteMs;

/** A node of the flows, or a config node, with what it needs of its Node-RED. */
export class FlowNode implements NodeOfFlow {
  readonly status = new NodeStatus(this);
  readonly deploys: ReturnType<typeof deploysOf>;
  readonly #closing = new Cancellation();
  #closeWork: readonly ((isDeleted: boolean) => Promise<void>)[] = [];
  readonly #vehicle: string;
  /** Whether, in a group, another copy of the flow does the work of the node. */
  #standsBy = false;
  /** The account of the last message. */
  #account: Account | undefined;
  /** The car that the status is about. */
  #shownVin: unknown;
  #shownVehicle: string | undefined;
  #showsObstacle = false;
  /** Keys below `status` in `runtime.json`, or nothing. */
  #obstacleOfVehicle = '';
  #shownObstacle = '';
  #knownObstacle: string | null = null;
  #obstacleChanged: ((obstacle: string | null) => void) | undefined;
  #knownRole: Presence['role'] = 'deciding';
  #roleChanged: ((role: Presence['role']) => void) | undefined;
  #options: unknown;

  /** @param config as the flow file has it; `vehicle` names its config node */
  constructor(
    readonly RED: NodeAPI,
    readonly node: Node,
    readonly config: NodeDef & { vehicle?: string; service?: unknown; poll?: unknown; vin?: unknown },
  ) {
    RED.nodes.createNode(node, config);
    this.#vehicle = config.vehicle ?? '';
    this.deploys = deploysOf(RED);
    runningNodesOf(RED).add(this);
    node.on('close', (removed: boolean, done: () => void) => this.#close(removed, done));
  }

  /** Aborted when the node closes. */
  get closing(): Signal {
    return this.#closing;
  }

  /** The part that its account shares with other accounts. */
  get pack(): Pack {
    return packOf(this.RED, this.config.service ?? memberOf(findVehicle(this.RED, this.#vehicle)?.config, 'service'));
  }

  /** The name of the node in records that copies of the flow share. */
  get sharedId(): string {
    const vin = nonBlank(memberOf(findVehicle(this.RED, this.#vehicle)?.config, 'vin'));
    return this.pack.presence.sharedId(this.node.id, vin === undefined ? vin : normalVin(vin));
  }

  /**
   * The properties in the flow file: checked once, or at each call while they are wrong.
   * @throws VehicleError CONFIG
   */
  options<Shape extends z.ZodMiniType>(shape: Shape): z.infer<Shape> {
    this.#options ??= parseOptions(shape, this.config);
    return this.#options as z.infer<Shape>; // A node has one shape.
  }

  /** The texts in the language of the vehicle configuration. */
  get words(): Words {
    return wordsOf(this.RED, this.#vehicle);
  }

  /** @param key below `warning` in `runtime.json` */
  warn(key: string, values?: Values): void {
    this.node.warn(this.words.say(`warning.${key}`, values));
  }

  /**
   * The config node of the node, or another one.
   * @throws VehicleError CONFIG if it is missing, deleted or disabled
   */
  vehicle(id = this.#vehicle): VehicleNode {
    const found = findVehicle(this.RED, id);
    if (found !== null) return found;
    throw new VehicleError(
      'CONFIG',
      'No vehicle is chosen, or its configuration is missing or disabled. Open the node, choose a vehicle and deploy.',
      { status: { word: 'NO_VEHICLE' } },
    );
  }

  /** Those of the vehicle configuration; none if it is missing. @throws VehicleError CONFIG */
  get places(): readonly Place[] {
    return findVehicle(this.RED, this.#vehicle)?.places() ?? [];
  }

  /**
   * The account, and the VIN of the message, else that of the node: as it was given, not
   * validated yet.
   * @throws VehicleError CONFIG, INPUT_INVALID
   */
  async car(options: Typed<'vin'>, msg: Message): Promise<{ account: Account; vin: unknown }> {
    const vehicle = this.vehicle();
    const account = await vehicle.account();
    this.#account = account;
    const vin = vehicle.chooseVin(nonBlank(msg['vin']) ?? (await typedProperty(this, options, 'vin', msg)));
    this.showsCar(vin);
    return { account, vin };
  }

  /** The name for people of a car of this node, or of another configuration. */
  carName(vin: unknown, id = this.#vehicle): string {
    return carName(this.RED, id, vin, wordsOf(this.RED, id));
  }

  /**
   * A text that begins with the name of its car, if the flows have more than one
   * configuration: “Wife car: …”.
   */
  withCar(text: string, vin: unknown, id = this.#vehicle): string {
    return hasSeveralCars(this.RED) ? wordsOf(this.RED, id).say('ofCar', { car: this.carName(vin, id), text }) : text;
  }

  /** The status is about this car from now on. */
  showsCar(vin: unknown, id = this.#vehicle): void {
    this.#shownVin = vin;
    this.#shownVehicle = id;
  }

  /**
   * A text of the status. It names the car as `withCar` does, unless the label of the node in the
   * editor does.
   */
  withShownCar(text: string): string {
    const [vin, id] = [this.#shownVin, this.#shownVehicle];
    if (id === undefined || !hasSeveralCars(this.RED)) return text;
    const isInLabel = !this.node.name && id === this.#vehicle && this.carName(vin) === this.carName('');
    return isInLabel ? text : this.withCar(text, vin, id);
  }

  /** When the access to the car ends, for the status; null while there is time. */
  get expiry(): string | null {
    return this.#account === undefined ? null : expiryNote(this.words, this.#account);
  }

  /**
   * Calls back with the obstacle that keeps the vehicle from working, a key below `status.failed`
   * in `runtime.json`, or with null when it can: from the deploy on, whenever it is another one. A
   * later deploy may add the vehicle without starting the node again. A node has one such callback.
   */
  onObstacle(changed: (obstacle: string | null) => void): void {
    this.#obstacleChanged = changed;
    void this.#lookAtVehicle();
  }

  /**
   * Shows why this process does not do the work of the node, over anything that the node shows. If
   * it does, shows the obstacle of its vehicle, unless the node shows anything else. Removes both
   * when the node can work. After each deploy it is sent again, for new Status nodes.
   * @param ofVehicle false if the obstacle of the vehicle is not shown before a read fails
   */
  showObstacle(ofVehicle = true): void {
    this.#showsObstacle = true;
    if (ofVehicle)
      this.onObstacle((obstacle) => {
        this.#obstacleOfVehicle = obstacle === null ? '' : `failed.${obstacle}`;
        this.#updateObstacle();
      });
    this.#updateObstacle();
  }

  /** Called with what concerns all nodes, until the node closes. */
  hear(news: News): void {
    if (news === 'deploy' && this.#showsObstacle) this.status.repeat(this.#shownObstacle);
    if (news === 'presence') {
      if (this.#showsObstacle) this.#updateObstacle();
      this.#lookAtRole();
    }
    void this.#lookAtVehicle();
  }

  async #lookAtVehicle(): Promise<void> {
    if (this.#obstacleChanged === undefined) return;
    const vehicle = findVehicle(this.RED, this.#vehicle);
    if (vehicle !== null && packOf(this.RED).presence.role !== 'active') return;
    const obstacle = vehicle === null ? 'NO_VEHICLE' : await vehicle.obstacle();
    if (obstacle === this.#knownObstacle || this.closing.aborted) return;
    this.#knownObstacle = obstacle;
    this.#obstacleChanged(obstacle);
  }

  #updateObstacle(): void {
    if (this.closing.aborted) return;
    const ofProcess = this.#obstacleOfProcess();
    const obstacle = ofProcess ?? this.#obstacleOfVehicle;
    if (ofProcess === null && obstacle === this.#shownObstacle) return;
    if (ofProcess === null) this.status.clear(this.#shownObstacle);
    this.#shownObstacle = obstacle;
    if (ofProcess !== null || (obstacle !== '' && this.status.isEmpty))
      this.status.show(obstacle === 'standby' ? 'waiting' : 'failed', obstacle);
  }

  /** Why another process does the work of the node, a key below `status` in `runtime.json`. */
  #obstacleOfProcess(): 'inUse' | 'standby' | 'failed.STORE_UNAVAILABLE' | null {
    if (faultOfUse(this.RED) !== null) return 'inUse';
    if (!this.#standsBy) return null;
    // While the store is away, it is unknown whether another copy reads.
    return this.pack.presence.fault === null ? 'standby' : 'failed.STORE_UNAVAILABLE';
  }

  /**
   * Calls back when it is decided whether this process may use the folder of the pack, and at each
   * change, until the node closes. A node has one such callback.
   */
  onRole(changed: (role: Presence['role']) => void): void {
    this.#roleChanged = changed;
    setImmediate(() => this.#lookAtRole());
  }

  #lookAtRole(): void {
    const { role } = packOf(this.RED).presence;
    if (this.#roleChanged === undefined || role === this.#knownRole || this.closing.aborted) return;
    this.#knownRole = role;
    this.#roleChanged(role);
  }

  /**
   * Begins something that needs a vehicle or a value of the context, and tries again until it has
   * begun, because the flow may set the value after the start, and the vehicle may be added later.
   * Closing the node ends the tries. While another Node-RED uses the folder of the pack, nothing
   * begins.
   * @param report called when it fails for another reason than before
   * @returns begins again
   */
  beginWithRetries(begin: () => Promise<void>, report: () => void): () => void {
    let reported = '';
    const tryToBegin = async (): Promise<void> => {
      for (let pauseMs = firstPauseMs; !this.closing.aborted; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
        try {
          await begin();
          reported = '';
          return;
        } catch (error) {
          if (this.closing.aborted) return;
          const pause = clock()
            .sleep(pauseMs, this.closing)
            .catch(() => undefined);
          const { message } = safeError(error);
          if (message !== reported) {
            reported = message;
            report();
          }
          await pause;
        }
      }
    };
    const start = (): void => void tryToBegin();
    this.onRole((role) => (role === 'active' ? start() : undefined));
    return start;
  }

  /**
   * Calls back when other processes have ended, until the node closes: what they have left may be
   * taken over.
   */
  onGone(ended: () => void): void {
    this.closing.addEventListener('abort', this.pack.presence.onGone(ended));
  }

  /**
   * Begins what one copy of the flow does for all copies: at once, and in a group
   * while this process leads.
   * @param begin returns the function that ends it
   * @param closing aborted to end it. Default: when the node closes
   */
  runInOneProcess(begin: () => () => void, closing = this.closing): void {
    // A listener that is added after the abort is never called.
    if (closing.aborted) return;
    let end: (() => void) | null = null;
    const endLeading = this.pack.presence.onLeading((isLeading) => {
      end?.();
      end = isLeading ? begin() : null;
      this.#standsBy = end === null;
      // If this process begins the work, the status stays until the first read.
      if (this.#standsBy) this.#updateObstacle();
    });
    closing.addEventListener('abort', () => {
      end?.();
      endLeading();
    });
  }

  /**
   * Calls back when the node closes; Node-RED waits for the work.
   * @param work gets whether the node was deleted, so that its stored state has to go
   */
  onClose(work: (isDeleted: boolean) => Promise<void>): void {
    // Not spread: that reserves room for more.
    this.#closeWork = this.#closeWork.concat(work);
  }

  #close(removed: boolean, done: () => void): void {
    runningNodesOf(this.RED).delete(this);
    // The reason of an AbortController.
    this.#closing.abort(new DOMException('This operation was aborted', 'AbortError'));
    const isGone = isDeleted(this, removed);
    const warn = (error: unknown): void => this.node.warn(safeError(error).message);
    void Promise.all(this.#closeWork.map((work) => work(isGone).catch(warn))).then(done);
  }
}

/** The node statuses warn half an hour before a token that is not refreshed expires. */
const warnBefore = 30 * minuteMs;

/** `expires in 12 min`, or null while there is time. */
export function expiryNote({ say }: Words, account: Account): string | null {
  const { kind, expiresAt } = account.token();
  if ((kind !== 'pasted' && kind !== 'ending') || expiresAt === null) return null;
  const remainingMs = Date.parse(expiresAt) - clock().now();
  return remainingMs > 0 && remainingMs <= warnBefore
    ? say('status.expires', { minutes: Math.ceil(remainingMs / minuteMs) })
    : null;
}
