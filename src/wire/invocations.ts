import type * as z from 'zod/mini';
import { isRecord } from '../util/json';
import { invocationShape, toTimestamp, type asyncShape } from './schemas';
import { secondMs } from '../util/durations';

/** The link to the details of a v1 command (docs/internals/service.md 2.5). */
export type AsyncLink = z.infer<typeof asyncShape>;

/** The content of an answer to a command, or of a poll of its link; a missing value is null. */
export interface Invocation {
  /** The service's word, verbatim. */
  requestStatus: string | null;
  operationId: string | null;
  message: string | null;
  async: AsyncLink | null;
  /** v2 unlock: until when the tailgate can be opened (docs/internals/vendor-api.md 1.9). */
  readyUntil: string | null;
}

/** Longer texts are cut: they go to statuses, logs and the journal. */
const maxLength = { requestStatus: 100, message: 500 } as const;

const cut = (text: string | null, length: number): string | null => text?.slice(0, length) ?? null;

/** Smaller values are seconds from now (docs/internals/vendor-api.md 1.9: sources differ). */
const longestDuration = 1e9;

type Layer = z.infer<typeof invocationShape>;

/** Looks for a value in `data` of the body first, and then in the body itself. */
function searchOf(body: unknown): <Value>(pick: (layer: Layer) => Value | null) => Value | null {
  const inner = isRecord(body) ? body['data'] : undefined;
  const layers = [inner, body].filter(isRecord).map((layer) => invocationShape.parse(layer));
  return (pick) => layers.map(pick).find((value) => value !== null) ?? null;
}

/** The explicit status of an answer, `invokeStatus` or that of a v1 link; null if it has none. */
export const namedStatus = (body: unknown): string | null =>
  searchOf(body)(({ async, invokeStatus }) => (async?.status ?? invokeStatus)?.trim() || null);

/**
 * Reads the state of a command wherever the interface puts it: `async.status` of v1,
 * `data.invokeStatus` of v2 and of the v1 link, `status` if it is a word and not an HTTP number.
 * Any other answer has no status.
 */
export function parseInvocation(body: unknown, receivedAt: number): Invocation {
  const first = searchOf(body);
  const readyUntil = first((layer) => layer.readyToUnlockUntil);
  return {
    requestStatus: cut(
      first((layer) => layer.async?.status ?? null) ??
        first((layer) => layer.invokeStatus) ??
        first((layer) => (typeof layer.status === 'string' && /\D/.test(layer.status) ? layer.status : null)),
      maxLength.requestStatus,
    ),
    operationId: first((layer) => layer.operationId),
    message: cut(
      first((layer) => layer.message || null),
      maxLength.message,
    ),
    async: first((layer) => layer.async),
    readyUntil:
      readyUntil === null
        ? null
        : toTimestamp(readyUntil < longestDuration ? receivedAt + readyUntil * secondMs : readyUntil),
  };
}
