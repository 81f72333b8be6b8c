import { createHash } from 'node:crypto';
import { Account, type AccountOptions, type Member } from './account';
import type { OAuthClient } from './token-endpoint';

/** The accounts in use: config nodes that hold the same one share its token, and its one refresh at a time. */
export class Accounts {
  readonly #byPlace = new Map<string, Account>();
  #signIns = 0;

  /** Grows with every sign-in: who remembers the number sees that it must look again. */
  get signIns(): number {
    return this.#signIns;
  }

  join(options: AccountOptions, member: Member): Account {
    const place = placeOf(options.store.directory, options.key);
    let account = this.#byPlace.get(place);
    if (account === undefined) {
      account = new Account(options);
      this.#byPlace.set(place, account);
    }
    account.join(member);
    return account;
  }

  /** With its last member the account ends; who joins meanwhile gets a new one, and the lock of the store keeps the two in order. */
  async leave(account: Account, member: Member): Promise<void> {
    if (!account.isLast(member)) return account.leave(member);
    this.#byPlace.delete(placeOf(account.directory, account.key));
    await account.end();
  }

  /** A sign-in was saved under `key`. */
  async signedIn(directory: string, key: string): Promise<void> {
    this.#signIns += 1;
    await this.#byPlace.get(placeOf(directory, key))?.look();
  }
}

/** Shared by all config nodes of the process. */
export const accounts = new Accounts();

const placeOf = (directory: string, key: string): string => `${directory}\n${key}`;

/** What is told of a secret where it must be recognised, but not known. */
export const fingerprint = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

/** The account of a sign-in belongs to the config node that it was started from: two of them may be two people. */
export const signedInKey = (client: OAuthClient, owner: string): string => ['signed-in', client.tokenUrl, client.clientId, owner].join('\n');

/** The account of a pasted refresh token belongs to whoever holds the token, however many do: it can be spent only once. */
export const pastedKey = (client: OAuthClient, seed: string): string => ['pasted', client.tokenUrl, client.clientId, seed].join('\n');
