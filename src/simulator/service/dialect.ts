import { openingsOf, type OpeningRead } from '../../catalogue/openings';
import { resources, type InterfaceName, type ResourceName } from '../../catalogue/reads';
import type { Car } from '../car/car';
import { optionalCommands } from '../car/profiles';
import type { ResourceValue } from '../car/resources';
import { commandNames } from '../../catalogue/commands';
import type { Invocation } from '../car/invocation';

export type ConnectedInterface = 'connected-v1' | 'connected-v2';

/** The parts of a request that the bodies depend on. */
export interface ViewContext {
  /** `{base_url}` (specification, introduction). */
  url: string;
  now: number;
  operationId: string;
  interface: InterfaceName;
}

/** The shapes of the bodies; both dialects show the same car. */
export interface Dialect {
  name: 'plain' | 'real';
  /** The envelope of the data node of a connected answer. */
  envelope(data: unknown, status: number, context: ViewContext): unknown;
  windows(car: Car, context: ViewContext): unknown;
  doors(car: Car, context: ViewContext): unknown;
  details(car: Car, context: ViewContext): unknown;
  commands(car: Car, context: ViewContext): unknown;
  accessibility(car: Car): unknown;
  /** The whole body of an extended resource. */
  resource(car: Car, name: ResourceName): unknown;
  /** The body of the answer to a v1 command (docs/service.md 2.5). */
  accepted(invocation: Invocation, status: string, context: ViewContext & { href: string }): unknown;
  /** The body of the answer to a v2 command, once it has ended. */
  ended(car: Car, invocation: Invocation, status: string): unknown;
}

/** Puts a member into a body, or the override that a test set for it. */
export function putMember(
  body: Record<string, unknown>,
  name: string,
  car: Car,
  path: string,
  member: () => unknown,
): void {
  const override = car.override(path);
  if (override === undefined) body[name] = member();
  else if (override !== 'missing') body[name] = override.json ?? null;
}

/** The windows or doors of a car: under the names of v1, which lacks the openings that not every car has, or under those of v2. */
export function openingMembers(
  car: Car,
  read: OpeningRead,
  version: 'v1' | 'v2',
  memberOf: (value: string | null, ms: number) => unknown,
): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const words: Readonly<Record<string, string | null>> = car.state[read];
  for (const { kind, name, v2, ifFitted } of openingsOf(read)) {
    if (version === 'v1' && ifFitted) continue;
    const path = kind === 'lock' ? 'lock' : `${read}.${name}`;
    const value = kind === 'lock' ? car.state.lock : (words[name] ?? null);
    putMember(body, version === 'v1' ? name : v2, car, path, () => memberOf(value, car.measuredAt(path)));
  }
  return body;
}

export const iso = (ms: number): string => new Date(ms).toISOString();

/** Fractions of a second with this many digits; further than milliseconds they are zeros. */
export const withDigits = (ms: number, digits: number): string =>
  iso(ms).replace(/\.(\d+)Z$/, (_, millis: string) => {
    const fraction = millis.padEnd(digits, '0').slice(0, digits);
    return `${fraction === '' ? '' : `.${fraction}`}Z`;
  });

/** A resource of the extended interface: whole where docs/service.md 2.8 types it so, although a trip leaves fractions. */
export function resourceValue(car: Car, name: ResourceName): ResourceValue {
  const value = car.resource(name);
  return typeof value === 'number' && resources[name].kind === 'integer' ? Math.floor(value) : value;
}

/** One year (docs/service.md 2.5). */
export function yearAfter(ms: number): string {
  const date = new Date(ms);
  date.setUTCFullYear(date.getUTCFullYear() + 1);
  return date.toISOString();
}

const isOptional = (name: string): boolean => optionalCommands.some((other) => other === name);

/** The names of the commands that every car of its kind takes. */
export const standardCommands = commandNames.filter((name) => !isOptional(name));

/** The names of the commands that this car takes, as path segments. */
export function commandsOf(car: Car): string[] {
  const { classic, unsupported, extraCommands } = car.state;
  return [...standardCommands, ...extraCommands].filter(
    (name) => !unsupported.includes(name) && !(classic && name === 'lock-reduced-guard'),
  );
}

/** The address of a generic picture, valid for a quarter of an hour (docs/service.md 2.2, 8); the outside has several sides (docs/energy-location-api.md 4.8). */
export const imageUrl = (view: 'exterior' | 'interior', { url, now }: ViewContext): string =>
  `${url}/images/${view}.svg?expires=${now + 15 * 60_000}${view === 'exterior' ? '&w=480&angle=0' : ''}`;
