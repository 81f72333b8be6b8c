import { createHash } from 'node:crypto';
import { createTransport } from '../../src/http/transport';
import type { VehicleError } from '../../src/errors';
import { createTokenSource } from '../../src/session/create-token-source';
import { GrantStore, signInKey } from '../../src/session/grant-store';
import type { OAuthClient } from '../../src/session/oauth';
import { Session } from '../../src/session/session';
import { Seal } from '../../src/state/seal';
import { ManualClock } from './manual-clock';
import { unsyncedFiles } from './sealed-files';

/** What a process needs to keep a sign-in. */
export interface Keeper {
  directory: string;
  client: OAuthClient;
  configNodeId: string;
  /** Milliseconds since 1970, in virtual time. */
  now: number;
}

/** A session whose time is virtual: each request carries it to the provider. */
export function openVirtualSession({ directory, now }: Pick<Keeper, 'directory' | 'now'>) {
  const clock = new ManualClock(now);
  const transport = createTransport();
  const store = new GrantStore({ state: unsyncedFiles([new Seal('credential secret')], directory) });
  const session = new Session({
    store,
    clock,
    send: (request) =>
      transport.send({ ...request, headers: { ...request.headers, 'x-now': String(Math.round(clock.now())) } }),
  });
  return { clock, session, store, close: () => transport.close() };
}

/** Recognizes a refresh token in what a process prints. */
export const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * A separate process that refreshes a sign-in again and again, in virtual time, until it is killed.
 * It prints a line for each token: `token` and the time, `without` and why, or at the end `lost`
 * and the digest of the refresh token that is stored. Argument: a `Keeper` as JSON.
 */
async function keep({ directory, client, configNodeId, now }: Keeper): Promise<void> {
  const { clock, session, store } = openVirtualSession({ directory, now });
  const tokens = createTokenSource({ client, configNodeId, session });
  for (;;) {
    try {
      await clock.until(tokens.get(), 5);
      console.log(`token ${clock.now()}`);
      const { expiresAt } = tokens.describe();
      const left = Date.parse(expiresAt ?? '') - clock.now();
      // Now and then it is refreshed ahead of its end, in the background.
      await clock.advance(left + (Math.random() < 0.2 ? -30_000 : 600_000 * Math.random()));
    } catch (error) {
      const { code, message, retryAt } = error as VehicleError;
      if (code === 'SIGN_IN_REQUIRED') {
        const stored = await store.read(signInKey(client, configNodeId));
        console.log(`lost ${digestOf(stored?.grant.refreshToken ?? '')} ${message}`);
        process.exit(0);
      }
      console.log(`without ${code} ${message}`);
      await clock.advance(Math.max(1_000, (retryAt?.getTime() ?? 0) - clock.now()));
    }
  }
}

if (require.main === module) void keep(JSON.parse(process.argv[2] ?? '') as Keeper);
