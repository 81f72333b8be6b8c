import { systemClock, type Clock } from '../util/clock';
import { VehicleError, type ErrorCode } from '../errors';
import type { Transport, TransportRequest } from './transport';
import { shortVin, vinPattern } from '../vin';
import { failureOf } from '../wire/failures';

/** One request and its result, safe to show: no headers, no bodies, no query, the VIN shortened. */
export interface LoggedRequest {
  /** ISO-8601, when it was sent. */
  at: string;
  method: string;
  host: string;
  path: string;
  /** Null where no answer came. */
  status: number | null;
  ms: number;
  /** Null for a success. */
  code: ErrorCode | null;
}

/** A transport that keeps a log of its last requests, for "Copy diagnostics". */
export interface LoggingTransport extends Transport {
  /** Oldest first. */
  recent(): LoggedRequest[];
}

interface Entry extends Pick<TransportRequest, 'method' | 'url'>, Pick<LoggedRequest, 'status' | 'ms' | 'code'> {
  sentAt: number;
}

const maxEntries = 30;

export function logRequests(transport: Transport, clock: Clock = systemClock): LoggingTransport {
  const entries: Entry[] = [];

  return {
    async send(request) {
      const { method, url } = request;
      const sentAt = clock.now();
      const started = clock.monotonic();
      const log = (status: number | null, code: ErrorCode | null): void => {
        entries.push({ method, url, sentAt, ms: Math.round(clock.monotonic() - started), status, code });
        if (entries.length > maxEntries) entries.shift();
      };
      try {
        const response = await transport.send(request);
        const isSuccess = response.status >= 200 && response.status < 300;
        log(response.status, isSuccess ? null : failureOf(response, { scopes: [], now: clock.now() }).code);
        return response;
      } catch (error) {
        log(null, error instanceof VehicleError ? error.code : 'NETWORK');
        throw error;
      }
    },
    close: () => transport.close(),
    recent: () => entries.map(shown),
  };
}

const shown = ({ method, url, sentAt, status, ms, code }: Entry): LoggedRequest => ({
  at: new Date(sentAt).toISOString(),
  method,
  host: url.host,
  path: url.pathname.split('/').map(withShortVin).join('/'),
  status,
  ms,
  code,
});

const withShortVin = (part: string): string => (vinPattern.test(part.toUpperCase()) ? shortVin(part) : part);
