import { strict as assert } from 'node:assert';
import { isReadName, VehicleError, type Account, type ReadName } from '../../../src/index';
import { parseVin } from '../../../src/vin';
import { openTestAccount, closeAccounts } from '../../support/account';
import { ManualClock } from '../../support/manual-clock';
import type { Transport } from '../../../src/http/transport';
import { ServiceInProcess } from '../../model/service-in-process';

const minute = 60_000;
const hour = 60 * minute;

const reads: readonly ReadName[] = ['doors', 'windows', 'engineRunning', 'accessibility', 'location'];

/**
 * To see the figures: OUTAGE_FIGURES=1 npx mocha --no-config --timeout 60000
 * dist/test/src/polling/outage_spec.js
 */
describe('An outage of the service', () => {
  let clock: ManualClock;
  let service: ServiceInProcess;
  let account: Account;
  let isDown: (at: number) => boolean;
  /** When requests arrived, answered or not. */
  let requests: number[];
  let answers: { read: ReadName; at: number }[];

  afterEach(closeAccounts);

  const open = (polling: 'fixed' | 'adaptive'): void => {
    clock = new ManualClock('2026-06-01T00:00:00Z');
    service = new ServiceInProcess({ clock, dialect: 'real' }, () => null);
    requests = [];
    answers = [];
    const transport: Transport = {
      send: async (request) => {
        requests.push(clock.now());
        if (!isDown(clock.now())) return service.send(request);
        return { status: 503, headers: {}, body: '{"error":{"message":"SERVICE_UNAVAILABLE"}}' };
      },
      close: () => service.close(),
    };
    account = openTestAccount(service, {
      transport,
      clock,
      polling,
      limits: { requestsPerDay: 10_000, requestsPerMinute: 100, commandsPerMinute: 10 },
    });
  };
  const start = (everyMs: number): void => {
    const vin = parseVin(service.car.vin);
    for (const read of reads)
      account.poller.start({ vin, reads: [read], everyMs }, ({ reads: due, maxAgeMs, failed }) => {
        for (const name of due)
          if (isReadName(name))
            account.read(name, { vin, maxAgeMs }).then(
              () => answers.push({ read: name, at: clock.now() }),
              (error: unknown) => failed(name, error instanceof VehicleError ? error : assert.fail(String(error))),
            );
      });
  };

  for (const polling of ['fixed', 'adaptive'] as const)
    it(`of 18 hours leaves most of the day’s quota, and each of five reads a minute is answered within five minutes after it (${polling})`, async () => {
      const end = Date.parse('2026-06-01T19:00:00Z');
      isDown = (at) => at >= end - 18 * hour && at < end;
      open(polling);
      start(minute);
      await clock.advance(25 * hour);
      const during = requests.filter((at) => isDown(at)).length;
      const firsts = reads.map((read) => {
        const first = answers.find((answer) => answer.read === read && answer.at >= end);
        return ((first?.at ?? Number.POSITIVE_INFINITY) - end) / minute;
      });
      if (process.env['OUTAGE_FIGURES'] !== undefined)
        console.log(
          `      ${during} of ${requests.length} requests during the outage, answers after ${firsts.join(', ')} min`,
        );
      assert.ok(during < 1_300, `${during} requests`);
      assert.ok(Math.max(...firsts) <= 5, `first answers after ${firsts.join(', ')} minutes`);
    }).timeout(120_000);
});
