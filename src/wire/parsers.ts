import { chargingMemberNames, resourceNames, statisticsMemberNames, type ReadName } from '../catalogue/reads';
import { groupReadNames } from '../catalogue/groups';
import {
  parseCharging,
  parseChargingCapabilities,
  parseChargingDoneAt,
  parseChargingMember,
  type ChargingMember,
} from './charging';
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

type Parser<Payload> = (body: unknown, context: AnswerContext) => Parsed<Payload>;

const parsersFor = <Name extends string, Payload>(
  names: readonly Name[],
  parserOf: (name: Name) => Parser<Payload>,
): Record<Name, Parser<Payload>> =>
  // `fromEntries` forgets the names.
  Object.fromEntries(names.map((name) => [name, parserOf(name)])) as Record<Name, Parser<Payload>>;

/** How the answer to each read is parsed. Each throws VehicleError BAD_RESPONSE where the answer is something else. */
const parsers = {
  windows: (body: unknown, context: AnswerContext) => parseOpenings('windows', body, context),
  doors: (body: unknown, context: AnswerContext) => parseOpenings('doors', body, context),
  details: parseDetails,
  vehicles: parseVehicles,
  commands: parseCommands,
  accessibility: parseAccessibility,
  charging: parseCharging,
  chargingDoneAt: parseChargingDoneAt,
  ...parsersFor(
    chargingMemberNames,
    (name): Parser<ChargingMember> =>
      (body) =>
        parseChargingMember(name, body),
  ),
  chargingCapabilities: parseChargingCapabilities,
  location: parseLocation,
  ...parsersFor(groupReadNames, () => parseGroup),
  ...parsersFor(statisticsMemberNames, (name) => (body) => parseStatistic(name, body)),
  ...parsersFor(
    resourceNames,
    (name) =>
      (body, { interface: iface, burnsFuel }) =>
        iface === 'extended-v1' ? parseResource(name, body) : fromGroup(name, body, burnsFuel),
  ),
} satisfies Record<ReadName, Parser<unknown>>;

/** `msg.payload` of a read (docs/internals/contract.md 3). */
export type ReadPayload<Name extends ReadName> = ReturnType<(typeof parsers)[Name]>['payload'];

export function parseRead<Name extends ReadName>(
  name: Name,
  body: unknown,
  context: AnswerContext,
): Parsed<ReadPayload<Name>> {
  // A function that is chosen by a name that is a parameter has no single type.
  const parse = parsers[name] as Parser<ReadPayload<Name>>;
  return parse(body, context);
}
