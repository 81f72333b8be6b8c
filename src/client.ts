import { isEmpty } from './util/json';
import { unavailableSentence } from './catalogue/accessibility';
import { requestDetails } from './catalogue/commands';
import { burnsFuel } from './catalogue/groups';
import { openingIfFitted } from './catalogue/openings';
import {
  interfaces,
  reads,
  routeOf,
  titleOf,
  wallboxMemberNames,
  type InterfaceChoice,
  type InterfaceName,
  type ReadName,
} from './catalogue/reads';
import type { CarFacts } from './car/facts';
import type { LastAnswers, Moment, ReceivedAnswer, Repeats } from './car/repeats';
import type { ServiceProfile } from './catalogue/services';
import { asVehicleError, VehicleError } from './errors';
import { sentence } from './sentence';
import { readingOf, type Reading } from './car/reading';
import type { GetRequest, LastRead, Requests } from './http/requests';
import { followLink, mediaType, noInterface, readAddress, urlOf, type ReadAddress } from './http/addresses';
import { setNewest } from './util/bounded';
import type { Signal } from './util/cancellation';
import { parseVin } from './vin';
import { parseWallbox } from './wallbox';
import type { Clock } from './util/clock';
import { parseInvocation, type AsyncLink, type Invocation } from './wire/invocations';
import type { ReadPayload } from './wire/parsers';

export interface ReadOptions {
  vin?: unknown;
  interface?: InterfaceChoice;
  /** How old a shared answer may be, in milliseconds. Default: the account's. */
  maxAgeMs?: number | undefined;
  /**
   * True for a read on behalf of a command: it may use the part of the quota that is
   * reserved for commands.
   */
  forCommand?: boolean;
  signal?: Signal | undefined;
}

/**
 * Is called with each reading and each sent command: the poller (src/polling/poller.ts) and the
 * signal to the editors.
 */
export interface VehicleObserver {
  observe(read: ReadName, vin: string, reading: Reading): void;
  commandSent(vin: string): void;
}

/**
 * Remembers what a reading shows of the car, in the facts, the logbook and the tab “Cars”. It is
 * called later if the answer equals the one before, or not at all if the next equal one replaces
 * it (`Repeats`).
 * @returns a promise if the reading must wait until something is stored
 */
export type Remember = (read: ReadName, vin: string, reading: Reading, moment: Moment) => Promise<void> | void;

interface VehicleClientOptions {
  service: ServiceProfile;
  requests: Requests;
  /** Readings are shared only between accounts with the same one. */
  tokenOwner: string;
  observers: readonly Pick<VehicleObserver, 'observe'>[];
  remember: Remember;
  repeats: Repeats;
  facts: CarFacts;
  clock: Pick<Clock, 'now'>;
  /** The id of the wallbox, as a person entered it. */
  wallbox?: string | undefined;
}

/** What is asked, and of which interface. */
interface Target extends Pick<GetRequest, 'api' | 'scopes'> {
  /** Without the days that are asked for. */
  address: ReadAddress;
  /** The number of days whose sessions the answer has; undefined if the address names none. */
  days: number | undefined;
  iface: InterfaceName;
  needsFuelType: boolean;
  last: LastRead;
  /** Null: no answer is deferred. */
  answers: LastAnswers | null;
}

/**
 * The answers of `details` must not be kept, and what the sessions of a wallbox mean depends on
 * when they are read.
 */
const neverDeferred: ReadonlySet<ReadName> = new Set<ReadName>(['details', ...wallboxMemberNames]);

/** The cars whose addresses and last answers are kept; those of another car are made again. */
const maxKeptCars = 100;

/**
 * The reads of the vehicle service. Every method throws VehicleError with a code of
 * docs/internals/contract.md 6.
 */
export class VehicleClient {
  readonly service: ServiceProfile;
  readonly #options: VehicleClientOptions;
  /**
   * What is asked, by VIN (empty: of no car), read and interface. Not by one text: making it takes
   * longer than the look-ups.
   */
  readonly #targets = new Map<string, Map<ReadName, Partial<Record<InterfaceChoice, Target>>>>();

  constructor(options: VehicleClientOptions) {
    this.service = options.service;
    this.#options = options;
  }

  /**
   * How far the service's clock is ahead of this machine's, in milliseconds; measured by the Date
   * of its last answer.
   */
  get clockSkewMs(): number {
    return this.#options.requests.clockSkewMs;
  }

  /**
   * The VIN that the user or a message named. Without a VIN and without a sign-in, the error names
   * the missing sign-in, because only then *Find my car* works.
   * @throws VehicleError VIN_INVALID, and what getting a token throws
   */
  async requireVin(vin: unknown, signal?: Signal): Promise<string> {
    if (isEmpty(vin)) await this.#options.requests.assertSignedIn(signal);
    return parseVin(vin);
  }

  /** The id of the wallbox of the configuration. @throws VehicleError CONFIG */
  requireWallbox(): string {
    return parseWallbox(this.#options.wallbox);
  }

  /**
   * One read (docs/internals/contract.md 3). Its row in `reads` defines the request, and
   * `readingOf` what the answer means.
   */
  async read<Name extends ReadName>(read: Name, options: ReadOptions = {}): Promise<Reading<ReadPayload<Name>>> {
    const { interface: choice = 'auto', maxAgeMs, forCommand, signal } = options;
    const { requests, tokenOwner, facts, observers, remember, repeats, clock } = this.#options;
    const vin =
      read === 'vehicles' ? null : options.vin ? parseVin(options.vin) : await this.requireVin(options.vin, signal);
    const target = this.#target(read, choice, vin ?? '');
    const { api, iface, days, scopes, needsFuelType } = target;
    const address = days === undefined ? target.address : withDays(target.address, tokenOwner, days, clock.now());
    const fuel = needsFuelType && vin !== null ? burnsFuel(await this.fuelType(vin, options)) : null;
    try {
      const keep = read !== 'details';
      const kind = forCommand ? 'forCommand' : 'read';
      const last = keep ? target.last : undefined;
      const answer = await requests.get({ api, address, scopes, keep, last, maxAgeMs, kind, signal });
      const opening = openingIfFitted[read];
      const fitted = vin === null || opening === undefined ? null : facts.isFitted(vin, opening);
      // Mostly no promise, and a wait takes time.
      const isFitted = fitted instanceof Promise ? await fitted : fitted;
      const context = { interface: iface, isFitted, burnsFuel: fuel };
      const reading = readingOf({ vin, read }, answer, context);
      if (vin !== null) {
        const moment = { at: clock.now(), skewMs: this.clockSkewMs };
        const isDeferred = repeats.defer(vin, target.answers, { answer, context, moment });
        const stored = isDeferred ? undefined : remember(read, vin, reading, moment);
        for (const observer of observers) observer.observe(read, vin, reading);
        if (stored !== undefined) await stored;
      }
      return reading;
    } catch (error) {
      const failure = asVehicleError(error);
      // Another interface than the chosen one may have the value.
      if (vin !== null && choice === 'auto' && failure.code === 'NOT_SUPPORTED')
        await this.#options.facts.lacks(vin, read);
      throw failure;
    }
  }

  /** A deferred answer is parsed again, because a flow may change the reading that it got. */
  #newLastAnswers(vin: string, read: ReadName): LastAnswers {
    const remember = ({ answer, context, moment }: ReceivedAnswer): unknown =>
      this.#options.remember(read, vin, readingOf({ vin, read }, answer, context), moment);
    return { remembered: null, change: 0, deferred: null, order: 0, remember };
  }

  /** What is asked for a read: the same each time. @throws VehicleError NOT_SUPPORTED */
  #target(read: ReadName, choice: InterfaceChoice, vin: string): Target {
    const ofCar = this.#targets.get(vin) ?? new Map<ReadName, Partial<Record<InterfaceChoice, Target>>>();
    const ofRead = ofCar.get(read) ?? {};
    const known = ofRead[choice];
    if (known !== undefined) return known;
    const route = routeOf(read, this.service.availableInterfaces, choice);
    if (route === undefined) throw notOffered(read, choice);
    const { interface: iface, scopes, needsFuelType = false, days } = route;
    const wallbox = iface === 'energy-device-v1' ? this.requireWallbox() : '';
    const url = urlOf(this.service, iface, route.path, { vin, wallbox });
    const target: Target = {
      api: interfaces[iface].api,
      iface,
      address: readAddress(url, mediaType(this.service, route.accept), this.#options.tokenOwner),
      days,
      scopes,
      needsFuelType,
      last: { text: '', body: undefined },
      answers: neverDeferred.has(read) ? null : this.#newLastAnswers(vin, read),
    };
    ofRead[choice] = target;
    ofCar.set(read, ofRead);
    setNewest(this.#targets, vin, ofCar, maxKeptCars);
    return target;
  }

  /**
   * @throws VehicleError VEHICLE_UNAVAILABLE if the accessibility, read again, shows it
   * (docs/internals/service.md 2.7), and what reading it throws
   */
  async assertAccessible(options: Pick<ReadOptions, 'vin' | 'signal'>): Promise<void> {
    const { payload } = await this.read('accessibility', { ...options, maxAgeMs: 0, forCommand: true });
    if (payload.value === 'UNAVAILABLE')
      throw new VehicleError('VEHICLE_UNAVAILABLE', unavailableSentence(payload.unavailableReason));
  }

  /**
   * GET async.href of a v1 command: its present status. Scopes: openid, conve:commands
   * (docs/internals/service.md 2.5, docs/internals/vendor-api.md 2.2).
   */
  async commandStatus(
    record: { async: Pick<AsyncLink, 'href'> | null },
    options: Pick<ReadOptions, 'maxAgeMs' | 'signal'> = {},
  ): Promise<Invocation> {
    const href = record.async?.href;
    if (!href)
      throw new VehicleError('NOT_SUPPORTED', 'The service returned no link to follow this command. Check the car.');
    const { requests, tokenOwner } = this.#options;
    const accept = mediaType(this.service, requestDetails.accept);
    const answer = await requests.get({
      api: 'connected',
      address: readAddress(followLink(this.service, href), accept, tokenOwner),
      scopes: requestDetails.scopes,
      kind: 'forCommand',
      maxAgeMs: options.maxAgeMs ?? 0,
      signal: options.signal,
    });
    return parseInvocation(answer.value.body, answer.value.receivedAt);
  }

  /**
   * Asked once for each car and kept (docs/internals/contract.md 3); null if the service does not
   * report it.
   */
  fuelType(vin: string, { signal }: Pick<ReadOptions, 'signal'>): Promise<string | null> {
    return this.#options.facts.fuelType(vin, async () => {
      try {
        return (await this.read('details', { vin, signal })).payload.fuelType;
      } catch (error) {
        // Some cars have no details (docs/internals/vendor-api.md 1.4).
        return asVehicleError(error).retryable || signal?.aborted ? undefined : null;
      }
    });
  }
}

/**
 * The days in local time: the address stays the same until midnight, so that its
 * answer can be shared.
 */
function withDays({ href, accept }: ReadAddress, tokenOwner: string, days: number, now: number): ReadAddress {
  const url = new URL(href);
  const today = new Date(now);
  const midnight = (offset: number): string =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() + offset).toISOString();
  url.searchParams.set('start', midnight(1 - days));
  url.searchParams.set('end', midnight(1));
  return readAddress(url, accept, tokenOwner);
}

function notOffered(read: ReadName, choice: InterfaceChoice): VehicleError {
  const { routes, hasVersions, onlyExtended } = reads[read];
  if (hasVersions) return noInterface(read, new Set(routes.map((one) => one.interface)), choice);
  return new VehicleError(
    'NOT_SUPPORTED',
    onlyExtended === undefined
      ? sentence`${titleOf(read)} cannot be read: this service does not offer ${titleOfInterface[routes[0]?.interface ?? 'connected-v2']}.`
      : sentence`${titleOf(read)} is offered by the extended vehicle interface, which this service no longer has; ${onlyExtended}.`,
  );
}

const titleOfInterface = {
  'connected-v1': 'version 1 of the connected interface',
  'connected-v2': 'version 2 of the connected interface',
  'extended-v1': 'the extended vehicle interface',
  'energy-v2': 'the energy interface',
  'location-v1': 'the location interface',
  'energy-device-v1': 'the energy device interface',
} as const satisfies Record<InterfaceName, string>;
