// Asks the flow library to read the package again: `node scripts/library.mjs`, which the workflow
// release.yml runs after a release. The library has no other way than the form of
// https://flows.nodered.org/add/node, which needs no account. Arguments: the addresses of the
// library and of the registry, and the milliseconds between two looks.
import { setTimeout } from 'node:timers/promises';
import { jsonOf } from './checkout.mjs';

const { name, version } = await jsonOf('package.json');
const [library, registry, pauseMs = '15000'] = process.argv.slice(2);
const mostTries = 40;

/**
 * npm shows a version to others some time after it took it. The library would find the one before.
 */
async function waitForNpm() {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const response = await fetch(`${registry.replace(/\/$/, '')}/${name.replace('/', '%2f')}/${version}`);
    await response.body?.cancel();
    if (response.ok) return;
    await setTimeout(Number(pauseMs));
  }
  throw new Error(`npm does not show ${name} ${version}. Ask the library when it does: ${library}/add/node`);
}

async function askLibrary() {
  const form = await fetch(`${library}/add/node`);
  const [, token] = /id="add-node-csrf"[^>]*\bvalue="([^"]*)"/.exec(await form.text()) ?? [];
  if (!token) throw new Error(`The form of the library has changed. Enter ${name} by hand: ${library}/add/node`);
  const cookies = form.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
  const body = new URLSearchParams({ module: name, _csrf: token });
  const answer = await fetch(`${library}/add/node`, { method: 'POST', headers: { cookie: cookies.join('; ') }, body });
  const text = await answer.text();
  // The library also reads new packages without being asked, and may have been first.
  if (!answer.ok && !text.includes('already at latest version'))
    throw new Error(
      `The library answers ${answer.status} (${text.slice(0, 200)}). Enter ${name} by hand: ${library}/add/node`,
    );
}

try {
  await waitForNpm();
  await askLibrary();
  console.log(`The flow library shows ${name} ${version}.`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
