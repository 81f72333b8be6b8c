import {
  MemoryStateStore,
  openAccount,
  pastedToken,
  resolveService,
  type Account,
  type AccountOptions,
  type Pack,
} from '../../src/index';

/** A store that fails while it is away. */
export class AwayStore extends MemoryStateStore {
  isAway = false;

  override read(...given: Parameters<MemoryStateStore['read']>) {
    return this.isAway ? Promise.reject(new Error('away')) : super.read(...given);
  }

  override write(...given: Parameters<MemoryStateStore['write']>) {
    return this.isAway ? Promise.reject(new Error('away')) : super.write(...given);
  }
}

/**
 * An account without limits, which shares nothing and whose service answers what a test says.
 * @param body returns the next answer of the service
 * @param now the time of the service, in milliseconds since 1970
 */
export const scriptedAccount = (
  pack: Pack,
  { body, now }: { body: () => string | Promise<string>; now: () => number },
  options: Partial<AccountOptions>,
): Account =>
  openAccount({
    pack,
    service: resolveService('custom', { baseUrl: 'https://car.example' }),
    apiKey: 'demo-key',
    tokens: pastedToken('demo-token'),
    wallbox: 'WBVA1ABCD-WB24.01.2500001234',
    limits: { requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: 1e6 },
    shareForMs: 0,
    transport: {
      async send() {
        const text = await body();
        return { status: 200, headers: { date: new Date(now()).toUTCString() }, body: text };
      },
      close: () => Promise.resolve(),
    },
    ...options,
  });
