import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const script = join(__dirname, '../../../../scripts/simulator.mjs');

describe('npm run simulator', () => {
  const start = (env: Record<string, string>) =>
    spawn(process.execPath, [script], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`prints where it answers and what it takes, and ends cleanly on ${signal}`, async () => {
      const child = start({ PORT: '0', DIALECT: 'real' });
      let printed = '';
      for await (const chunk of child.stdout) {
        printed += String(chunk);
        if (printed.includes('Ctrl-C')) break;
      }
      const url = /answers at (http:\/\/127\.0\.0\.1:\d+)/.exec(printed)?.[1] ?? '';
      for (const part of ['demo-key', 'demo-token', 'YV4952NA4F120DEMO', 'curl -X PATCH'])
        assert.ok(printed.includes(part), part);
      const control = (await (await fetch(`${url}/control`)).json()) as { dialect: string };
      assert.equal(control.dialect, 'real');
      child.kill(signal);
      assert.deepEqual(await once(child, 'exit'), [0, null]);
    });
  }

  it('says what is wrong with its settings', async () => {
    for (const env of [{ PORT: 'eighty' }, { DIALECT: 'fancy' }]) {
      const child = start({ PORT: '0', ...env });
      let printed = '';
      child.stderr.on('data', (chunk) => (printed += String(chunk)));
      assert.deepEqual(await once(child, 'close'), [1, null]);
      assert.match(printed, /PORT must be a number and DIALECT plain or real/);
    }
  });
});
