import { FileStateStore } from '../../src/index';

/** The child of a test with several processes: counts up in the store, on condition of the version. */
const [, , directory = '', times = '0'] = process.argv;

async function main(): Promise<void> {
  const store = new FileStateStore({ directory });
  for (let done = 0; done < Number(times);) {
    const stored = await store.read('grant/count');
    const next = Number(stored?.value ?? 0) + 1;
    if ((await store.write('grant/count', next, { expected: stored?.version ?? null })) !== null) done += 1;
  }
}

void main();
