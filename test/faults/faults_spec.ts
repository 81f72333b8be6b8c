import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isLong } from '../support/long';
import { testCertificate } from '../support/test-certificate';
import { removeFolder } from '../support/remove-folder';

describe('Faults between the nodes and the service', function () {
  this.timeout(isLong ? 1_200_000 : 240_000);

  const count = isLong ? 500 : 40;

  it(`break no promise: ${count} random ones`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'faults-'));
    try {
      const certificate = join(folder, 'certificate.pem');
      writeFileSync(certificate, testCertificate.cert);
      const { stdout } = await promisify(execFile)(process.execPath, [join(__dirname, 'run.js'), String(count), '1'], {
        env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate },
      });
      const report = JSON.parse(stdout.slice(stdout.indexOf('{\n'))) as { faults: number; broken: string[] };
      assert.deepEqual(report.broken, []);
      assert.ok(report.faults >= count);
    } finally {
      await removeFolder(folder);
    }
  });
});
