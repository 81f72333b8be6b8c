import { json } from './reads';

/**
 * What can be commanded, as a table (specification 4.1 and 4.2; the v2 routes of flash, honk and honk-flash: field notes 1.10).
 */
export interface CommandRoute {
  /** Below the interface's base path; `{vin}` is filled in. */
  path: string;
  /** Value of the content-type header; `{vendor}` is the profile's media type vendor. */
  contentType: string;
  /** The body holds `unlockDuration` (specification 4.2 rule 1). */
  unlockDuration?: true;
  /** The specification does not list this route; it serves where v1 is not alive, or when it is asked for by name. */
  unlisted?: true;
}

export interface Command {
  routes: Partial<Record<'connected-v1' | 'connected-v2', CommandRoute>>;
  /** Besides `openid`. */
  scopes: readonly string[];
  /**
   * What a lock that was measured after the command proves; absent where no read shows the command. An unlocked tailgate
   * leaves the lock `LOCKED` (field notes 1.9), so that proves nothing.
   */
  proof?: { LOCKED?: boolean; UNLOCKED?: boolean };
}

export const unlockDurationLimits = { minimum: 1, maximum: 120 } as const;

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
    proof: { LOCKED: true, UNLOCKED: false },
  },
  'lock-reduced-guard': {
    routes: { 'connected-v2': { path: '/vehicles/{vin}/commands/lock-reduced-guard', contentType: json } },
    scopes: ['conve:lock'],
    proof: { LOCKED: true, UNLOCKED: false },
  },
  unlock: {
    routes: {
      'connected-v1': {
        path: '/vehicles/{vin}/commands/unlock',
        contentType: 'application/vnd.{vendor}.api.connected-vehicle.unlock.v1+json',
        unlockDuration: true,
      },
      'connected-v2': { path: '/vehicles/{vin}/commands/unlock', contentType: json },
    },
    scopes: ['conve:unlock'],
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
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof commands;
export const commandNames = /* @__PURE__ */ Object.keys(commands) as CommandName[];
export const isCommandName = (name: string): name is CommandName => Object.hasOwn(commands, name);

/** What a command may be called, those of the vehicle's own list too. */
export const commandPattern = /^[a-z][a-z0-9-]{1,63}$/;

/** Names on the wire that are not the path's name in capitals (field notes 1.7). */
const wireNames: Record<string, string> = { HONK_AND_FLASH: 'honk-flash' };

/** `LOCK_REDUCED_GUARD` as the command node takes it: `lock-reduced-guard` (contract 3). */
export const commandFromWire = (name: string): string =>
  wireNames[name.toUpperCase()] ?? name.toLowerCase().replaceAll('_', '-');

/** The read that follows a v1 command: scope and media type of its link (field notes 2.2). */
export const requestDetails = {
  scopes: ['conve:commands'],
  accept: 'application/vnd.{vendor}.api.connected-vehicle.requestdetailresponse.v1+json',
} as const;
