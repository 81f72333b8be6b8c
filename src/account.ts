import type { ServiceProfile } from './catalogue/services';
import { VehicleClient } from './client';
import { systemClock, type Clock } from './clock';
import { VehicleError } from './errors';
import { RequestCore } from './request/core';
import { recordExchanges, type Exchange } from './request/exchanges';
import { createBudget, type Budget, type BudgetSnapshot } from './request/quota';
import { createSharedReads } from './request/shared-reads';
import { isHeaderSafe, unusable, type TokenDescription, type TokenSource } from './session/tokens';
import { createTransport, type Transport } from './transport';

export interface AccountOptions {
  /** As `resolveService` gives it. */
  service: ServiceProfile;
  apiKey: string;
  /** Or what makes it, with the account's own way to the token endpoint. */
  tokens: TokenSource | ((send: Transport['send']) => TokenSource);
  readOnly?: boolean;
  limits: { requestsPerDay: number; requestsPerMinute: number; commandsPerMinute: number };
  clock?: Clock;
  /** Closed with the account. */
  transport?: Transport;
  /** 0 to 1, for the jitter of pauses. */
  random?: () => number;
}

/** A client, and what it stands on: everything is ended by `close`. */
export interface Account {
  client: VehicleClient;
  quota(): BudgetSnapshot;
  token(): TokenDescription;
  /** The last requests, oldest first, safe to show. */
  exchanges(): Exchange[];
  close(): Promise<void>;
}

/**
 * Puts an account together: transport, budget, shared reads, token, client.
 * @throws VehicleError CONFIG where the key is missing or cannot be sent
 */
export function openAccount(options: AccountOptions): Account {
  const clock = options.clock ?? systemClock;
  const apiKey = options.apiKey.trim();
  if (apiKey === '') throw new VehicleError('CONFIG', 'There is no API key. Enter the key of your application in the vehicle configuration.');
  if (!isHeaderSafe(apiKey)) throw new VehicleError('CONFIG', unusable('API key'));
  const transport = recordExchanges(options.transport ?? createTransport(clock), clock);
  const tokens = typeof options.tokens === 'function' ? options.tokens(transport.send) : options.tokens;
  const budget: Budget = createBudget({ ...options.limits, clock });
  const core = new RequestCore({
    apiKeyHeader: options.service.apiKeyHeader,
    apiKey,
    tokens,
    budget,
    shared: createSharedReads({ clock }),
    transport,
    clock,
    ...(options.random && { random: options.random }),
  });
  return {
    client: new VehicleClient({ service: options.service, core, readOnly: options.readOnly ?? false, clock }),
    quota: () => budget.snapshot(),
    token: () => tokens.describe(),
    exchanges: () => transport.recent(),
    async close() {
      await budget.close();
      // Before the transport: the answer to a refresh under way may hold the only valid refresh token.
      await tokens.close();
      await transport.close();
    },
  };
}
