import { randomUUID } from 'node:crypto';
import { apiOfRead, type AnyReadName } from './catalogue/reads';
import type { ServiceProfile } from './catalogue/services';
import { VehicleClient, type ReadOptions, type VehicleObserver } from './client';
import { Dispatcher } from './commands/dispatcher';
import { VehicleError } from './errors';
import { journalReading } from './commands/log';
import type { JournalEntry } from './commands/logged-command';
import { Requests, type LoggedRequest } from './http/requests';
import type { Reading } from './car/reading';
import { Poller } from './polling/poller';
import type { QuotaSnapshot } from './http/rate-limiter';
import type { Quota } from './http/quota-counts';
import { isHeaderSafe, unusable, type TokenDescription, type TokenSource } from './http/token-source';
import { Pack } from './pack';
import type { AnonymousAnswer } from './wire/anonymous';
import { connectionNotes, type ConnectionNotes } from './http/environment';
import { createTransport, type Transport } from './http/transport';

export interface AccountOptions {
  /** What it shares with other accounts. Default: nothing. */
  pack?: Pack;
  /** As `resolveService` gives it. */
  service: ServiceProfile;
  apiKey: string;
  /** A function is called when the other options have been checked. */
  tokens: TokenSource | (() => TokenSource);
  /** Accounts with the same API key and the same `tokenOwner` share readings. Default: shared with no other account. */
  tokenOwner?: string;
  readOnly?: boolean;
  /** The id of the wallbox, as a person entered it. Default: none. */
  wallbox?: string | undefined;
  /** Counted over all accounts with the same API key at the same service; the strictest limits hold. */
  limits: Quota;
  /** How old another reader's answer may be, in milliseconds; with 0, every read is a request of its own. Default 5000. */
  shareForMs?: number;
  /** `adaptive` polls as often as the activity of the car gives reason to (src/polling/profile.ts). Default `fixed`. */
  polling?: 'fixed' | 'adaptive';
  /** Closed with the account. */
  transport?: Transport;
  /** 0 to 1, for the jitter of pauses. */
  random?: () => number;
  /** Gets every reading and every command of the account. */
  observer?: VehicleObserver;
  /** Names the account in the log of the commands. Default: a name that no other account has. */
  id?: string;
  /** Is called with a sentence for the user that is not part of a message. */
  warn?: (sentence: string) => void;
}

/** A client with everything that it uses; `close` ends all of it. */
export interface Account {
  client: VehicleClient;
  /** Decides when to read again. */
  poller: Poller;
  /** Sends commands one at a time to each car and keeps the journal; which a client does not. */
  dispatcher: Dispatcher;
  /** The last 100 commands of the account, newest first. @throws StateFault */
  journal(): Promise<JournalEntry[]>;
  /**
   * Reads the vehicle, or what the pack keeps itself. `clear` empties the journal first.
   * @throws VehicleError
   */
  read(name: AnyReadName, options: ReadOptions & { clear?: boolean }): Promise<Reading>;
  quota(): QuotaSnapshot;
  /** Until when the service has blocked the API of a read, in milliseconds since 1970; null if it has not. */
  blockedUntil(read: AnyReadName): number | null;
  token(): TokenDescription;
  /** Until when the sign-in lasts, in milliseconds since 1970, and whether only a person can help; null where that is not known. */
  signIn(): { endsAt: number | null; isRequired: boolean | null };
  /** Why nothing works until a person acts, as far as it is known without a request; null while all is well. */
  cause(): 'API_KEY_REFUSED' | 'SIGN_IN_REQUIRED' | 'NOT_SIGNED_IN' | null;
  /**
   * Gets a token although no request needs one: `token()` then shows a sign-in that was just made.
   * @throws VehicleError if there is none
   */
  refreshToken(signal?: AbortSignal): Promise<void>;
  /** How requests reach the service. */
  readonly connection: ConnectionNotes;
  /** The last requests, oldest first, safe to show. */
  recentRequests(): LoggedRequest[];
  /** The last answer of each address, without VIN, position, ids and addresses. */
  lastAnswers(): AnonymousAnswer[];
  close(): Promise<void>;
}

/**
 * Builds an account: transport, rate limiter, shared reads, token, client.
 * @throws VehicleError CONFIG where the key is missing or cannot be sent
 */
export function openAccount(options: AccountOptions): Account {
  const { pack = new Pack() } = options;
  const { clock, facts, log, redactor } = pack;
  const apiKey = options.apiKey.trim();
  if (apiKey === '')
    throw new VehicleError(
      'CONFIG',
      'The API key is missing. Enter the key of your application in the vehicle configuration.',
      { status: { word: 'API_KEY_MISSING' } },
    );
  if (!isHeaderSafe(apiKey)) throw new VehicleError('CONFIG', unusable('API key'));
  const transport = options.transport ?? createTransport({ clock });
  const tokens = typeof options.tokens === 'function' ? options.tokens() : options.tokens;
  const { limits, tokenOwner = randomUUID(), id = tokenOwner, service } = options;
  const { limiter, shared } = pack.stateOfKey(service.baseUrl, apiKey);
  const endUse = limiter.use(limits);
  const endPresence = pack.presence.use();
  const shareForMs = options.shareForMs ?? 5_000;
  const requests = new Requests({
    apiKeyHeader: service.apiKeyHeader,
    apiKey,
    tokens,
    limiter,
    shared,
    tokenOwner,
    shareForMs,
    transport,
    redactor,
    clock,
    random: options.random ?? Math.random,
  });
  const poller = new Poller({
    id: tokenOwner,
    adaptive: options.polling === 'adaptive',
    availableInterfaces: service.availableInterfaces,
    // Somebody who tries a demo car clicks it and waits, and it has no quota.
    ...(service.service === 'demo' && { longestMs: 15_000 }),
    quota() {
      const { readsPerDay: perDay, readsPerMinute: perMinute } = limiter.snapshot();
      return { perDay, perMinute, sent: (api) => limiter.sentToday(api) };
    },
    shareForMs,
    clock,
  });
  const observers = [poller, ...(options.observer ? [options.observer] : [])];
  const client = new VehicleClient({ service, requests, observers, facts, clock, wallbox: options.wallbox });
  const journal = (): Promise<JournalEntry[]> => log.journal(id);
  const dispatcher = new Dispatcher({
    client,
    requests,
    observers,
    readOnly: options.readOnly ?? false,
    turns: pack.turnsFor(service.baseUrl),
    log,
    account: id,
    clock,
    onLocked: (vin) => poller.commandLocked(vin),
    onSaveFailed: () =>
      options.warn?.(
        'The command journal could not be written to disk. After a restart it may lack the last commands. Free space on the disk of Node-RED.',
      ),
  });
  return {
    client,
    dispatcher,
    journal,
    poller,
    async read(name, { clear = false, ...read }) {
      if (name !== 'journal') return client.read(name, read);
      if (clear) await log.clear(id);
      return journalReading(await journal(), new Date(clock.now()), redactor.text);
    },
    quota: () => limiter.snapshot(),
    blockedUntil: (read) => (read === 'journal' ? null : limiter.blockedUntil(apiOfRead(read))),
    token: () => tokens.describe(),
    signIn() {
      const { endsAt, signInRequiredSince } = tokens.describe();
      return {
        endsAt: endsAt === null ? null : Date.parse(endsAt),
        isRequired: signInRequiredSince !== null || requests.isKeyRefused,
      };
    },
    cause() {
      const { kind, signInRequiredSince } = tokens.describe();
      if (kind === 'none') return 'NOT_SIGNED_IN';
      if (signInRequiredSince !== null) return 'SIGN_IN_REQUIRED';
      return requests.isKeyRefused ? 'API_KEY_REFUSED' : null;
    },
    refreshToken: (signal) => tokens.get(signal).then(() => undefined),
    connection: connectionNotes(new URL(service.baseUrl)),
    recentRequests: () => requests.recent(),
    lastAnswers: () => requests.answers(),
    async close() {
      poller.close();
      requests.close();
      const commandsEnded = dispatcher.close();
      await endUse();
      await tokens.close();
      await transport.close();
      await commandsEnded;
      await endPresence();
    },
  };
}
