import * as z from 'zod/mini';
import {
  accessNames,
  defaultAccess,
  defaultWatch,
  interfaceChoices,
  interfaceNames,
  sentence,
  serviceNames,
  VehicleError,
  type GuardSettings,
  type WatchName,
} from '../../src/index';

/**
 * The properties of each node as Node-RED stores them (docs/message-contract.md 2 to 5): what the editor half writes and the runtime half
 * checks. A flow file may be older, odd or hand-written, so what is missing takes its default and what is wrong says so.
 */

const demoCarNames = ['petrol', 'electric'] as const;
const pollings = ['fixed', 'adaptive'] as const;

const interfaceChoice = z._default(z.enum(interfaceChoices), 'auto');

const text = z._default(
  z.pipe(
    z.string(),
    z.transform((value: string) => value.trim()),
  ),
  '',
);
/** Names of a list, each once. An environment variable gives them as text, with commas or blanks between them. */
const listOf = <Name extends string>(names: readonly Name[], fallback: readonly Name[]) =>
  z.pipe(
    z.pipe(
      z.optional(z.unknown()),
      z.transform((value) => {
        if (value === undefined || value === null) return [...fallback];
        const list = typeof value === 'string' ? value.split(/[\s,]+/).filter((name) => name !== '') : value;
        return Array.isArray(list) ? [...new Set(list as unknown[])] : list;
      }),
    ),
    z.array(z.enum(names as readonly [Name, ...Name[]])),
  );

/** An environment variable gives a flag as text. */
const flag = (fallback: boolean) =>
  z.pipe(
    z.pipe(
      z.optional(z.unknown()),
      z.transform((value) => {
        if (value === undefined || value === null || value === '') return fallback;
        return value === 'true' ? true : value === 'false' ? false : value;
      }),
    ),
    z.boolean(),
  );

/** A number field of the editor holds text, and an empty one its default. */
const number = (fallback: number, minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  z._default(
    z.pipe(
      z.pipe(
        z.unknown(),
        z.transform((value) => {
          if (value === null || value === '') return fallback;
          return typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
        }),
      ),
      z.number().check(z.minimum(minimum), z.maximum(maximum)),
    ),
    fallback,
  );

/** None, or not more often than each second. */
const isPoll = (seconds: number): boolean => seconds === 0 || seconds >= 1;

/** The sources of a property. With `str` and `num` the property is the value itself. */
const valueTypes = ['str', 'num', 'msg', 'flow', 'global', 'env', 'jsonata'] as const;
const stringType = z._default(z.enum(valueTypes), 'str');
const numberType = z._default(z.enum(valueTypes), 'num');

/** `connected-vehicle` (docs/message-contract.md 2). Credentials stand apart, below. */
export const vehicleOptions = z.lazy(() =>
  z.object({
    name: text,
    service: z._default(z.enum(serviceNames), 'demo'),
    baseUrl: text,
    apiKeyHeader: text,
    mediaTypeVendor: text,
    authorizeUrl: text,
    tokenUrl: text,
    redirectUrl: text,
    /** Which car of the demo: its VIN is the default one. */
    demoCar: z._default(z.enum(demoCarNames), 'petrol'),
    vin: text,
    readOnly: flag(false),
    /** The permissions that the sign-in asks for besides reading the status. */
    access: listOf(accessNames, defaultAccess),
    /** The interfaces that a `custom` service has. */
    interfaces: listOf(interfaceNames, interfaceNames),
    requestsPerDay: number(10_000, 1),
    requestsPerMinute: number(100, 1),
    commandsPerMinute: number(10, 1),
    /** Seconds that a reading answers other readers; 0: every read is a request of its own. */
    shareFor: number(5, 0),
    /** How the nodes that poll do so: each at its own seconds, or as often as the car gives reason to. */
    polling: z._default(z.enum(pollings), 'fixed'),
  }),
);
export type VehicleOptions = z.infer<typeof vehicleOptions>;

/** All but `clientId` are of type `password` and never reach a browser. */
export const vehicleCredentials = z.lazy(() =>
  z.object({
    apiKey: text,
    accessToken: text,
    clientId: text,
    clientSecret: text,
    refreshToken: text,
  }),
);
export type VehicleCredentials = z.infer<typeof vehicleCredentials>;

/** `connected-vehicle-status` (docs/message-contract.md 3). */
export const statusOptions = z.lazy(() =>
  z.object({
    name: text,
    vehicle: text,
    vin: text,
    vinType: stringType,
    /** One read name, or `several`. */
    read: z._default(z.string(), 'windows'),
    readType: stringType,
    /** The read names where `read` is `several`. */
    reads: z._default(z.array(z.string()), []),
    interface: interfaceChoice,
    /** Seconds; 0 = only on a message. */
    poll: number(0, 0).check(z.refine(isPoll)),
    emit: z._default(z.enum(['always', 'changes']), 'always'),
  }),
);
export type StatusOptions = z.infer<typeof statusOptions>;

/** `connected-vehicle-command` (docs/message-contract.md 4). */
export const commandOptions = z.lazy(() =>
  z.object({
    name: text,
    vehicle: text,
    vin: text,
    vinType: stringType,
    /** Empty: taken from `msg.command`. */
    command: text,
    commandType: stringType,
    interface: interfaceChoice,
    /** Seconds, 1 to 120; the v1 unlock only. Empty: the maximum. */
    unlockDuration: z._default(z.union([z.number(), z.string()]), ''),
    unlockDurationType: numberType,
    /** Minutes, 1 to 15; `engine-start` only. Empty: the maximum. */
    runtimeMinutes: z._default(z.union([z.number(), z.string()]), ''),
    precheck: flag(false),
    /** While another command is under way to the same car. */
    whenBusy: z._default(z.enum(['refuse', 'queue']), 'refuse'),
    /** While the car takes no commands. */
    whenUnavailable: z._default(z.enum(['fail', 'wait']), 'fail'),
    /** Seconds. */
    deadline: number(600, 1, 86_400),
    /** Let an unlock wait too. */
    waitUnlock: flag(false),
    /** Seconds that an arming message holds for an unlock; 0: unlock needs none. */
    arming: number(0, 0, 3_600),
  }),
);
export type CommandOptions = z.infer<typeof commandOptions>;

/** `connected-vehicle-command-status` (docs/message-contract.md 5). */
export const commandStatusOptions = z.lazy(() =>
  z.object({
    name: text,
    vehicle: text,
    /** Seconds. */
    timeout: number(180, 1),
    /** Seconds. */
    interval: number(5, 1),
    verify: flag(true),
  }),
);
export type CommandStatusOptions = z.infer<typeof commandStatusOptions>;

/** `connected-vehicle-event` (docs/message-contract.md 5a). The library checks the events, the level and the places. */
export const eventOptions = z.lazy(() =>
  z.object({
    name: text,
    vehicle: text,
    vin: text,
    vinType: stringType,
    events: z._default(z.unknown(), []),
    /** Percent, for the two battery events. */
    level: z._default(z.unknown(), 20),
    levelType: numberType,
    places: z._default(z.unknown(), []),
    /** Seconds; 0 = only on a message. */
    poll: number(120, 0).check(z.refine(isPoll)),
  }),
);
export type EventOptions = Omit<z.infer<typeof eventOptions>, 'events' | 'places'> & {
  events: string[];
  places: unknown[];
};

/** `connected-vehicle-guard` (docs/message-contract.md 5b). The library checks what it watches, and when. */
export const guardOptions = z.lazy(() =>
  z.object({
    name: text,
    vehicle: text,
    vin: text,
    vinType: stringType,
    /** Kinds of openings, or single ones. */
    watch: z._default(z.unknown(), [...defaultWatch]),
    /** Minutes that something may be open. */
    minutes: z._default(z.unknown(), 10),
    minutesType: numberType,
    /** Other minutes for some kinds. */
    minutesFor: z._default(z.unknown(), {}),
    /** Minutes; 0 = said once. */
    repeat: z._default(z.unknown(), 0),
    /** `22:00-07:00`; empty: none. */
    quietHours: z._default(z.unknown(), ''),
    /** IANA name; empty: the machine's own. */
    timeZone: z._default(z.unknown(), ''),
    onlyWhileNotInUse: z._default(z.unknown(), false),
    /** Seconds; 0 = only what messages bring. */
    poll: number(120, 0).check(z.refine(isPoll)),
  }),
);
export type GuardOptions = Omit<z.infer<typeof guardOptions>, keyof GuardSettings> &
  Required<Omit<GuardSettings, 'watch'>> & { watch: WatchName[] };

/**
 * Checks what a flow file holds.
 * @throws VehicleError CONFIG, with the name of the property that is wrong
 */
export function parseOptions<Shape extends z.ZodMiniType>(shape: Shape, config: unknown): z.infer<Shape> {
  const parsed = shape.safeParse(config);
  if (parsed.success) return parsed.data as z.infer<Shape>;
  const property = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new VehicleError(
    'CONFIG',
    sentence`The property “${property}” of this node is not valid. Open the node, correct it and deploy again.`,
  );
}

/**
 * Checks what the editor sent.
 * @throws VehicleError INPUT_INVALID, with the name of the member that is wrong
 */
export function parseBody<Shape extends z.ZodMiniType>(shape: Shape, body: unknown): z.infer<Shape> {
  const parsed = shape.safeParse(body);
  if (parsed.success) return parsed.data as z.infer<Shape>;
  const member = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new VehicleError(
    'INPUT_INVALID',
    sentence`The field “${member}” of this form is not valid. Correct it and try again.`,
  );
}
