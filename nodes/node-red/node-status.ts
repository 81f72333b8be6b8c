import type { Node, NodeStatus as NodeStatusObject, NodeStatusFill, NodeStatusShape } from 'node-red';
import { causeOf, clockTime, cut, type CommandRecord, type Signal, type VehicleError } from '../../src/index';
import type { deploysOf } from './deploys';
import type { Values, Words } from './i18n';
import { clock } from './time';

/**
 * The styles of a node's status: blue = busy, green = good, yellow = needs attention, yellow ring =
 * waiting, red ring = failed, grey = unknown.
 */
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

const codes = new Map<string, string>();

/**
 * `failed.API_KEY_REFUSED` is `api-key-refused`: the fixed word that flows compare
 * (docs/internals/contract.md 6).
 */
function codeOf(key: string): string {
  let code = codes.get(key);
  if (code === undefined) {
    const word = key.slice(key.lastIndexOf('.') + 1);
    code = word
      .replace(/(?<=[a-z])[A-Z]/g, '-$&')
      .replaceAll('_', '-')
      .toLowerCase();
    codes.set(key, code);
  }
  return code;
}

/** The style of each outcome of a command; only success is green. */
const outcomeStyles = {
  pending: 'waiting',
  succeeded: 'good',
  failed: 'failed',
  undetermined: 'unclear',
} as const satisfies Record<CommandRecord['outcome'], StatusStyle>;

/**
 * The status that a node shows. Node-RED passes the whole object to Status nodes, but its types
 * lack the code.
 */
interface ShownStatus extends NodeStatusObject {
  code: string;
}

const isSame = (next: ShownStatus, shown: Partial<ShownStatus>): boolean =>
  next.text === shown.text && next.code === shown.code && next.fill === shown.fill && next.shape === shown.shape;

/**
 * The only writer of a node's status: texts in the language of its vehicle configuration, each with
 * the code of its key.
 */
export class NodeStatus {
  /** Shown behind a failure in place of the time, such as the age of the value that was kept. */
  keptNote: string | null = null;
  #keyWithoutTime: string | undefined;
  /** Every status is sent to all open editors, so the same one is not sent twice. */
  #shown: ShownStatus | Record<string, never> = {};
  /** The deploy that began the node is over. */
  #hasStarted = false;

  constructor(
    readonly own: {
      /** Shown in place of the time while it is not null. */
      readonly expiry: string | null;
      /** Adds the name of the car to a text, if it needs one. */
      withShownCar(text: string): string;
      readonly node: Node;
      readonly words: Words;
      readonly deploys: Pick<ReturnType<typeof deploysOf>, 'allFlowsRun' | 'untilFlowsRun'>;
      readonly closing: Signal;
    },
  ) {}

  /**
   * A status that cannot be shown, for example because its text cannot be read, must not make the
   * work of the node fail.
   * @param key below `status` in `runtime.json`
   * @param values those that the text names
   * @param hasTime whether the time of day is behind the text
   */
  show(style: StatusStyle, key: string, values?: Values, hasTime = false): void {
    try {
      const { words } = this.own;
      const shown = this.own.withShownCar(words.say(`status.${key}`, values));
      const note = !hasTime ? '' : style === 'failed' ? this.keptNote : this.own.expiry;
      const time = note ?? this.time(clock().now(), words);
      const text = hasTime ? words.say('status.at', { text: shown, time }) : shown;
      this.#keyWithoutTime = hasTime ? undefined : key;
      const [fill, shape] = styles[style];
      const next = { fill, shape, text: cut(text, longestText), code: codeOf(key) };
      if (!isSame(next, this.#shown)) this.#send(next);
    } catch {
      this.#shown = {};
    }
  }

  /** Shows a text with the time of day behind it. @param key below `status` in `runtime.json` */
  showWithTime(style: StatusStyle, key: string, values?: Values): void {
    this.show(style, key, values, true);
  }

  /**
   * Shows the cause of a failure, and until when it lasts if that is known; otherwise the time of
   * day.
   */
  showFailure({ code, status, retryAt }: VehicleError): void {
    if (status !== null) this.show('failed', `failed.${status.word}`, { command: this.#command(status.command) });
    else if (code === 'QUOTA_SPENT' && retryAt !== null)
      this.show('failed', 'until.QUOTA_SPENT', { time: this.time(retryAt.getTime()) });
    else this.showWithTime('failed', `failed.${code}`);
  }

  /** Shows the outcome of a command and its reason, with the time of day. */
  showOutcome({ command, outcome, requestStatus }: Pick<CommandRecord, 'command' | 'outcome' | 'requestStatus'>): void {
    const cause = outcome === 'failed' ? causeOf(requestStatus, command) : undefined;
    const key = `${cause ?? 'outcome'}.${outcome}`;
    this.showWithTime(outcomeStyles[outcome], key, { command: this.#command(command) });
  }

  /**
   * Status nodes get it again, among them those of a later deploy.
   * @param key of the status that is shown, without a time
   */
  repeat(key: string): void {
    if (key === this.#keyWithoutTime) this.#send({ ...this.#shown });
  }

  /** @param key clears only the status that was shown with this key and without a time */
  clear(key?: string): void {
    if (key !== undefined && key !== this.#keyWithoutTime) return;
    this.#keyWithoutTime = undefined;
    this.#shown = {};
    this.own.node.status(this.#shown);
  }

  /**
   * While Node-RED starts the flow of the node, it passes no status to Status nodes: they get the
   * last one when the flows run.
   */
  #send(status: ShownStatus | Record<string, never>): void {
    this.#shown = status;
    const { node, deploys, closing } = this.own;
    if ((this.#hasStarted ||= deploys.allFlowsRun)) return node.status(status);
    void deploys.untilFlowsRun(closing).then(() => {
      this.#hasStarted = true;
      if (status === this.#shown) node.status(status);
    });
  }

  /** Nothing is shown. */
  get isEmpty(): boolean {
    return this.#shown.text === undefined;
  }

  /** `14:05`, or `23 Nov, 14:05`. @param at milliseconds since 1970 */
  time(at: number, { translate } = this.own.words): string {
    return translate(clockTime(at, clock().now()));
  }

  #command(name = ''): string {
    return this.own.words.say(`command.${name}`, { defaultValue: name });
  }
}
