// oidc-provider as the identity service, in its own process. Argument: its settings as JSON
// (`ProviderSettings`, oidc-provider.ts).
import { createServer } from 'node:http';

const { port, clients, lifeSeconds, aheadMs, graceSeconds, scopes, discovery } = JSON.parse(process.argv[2]);

/**
 * The provider takes its time from here. The header `x-now` of a request (ms
 * since 1970) moves it on.
 */
const MachineDate = Date;
let ahead = aheadMs;
globalThis.Date = class extends MachineDate {
  constructor(...given) {
    super(...(given.length === 0 ? [MachineDate.now() + ahead] : given));
  }
  static now() {
    return MachineDate.now() + ahead;
  }
};
const { default: Provider } = await import('oidc-provider');

/** What the provider stores, by model and id, in memory. */
const models = new Map();
const refreshTokens = [];

class Adapter {
  #entries = new Map();
  #model;

  constructor(model) {
    this.#model = model;
    models.set(model, this.#entries);
  }
  async upsert(id, payload, expiresIn) {
    // The ids of refresh tokens are the tokens themselves.
    if (this.#model === 'RefreshToken' && !this.#entries.has(id)) refreshTokens.push(id);
    this.#entries.set(id, { payload, endsAt: Date.now() + (expiresIn ?? Infinity) * 1000 });
  }
  async find(id) {
    const { payload, endsAt } = this.#entries.get(id) ?? {};
    if (payload === undefined || endsAt <= Date.now()) return undefined;
    // A refresh token that was used is accepted for some more seconds, as with PingFederate's
    // rolling grace period.
    const isInGrace = payload.consumed !== undefined && Date.now() < (payload.consumed + graceSeconds) * 1000;
    return isInGrace ? { ...payload, consumed: undefined } : payload;
  }
  async findByUid(uid) {
    for (const { payload } of this.#entries.values()) if (payload.uid === uid) return payload;
    return undefined;
  }
  async findByUserCode() {
    return undefined;
  }
  async consume(id) {
    const { payload } = this.#entries.get(id);
    payload.consumed ??= Math.floor(Date.now() / 1000);
  }
  async destroy(id) {
    this.#entries.delete(id);
  }
  async revokeByGrantId(grantId) {
    for (const [id, { payload }] of this.#entries) if (payload.grantId === grantId) this.#entries.delete(id);
  }
}

/** Otherwise a year of short-lived tokens fills the memory. */
setInterval(() => {
  for (const entries of models.values())
    for (const [id, { endsAt }] of entries) if (endsAt <= Date.now()) entries.delete(id);
}, 1_000).unref();

const provider = new Provider(`http://127.0.0.1:${port}`, {
  adapter: Adapter,
  clients,
  scopes,
  clockTolerance: 0,
  cookies: { keys: ['a key of the tests'] },
  features: { devInteractions: { enabled: false }, introspection: { enabled: true }, revocation: { enabled: true } },
  // The grant continues when the driver's browser has forgotten the sign-in.
  expiresWithSession: () => false,
  findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  issueRefreshToken: () => true,
  ...(discovery === 'moved' && { routes: { authorization: '/moved/auth', token: '/moved/token' } }),
  pkce: { required: () => true },
  rotateRefreshToken: true,
  ttl: { AccessToken: lifeSeconds, Grant: 2 * 366 * 86_400, RefreshToken: 7 * 86_400, Session: 86_400 },
});
provider.on('server_error', (_, error) => console.error(error));

async function textOf(request) {
  let text = '';
  for await (const part of request) text += part;
  return text;
}

/**
 * The page of the sign-in and of the consent: `decision` is `allow` or `deny`, `scope`
 * what the driver ticks.
 */
async function interact(request, response) {
  const { params } = await provider.interactionDetails(request, response);
  if (request.method === 'GET') return response.end(`The application asks for ${params.scope}`);
  const form = new URLSearchParams(await textOf(request));
  if (form.get('decision') === 'deny')
    return provider.interactionFinished(request, response, { error: 'access_denied' });
  const ticked = new Set((form.get('scope') ?? params.scope).split(' '));
  const [allowed, refused] = [true, false].map((isTicked) =>
    params.scope.split(' ').filter((scope) => ticked.has(scope) === isTicked),
  );
  const grant = new provider.Grant({ accountId: 'driver', clientId: params.client_id });
  grant.addOIDCScope(allowed.join(' '));
  grant.rejectOIDCScope(refused.join(' '));
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { login: { accountId: 'driver' }, consent });
}

/** What the tests do at the provider itself. */
const control = {
  /** The refresh token that was issued last. */
  newest: () => refreshTokens.at(-1) ?? null,
  now: () => Date.now(),
  /** The driver withdraws the consent. */
  revoke() {
    for (const model of ['Grant', 'RefreshToken', 'AccessToken']) models.get(model)?.clear();
    return true;
  },
};

const callback = provider.callback();
createServer((request, response) => {
  const at = Number(request.headers['x-now'] ?? 0);
  ahead = Math.max(ahead, at - MachineDate.now());
  const [, first, name] = request.url.split('/');
  if (first === '.well-known' && discovery === 'off') return response.writeHead(404).end();
  if (first === 'control') return response.end(JSON.stringify(control[name]()));
  if (first !== 'interaction') return callback(request, response);
  interact(request, response).catch((error) => response.writeHead(500).end(error.stack));
}).listen(port, '127.0.0.1');
