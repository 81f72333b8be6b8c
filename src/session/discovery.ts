import * as z from 'zod/mini';
import type { Issuer } from '../catalogue/services';
import { endingAt } from '../util/abort';
import type { Clock } from '../util/clock';
import { dayMs, hourMs, minuteMs } from '../util/durations';
import { parseJson } from '../util/json';
import { addressFault } from '../util/loopback';
import type { Send } from './oauth';

export interface Addresses {
  authorizeUrl: string;
  tokenUrl: string;
}

/** What the pack needs of the document (OpenID Connect Discovery 1.0, 3). */
const documentSchema = z.lazy(() =>
  z.object({ issuer: z.string(), authorization_endpoint: z.string(), token_endpoint: z.string() }),
);

/** From the name lookup to the last byte: a person may wait for it. */
const timeLimitMs = 3_000;
/** How long an answer is used, and how long none is asked for after one that cannot be used. */
const usedForMs = dayMs;
const pauseMs = hourMs;
/** The same if the addresses may be wrong, or if a person signs in. */
const freshForMs = 5 * minuteMs;

/**
 * The addresses of identity services from their discovery documents. What goes wrong with one
 * delays nothing for more than the time limit, and breaks nothing: the caller has fixed addresses.
 */
export class Discovery {
  readonly #send: Send;
  readonly #clock: Clock;
  /** By the address of the issuer: the last addresses that it sent, and when it was asked last. */
  readonly #known = new Map<string, { addresses: Addresses | null; askedAt: number; isAnswered: boolean }>();
  readonly #asking = new Map<string, Promise<Addresses | null>>();

  constructor({ send, clock }: { send: Send; clock: Clock }) {
    this.#send = send;
    this.#clock = clock;
  }

  /**
   * The addresses of the issuer, or the last ones; null if it has sent none that can be trusted.
   * All callers share the request in progress.
   * @param isFresh the addresses at hand may be wrong, or a person signs in
   */
  async find(issuer: Issuer, { isFresh = false } = {}): Promise<Addresses | null> {
    const known = this.#known.get(issuer.url);
    const ageMs = this.#clock.monotonic() - (known?.askedAt ?? -Infinity);
    if (known !== undefined && ageMs < (isFresh ? freshForMs : known.isAnswered ? usedForMs : pauseMs))
      return known.addresses;
    const asking = this.#asking.get(issuer.url) ?? this.#ask(issuer, known?.addresses ?? null);
    this.#asking.set(issuer.url, asking);
    return asking;
  }

  async #ask(issuer: Issuer, before: Addresses | null): Promise<Addresses | null> {
    const answer = await this.#request(issuer).catch(() => null);
    const addresses = answer ?? before;
    this.#known.set(issuer.url, { addresses, askedAt: this.#clock.monotonic(), isAnswered: answer !== null });
    this.#asking.delete(issuer.url);
    return addresses;
  }

  async #request(issuer: Issuer): Promise<Addresses | null> {
    const url = new URL(`${issuer.url}/.well-known/openid-configuration`);
    const headers = { accept: 'application/json' };
    const { status, body } = await endingAt(this.#clock.now() + timeLimitMs, { clock: this.#clock }, (signal) =>
      this.#send({ method: 'GET', url, headers, timeoutMs: timeLimitMs, signal }),
    );
    const { data } = documentSchema.safeParse(status === 200 ? parseJson(body) : null);
    if (data?.issuer !== issuer.url) return null;
    const addresses = { authorizeUrl: data.authorization_endpoint, tokenUrl: data.token_endpoint };
    return Object.values(addresses).every((address) => isOfDomain(issuer, address)) ? addresses : null;
  }
}

/** Passwords, client secrets and refresh tokens go to no other domain, and not in the clear. */
function isOfDomain({ url, domain }: Issuer, address: string): boolean {
  if (addressFault(address, { mayHaveQuery: true }) !== null) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === new URL(url).protocol && (hostname === domain || hostname.endsWith(`.${domain}`));
}
