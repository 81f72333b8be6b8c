import { randomUUID } from 'node:crypto';
import { apiOfRead, inOrderReads, isKeptName, partsOf, type AnyReadName, type KeptName } from './catalogue/reads';
import type { ServiceProfile } from './catalogue/services';
import { VehicleClient, type Remember, type ReadOptions, type VehicleObserver } from './client';
import { Dispatcher } from './commands/dispatcher';
import { asVehicleError, VehicleError } from './errors';
import { journalReading } from './commands/log';
import { readingIn } from './car/unit-system';
import type { UnitSystem } from './catalogue/units';
import { logReading } from './logbook/reading';
import { parseTariff, type Tariff } from './logbook/tariff';
import { seenIn } from './condition/seen';
import type { JournalEntry } from './commands/command';
import { Requests, type LoggedRequest } from './http/requests';
import { inOrderOf, type InOrder } from './car/in-order';
import type { Place } from './car/places';
import { askedAtOf, readAll, severalReading, type Reading } from './car/reading';
import type { SeenValue } from './car/facts';
import type { Moment } from './car/repeats';
import type { StateRun } from './car/state-runs';
import { Poller } from './polling/poller';
import type { QuotaSnapshot, RateLimiter } from './http/rate-limiter';
import type { Quota } from './http/quota-counts';
import { isHeaderSafe, unusable, type TokenDescription, type TokenSource } from './http/token-source';
import { Pack } from './pack';
import type { Sentence } from './sentence';
import { endingAt, raceAbort } from './util/abort';
import type { Signal } from './util/cancellation';
import { iso, timeOf, type Clock } from './util/clock';
import type { AnonymousAnswer } from './wire/anonymous';
import { connectionNotes, type ConnectionNotes } from './http/environment';
import { createTransport, type Transport } from './http/transport';

export interface AccountOptions {
  /** The parts that it shares with other accounts. Default: none. */
  pack?: Pack;
  /** As `resolveService` returns it. */
  service: ServiceProfile;
  apiKey: string;
  /** A function is called when the other options have been checked. */
  tokens: TokenSource | (() => TokenSource);
  /**
   * Accounts with the same API key and the same `tokenOwner` share readings. Default: shared
   * with no other account.
   */
  tokenOwner?: string;
  readOnly?: boolean;
  /** The id of the wallbox, as a person entered it. Default: none. */
  wallbox?: string | undefined;
  /** The units of what `read` returns. Default: as the car reports them. */
  units?: UnitSystem;
  /**
   * Counted over all accounts with the same API key at the same service; the strictest limits hold.
   */
  limits: Quota;
  /**
   * How old another reader's answer may be, in milliseconds; with 0, only a request in progress is
   * shared. Default 5000.
   */
  shareForMs?: number;
  /**
   * `adaptive` polls as often as the activity of the car requires
   * (src/polling/profile.ts). Default `fixed`.
   */
  polling?: 'fixed' | 'adaptive';
  /** Closed with the account. */
  transport?: Transport;
  /** 0 to 1, for the jitter of pauses. */
  random?: () => number;
  /** Gets every reading and every command of the account. */
  observer?: VehicleObserver;
  /** Remembers what the readings of the account show, besides the facts and the logbook. */
  remember?: Remember;
  /**
   * Returns the price of energy that a person or a flow has set (src/logbook/tariff). The logbook
   * asks for it at each reading that it gets. Default: no price.
   */
  tariff?: () => Promise<{ price: unknown; currency: unknown }>;
  /**
   * Those of the vehicle configuration: the logbook names them, and a tariff can. Default: none.
   */
  places?: readonly Place[];
  /** Names the account in the log of the commands. Default: a name that no other account has. */
  id?: string;
  /** Is called with a sentence for the user that is not part of a message. */
  warn?: (sentence: string | Sentence) => void;
}

type AccountReadOptions = ReadOptions & { clear?: boolean; from?: unknown; to?: unknown; units?: UnitSystem };

/** A client with everything that it uses; `close` ends all of it. */
export class Account {
  readonly client: VehicleClient;
  /** Decides when to read again. */
  readonly poller: Poller;
  /** Sends commands, one at a time to each car, and keeps the journal. A client does neither. */
  readonly dispatcher: Dispatcher;
  /** How requests reach the service. */
  readonly connection: ConnectionNotes;
  /** The units that people see; what the pack keeps has the units of the car. */
  readonly units: UnitSystem;
  readonly #id: string;
  readonly #pack: Pack;
  readonly #limiter: RateLimiter;
  readonly #requests: Requests;
  readonly #tokens: TokenSource;
  readonly #transport: Transport;
  readonly #endUse: () => Promise<void>;
  readonly #endPresence: () => Promise<void>;

  constructor(options: AccountOptions) {
    const { pack = new Pack(), service, shareForMs = 5_000, tokenOwner = randomUUID(), id = tokenOwner } = options;
    const { clock, facts, redactor } = pack;
    const apiKey = usableKey(options.apiKey);
    this.#id = id;
    this.units = options.units ?? 'car';
    this.#pack = pack;
    this.#transport = options.transport ?? createTransport({ clock });
    this.#tokens = typeof options.tokens === 'function' ? options.tokens() : options.tokens;
    const { limiter, shared } = pack.stateOfKey(service.baseUrl, apiKey);
    this.#limiter = limiter;
    this.#endUse = limiter.use(options.limits);
    this.#endPresence = pack.presence.use();
    this.#requests = new Requests({
      apiKeyHeader: service.apiKeyHeader,
      apiKey,
      tokens: this.#tokens,
      limiter,
      shared,
      shareForMs,
      transport: this.#transport,
      redactor,
      clock,
      random: options.random ?? Math.random,
    });
    this.poller = pollerOf(options, { tokenOwner, shareForMs, clock, limiter });
    const { wallbox, observer } = options;
    const others = observer ? [observer] : [];
    this.client = new VehicleClient({
      service,
      requests: this.#requests,
      tokenOwner,
      observers: [this.poller, ...others],
      remember: this.#rememberOf(options),
      repeats: pack.repeats,
      facts,
      clock,
      wallbox,
    });
    this.dispatcher = this.#dispatcherOf(options, [this.poller, ...others]);
    this.connection = connectionNotes(new URL(service.baseUrl));
  }

  #rememberOf(options: AccountOptions): Remember {
    const { facts, logbook, clock } = this.#pack;
    const { places = [], remember } = options;
    const tariff = currentTariff(options, clock);
    return (read, vin, reading, moment) => {
      // It is awaited by the caller, so the values that `#see` gets are stored in the same write.
      const stored = facts.observe(vin, read, reading.payload, moment.at);
      logbook.observe(read, vin, reading, { ...moment, tariff, places });
      void this.#see(vin, seenIn(read, reading), reading, moment);
      remember?.(read, vin, reading, moment);
      return stored;
    };
  }

  #dispatcherOf(
    { service, readOnly = false, warn }: AccountOptions,
    observers: readonly Pick<VehicleObserver, 'commandSent'>[],
  ): Dispatcher {
    const { clock, log } = this.#pack;
    return new Dispatcher({
      client: this.client,
      requests: this.#requests,
      observers,
      readOnly,
      turns: this.#pack.turnsFor(service.baseUrl),
      log,
      account: this.#id,
      clock,
      onLocked: (vin) => this.poller.commandLocked(vin),
      onSaveFailed: () =>
        warn?.(
          'The command journal could not be written to disk. After a restart it may lack the last commands. Free up space on the disk of Node-RED.',
        ),
    });
  }

  /** The last 100 commands of the account, newest first. @throws StateFault */
  journal(): Promise<JournalEntry[]> {
    return this.#pack.log.journal(this.#id);
  }

  /**
   * Reads the vehicle, or what the pack keeps itself. `clear` empties the journal first; `from` and
   * `to` limit trips and charges; `units` are other ones than those of the account.
   * @throws VehicleError
   */
  read(name: AnyReadName, options: AccountReadOptions): Promise<Reading> {
    const { units = this.units } = options;
    const reading = this.#readAsGiven(name, options);
    return units === 'car' ? reading : reading.then((given) => readingIn(units, given));
  }

  #readAsGiven(name: AnyReadName, options: AccountReadOptions): Promise<Reading> {
    if (name === 'inOrder') return this.#inOrder(options);
    return isKeptName(name) ? this.#readKept(name, options) : this.client.read(name, options);
  }

  async #readKept(name: KeptName, options: AccountReadOptions): Promise<Reading> {
    const { clear = false, from, to } = options;
    const { clock, log, logbook, redactor } = this.#pack;
    if (name !== 'journal') {
      const vin = await this.client.requireVin(options.vin, options.signal);
      return logReading({ vin, read: name }, (await logbook.records(vin))[name], { from, to }, clock.now());
    }
    if (clear) await log.clear(this.#id);
    return journalReading(await this.journal(), clock.now(), redactor.text);
  }

  #see(vin: string, values: readonly SeenValue[], { vehicle }: Reading, moment: Moment): void | Promise<void> {
    const receivedAt = timeOf(vehicle.receivedAt);
    return this.#pack.facts.see(vin, values, { receivedAt, askedAt: askedAtOf(vehicle), ...moment });
  }

  /** Returns the values that a condition has seen, oldest first. */
  async statesOf(vin: string, name: string): Promise<readonly StateRun[]> {
    return this.#pack.facts.statesOf(vin, name);
  }

  /**
   * Reads what the car has to be in order; the newest interface has all of it.
   * @throws VehicleError if nothing could be read for another reason than the sign-in
   */
  async #inOrder({ interface: _choice, ...options }: ReadOptions): Promise<Reading<InOrder>> {
    const { clock, facts } = this.#pack;
    const vin = await this.client.requireVin(options.vin, options.signal);
    const { readings, failures } = await readAll(inOrderReads, (read) => this.client.read(read, { ...options, vin }));
    const obstacle = this.obstacle();
    const [failure] = failures.values();
    if (failure !== undefined && (options.signal?.aborted || (readings.size === 0 && obstacle === null))) throw failure;
    const lacking = new Set([...failures].flatMap(([read, { code }]) => (code === 'NOT_SUPPORTED' ? [read] : [])));
    const signIn = { ...this.signIn(), ...(obstacle !== null && { isRequired: true }) };
    const equipment = await facts.reportedEquipment(vin);
    // By the clock that makes the reports older: one of them can be wrong.
    const now = clock.now() + Math.max(0, this.client.clockSkewMs);
    const payload = inOrderOf({ readings, lacking, equipment, signIn, now });
    const { receivedAt, measuredAt, source } = severalReading([], [...readings.values()], []).vehicle;
    const vehicle = { vin, read: 'inOrder' as const, interface: null, measuredAt, source };
    const reading = { payload, vehicle: { ...vehicle, receivedAt: receivedAt || iso(clock.now()) } };
    const seen: SeenValue[] = payload.value === null ? [] : [['inOrder', payload.value, null]];
    await this.#see(vin, seen, reading, { at: clock.now(), skewMs: this.client.clockSkewMs });
    return reading;
  }

  quota(): QuotaSnapshot {
    return this.#limiter.snapshot();
  }

  /**
   * Until when the service pauses the API of a read, in milliseconds since 1970;
   * null if it does not.
   */
  pausedUntil(read: AnyReadName): number | null {
    const [part] = partsOf(read);
    return part === undefined ? null : this.#limiter.pausedUntil(apiOfRead(part));
  }

  token(): TokenDescription {
    return this.#tokens.describe();
  }

  /**
   * Until when the sign-in lasts, in milliseconds since 1970, and whether only a person can help;
   * null if that is not known.
   */
  signIn(): { endsAt: number | null; isRequired: boolean | null } {
    const { endsAt, signInRequiredSince } = this.token();
    return {
      endsAt: endsAt === null ? null : Date.parse(endsAt),
      isRequired: signInRequiredSince !== null || this.#requests.isKeyRefused,
    };
  }

  /**
   * Why nothing works until a person acts, as far as it is known without a request;
   * null while all is well.
   */
  obstacle(): 'API_KEY_REFUSED' | 'SIGN_IN_REQUIRED' | 'NOT_SIGNED_IN' | null {
    const { kind, signInRequiredSince } = this.token();
    if (kind === 'none') return 'NOT_SIGNED_IN';
    if (signInRequiredSince !== null) return 'SIGN_IN_REQUIRED';
    return this.#requests.isKeyRefused ? 'API_KEY_REFUSED' : null;
  }

  /**
   * Gets a token although no request needs one: `token()` then shows a sign-in that was just made.
   * @throws VehicleError if there is none
   */
  async refreshToken(signal?: Signal): Promise<void> {
    await this.#tokens.get(signal);
  }

  /** The last requests, oldest first, safe to show. */
  recentRequests(): LoggedRequest[] {
    return this.#requests.recent();
  }

  /** The last answer of each address, without VIN, position, ids and addresses. */
  lastAnswers(): AnonymousAnswer[] {
    return this.#requests.answers();
  }

  async close(): Promise<void> {
    this.poller.close();
    this.#requests.close();
    const commandsEnded = this.dispatcher.close();
    await this.#endUse();
    await this.#tokens.close();
    await this.#transport.close();
    await commandsEnded;
    this.#pack.repeats.catchUp();
    await this.#pack.logbook.flush();
    await this.#pack.facts.flush();
    await this.#endPresence();
  }
}

/** @throws VehicleError CONFIG if the key is missing or cannot be sent */
function usableKey(given: string): string {
  const apiKey = given.trim();
  if (apiKey === '')
    throw new VehicleError(
      'CONFIG',
      'The API key is missing. Enter the key of your application in the vehicle configuration.',
      { status: { word: 'API_KEY_MISSING' } },
    );
  if (!isHeaderSafe(apiKey)) throw new VehicleError('CONFIG', unusable('API key'));
  return apiKey;
}

const pollerOf = (
  { service, polling }: AccountOptions,
  { tokenOwner, limiter, ...others }: { tokenOwner: string; shareForMs: number; clock: Clock; limiter: RateLimiter },
): Poller =>
  new Poller({
    id: tokenOwner,
    adaptive: polling === 'adaptive',
    availableInterfaces: service.availableInterfaces,
    // A person who tries a demo car clicks it and waits for the change, and a demo car has no
    // quota.
    ...(service.service === 'demo' && { longestMs: 15_000 }),
    quota() {
      const { readsPerDay: perDay, readsPerMinute: perMinute } = limiter.snapshot();
      return { perDay, perMinute, sent: (api) => limiter.sentToday(api) };
    },
    ...others,
  });

/**
 * Builds an account: transport, rate limiter, shared reads, token, client.
 * @throws VehicleError CONFIG if the key is missing or cannot be sent
 */
export const openAccount = (options: AccountOptions): Account => new Account(options);

/** A source without an answer within this time has no price. */
const tariffLimitMs = 5_000;

/**
 * Returns the tariff that applies now, or null while it cannot be used. A fault of it is reported
 * once, until it is corrected. Null if no tariff is set, so that the logbook waits for none.
 */
function currentTariff({ tariff, places, warn }: AccountOptions, clock: Clock): (() => Promise<Tariff | null>) | null {
  if (tariff === undefined) return null;
  let reported = '';
  let last: { given: string; parsed: Tariff } | null = null;
  const parse = (price: unknown, currency: unknown): Tariff => {
    const given = JSON.stringify([price, currency]);
    if (last?.given !== given) last = { given, parsed: parseTariff(price, currency, places) };
    return last.parsed;
  };
  const reason = (): VehicleError =>
    new VehicleError('CONFIG', 'The source of the price in the vehicle configuration does not answer.');
  return async () => {
    try {
      const { price, currency } = await endingAt(clock.now() + tariffLimitMs, { clock, reason }, (signal) =>
        raceAbort(tariff(), signal),
      );
      const found = parse(price, currency);
      reported = '';
      return found;
    } catch (error) {
      const failure = asVehicleError(error);
      if (failure.message !== reported) warn?.(failure.sentence);
      reported = failure.message;
      return null;
    }
  };
}
