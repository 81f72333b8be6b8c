import type { Node, NodeStatus as NodeStatusObject, NodeStatusFill, NodeStatusShape } from 'node-red';
import { causeOf, clockTime, cut, type CommandRecord, type Sentence } from '../../src/index';
import type { Values, Words } from './i18n';
import { clock } from './time';

/** The styles of a node's status: blue = busy, green = good, yellow = needs attention, yellow ring = waiting, red ring = failed, grey = unknown. */
const styles = {
  busy: ['blue', 'dot'],
  good: ['green', 'dot'],
  attention: ['yellow', 'dot'],
  waiting: ['yellow', 'ring'],
  failed: ['red', 'ring'],
  unclear: ['grey', 'ring'],
} as const satisfies Record<string, readonly [NodeStatusFill, NodeStatusShape]>;

/** A status is a few words, but a service can send any number of them. */
const longestText = 80;

export type StatusStyle = keyof typeof styles;

/** `failed.API_KEY_REFUSED` is `api-key-refused`: the fixed word that flows compare (docs/internals/contract.md 6). */
const codeOf = (key: string): string =>
  (/[^.]*$/.exec(key)?.[0] ?? '')
    .replace(/(?<=[a-z])[A-Z]/g, '-$&')
    .replaceAll('_', '-')
    .toLowerCase();

/** The only writer of a node's status: texts in the language of its vehicle configuration, each with the code of its key. */
export interface NodeStatus {
  /** @param key below `status` in `runtime.json`, @param words the values that the text names */
  show(style: StatusStyle, key: string, words?: Values): void;
  /** Shows a text with the time of day behind it. @param key below `status` in `runtime.json` */
  showWithTime(style: StatusStyle, key: string, words?: Values): void;
  /** @param key clears only the status that was shown with this key and without a time */
  clear(key?: string): void;
  /** Nothing is shown. */
  readonly isEmpty: boolean;
  /** The name of a command. */
  command(name?: string): string;
  /** A sentence of the library. */
  word(sentence: Sentence): string;
  /** `14:05`, or `23 Nov, 14:05`. @param at milliseconds since 1970 */
  time(at: number): string;
  /** Shown in place of the time while it is not null. */
  note: () => string | null;
  /** Shown behind a failure in place of the time, such as the age of the value that was kept. */
  keptNote: string | null;
}

export function nodeStatusOf(node: Node, words: Words): NodeStatus {
  const textOf = (key: string, values?: Values): string => words.say(`status.${key}`, values);
  /** Every status is sent to all open editors, so the same one is not sent twice. */
  let last = '';
  let keyWithoutTime: string | undefined;
  const write = (style: StatusStyle, key: string, text: string, hasTime = false): void => {
    keyWithoutTime = hasTime ? undefined : key;
    const next = `${style} ${key} ${text}`;
    if (next === last) return;
    last = next;
    const [fill, shape] = styles[style];
    // Node-RED hands the whole object to Status nodes, and its types know the first three members only.
    node.status({ fill, shape, text: cut(text, longestText), code: codeOf(key) } as NodeStatusObject);
  };
  /** A status that cannot be shown, for example because its text cannot be read, must not make the work of the node fail. */
  const attempt = (show: () => void): void => {
    try {
      show();
    } catch {
      last = '';
    }
  };
  const nodeStatus: NodeStatus = {
    show: (style, key, words) => attempt(() => write(style, key, textOf(key, words))),
    showWithTime: (style, key, words) =>
      attempt(() =>
        write(
          style,
          key,
          textOf('at', {
            text: textOf(key, words),
            time: (style === 'failed' ? nodeStatus.keptNote : nodeStatus.note()) ?? nodeStatus.time(clock().now()),
          }),
          true,
        ),
      ),
    clear(key) {
      if (key !== undefined && key !== keyWithoutTime) return;
      last = '';
      node.status({});
    },
    get isEmpty() {
      return last === '';
    },
    command: (name = '') => words.say(`command.${name}`, { defaultValue: name }),
    word: words.word,
    time: (at) => nodeStatus.word(clockTime(at, clock().now())),
    note: () => null,
    keptNote: null,
  };
  return nodeStatus;
}

/** The style of each outcome of a command; only success is green. */
const outcomeStyles = {
  pending: 'waiting',
  succeeded: 'good',
  failed: 'failed',
  undetermined: 'unclear',
} as const satisfies Record<CommandRecord['outcome'], StatusStyle>;

/** Shows what became of a command and why, with the time of day. */
export function showOutcome(
  nodeStatus: NodeStatus,
  { command, outcome, requestStatus }: Pick<CommandRecord, 'command' | 'outcome' | 'requestStatus'>,
): void {
  const cause = outcome === 'failed' ? causeOf(requestStatus) : undefined;
  nodeStatus.showWithTime(outcomeStyles[outcome], `${cause ?? 'outcome'}.${outcome}`, {
    command: nodeStatus.command(command),
  });
}
