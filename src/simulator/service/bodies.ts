import { commandNames, commandRow, isOfWallbox } from '../../catalogue/commands';
import { openingsOf, type OpeningRead } from '../../catalogue/openings';
import {
  chargingMemberNames,
  interfaces,
  resources,
  type InterfaceName,
  type Resource,
  type ResourceName,
} from '../../catalogue/reads';
import { iso } from '../../util/clock';
import { byName } from '../../util/json';
import { energyMessages, energyState, isClaimed } from '../car/battery';
import type { Car } from '../car/car';
import { groups } from '../car/groups';
import type { Invocation } from '../car/invocation';
import { optionalCommands } from '../car/profiles';
import { minuteMs } from '../../util/durations';

/**
 * The bodies of the answers, in two dialects of the same car. `real`: the shapes of the service
 * behind the specification, since August 2026 (docs/internals/vendor-api.md 1 to 3, 6.1). `plain`:
 * the shapes of docs/internals/service.md. If the document shows no body, the following are used,
 * all of them covered by docs/internals/vendor-api.md:
 * - connected answers are `{ data }` (4.1 and 4.2 speak of a "data node");
 * - v2 windows and doors have the members of v1 (2.3, 2.4);
 * - a resource is `{ resourceValue: { value, unit, timestamp } }`, typed as in 2.8
 *   (docs/internals/vendor-api.md 3.1);
 * - a v2 command answers `{ data: { vin, invokeStatus, message } }`, the v1 link with the detail of
 *   docs/internals/vendor-api.md 2.2. Energy, location and the groups of connected v2 are the same
 *   in both.
 */

export interface ViewContext {
  /** `{base_url}` (specification, introduction). */
  url: string;
  now: number;
  operationId: string;
  interface: InterfaceName;
  isReal: boolean;
}

type Body = Record<string, unknown>;

/** Fractions of a second with this many digits; further than milliseconds they are zeros. */
const withDigits = (ms: number, digits: number): string =>
  iso(ms).replace(/\.(\d+)Z$/, (_, millis: string) => {
    const fraction = millis.padEnd(digits, '0').slice(0, digits);
    return `${fraction === '' ? '' : `.${fraction}`}Z`;
  });

/** One year (docs/internals/service.md 2.5). */
export function yearAfter(ms: number): string {
  const date = new Date(ms);
  date.setUTCFullYear(date.getUTCFullYear() + 1);
  return date.toISOString();
}

export const envelope = (data: unknown, { interface: name, operationId, isReal }: ViewContext): Body =>
  isReal && name === 'connected-v1' ? { status: 200, operationId, data } : { data };

/**
 * The windows or doors. Version 1 lacks the openings that not every car has; the real v2 has names
 * of its own, nine digits of the second, and a unit that is null (docs/internals/vendor-api.md 1.5,
 * 1.6, 2.1, 6.1).
 */
export function openingsBody(car: Car, read: OpeningRead, { interface: from, isReal }: ViewContext): Body {
  const body: Body = {};
  const isV2 = isReal && from === 'connected-v2';
  const words: Readonly<Record<string, string | null>> = car.state[read];
  for (const { kind, name, v2, ifFitted } of openingsOf[read]) {
    if (!isV2 && ifFitted) continue;
    body[isV2 ? v2 : name] = {
      timestamp: withDigits(car.measuredAt(kind === 'lock' ? 'lock' : `${read}.${name}`), isV2 ? 9 : 3),
      ...(isV2 && { unit: null }),
      value: kind === 'lock' ? car.state.lock : (words[name] ?? null),
    };
  }
  return body;
}

/** The real service also sends nulls, and the upholstery. */
export function detailsBody(car: Car, context: ViewContext): Body {
  const { images, descriptions, ...details } = car.state.details;
  const { model, steering } = descriptions;
  const shown = {
    vin: car.vin,
    ...details,
    images: {
      exteriorImageUrl: images.exteriorImageUrl ?? imageUrl('exterior', context),
      internalImageUrl: images.internalImageUrl ?? imageUrl('interior', context),
    },
    descriptions: context.isReal ? descriptions : { model, steering },
  };
  return Object.fromEntries(Object.entries(shown).filter(([, value]) => context.isReal || value !== null));
}

/**
 * An address is valid for 15 minutes; there are several sides (docs/internals/vendor-api.md 14.8).
 */
const imageUrl = (view: 'exterior' | 'interior', { url, now }: ViewContext): string =>
  `${url}/images/${view}.svg?expires=${now + 15 * minuteMs}${view === 'exterior' ? '&w=480&angle=0' : ''}`;

/** The names of the commands that every car of its kind accepts. */
export const standardCommands = commandNames.filter(
  (name) => !isOfWallbox(name) && !optionalCommands.some((other) => other === name),
);

/** The real addresses are relative and lack the prefix (docs/internals/vendor-api.md 1.7). */
export function commandList(car: Car, { url, isReal }: ViewContext): { command: string; href: string }[] {
  const { classic, extraCommands } = car.state;
  return [...standardCommands, ...extraCommands]
    .filter((name) => !(classic && name === 'lock-reduced-guard'))
    .map((name) => {
      const path = `/vehicles/${car.vin}/commands/${name}`;
      if (isReal) return { command: wireName(name), href: `/v2${path}` };
      return { command: name, href: url + interfaces[isOnV2(name) ? 'connected-v2' : 'connected-v1'].path + path };
    });
}

/** `honk-flash` -> `HONK_AND_FLASH` (docs/internals/vendor-api.md 1.7). */
const wireName = (name: string): string =>
  name === 'honk-flash' ? 'HONK_AND_FLASH' : name.toUpperCase().replaceAll('-', '_');

/** v2 has lock, lock-reduced-guard, unlock, and what the specification does not list. */
function isOnV2(name: string): boolean {
  const routes = commandRow(name)?.routes;
  return routes?.['connected-v1'] === undefined || routes['connected-v2']?.unlisted === undefined;
}

export function accessibilityBody(car: Car, { isReal }: ViewContext): Body {
  const { value, unavailableReason } = car.availability;
  return {
    availabilityStatus: {
      value,
      // "The unavailable reason is given when the vehicle is not available"
      // (docs/internals/service.md 2.7).
      ...((isReal || value !== 'AVAILABLE') && { unavailableReason }),
      timestamp: withDigits(car.measuredAt('availability'), isReal ? 6 : 3),
    },
  };
}

/** The real one has texts by its name, and milliseconds (docs/internals/vendor-api.md 3.1). */
export function resourceBody(car: Car, name: ResourceName, { isReal }: ViewContext): Body {
  const row: Resource = resources[name];
  const found = car.resource(name);
  // Whole if docs/internals/service.md 2.8 types it so, although a trip leaves fractions.
  const value = typeof found === 'number' && row.kind === 'integer' ? Math.floor(found) : found;
  const at = car.resourceMeasuredAt(name);
  return {
    [isReal ? name : 'resourceValue']: {
      value: isReal && value !== null ? String(value) : value,
      ...('unit' in row && { unit: row.unit }),
      timestamp: isReal ? at : iso(at),
    },
  };
}

/** The body of the answer to a v1 command (docs/internals/service.md 2.5). */
export function acceptedBody(invocation: Invocation, status: string, href: string, isReal: boolean): Body {
  const { id, operationId, receivedAt } = invocation;
  const async = { status, id, href, expires: yearAfter(receivedAt) };
  if (!isReal) return { data: { status: 202, operationId, async } };
  return { status: 202, operationId, partial: { currentStep: 0, totalSteps: 0 }, async };
}

export function endedBody(vin: string, invocation: Invocation, invokeStatus: string, isReal: boolean): Body {
  const { command, unlockDuration } = invocation;
  const isReady = isReal && command === 'unlock' && invokeStatus === 'COMPLETED';
  const ready = { readyToUnlock: true, readyToUnlockUntil: unlockDuration };
  return { data: { vin, invokeStatus, message: '', ...(isReady && ready) } };
}

/** docs/internals/vendor-api.md 12.2. */
export function energyBody(car: Car): Body {
  const values = energyState(car.state);
  return byName(chargingMemberNames, (name) => {
    const value = values[name];
    return 'code' in value
      ? { status: 'ERROR', code: value.code, message: energyMessages[value.code] ?? value.code }
      : { status: 'OK', ...value, updatedAt: withDigits(car.measuredAt(`energy.${name}`), 0) };
  });
}

/** docs/internals/vendor-api.md 12.4. */
export function capabilitiesBody(car: Car): Body {
  const inner: Body = { isSupported: chargingMemberNames.some((name) => isClaimed(car.state, name)) };
  for (const name of chargingMemberNames) {
    // The one name that differs from the state's.
    const key = name === 'chargingStatus' ? 'chargingSystemStatus' : name;
    inner[key] = { isSupported: isClaimed(car.state, name) };
  }
  return { getEnergyState: inner };
}

/** docs/internals/vendor-api.md 13. */
export function locationBody(car: Car, operationId: string): Body {
  const { longitude, latitude, altitude, heading } = car.state.location;
  return {
    data: {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [longitude, latitude, ...(altitude === null ? [] : [altitude])] },
      properties: {
        timestamp: withDigits(car.measuredAt('location'), 9),
        ...(heading !== null && { heading: String(Math.round(heading)) }),
      },
    },
    // Without dashes here.
    operationId: operationId.replaceAll('-', ''),
    status: 200,
  };
}

/**
 * The data node of a group of v2 (docs/internals/vendor-api.md 14): nanoseconds everywhere but in
 * the statistics; null for a member without a value (6.1).
 */
export function groupBody(car: Car, group: keyof typeof groups): Body {
  const body: Body = {};
  for (const [key, { path, unit, value: valueOf }] of Object.entries(groups[group])) {
    const value = valueOf(car.state, (name) => car.resource(name));
    const timestamp = withDigits(car.measuredAt(path), group === 'statistics' ? 3 : 9);
    body[key] = value === null ? null : { timestamp, unit, value };
  }
  return body;
}
