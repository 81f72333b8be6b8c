import { STATUS_CODES, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { InterfaceName } from '../../catalogue/reads';

export interface ServiceRequest {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An HTTP response: an object is sent as JSON, a text as it is. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** Instead of a body: sends text until the client goes. Returns what ends it. */
  stream?: (send: (text: string) => void) => () => void;
}

export const ok = (body: unknown): Answer => ({ status: 200, body });

/**
 * The shapes of error bodies; several exist on one host (docs/internals/vendor-api.md 1.11, 3.3).
 */
type ErrorShape = 'application' | 'status' | 'key' | 'gateway' | 'exve' | 'energy' | 'text' | 'empty';

export interface Refusal {
  status: number;
  /** Absent: the word of the status, `NOT_FOUND`. */
  message?: string;
  description?: string;
  /** Absent: that of the interface which refuses. */
  shape?: ErrorShape;
  /** The word of an error of the energy interface. Absent: the message. */
  code?: string;
}

/**
 * Every refusal by name: those of the service itself and those that a fault can cause
 * (docs/internals/vendor-api.md 1.11, 3.3, 4.2).
 * `{header}` is the name of the key header, `{refillIn}` the time until the quota is full again.
 */
export const refusals = {
  'token-refused': { status: 401, description: 'Full authentication is required to access this resource' },
  'key-refused': {
    status: 401,
    shape: 'key',
    message: 'Access denied due to invalid {header}. Make sure to provide a valid key for an active application.',
  },
  'key-missing': {
    status: 401,
    shape: 'key',
    message: 'Access denied due to missing header {header}. Make sure to include the key in requests.',
  },
  'not-linked': { status: 403, shape: 'status', description: 'No relationship to UUID' },
  'scope-missing': { status: 403, description: 'Access Denied' },
  'energy-forbidden': {
    status: 403,
    shape: 'energy',
    code: 'AUTHORIZATION_ERROR',
    message: 'Not authorized to access this resource.',
  },
  'client-not-allowed': { status: 403, description: 'Client not allowed to access Location API' },
  quota: {
    status: 403,
    shape: 'gateway',
    message: 'Out of call volume quota. Quota will be replenished in {refillIn}.',
  },
  'not-supported': { status: 404, description: 'This is not supported by this vehicle' },
  markets: { status: 404, description: 'Does not belong to allowed markets' },
  'not-found': { status: 404, description: 'No resource at this address' },
  'energy-not-found': {
    status: 404,
    shape: 'energy',
    code: 'NOT_FOUND',
    message: 'Resource is not supported for this vehicle',
  },
  'wallbox-unknown': { status: 404, description: 'No such wallbox' },
  'wallbox-offline': { status: 409, shape: 'energy', code: 'WALLBOX_OFFLINE', message: 'The wallbox is offline' },
  'wallbox-status': {
    status: 409,
    shape: 'energy',
    code: 'WALLBOX_INCORRECT_STATUS',
    message: 'The wallbox has an incorrect status',
  },
  'wallbox-cooldown': {
    status: 422,
    shape: 'energy',
    code: 'WALLBOX_IN_COOLDOWN',
    message: 'The wallbox is in cooldown',
  },
  'wallbox-unsupported': {
    status: 422,
    shape: 'energy',
    code: 'NOT_SUPPORTED_BY_WALLBOX',
    message: 'Not supported by the wallbox',
  },
  'wallbox-error': { status: 409, shape: 'energy', code: 'UNKNOWN_ERROR', message: 'Unknown error' },
  'no-position': { status: 404, description: 'No position is known for this vehicle' },
  gone: { status: 410, description: 'Version 1 is removed.' },
  'energy-gone': {
    status: 410,
    description: 'Version 1 is removed. See https://developer.volvocars.com/apis/energy/v2/overview/',
  },
  'gateway-not-found': { status: 404, shape: 'gateway', message: 'Resource not found' },
  'method-not-allowed': { status: 405, description: 'This address does not take this method' },
  'not-acceptable': { status: 406, description: 'The accept header does not allow the media type of this address' },
  conflict: { status: 409, description: 'Invocation specific error, due to a conflict with the vehicle' },
  'media-type': { status: 415, description: 'The content type is not supported at this address' },
  'bad-request': { status: 400, description: 'The request body is not JSON' },
  'invalid-runtime': { status: 400, description: 'runtimeMinutes must be a whole number of minutes from 0 to 15' },
  'plugged-in': { status: 422, description: 'Precondition failed: the vehicle is plugged in' },
  'invalid-uuid': { status: 422, description: 'Invalid UUID' },
  'invalid-body': { status: 422, description: 'unlockDuration must be a whole number of seconds from 0 to 120' },
  'rate-limited': { status: 429, shape: 'gateway', message: 'Rate limit is exceeded.' },
  'car-error': { status: 500, description: 'Error returned from car' },
  'internal-error': { status: 500, shape: 'empty', message: '' },
  'car-in-use': { status: 503, description: 'Not allowed, car is in use or asleep' },
  'outage-text': { status: 503, shape: 'text', message: 'The service is unavailable.' },
  'gateway-timeout': { status: 504, description: 'The vehicle did not answer in time' },
  'exve-error': { status: 403, shape: 'exve', message: 'The resource is not available for this vehicle' },
} as const satisfies Record<string, Refusal>;

export type RefusalName = keyof typeof refusals;

/** A request before the service answers it, for faults and for programs that use the simulator. */
export interface Exchange {
  request: ServiceRequest;
  /** To refuse the request in the shape of its interface. */
  context: RefusalContext;
  /** To end the connection instead of an answer. */
  response: ServerResponse;
  /** Waits on the clock of the simulator. Rejects when the simulator closes. */
  wait(ms: number): Promise<void>;
}

/**
 * Answers instead of the service, or changes what the service answers. Null: `response` was used.
 */
export type Middleware = (exchange: Exchange, next: () => Promise<Answer | null>) => Promise<Answer | null>;

export interface RefusalContext {
  dialect: 'plain' | 'real';
  interface: InterfaceName | null;
  operationId: string;
  /** As the key header is written in the messages: `VCC-API-KEY`. */
  keyHeader: string;
}

/** docs/internals/service.md shows no shape of errors; `plain` has that of v2 everywhere. */
function ownShape({ dialect, interface: name }: RefusalContext, status: number): ErrorShape {
  if (name === 'energy-v2' && status !== 401) return 'energy';
  if (dialect === 'real' && name === 'connected-v1') return 'status';
  // The gateway checks the token, not the extended vehicle interface
  // (docs/internals/vendor-api.md 3.3).
  return dialect === 'real' && name === 'extended-v1' && status !== 401 ? 'exve' : 'application';
}

const shapes: Record<ErrorShape, (refusal: Refusal & { message: string }, context: RefusalContext) => Answer> = {
  application: ({ status, message, description }) => ({ status, body: { error: { message, description } } }),
  status: ({ status, message, description }, { operationId }) => ({
    status,
    body: { status, operationId, error: { message, description } },
  }),
  key: ({ status, message }) => ({ status, body: { status, error: { message } } }),
  gateway: ({ status, message }) => ({ status, body: { statusCode: status, message } }),
  exve: ({ status, message, description }, { operationId }) => ({
    status,
    body: {
      exveErrorId: operationId,
      exveErrorMsg: description ?? message,
      exveErrorRef: String(status),
      exveNote: '',
    },
  }),
  // As the real service answers (docs/internals/vendor-api.md 12.6).
  energy: ({ status, message, description, code }) => ({
    status,
    body: { code: code ?? message, message: description ?? message, details: [] },
  }),
  text: ({ status, message }) => ({ status, headers: { 'content-type': 'text/plain' }, body: message }),
  empty: ({ status }) => ({ status }),
};

/** A refusal as it goes over the wire; `details` replaces parts of it. */
export function refuse(
  name: RefusalName,
  context: RefusalContext,
  details: Partial<Refusal> & { refillIn?: string } = {},
): Answer {
  const { refillIn = '03:30:56', ...changes } = details;
  const refusal: Refusal = { ...refusals[name], ...changes };
  const { status, message: template = STATUS_CODES[status]?.toUpperCase().replaceAll(' ', '_') ?? '' } = refusal;
  const message = template.replace('{header}', context.keyHeader).replace('{refillIn}', refillIn);
  return shapes[refusal.shape ?? ownShape(context, status)]({ ...refusal, message }, context);
}
