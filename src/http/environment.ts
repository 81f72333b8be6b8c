import { VehicleError } from '../errors';
import { sentence } from '../sentence';
import { isLoopback } from '../util/loopback';

/** The environment variables of the process, or those of a test. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Proxy {
  /** The environment variable that names it. */
  variable: string;
  /** Such as `http://proxy.example:3128`. */
  origin: string;
  /** Host and port, without user name and password: safe to show. */
  host: string;
  /** The value of the header `proxy-authorization`; null for a proxy without a user name. */
  authorization: string | null;
}

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower case, as other programs on
 * the machine do.
 * @returns the proxy for a URL, null for a direct connection
 * @throws VehicleError CONFIG if a variable does not hold the address of an http or https proxy
 */
export function parseProxies(env: Environment): (url: URL) => Proxy | null {
  const valueOf = (name: string): string => (env[name.toLowerCase()] || env[name])?.trim() ?? '';
  const http = parseProxy('HTTP_PROXY', valueOf('HTTP_PROXY'));
  const https = parseProxy('HTTPS_PROXY', valueOf('HTTPS_PROXY')) ?? http;
  const exceptions = valueOf('NO_PROXY')
    .toLowerCase()
    .split(/[\s,]+/)
    .map((entry) => /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry));
  return ({ hostname, protocol, port }) => {
    const usedPort = port || (protocol === 'https:' ? '443' : '80');
    const isException = exceptions.some((entry) => {
      const [, host, onlyPort = usedPort] = entry ?? [];
      return onlyPort === usedPort && (host === '*' || hostname === host || hostname.endsWith(`.${host}`));
    });
    if (isException || isLoopback(hostname)) return null;
    return protocol === 'https:' ? https : http;
  };
}

function parseProxy(variable: string, value: string): Proxy | null {
  if (value === '') return null;
  try {
    // `proxy:3128` is a common way to write it.
    const url = new URL(value.includes('://') ? value : `http://${value}`);
    const { protocol, origin, host, username, password, pathname, search, hash } = url;
    const isComplete = (username === '') === (password === '') && pathname + search + hash === '/';
    if (isComplete && /^https?:$/.test(protocol)) {
      const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
      const authorization = username === '' ? null : `Basic ${Buffer.from(login).toString('base64')}`;
      return { variable, origin, host, authorization };
    }
  } catch {
    // No address at all, or a % that does not begin an escape.
  }
  throw new VehicleError(
    'CONFIG',
    sentence`The environment variable ${variable} does not contain the address of an http or https proxy. Write it like http://proxy.example:3128 or http://user:password@proxy.example:3128, special characters of the password as escapes (%25 for %, %40 for @, %23 for #), and restart Node-RED.`,
  );
}

/** What the environment does to the connections to a URL. */
export interface ConnectionNotes {
  /** Host and port of the proxy; null for a direct connection. */
  proxy: string | null;
  /** False if NODE_TLS_REJECT_UNAUTHORIZED makes Node.js accept every certificate. */
  verifiesCertificates: boolean;
}

/** @throws VehicleError CONFIG as `parseProxies` */
export const connectionNotes = (url: URL, env: Environment = process.env): ConnectionNotes => ({
  proxy: parseProxies(env)(url)?.host ?? null,
  verifiesCertificates: url.protocol !== 'https:' || env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0',
});
