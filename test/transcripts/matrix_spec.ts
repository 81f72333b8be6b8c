import { strict as assert } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { useClock } from '../../nodes/runtime';
import { isRecord } from '../../src/index';
import { everyNth } from '../support/long';
import { demoCar, startSimulator, type FaultOptions, type Simulator } from '../support/simulator';
import { customVehicle, demoCredentials, Flow, type NodeConfig } from '../support/flow';
import { Golden } from './golden';
import { QuietClock } from './quiet-clock';

/**
 * Each combination of an end of a command, its result nodes, what a flow does meanwhile, and a restart: what a flow hears of it, without
 * times, and in which combinations. Whole messages and their times are in commands_spec.
 */

type Message = Record<string, unknown>;

/** What becomes of a command. */
interface End {
  interface: 'v1' | 'v2';
  /** The words of the service, and the seconds after it was sent. A v2 answer has the last word. */
  states: [word: string, after: number][];
  fault?: FaultOptions;
  /** The seconds at which the fault begins. */
  faultAt?: number;
}

const post = { method: 'POST' };
const link = { method: 'GET', path: '/requests/' };
const expires = { 'data.async.expires': { json: '2026-06-01T08:00:40Z' } };
const running: [string, number] = ['RUNNING', 0];

const ends: Record<string, End> = {
  'v1, completed': { interface: 'v1', states: [running, ['WAITING', 14], ['COMPLETED', 27]] },
  'v1, unknown': { interface: 'v1', states: [running, ['UNKNOWN', 14]] },
  'v1, a link that answers 404': {
    interface: 'v1',
    states: [running],
    fault: { match: link, error: 'not-found' },
    faultAt: 14,
  },
  'v1, a link that expires': { interface: 'v1', states: [running], fault: { match: post, members: expires } },
  'v1, not over in time': { interface: 'v1', states: [running] },
  'v2, completed': { interface: 'v2', states: [['COMPLETED', 4]] },
  'v2, running when it is answered': { interface: 'v2', states: [['RUNNING', 4]] },
  'v2, unknown': { interface: 'v2', states: [['UNKNOWN', 4]] },
  'v2, not answered': { interface: 'v2', states: [['COMPLETED', 4]], fault: { match: post, latencyMs: 900_000 } },
};

/** The result nodes behind a command node. */
const casts: Record<string, readonly object[]> = {
  'one that reads the doors': [{ timeout: 60 }],
  'one without a proof': [{ timeout: 60, verify: false }],
  'two, the second without a proof': [{ timeout: 60 }, { timeout: 40, verify: false, interval: 20 }],
};

const actions = ['nothing', 'cancel its id', 'cancel all', 'send its record twice', 'send a foreign record'] as const;
type Action = (typeof actions)[number];

const noRestart = 'no restart';
const beforeAnswer = 'a restart before it is answered';
/** The seconds at which Node-RED restarts. */
const restarts: Record<string, number | null> = {
  [noRestart]: null,
  [beforeAnswer]: 1,
  'a restart while it is followed': 12,
  'a restart after its result': 300,
};
/** The seconds at which a flow acts, and does the same again. */
const actsAt = 8;
const actsAgainAt = 320;
const endsAt = 720;

/** One command, with a car and nodes of its own. */
class Cell {
  readonly vin: string;
  readonly #heard = new Map<string, string[]>();
  readonly #codes = new Map<string, string[]>();
  readonly results: readonly object[];
  /** The record that the command node sent, or that another program has. */
  record: Message | undefined;

  constructor(
    readonly id: string,
    readonly cast: string,
    readonly action: Action,
  ) {
    this.results = casts[cast] ?? [];
    this.vin = `YV1MATR1X00CELL${id.padStart(2, '0')}`;
  }

  get resultIds(): string[] {
    return this.results.map((_, index) => `${this.id} result ${index + 1}`);
  }

  nodes(version: 'v1' | 'v2'): NodeConfig[] {
    const node = { z: 'tab', vehicle: 'v' };
    const command = { command: 'lock', interface: version, vin: this.vin };
    return [
      {
        ...node,
        ...command,
        id: `${this.id} command`,
        type: 'connected-vehicle-command',
        wires: [['out0', ...this.resultIds], ['out0']],
      },
      ...this.results.map((options, index) => ({
        ...node,
        ...options,
        id: this.resultIds[index] ?? '',
        type: 'connected-vehicle-command-status',
        wires: [['out0'], ['out0']],
      })),
    ];
  }

  hear(node: string, what: string): void {
    this.#heard.set(node, [...(this.#heard.get(node) ?? []), what]);
  }

  status(node: string, code: string): void {
    const codes = this.#codes.get(node) ?? [];
    if (codes.at(-1) !== code) this.#codes.set(node, [...codes, code]);
  }

  /** What was heard of each node. */
  get found(): Omit<Found, 'restart'>[] {
    const { cast, action } = this;
    return [
      { node: 'command', transcript: this.#transcriptOf(`${this.id} command`), cast, action },
      ...this.results.map((options, index) => ({
        node: 'verify' in options ? 'result without a proof' : 'result that reads the doors',
        transcript: this.#transcriptOf(this.resultIds[index] ?? ''),
        cast,
        action,
      })),
    ];
  }

  /** In one line: messages, and the codes of its status. */
  #transcriptOf(node: string): string {
    const list = (all: ReadonlyMap<string, string[]>): string => all.get(node)?.join(', ') ?? 'nothing';
    return `${list(this.#heard)} | ${list(this.#codes)}`;
  }
}

/** What was heard of a node in one combination. */
interface Found {
  node: string;
  transcript: string;
  cast: string;
  action: Action;
  restart: string;
}

/** The combinations by node and transcript. A restart and the result nodes are named only where they make a difference. */
function grouped(found: readonly Found[]): Record<string, Record<string, string[]>> {
  const groups: Record<string, Record<string, string[]>> = {};
  for (const { node, transcript, cast, action, restart } of found) {
    const alike = found.filter((other) => other.node === node && other.action === action);
    const isOne = (like: (other: Found) => boolean): boolean =>
      alike.filter(like).every((other) => other.transcript === transcript);
    const isWithoutRestart = isOne((other) => other.restart === noRestart && other.cast === cast);
    const named = isWithoutRestart ? noRestart : restart;
    const name = [
      action,
      ...(isWithoutRestart ? [] : [restart]),
      ...(isOne((other) => other.restart === named) ? [] : [cast]),
    ].join(', ');
    const names = ((groups[node] ??= {})[transcript] ??= []);
    if (!names.includes(name)) names.push(name);
  }
  return groups;
}

/** The part of Node-RED's hooks that hears what nodes send, and that they are done. */
interface Hooks {
  add(
    hook: 'onSend.matrix',
    listener: (sent: { source: { id: string; port: number }; destination: { id: string }; msg: Message }[]) => void,
  ): void;
  add(
    hook: 'onComplete.matrix',
    listener: (event: { msg: Message; node: { id: string }; error?: unknown }) => void,
  ): void;
  remove(hook: string): void;
}
const { hooks } = require(process.env['NODE_RED_PATH'] ?? 'node-red') as { hooks: Hooks };

/** Members of a message and of a record that the flow has set. */
const ownMembers = { topic: 'garage', mine: { deep: [1] } };
const ownOfRecord = { garage: 'left' };

/** What a record or a result says, and which members of the flow are not in its message as they came. */
function wordsOf(msg: Message): string {
  const payload = isRecord(msg['payload']) ? msg['payload'] : {};
  const { requestStatus, outcome, verified, history } = payload;
  const states = Array.isArray(history)
    ? ` after ${history.map((one: Message) => String(one['requestStatus'])).join(' ')}`
    : '';
  const proof = verified === undefined ? '' : ` verified ${String(verified)}`;
  const lost = Object.entries({ ...ownMembers, ...(String(payload['id']).startsWith('foreign') && ownOfRecord) })
    .filter(([name, value]) => !isDeepStrictEqual(name in ownOfRecord ? payload[name] : msg[name], value))
    .map(([name]) => ` without ${name}`);
  return `${String(outcome)} ${String(requestStatus)}${proof}${states}${lost.join('')}`;
}

/** The record of a command that another program has sent. */
async function foreignRecord(
  service: Simulator,
  vin: string,
  { interface: version, states, fault }: End,
): Promise<Message> {
  const record = {
    id: `foreign ${vin}`,
    command: 'lock',
    vin,
    interface: `connected-${version}`,
    sentAt: '2026-06-01T08:00:00.000Z',
    operationId: null,
    requestStatus: null,
    outcome: 'pending',
    message: '',
    async: null,
    ...ownOfRecord,
  };
  if (version === 'v2') return fault ? record : { ...record, requestStatus: states[0]?.[0] };
  const answer = await fetch(`${service.url}/connected-vehicle/v1/vehicles/${vin}/commands/lock`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer demo-token',
      'vendor-api-key': 'demo-key',
      'content-type': 'application/vnd.vendor.api.connected-vehicle.lock.v1+json',
    },
  });
  const { async } = ((await answer.json()) as { data: { async: { status: string } } }).data;
  return { ...record, async, requestStatus: async.status };
}

/** What happens to one car for each cast and action, while time passes. */
class Run {
  readonly cells = Object.keys(casts).flatMap((cast, row) =>
    actions.map((action, column) => new Cell(String(row * actions.length + column), cast, action)),
  );
  readonly #end: End;
  readonly #clock = new QuietClock();
  readonly #flow = new Flow();
  #service: Simulator | undefined;

  constructor(end: End) {
    this.#end = end;
    this.#flow.heard = this.#nodes.map(({ id }) => id);
  }

  get #nodes(): NodeConfig[] {
    return this.cells.flatMap((cell) => cell.nodes(this.#end.interface));
  }

  async play(restartAt: number | null): Promise<void> {
    const { states, fault, faultAt = 0 } = this.#end;
    useClock(this.#clock);
    const commandPlan = {
      steps: states.map(([status, after]) => ({ status, afterMs: after * 1000 })),
      answerAfterMs: (states.at(-1)?.[1] ?? 0) * 1000,
    };
    const cars = this.cells.map(({ vin }) => ({ ...demoCar, vin, lock: 'UNLOCKED' as const, commandPlan }));
    const service = (this.#service = await startSimulator({ clock: this.#clock, cars }));
    this.#listen();
    await this.#start(service);
    const events: [at: number, what: () => unknown][] = [
      [faultAt, () => fault && service.faults.add(fault)],
      [0, () => this.#command(service)],
      [actsAt, () => this.#act('once')],
      [actsAgainAt, () => this.#act('again')],
      [endsAt, () => undefined],
    ];
    if (restartAt !== null) events.push([restartAt, () => this.#restart(service)]);
    let now = 0;
    for (const [at, what] of events.toSorted(([one], [other]) => one - other)) {
      await this.#clock.pass((at - now) * 1000);
      now = at;
      await what();
      await this.#clock.quiet();
    }
  }

  async #start(service: Simulator): Promise<void> {
    const limits = { requestsPerMinute: 1e6, commandsPerMinute: 1e6, requestsPerDay: 1e6 };
    await this.#flow.load({ type: 'helper' }, customVehicle(service, limits), demoCredentials, this.#nodes);
    this.#flow.node('badges').on('input', (msg) => {
      const { source, code } = (msg as Message)['status'] as { source: { id: string }; code?: string };
      this.#cellOf(source.id)?.status(source.id, code ?? '');
    });
  }

  async #restart(service: Simulator): Promise<void> {
    const stopped = this.#flow.unload();
    await this.#clock.quiet();
    await stopped;
    await this.#start(service);
  }

  #listen(): void {
    hooks.add('onSend.matrix', (sent) => {
      for (const { source, destination, msg } of sent) {
        const cell = this.#cellOf(source.id);
        if (cell === undefined || destination.id !== 'out0') continue;
        if (source.id.endsWith('command')) cell.record ??= structuredClone(msg['payload']) as Message;
        cell.hear(source.id, `${String(msg['_msgid'])} output ${source.port + 1} ${wordsOf(msg)}`);
      }
    });
    hooks.add('onComplete.matrix', ({ msg, node, error }) => {
      const what = error === undefined ? 'complete' : `catch ${(error as { code?: string }).code}`;
      this.#cellOf(node.id)?.hear(node.id, `${String(msg['_msgid'])} ${what}`);
    });
  }

  #cellOf(node: string): Cell | undefined {
    return this.cells.find(({ id }) => node.startsWith(`${id} `));
  }

  #send(node: string, msg: Message): void {
    this.#flow.node(node).receive({ ...ownMembers, ...msg } as never);
  }

  async #command(service: Simulator): Promise<void> {
    for (const cell of this.cells)
      if (cell.action !== 'send a foreign record') this.#send(`${cell.id} command`, { _msgid: 'first' });
      else cell.record = await foreignRecord(service, cell.vin, this.#end);
  }

  #act(name: string): void {
    for (const { action, record, resultIds } of this.cells) {
      if (action === 'nothing' || record === undefined) continue;
      const cancel = { cancel: true, payload: action === 'cancel its id' ? { id: record['id'] } : undefined };
      for (const node of resultIds)
        this.#send(node, { _msgid: name, ...(action.startsWith('cancel') ? cancel : { payload: record }) });
    }
  }

  async end(): Promise<void> {
    hooks.remove('*.matrix');
    await this.#flow.end();
    await this.#service?.close();
    useClock(undefined);
    this.#clock.close();
  }
}

describe('What a flow hears of a command in each combination', function () {
  this.timeout(240_000);
  const golden = new Golden('matrix.json');
  let run: Run | undefined;

  afterEach(() => run?.end());
  after(() => golden.save());

  for (const [title, end] of everyNth(3, Object.entries(ends)))
    it(title, async () => {
      const found: Found[] = [];
      for (const [restart, at] of Object.entries(restarts)) {
        // An answer of v1 comes at once.
        if (at === restarts[beforeAnswer] && end.interface === 'v1') continue;
        run = new Run(end);
        await run.play(at);
        for (const cell of run.cells) found.push(...cell.found.map((one) => ({ ...one, restart })));
        await run.end();
        run = undefined;
      }
      const { found: now, stored } = golden.compare(title, grouped(found));
      assert.equal(now, stored);
    });
});
