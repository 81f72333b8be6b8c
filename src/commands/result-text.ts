import { openingKeyOf } from '../catalogue/openings';
import type { VehicleError } from '../errors';
import { asSentence, clockTime, sentence, type Sentence } from '../sentence';
import { part } from '../words/en-US.json';
import type { Command } from './command';
import { hasFailedByOpenDoor, type Proof } from './proof';
import type { CommandRecord } from './record';

interface Ending {
  expired: boolean;
  lastFailure: VehicleError | null;
  now: number;
  lastChangeAt: string | undefined;
}

/** The outcome of a command; with the proof if it adds something. */
export function resultSentence(command: Command, proof: Proof | null, ending: Ending): Sentence {
  const { record } = command;
  const succeeded = record.outcome === 'succeeded';
  const sentences = [endSentence(command, ending)];
  if (hasFailedByOpenDoor(record) && proof !== null && proof.open.length > 0)
    sentences.push(sentence`Open: ${proof.open.map(doorTitle)}.`);
  if (record.command === 'unlock' && succeeded) sentences.push(...unlockSentences(record, ending));
  if (!succeeded && proof?.verified === true) sentences.push(asSentence(proofSentences[proof.source].happened));
  if (succeeded && proof?.verified === false) sentences.push(asSentence(proofSentences[proof.source].didNot));
  if (succeeded && proof?.source === 'wallboxCharging')
    sentences.push(asSentence(startSentences[proof.doubt ?? 'proved']));
  if (succeeded && record.assumedUntil !== undefined)
    sentences.push(
      sentence`The car does not report whether the climate control is still on. It is assumed to be on until ${clockTimeOf(record.assumedUntil, ending)}.`,
    );
  return sentences.reduce((before, next) => sentence`${before} ${next}`);
}

const startSentences = {
  proved: 'An open charging session shows that it charges.',
  none: 'No open charging session shows that it charges. Check the wallbox and the car.',
  'may be older':
    'The open charging session may have begun before the command, so it does not show that the wallbox acted. Check the wallbox and the car.',
  'other wallbox':
    'The record of the command does not name the wallbox of the vehicle configuration, so no session was read. Check the wallbox and the car.',
} as const;

const proofSentences = {
  doors: {
    happened: 'However, the doors show that it happened.',
    didNot: 'However, the doors show the opposite. Check the car.',
  },
  'engine-status': {
    happened: 'However, the engine status shows that it happened.',
    didNot: 'However, the engine status shows the opposite. Check the car.',
  },
  // Nothing disproves a start.
  wallboxCharging: { happened: 'However, an open charging session shows that the wallbox charges.', didNot: '' },
} as const;

/** `frontLeft` as "front-left door". */
function doorTitle(name: string): Sentence {
  const key = openingKeyOf(name, 'doors');
  return asSentence(key === undefined || key === 'carLocked' ? name : part[key]);
}

/**
 * Only the tailgate is released, and for a limited time (docs/internals/service.md 4.1
 * rule 2, 4.2 rule 1).
 */
function unlockSentences(record: CommandRecord, ending: Ending): Sentence[] {
  const { now, lastChangeAt } = ending;
  const { openUntil, sentAt } = record;
  const seenAt = record.interface === 'connected-v1' ? lastChangeAt : undefined;
  if (openUntil !== undefined && now > lastMomentOf(openUntil, sentAt, seenAt))
    return [
      sentence`The time to open the tailgate ended at ${clockTimeOf(openUntil, ending)}. If it was not opened, the car is locked again. Send the command again to unlock it.`,
    ];
  const released = asSentence('The tailgate can be opened now. The doors unlock when it is opened.');
  return openUntil === undefined ? [released] : [released, sentence`Open it before ${clockTimeOf(openUntil, ending)}.`];
}

const clockTimeOf = (iso: string, { now }: Ending): Sentence => clockTime(Date.parse(iso), now);

/** The time of a v1 unlock begins when the car acts, at the latest when its success was seen. */
const lastMomentOf = (openUntil: string, sentAt: string, seenAt: string | undefined): number =>
  Math.max(
    Date.parse(openUntil),
    seenAt === undefined ? 0 : Date.parse(seenAt) + Date.parse(openUntil) - Date.parse(sentAt),
  );

function endSentence({ record, message }: Command, { expired, lastFailure }: Ending): Sentence {
  if (record.outcome !== 'pending') return message;
  if (!record.async?.href)
    return sentence`${message} The service returned no link to follow it further. Check the car.`;
  if (lastFailure?.httpStatus === 404 || lastFailure?.httpStatus === 410)
    return asSentence(
      'The service removed the link to the state of the command before the car had answered. Check the car.',
    );
  const end = asSentence(
    expired
      ? 'The link to the state of the command expired before the car had answered. Check the car.'
      : 'The waiting time of this node ended before the car had answered. Check the car.',
  );
  return lastFailure === null ? end : sentence`${end} The last poll failed: ${lastFailure.sentence}`;
}
