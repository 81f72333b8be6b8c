import { demoCar, startSimulator } from '../support/simulator';
import { inputOf } from './processes';

/** The child of `startService`. */
async function main(): Promise<void> {
  const { cars = 1 } = inputOf<{ cars?: number }>();
  const vins = Array.from({ length: cars }, (_, i) => `YV1CT9551B15${10_000 + i}`);
  const service = await startSimulator({ open: true, cars: vins.map((vin) => ({ ...demoCar, vin })) });
  process.on('message', ({ slow }: { slow: number }) => {
    if (slow > 0) service.faults.add({ latencyMs: 20, times: slow });
    process.send?.({
      requests: service.inFlight.total,
      mostInFlight: service.inFlight.peak,
      sockets: service.connections.total,
    });
    service.clearRequests();
  });
  process.send?.({ url: service.url, vins });
}

void main();
