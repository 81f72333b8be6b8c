import { openAccount, pastedToken, resolveService, type Account, type AccountOptions } from '../../src/index';
import type { ServiceName } from '../../src/catalogue/services';
import type { Simulator } from '../../src/simulator/index';

/** Every account of a test, ended by `closeAccounts`. */
const accounts: Account[] = [];

type Changes = Partial<Omit<AccountOptions, 'service'>> & {
  service?: ServiceName;
  token?: string;
  settings?: Record<string, string>;
};

/** An account on a simulated service, as a `custom` configuration gives it; limits out of the way unless asked for. */
export function openTestAccount(
  simulator: Pick<Simulator, 'url'>,
  { service = 'custom', token = 'demo-token', settings = {}, ...changes }: Changes = {},
): Account {
  const account = openAccount({
    service: resolveService(service, { baseUrl: simulator.url, ...settings }),
    apiKey: 'demo-key',
    tokens: pastedToken(token),
    limits: { requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: 1e6 },
    random: () => 0,
    ...changes,
  });
  accounts.push(account);
  return account;
}

export const closeAccounts = async (): Promise<void> =>
  void (await Promise.all(accounts.splice(0).map((account) => account.close())));
