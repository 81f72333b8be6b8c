import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../../src/clock';
import { VehicleError } from '../../../src/errors';
import type { OAuthClient, Send } from '../../../src/session/token-endpoint';

export interface IdentityOptions {
  clock: Clock;
  /** Seconds. */
  life?: number;
  /** Seconds for which a rotated refresh token is accepted once more; 0: never. */
  grace?: number;
  /** Days that an unused refresh token lives (field notes 4.2). */
  idleDays?: number;
  /** An answer without a refresh token leaves the old one valid (field notes 4.2). */
  rotates?: boolean;
}

/** What happens to the next request: an answer of its own, or a cut before or after the work was done. */
export type Fault = { status: number; body: string; headers?: Record<string, string> } | 'cut before' | 'cut after';

interface Token {
  grant: number;
  issuedAt: number;
  /** When a newer one took its place. */
  rotatedAt: number | null;
}

/** The smallest identity system that rotates: the token endpoint of field notes 4.1 and 4.2, with a clock of the test. */
export class IdentityModel {
  readonly client = { clientId: 'client-1', clientSecret: 'secret:with/odd chars' };
  readonly requests: URLSearchParams[] = [];
  readonly issued: string[] = [];
  /** Refresh tokens that were refused. */
  refusals = 0;
  faults: Fault[] = [];
  /** Runs after the work, before the answer. */
  beforeAnswer: () => void | Promise<void> = () => undefined;
  life: number;
  grace: number;
  rotates: boolean;
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #tokens = new Map<string, Token>();
  readonly #access = new Set<string>();
  readonly #codes = new Map<string, { redirectUri: string; challenge: string }>();
  #grants = 0;

  constructor(options: IdentityOptions) {
    this.#clock = options.clock;
    this.life = options.life ?? 299;
    this.grace = options.grace ?? 0;
    this.rotates = options.rotates ?? true;
    this.#idleMs = (options.idleDays ?? 7) * 86_400_000;
  }

  /** A refresh token of a new grant, as somebody would paste it. */
  newSeed(): string {
    this.#grants += 1;
    return this.#issueRefresh(this.#grants);
  }

  /** What the sign-in page does once the person has agreed. */
  authorize(url: string): string {
    const query = new URL(url).searchParams;
    const code = `code-${randomBytes(12).toString('hex')}`;
    this.#codes.set(code, { redirectUri: query.get('redirect_uri') ?? '', challenge: query.get('code_challenge') ?? '' });
    const back = new URL(query.get('redirect_uri') ?? '');
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    return back.href;
  }

  accepts(accessToken: string): boolean {
    return this.#access.has(accessToken);
  }

  /** Ends every grant, as after six months. */
  revokeAll(): void {
    this.#tokens.clear();
  }

  async handle(authorization: string, form: URLSearchParams): Promise<{ status: number; body: string; headers?: Record<string, string> } | 'cut'> {
    this.requests.push(form);
    const fault = this.faults.shift();
    if (fault === 'cut before') return 'cut';
    if (typeof fault === 'object') return fault;
    const answer = this.#answer(authorization, form);
    await this.beforeAnswer();
    return fault === 'cut after' ? 'cut' : answer;
  }

  #answer(authorization: string, form: URLSearchParams): { status: number; body: string } {
    const pair = [this.client.clientId, this.client.clientSecret].map((part) => new URLSearchParams({ '': part }).toString().slice(1)).join(':');
    if (authorization !== `Basic ${Buffer.from(pair).toString('base64')}`) return refusal(401, 'invalid_client');
    if (form.get('grant_type') === 'refresh_token') return this.#refresh(form.get('refresh_token') ?? '');
    if (form.get('grant_type') === 'authorization_code') return this.#exchange(form);
    return refusal(400, 'unsupported_grant_type');
  }

  #refresh(sent: string): { status: number; body: string } {
    const token = this.#tokens.get(sent);
    if (token === undefined || !this.#isAlive(token)) {
      this.refusals += 1;
      return refusal(400, 'invalid_grant');
    }
    if (!this.rotates) return this.#tokensFor(undefined);
    for (const other of this.#tokens.values()) {
      if (other.grant === token.grant) other.rotatedAt ??= this.#clock.now();
    }
    return this.#tokensFor(this.#issueRefresh(token.grant));
  }

  #isAlive(token: Token): boolean {
    const now = this.#clock.now();
    if (token.rotatedAt !== null) return now - token.rotatedAt < this.grace * 1000;
    return now - token.issuedAt < this.#idleMs;
  }

  #exchange(form: URLSearchParams): { status: number; body: string } {
    const code = this.#codes.get(form.get('code') ?? '');
    this.#codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
    if (code === undefined || code.challenge !== challenge || code.redirectUri !== form.get('redirect_uri')) return refusal(400, 'invalid_grant');
    return this.#tokensFor(this.newSeed());
  }

  #tokensFor(refreshToken: string | undefined): { status: number; body: string } {
    const accessToken = `access-${randomBytes(12).toString('hex')}`;
    this.#access.add(accessToken);
    this.issued.push(accessToken);
    const body = { access_token: accessToken, refresh_token: refreshToken, id_token: 'e30.e30.e30', token_type: 'Bearer', expires_in: this.life, scope: 'openid conve:lock' };
    return { status: 200, body: JSON.stringify(body) };
  }

  #issueRefresh(grant: number): string {
    const token = `refresh-${randomBytes(16).toString('hex')}`;
    this.#tokens.set(token, { grant, issuedAt: this.#clock.now(), rotatedAt: null });
    this.issued.push(token);
    return token;
  }
}

const refusal = (status: number, error: string): { status: number; body: string } => ({
  status,
  body: JSON.stringify({ error_description: 'unknown, invalid, or expired refresh token', error }),
});

/** The model behind a real server; `close` ends it. */
export async function serve(model: IdentityModel): Promise<{ client: OAuthClient; close: () => Promise<void> }> {
  const server: Server = createServer((request, response) => {
    void readAll(request).then(async (body) => {
      const answer = await model.handle(request.headers.authorization ?? '', new URLSearchParams(body));
      if (answer === 'cut') request.socket.destroy();
      else response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    client: { ...model.client, tokenUrl: `http://127.0.0.1:${port}/as/token.oauth2` },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** The model without a network, for runs of a hundred thousand requests. */
export const directly = (model: IdentityModel): Send => async (request) => {
  const answer = await model.handle(request.headers['authorization'] ?? '', new URLSearchParams(request.body ?? ''));
  if (answer === 'cut') throw new VehicleError('NETWORK', 'The service could not be reached (ECONNRESET).');
  return { headers: {}, ...answer };
};

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
