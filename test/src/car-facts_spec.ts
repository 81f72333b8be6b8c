import { strict as assert } from 'node:assert';
import { MemoryStateStore } from '../../src/index';
import { startSimulator, type Simulator } from '../../src/simulator/index';
import { closeAccounts, openTestAccount } from '../support/account';

describe('A car without a sunroof', () => {
  let service: Simulator;
  const store = new MemoryStateStore();
  /** As after a restart: nothing is remembered but what is stored. */
  const restarted = async (): Promise<MemoryStateStore> => {
    const copy = new MemoryStateStore();
    for (const key of await store.list('car/')) await copy.write(key, (await store.read(key))?.value);
    return copy;
  };
  const windows = async (sunroof: string | null, others = 'CLOSED', from = store) => {
    const car = service.car();
    car.set({
      windows: { frontLeft: others, frontRight: 'CLOSED', rearLeft: 'CLOSED', rearRight: 'CLOSED', sunroof } as never,
    });
    const { client } = openTestAccount(service, { shareForMs: 0, store: from });
    const { unknown, absent, allClosed } = (await client.windows({ vin: car.vin, interface: 'v2' })).vehicle;
    return { unknown, absent, allClosed };
  };

  before(async () => {
    service = await startSimulator({ dialect: 'real' });
  });
  afterEach(closeAccounts);
  after(() => service.close());

  it('has an absent sunroof, and all its windows can be closed', async () => {
    assert.deepEqual(await windows('UNSPECIFIED'), { unknown: [], absent: ['sunroof'], allClosed: true });
  });

  it('has an unknown sunroof while its other windows are unknown, too', async () => {
    assert.deepEqual(await windows('UNSPECIFIED', 'UNSPECIFIED'), {
      unknown: ['frontLeft', 'sunroof'],
      absent: undefined,
      allClosed: null,
    });
  });

  it('has one as soon as its state was known once, also after a restart', async () => {
    assert.deepEqual(await windows('CLOSED'), { unknown: [], absent: undefined, allClosed: true });
    const unknown = { unknown: ['sunroof'], absent: undefined, allClosed: null };
    assert.deepEqual(await windows('UNSPECIFIED'), unknown);
    assert.deepEqual(await windows('UNSPECIFIED', 'CLOSED', await restarted()), unknown);
  });
});
