import { unavailableSentence } from './catalogue/accessibility';
import { requestDetails } from './catalogue/commands';
import { burnsFuel, groupedResources, groups, type GroupName } from './catalogue/groups';
import {
  connectedReads,
  isResourceName,
  json,
  apiOf,
  isChargingMemberName,
  isGroupReadName,
  isSingleInterfaceReadName,
  isStatisticsMemberName,
  singleInterfaceReads,
  resourceRoute,
  resources,
  titleOf,
  type ConnectedRead,
  type GroupReadName,
  type InterfaceChoice,
  type InterfaceName,
  type SingleInterfaceReadName,
  type ReadName,
  type ResourceName,
} from './catalogue/reads';
import type { CarFacts, FittedName } from './car/facts';
import type { ServiceProfile } from './catalogue/services';
import type { Clock } from './util/clock';
import { asVehicleError, VehicleError } from './errors';
import { sentence } from './sentence';
import { parseReadName } from './inputs';
import { readEach, readingOf, type Reading, type ReadingInfo } from './car/reading';
import type { Requests } from './http/requests';
import { addressOf, chooseInterface, followLink, mediaType } from './http/addresses';
import { parseVin } from './vin';
import {
  parseCharging,
  parseChargingCapabilities,
  parseChargingDoneAt,
  parseChargingMember,
  type Charging,
  type ChargingCapabilities,
  type ChargingMember,
} from './wire/charging';
import { fromGroup, parseGroup, parseStatistic } from './wire/grouped';
import { parseInvocation, type AsyncLink, type Invocation } from './wire/invocations';
import { parseLocation, type VehicleLocation } from './wire/location';
import type { Measured } from './wire/schemas';
import {
  parseAccessibility,
  parseCommands,
  parseDetails,
  parseDoors,
  parseResource,
  parseVehicles,
  parseWindows,
  type Accessibility,
  type CommandOffer,
  type Members,
  type Parsed,
  type ResourceReading,
  type VehicleDetails,
} from './wire/readings';

export interface ReadOptions {
  vin?: unknown;
  interface?: InterfaceChoice;
  /** How old a shared answer may be, in milliseconds. Default: the account's. */
  maxAgeMs?: number;
  /** Set by `readEach`: reads of one message are one request where one answer has them all, also where answers are not shared. */
  batch?: string;
  /** True for a read on behalf of a command: it may use the part of the quota that is reserved for commands. */
  forCommand?: boolean;
  signal?: AbortSignal;
}

/** Is told of each reading, failed read and sent command: the poller (src/polling/poller.ts) and the tab “Cars”. */
export interface VehicleObserver {
  observe(read: ReadName, vin: string, reading: Reading): void;
  /** The read of a vehicle failed. Not called if the caller chose the interface, because another one may have the value. */
  failed?(read: ReadName, vin: string, error: VehicleError): void;
  commandSent(vin: string): void;
}

export interface VehicleClientOptions {
  service: ServiceProfile;
  requests: Requests;
  observer: VehicleObserver;
  facts: CarFacts;
  clock: Clock;
}

const maxCached = 10_000;
const fuelTypeRetryMs = 60 * 60_000;

/** The client of the vehicle service: one method per endpoint. Every method throws VehicleError with a code of docs/message-contract.md 6. */
export class VehicleClient {
  readonly service: ServiceProfile;
  readonly #requests: Requests;
  readonly #clock: Clock;
  readonly #observer: VehicleObserver;
  readonly #facts: CarFacts;
  /** Building an address anew takes a sixth of the CPU time of a read. */
  readonly #addresses = new Map<string, URL>();

  /** When an unknown fuel type is asked for again, by VIN, in monotonic time. */
  readonly #fuelTypeRetryAt = new Map<string, number>();

  constructor(options: VehicleClientOptions) {
    this.service = options.service;
    this.#requests = options.requests;
    this.#observer = options.observer;
    this.#facts = options.facts;
    this.#clock = options.clock;
  }

  /** How far the service's clock is ahead of this machine's, in milliseconds; measured by the Date of its last answer. */
  get clockSkewMs(): number {
    return this.#requests.clockSkewMs;
  }

  /** GET /connected-vehicle/v2/vehicles. Scopes: openid, conve:vehicle_relation (docs/service.md 2.1). */
  vehicles(options: ReadOptions = {}): Promise<Reading<{ vin: string }[]>> {
    return this.#connected('vehicles', parseVehicles, options);
  }

  /** GET /connected-vehicle/v2/vehicles/{vin}. Scopes: openid, conve:vehicle_relation (docs/service.md 2.2). */
  details(options: ReadOptions): Promise<Reading<VehicleDetails>> {
    return this.#connected('details', parseDetails, options, { keep: false });
  }

  /** GET /connected-vehicle/{v1|v2}/vehicles/{vin}/windows. Scopes: openid, conve:windows_status (docs/service.md 2.3). */
  windows(options: ReadOptions): Promise<Reading<Members>> {
    return this.#connected(
      'windows',
      (body, request) => this.#openings('sunroof', parseWindows, body, request),
      options,
    );
  }

  /** GET /connected-vehicle/{v1|v2}/vehicles/{vin}/doors. Scopes: openid, conve:doors_status, conve:lock_status (docs/service.md 2.4). */
  doors(options: ReadOptions): Promise<Reading<Members>> {
    return this.#connected('doors', (body, request) => this.#openings('tankLid', parseDoors, body, request), options);
  }

  /** GET /connected-vehicle/v2/vehicles/{vin}/commands. Scopes: openid, conve:commands (docs/service.md 2.6). */
  commands(options: ReadOptions): Promise<Reading<CommandOffer[]>> {
    return this.#connected('commands', parseCommands, options);
  }

  /** GET /connected-vehicle/v2/vehicles/{vin}/command-accessibility. Scopes: openid, conve:command_accessibility (docs/service.md 2.7). */
  accessibility(options: ReadOptions): Promise<Reading<Accessibility>> {
    return this.#connected('accessibility', parseAccessibility, options);
  }

  /**
   * GET /extended-vehicle/v1/vehicles/{vin}/resources/{name}. Scopes: openid and the resource's own (docs/service.md 2.8).
   * If the service no longer has that interface, the value comes from its group of connected v2 (src/catalogue/groups.ts).
   */
  async resource(name: ResourceName, options: ReadOptions): Promise<Reading<ResourceReading>> {
    const vin = parseVin(options.vin);
    if (!this.service.availableInterfaces.includes('extended-v1')) return this.#grouped(name, vin, options);
    const url = this.#addressOf('extended-v1', resourceRoute.path, vin, name);
    const request = {
      read: name,
      vin,
      interface: 'extended-v1',
      url,
      accept: resourceRoute.accept,
      scopes: [resources[name].scope],
    } as const;
    return this.#request(request, (body) => parseResource(name, body), options);
  }

  /** GET /energy/v2/vehicles/{vin}/state. Scopes: openid, energy:state:read (docs/energy-location-api.md 2.2). */
  charging(options: ReadOptions): Promise<Reading<Charging>> {
    return this.#singleInterface('charging', parseCharging, options);
  }

  /** When the car will be charged; from the same request as `charging`. */
  chargingDoneAt(options: ReadOptions): Promise<Reading<ChargingMember>> {
    return this.#singleInterface('chargingDoneAt', parseChargingDoneAt, options);
  }

  /** GET /energy/v2/vehicles/{vin}/capabilities. Scopes: openid, energy:capability:read (docs/energy-location-api.md 2.4). */
  chargingCapabilities(options: ReadOptions): Promise<Reading<ChargingCapabilities>> {
    return this.#singleInterface('chargingCapabilities', parseChargingCapabilities, options);
  }

  /** GET /location/v1/vehicles/{vin}/location. Scopes: openid, location:read (docs/energy-location-api.md 3). */
  location(options: ReadOptions): Promise<Reading<VehicleLocation>> {
    return this.#singleInterface('location', parseLocation, options);
  }

  /** GET /connected-vehicle/v2/vehicles/{vin}/{name}. Scopes: openid and the group's own (docs/energy-location-api.md 4). */
  group(name: GroupReadName, options: ReadOptions): Promise<Reading<Record<string, Measured>>> {
    return this.#singleInterface(name, parseGroup, options);
  }

  /** Any read by its name (docs/message-contract.md 3). */
  async read(name: unknown, options: ReadOptions): Promise<Reading> {
    const read = parseReadName(name);
    if (isResourceName(read)) return this.resource(read, options);
    if (!isSingleInterfaceReadName(read)) return this[read](options);
    if (isGroupReadName(read)) return this.group(read, options);
    if (isChargingMemberName(read))
      return this.#singleInterface(read, (body) => parseChargingMember(read, body), options);
    if (isStatisticsMemberName(read)) return this.#singleInterface(read, (body) => parseStatistic(read, body), options);
    return this[read](options);
  }

  /** Several reads at once; it fails only when every one failed, with the first failure. */
  async readSeveral(names: readonly unknown[], options: ReadOptions): ReturnType<typeof readEach> {
    return readEach([...new Set(names.map(parseReadName))], (name, batch) => this.read(name, { ...options, batch }));
  }

  /** @throws VehicleError VEHICLE_UNAVAILABLE where the accessibility, read afresh, says so (docs/service.md 2.7), and what reading it throws */
  async assertAccessible(options: Pick<ReadOptions, 'vin' | 'signal'>): Promise<void> {
    const { payload } = await this.accessibility({ ...options, maxAgeMs: 0, forCommand: true });
    if (payload.value === 'UNAVAILABLE')
      throw new VehicleError('VEHICLE_UNAVAILABLE', unavailableSentence(payload.unavailableReason));
  }

  /** GET async.href of a v1 command: its present status. Scopes: openid, conve:commands (docs/service.md 2.5, docs/field-notes.md 2.2). */
  async commandStatus(
    record: { async: Pick<AsyncLink, 'href'> | null },
    options: Pick<ReadOptions, 'maxAgeMs' | 'signal'> = {},
  ): Promise<Invocation> {
    const href = record.async?.href;
    if (!href)
      throw new VehicleError(
        'NOT_SUPPORTED',
        'The service gave no link to follow this command. Check at the car whether it acted.',
      );
    const answer = await this.#requests.get({
      api: 'connected',
      url: followLink(this.service, href),
      accept: mediaType(this.service, requestDetails.accept),
      scopes: requestDetails.scopes,
      kind: 'follow',
      maxAgeMs: options.maxAgeMs ?? 0,
      signal: options.signal,
    });
    return parseInvocation(answer.body, answer.receivedAt);
  }

  async #singleInterface<Payload>(
    name: SingleInterfaceReadName,
    parse: (body: unknown) => Parsed<Payload>,
    options: ReadOptions,
  ): Promise<Reading<Payload>> {
    const { interface: iface, path, scopes, payloadKind } = singleInterfaceReads[name];
    const vin = parseVin(options.vin);
    // Single values are the same whichever version of the connected interface is chosen.
    if (payloadKind === 'group')
      chooseInterface(name, { 'connected-v2': { path } }, options.interface ?? 'auto', this.service);
    if (!this.service.availableInterfaces.includes(iface))
      throw new VehicleError(
        'NOT_SUPPORTED',
        sentence`${titleOf(name)} cannot be read: this service does not offer ${titleOfInterface[iface]}.`,
      );
    return this.#request(
      { read: name, vin, interface: iface, url: this.#addressOf(iface, path, vin), accept: json, scopes },
      parse,
      options,
    );
  }

  async #grouped(name: ResourceName, vin: string, options: ReadOptions): Promise<Reading<ResourceReading>> {
    const { group, reason }: { group: GroupName | null; reason?: string } = groupedResources[name];
    if (group === null || !this.service.availableInterfaces.includes('connected-v2')) {
      const why = reason ?? 'connected v2, which has it too, is not there either';
      throw new VehicleError(
        'NOT_SUPPORTED',
        sentence`${titleOf(name)} is offered by the extended vehicle interface, which this service no longer has; ${why}.`,
      );
    }
    const { path, scopes } = groups[group];
    const isByFuel = 'withoutFuel' in groupedResources[name];
    const fuel = isByFuel ? burnsFuel(await this.#fuelType(vin, options)) : null;
    const url = this.#addressOf('connected-v2', path, vin);
    return this.#request(
      { read: name, vin, interface: 'connected-v2', url, accept: json, scopes },
      (body) => fromGroup(name, body, fuel),
      options,
    );
  }

  /** Asked once for each car and kept (docs/message-contract.md 3); null where the service does not report it. */
  async #fuelType(vin: string, { signal }: ReadOptions): Promise<string | null> {
    const ask = async (): Promise<string | null> => {
      if (this.#clock.monotonic() < (this.#fuelTypeRetryAt.get(vin) ?? Number.NEGATIVE_INFINITY)) return null;
      try {
        const { payload } = await this.details({ vin, ...(signal && { signal }) });
        if (payload.fuelType !== null) return payload.fuelType;
      } catch (error) {
        // Some cars have no details (docs/field-notes.md 1.4).
        if (asVehicleError(error).retryable || signal?.aborted) return null;
      }
      if (this.#fuelTypeRetryAt.size >= maxCached) this.#fuelTypeRetryAt.clear();
      this.#fuelTypeRetryAt.set(vin, this.#clock.monotonic() + fuelTypeRetryMs);
      return null;
    };
    return this.#facts.fuelType(vin, ask);
  }

  /**
   * Parses openings, one of which not every car has: whether this one has it follows from its former answers
   * (docs/message-contract.md 3.3).
   */
  async #openings(
    name: FittedName,
    parse: typeof parseWindows,
    body: unknown,
    { vin, interface: iface }: PreparedRead,
  ): Promise<Parsed<Members>> {
    if (vin === null) return parse(body);
    const isFitted = await this.#facts.isFitted(vin, name);
    const parsed = parse(body, isFitted, iface === 'connected-v2');
    if (isFitted !== true) await this.#facts.learnFitted(vin, name, parsed.payload[name]?.value);
    return parsed;
  }

  async #connected<Payload>(
    name: keyof typeof connectedReads,
    parse: Parse<Payload>,
    options: ReadOptions,
    { keep = true } = {},
  ): Promise<Reading<Payload>> {
    const { routes, scopes }: ConnectedRead = connectedReads[name];
    const vin = name === 'vehicles' ? null : parseVin(options.vin);
    const { iface, route } = chooseInterface(name, routes, options.interface ?? 'auto', this.service);
    const url = this.#addressOf(iface, route.path, vin ?? '');
    return this.#request(
      { read: name, vin, interface: iface, url, accept: mediaType(this.service, route.accept), scopes, keep },
      parse,
      options,
    );
  }

  async #request<Payload>(
    request: PreparedRead,
    parse: Parse<Payload>,
    { interface: choice = 'auto', maxAgeMs, batch, forCommand, signal }: ReadOptions,
  ): Promise<Reading<Payload>> {
    const { read, vin, url, accept, scopes, keep } = request;
    try {
      const answer = await this.#requests.get({
        api: apiOf[request.interface],
        url,
        accept,
        scopes,
        keep,
        maxAgeMs,
        batch,
        kind: forCommand ? 'follow' : 'read',
        signal,
      });
      const reading = readingOf(await parse(answer.body, request), answer, request);
      if (vin !== null) this.#observer.observe(read, vin, reading);
      return reading;
    } catch (error) {
      const failure = asVehicleError(error);
      if (vin !== null && choice === 'auto') this.#observer.failed?.(read, vin, failure);
      throw failure;
    }
  }

  #addressOf(iface: InterfaceName, path: string, vin: string, resource = ''): URL {
    const key = `${iface}${path}${vin}${resource}`;
    let url = this.#addresses.get(key);
    if (url === undefined) {
      url = addressOf(this.service, iface, path, { vin, resource });
      if (this.#addresses.size >= maxCached) this.#addresses.clear();
      this.#addresses.set(key, url);
    }
    return url;
  }
}

const titleOfInterface = {
  'connected-v2': 'version 2 of the connected interface',
  'energy-v2': 'the energy interface',
  'location-v1': 'the location interface',
} as const;

type Parse<Payload> = (body: unknown, request: PreparedRead) => Parsed<Payload> | Promise<Parsed<Payload>>;

/** A read with its interface, address and scopes, ready to be sent. */
interface PreparedRead extends Pick<ReadingInfo, 'vin'> {
  read: ReadName;
  interface: InterfaceName;
  url: URL;
  accept: string;
  scopes: readonly string[];
  keep?: boolean;
}
