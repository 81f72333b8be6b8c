import { join } from 'node:path';
import { DirectoryOwner, FileStateStore } from '../../src/index';
import { Logbook } from '../../src/logbook/logbook';
import { parseTariff } from '../../src/logbook/tariff';
import { demoCar, electricCar } from '../../src/simulator/index';
import { ManualClock } from './manual-clock';

/** Writes into the store of a Node-RED that does not run yet. */
export async function keepIn(userDir: string, keep: (store: FileStateStore) => Promise<void>): Promise<void> {
  const directory = join(userDir, 'connected-vehicle');
  const owner = new DirectoryOwner({ directory });
  await keep(new FileStateStore({ directory, owner }));
  await owner.end();
}

/**
 * Twelve days of the electric car, each with a trip and a charge at noon, and a day of the petrol
 * car without a price.
 */
export async function keepLog(store: FileStateStore): Promise<void> {
  const day = 24 * 3_600_000;
  const start = Date.now() - 12 * day;
  const clock = new ManualClock(start);
  const logbook = new Logbook({ store, clock });
  const tariff = parseTariff({ perKWh: 0.3, currency: 'EUR' });
  const read = (
    vin: string,
    minutes: number,
    name: 'odometer' | 'engineRunning' | 'charging' | 'details',
    payload: object,
  ): void => {
    clock.setTime(start + minutes * 60_000);
    const receivedAt = new Date(clock.now()).toISOString();
    const vehicle = {
      vin,
      read: name,
      interface: 'connected-v2',
      receivedAt,
      measuredAt: null,
      source: 'live',
    } as const;
    logbook.observe(
      name,
      vin,
      { payload, vehicle },
      { skewMs: 0, tariff: () => Promise.resolve(vin === demoCar.vin ? null : tariff) },
    );
  };
  const drive = (vin: string, from: number, km: number): void => {
    const odometer = (value: number): object => ({ value, unit: 'kilometers' });
    read(vin, from, 'odometer', odometer(km - 42));
    for (const [after, value] of [
      [0, false],
      [10, true],
      [55, true],
      [60, false],
    ] as const)
      read(vin, from + after, 'engineRunning', { value });
    read(vin, from + 60, 'odometer', odometer(km));
  };
  const charge = (from: number, level: number, status: string): void =>
    read(electricCar.vin, from, 'charging', {
      chargingStatus: { value: status },
      batteryChargeLevel: { value: level, unit: 'percent' },
    });
  for (let n = 0; n < 12; n += 1) {
    const at = n * 1440;
    if (n === 6) read(electricCar.vin, at, 'details', { batteryCapacityKWH: 80 });
    charge(at, 80, 'IDLE');
    drive(electricCar.vin, at, 13_480 + (n - 11) * 42);
    for (const [after, level, status] of [
      [100, 60, 'IDLE'],
      [120, 60, 'CHARGING'],
      [240, 80, 'IDLE'],
    ] as const)
      charge(at + after, level, status);
    if (n > 9) drive(demoCar.vin, at, 24_817 + (n - 11) * 42);
  }
  await logbook.flush();
}
