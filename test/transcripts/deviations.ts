import { isRecord } from '../../src/index';
import type { Deviation } from './golden';

/**
 * Where the pack does not yet do what the contract asks for. A stored transcript has the answer of the contract; a deviation turns
 * today's answer into it. One that no case needs any more fails the test: it is mended, so its lines go.
 */

type Mend = (node: string, channel: string, heard: unknown, title: string) => unknown;

/** A deviation in single messages and statuses. */
const inMessages =
  (mend: Mend): Deviation['mended'] =>
  (transcript, title) =>
    Object.fromEntries(
      Object.entries(transcript as object).map(([node, channels]) => [
        node,
        Object.fromEntries(
          Object.entries(channels as object).map(([channel, heard]) => [
            channel,
            Array.isArray(heard) ? heard.map((one: unknown) => mend(node, channel, one, title)) : (heard as unknown),
          ]),
        ),
      ]),
    );

const isResult = (node: string, channel: string): boolean => node.startsWith('result') && channel.startsWith('output');

const withPayload = (msg: unknown, change: (payload: Record<string, unknown>) => object): unknown =>
  isRecord(msg) && isRecord(msg['payload'])
    ? { ...msg, payload: { ...msg['payload'], ...change(msg['payload']) } }
    : msg;

export const deviations = {
  textOfResult: {
    number: 3,
    why: '`payload.text` is a sentence for people in each message of a result node (contract 5a). There is only `reason`.',
    mended: inMessages((node, channel, msg) =>
      isResult(node, channel) ? withPayload(msg, () => ({ text: '<sentence>' })) : msg,
    ),
  },
  topicOfResult: {
    number: 4,
    why: 'A result node sets `topic` where it was empty (contract 5a). It leaves it empty.',
    mended: inMessages((node, channel, msg, title) =>
      isResult(node, channel) && title.includes('without topic') && isRecord(msg) ? { ...msg, topic: '<set>' } : msg,
    ),
  },
} satisfies Record<string, Deviation>;
