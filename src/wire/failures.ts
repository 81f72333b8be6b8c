import { wallboxOutcomes } from '../catalogue/outcomes';
import type { ApiName } from '../catalogue/reads';
import { VehicleError, type ErrorCode } from '../errors';
import { dayMs, hourMs, minuteMs, secondMs } from '../util/durations';
import { parseJson } from '../util/json';
import { identifier } from './schemas';
import { isWallboxRefusal } from './wallbox';

/**
 * Turns every failed answer into one VehicleError. The service has several error bodies
 * (docs/internals/vendor-api.md 1.11 and 3.3), and a gateway can wrap them, so known words are
 * searched in every text of the body. The service does not guarantee these texts: without a known
 * word, the status decides.
 */
interface FailedAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

interface FailureContext {
  /** The scopes to name when one is missing. */
  scopes: readonly string[];
  /** The API that answered, for statuses that mean something else on one of them. */
  api?: ApiName;
  /** Milliseconds since 1970. */
  now: number;
}

interface Failure {
  status: number;
  api?: ApiName | undefined;
  /** Every text of the body in one, in lower case. */
  words: string;
  /** The start of the body as it came, in lower case. */
  raw: string;
  /** `extended`: of the extended vehicle interface. `other`: no JSON. */
  shape: 'json' | 'extended' | 'other';
}

interface Rule {
  when: (failure: Failure) => boolean;
  code: ErrorCode;
  sentence: string;
  retryable?: boolean;
}

const status =
  (...codes: number[]) =>
  (failure: Failure): boolean =>
    codes.includes(failure.status);
const said =
  (pattern: RegExp, ...codes: number[]) =>
  (failure: Failure): boolean =>
    codes.includes(failure.status) && pattern.test(failure.words);

/** The car got the command, whatever the status is (docs/internals/vendor-api.md 1.11). */
const isFromCar = ({ words }: Failure): boolean =>
  /\berror (was )?(returned )?(from|by) (the )?(car|vehicle)\b/.test(words);

/** The failure of a wallbox by the code of its answer (docs/internals/vendor-api.md 17). */
const ofWallbox = (word: keyof typeof wallboxOutcomes, code: ErrorCode): Rule => ({
  when: ({ api, status: answered, words }) =>
    api === 'energy-device' && isWallboxRefusal(answered) && new RegExp(`\\b${word}\\b`, 'i').test(words),
  code,
  sentence: wallboxOutcomes[word].sentence,
});

/** First match wins: a spent quota before a missing scope, a refused key before a token. */
const rules: readonly Rule[] = [
  {
    when: isFromCar,
    code: 'VEHICLE_ERROR',
    sentence: 'The car itself answered with an error. It may have acted anyway. Check the car.',
  },
  {
    when: ({ status: got, raw }) => [403, 429].includes(got) && /quota|call volume/.test(raw),
    code: 'QUOTA_SPENT',
    sentence:
      'The daily quota of the API key is used up. Reading continues when it is refilled; nothing is wrong with the key or the token.',
  },
  {
    when: status(429),
    code: 'RATE_LIMITED',
    sentence:
      'The service received too many requests in a minute and asks for a pause. The pack waits. If this happens again, read less often.',
  },
  {
    when: said(/api[- _]?key|subscription key/, 401, 403),
    code: 'API_KEY_REFUSED',
    sentence:
      'The service refused the API key. Check that it is the API key of your application, complete and without spaces.',
  },
  {
    when: status(401),
    code: 'SIGN_IN_REQUIRED',
    sentence:
      'The service refused the access token: it has expired or is not valid. Sign in again, or paste a new token.',
  },
  {
    when: said(/no relationship|not linked|vehicle not found|unknown vehicle/, 403, 404),
    code: 'VEHICLE_NOT_LINKED',
    sentence:
      'This vehicle is not linked to the account of the token. Check the VIN, and that the token belongs to an account with this car.',
  },
  ofWallbox('WALLBOX_OFFLINE', 'VEHICLE_UNAVAILABLE'),
  ofWallbox('WALLBOX_INCORRECT_STATUS', 'VEHICLE_UNAVAILABLE'),
  ofWallbox('WALLBOX_IN_COOLDOWN', 'VEHICLE_UNAVAILABLE'),
  ofWallbox('NOT_SUPPORTED_BY_WALLBOX', 'NOT_SUPPORTED'),
  {
    when: ({ api, status: answered }) => api === 'energy-device' && isWallboxRefusal(answered),
    code: 'VEHICLE_ERROR',
    sentence: wallboxOutcomes.UNKNOWN_ERROR.sentence,
  },
  {
    when: (failure) => failure.api === 'energy-device' && status(408, 504)(failure),
    code: 'TIMEOUT',
    sentence: 'The service got no answer from the wallbox in time. Try again later.',
  },
  {
    when: (failure) =>
      failure.status === 403 &&
      failure.shape === 'extended' &&
      !/scope|denied|permission|authori[sz]/.test(failure.words),
    code: 'NOT_SUPPORTED',
    sentence: 'This car does not offer this value on the extended vehicle interface.',
  },
  {
    when: said(/\bnot supported by (this|the) (vehicle|car)\b/, 403),
    code: 'NOT_SUPPORTED',
    sentence: 'The service does not offer this for this car.',
  },
  {
    when: said(/client not allowed to access/, 403),
    code: 'SCOPE_MISSING',
    sentence:
      'The application may not use this API of the service. Add the API with the scopes {0} to the application; a published application cannot be changed, so make a new one.',
  },
  {
    when: (failure) => failure.status === 403 && failure.api === 'energy-device',
    code: 'SCOPE_MISSING',
    sentence:
      'The service refused access to the wallbox: the token lacks one of the scopes {0}, or the wallbox belongs to another account. Tick the wallbox under “Allow” in the vehicle configuration, and sign in again with the account of the wallbox.',
  },
  {
    when: (failure) => failure.status === 404 && failure.api === 'energy-device',
    code: 'VEHICLE_NOT_LINKED',
    sentence:
      'The account of the token has no wallbox with this ID. Check the ID in the vehicle configuration, and sign in with the account of the wallbox.',
  },
  {
    when: (failure) => failure.status === 403 && failure.shape !== 'other',
    code: 'SCOPE_MISSING',
    sentence:
      'The token lacks a scope that this needs: {0}. Tick what you want to use under “Allow” in the vehicle configuration, sign in again, and tick every box of the consent page. If the sign-in then fails, the application was published without it: make a new one.',
  },
  {
    when: said(/allowed markets/, 404),
    code: 'NOT_SUPPORTED',
    sentence: 'The car was sold in a market that the service does not cover.',
  },
  {
    // docs/internals/vendor-api.md 13
    when: ({ status: got, api }) => got === 404 && api === 'location',
    code: 'NOT_SUPPORTED',
    sentence:
      'The service has no position of this car. Turn on position sharing in the car, and drive once. If that does not help, the service may have no positions in the car’s market.',
  },
  { when: status(404), code: 'NOT_SUPPORTED', sentence: 'The service does not offer this for this car.' },
  { when: status(410), code: 'NOT_SUPPORTED', sentence: 'The service has withdrawn the interface that offered this.' },
  { when: status(405), code: 'NOT_SUPPORTED', sentence: 'The service does not offer this on the chosen interface.' },
  {
    when: status(406, 415),
    code: 'CONFIG',
    sentence:
      'The service does not know the media type of the request. Check the media type vendor of the service in the vehicle configuration.',
  },
  { when: status(400, 422), code: 'INPUT_INVALID', sentence: 'The service did not accept the request as it was sent.' },
  {
    when: status(409),
    code: 'VEHICLE_ERROR',
    sentence: 'The car is in a state that does not allow this. Check the car and try again.',
  },
  {
    when: said(/in use|asleep/, 503),
    code: 'VEHICLE_UNAVAILABLE',
    sentence:
      'The car is in use or asleep and accepts no command now. A sleeping car wakes up when somebody starts it.',
  },
  {
    when: status(408, 504),
    code: 'TIMEOUT',
    sentence: 'The service got no answer from the car in time. Try again later.',
  },
  {
    when: (failure) => failure.status >= 500,
    code: 'SERVICE_ERROR',
    sentence: 'The service has an internal error. Try again later.',
  },
  {
    when: (failure) => failure.status >= 300 && failure.status < 400,
    code: 'SERVICE_ERROR',
    sentence:
      'The service redirected the request to another address, which the pack does not follow. Check the base URL.',
    retryable: false,
  },
  {
    when: () => true,
    code: 'SERVICE_ERROR',
    sentence: 'The service refused the request and gave no reason. Check the base URL and the settings.',
    retryable: false,
  },
];

export function failureOf(answer: FailedAnswer, context: FailureContext): VehicleError {
  const { failure: read, operationId } = readFailure(answer);
  const failure = { ...read, api: context.api };
  // The last rule matches every failure.
  const rule = rules.find((candidate) => candidate.when(failure)) as Rule;
  return new VehicleError(
    rule.code,
    { template: rule.sentence, values: rule.sentence.includes('{0}') ? [context.scopes] : [] },
    {
      httpStatus: answer.status,
      retryable: rule.retryable,
      retryAt: retryTime(rule.code, answer, context.now),
      operationId: operationIdOf(answer.headers) ?? operationId,
    },
  );
}

/** Whether the answer repeats an error of the car itself, so that the car got the command. */
export const isAnswerOfCar = (answer: FailedAnswer): boolean => isFromCar(readFailure(answer).failure);

function readFailure(answer: FailedAnswer): { failure: Failure; operationId: string | null } {
  const raw = answer.body.slice(0, maxTextLength).toLowerCase();
  const body = answer.body.length > maxBodyLength ? undefined : parseJson(answer.body);
  if (typeof body !== 'object' || body === null)
    return { failure: { status: answer.status, words: raw, raw, shape: 'other' }, operationId: null };
  const { texts, operationId, isExtended } = findTexts(body);
  const words = texts.join(' ').slice(0, maxTextLength).toLowerCase();
  return { failure: { status: answer.status, words, raw, shape: isExtended ? 'extended' : 'json' }, operationId };
}

/** The limits of an error body, which does not always come from the service. */
const maxBodyLength = 1_000_000;
const maxTextLength = 2_000;
const maxValues = 500;

/** The members that hold a text for people, or a word for what is wrong. */
const textMembers = new Set(
  'message description detail details title reason code error error_description exveErrorMsg exveNote errorMessage'.split(
    ' ',
  ),
);

interface Found {
  texts: string[];
  operationId: string | null;
  isExtended: boolean;
}

/** Level by level, the outer texts first, and no more than `maxValues` values. */
function findTexts(body: object): Found {
  const found: Found = { texts: [], operationId: null, isExtended: false };
  const values: [name: string, value: unknown][] = [['', body]];
  for (let index = 0; index < Math.min(values.length, maxValues); index += 1) {
    const [name, value] = values[index] ?? ['', null];
    if (typeof value === 'string') {
      if (textMembers.has(name)) found.texts.push(value.slice(0, maxTextLength));
      if (name === 'operationId' && identifier.test(value)) found.operationId ??= value;
    }
    if (name.startsWith('exveError')) found.isExtended = true;
    // The texts of a list belong to the member that holds the list.
    if (Array.isArray(value)) values.push(...value.slice(0, maxValues).map((item): [string, unknown] => [name, item]));
    else if (typeof value === 'object' && value !== null) values.push(...Object.entries(value).slice(0, maxValues));
  }
  return found;
}

/** `VCC-API-OperationId`, or with another vendor's prefix (docs/internals/vendor-api.md 0). */
export function operationIdOf(headers: FailedAnswer['headers']): string | null {
  const name = Object.keys(headers).find((header) => header.endsWith('operationid'));
  const value = name === undefined ? undefined : headers[name];
  return typeof value === 'string' && identifier.test(value) ? value : null;
}

function retryTime(code: ErrorCode, answer: FailedAnswer, now: number): Date | null {
  const fromHeader = retryAfter(answer.headers['retry-after'], { now, date: answer.headers['date'] });
  if (code !== 'QUOTA_SPENT' && code !== 'RATE_LIMITED') return fromHeader;
  return fromHeader ?? refillTime(answer.body, now) ?? new Date(now + defaultPauses[code]);
}

/** A sliding minute for the rate limit, an hour for a quota that refills once a day. */
const defaultPauses = { RATE_LIMITED: minuteMs, QUOTA_SPENT: hourMs } as const;

/** "Quota will be replenished in 03:30:56.", with days in front as 1.03:30:56; the words vary. */
const refillPattern =
  /(?:replenish|refill|renew|reset)[a-z]{0,8}\s{1,9}(?:in|after)\s{1,9}(?:(\d{1,4})\.)?(\d{1,2}):(\d{2}):(\d{2})/i;
/** The gateway's wording for a rate limit. */
const againPattern = /try\s{1,9}again\s{1,9}in\s{1,9}(\d{1,9})\s{1,9}second/i;

/** The time that an error text names; null if it names none. */
export function refillTime(body: string, now: number): Date | null {
  const text = body.slice(0, maxTextLength);
  const refill = refillPattern.exec(text);
  if (refill !== null) {
    const [days = 0, hours = 0, minutes = 0, seconds = 0] = refill.slice(1).map((part) => Number(part ?? 0));
    return later((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * secondMs, now);
  }
  const again = againPattern.exec(text);
  return again === null ? null : later(Number(again[1]) * secondMs, now);
}

/** `Retry-After` in seconds, or as a date that counts from the answer's `Date`; else null. */
export function retryAfter(
  header: string | string[] | undefined,
  { now, date: answered }: { now: number; date?: string | string[] | undefined },
): Date | null {
  const value = (typeof header === 'string' ? header : header?.[0])?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return later(Number(value) * secondMs, now);
  // Date.parse accepts many numbers as dates; an HTTP date begins with the name of a day.
  const date = /^[a-z]{3,9},? /i.test(value) ? Date.parse(value) : Number.NaN;
  const answeredAt = typeof answered === 'string' ? Date.parse(answered) : Number.NaN;
  return Number.isNaN(date) ? null : later(date - (Number.isNaN(answeredAt) ? now : answeredAt), now);
}

/** At least a second, at most a day, the longest window of a limit. */
const later = (ms: number, now: number): Date => new Date(now + Math.min(Math.max(ms, secondMs), dayMs));
