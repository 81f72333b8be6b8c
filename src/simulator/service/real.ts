import type { OpeningRead } from '../../catalogue/openings';
import { resources, type Resource } from '../../catalogue/reads';
import type { Car } from '../car/car';
import {
  commandsOf,
  imageUrl,
  iso,
  openingMembers,
  putMember,
  resourceValue,
  withDigits,
  yearAfter,
  type Dialect,
  type ViewContext,
} from './dialect';

/** The shapes of the service behind the specification, since August 2026 (docs/field-notes.md 1 to 3, 6.1). */
export const real: Dialect = {
  name: 'real',
  envelope: (data, status, { interface: name, operationId }) =>
    name === 'connected-v1' ? { status, operationId, data } : { data },
  windows: (car, context) => members(car, 'windows', context),
  doors: (car, context) => members(car, 'doors', context),
  details(car, context) {
    const { images, ...details } = car.state.details;
    const body: Record<string, unknown> = { vin: car.vin };
    for (const [name, value] of Object.entries(details)) putMember(body, name, car, `details.${name}`, () => value);
    putMember(body, 'images', car, 'details.images', () => ({
      exteriorImageUrl: images.exteriorImageUrl ?? imageUrl('exterior', context),
      internalImageUrl: images.internalImageUrl ?? imageUrl('interior', context),
    }));
    return body;
  },
  // Relative, and without the interface's own prefix (docs/field-notes.md 1.7).
  commands: (car) =>
    commandsOf(car).map((name) => ({
      command: wireName(name),
      href: `/v2/vehicles/${car.vin}/commands/${name}`,
    })),
  accessibility(car) {
    const body = {};
    putMember(body, 'availabilityStatus', car, 'availability', () => ({
      timestamp: micros(car.measuredAt('availability')),
      unavailableReason: car.availability.unavailableReason,
      value: car.availability.value,
    }));
    return body;
  },
  // Keyed by its own name, every value a text, the time in milliseconds (docs/field-notes.md 3.1).
  resource(car, name) {
    const row: Resource = resources[name];
    const body = {};
    putMember(body, name, car, `resources.${name}`, () => {
      const value = resourceValue(car, name);
      return {
        value: value === null ? null : String(value),
        ...('unit' in row ? { unit: row.unit } : {}),
        timestamp: car.resourceMeasuredAt(name),
      };
    });
    return body;
  },
  accepted: (invocation, status, { href }) => ({
    status: 202,
    operationId: invocation.operationId,
    partial: { currentStep: 0, totalSteps: 0 },
    async: { status, id: invocation.id, href, expires: yearAfter(invocation.receivedAt) },
  }),
  ended(car, invocation, invokeStatus) {
    const data = { vin: car.vin, invokeStatus, message: '' };
    const ready = invocation.command === 'unlock' && invokeStatus === 'COMPLETED';
    return { data: ready ? { ...data, readyToUnlock: true, readyToUnlockUntil: invocation.unlockDuration } : data };
  },
};

/** `honk-flash` -> `HONK_AND_FLASH` (docs/field-notes.md 1.7). */
const wireName = (name: string): string =>
  name === 'honk-flash' ? 'HONK_AND_FLASH' : name.toUpperCase().replaceAll('-', '_');

/** Six digits of the second (docs/field-notes.md 6.1). */
const micros = (ms: number): string => withDigits(ms, 6);

/** v2 has names of its own, two more members, and a unit that is null (docs/field-notes.md 1.5, 1.6, 2.1). */
const members = (car: Car, read: OpeningRead, { interface: name }: ViewContext): unknown =>
  name === 'connected-v1'
    ? openingMembers(car, read, 'v1', (value, ms) => ({ value, timestamp: iso(ms) }))
    : openingMembers(car, read, 'v2', (value, ms) => ({ timestamp: micros(ms), unit: null, value }));
