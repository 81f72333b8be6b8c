import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { digestOf, openVirtualSession, type Keeper } from '../support/refreshing-process';
import {
  clientSecret,
  decideAtProvider,
  providerScopes,
  redirectUrl,
  startProvider,
  type IdentityProvider,
} from './support/oidc-provider';
import { endWithLogs, newFolder } from './support/program';

const program = resolve(__dirname, '../support/refreshing-process.js');
/**
 * Access tokens live for two hours, so that a kill costs some 8 refreshes, as in a
 * year with 500 kills.
 */
const lifeSeconds = 7_200;
const refreshesForKill = 8;
/** FACTOR: so many times as many kills. */
const factor = Number(process.env['FACTOR'] ?? 1);

/**
 * The process that keeps the sign-in is killed (SIGKILL) at any moment of a refresh, and started
 * again within 20 seconds of virtual time.
 */
describe('A sign-in at oidc-provider whose process is killed', function () {
  this.timeout(120_000 * factor);
  endWithLogs();

  let provider: IdentityProvider;
  let keeper: Omit<Keeper, 'now'>;
  /**
   * `lost`: the stored refresh token was the newest. `lostUnheard`: the provider had rotated it,
   * and no process heard of that.
   */
  let report: { tokens: number; kills: number; lost: string[]; lostUnheard: string[] };

  const start = async (graceSeconds: number): Promise<void> => {
    provider = await startProvider({ lifeSeconds, graceSeconds });
    const client = { audience: provider.url, tokenUrl: provider.tokenUrl, clientId: 'car', clientSecret };
    keeper = { directory: await newFolder('sign-in'), client, configNodeId: 'car' };
    report = { tokens: 0, kills: 0, lost: [], lostUnheard: [] };
    await signIn();
  };
  afterEach(() => provider?.stop());

  const signIn = async (): Promise<void> => {
    const { directory, client, configNodeId } = keeper;
    const { session, close } = openVirtualSession({ directory, now: await provider.control('now') });
    const { authorizeUrl } = provider;
    const asked = { authorizeUrl, client, redirectUrl, scopes: providerScopes, configNodeId };
    const redirected = await decideAtProvider((await session.signIns.begin(asked)).url);
    await session.signIns.finish({ redirected });
    await close();
  };

  /**
   * One life of the process: until it is killed, or until the sign-in is lost.
   * @returns whether it was lost
   */
  const live = async (): Promise<boolean> => {
    const now = (await provider.control('now')) + 1_000 + 19_000 * Math.random();
    const child = spawn(process.execPath, [program, JSON.stringify({ ...keeper, now })], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'close');
    const refreshes = Math.ceil(2 * refreshesForKill * Math.random());
    let seen = 0;
    let isLost = false;
    for await (const line of createInterface(child.stdout)) {
      const [word, digest = '', ...why] = line.split(' ');
      if (word === 'token') report.tokens += 1;
      if (word === 'lost') {
        const newest = digestOf((await provider.control('newest')) ?? '');
        report[digest === newest ? 'lost' : 'lostUnheard'].push(why.join(' '));
        isLost = true;
      }
      seen += 1;
      if (seen !== refreshes) continue;
      await sleep(20 * Math.random());
      child.kill('SIGKILL');
      report.kills += 1;
    }
    await ended;
    return isLost;
  };

  it('is never lost if a used refresh token is accepted for another minute', async () => {
    await start(60);
    while (report.kills < 10 * factor) if (await live()) break;
    assert.deepEqual([report.lost, report.lostUnheard], [[], []]);
    assert.ok(report.tokens > 0);
  });

  it('is lost only with an answer that nobody received, if a used refresh token revokes the grant', async () => {
    await start(0);
    while (report.kills < 5 * factor) if (await live()) await signIn();
    assert.deepEqual(report.lost, []);
    assert.ok(report.tokens > 0);
  });
});
