import type { IncomingHttpHeaders } from 'node:http';

/** A request with its body read. */
export interface ServiceRequest {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
}
