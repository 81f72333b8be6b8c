import type { NodeAPI } from 'node-red';
import {
  cut,
  isExcludedBy,
  isReadName,
  mapSentence,
  normalVin,
  readEach,
  shortVin,
  summaryOfLog,
  VehicleError,
  vinPattern,
  type Account,
  type CarEvent,
  type JournalEntry,
  type Lines,
  type Pack,
  type ReadName,
  type Sentence,
  type UnitSystem,
  type Signal,
} from '../../../src/index';
import { redactor, safeError, shownFailure } from '../../node-red/redaction';
import { packOf } from '../../node-red/storage';
import { storedNodes } from '../../node-red/flows';
import { findVehicle, type VehicleNode } from '../../node-red/vehicle-node';
import { clickDemoCar, noDemoCar, demoPage, followDemoCar, type DemoView } from '../../vehicle/demo-car';
import type { Translated } from '../../node-red/i18n';
import type { ShownValues } from '../../vehicle/shown-values';
import { demoIn, factsIn, linesIn, logIn, type ShownLog } from './units';
import { overviewsOf, type Overview } from '../../vehicle/overview';
import { parseOptions } from '../../node-red/options';
import { vehicleOptions } from '../../vehicle/options';

/** A car as the browser gets it: no secret, no whole VIN, no position. Times are ISO-8601. */
export type CarSummary = Translated<CarReport>;

interface CarReport {
  key: string;
  /** The config node, for Check and diagnostics. */
  config: string;
  name: string;
  service: string;
  readOnly: boolean;
  /** Short; null if no VIN is known. */
  vin: string | null;
  /** The configuration chooses this car if nothing names another one. */
  isDefault: boolean;
  /** The position is only `known`. */
  facts: ShownValues;
  /** The values of the last seven days. */
  lines: Lines;
  /** The demo car as it really is; null for any other car. */
  demo: DemoView | null;
  /** The address of the demo car's own page, on the machine that Node-RED runs on. */
  demoPage: string | null;
  session: ReturnType<Account['token']> | null;
  /** Why no account could be opened; null if one is open. */
  problem: Sentence | null;
  /** The dialog that corrects it; null without a problem, or if it ends without a person. */
  remedy: 'signIn' | 'configuration' | null;
  quota: { api: string; used: number; limit: number | null; pausedUntil: string | null }[];
  followed: { command: string; sentAt: string; requestStatus: string | null }[];
  commands: Pick<JournalEntry, 'command' | 'sentAt' | 'outcome' | 'reason' | 'verified' | 'sentBy'>[];
  /** Oldest first. */
  events: CarEvent[];
  /** Null if it cannot be read now. */
  log: ShownLog | null;
}

interface FoundCar {
  key: string;
  vin: string | null;
  isDefault: boolean;
  facts: ShownValues;
  /** The config node that names it first. */
  config: string;
  name: string;
  source: Source;
}

/** The config nodes of the demo cars, and those with one client ID, have one overview. */
interface Source {
  options: { service: string; readOnly: boolean; units: UnitSystem };
  account: Account | null;
  problem: Sentence | null;
  /** Undefined before an account was opened. */
  overview: Overview | undefined;
  /** Each may have sent commands to its cars. */
  accounts: Account[];
}

const maxCommands = 20;
const maxFollowed = 20;
const maxCars = 50;

/** Every car of the deployed flows. Sends no request to the service. */
export async function carsOf(RED: NodeAPI): Promise<CarReport[]> {
  const found = await findCars(RED);
  const views = await Promise.all(found.slice(0, maxCars).map((car) => summaryOf(RED, car)));
  return redactor.value(views);
}

/**
 * Reads again what the tab shows of a car.
 * @throws VehicleError CONFIG if the car is no longer known, or why nothing could be read
 */
export async function readCar(RED: NodeAPI, key: string, signal: Signal) {
  const { client, vin, facts } = await knownCar(RED, key);
  const options = { vin, maxAgeMs: 0, signal };
  const { failures } = await readEach(readsFor(facts), (read) => client.read(read, options));
  // The fuel type shows which values the car cannot have. It is read last, because a person waits
  // for the values.
  await client.fuelType(vin, options);
  return { failed: [...failures].map(shownFailure).filter((failure) => !mayFail(failure)) };
}

/** A picture of a car; `side` is null if the service does not name it. */
export interface CarPicture {
  side: string | null;
  url: string;
}

/**
 * Asks the service for the addresses of the pictures of a car, which are kept nowhere.
 * @throws VehicleError CONFIG if the car is no longer known, or why they could not be read
 */
export async function picturesOf(RED: NodeAPI, key: string, signal: Signal): Promise<CarPicture[]> {
  const { client, vin } = await knownCar(RED, key);
  const { exteriorImageUrl, sides } = (await client.read('details', { vin, signal })).payload.images;
  const pictures = Object.entries(sides).map(([side, url]) => ({ side, url }));
  if (pictures.length > 0) return pictures;
  return /^https?:/i.test(exteriorImageUrl ?? '') ? [{ side: null, url: String(exteriorImageUrl) }] : [];
}

/**
 * The last position that a flow has read, `latitude/longitude`.
 * @throws VehicleError CONFIG if the car is no longer known
 */
export const lastPosition = async (RED: NodeAPI, key: string): Promise<unknown> =>
  (await knownCar(RED, key)).facts.location?.value ?? null;

/** @throws VehicleError CONFIG if the car can no longer be read */
async function knownCar(RED: NodeAPI, key: string) {
  const car = (await findCars(RED)).find((one) => one.key === key);
  if (car?.source.account == null || car.vin === null)
    throw new VehicleError('CONFIG', 'This car is no longer known. Deploy again, or choose another car.');
  return { client: car.source.account.client, vin: car.vin, facts: car.facts };
}

/** @throws VehicleError INPUT_INVALID */
export async function clickCarOfTab(RED: NodeAPI, key: string, click: unknown): Promise<void> {
  const car = (await findCars(RED)).find((one) => one.key === key);
  if (car?.source.options.service !== 'demo' || car.vin === null) throw noDemoCar();
  await clickDemoCar(RED, car.vin, click);
}

/**
 * The reads of *Read now*: the tank or the battery that the car has, or both as long as that is
 * unknown.
 */
function readsFor({ fuelAmount, batteryChargeLevel }: ShownValues): ReadName[] {
  const isUnknown = fuelAmount === undefined && batteryChargeLevel === undefined;
  return [
    'windows',
    'doors',
    'accessibility',
    ...(isUnknown || fuelAmount !== undefined ? (['fuelAmount', 'engineRunning'] as const) : []),
    ...(isUnknown || batteryChargeLevel !== undefined ? (['charging'] as const) : []),
  ];
}

/** A car need not have a tank or a battery, nor a person the scopes for both. */
const mayFail = ({ read, code }: { read: string; code: string }): boolean =>
  code === 'NOT_SUPPORTED' || (code === 'SCOPE_MISSING' && (read === 'charging' || read === 'fuelAmount'));

/** The cars of the configurations, which have names, come before those of nodes and messages. */
async function findCars(RED: NodeAPI): Promise<FoundCar[]> {
  // The overviews do not have the deferred answers yet.
  for (const service of ['demo', '']) packOf(RED, service).repeats.catchUp();
  const stored = storedNodes(RED);
  const cars: FoundCar[] = [];
  const others: FoundCar[] = [];
  for (const { id } of stored.filter(({ type }) => type === 'connected-vehicle')) {
    const node = findVehicle(RED, id);
    if (node === null) continue;
    const source = await sourceOf(RED, node);
    const { overview } = source;
    const named = { config: id, name: node.name ?? '', source };
    const ofNodes = stored.flatMap(({ vehicle, vin }) => (vehicle === id ? [vin] : []));
    const [chosen = '', ...rest] = [node.chooseVin(), ...ofNodes].map(normalVin);
    const seen = overview?.cars.map(({ vin }) => vin).sort() ?? [];
    const vins = new Set([chosen, ...rest, ...seen].filter((vin) => vinPattern.test(vin)));
    if (overview === undefined || vins.size === 0)
      cars.push({ key: id, vin: null, isDefault: true, facts: {}, ...named });
    else
      for (const vin of vins)
        (vin === chosen ? cars : others).push({ ...overview.car(vin), isDefault: vin === chosen, ...named });
  }
  return withoutTwins([...cars, ...others]);
}

/**
 * Configurations that share an overview have the same cars, and each of them may have sent a
 * command. Two that have a real car as their own stay two, because each has a sign-in.
 */
function withoutTwins(cars: readonly FoundCar[]): FoundCar[] {
  const found = new Map<string, FoundCar>();
  for (const car of cars) {
    const twin = found.get(car.key);
    const key = car.isDefault && car.source.options.service !== 'demo' && twin ? car.key + car.config : car.key;
    if (!found.has(key)) found.set(key, { ...car, key });
    else if (twin) twin.source.accounts = [...new Set([...twin.source.accounts, ...car.source.accounts])];
  }
  return [...found.values()];
}

async function sourceOf(RED: NodeAPI, node: VehicleNode): Promise<Source> {
  const source: Source = {
    options: { service: '', readOnly: false, units: 'car' },
    account: null,
    problem: null,
    overview: undefined,
    accounts: [],
  };
  try {
    source.options = parseOptions(vehicleOptions, node.config);
    source.account = await node.account();
    source.accounts.push(source.account);
  } catch (error) {
    source.problem = safeError(error).sentence;
  }
  source.overview = overviewsOf(RED).find(node.id);
  return source;
}

async function summaryOf(RED: NodeAPI, car: FoundCar): Promise<CarReport> {
  const { key, vin, isDefault, facts: asRead, config, name, source } = car;
  const { options, account, problem, overview, accounts } = source;
  const { units } = options;
  const { lines, events, fuelType } =
    vin === null ? { lines: {}, events: [], fuelType: null } : await packOf(RED, options.service).facts.known(vin);
  const facts = withoutExcluded(factsIn(units, asRead), fuelType);
  const { location } = facts;
  const entries = (await Promise.all(accounts.map((one) => one.journal().catch(() => [])))).flat();
  const token = account?.token() ?? null;
  const isDemo = options.service === 'demo' && vin !== null;
  return {
    key,
    config,
    name,
    service: options.service,
    readOnly: options.readOnly,
    vin: vin === null ? null : shortVin(vin),
    isDefault,
    facts: location ? { ...facts, location: { ...location, value: location.value && 'known' } } : facts,
    lines: linesIn(units, lines, asRead),
    events,
    demo: isDemo ? demoIn(units, await followDemoCar(RED, vin)) : null,
    demoPage: isDemo ? await demoPage(RED) : null,
    session: token,
    problem,
    remedy: remedyOf(problem, token, vin),
    quota: account === null ? [] : quotaOf(account),
    log: vin === null ? null : await logOf(packOf(RED, options.service), vin, units),
    followed: (overview?.followed ?? [])
      .filter((one) => one.vin === vin)
      .slice(-maxFollowed)
      .map(({ command, sentAt, requestStatus }) => ({ command, sentAt, requestStatus })),
    commands: entries
      .filter((entry) => entry.vin === vin)
      .sort((one, other) => other.sentAt.localeCompare(one.sentAt))
      .slice(0, maxCommands)
      .map(({ command, sentAt, outcome, reason, verified, sentBy }) => ({
        command,
        sentAt,
        outcome,
        reason: reason && mapSentence(reason, cutSafely),
        verified,
        sentBy: sentBy && cutSafely(sentBy),
      })),
  };
}

/** The values without the unknown ones that the car cannot have. */
const withoutExcluded = (facts: ShownValues, fuelType: string | null): ShownValues =>
  Object.fromEntries(
    Object.entries(facts).filter(
      ([name, { value }]) => value !== null || !isReadName(name) || !isExcludedBy(fuelType, name),
    ),
  );

async function logOf({ logbook, clock }: Pack, vin: string, units: UnitSystem): Promise<CarReport['log']> {
  try {
    const { trips, charges } = await logbook.records(vin);
    const now = clock.now();
    return logIn(units, { trips: summaryOfLog(trips, now), charges: summaryOfLog(charges, now) });
  } catch {
    return null;
  }
}

function remedyOf(problem: Sentence | null, token: CarReport['session'], vin: string | null): CarReport['remedy'] {
  if (problem === null && (token?.kind === 'none' || token?.signInRequiredSince != null)) return 'signIn';
  const isAtFault = problem !== null || vin === null || (token?.problem != null && token.retryAt === null);
  return isAtFault ? 'configuration' : null;
}

/** The connected vehicle API always, the others once a request was sent to them. */
function quotaOf(account: Account): CarReport['quota'] {
  const { perDay, apis } = account.quota();
  // Nobody pays for requests to the simulated service.
  const limit = perDay < Number.MAX_SAFE_INTEGER ? perDay : null;
  return Object.entries(apis).flatMap(([api, { usedToday: used, pausedUntil }]) =>
    api === 'connected' || used > 0 || pausedUntil !== null ? [{ api, used, limit, pausedUntil }] : [],
  );
}

/** Removes secrets first: a part of one would not be recognized. */
const cutSafely = (text: string): string => cut(redactor.text(text), 300);
