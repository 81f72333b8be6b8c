import * as z from 'zod/mini';
import { VehicleError } from '../../errors';
import { errorShapes, htmlPage, refusals, refuse, type Answer, type RefusalContext, type RefusalName } from './answer';

/** Faults on demand: their effect, the requests that they hit, and how often. One schema serves tests and control interface. */

const cuts = ['before-headers', 'after-headers', 'mid-body', 'after-effect'] as const;

const schema = z.strictObject({
  /** Which requests; absent: all. A path in text is one that is contained. */
  match: z.optional(
    z.strictObject({ method: z.optional(z.string()), path: z.optional(z.union([z.string(), z.instanceof(RegExp)])) }),
  ),
  /** How many of them; absent: until it is removed. */
  times: z.optional(z.int().check(z.minimum(1))),
  /** How many of them pass first. */
  skip: z.optional(z.int().check(z.minimum(0))),

  /** One of the refusals by name, in its own shape or another. */
  error: z.optional(
    z.custom<RefusalName>((name) => typeof name === 'string' && Object.hasOwn(refusals, name), {
      error: `one of ${Object.keys(refusals).join(', ')}`,
    }),
  ),
  shape: z.optional(z.enum(errorShapes)),
  description: z.optional(z.string()),
  /** `HH:MM:SS` or `d.HH:MM:SS`, in the text of `quota` (docs/internals/vendor-api.md 1.11). */
  refillIn: z.optional(z.string()),
  /** The header, in seconds or as a date. */
  retryAfter: z.optional(z.union([z.number(), z.string()])),

  /** Any answer at all. */
  status: z.optional(z.int().check(z.minimum(200), z.maximum(599))),
  headers: z.optional(z.record(z.string(), z.string())),
  body: z.optional(z.unknown()),

  /** A page instead of the answer. */
  html: z.optional(z.literal(true)),
  /** A body of this many bytes. */
  hugeBytes: z.optional(z.int().check(z.minimum(1), z.maximum(1 << 28))),
  redirect: z.optional(z.string()),

  /** The answer as it would be, with null for each value, or for each member that has a value (docs/internals/vendor-api.md 6.1). */
  nulls: z.optional(z.enum(['values', 'members'])),
  /** The answer as it would be, with this word for each word. */
  words: z.optional(z.string()),

  /** The answer as it would be, with this JSON at a member's path: `chargingPower`, `data.properties.timestamp`. */
  members: z.optional(z.record(z.string(), z.union([z.literal('missing'), z.strictObject({ json: z.unknown() })]))),

  /** The point at which the connection ends. `after-effect`: the request takes effect and is not answered. */
  cut: z.optional(z.enum(cuts)),
  /** The next request on the same connection finds it closed, as an idle one behind a gateway may be (docs/internals/vendor-api.md 6.2). */
  dropKeepAlive: z.optional(z.literal(true)),
  /** Waits on the clock before anything is done, or, with `afterEffect`, before the answer. */
  latencyMs: z.optional(z.number().check(z.minimum(0))),
  /** The answer is replaced after the request took effect: the car acted, and the service says it failed (docs/internals/vendor-api.md 6.2). */
  afterEffect: z.optional(z.literal(true)),
});

export type FaultOptions = z.input<typeof schema>;

/** Parts of a fault that have no effect by themselves. */
const notEffects = new Set([
  'match',
  'times',
  'skip',
  'shape',
  'description',
  'refillIn',
  'retryAfter',
  'headers',
  'afterEffect',
]);

/** A fault that waits for its requests. */
export interface Fault extends FaultOptions {
  readonly id: number;
  /** How many requests it has hit. */
  readonly hits: number;
}

/** @throws VehicleError INPUT_INVALID */
function parseFault(input: unknown): FaultOptions {
  const parsed = schema.safeParse(input);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) =>
        `${issue.path.join('.') || 'the fault'}: ${issue.code === 'unrecognized_keys' ? `there is no ${issue.keys.join(', ')}` : issue.message}`,
    );
    throw new VehicleError('INPUT_INVALID', `This is not a fault. ${problems.join('; ')}.`);
  }
  if (Object.keys(parsed.data).every((key) => notEffects.has(key)))
    throw new VehicleError('INPUT_INVALID', 'This fault does nothing. Name an effect, such as error or latencyMs.');
  return parsed.data;
}

export class Faults {
  #faults: { fault: Fault & { hits: number }; seen: number }[] = [];
  #lastId = 0;
  readonly #listeners = new Set<() => void>();

  /**
   * The first fault that matches a request hits it; one request, one fault.
   * @throws VehicleError INPUT_INVALID
   */
  add(options: FaultOptions): Fault {
    const fault = { ...parseFault(options), id: ++this.#lastId, hits: 0 };
    this.#faults.push({ fault, seen: 0 });
    this.#notify();
    return fault;
  }

  /** The faults that are still to come. */
  get list(): readonly Fault[] {
    return this.#faults.map(({ fault }) => fault);
  }

  remove(id: number): boolean {
    const before = this.#faults.length;
    this.#faults = this.#faults.filter(({ fault }) => fault.id !== id);
    this.#notify();
    return this.#faults.length < before;
  }

  clear(): void {
    this.#faults = [];
    this.#notify();
  }

  /** Calls back whenever a fault comes or goes, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** The fault that hits this request, if any. */
  take(method: string, path: string): Fault | null {
    for (const entry of this.#faults) {
      const { fault } = entry;
      if (!matches(fault, method, path) || ++entry.seen <= (fault.skip ?? 0)) continue;
      fault.hits += 1;
      if (fault.hits >= (fault.times ?? Infinity)) this.remove(fault.id);
      else this.#notify();
      return fault;
    }
    return null;
  }
}

const matches = ({ match = {} }: Fault, method: string, path: string): boolean =>
  (match.method === undefined || match.method.toUpperCase() === method) &&
  (match.path === undefined ||
    (typeof match.path === 'string' ? path.includes(match.path) : path.search(match.path) >= 0));

/** The answer of a fault in place of the service's own; null where the fault has none. */
export function faultAnswer(fault: Fault, context: RefusalContext): Answer | null {
  const headers = {
    ...(fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }),
    ...fault.headers,
  };
  const answer = replacement(fault, context);
  return answer === null ? null : { ...answer, headers: { ...answer.headers, ...headers } };
}

function replacement(fault: Fault, context: RefusalContext): Answer | null {
  const { error, shape, description, refillIn, status, body, html, hugeBytes, redirect } = fault;
  if (error !== undefined) {
    const given = Object.entries({ shape, description, refillIn, status }).filter(([, value]) => value);
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

/** The answer of the service, changed as the fault says. */
export function distort(answer: Answer, fault: Fault): Answer {
  const { nulls, words, members = {} } = fault;
  let body = nulls === undefined && words === undefined ? answer.body : walk(answer.body, fault);
  for (const [path, member] of Object.entries(members)) body = replaced(body, path.split('.'), member);
  return { ...answer, body };
}

/** Members that hold a word of the car or of a request (docs/internals/service.md 2, docs/internals/vendor-api.md 1.9). */
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

/** A copy of the body with another member at a path; a path that the body does not have changes nothing. */
function replaced(node: unknown, [key = '', ...rest]: string[], member: 'missing' | { json?: unknown }): unknown {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return node;
  const copy: Record<string, unknown> = { ...node };
  if (rest.length > 0) copy[key] = replaced(copy[key], rest, member);
  else if (member === 'missing') delete copy[key];
  else copy[key] = member.json ?? null;
  return copy;
}
