/**
 * What `nodes/` uses of the library, and no more. It is not published: the build bundles it with
 * the nodes. The tables are free of side effects, so the editor code of a node bundles only the few
 * that it needs.
 */

// An account: the client and everything that it uses.
export { openAccount, type Account, type AccountOptions } from './account';
export { Pack } from './pack';
export { checkAccount, checkStore, findVehicles, type Finding, type FoundVehicle } from './check';
export type { Remember, VehicleObserver } from './client';
export { createRedactor, cut } from './redact';
export { resolveService } from './http/addresses';
export { serviceNames, services } from './catalogue/services';
export { endingAt, withSignals } from './util/abort';
export { Cancellation, type Signal } from './util/cancellation';
export { systemClock, timeOf, type Clock } from './util/clock';
export { dayMs, hourMs, minuteMs, secondMs } from './util/durations';
export { copyOfJson, isEmpty, isRecord, memberOf, parseJson, textIn } from './util/json';
export { Listeners } from './util/listeners';
export { addressFault, isLoopback, isRedirectUrl } from './util/loopback';

// Errors.
export { cancelledError, systemCodeOf, VehicleError } from './errors';
export { asSentence, capitalized, clockTime, mapSentence, sentence, wordSentence, type Sentence } from './sentence';

// The token of an account: pasted, or from a sign-in.
export { createTokenSource } from './session/create-token-source';
export { pastedToken } from './http/token-source';
export { signInKey } from './session/grant-store';
export { openSession, type Session } from './session/session';
export type { SignedIn } from './session/sign-in';

// The tables of reads, resources and units.
export {
  interfaceChoices,
  interfaceNames,
  isReadName,
  needsVehicle,
  partsOf,
  readThemes,
  titleOf,
  valueTypeOf,
  type AnyReadName,
  type InterfaceName,
  type ReadName,
  type Versions,
} from './catalogue/reads';
export { isPluggedInWord } from './catalogue/charging-words';
export { inSystem, inUnit, unitInWords, unitOf, unitsBeside, unitSystems, type UnitSystem } from './catalogue/units';

// The table of commands, and what reads and commands need.
export {
  ampereLimits,
  commandNames,
  isCommandName,
  proofReadOf,
  runtimeMinutesLimits,
  unlockDurationLimits,
} from './catalogue/commands';
export { causeOf } from './catalogue/outcomes';
export {
  accessNames,
  commandAccess,
  readAccess,
  defaultAccess,
  needsOfCommand,
  needsOfRead,
  parseScopes,
  signInScopes,
  unlistedScopes,
  type AccessName,
} from './catalogue/scopes';

// Validation of names and values that come from a message or a form.
export { needsArming, parseInterface, parseReads, parseSwitch, settingOf } from './inputs';
export { normalVin, shortVin, vinPattern } from './vin';
export { wallboxPattern } from './wallbox';

// Readings, and which of two values is older.
export { isExcludedBy } from './car/equipment';
export { type CarEvent } from './car/facts';
export { historyNames, type Lines } from './car/history';
export { LastReadings } from './car/last-readings';
export { isClockKnown, isOlder, receiptAsOf, timesOf, type ValueTimes } from './car/times';
export { listedValues, type ListedValue } from './car/listed-values';
export { plainPayload } from './car/plain-payload';
export type { InOrderReason } from './car/in-order';
export { isSeveral, placeOf, readAll, readEach, readingsIn, type AnyReading, type Reading } from './car/reading';

// Commands: arming, sending, the journal, and following a command to its result.
export { Arming } from './commands/arming';
export { CancelledByMessage, CommandAttempt } from './commands/attempt';
export { cancelledId, parseRecord, type CommandRecord } from './commands/record';
export { type JournalEntry } from './commands/command';
export { followCommand, type FollowUpdate } from './commands/follow';
export { FollowedCommands, type FollowedCommand } from './commands/followed-commands';

// Polling.
export { callsPerDay } from './polling/calls';
export type { DuePoll } from './polling/poller';

// What guard and events have in common.
export { CarRunner, type CarRunnerOptions } from './car-runner';

// Openings, and the guard that reports when one stays open.
export {
  defaultWatch,
  openingKeyOf,
  openingKeys,
  openingState,
  lockState,
  openingKinds,
  openings,
  openingsNamed,
  type OpeningKind,
  type WatchName,
} from './catalogue/openings';
export { parseGuardRequest } from './guard/request';
export { Guard } from './guard/reducer';
export type { GuardSettings } from './guard/options';
export type { GuardEvent, GuardRead, GuardView } from './guard/types';
export { guardText } from './guard/text';
export { setNewest } from './util/bounded';
export { getOrMake } from './util/get-or-make';
export { parseRange, timeZoneOf, type HoursSettings } from './util/quiet';

// Events of a vehicle.
export { CarEvents } from './events/car-events';
export { eventText } from './events/text';
export { eventNames, eventPolls, hasPlace, type EventRead, type VehicleEvent } from './events/types';

// Conditions on values of a vehicle.
export { defaultRadius, faultIn, parsePlace, parsePlaces, placeInTariff, positionOf, type Place } from './car/places';
export { conditionValue, conditionValues, operatorsOf, parseOperand, type ConditionValue } from './condition/values';
export { combine, judge, parseCondition, parseRow, type Condition, type ConditionResult } from './condition/conditions';

// The logbook.
export { hasRecord, recordOfEvent, sampleRecord } from './logbook/events';
export { summaryOfLog, type LogSummary } from './logbook/reading';
export type { LogRecord } from './logbook/record';

// The state that outlives a restart.
export { DirectoryOwner } from './state/owner';
export { FilePresence } from './state/file-presence';
export { LocalPresence, type Presence } from './state/presence';
export { RedisPresence } from './state/redis-presence';
export { RedisStateStore } from './state/redis-store';
export { FileStateStore } from './state/file-state-store';
export { Seal } from './state/seal';
export { SealedStateStore } from './state/sealed-store';
export { MemoryStateStore, type StateStore } from './state/state-store';
