import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer } from '../service/answer';

/** The page that shows the cars, with the token that its requests need. Nothing but the page's own script runs in it. */
export function controlPage(token: string): Answer {
  // The build bundles the sources in `page/` into one file and puts it beside this one (scripts/build.mjs).
  const html = readFileSync(join(__dirname, 'page.html'), 'utf8');
  const nonce = randomBytes(16).toString('base64');
  const policy = {
    'default-src': "'none'",
    'script-src': `'nonce-${nonce}'`,
    'style-src': "'unsafe-inline'",
    'connect-src': "'self'",
    'img-src': 'data:',
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  };
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'content-security-policy': Object.entries(policy)
        .map(([name, value]) => `${name} ${value}`)
        .join('; '),
    },
    body: html.replace('{{token}}', token).replace('{{nonce}}', nonce),
  };
}
