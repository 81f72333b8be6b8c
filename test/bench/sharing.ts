import { readSeveral } from '../support/account';
import { openAccount, pastedToken, resolveService, type Account } from '../../src/index';
import { reads, resourceNames } from '../../src/catalogue/reads';
import { startService, type ServiceProcess } from './processes';
import type { Row } from './table';

/**
 * One for each group of connected v2, and one for each of the six that only the
 * extended interface has.
 */
const requestsForAll = new Set(resourceNames.map((name) => reads[name].routes[0]?.request)).size;

/** What an account asks of the service, counted by the service. */
export async function sharing(): Promise<Row[]> {
  const service = await startService();
  const account = accountOf(service);
  try {
    const { vin } = service;
    await Promise.all(Array.from({ length: 1_000 }, () => account.client.read('windows', { vin })));
    const identical = await service.counts();
    // Slow enough that as many are in flight as may be.
    await service.slow(39);
    const { vehicle } = await readSeveral(account.client, resourceNames, { vin });
    const all = await service.counts();
    await service.slow(39);
    await Promise.all(resourceNames.map((name) => account.client.read(name, { vin, maxAgeMs: 0 })));
    const separate = await service.counts();
    return [
      { what: '1,000 identical reads at once: requests', value: identical.requests, atMost: 1 },
      { what: '39 resources at once: requests', value: all.requests, atMost: requestsForAll, atLeast: requestsForAll },
      { what: '39 resources at once: values', value: Object.keys(vehicle.reads).length, atLeast: 39 },
      { what: '39 resources at once: in flight', value: all.mostInFlight, atMost: 6 },
      { what: '39 resources at once: sockets', value: all.sockets, atMost: 6 },
      {
        what: '39 messages at once: requests',
        value: separate.requests,
        atMost: requestsForAll,
        atLeast: requestsForAll,
      },
      { what: '39 messages at once: sockets', value: separate.sockets, atMost: 6 },
    ];
  } finally {
    await account.close();
    await service.stop();
  }
}

export const accountOf = (service: Pick<ServiceProcess, 'url'>): Account =>
  openAccount({
    service: resolveService('custom', { baseUrl: service.url }),
    apiKey: 'demo-key',
    tokens: pastedToken('demo-token'),
    limits: { requestsPerDay: 1e9, requestsPerMinute: 1e9, commandsPerMinute: 1e9 },
  });
