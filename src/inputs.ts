import { isEmpty } from './util/json';
import {
  ampereLimits,
  commandFromWire,
  commandNames,
  commandPattern,
  runtimeMinutesLimits,
  unlockDurationLimits,
} from './catalogue/commands';
import { interfaceChoices, keptNames, readNames, type AnyReadName, type InterfaceChoice } from './catalogue/reads';
import { VehicleError } from './errors';
import { asSentence, sentence } from './sentence';
import { closestName } from './util/closest';

/**
 * Validates the properties of a message or a form before anything is sent; each function throws
 * VehicleError INPUT_INVALID.
 */

/**
 * Accepted in uppercase or lowercase and with spaces around it, as the names of
 * reads and commands are.
 */
export function parseInterface(input: unknown): InterfaceChoice {
  const word = typeof input === 'string' ? input.trim().toLowerCase() : input;
  const choice = interfaceChoices.find((name) => name === word);
  if (choice === undefined)
    throw new VehicleError('INPUT_INVALID', sentence`The interface must be one of: ${interfaceChoices}.`);
  return choice;
}

/** One name, or a list of names, each once; also the names of what the pack itself keeps. */
export function parseReads(input: unknown): AnyReadName | AnyReadName[] {
  return Array.isArray(input) ? [...new Set(input.map(parseAnyReadName))] : parseAnyReadName(input);
}

const readsByWord: ReadonlyMap<string, AnyReadName> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ [...readNames, 'inOrder' as const, ...keptNames].map((name) => [name.toLowerCase(), name]),
);

/** Names are accepted in uppercase or lowercase and with spaces around them. */
function parseAnyReadName(input: unknown): AnyReadName {
  if (typeof input !== 'string')
    throw new VehicleError('INPUT_INVALID', 'What to read must be a name, such as “windows”, or a list of names.');
  const name = input.trim();
  const found = readsByWord.get(name.toLowerCase());
  if (found !== undefined) return found;
  const near = closestName(name, [...readsByWord.values()]);
  const hint =
    near === undefined
      ? asSentence('The help of the “car status” node lists all names.')
      : sentence`Did you mean “${near}”?`;
  // Without control characters, because it ends in a log; the redactor cuts it.
  const printable = name.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '');
  throw new VehicleError('INPUT_INVALID', sentence`There is no value “${printable}”. ${hint}`);
}

const commandWord = (input: unknown): string => (typeof input === 'string' ? commandFromWire(input.trim()) : '');

/**
 * The name of a command as the catalogue has it: the spelling of the service (`HONK_AND_FLASH`) and
 * spaces around it are accepted. A name that only the vehicle's own list can have passes if it has
 * the form of a name.
 */
export function parseCommandName(input: unknown): string {
  const name = commandWord(input);
  if (commandPattern.test(name)) return name;
  throw new VehicleError(
    'INPUT_INVALID',
    sentence`No command is chosen. Choose one, or send one of these in msg.command: ${commandNames}.`,
  );
}

/**
 * `msg.arm` or `msg.cancel`: absent, or a plain yes or no; other values that look like one are
 * refused, because a wrong guess could open a car.
 */
export function parseSwitch(name: string, input: unknown): boolean | undefined {
  if (input === undefined || typeof input === 'boolean') return input;
  throw new VehicleError('INPUT_INVALID', sentence`msg.${name} must be true or false. Nothing was sent.`);
}

/**
 * The setting of a command that a node can take from a source: that of unlock for every spelling of
 * it, also inside a longer name. It is called before the name is validated.
 */
export function settingOf(input: unknown): 'unlockDuration' | 'ampere' | 'schedule' | null {
  const word = commandWord(input);
  if (word.includes('unlock')) return 'unlockDuration';
  return word === 'wallbox-limit' ? 'ampere' : word === 'wallbox-schedule' ? 'schedule' : null;
}

/**
 * Whether a command needs arming: unlocking and starting the engine, and any name that
 * contains one of these.
 */
export const needsArming = (input: unknown): boolean => /unlock|engine-start/.test(commandWord(input));

/** Seconds of an unlock (docs/internals/service.md 4.2 rule 1); the maximum if nothing is set. */
export const parseUnlockDuration = (input: unknown): number =>
  parseWhole(input, unlockDurationLimits, 'The unlock duration must be a whole number of seconds');

/**
 * Minutes that a started engine runs (docs/internals/vendor-api.md 15.2); the maximum if nothing is
 * given.
 */
export const parseRuntimeMinutes = (input: unknown): number =>
  parseWhole(input, runtimeMinutesLimits, 'The time that the engine runs must be a whole number of minutes');

/** Ampere of a wallbox, also parts of one. */
export function parseAmpere(input: unknown): number {
  const number = typeof input === 'string' && /^\s*\d{1,3}(\.\d{1,3})?\s*$/.test(input) ? Number(input) : input;
  const { minimum, maximum } = ampereLimits;
  if (typeof number === 'number' && number >= minimum && number <= maximum) return number;
  const faults = {
    below: sentence`A car does not charge with less than ${minimum} ampere: use the command wallbox-pause. Nothing was sent.`,
    above: sentence`The limit of the wallbox must be at most ${maximum} ampere. Nothing was sent.`,
    other: sentence`The limit of the wallbox must be a number of ampere from ${minimum} to ${maximum}. Nothing was sent.`,
  };
  const isBelow = typeof number === 'number' && number >= 0 && number < minimum;
  const isAbove = typeof number === 'number' && number > maximum;
  throw new VehicleError('INPUT_INVALID', isBelow ? faults.below : isAbove ? faults.above : faults.other);
}

function parseWhole(input: unknown, { minimum, maximum }: { minimum: number; maximum: number }, what: string): number {
  if (isEmpty(input)) return maximum;
  const number = typeof input === 'string' && /^\d{1,9}$/.test(input.trim()) ? Number(input) : input;
  if (typeof number === 'number' && Number.isInteger(number) && number >= minimum && number <= maximum) return number;
  throw new VehicleError(
    'INPUT_INVALID',
    sentence`${asSentence(what)} from ${minimum} to ${maximum}. Nothing was sent.`,
  );
}
