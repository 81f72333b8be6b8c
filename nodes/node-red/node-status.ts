import type { Node, NodeAPI, NodeStatusFill, NodeStatusShape } from 'node-red';
import { translate, type Values } from './i18n';
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

/** The prefix of the keys of fixed texts. The editor translates a status that is a key of a message catalogue. */
const keyPrefix = '@connected-vehicle/node-red/connected-vehicle:status.';

/** The only writer of a node's status: fixed texts as keys for the editor, texts with values in the language of the runtime. */
export interface NodeStatus {
  /** Shows a fixed text. @param key below `status` in the message catalogue of `connected-vehicle` */
  show(style: StatusStyle, key: string): void;
  /** Shows a text with values. @param key below `status` in `runtime.json`, @param words the values that the text names */
  showText(style: StatusStyle, key: string, words: Values): void;
  /** Shows a text with the time of day behind it. @param key below `status` in `runtime.json` */
  showWithTime(style: StatusStyle, key: string, words?: Values): void;
  /** @param key clears only the status that was shown with this key and without a time */
  clear(key?: string): void;
  /** Shown in place of the time while it is not null. */
  note: () => string | null;
  /** Shown behind a failure in place of the time, such as the age of the value that was kept. */
  keptNote: string | null;
}

export function nodeStatusOf(RED: NodeAPI, node: Node): NodeStatus {
  const textOf = (key: string, words?: Values): string => translate(RED, `status.${key}`, words);
  /** Every status is sent to all open editors, so the same one is not sent twice. */
  let standing = '';
  let shown: string | undefined;
  const write = (style: StatusStyle, text: string, key?: string): void => {
    shown = key;
    const written = `${style} ${text}`;
    if (written === standing) return;
    standing = written;
    const [fill, shape] = styles[style];
    node.status({ fill, shape, text: text.length > longestText ? `${text.slice(0, longestText - 1)}…` : text });
  };
  /** A status that cannot be shown, because its text cannot be read for one, must not fail what it is about. */
  const attempt = (show: () => void): void => {
    try {
      show();
    } catch {
      standing = '';
    }
  };
  const nodeStatus: NodeStatus = {
    show: (style, key) => attempt(() => write(style, keyPrefix + key, key)),
    showText: (style, key, words) => attempt(() => write(style, textOf(key, words), key)),
    showWithTime: (style, key, words) =>
      attempt(() =>
        write(
          style,
          textOf('at', {
            text: textOf(key, words),
            time: (style === 'failed' ? nodeStatus.keptNote : nodeStatus.note()) ?? clockTime(new Date(clock().now())),
          }),
        ),
      ),
    clear(key) {
      if (key !== undefined && key !== shown) return;
      standing = '';
      node.status({});
    },
    note: () => null,
    keptNote: null,
  };
  return nodeStatus;
}

/** `14:05`, in the machine's time. */
export const clockTime = (date: Date): string =>
  `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
