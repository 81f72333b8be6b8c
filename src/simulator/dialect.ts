import type { InterfaceName, ResourceName } from '../catalogue/reads';
import type { Car } from './car';
import type { Invocation } from './invocation';

export type ConnectedInterface = Exclude<InterfaceName, 'extended-v1'>;

/** What a view of the car needs to know of the request. */
export interface ViewContext {
  /** `{base_url}` (specification, introduction). */
  url: string;
  now: number;
  operationId: string;
  interface: InterfaceName;
}

/** How one and the same car looks on the wire. */
export interface Dialect {
  name: 'plain' | 'real';
  /** What stands around the data node of a connected answer. */
  envelope(data: unknown, status: number, context: ViewContext): unknown;
  windows(car: Car, context: ViewContext): unknown;
  doors(car: Car, context: ViewContext): unknown;
  details(car: Car, context: ViewContext): unknown;
  commands(car: Car, context: ViewContext): unknown;
  accessibility(car: Car): unknown;
  /** The whole body of an extended resource. */
  resource(car: Car, name: ResourceName): unknown;
  /** The body of the answer to a v1 command (specification 2.5). */
  accepted(invocation: Invocation, status: string, context: ViewContext & { href: string }): unknown;
  /** The body of the answer to a v2 command, once it has ended. */
  ended(car: Car, invocation: Invocation, status: string): unknown;
}

/** Puts a member into a body, unless an override says what stands there instead. */
export function put(body: Record<string, unknown>, name: string, car: Car, path: string, member: () => unknown): void {
  const override = car.override(path);
  if (override === undefined) body[name] = member();
  else if (override !== 'missing') body[name] = override.json ?? null;
}

/** Most members of an answer have the same time: the last one is kept. */
let last = { ms: 0, text: new Date(0).toISOString() };

export function iso(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}

/** One year (specification 2.5). */
export function yearAfter(ms: number): string {
  const date = new Date(ms);
  date.setUTCFullYear(date.getUTCFullYear() + 1);
  return date.toISOString();
}

/** The names of the commands that this car takes, as path segments. */
export function commandsOf(car: Car, all: readonly string[]): string[] {
  const { classic, unsupported, extraCommands } = car.state;
  return [...all, ...extraCommands].filter(
    (name) => !unsupported.includes(name) && !(classic && name === 'lock-reduced-guard'),
  );
}

/** Where the simulator serves a picture of the car; the address is good for a quarter of an hour (specification 2.2, 8). */
export const imageUrl = (car: Car, view: 'exterior' | 'interior', { url, now }: ViewContext): string =>
  `${url}/images/${car.vin}/${view}.svg?expires=${now + 15 * 60_000}`;
