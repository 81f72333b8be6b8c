import { TokenStore } from '../../../src/session/store';

/** A process of its own: counts up in the store, telling each number once it is saved. Arguments: directory, account, times. */
async function hammer([directory = '', account = '', times = '']: string[]): Promise<void> {
  const store = new TokenStore({ directory, secret: 'credential secret' });
  for (let time = 0; time < Number(times); time++) {
    const count = await store.exclusive(account, async (locked) => {
      const stored = await locked.read();
      const next = Number(stored?.refreshToken.slice('refresh-'.length) ?? 0) + 1;
      await locked.prepare();
      await locked.save(
        {
          refreshToken: `refresh-${next}`,
          accessToken: '',
          expiresAt: null,
          scopes: null,
          refreshedAt: 0,
          outdated: [],
        },
        stored?.generation ?? 0,
      );
      return next;
    });
    await new Promise<void>((resolve) => process.send?.(count, () => resolve()));
  }
  process.disconnect();
}

void hammer(process.argv.slice(2));
