/**
 * The public API of the library: everything that `nodes/`, `scripts/` and other programs may use. The tables are free of side effects,
 * so the editor code of a node bundles only the few that it needs.
 */

// An account: the client and everything that it uses.
export { openAccount, type Account, type AccountOptions } from './account';
export { checkAccount, findVehicles, type Finding, type FoundVehicle } from './account-check';
export { VehicleClient, type ReadOptions, type SendOptions, type VehicleObserver } from './client';
export type { QuotaSnapshot } from './limits/rate-limiter';
export { createRedactor, type Redactor } from './redact';
export type { LoggedRequest } from './request/request-log';
export { resolveService, type ServiceSettings } from './service';
export { serviceNames, services, type ServiceName, type ServiceProfile } from './catalogue/services';
export { linkSignals } from './util/abort';
export { systemClock, type Clock } from './util/clock';
export { isLoopback } from './util/loopback';

// Errors.
export { asVehicleError, errorCodes, VehicleError, type ErrorCode, type ErrorReport } from './errors';

// The token of an account: pasted, or from a sign-in.
export { createTokenSource, TokenManagers } from './session/create-token-source';
export { GrantStore } from './session/grant-store';
export type { Send } from './session/oauth';
export { SignIns, type SignedIn } from './session/sign-in';
export { pastedToken, type TokenDescription, type TokenSource } from './session/token-source';
export { sendOnce } from './request/send-once';

// The tables of reads, resources and units.
export {
  chargingMemberNames,
  chargingMembers,
  connectedReadNames,
  connectedReads,
  groupReadNames,
  interfaceChoices,
  interfaceNames,
  interfacePaths,
  isNewerReadName,
  isLocalReadName,
  isReadName,
  isResourceName,
  newerReadNames,
  newerReads,
  localReadNames,
  needsVehicle,
  readNames,
  readScopes,
  resourceNames,
  resourceRoute,
  resources,
  statisticsMemberNames,
  statisticsMembers,
  themes,
  titleOf,
  type AnyReadName,
  type ConnectedRead,
  type InterfaceChoice,
  type InterfaceName,
  type NewerReadName,
  type MemberKind,
  type ReadName,
  type Resource,
  type ResourceName,
} from './catalogue/reads';
export { groupedResources, groups, requestOf, type GroupedResource, type GroupName } from './catalogue/groups';
export { unitInWords } from './catalogue/units';

// The tables of commands, their outcomes and the scopes of both.
export {
  commandNames,
  commands,
  isCommandName,
  unlockDurationLimits,
  type Command,
  type CommandName,
  type CommandRoute,
} from './catalogue/commands';
export { meaningOf, outcomes, type Outcome } from './catalogue/outcomes';
export {
  accessNames,
  accessOfCommand,
  accessOfRead,
  defaultAccess,
  optionalScopes,
  scopesOfCommand,
  scopesOfRead,
  scopesOfService,
  type AccessName,
} from './catalogue/scopes';

// Validation of names and values that come from a message or a form.
export { isUnlock, needsArming, parseInterface, parseReads, parseSwitch } from './inputs';
export { parseVin, shortVin, vinPattern } from './vin';

// Readings.
export { LastReadings } from './last-readings';
export {
  placeOf,
  readEach,
  severalReading,
  type AnyReading,
  type Reading,
  type ReadingInfo,
  type SeveralReading,
} from './reading';
export type { Charging, ChargingCapabilities, ChargingMember } from './wire/charging';
export type { VehicleLocation } from './wire/location';
export type {
  Accessibility,
  CommandOffer,
  Members,
  MemberState,
  ResourceReading,
  VehicleDetails,
} from './wire/readings';
export type { Measured } from './wire/schemas';

// Commands: arming, sending, the journal, and following a command to its result.
export { Arming } from './commands/arming';
export type { DispatchOptions } from './commands/dispatcher';
export { readJournal, type JournalEntry } from './commands/journal';
export { cancelledId, parseRecord, type CommandRecord } from './record';
export { followWatch } from './watch/follow-watch';
export { watchCommand, type WatchOptions, type WatchReport, type WatchUpdate } from './watch/watch';
export { WatchStore, type OpenWatch } from './watch/watch-store';
export type { AsyncLink, Invocation } from './wire/invocations';

// Polling.
export { callsOfRequests } from './polling/calls';
export type { DuePoll } from './polling/poller';

// Openings, and the guard that reports when one stays open.
export {
  defaultWatch,
  judgeOpenings,
  openingKeys,
  openingKinds,
  openings,
  watchNames,
  type OpeningKey,
  type OpeningKind,
  type OpeningRead,
  type Openness,
  type WatchName,
} from './openings';
export { GuardRunner, type GuardPollResult } from './guard/guard-runner';
export { hasUnknownSunroof, isInUse, type GuardRead } from './guard/read-openings';
export { parseSnooze, parseWatchNames } from './guard/reducer';
export { guardText, guardWordKeys, type GuardWords } from './guard/text';
export type { GuardEvent, GuardReading, GuardView, NamedOpening } from './guard/types';

// Events of a vehicle.
export { EventRunner, type EventPollResult, type EventRunnerOptions } from './events/event-runner';
export { parseEventSettings } from './events/options';
export { eventText, type EventWords } from './events/text';
export {
  eventNames,
  eventPolls,
  eventReads,
  readsForEvents,
  type EventName,
  type EventRead,
  type EventSettings,
  type Place,
  type Position,
  type VehicleEvent,
} from './events/types';

// The state that outlives a restart.
export { ownDirectory } from './state/directory-owner';
export { FileStateStore, type FileStateStoreOptions } from './state/file-state-store';
export { Seal } from './state/seal';
export { MemoryStateStore, StateFault, type StateStore, type Stored, type WriteOptions } from './state/state-store';
