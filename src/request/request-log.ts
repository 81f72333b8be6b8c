import { systemClock, type Clock } from '../util/clock';
import { VehicleError, type ErrorCode } from '../errors';
import type { Transport, TransportRequest } from '../transport';
import { shortVin, vinPattern } from '../vin';
import { failureOf } from '../wire/failures';

/** One request and what became of it, safe to show: no headers, no bodies, no query, the VIN shortened. */
export interface Exchange {
  /** ISO-8601, of the sending. */
  at: string;
  method: string;
  host: string;
  path: string;
  /** Null where no answer came. */
  status: number | null;
  ms: number;
  /** Null where all was well. */
  code: ErrorCode | null;
}

/** A transport that remembers its last requests, for "Copy diagnostics". */
export interface RecordingTransport extends Transport {
  /** Oldest first. */
  recent(): Exchange[];
}

const kept = 30;

export function recordExchanges(transport: Transport, clock: Clock = systemClock): RecordingTransport {
  /** Raw: to write one in words costs more than to send it. */
  const exchanges: Raw[] = [];

  const note = (
    { method, url }: TransportRequest,
    sentAt: number,
    status: number | null,
    code: ErrorCode | null,
  ): void => {
    exchanges.push({ method, url, sentAt, ms: clock.now() - sentAt, status, code });
    if (exchanges.length > kept) exchanges.shift();
  };

  return {
    async send(request) {
      const sentAt = clock.now();
      try {
        const response = await transport.send(request);
        const isSuccess = response.status >= 200 && response.status < 300;
        note(
          request,
          sentAt,
          response.status,
          isSuccess ? null : failureOf(response, { scopes: [], now: clock.now() }).code,
        );
        return response;
      } catch (error) {
        note(request, sentAt, null, error instanceof VehicleError ? error.code : 'NETWORK');
        throw error;
      }
    },
    close: () => transport.close(),
    recent: () => exchanges.map(written),
  };
}

type Raw = Pick<TransportRequest, 'method' | 'url'> & Pick<Exchange, 'status' | 'ms' | 'code'> & { sentAt: number };

const written = ({ method, url, sentAt, status, ms, code }: Raw): Exchange => ({
  at: new Date(sentAt).toISOString(),
  method,
  host: url.host,
  path: url.pathname.split('/').map(shortened).join('/'),
  status,
  ms,
  code,
});

const shortened = (part: string): string => (vinPattern.test(part.toUpperCase()) ? shortVin(part) : part);
