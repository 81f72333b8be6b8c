import { isAsSpecified, json, type InterfaceName, type Versions } from './reads';

/**
 * The commands as a table (docs/internals/service.md 4.1 and 4.2; the v2 routes of flash, honk and
 * honk-flash: docs/internals/vendor-api.md 1.10; climate and engine:
 * docs/internals/vendor-api.md 15; the wallbox: docs/internals/vendor-api.md 17).
 */
interface RouteRow {
  /** Below the interface's base path; `{vin}`, or `{wallbox}` and `{ampere}`, is filled in. */
  path: string;
  /** Value of the content-type header; `{vendor}` is the profile's media type vendor. */
  contentType: string;
  body?: 'unlockDuration' | 'runtimeMinutes' | 'schedule';
  /** The specification does not list this route: at a service as specified, `auto` is v1. */
  unlisted?: true;
}

export const commandInterfaces = ['connected-v1', 'connected-v2', 'energy-device-v1'] as const;
export type CommandInterface = (typeof commandInterfaces)[number];

export interface CommandRow {
  routes: Partial<Record<CommandInterface, RouteRow>>;
  /** Besides `openid`. */
  scopes: readonly string[];
  /** A value of the property `access` of the configuration (docs/internals/contract.md 2). */
  access: 'lock' | 'unlock' | 'honk-flash' | 'climate' | 'engine' | 'wallbox';
  /**
   * For each state of the lock (of the engine if `access` is `engine`, of the wallbox if it is
   * `wallbox`) that was measured after the command: whether it shows that the car acted. Absent if
   * no read shows it. An unlocked tailgate leaves the lock `LOCKED`
   * (docs/internals/vendor-api.md 1.9), so that state proves nothing about `unlock`.
   */
  proof?: Partial<Record<'LOCKED' | 'UNLOCKED' | 'RUNNING' | 'STOPPED' | 'CHARGING', boolean>>;
  /** No read shows the effect, so this is assumed (docs/internals/vendor-api.md 15.1). */
  assumedMinutes?: number;
}

/** Seconds (docs/internals/service.md 4.2 rule 1). */
export const unlockDurationLimits = { minimum: 1, maximum: 120 } as const;

/** Minutes; what 0 does is not published (docs/internals/vendor-api.md 15.2). */
export const runtimeMinutesLimits = { minimum: 1, maximum: 15 } as const;

/** Ampere of a wallbox; the service publishes no limits, and IEC 61851 has none below 6. */
export const ampereLimits = { minimum: 6, maximum: 32 } as const;

/** Version 1 has a media type for each command. */
const v1 = (name: string, word: string) => ({
  path: `/vehicles/{vin}/commands/${name}`,
  contentType: `application/vnd.{vendor}.api.connected-vehicle.${word}.v1+json`,
});
const v2 = (name: string) => ({ path: `/vehicles/{vin}/commands/${name}`, contentType: json });
const unlistedV2 = (name: string) => ({ ...v2(name), unlisted: true }) as const;

const honkFlash = { scopes: ['conve:honk_flash'], access: 'honk-flash' } as const;
const climate = { scopes: ['conve:climatization_start_stop'], access: 'climate' } as const;
const engine = { scopes: ['conve:engine_start_stop'], access: 'engine' } as const;

/** Which of the last two scopes a command needs is not published. */
const ofWallbox = (path: string, body?: 'schedule') => ({
  routes: { 'energy-device-v1': { path: `/wallbox/{wallbox}/${path}`, contentType: json, ...(body && { body }) } },
  scopes: ['energy_device:wallbox:write', 'energy_device:wallbox:control'],
  access: 'wallbox' as const,
});

export const commands = /* @__PURE__ */ commandRows();

function commandRows() {
  return {
    lock: {
      routes: { 'connected-v1': v1('lock', 'lock'), 'connected-v2': v2('lock') },
      scopes: ['conve:lock'],
      access: 'lock',
      proof: { LOCKED: true, UNLOCKED: false },
    },
    'lock-reduced-guard': {
      routes: { 'connected-v2': v2('lock-reduced-guard') },
      scopes: ['conve:lock'],
      access: 'lock',
      proof: { LOCKED: true, UNLOCKED: false },
    },
    unlock: {
      routes: {
        'connected-v1': { ...v1('unlock', 'unlock'), body: 'unlockDuration' },
        'connected-v2': v2('unlock'),
      },
      scopes: ['conve:unlock'],
      access: 'unlock',
      proof: { UNLOCKED: true },
    },
    flash: { ...honkFlash, routes: { 'connected-v1': v1('flash', 'flash'), 'connected-v2': unlistedV2('flash') } },
    honk: { ...honkFlash, routes: { 'connected-v1': v1('honk', 'honk'), 'connected-v2': unlistedV2('honk') } },
    'honk-flash': {
      ...honkFlash,
      routes: { 'connected-v1': v1('honk-flash', 'honkandflash'), 'connected-v2': unlistedV2('honk-flash') },
    },
    'climatization-start': {
      ...climate,
      routes: { 'connected-v2': unlistedV2('climatization-start') },
      assumedMinutes: 30,
    },
    'climatization-stop': { ...climate, routes: { 'connected-v2': unlistedV2('climatization-stop') } },
    'engine-start': {
      ...engine,
      routes: { 'connected-v2': { ...unlistedV2('engine-start'), body: 'runtimeMinutes' } },
      proof: { RUNNING: true, STOPPED: false },
    },
    'engine-stop': {
      ...engine,
      routes: { 'connected-v2': unlistedV2('engine-stop') },
      proof: { STOPPED: true, RUNNING: false },
    },
    // A session stays open while the car waits for power, so none is proof of a pause.
    'wallbox-start': { ...ofWallbox('start'), proof: { CHARGING: true } },
    'wallbox-pause': ofWallbox('pause'),
    'wallbox-limit': ofWallbox('setChargingAmpLimit?limit={ampere}'),
    'wallbox-schedule': ofWallbox('chargingSchedule', 'schedule'),
  } as const satisfies Record<string, CommandRow>;
}

export type CommandName = keyof typeof commands;
export const commandNames = /* @__PURE__ */ Object.keys(commands) as CommandName[];
export const isCommandName = (name: string): name is CommandName => Object.hasOwn(commands, name);
/** Undefined for a command that only the vehicle's own list has. */
export const commandRow = (name: string): CommandRow | undefined => (isCommandName(name) ? commands[name] : undefined);

export const isOfWallbox = (name: string): boolean => commandRow(name)?.access === 'wallbox';

const proofReads: Partial<Record<CommandRow['access'], 'engine-status' | 'wallboxCharging'>> = {
  engine: 'engine-status',
  wallbox: 'wallboxCharging',
};

/** The read whose value shows that the car carried out a command; null if none does. */
export function proofReadOf(name: string): 'doors' | 'engine-status' | 'wallboxCharging' | null {
  const command = commandRow(name);
  if (command?.proof === undefined) return null;
  return proofReads[command.access] ?? 'doors';
}

/** The form of a command's name, also of one that only the vehicle's own list has. */
export const commandPattern = /^[a-z][a-z0-9-]{1,63}$/;

/**
 * Names on the wire that are not the path's name in capitals (docs/internals/vendor-api.md 1.7).
 */
const wireNames: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([['honk-and-flash', 'honk-flash']]);

/** `LOCK_REDUCED_GUARD` -> `lock-reduced-guard` (docs/internals/contract.md 3 and 4). */
export function commandFromWire(name: string): string {
  const written = name.toLowerCase().replaceAll('_', '-');
  return wireNames.get(written) ?? written;
}

/** The link of a v1 command (docs/internals/vendor-api.md 2.2). */
export const requestDetails = {
  scopes: ['conve:commands'],
  accept: 'application/vnd.{vendor}.api.connected-vehicle.requestdetailresponse.v1+json',
} as const;

/** Null for a command of another interface. @param available the interfaces of the service */
export function versionsOfCommand(name: CommandName, available: readonly InterfaceName[]): Versions | null {
  const { routes }: CommandRow = commands[name];
  const [v1, v2] = [routes['connected-v1'], routes['connected-v2']];
  if (v1 === undefined && v2 === undefined) return null;
  const v1First = v1 !== undefined && v2?.unlisted === true && isAsSpecified(available);
  return { v1: v1 !== undefined, v2: v2 !== undefined, v1First };
}
