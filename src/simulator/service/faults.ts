import * as z from 'zod/mini';
import { VehicleError } from '../../errors';
import { checked } from '../car/changes';
import { refusals, refuse, type Answer, type Exchange, type Middleware, type RefusalName } from './answer';
import { Listeners } from '../../util/listeners';

/** Faults on demand: their effect, the requests that they hit, and how often. */
const schema = z.strictObject({
  /** Which requests; absent: all. The path is a part of the request's. */
  match: z.optional(z.strictObject({ method: z.optional(z.string()), path: z.optional(z.string()) })),
  /** How many of them; absent: until it is removed. */
  times: z.optional(z.int().check(z.minimum(1))),
  error: z.optional(
    z.custom<RefusalName>((name) => typeof name === 'string' && Object.hasOwn(refusals, name), {
      error: `one of ${Object.keys(refusals).join(', ')}`,
    }),
  ),
  /** `HH:MM:SS` or `d.HH:MM:SS`, in the text of `quota` (docs/internals/vendor-api.md 1.11). */
  refillIn: z.optional(z.string()),
  /** JSON in place of a member of the answer, by its path: `data.properties.timestamp`. */
  members: z.optional(z.record(z.string(), z.union([z.literal('missing'), z.strictObject({ json: z.unknown() })]))),
  /** Ends the connection without an answer. */
  cut: z.optional(z.literal('before-headers')),
  /** Waits on the clock before anything is done. */
  latencyMs: z.optional(z.number().check(z.minimum(0))),
});
export type FaultOptions = z.input<typeof schema>;

/** @throws VehicleError INPUT_INVALID */
export function parseFault(input: unknown): FaultOptions {
  const fault = checked(schema, input, 'This is not a fault.');
  const { error, members, cut, latencyMs } = fault;
  if ((error ?? members ?? cut ?? latencyMs) === undefined)
    throw new VehicleError('INPUT_INVALID', 'This fault does nothing. Name an effect, such as error or latencyMs.');
  return fault;
}

type FaultTarget = Pick<FaultOptions, 'match' | 'times'>;

type Listed<Fault extends FaultTarget> = Fault & { id: number };

/** The first fault that matches a request hits it; one request, one fault. */
export class FaultList<Fault extends FaultTarget> {
  #faults: { fault: Listed<Fault>; hits: number }[] = [];
  #lastId = 0;
  readonly #changed = new Listeners();
  /** Calls back whenever a fault comes or goes, until the returned function is called. */
  readonly onChange = this.#changed.add;

  add(options: Fault): Listed<Fault> {
    const fault = { ...options, id: ++this.#lastId };
    this.#faults.push({ fault, hits: 0 });
    this.#changed.notify();
    return fault;
  }

  get list(): readonly Listed<Fault>[] {
    return this.#faults.map(({ fault }) => fault);
  }

  remove(id: number): void {
    this.#faults = this.#faults.filter(({ fault }) => fault.id !== id);
    this.#changed.notify();
  }

  clear(): void {
    this.#faults = [];
    this.#changed.notify();
  }

  take({ method, path }: Exchange['request']): Fault | null {
    const entry = this.#faults.find(
      ({ fault: { match = {} } }) =>
        (match.method ?? method).toUpperCase() === method && path.includes(match.path ?? ''),
    );
    if (entry === undefined) return null;
    entry.hits += 1;
    if (entry.hits >= (entry.fault.times ?? Infinity)) this.remove(entry.fault.id);
    return entry.fault;
  }
}

export type Faults = FaultList<FaultOptions>;

export const failing =
  (faults: Faults): Middleware =>
  async (exchange, next) => {
    const fault = faults.take(exchange.request);
    if (fault === null) return next();
    const { error, refillIn, members, cut, latencyMs } = fault;
    if (latencyMs !== undefined) await exchange.wait(latencyMs);
    if (cut !== undefined) {
      exchange.response.req.socket.resetAndDestroy();
      return null;
    }
    if (error !== undefined) return refuse(error, exchange.context, refillIn === undefined ? {} : { refillIn });
    const answer = await next();
    return answer && { ...answer, body: withMembers(answer.body, members) };
  };

/** A copy of the body with other members; a path that the body does not have changes nothing. */
export const withMembers = (body: Answer['body'], members: FaultOptions['members'] = {}): Answer['body'] =>
  Object.entries(members).reduce((node, [path, member]) => replaced(node, path.split('.'), member), body);

function replaced(node: unknown, [key = '', ...rest]: string[], member: 'missing' | { json?: unknown }): unknown {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return node;
  const copy: Record<string, unknown> = { ...node };
  if (rest.length > 0) copy[key] = replaced(copy[key], rest, member);
  else if (member === 'missing') delete copy[key];
  else copy[key] = member.json ?? null;
  return copy;
}
