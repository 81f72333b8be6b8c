/**
 * The door of the library: everything that `nodes/` and other programs may use. The tables are free of side effects, so
 * the editor half of a node bundles the few that it needs and nothing else.
 */
export * from './catalogue/accessibility';
export * from './catalogue/commands';
export { groupedResources, groups, requestOf, type GroupedResource, type GroupName } from './catalogue/groups';
export * from './catalogue/members';
export * from './catalogue/outcomes';
export * from './catalogue/reads';
export * from './catalogue/scopes';
export * from './catalogue/services';
export { unitInWords } from './catalogue/units';
export * from './account';
export * from './commands/arming';
export * from './last-readings';
export * from './account-check';
export * from './client';
export { linkSignals } from './util/abort';
export * from './util/clock';
export * from './commands/dispatcher';
export * from './errors';
export * from './inputs';
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
export { judgeOpenings, openingKeys, openings, type OpeningKey, type Openness } from './openings';
export * from './guard/reducer';
export * from './guard/guard-runner';
export * from './guard/read-openings';
export * from './commands/journal';
export * from './polling/poller';
export * from './polling/calls';
export * from './polling/profile';
export * from './record';
export { createRedactor, type Redactor } from './redact';
export * from './reading';
export * from './service';
export { ownDirectory } from './state/directory-owner';
export { FileStateStore, type FileStateStoreOptions } from './state/file-state-store';
export { Seal } from './state/seal';
export {
  MemoryStateStore,
  removeAll,
  StateFault,
  type StateStore,
  type Stored,
  type WriteOptions,
} from './state/state-store';
export type { LoggedRequest } from './request/request-log';
export type { QuotaSnapshot } from './limits/rate-limiter';
export { SignIns, type SignedIn } from './session/sign-in';
export { GrantStore } from './session/grant-store';
export { createTokenSource, TokenManagers } from './session/create-token-source';
export type { Send } from './session/oauth';
export { sendOnce } from './request/send-once';
export { pastedToken, type TokenDescription, type TokenSource } from './session/token-source';
export * from './vin';
export * from './watch/watch';
export * from './watch/watch-store';
export * from './watch/follow-watch';
export type { Charging, ChargingCapabilities, ChargingMember } from './wire/charging';
export type { VehicleLocation } from './wire/location';
export type { Measured } from './wire/schemas';
export type { AsyncLink, Invocation } from './wire/invocations';
export type {
  Accessibility,
  CommandOffer,
  Members,
  MemberState,
  ResourceReading,
  VehicleDetails,
} from './wire/readings';
