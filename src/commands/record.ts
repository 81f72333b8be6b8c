import * as z from 'zod/mini';
import { commandInterfaces, commandRow, commandPattern, isOfWallbox } from '../catalogue/commands';
import { isFinal, isUnderWay, meaningOf, type Outcome } from '../catalogue/outcomes';
import { VehicleError } from '../errors';
import { UnconfirmedCommandError, type CommandAnswer } from '../http/requests';
import { sentence, wordSentence, type Sentence } from '../sentence';
import { iso } from '../util/clock';
import { parseVin } from '../vin';
import { parseInvocation, type Invocation } from '../wire/invocations';
import { wallboxInvocation } from '../wire/wallbox';
import { toTimestamp } from '../wire/schemas';
import type { CommandRoute } from './route';
import { minuteMs, secondMs } from '../util/durations';

const text = z._default(z.nullable(z.string()), null);

export const outcomeShape = z.enum([
  'pending',
  'succeeded',
  'failed',
  'undetermined',
] as const satisfies readonly Outcome[]);

/** The record comes from a flow, which may have stored, changed or made it. */
const recordShape = z.lazy(() =>
  z.looseObject({
    outcome: z._default(outcomeShape, 'undetermined'),
    command: z.string().check(z.regex(commandPattern)),
    message: z._default(z.string(), ''),
    requestStatus: text,
    id: z.string().check(z.minLength(1)),
    vin: z.string(),
    interface: z.enum(commandInterfaces),
    sentAt: z.string().check(z.refine((value) => !Number.isNaN(Date.parse(value)))),
    operationId: text,
    async: z._default(
      z.nullable(
        z.object({
          status: text,
          id: text,
          href: text,
          expires: z.optional(z.pipe(z.unknown(), z.transform(toTimestamp))),
        }),
      ),
      null,
    ),
    openUntil: z.optional(z.string()),
    assumedUntil: z.optional(z.string()),
    wallbox: z.optional(z.string()),
  }),
);

/**
 * The invocation record (docs/internals/contract.md 4). `id` is the pack's own name for the
 * invocation, `requestStatus` the status of the service, verbatim, or null. Times are
 * ISO-8601. `openUntil`, only for unlock: until when the tailgate can be opened, if that is known.
 * `assumedUntil`, only for climatization-start: until when the climate control is assumed to run.
 * `wallbox`, only for a command of one: its id.
 */
export type CommandRecord = z.infer<typeof recordShape>;

/** When a command was sent, in milliseconds since 1970. */
interface Sending {
  id: string;
  sentAt: number;
}

/** The outcome of a command that was sent. */
export interface CommandEnd {
  record: CommandRecord;
  /** `over`: an answer or a refusal ended it. `open`: the car may still act. */
  status: 'open' | 'over';
  /** Why the record has no answer, in English in its message; null if the service sent one. */
  fault: Sentence | null;
}

/**
 * @param sent read when the answer is there
 * @throws VehicleError if the command was not sent or was refused
 */
export async function endOf(
  route: CommandRoute,
  answer: Promise<CommandAnswer>,
  sent: Readonly<Sending>,
): Promise<CommandEnd> {
  try {
    const { body, receivedAt, operationId, isSuccess } = await answer;
    const invocation =
      route.wallbox === undefined ? parseInvocation(body, receivedAt) : wallboxInvocation(body, isSuccess);
    const { requestStatus, async } = invocation;
    // Whether the command is over with this answer (docs/internals/contract.md 4).
    const isOver = async?.href ? isFinal(meaningOf(requestStatus, route.command).outcome) : !isUnderWay(requestStatus);
    const record = recordOf(route, { ...invocation, operationId: invocation.operationId ?? operationId }, sent);
    return { record, status: isOver ? 'over' : 'open', fault: null };
  } catch (error) {
    if (!(error instanceof UnconfirmedCommandError)) throw error;
    const { reason, isAnswerOfCar } = error;
    const fault = isAnswerOfCar ? reason.sentence : noAnswer(reason, route.command);
    const record = recordOf(route, unanswered(fault, reason.operationId), sent);
    return { record, status: isAnswerOfCar ? 'over' : 'open', fault };
  }
}

/** The record that is valid if no answer comes. */
export const begunRecord = (route: CommandRoute, sent: Sending): CommandRecord =>
  recordOf(route, unanswered(noAnswer(undefined, route.command)), sent);

export function recordOf(
  { command, vin, wallbox, interface: iface, unlockSeconds }: CommandRoute,
  invocation: Invocation,
  { id, sentAt }: Sending,
): CommandRecord {
  const meaning = meaningOf(invocation.requestStatus, command);
  const openUntil =
    invocation.readyUntil ?? (unlockSeconds === undefined ? null : iso(sentAt + unlockSeconds * secondMs));
  const assumedMinutes = meaning.outcome === 'failed' ? undefined : commandRow(command)?.assumedMinutes;
  // Node-RED previews the first members of an object.
  return {
    outcome: meaning.outcome,
    command,
    message: invocation.message ?? meaning.sentence,
    requestStatus: invocation.requestStatus,
    id,
    vin,
    interface: iface,
    sentAt: iso(sentAt),
    operationId: invocation.operationId,
    async: invocation.async,
    ...(wallbox !== undefined && { wallbox }),
    ...(openUntil !== null && { openUntil }),
    ...(assumedMinutes !== undefined && { assumedUntil: iso(sentAt + assumedMinutes * minuteMs) }),
  };
}

/** The sentence about a command that was sent and has no answer, yet or at all. */
export function noAnswer(failure?: VehicleError, command = ''): Sentence {
  if (isOfWallbox(command)) return noAnswerOfWallbox(failure);
  if (failure === undefined)
    return sentence`The command may have reached the car, but no answer came. It is not sent again. Check the car.`;
  return failure.httpStatus === null
    ? sentence`The command may have reached the car, but no answer came (${failure.code}). It is not sent again. Check the car.`
    : sentence`The service answered with an error (HTTP ${failure.httpStatus}), and the command may have reached the car anyway. It is not sent again. Check the car.`;
}

function noAnswerOfWallbox(failure?: VehicleError): Sentence {
  if (failure === undefined)
    return sentence`The command may have reached the wallbox, but no answer came. It is not sent again. Check the wallbox.`;
  return failure.httpStatus === null
    ? sentence`The command may have reached the wallbox, but no answer came (${failure.code}). It is not sent again. Check the wallbox.`
    : sentence`The service answered with an error (HTTP ${failure.httpStatus}), and the command may have reached the wallbox anyway. It is not sent again. Check the wallbox.`;
}

/** The invocation of a command that was sent and has no answer. */
export const unanswered = (said: Sentence, operationId: string | null = null): Invocation => ({
  requestStatus: null,
  operationId,
  message: wordSentence(said),
  async: null,
  readyUntil: null,
});

/** @throws VehicleError INPUT_INVALID, VIN_INVALID */
export function parseRecord(input: unknown): CommandRecord {
  const parsed = recordShape.safeParse(input);
  if (!parsed.success) {
    throw new VehicleError(
      'INPUT_INVALID',
      'msg.payload is not the record of a command. Connect this node behind a “car command” node, or send a record from one.',
    );
  }
  return { ...parsed.data, vin: parseVin(parsed.data.vin) };
}

/**
 * The command that a message with `cancel` names, which is then no longer followed: the id of its
 * record, in `payload.id` or as the payload itself; null for all commands.
 * @throws VehicleError INPUT_INVALID
 */
export function cancelledId(payload: unknown): string | null {
  const named = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
  const id = named && 'id' in payload ? payload.id : named ? undefined : payload;
  if (typeof id === 'string' && id !== '') return id;
  if (id === null || id === undefined) return null;
  // The payload of a button is a time or nothing, so it names no command.
  if (!named && (id === '' || typeof id === 'number' || typeof id === 'boolean')) return null;
  throw new VehicleError(
    'INPUT_INVALID',
    'msg.payload does not name the command to cancel. Send the id of its record in msg.payload.id, or no payload to cancel all.',
  );
}
