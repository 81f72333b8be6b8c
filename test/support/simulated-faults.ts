import { refuse, type Answer, type Exchange, type Middleware } from '../../src/simulator/service/answer';
import { withMembers, type FaultList, type FaultOptions as Simple } from '../../src/simulator/service/faults';
import { htmlPage } from './html-page';

/**
 * What else can go wrong at a service than the faults of the simulator itself: odd answers, and
 * ends of connections.
 */

export interface FaultOptions extends Omit<Simple, 'cut'> {
  /** In place of that of `error`. */
  description?: string;
  /** The header, in seconds or as a date. */
  retryAfter?: number | string;

  /** Any answer at all. */
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;

  /** A page instead of the answer. */
  html?: true;
  /** A body of this many bytes. */
  hugeBytes?: number;
  redirect?: string;

  /**
   * The answer as it would be, with null for each value, or for each member that has a value
   * (docs/internals/vendor-api.md 6.1).
   */
  nulls?: 'values' | 'members';
  /** The answer as it would be, with this word for each word. */
  words?: string;

  /**
   * The point at which the connection ends. `after-effect`: the request takes effect
   * and is not answered.
   */
  cut?: 'before-headers' | 'after-headers' | 'mid-body' | 'after-effect' | undefined;
  /**
   * The answer is replaced after the request took effect, and `latencyMs` passes then: the car
   * acted, and the service reports that it failed (docs/internals/vendor-api.md 6.2).
   */
  afterEffect?: true;
}

/** @param setStatus records what was sent if the connection is cut */
export function failing(
  faults: FaultList<FaultOptions>,
  setStatus: (exchange: Exchange, status: number) => void,
): Middleware {
  return async (exchange, next) => {
    const { socket } = exchange.response.req;
    const end = (): null => (socket.resetAndDestroy(), null);
    const fault = faults.take(exchange.request);
    if (fault === null) return next();
    const wait = async (): Promise<void> =>
      fault.latencyMs === undefined ? undefined : exchange.wait(fault.latencyMs);
    if (fault.afterEffect !== true) await wait();
    if (fault.cut === 'before-headers') return end();
    const instead = faultAnswer(fault, exchange);
    const own = instead === null || fault.afterEffect === true ? await next() : null;
    if (fault.afterEffect === true) await wait();
    if (fault.cut === 'after-effect') return end();
    const answer = instead ?? (own && { ...distort(own, fault), headers: { ...own.headers, ...fault.headers } });
    if (answer === null || fault.cut === undefined) return answer;
    setStatus(exchange, answer.status);
    sendPart(exchange, answer, fault.cut);
    return null;
  };
}

/** Announces the whole body, sends none or half of it, and closes the connection. */
function sendPart({ response }: Exchange, { status, headers, body }: Answer, cut: 'after-headers' | 'mid-body'): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) }).flushHeaders();
  const { socket } = response.req;
  const end = (): void => void socket.end(() => socket.destroy());
  if (cut === 'after-headers') end();
  else response.write(text.slice(0, Math.ceil(text.length / 2)), end);
}

/** The answer of a fault in place of the service's own; null if the fault has none. */
function faultAnswer(fault: FaultOptions, exchange: Exchange): Answer | null {
  const headers = {
    ...(fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }),
    ...fault.headers,
  };
  const answer = replacement(fault, exchange);
  return answer === null ? null : { ...answer, headers: { ...answer.headers, ...headers } };
}

function replacement(fault: FaultOptions, { context }: Exchange): Answer | null {
  const { error, description, refillIn, status, body, html, hugeBytes, redirect } = fault;
  if (error !== undefined) {
    const given = Object.entries({ description, refillIn, status }).filter(([, value]) => value);
    return refuse(error, context, Object.fromEntries(given));
  }
  if (html) return htmlPage(status ?? 200, 'Welcome');
  if (hugeBytes !== undefined)
    return {
      status: status ?? 200,
      headers: { 'content-type': 'application/json' },
      body: `{"data":"${'x'.repeat(hugeBytes)}"}`,
    };
  if (redirect !== undefined) return { status: status ?? 302, headers: { location: redirect } };
  return status === undefined && body === undefined ? null : { status: status ?? 200, body };
}

/** The answer of the service, changed by the fault. */
function distort(answer: Answer, fault: FaultOptions): Answer {
  const { nulls, words, members } = fault;
  const body = nulls === undefined && words === undefined ? answer.body : walk(answer.body, fault);
  return { ...answer, body: withMembers(body, members) };
}

/**
 * Members that hold a word of the car or of a request (docs/internals/service.md 2,
 * docs/internals/vendor-api.md 1.9).
 */
const wordMembers = new Set(['value', 'status', 'invokeStatus', 'unavailableReason']);

function walk(node: unknown, fault: FaultOptions): unknown {
  if (Array.isArray(node)) return node.map((item) => walk(item, fault));
  if (typeof node !== 'object' || node === null) return node;
  const { nulls, words } = fault;
  // `OK` and `ERROR` of the energy state are not words of the car.
  const isEnergy = 'updatedAt' in node || 'code' in node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      if (nulls === 'members' && typeof value === 'object' && value !== null && 'value' in value) return [key, null];
      if (nulls === 'values' && key === 'value') return [key, null];
      if (words !== undefined && wordMembers.has(key) && typeof value === 'string' && !(isEnergy && key === 'status'))
        return [key, words];
      return [key, walk(value, fault)];
    }),
  );
}
