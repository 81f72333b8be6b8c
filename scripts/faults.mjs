// `npm run faults [faults] [seed]`: random faults between real nodes and the simulated service, 2,000 or as many as asked for. Ends with
// 1 where a message was not done exactly once, a command was sent twice or reported wrongly, or a connection was left open.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { testCertificate } = createRequire(import.meta.url)('../dist/test/support/test-certificate.js');
const folder = mkdtempSync(join(tmpdir(), 'faults-'));
const certificate = join(folder, 'certificate.pem');
writeFileSync(certificate, testCertificate.cert);

spawn(
  process.execPath,
  [fileURLToPath(new URL('../dist/test/faults/run.js', import.meta.url)), ...process.argv.slice(2)],
  {
    stdio: 'inherit',
    // Node reads it at the start only.
    env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate },
  },
).on('close', (code) => {
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = code ?? 1;
});
