import {
  chargingMemberNames,
  resourceNames,
  statisticsMemberNames,
  wallboxMemberNames,
  type ReadName,
} from '../catalogue/reads';
import { groupReadNames } from '../catalogue/groups';
import { byName } from '../util/json';
import { parseCharging, parseChargingCapabilities, parseChargingDoneAt, parseChargingMember } from './charging';
import { fromGroup, parseGroup } from './grouped';
import {
  parseAccessibility,
  parseCommands,
  parseDetails,
  parseLocation,
  parseOpenings,
  parseResource,
  parseStatistic,
  parseVehicles,
  type AnswerContext,
  type Parsed,
} from './readings';
import { parseWallboxMember, parseWallboxSessions } from './wallbox';

export type Parser<Payload> = (body: unknown, context: AnswerContext) => Parsed<Payload>;

/** Each parser throws VehicleError BAD_RESPONSE if the answer is something else. */
export const parsers = {
  windows: (body: unknown, context: AnswerContext) => parseOpenings('windows', body, context),
  doors: (body: unknown, context: AnswerContext) => parseOpenings('doors', body, context),
  details: parseDetails,
  vehicles: parseVehicles,
  commands: parseCommands,
  accessibility: parseAccessibility,
  charging: parseCharging,
  chargingDoneAt: parseChargingDoneAt,
  ...byName(chargingMemberNames, (name) => (body: unknown) => parseChargingMember(name, body)),
  chargingCapabilities: parseChargingCapabilities,
  wallboxSessions: parseWallboxSessions,
  ...byName(
    wallboxMemberNames,
    (name) =>
      (body: unknown, { receivedAt }: AnswerContext) =>
        parseWallboxMember(name, body, receivedAt),
  ),
  location: parseLocation,
  ...byName(groupReadNames, () => parseGroup),
  ...byName(statisticsMemberNames, (name) => (body: unknown) => parseStatistic(name, body)),
  ...byName(
    resourceNames,
    (name) =>
      (body: unknown, { interface: iface, burnsFuel }: AnswerContext) =>
        iface === 'extended-v1' ? parseResource(name, body) : fromGroup(name, body, burnsFuel),
  ),
} satisfies Record<ReadName, Parser<unknown>>;

/** `msg.payload` of a read (docs/internals/contract.md 3). */
export type ReadPayload<Name extends ReadName> = ReturnType<(typeof parsers)[Name]>['payload'];
