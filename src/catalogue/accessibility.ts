import { isRecord } from '../util/json';
import { asSentence, sentence, type Sentence } from '../sentence';

/** The reasons that the service is known to give (docs/field-notes.md 1.8); the set is open. */
const unavailableReasons: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ['NO_INTERNET', 'it has no connection'],
  ['POWER_SAVING_MODE', 'it is asleep after some days without use, and wakes up when somebody starts it'],
  ['CAR_IN_USE', 'it is in use'],
  ['OTA_INSTALLATION_IN_PROGRESS', 'it installs new software'],
]);

/** Says why the car takes no commands, and that none was sent. */
export const unavailableSentence = (reason: string | null): Sentence =>
  sentence`The car takes no commands now: ${asSentence(unavailableReasons.get(reason ?? '') ?? 'the service does not say why')}. The command was not sent.`;

/** A car that saves power has been parked for days; the other reasons do not show whether somebody uses it (docs/field-notes.md 1.8). */
const inUseByReason: ReadonlyMap<unknown, boolean> = /* @__PURE__ */ new Map([
  ['CAR_IN_USE', true],
  ['POWER_SAVING_MODE', false],
]);

/**
 * Whether somebody uses the car (docs/service.md 2.7); null if that is unknown.
 * @param accessibility the payload of the read `accessibility`
 */
export function inUseOf(accessibility: unknown): boolean | null {
  if (!isRecord(accessibility)) return null;
  const { value, unavailableReason } = accessibility;
  if (value === 'AVAILABLE') return false;
  return value === 'UNAVAILABLE' ? (inUseByReason.get(unavailableReason) ?? null) : null;
}
