import type { Clock } from '../../util/clock';
import { commands, requestDetails } from '../../catalogue/commands';
import { groups } from '../../catalogue/groups';
import { readNames, readScopes } from '../../catalogue/reads';

/** Every scope that the simulated service knows (docs/internals/service.md 5.2, docs/internals/vendor-api.md 4.4). */
export const everyScope: readonly string[] = [
  ...new Set([
    ...readNames.flatMap(readScopes),
    ...groups.odometer.scopes,
    ...Object.values(commands).flatMap((command): readonly string[] => command.scopes),
    ...requestDetails.scopes,
  ]),
];

interface Issued {
  scopes: ReadonlySet<string>;
  expiresAt: number;
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token in the form of a JWT. Nobody signs it: what counts is that this service issued it. */
export const jwt = (claims: object): string =>
  `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.${Buffer.from('simulated').toString('base64url')}`;

/** The access tokens that are good. */
export class Tokens {
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #issued = new Map<string, Issued>();
  readonly #issuer: () => string;
  #roomFor = 100;

  constructor(clock: Clock, newId: () => string, staticToken: string, issuer: () => string) {
    this.#clock = clock;
    this.#newId = newId;
    this.#issuer = issuer;
    this.#issued.set(staticToken, { scopes: new Set(everyScope), expiresAt: Infinity });
  }

  issue(scopes: readonly string[], lifeSeconds: number): string {
    const now = this.#clock.now();
    this.#dropExpired(now);
    const iat = Math.floor(now / 1000);
    const claims = { iss: this.#issuer(), sub: 'demo-driver', scope: scopes.join(' '), iat, exp: iat + lifeSeconds };
    const token = jwt({ ...claims, jti: this.#newId() });
    this.#issued.set(token, { scopes: new Set(scopes), expiresAt: now + lifeSeconds * 1000 });
    return token;
  }

  /** The scopes of a token, or null where it is unknown or expired. */
  scopesOf(token: string): ReadonlySet<string> | null {
    const issued = this.#issued.get(token);
    return issued !== undefined && issued.expiresAt > this.#clock.now() ? issued.scopes : null;
  }

  /** Now and then, so that a year of short-lived tokens takes no more room than a day of them. */
  #dropExpired(now: number): void {
    if (this.#issued.size < this.#roomFor) return;
    for (const [token, { expiresAt }] of this.#issued) if (expiresAt <= now) this.#issued.delete(token);
    this.#roomFor = Math.max(100, 2 * this.#issued.size);
  }
}
