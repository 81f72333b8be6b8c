import { strict as assert } from 'node:assert';
import { logRequests } from '../../../src/http/request-log';
import { VehicleError } from '../../../src/index';
import type { Transport, TransportRequest } from '../../../src/http/transport';
import { ManualClock } from '../../support/manual-clock';

const request: TransportRequest = {
  method: 'GET',
  url: new URL('https://api.example.com/connected-vehicle/v2/vehicles/YV1CT9551B1570982/doors?token=secret'),
  headers: { authorization: 'Bearer secret' },
  timeoutMs: 1,
};

describe('The request log', () => {
  const clock = new ManualClock();
  const recording = (send: Transport['send']) => logRequests({ send, close: async () => undefined }, clock);

  it('has method, host, path with a shortened VIN, status, time and code, and nothing else', async () => {
    const transport = recording(async () => ({ status: 429, headers: {}, body: 'secret' }));
    await transport.send(request);
    const at = new Date(clock.now()).toISOString();
    const path = '/connected-vehicle/v2/vehicles/…570982/doors';
    assert.deepEqual(transport.recent(), [
      { at, method: 'GET', host: 'api.example.com', path, status: 429, ms: 0, code: 'RATE_LIMITED' },
    ]);
  });

  it('has a request without an answer, and passes the error on', async () => {
    const transport = recording(() => Promise.reject(new VehicleError('TIMEOUT', 'late')));
    await assert.rejects(transport.send(request), { code: 'TIMEOUT' });
    assert.deepEqual(
      transport.recent().map(({ status, code }) => [status, code]),
      [[null, 'TIMEOUT']],
    );
  });

  it('keeps thirty requests at most', async () => {
    const transport = recording(async () => ({ status: 200, headers: {}, body: '' }));
    for (let count = 0; count < 50; count += 1) await transport.send(request);
    assert.equal(transport.recent().length, 30);
  });
});
