import type { Node, NodeAPI, NodeStatusFill, NodeStatusShape } from 'node-red';
import { word, type Values } from '../node-red/i18n';

/** What each kind of badge looks like: blue = busy, green = good, yellow ring = waiting, red ring = failed, grey = cannot tell. */
const looks = {
  busy: ['blue', 'dot'],
  good: ['green', 'dot'],
  attention: ['yellow', 'dot'],
  waiting: ['yellow', 'ring'],
  failed: ['red', 'ring'],
  unclear: ['grey', 'ring'],
} as const satisfies Record<string, readonly [NodeStatusFill, NodeStatusShape]>;

/** A badge is a few words; a service may send any number of them. */
const longestText = 80;

export type Look = keyof typeof looks;

/** The only writer of a node's badge: words in the runtime's language, and the time where a value stands there to stay. */
export interface Badge {
  /** @param key below `status`, @param words what the key's text names */
  show(look: Look, key: string, words?: Values): void;
  /** The same, with the time of day behind it. */
  stamp(look: Look, key: string, words?: Values): void;
  /** @param key only where it stands there, and was shown without a time */
  clear(key?: string): void;
  /** What stands in place of the time as long as it is not null. */
  note: () => string | null;
  /** The same behind a failure: what goes on in spite of it. */
  kept: string | null;
}

export function badgeOf(RED: NodeAPI, node: Node, now: () => Date = () => new Date()): Badge {
  const translate = (key: string, words?: Values): string => word(RED, `status.${key}`, words);
  /** Told to every open editor: what stands there already is not told again. */
  let standing = '';
  let shown: string | undefined;
  const write = (look: Look, text: string, key?: string): void => {
    shown = key;
    const written = `${look} ${text}`;
    if (written === standing) return;
    standing = written;
    const [fill, shape] = looks[look];
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
  const badge: Badge = {
    show: (look, key, words) => attempt(() => write(look, translate(key, words), key)),
    stamp: (look, key, words) =>
      attempt(() =>
        write(
          look,
          translate('at', {
            text: translate(key, words),
            time: (look === 'failed' ? badge.kept : badge.note()) ?? clockTime(now()),
          }),
        ),
      ),
    clear(key) {
      if (key !== undefined && key !== shown) return;
      standing = '';
      node.status({});
    },
    note: () => null,
    kept: null,
  };
  return badge;
}

/** `14:05`, in the machine's time. */
export const clockTime = (date: Date): string =>
  `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
