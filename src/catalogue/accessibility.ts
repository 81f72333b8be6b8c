import { isRecord } from '../util/json';
import { asSentence, sentence, type Sentence } from '../sentence';

/**
 * The known reasons of the service (docs/internals/vendor-api.md 1.8); the set is
 * open. `inUse`: a car that saves power has been parked for days; the reasons without it do not
 * show whether somebody uses the car.
 */
const unavailableReasons: ReadonlyMap<unknown, { text: string; inUse?: boolean }> = /* @__PURE__ */ new Map([
  ['NO_INTERNET', { text: 'it has no connection' }],
  [
    'POWER_SAVING_MODE',
    { text: 'it is asleep after several days without use, and wakes up when somebody starts it', inUse: false },
  ],
  ['CAR_IN_USE', { text: 'it is in use', inUse: true }],
  ['OTA_INSTALLATION_IN_PROGRESS', { text: 'it installs new software' }],
]);

/** Explains why the car accepts no commands, and that none was sent. */
export const unavailableSentence = (reason: string | null): Sentence =>
  sentence`The car accepts no commands now: ${asSentence(unavailableReasons.get(reason)?.text ?? 'the service does not name the reason')}. The command was not sent.`;

/**
 * Whether somebody uses the car (docs/internals/service.md 2.7); null if that is unknown.
 * @param accessibility the payload of the read `accessibility`
 */
export function inUseOf(accessibility: unknown): boolean | null {
  if (!isRecord(accessibility)) return null;
  const { value, unavailableReason } = accessibility;
  if (value === 'AVAILABLE') return false;
  return value === 'UNAVAILABLE' ? (unavailableReasons.get(unavailableReason)?.inUse ?? null) : null;
}
