import * as z from 'zod/mini';
import { VehicleError } from '../errors';
import { asSentence, clockTime, sentence, type Sentence } from '../sentence';
import { hashed, StateFault, type StateStore } from '../state/state-store';
import { trimmed, type OAuthClient } from './oauth';

/** The stored part of a sign-in. Times in milliseconds since 1970. */
const grantSchema = z.lazy(() =>
  z.object({
    /** Counts the refreshes, so that the later of two grants is known. */
    generation: z.int(),
    /** Empty if the sign-in returned none: then it ends with its access token. */
    refreshToken: z.string(),
    /** Empty if the last answer had none. */
    accessToken: z.string(),
    /** Null if the service does not name it. */
    expiresAt: z.nullable(z.number()),
    scopes: z.nullable(z.array(z.string())),
    /** The last refresh, or the sign-in. */
    refreshedAt: z.number(),
    signedInAt: z.number(),
    /** The hash of the access token that was pasted before the sign-in; empty if there was none. */
    pastedBefore: z.string(),
    /** The process that refreshes, until an answer is saved. Empty: none came, any repeats it. */
    refreshing: z.nullable(z.string()),
  }),
);
export type Grant = z.infer<typeof grantSchema>;

export type SavedSignIn = Omit<Grant, 'generation' | 'refreshing'>;

export interface StoredGrant {
  grant: Grant;
  version: string;
}

export interface GrantStoreOptions {
  /**
   * With a shared store, only processes of one scope (`RedisStateStoreOptions.scope`) share a
   * sign-in, although a config node has the same id in every copy of a flow. Default: there is one
   * scope.
   */
  scope?: string;
  /** Encrypts what it stores. */
  state: StateStore;
  /** Called with every secret before it is stored or used, so that a redactor knows it. */
  onSecret?: (secret: string) => void;
}

/** Every fault of the store is CONFIG and states what to do. */
export class GrantStore {
  /** Encrypts what it stores. */
  readonly state: StateStore;
  readonly #options: GrantStoreOptions;

  constructor(options: GrantStoreOptions) {
    this.state = options.state;
    this.#options = options;
  }

  learn(secret: string): void {
    this.#options.onSecret?.(secret);
  }

  /** @throws VehicleError CONFIG */
  async read(key: string): Promise<StoredGrant | null> {
    const stored = await withSentence(() => this.state.read(this.#entryOf(key)));
    return stored === null ? null : { grant: this.#parse(stored.value), version: stored.version };
  }

  /**
   * Saves a grant if `expected` is the stored version (null: nothing is stored; undefined: in any
   * case).
   * @returns null if the stored version is another one
   * @throws VehicleError CONFIG
   */
  async write(key: string, grant: Grant, expected?: string | null): Promise<StoredGrant | null> {
    this.#learnTokens(grant);
    const version = await withSentence(() => this.state.write(this.#entryOf(key), grant, { expected }));
    return version === null ? null : { grant, version };
  }

  /** @throws VehicleError CONFIG */
  async remove(key: string): Promise<void> {
    await withSentence(() => this.state.remove(this.#entryOf(key)));
  }

  /** The key names addresses and a config node, so only its hash is written in plain. */
  #entryOf(key: string): string {
    const { scope = '' } = this.#options;
    const scoped = scope === '' ? key : `${key}\n${scope}`;
    return `${collection}/${hashed(scoped)}`;
  }

  #parse(value: unknown): Grant {
    const parsed = grantSchema.safeParse(value);
    if (!parsed.success) throw unreadable(new StateFault('damaged', collection));
    this.#learnTokens(parsed.data);
    return parsed.data;
  }

  #learnTokens({ refreshToken, accessToken }: Grant): void {
    for (const token of [refreshToken, accessToken]) if (token !== '') this.learn(token);
  }
}

/** The warning while a sign-in without a refresh token lasts. Milliseconds since 1970. */
export const briefSignIn = (expiresAt: number | null, now: number): Sentence =>
  expiresAt === null
    ? asSentence(
        'The service returned no refresh token, so the sign-in ends without notice. If every sign-in is this short, enter offline_access under “More scopes”, deploy, and sign in again.',
      )
    : sentence`The service returned no refresh token, so the sign-in ends: ${clockTime(expiresAt, now)}. If every sign-in is this short, enter offline_access under “More scopes”, deploy, and sign in again.`;

/** Recognizes a pasted access token without holding it; empty if there is none. */
export const hashOf = (pasted: string): string => pasted.trim() && hashed(pasted.trim());

/**
 * The grant of a sign-in belongs to the config node that it was started from: two config nodes may
 * be two people. It is for one service:
 * at another address there is no sign-in.
 */
export function signInKey(client: OAuthClient, configNodeId: string): string {
  const { audience, tokenUrl, clientId } = trimmed(client);
  return ['signed-in', audience, tokenUrl, clientId, configNodeId].join('\n');
}

const collection = 'sign-in';

async function withSentence<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof StateFault ? unreadable(error) : error;
  }
}

const sentences: Partial<Record<StateFault['fault'], string>> = {
  damaged:
    'The saved sign-in is damaged and cannot be read. A backup does not help, because its refresh token has been used. Sign in again in the vehicle configuration.',
  foreign:
    "The saved sign-in was encrypted with another secret. Put the previous credentialSecret back into Node-RED's settings, or the previous store.key into its folder, or sign in again in the vehicle configuration.",
  newer:
    'The saved sign-in was written by a newer version of this pack. Update the pack, or sign in again in the vehicle configuration.',
};

/** States what to do; a shared store states it itself. */
function unreadable(fault: StateFault): VehicleError {
  const problem =
    fault.fault === 'inaccessible'
      ? sentence`The saved sign-in cannot be read or written (${fault.systemCode || 'unknown fault'}). Make the folder "connected-vehicle" in Node-RED's user directory readable and writable for the user that runs Node-RED, with free space on its disk.`
      : sentences[fault.fault];
  return problem === undefined ? fault : new VehicleError('CONFIG', problem, { cause: fault });
}
