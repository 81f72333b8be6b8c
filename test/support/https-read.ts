import { createTransport } from '../../src/http/transport';

/** A process of its own, for what Node reads from its environment at the start: reads a URL and prints status or error. */
const transport = createTransport();
transport
  .send({ method: 'GET', url: new URL(process.argv[2] ?? ''), headers: {}, timeoutMs: 10_000 })
  .then(
    ({ status, body }) => console.log(`${status} ${body}`),
    (error: Error) => console.log(error.message),
  )
  .finally(() => transport.close());
