import { systemCodeOf, tlsFaultOf, VehicleError } from '../errors';
import { sentence, type Sentence } from '../sentence';
import type { Proxy } from './environment';

/**
 * How long name lookup, TCP and TLS may take together; the same for the answer of a proxy,
 * and TLS in its tunnel.
 */
export const connectTimeoutMs = 10_000;

/** Codes of undici, which counts the time of a tunnel itself. */
const lateCodes = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT']);

/**
 * A failed connection to the proxy, or to the service if `proxy` is null. The cause is rebuilt from
 * its code alone: the errors of undici hold addresses and headers.
 */
export function connectionFault(error: unknown, proxy: Proxy | null): VehicleError {
  if (error instanceof VehicleError) return error;
  const code = systemCodeOf(error) || (error instanceof Error ? error.name : typeof error);
  if (lateCodes.has(code)) return lateFault(proxy, true);
  return new VehicleError('NETWORK', proxy === null ? ofService(code) : ofProxy(code, proxy), { cause: { code } });
}

function ofService(code: string): string | Sentence {
  switch (tlsFaultOf(code)) {
    case 'expired':
      return 'The certificate of the service has expired. Check the date of this machine; otherwise try again later.';
    case 'early':
      return 'The certificate of the service is not valid yet. Check the date of this machine.';
    case 'host':
      return 'The certificate of the service belongs to another host. Check the network, and the base URL if you entered one.';
    case 'untrusted':
      return sentence`The certificate of the service is not trusted on this machine (${code}). If a proxy or a company network inspects traffic, set NODE_EXTRA_CA_CERTS to the file of its certificate and restart Node-RED.`;
    case 'tls':
      return sentence`The TLS handshake with the service failed (${code}). Check the network, and the base URL if you entered one. If Node.js is outdated, update it.`;
    case null:
      return sentence`The service could not be reached (${code}). Check the network, and the base URL if you entered one.`;
  }
}

const isCertificateCode = (code: string): boolean => ![null, 'tls'].includes(tlsFaultOf(code));

const ofProxy = (code: string, { host, variable }: Proxy): Sentence =>
  isCertificateCode(code)
    ? sentence`The certificate of the proxy ${host} is not accepted (${code}). Set NODE_EXTRA_CA_CERTS to the file of its certificate, or correct the variable ${variable}, and restart Node-RED.`
    : sentence`The proxy ${host} could not be reached (${code}). Check the network and the variable ${variable}.`;

/** For a connection that is not open in time. */
export function lateFault(proxy: Proxy | null, hasAddress: boolean): VehicleError {
  const seconds = connectTimeoutMs / 1000;
  if (proxy === null && hasAddress) return timedOut(seconds);
  const late =
    proxy === null
      ? sentence`The name server did not return the address of the service within ${seconds} seconds. Check the network and the DNS settings of this machine.`
      : sentence`The proxy ${proxy.host} did not answer within ${seconds} seconds. Check the network and the variable ${proxy.variable}.`;
  return new VehicleError('TIMEOUT', late);
}

export const timedOut = (seconds: number): VehicleError =>
  new VehicleError('TIMEOUT', sentence`The service did not answer within ${seconds} seconds. Try again later.`);

/**
 * A proxy that answered without a tunnel. What it refuses is not tried again within a read: that
 * could lock its user out.
 */
export function noTunnel(status: number, { host, variable }: Proxy): VehicleError {
  const refusal =
    status === 407
      ? sentence`The proxy ${host} does not accept the user name and the password (status 407). Correct them in the variable ${variable} and restart Node-RED.`
      : status < 500
        ? sentence`The proxy ${host} refuses connections to the service (status ${status}). Ask the operator of the proxy, or add the host of the service to NO_PROXY and restart Node-RED.`
        : sentence`The proxy ${host} could not connect to the service (status ${status}). Try again later; check the base URL if you entered one.`;
  return new VehicleError('NETWORK', refusal, { cause: { code: `HTTP_${status}` }, retryable: status >= 500 });
}

/** Waiting does not help: a read is not tried again. */
export const isRefusedCertificate = ({ cause }: VehicleError): boolean => isCertificateCode(systemCodeOf(cause));

/** Codes of Node and undici for a peer that ended a socket which had worked before. */
const resetCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * True if the peer closed the kept-alive socket during the request: a read may be sent again at
 * once (docs/internals/vendor-api.md 6.2).
 */
export const isReset = (error: VehicleError): boolean =>
  error.code === 'NETWORK' && resetCodes.has(systemCodeOf(error.cause));
