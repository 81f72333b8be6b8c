import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Starts a server on this machine. @returns its port, which is free if none is given */
export async function listen(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  // A cast: it listens on a port, not on a path.
  return (server.address() as AddressInfo).port;
}
