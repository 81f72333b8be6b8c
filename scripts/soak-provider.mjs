// A virtual year of a sign-in at oidc-provider, whose process is killed again and again (SIGKILL) at any moment of a refresh and started
// again within seconds of virtual time: with a provider that accepts a used refresh token for another 60 s, and with one that then
// revokes the grant (a fifth of the kills there). Access tokens live for two hours; the provider takes its time from the requests. Arguments: days (365), kills (500),
// minutes that a run may take (20). Prints a table.
// Ends with 1 where a sign-in was lost that could be kept.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const require = createRequire(import.meta.url);
const {
  decideAtProvider,
  clientSecret,
  providerScopes,
  redirectUrl,
  startProvider,
} = require('../dist/test/world/support/oidc-provider.js');
const { digestOf, openVirtualSession } = require('../dist/test/support/refreshing-process.js');

const [days = 365, kills = 500, minutes = 20] = process.argv.slice(2).map(Number);
const day = 86_400_000;
const lifeSeconds = 7_200;
const timeLimitMs = minutes * 60_000;

const root = mkdtempSync(join(tmpdir(), 'soak-provider-'));
process.on('exit', () => rmSync(root, { recursive: true, force: true }));
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => process.exit(1));

/** One file: it starts in half the time, and it is started for each kill. */
const program = join(root, 'refreshing-process.js');
await build({
  entryPoints: [fileURLToPath(new URL('../dist/test/support/refreshing-process.js', import.meta.url))],
  outfile: program,
  bundle: true,
  platform: 'node',
  logLevel: 'error',
});

/** @param graceSeconds for which the provider accepts a used refresh token */
async function year(graceSeconds, kills) {
  /** Each kill comes after so many refreshes, on average. */
  const refreshesForKill = (days * 86_400) / (lifeSeconds + 240) / kills;
  const folder = join(root, String(graceSeconds));
  const directory = join(folder, 'state');
  mkdirSync(directory, { recursive: true });
  const provider = await startProvider({ lifeSeconds, graceSeconds }, folder);
  const began = await provider.control('now');
  let now = began;
  const until = performance.now() + timeLimitMs;
  const client = { audience: provider.url, tokenUrl: provider.tokenUrl, clientId: 'car', clientSecret };
  const report = { graceSeconds, days: 0, tokens: 0, kills: 0, without: 0, lost: 0, lostUnheard: 0, signIns: 0 };
  const reasons = new Set();

  const signIn = async () => {
    const { session, close } = openVirtualSession({ directory, now: await provider.control('now') });
    const { authorizeUrl } = provider;
    const asked = { authorizeUrl, client, redirectUrl, scopes: providerScopes, configNodeId: 'car' };
    const redirected = await decideAtProvider((await session.signIns.begin(asked)).url);
    await session.signIns.finish({ redirected });
    await close();
    report.signIns += 1;
  };

  /** One life of the process: until it is killed, or until the sign-in is lost. */
  const live = async (isOver) => {
    const startAt = (await provider.control('now')) + 1_000 + 19_000 * Math.random();
    const keeper = JSON.stringify({ directory, client, configNodeId: 'car', now: startAt });
    const child = spawn(process.execPath, [program, keeper], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const refreshes = Math.ceil(2 * refreshesForKill * Math.random());
    let seen = 0;
    let isKilled = false;
    for await (const line of createInterface(child.stdout)) {
      const [word, digest] = line.split(' ');
      if (word === 'token') {
        report.tokens += 1;
        now = Number(digest);
      }
      if (word === 'without') report.without += 1;
      if (word === 'lost') {
        const newest = digestOf((await provider.control('newest')) ?? '');
        report[digest === newest ? 'lost' : 'lostUnheard'] += 1;
        reasons.add(line.slice(line.indexOf(digest) + digest.length + 1));
      }
      seen += 1;
      if (isKilled || (seen < refreshes && !isOver())) continue;
      isKilled = true;
      await sleep(25 * Math.random());
      child.kill('SIGKILL');
      report.kills += 1;
    }
    await ended;
  };

  await signIn();
  const isLate = () => performance.now() > until;
  const isOver = () => now >= began + days * day || isLate();
  for (let isDone = false; !isDone; isDone = isOver() && (report.kills >= kills || isLate())) {
    const { lost, lostUnheard } = report;
    await live(isOver);
    if (report.lost + report.lostUnheard > lost + lostUnheard) await signIn();
  }
  report.days = Math.floor((now - began) / day);
  await provider.stop();
  return { ...report, reasons: [...reasons] };
}

const reports = await Promise.all([year(60, kills), year(0, Math.ceil(kills / 5))]);
console.table(
  reports,
  Object.keys(reports[0]).filter((name) => name !== 'reasons'),
);
for (const report of reports) {
  for (const reason of report.reasons) console.log(`grace ${report.graceSeconds} s: ${reason}`);
  const mayBeLost = report.graceSeconds === 0 ? report.lostUnheard : 0;
  if (report.lost + report.lostUnheard > mayBeLost || report.days < days) process.exitCode = 1;
}
console.log(
  'lost: the stored refresh token was the newest, so the fault would be ours. lostUnheard: the provider had rotated it, and the process was killed before the answer was saved.',
);
process.exit();
