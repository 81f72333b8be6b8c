import { createServer } from 'node:http';
import { resolve } from 'node:path';
import type { Simulator } from '../../support/simulator';
import { freePort, newFolder, startProgram, type Program } from './program';
import { listen } from '../../support/listening';

/** The module is not compiled: its package has no types, and only this part needs it. */
const script = resolve(__dirname, '../../../../test/world/support/oidc-provider.mjs');

/** Every scope that the pack asks for, and one that is unknown here. */
export const providerScopes: readonly string[] = [
  'openid',
  'conve:vehicle_relation',
  'conve:windows_status',
  'conve:doors_status',
  'conve:lock_status',
  'conve:lock',
  'conve:unlock',
];

export const redirectUrl = 'http://localhost:1880/connected-vehicle/callback';

/** Characters that HTTP Basic has to encode. */
export const clientSecret = 'secret+/=&%:~0123456789';

export interface ProviderSettings {
  /** Of an access token. Default 300. */
  lifeSeconds?: number;
  /** How far its clock is ahead of that of this machine, in milliseconds. Default 0. */
  aheadMs?: number;
  /**
   * For how many seconds it accepts a refresh token that was used. Default 0: using it
   * again revokes the grant.
   */
  graceSeconds?: number;
  /**
   * Its discovery document is missing, or names other addresses than those that the pack
   * knows. Default `on`.
   */
  discovery?: 'on' | 'off' | 'moved';
}

export interface IdentityProvider extends Program {
  /** Its issuer. */
  readonly url: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** A value that the control interface returns, or the effect that it has. */
  control(name: 'newest'): Promise<string | null>;
  control(name: 'now'): Promise<number>;
  control(name: 'revoke'): Promise<true>;
  /** The description of an access token (RFC 7662). */
  introspect(token: string): Promise<{ active: boolean; scope?: string }>;
}

const introspection = { client_id: 'resource-service', client_secret: 'secret-of-the-resource-service' };

const client = { redirect_uris: [redirectUrl], grant_types: ['authorization_code', 'refresh_token'] };

/** `car`: with a secret; `public`: without one. */
const clients = [
  { ...client, client_id: 'car', client_secret: clientSecret },
  { ...client, client_id: 'public', token_endpoint_auth_method: 'none' },
  { ...introspection, redirect_uris: [], response_types: [], grant_types: [] },
];

/**
 * oidc-provider on a free port, with everything in memory.
 * @param folder in which it runs; default: one that the specs remove
 */
export async function startProvider(settings: ProviderSettings = {}, folder?: string): Promise<IdentityProvider> {
  const port = await freePort();
  const defaults = { lifeSeconds: 300, aheadMs: 0, graceSeconds: 0, discovery: 'on' };
  const scopes = [...providerScopes, 'offline_access'];
  const options = { port, clients, scopes, ...defaults, ...settings };
  const program = await startProgram({
    name: 'oidc-provider',
    command: process.execPath,
    args: [script, JSON.stringify(options)],
    folder: folder ?? (await newFolder('oidc-provider')),
    port,
  });
  const url = `http://127.0.0.1:${port}`;
  const basic = Buffer.from(`${introspection.client_id}:${introspection.client_secret}`).toString('base64');
  return Object.assign(program, {
    url,
    authorizeUrl: `${url}/auth`,
    tokenUrl: `${url}/token`,
    control: async (name: string) => (await fetch(`${url}/control/${name}`)).json() as never,
    introspect: async (token: string) => {
      const response = await fetch(`${url}/token/introspection`, {
        method: 'POST',
        headers: { authorization: `Basic ${basic}` },
        body: new URLSearchParams({ token }),
      });
      return (await response.json()) as { active: boolean; scope?: string };
    },
  });
}

export interface Driver {
  decision?: 'allow' | 'deny';
  /** What the driver ticks at the consent page; default: everything. */
  scopes?: readonly string[];
}

/**
 * What a browser and a driver do at the sign-in page.
 * @returns the address that the browser was sent back to
 * @throws Error with the text of the page if the provider shows one instead
 */
export async function decideAtProvider(url: string, { decision = 'allow', scopes }: Driver = {}): Promise<string> {
  const { origin } = new URL(url);
  const cookies = new Map<string, string>();
  for (let address = url, steps = 0; steps < 10; steps += 1) {
    const isQuestion = new URL(address).pathname.startsWith('/interaction/');
    const form = new URLSearchParams({ decision, ...(scopes && { scope: scopes.join(' ') }) });
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map((cookie) => cookie.join('=')).join('; ') },
      ...(isQuestion && { method: 'POST', body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${response.status} ${await response.text()}`);
    address = new URL(location, address).href;
    if (new URL(address).origin !== origin) return address;
  }
  throw new Error('The provider redirects without an end.');
}

export interface ResourceService {
  readonly url: string;
  /** `<method> <path> <status>` of each request. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** The simulated service behind a gateway that asks the provider about each access token. */
export async function startResourceService(service: Simulator, provider: IdentityProvider): Promise<ResourceService> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const forward = async (): Promise<{ status: number; body: string }> => {
      const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
      const { active, scope = '' } = await provider.introspect(token);
      if (!active) return { status: 401, body: JSON.stringify({ error: { message: 'UNAUTHORIZED' } }) };
      const headers = new Headers(request.headers as Record<string, string>);
      for (const name of ['host', 'connection', 'content-length', 'transfer-encoding']) headers.delete(name);
      headers.set('authorization', `Bearer ${service.issueToken({ scopes: scope.split(' ') })}`);
      let body = '';
      for await (const part of request) body += String(part);
      const answer = await fetch(service.url + (request.url ?? ''), {
        method: request.method ?? 'GET',
        headers,
        ...(body !== '' && { body }),
      });
      return { status: answer.status, body: await answer.text() };
    };
    void forward().then(({ status, body }) => {
      requests.push(`${request.method} ${request.url} ${status}`);
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
