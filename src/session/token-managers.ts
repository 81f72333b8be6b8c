import { createHash } from 'node:crypto';
import { GrantKeeper, type KeeperOptions, type Member } from './token-manager';
import type { OAuthClient } from './token-endpoint';

/** The accounts in use: config nodes that hold the same one share its token, and its one refresh at a time. */
export class GrantKeepers {
  readonly #byPlace = new Map<string, GrantKeeper>();
  /** Of those that ended: who takes over must hurry to ask again. */
  readonly #unanswered = new Map<string, number | null>();
  #signIns = 0;

  /** Grows with every sign-in: who remembers the number sees that it must look again. */
  get signIns(): number {
    return this.#signIns;
  }

  join(options: Omit<KeeperOptions, 'unanswered'>, member: Member): GrantKeeper {
    const place = placeOf(options.store.directory, options.key);
    let keeper = this.#byPlace.get(place);
    if (keeper === undefined) {
      keeper = new GrantKeeper({ ...options, unanswered: this.#unanswered.get(place) ?? null });
      this.#byPlace.set(place, keeper);
    }
    keeper.join(member);
    return keeper;
  }

  /** With its last member the keeper ends; who joins meanwhile gets a new one, and the lock of the store keeps the two in order. */
  async leave(keeper: GrantKeeper, member: Member): Promise<void> {
    if (!keeper.isLast(member)) return keeper.leave(member);
    const place = placeOf(keeper.directory, keeper.key);
    this.#byPlace.delete(place);
    this.#unanswered.set(place, keeper.unanswered);
    await keeper.end();
  }

  /** A sign-in was saved under `key`. */
  async signedIn(directory: string, key: string): Promise<void> {
    this.#signIns += 1;
    await this.#byPlace.get(placeOf(directory, key))?.look();
  }
}

/** Shared by all config nodes of the process. */
export const keepers = new GrantKeepers();

const placeOf = (directory: string, key: string): string => `${directory}\n${key}`;

/** What is told of a secret where it must be recognised, but not known. */
export const fingerprint = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

/**
 * The account of a sign-in belongs to the config node that it was started from: two of them may be two people. It is for
 * one service: at another address there is no sign-in, whatever else is the same.
 */
export const signedInKey = (client: OAuthClient, owner: string): string =>
  ['signed-in', client.audience, client.tokenUrl, client.clientId, owner].join('\n');

/** The account of a pasted refresh token belongs to whoever holds the token, however many do: it can be spent only once. */
export const pastedKey = (client: OAuthClient, seed: string): string =>
  ['pasted', client.tokenUrl, client.clientId, seed].join('\n');
