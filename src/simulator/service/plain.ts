import { commands, isCommandName, type Command } from '../../catalogue/commands';
import { interfacePaths, resources, type Resource } from '../../catalogue/reads';
import {
  commandsOf,
  imageUrl,
  iso,
  openingMembers,
  resourceValue,
  putMember,
  yearAfter,
  type Dialect,
} from './dialect';

/**
 * The specification's shapes. Where it shows none, these stand in, all of them covered by the field notes:
 * - connected answers are `{ data }` (4.1 and 4.2 speak of a "data node");
 * - v2 windows and doors have the members of v1 (2.3, 2.4);
 * - a resource is `{ resourceValue: { value, unit, timestamp } }`, typed as in 2.8 (docs/field-notes.md 3.1);
 * - a v2 command answers `{ data: { vin, invokeStatus, message } }`, the v1 link with the detail of docs/field-notes.md 2.2.
 */
export const plain: Dialect = {
  name: 'plain',
  envelope: (data) => ({ data }),
  windows: (car) => openingMembers(car, 'windows', 'v1', specified),
  doors: (car) => openingMembers(car, 'doors', 'v1', specified),
  details(car, context) {
    const { images, descriptions, ...details } = car.state.details;
    const body: Record<string, unknown> = { vin: car.vin };
    for (const [name, value] of Object.entries(details))
      if (value !== null) putMember(body, name, car, `details.${name}`, () => value);
    putMember(body, 'images', car, 'details.images', () => ({
      exteriorImageUrl: images.exteriorImageUrl ?? imageUrl('exterior', context),
      internalImageUrl: images.internalImageUrl ?? imageUrl('interior', context),
    }));
    putMember(body, 'descriptions', car, 'details.descriptions', () => ({
      model: descriptions.model,
      steering: descriptions.steering,
    }));
    return body;
  },
  commands: (car, { url }) =>
    commandsOf(car).map((command) => {
      const base = interfacePaths[isOnV2(command) ? 'connected-v2' : 'connected-v1'];
      return { command, href: `${url}${base}/vehicles/${car.vin}/commands/${command}` };
    }),
  accessibility(car) {
    const { value, unavailableReason } = car.availability;
    const body = {};
    putMember(body, 'availabilityStatus', car, 'availability', () => ({
      value,
      // "The unavailable reason is given when the vehicle is not available" (docs/service.md 2.7).
      ...(value === 'AVAILABLE' ? {} : { unavailableReason }),
      timestamp: iso(car.measuredAt('availability')),
    }));
    return body;
  },
  resource(car, name) {
    const row: Resource = resources[name];
    const body = {};
    putMember(body, 'resourceValue', car, `resources.${name}`, () => ({
      value: resourceValue(car, name),
      ...('unit' in row ? { unit: row.unit } : {}),
      timestamp: iso(car.resourceMeasuredAt(name)),
    }));
    return body;
  },
  accepted: (invocation, status, { href }) => ({
    data: {
      status: 202,
      operationId: invocation.operationId,
      async: { status, id: invocation.id, href, expires: yearAfter(invocation.receivedAt) },
    },
  }),
  ended: (car, _invocation, invokeStatus) => ({ data: { vin: car.vin, invokeStatus, message: '' } }),
};

/** On v2 the specification has lock, lock-reduced-guard and unlock only; what a car has besides is a command of v2. */
function isOnV2(name: string): boolean {
  if (!isCommandName(name)) return true;
  const routes: Command['routes'] = commands[name].routes;
  return routes['connected-v1'] === undefined || routes['connected-v2']?.unlisted === undefined;
}

const specified = (value: string | null, ms: number): unknown => ({ value, timestamp: iso(ms) });
