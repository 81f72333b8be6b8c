import { json } from './reads';

/**
 * The commands as a table (docs/service.md 4.1 and 4.2; the v2 routes of flash, honk and honk-flash: docs/field-notes.md 1.10;
 * climate and engine: docs/energy-location-api.md 5).
 */
export interface CommandRoute {
  /** Below the interface's base path; `{vin}` is filled in. */
  path: string;
  /** Value of the content-type header; `{vendor}` is the profile's media type vendor. */
  contentType: string;
  /** The member that the body holds. */
  body?: 'unlockDuration' | 'runtimeMinutes';
  /** The specification does not list this route: it is used where v1 is not available, or when it is chosen by name. */
  unlisted?: true;
}

export interface Command {
  routes: Partial<Record<'connected-v1' | 'connected-v2', CommandRoute>>;
  /** Besides `openid`. */
  scopes: readonly string[];
  /** The access that this command needs, from the property `access` of the configuration (docs/message-contract.md 2). */
  access: 'lock' | 'unlock' | 'honk-flash' | 'climate' | 'engine';
  /**
   * For each state of the lock (of the engine where `access` is `engine`) that was measured after the command: whether it shows that
   * the car acted. Absent where no read shows it. An unlocked tailgate leaves the lock `LOCKED` (docs/field-notes.md 1.9), so that state
   * proves nothing about `unlock`.
   */
  proof?: Partial<Record<'LOCKED' | 'UNLOCKED' | 'RUNNING' | 'STOPPED', boolean>>;
  /** No read shows the effect; it is assumed to last so many minutes (docs/energy-location-api.md 5.1). */
  assumedMinutes?: number;
}

/** Seconds (docs/service.md 4.2 rule 1). */
export const unlockDurationLimits = { minimum: 1, maximum: 120 } as const;

/** Minutes; what 0 does is not published (docs/energy-location-api.md 5.2). */
export const runtimeMinutesLimits = { minimum: 1, maximum: 15 } as const;

export const commands = {
  lock: {
    routes: {
      'connected-v1': {
        path: '/vehicles/{vin}/commands/lock',
        contentType: 'application/vnd.{vendor}.api.connected-vehicle.lock.v1+json',
      },
      'connected-v2': { path: '/vehicles/{vin}/commands/lock', contentType: json },
    },
    scopes: ['conve:lock'],
    access: 'lock',
    proof: { LOCKED: true, UNLOCKED: false },
  },
  'lock-reduced-guard': {
    routes: { 'connected-v2': { path: '/vehicles/{vin}/commands/lock-reduced-guard', contentType: json } },
    scopes: ['conve:lock'],
    access: 'lock',
    proof: { LOCKED: true, UNLOCKED: false },
  },
  unlock: {
    routes: {
      'connected-v1': {
        path: '/vehicles/{vin}/commands/unlock',
        contentType: 'application/vnd.{vendor}.api.connected-vehicle.unlock.v1+json',
        body: 'unlockDuration',
      },
      'connected-v2': { path: '/vehicles/{vin}/commands/unlock', contentType: json },
    },
    scopes: ['conve:unlock'],
    access: 'unlock',
    proof: { UNLOCKED: true },
  },
  flash: {
    routes: {
      'connected-v1': {
        path: '/vehicles/{vin}/commands/flash',
        contentType: 'application/vnd.{vendor}.api.connected-vehicle.flash.v1+json',
      },
      'connected-v2': { path: '/vehicles/{vin}/commands/flash', contentType: json, unlisted: true },
    },
    scopes: ['conve:honk_flash'],
    access: 'honk-flash',
  },
  honk: {
    routes: {
      'connected-v1': {
        path: '/vehicles/{vin}/commands/honk',
        contentType: 'application/vnd.{vendor}.api.connected-vehicle.honk.v1+json',
      },
      'connected-v2': { path: '/vehicles/{vin}/commands/honk', contentType: json, unlisted: true },
    },
    scopes: ['conve:honk_flash'],
    access: 'honk-flash',
  },
  'honk-flash': {
    routes: {
      'connected-v1': {
        path: '/vehicles/{vin}/commands/honk-flash',
        contentType: 'application/vnd.{vendor}.api.connected-vehicle.honkandflash.v1+json',
      },
      'connected-v2': { path: '/vehicles/{vin}/commands/honk-flash', contentType: json, unlisted: true },
    },
    scopes: ['conve:honk_flash'],
    access: 'honk-flash',
  },
  'climatization-start': {
    routes: {
      'connected-v2': { path: '/vehicles/{vin}/commands/climatization-start', contentType: json, unlisted: true },
    },
    scopes: ['conve:climatization_start_stop'],
    access: 'climate',
    assumedMinutes: 30,
  },
  'climatization-stop': {
    routes: {
      'connected-v2': { path: '/vehicles/{vin}/commands/climatization-stop', contentType: json, unlisted: true },
    },
    scopes: ['conve:climatization_start_stop'],
    access: 'climate',
  },
  'engine-start': {
    routes: {
      'connected-v2': {
        path: '/vehicles/{vin}/commands/engine-start',
        contentType: json,
        body: 'runtimeMinutes',
        unlisted: true,
      },
    },
    scopes: ['conve:engine_start_stop'],
    access: 'engine',
    proof: { RUNNING: true, STOPPED: false },
  },
  'engine-stop': {
    routes: { 'connected-v2': { path: '/vehicles/{vin}/commands/engine-stop', contentType: json, unlisted: true } },
    scopes: ['conve:engine_start_stop'],
    access: 'engine',
    proof: { STOPPED: true, RUNNING: false },
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof commands;
export const commandNames = /* @__PURE__ */ Object.keys(commands) as CommandName[];
export const isCommandName = (name: string): name is CommandName => Object.hasOwn(commands, name);

/** The read whose value shows that the car carried out a command; null where none does. */
export function proofReadOf(name: string): 'doors' | 'engine-status' | null {
  const command: Command | undefined = isCommandName(name) ? commands[name] : undefined;
  if (command?.proof === undefined) return null;
  return command.access === 'engine' ? 'engine-status' : 'doors';
}

/** The form of a command's name, also of one that only the vehicle's own list has. */
export const commandPattern = /^[a-z][a-z0-9-]{1,63}$/;

/** Names on the wire that are not the path's name in capitals (docs/field-notes.md 1.7). */
const wireNames: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([['honk-and-flash', 'honk-flash']]);

/** `LOCK_REDUCED_GUARD` as the command node takes it: `lock-reduced-guard` (docs/message-contract.md 3 and 4). */
export function commandFromWire(name: string): string {
  const written = name.toLowerCase().replaceAll('_', '-');
  return wireNames.get(written) ?? written;
}

/** The read that follows a v1 command: scope and media type of its link (docs/field-notes.md 2.2). */
export const requestDetails = {
  scopes: ['conve:commands'],
  accept: 'application/vnd.{vendor}.api.connected-vehicle.requestdetailresponse.v1+json',
} as const;

/** The versions of the connected interface that have a command; `v2Unlisted`: the specification does not list it there. */
export function versionsOfCommand(name: CommandName): { v1: boolean; v2: boolean; v2Unlisted: boolean } {
  const { routes }: Command = commands[name];
  const v2 = routes['connected-v2'];
  return { v1: 'connected-v1' in routes, v2: v2 !== undefined, v2Unlisted: v2?.unlisted === true };
}
