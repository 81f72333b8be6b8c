import { commandRow, isOfWallbox } from './commands';

/**
 * The meaning of each request status of a command, and its sentence for a driver
 * (docs/internals/service.md 3, docs/internals/vendor-api.md 1.9).
 * docs/internals/contract.md 4 and 5: a status that is not here is `undetermined`, never success.
 */
export type Outcome = 'pending' | 'succeeded' | 'failed' | 'undetermined';

interface StatusMeaning {
  outcome: Outcome;
  sentence: string;
  /** The cause in a word, for a node status. */
  cause?: 'asleep' | 'unreachable' | 'privacy' | 'usage' | 'doorOpen' | 'refused' | 'carError';
}

const asleep = {
  outcome: 'failed',
  cause: 'asleep',
  sentence: 'The car is asleep and did not accept the command. It wakes up when somebody starts it.',
} as const;
const unreachable = {
  outcome: 'failed',
  cause: 'unreachable',
  sentence: 'The car could not be reached in time. It may be parked where there is no reception.',
} as const;
const privacy = {
  outcome: 'failed',
  cause: 'privacy',
  sentence: 'The privacy settings in the car forbid remote commands. Change them on the car’s own screen.',
} as const;

export const outcomes = {
  RUNNING: { outcome: 'pending', sentence: 'The command is on its way to the car.' },
  WAITING: { outcome: 'pending', sentence: 'The command waits for the car.' },
  SENT: { outcome: 'pending', sentence: 'The command was sent to the car; the car has not answered yet.' },
  DELIVERED: { outcome: 'pending', sentence: 'The command reached the car; the car has not confirmed that it acted.' },
  COMPLETED: { outcome: 'succeeded', sentence: 'The car carried out the command.' },
  SUCCESS: { outcome: 'succeeded', sentence: 'The car carried out the command.' },
  REJECTED: { outcome: 'failed', cause: 'refused', sentence: 'The car refused the command.' },
  NOT_SUPPORTED: { outcome: 'failed', sentence: 'This car does not know the command.' },
  NOT_ALLOWED_PRIVACY_ENABLED: privacy,
  PRIVACY_POLICY_ENABLED: privacy,
  NOT_ALLOWED_WRONG_USAGE_MODE: {
    outcome: 'failed',
    cause: 'usage',
    sentence: 'The car does not accept the command in its current state, for example while it is driven.',
  },
  UNABLE_TO_LOCK_DOOR_OPEN: {
    outcome: 'failed',
    cause: 'doorOpen',
    sentence: 'The car could not be locked because a door is open.',
  },
  UNLOCK_TIME_FRAME_PASSED: {
    outcome: 'failed',
    sentence: 'The time to open the tailgate has passed; the car is locked again.',
  },
  INVOCATION_SPECIFIC_ERROR: {
    outcome: 'failed',
    sentence: 'The command failed for a reason that the service does not name.',
  },
  VEHICLE_IN_SLEEP: asleep,
  VEHICLE_IN_SLEEP_MODE: asleep,
  CAR_IN_SLEEP_MODE: asleep,
  CONNECTION_FAILURE: unreachable,
  TIMEOUT: unreachable,
  CAR_TIMEOUT: unreachable,
  DELIVERY_TIMEOUT: unreachable,
  VEHICLE_REQUEST_TIMEOUT: unreachable,
  VEHICLE_RESPONSE_TIMEOUT: unreachable,
  EXPIRED: { outcome: 'failed', sentence: 'The command expired before it reached the car.' },
  CAR_ERROR: { outcome: 'failed', cause: 'carError', sentence: 'The car answered with an error.' },
  VEHICLE_RESPONSE_ERROR: { outcome: 'failed', cause: 'carError', sentence: 'The car answered with an error.' },
  UNKNOWN: {
    outcome: 'undetermined',
    sentence: 'The service does not know the result of the command. Check the car.',
  },
} as const satisfies Record<string, StatusMeaning>;

/**
 * The same for a command of a wallbox: `ACCEPTED` stands for any success, and the others are the
 * codes of a refusal (docs/internals/vendor-api.md 17). No command of a car has them, and no
 * command of a wallbox has those of a car.
 */
export const wallboxOutcomes = {
  ACCEPTED: {
    outcome: 'succeeded',
    sentence: 'The service accepted the command for the wallbox. It does not report whether the wallbox acted.',
  },
  WALLBOX_OFFLINE: {
    outcome: 'failed',
    sentence: 'The wallbox is offline. Check its connection, and try again when it is back.',
  },
  WALLBOX_INCORRECT_STATUS: {
    outcome: 'failed',
    sentence: 'The wallbox cannot do this in its current state. Check that the car is plugged in, and try again.',
  },
  WALLBOX_IN_COOLDOWN: {
    outcome: 'failed',
    sentence: 'The wallbox pauses after a command. Try again in a few minutes.',
  },
  NOT_SUPPORTED_BY_WALLBOX: { outcome: 'failed', sentence: 'This wallbox does not offer this.' },
  UNKNOWN_ERROR: {
    outcome: 'undetermined',
    sentence: 'The wallbox answered with an error that the service does not name. Check the wallbox.',
  },
} as const satisfies Record<string, StatusMeaning>;

/** The meaning of `ACCEPTED` for a command whose effect no read shows. */
const acceptedUnseen: StatusMeaning = {
  outcome: 'succeeded',
  sentence: 'The service accepted the command for the wallbox. Nothing shows whether the wallbox acted.',
};

const unnamedStatus: StatusMeaning = {
  outcome: 'undetermined',
  sentence: 'The service answered with an unknown status, so the result of the command is not known. Check the car.',
};

const missingStatus: StatusMeaning = {
  outcome: 'undetermined',
  sentence: 'The service did not report the result of the command, so it is not known. Check the car.',
};

/** A service may send any case and any word (docs/internals/vendor-api.md 1.9). */
export const statusWord = (requestStatus: string | null): string => requestStatus?.trim().toUpperCase() ?? '';

/** An unclear status may be followed by a clear one. */
export const isFinal = (outcome: Outcome): boolean => outcome === 'succeeded' || outcome === 'failed';

/** Whether the car may still act after an answer without a link (docs/internals/contract.md 4). */
export const isUnderWay = (requestStatus: string | null): boolean =>
  ['', 'RUNNING', 'WAITING', 'SENT'].includes(statusWord(requestStatus));

/** @param command its name; by default one of a car */
export function meaningOf(requestStatus: string | null, command = ''): StatusMeaning {
  const word = statusWord(requestStatus);
  if (word === '') return missingStatus;
  if (isOfWallbox(command)) {
    if (word === 'ACCEPTED' && commandRow(command)?.proof === undefined) return acceptedUnseen;
    const known = Object.hasOwn(wallboxOutcomes, word) ? (word as keyof typeof wallboxOutcomes) : 'UNKNOWN_ERROR';
    return wallboxOutcomes[known];
  }
  return Object.hasOwn(outcomes, word) ? outcomes[word as keyof typeof outcomes] : unnamedStatus;
}

/** The cause of a failed command, for a node status; undefined if a word cannot name it. */
export const causeOf = (requestStatus: string | null, command: string): StatusMeaning['cause'] =>
  meaningOf(requestStatus, command).cause;
