import type { Signal } from './util/cancellation';
import type { Account } from './account';
import { isReadName } from './catalogue/reads';
import { scopesOfCommand, scopesOfRead } from './catalogue/scopes';
import { VehicleError, asVehicleError, type ErrorCode } from './errors';
import { sentence, type Sentence } from './sentence';
import type { Presence } from './state/presence';
import type { RedisStateStore } from './state/redis-store';
import { parseVin } from './vin';

/** The work behind the buttons “Check” and “Find my car” of the configuration dialog. */

/** A node of the flows that uses the account. */
interface AccountNode {
  /** The node's label in the editor. */
  label: string;
  /** Names of reads. */
  reads: readonly string[];
  /** Names of commands. */
  commands: readonly string[];
}

interface CheckOptions {
  vin: unknown;
  nodes: readonly AccountNode[];
  signal?: Signal;
}

/** The result of one check; `unclear` if the service was not reached. */
export interface Finding {
  about: 'store' | 'proxy' | 'certificates' | 'service' | 'quota' | 'key' | 'token' | 'vehicle' | 'scopes';
  result: 'good' | 'bad' | 'unclear';
  /** The failure, if the result is bad. */
  code: ErrorCode | null;
  message: Sentence | null;
  /** ISO-8601: when a pause ends, or until when the account is signed in. */
  until: string | null;
  /** The missing scopes, of the node `label` if there is one. */
  scopes: readonly string[];
  /**
   * The label of a node; for a proxy, its host and port; for a shared store, its place and the
   * machines of its other processes.
   */
  label: string | null;
}

/**
 * The order in which the service checks a request: if it answers with one failure, the checks
 * before that one are good.
 */
const order = ['service', 'quota', 'key', 'token', 'scopes'] as const;
const aboutOf: Partial<Record<ErrorCode, (typeof order)[number]>> = {
  QUOTA_SPENT: 'quota',
  RATE_LIMITED: 'quota',
  API_KEY_REFUSED: 'key',
  TOKEN_MISSING: 'token',
  SIGN_IN_REQUIRED: 'token',
  SCOPE_MISSING: 'scopes',
};

/**
 * Tries key, token, scopes and VIN with one request (docs/internals/vendor-api.md 1.3). It never
 * fails: a failure is a finding.
 */
export async function checkAccount(account: Account, options: CheckOptions): Promise<Finding[]> {
  const { proxy, verifiesCertificates } = account.connection;
  return [
    ...(proxy === null ? [] : [finding('proxy', 'good', { label: proxy })]),
    ...(verifiesCertificates ? [] : [bad('certificates', new VehicleError('CONFIG', unverified))]),
    ...(await checkAccess(account, options)),
  ];
}

/**
 * Asks a shared store for its state, its persistence and its processes. It never fails: a
 * failure is a finding.
 */
export async function checkStore(store: RedisStateStore, { others }: Presence): Promise<Finding[]> {
  const { place } = store;
  const report = await store.report().catch(asVehicleError);
  if (report instanceof VehicleError) return [bad('store', report)];
  const { appendonly, appendfsync, maxmemoryPolicy, writesWithoutReplicas, otherPrefixes } = report;
  const weak = [
    ...(appendonly === false ? ['appendonly no'] : []),
    ...(appendfsync !== null && appendfsync !== 'always' ? [`appendfsync ${appendfsync}`] : []),
    ...(maxmemoryPolicy !== null && maxmemoryPolicy !== 'noeviction' ? [`maxmemory-policy ${maxmemoryPolicy}`] : []),
  ];
  const problems: Sentence[] = [];
  if (weak.length > 0)
    problems.push(
      sentence`The shared store at ${place} can lose data that it has just stored (${weak}), so a message can be sent twice or a sign-in can be lost. Set appendonly yes, appendfsync always and maxmemory-policy noeviction.`,
    );
  if (writesWithoutReplicas)
    problems.push(
      sentence`The shared store at ${place} continues without its replicas, even after one of them has taken its place, so a command can be sent twice. Set min-replicas-to-write 1.`,
    );
  if (otherPrefixes.length > 0)
    problems.push(
      sentence`Other Node-REDs use the shared store at ${place} with another prefix (${otherPrefixes}) and share nothing with this one. With the same account, give all of them the same CONNECTED_VEHICLE_PREFIX.`,
    );
  return [
    ...problems.map((problem) => bad('store', new VehicleError('CONFIG', problem))),
    finding('store', 'good', { label: [place, ...others].join(', ') }),
  ];
}

const unverified =
  'Certificates are not verified, because the environment variable NODE_TLS_REJECT_UNAUTHORIZED is 0: anyone between this machine and the service can read the key and the token. Remove the variable and restart Node-RED.';

async function checkAccess(account: Account, { vin, nodes, signal }: CheckOptions): Promise<Finding[]> {
  // The token comes first, so that a failure of the sign-in service is not mistaken for one of
  // the vehicle service.
  const noToken = await account.refreshToken(signal).then(() => null, asVehicleError);
  if (noToken !== null) return [...before('token', 'unclear'), bad('token', noToken)];
  const read = account.client.read('vehicles', { maxAgeMs: 0, signal });
  const answer = await read.catch(asVehicleError);
  const failure = answer instanceof VehicleError ? answer : null;
  const listed = answer instanceof VehicleError ? null : answer.payload.map((vehicle) => vehicle.vin);
  const token = account.token();
  // A new token is requested automatically after a 401, so the code means a fault of the service.
  const isTokenRefused = failure?.code === 'SERVICE_ERROR' && failure.httpStatus === 401;
  const reached = failure === null ? 'scopes' : isTokenRefused ? 'token' : (aboutOf[failure.code] ?? 'service');
  const isAnswered = failure === null || failure.httpStatus !== null;
  const findings = before(reached, isAnswered ? 'good' : 'unclear').map((found) =>
    found.about === 'token' ? { ...found, until: token.kind === 'refreshing' ? token.endsAt : token.expiresAt } : found,
  );
  if (failure !== null && failure.code !== 'SCOPE_MISSING') return [...findings, bad(reached, failure)];
  return [...findings, vehicleFinding(vin, listed), ...scopeFindings(token.scopes, nodes, account, failure)];
}

/** The findings before `about`, all with the same result. */
const before = (about: (typeof order)[number], result: Finding['result']): Finding[] =>
  order.slice(0, order.indexOf(about)).map((name) => finding(name, result));

function vehicleFinding(vin: unknown, listed: string[] | null): Finding {
  try {
    const wanted = parseVin(vin);
    if (listed === null) return finding('vehicle', 'unclear');
    if (listed.includes(wanted)) return finding('vehicle', 'good');
    throw new VehicleError(
      'VEHICLE_NOT_LINKED',
      'This vehicle is not linked to the account of the token. Check the VIN, or press “Find my car”.',
    );
  } catch (error) {
    return bad('vehicle', asVehicleError(error));
  }
}

function scopeFindings(
  granted: readonly string[] | null,
  nodes: readonly AccountNode[],
  account: Account,
  failure: VehicleError | null,
): Finding[] {
  const relation =
    failure === null
      ? []
      : [bad('scopes', failure, { scopes: scopesOfRead('vehicles', account.client.service.availableInterfaces) })];
  if (granted === null) return [...relation, finding('scopes', 'unclear')];
  const missing = nodes.flatMap((node) => {
    const scopes = scopesOfNode(node, account).filter((scope) => !granted.includes(scope));
    return scopes.length === 0 ? [] : [finding('scopes', 'bad', { code: 'SCOPE_MISSING', scopes, label: node.label })];
  });
  const found = [...relation, ...missing];
  return found.length === 0 ? [finding('scopes', 'good')] : found;
}

function scopesOfNode({ reads, commands }: AccountNode, account: Account): string[] {
  const { availableInterfaces } = account.client.service;
  const scopes = [
    ...reads.filter(isReadName).flatMap((name) => scopesOfRead(name, availableInterfaces)),
    ...commands.flatMap((name) => scopesOfCommand(name, availableInterfaces)),
  ];
  return scopes.length === 0 ? [] : [...new Set(['openid', ...scopes])];
}

const finding = (about: Finding['about'], result: Finding['result'], more: Partial<Finding> = {}): Finding => ({
  about,
  result,
  code: null,
  message: null,
  until: null,
  scopes: [],
  label: null,
  ...more,
});

const bad = (about: Finding['about'], error: VehicleError, more: Partial<Finding> = {}): Finding =>
  finding(about, 'bad', {
    code: error.code,
    message: error.sentence,
    until: error.retryAt?.toISOString() ?? null,
    ...more,
  });

export interface FoundVehicle {
  vin: string;
  /** Empty if the service does not name it. */
  model: string;
  year: string;
}

/** Further vehicles are listed without model and year, because each costs a request. */
const maxDetails = 10;

/**
 * The vehicles of the account, with model and year if the service has them
 * (docs/internals/vendor-api.md 1.4: not for every car).
 * @throws VehicleError
 */
export async function findVehicles(account: Account, signal?: Signal): Promise<FoundVehicle[]> {
  const { payload } = await account.client.read('vehicles', { signal });
  return Promise.all(
    payload.map(async ({ vin }, index) => {
      const details =
        index < maxDetails ? await account.client.read('details', { vin, signal }).catch(() => null) : null;
      return {
        vin,
        model: String(details?.payload.descriptions?.model ?? ''),
        year: String(details?.payload.modelYear ?? ''),
      };
    }),
  );
}
