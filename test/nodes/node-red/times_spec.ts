import { strict as assert } from 'node:assert';
import { pastedToken, type VehicleError } from '../../../src/index';
import { demoCar, startSimulator, type Simulator } from '../../support/simulator';
import type { FollowUpdate } from '../../../src/commands/follow';
import { closeAccounts, follow, openTestAccount } from '../../support/account';
import { ManualClock } from '../../support/manual-clock';
import { useTimeZone } from '../../support/time-zone';
import { wordsIn } from '../../support/words';
import { failureOf } from '../../support/failure';

const { vin } = demoCar;

describe('The times in sentences for a driver', () => {
  let service: Simulator | undefined;

  useTimeZone('Europe/Berlin');
  afterEach(async () => {
    await closeAccounts();
    await service?.close();
    service = undefined;
  });

  /** English and German: the sentence at one time about a token that expired at another. */
  const expired = (at: string, now: string): string[] => {
    const claims = Buffer.from(JSON.stringify({ exp: Date.parse(at) / 1000 })).toString('base64url');
    const problem = pastedToken(`e30.${claims}.x`, { clock: new ManualClock(now) }).describe().problem;
    assert.ok(problem);
    return ['en-US', 'de'].map((language) => /\((.*?)\)/.exec(wordsIn(language).translate(problem))?.[1] ?? '');
  };

  it('are local, and of today without the date', () => {
    assert.deepEqual(expired('2026-11-22T13:05:43Z', '2026-11-22T22:59:00Z'), ['14:05', '14:05']);
    process.env['TZ'] = 'America/St_Johns';
    assert.deepEqual(expired('2026-11-22T13:05:43Z', '2026-11-22T22:59:00Z'), ['09:35', '09:35']);
  });

  it('have the date on another day, in each language', () => {
    assert.deepEqual(expired('2026-11-22T23:05:00Z', '2026-11-24T12:00:00Z'), ['23 Nov, 00:05', '23. Nov., 00:05']);
    assert.deepEqual(expired('2025-11-24T12:05:00Z', '2026-11-24T12:05:00Z'), ['24 Nov, 13:05', '24. Nov., 13:05']);
    const months = (language: number): string[] =>
      Array.from({ length: 12 }, (_, month) => {
        const day = new Date(Date.UTC(2026, month, 1, 12)).toISOString();
        return expired(day, '2027-06-15T12:00:00Z')[language]?.split(/[ ,]+/)[1] ?? '';
      });
    assert.equal(months(0).join(' '), 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec');
    assert.equal(months(1).join(' '), 'Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.');
  });

  /** The result of a command that is sent at this time. */
  const resultOf = async (command: string, clock: ManualClock): Promise<FollowUpdate> => {
    service = await startSimulator({ clock });
    const { client } = openTestAccount(service, { clock });
    const record = await clock.until(client.send(command, { vin, interface: command === 'unlock' ? 'v1' : 'auto' }));
    const read = async (): Promise<FollowUpdate> => {
      for await (const update of follow(record, { client, clock })) if (update.settled) return update;
      throw new Error('never settled');
    };
    return clock.until(read());
  };

  it('say until when the climate control is assumed to be on, while the value stays ISO', async () => {
    const { reason, report } = await resultOf('climatization-start', new ManualClock('2026-11-22T22:50:00Z'));
    assert.match(report.assumedUntil ?? '', /^2026-11-22T23:20:\d\d\.\d{3}Z$/);
    assert.equal(
      report.reason,
      'The car carried out the command. The car does not report whether the climate control is still on. It is assumed to be on until 23 Nov, 00:20.',
    );
    assert.equal(
      wordsIn('de').translate(reason),
      'Das Auto hat den Befehl ausgeführt. Ob die Klimatisierung noch läuft, meldet das Auto nicht. Vermutlich läuft sie bis 23. Nov., 00:20.',
    );
  });

  it('say until when the tailgate can be opened', async () => {
    const { reason, report } = await resultOf('unlock', new ManualClock('2026-11-22T13:03:50Z'));
    assert.match(report.reason, /Open it before 14:0\d\.$/);
    assert.match(wordsIn('de').translate(reason), /Öffnen Sie sie vor 14:0\d\.$/);
  });

  it('say when the command was sent that another one waits for', async () => {
    const clock = new ManualClock('2026-11-22T13:05:00Z');
    service = await startSimulator({ clock });
    service.faults.add({ match: { method: 'POST' }, times: 1, status: 503, body: {} });
    const { dispatcher } = openTestAccount(service, { clock });
    await dispatcher.send('lock', { vin });
    const refused = await failureOf(dispatcher.send('honk', { vin }));
    assert.match(refused.message, /\(lock, sent at 14:05\)/);
    assert.match(wordsIn('de').translate(refused.sentence), /\(lock, gesendet um 14:05\)/);
  });

  it('round the time of the next request up to a minute', async () => {
    const clock = new ManualClock('2026-11-22T13:04:10Z');
    service = await startSimulator({ clock });
    const { client } = openTestAccount(service, { clock });
    service.faults.add({ match: {}, times: 1, error: 'quota', refillIn: '01:00:20' });
    const failures: string[] = [];
    for (const _ of [1, 2])
      await client.read('doors', { vin }).catch((error: VehicleError) => failures.push(error.message));
    assert.match(failures[1] ?? '', /The next request can be sent at 15:05\.$/);
  });
});
