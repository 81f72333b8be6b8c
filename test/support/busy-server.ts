import { readSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A separate process with an HTTP server that accepts no connection until a byte comes on standard
 * input: the kernel drops what does not fit into its short queue, as a slow network loses a packet.
 * It writes its port first.
 */
const server = createServer((_request, response) => void response.end('late'));
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  writeSync(1, `${(server.address() as AddressInfo).port}\n`);
  readSync(0, Buffer.alloc(1));
  process.stdin.resume().on('end', () => process.exit());
});
