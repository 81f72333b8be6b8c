import { useClock } from '../../nodes/runtime';
import { errorCodes } from '../../src/errors';
import { startSimulator, type Simulator } from '../support/simulator';
import { Flow, type NodeConfig, type Received } from '../support/flow';
import { ManualClock } from '../support/manual-clock';
import { Random } from '../support/random';
import { faults, startFaultProxy, type Fault, type FaultProxy } from './fault-proxy';

/**
 * Random faults between real nodes and the simulated service. Arguments: the least number of faults
 * and the seed. It needs NODE_EXTRA_CA_CERTS with the certificate of the proxy;
 * test/faults/faults_spec.ts sets it.
 */
interface FaultReport {
  seed: number;
  messages: number;
  faults: number;
  /** How often each outcome or code was reported. */
  told: Record<string, number>;
  /** Empty if every invariant holds. */
  broken: string[];
}

/** So many cars are read and commanded at the same time, each by one message after the other. */
const lanes = 24;
type Kind = 'read' | 'several' | 'command' | 'watch' | 'guard' | 'event';
const kinds: readonly [Kind, ...Kind[]] = ['read', 'read', 'several', 'command', 'command', 'command', 'watch'];
/** The guard has the first car and the event node the second one. */
const extraKinds: readonly Kind[][] = [
  ['guard', 'guard'],
  ['event', 'event'],
];
const vins = Array.from({ length: lanes }, (_, lane) => `FAULTS00000CAR0${String(lane).padStart(2, '0')}`);
const commandsToSend = ['lock', 'flash', 'honk'] as const;
/**
 * More real time than this, with virtual time running all along, is a message that is never done.
 */
const doneWithinMs = 60_000;

class FaultRun {
  readonly #clock = new ManualClock();
  readonly #flow = new Flow();
  readonly #report: FaultReport;
  #service!: Simulator;
  #proxy!: FaultProxy;
  #ids = 0;
  /** The ends of each message, by id: null for a completion, else the message of the Catch node. */
  readonly #ends = new Map<string, (Received | null)[]>();
  readonly #outputs = new Map<string, Received[]>();

  constructor(seed: number) {
    this.#report = { seed, messages: 0, faults: 0, told: {}, broken: [] };
  }

  async run(least: number): Promise<FaultReport> {
    useClock(this.#clock);
    process.on('unhandledRejection', (reason) => this.#break(`unhandled rejection: ${String(reason)}`));
    this.#service = await startSimulator({ clock: this.#clock, cars: vins.map((vin) => ({ vin })) });
    this.#proxy = await startFaultProxy(this.#service.url);
    // 250 times as fast as real time: a handshake has 40 ms until it counts as stalled.
    const pump = setInterval(() => void this.#clock.advance(1_000), 4);
    try {
      await this.#load();
      await Promise.all(vins.map((vin, lane) => this.#lane(vin, new Random(this.#report.seed * 1_000 + lane), least)));
      for (const vin of vins) this.#proxy.inject(vin, null, 0);
      await this.#flow.end();
      const closedBy = Date.now() + 10_000;
      while (this.#proxy.open > 0 && Date.now() < closedBy) await new Promise((resolve) => setTimeout(resolve, 10));
      if (this.#proxy.open > 0) this.#break(`${this.#proxy.open} connections are open after the flow was stopped`);
    } finally {
      clearInterval(pump);
      await this.#proxy.close();
      await this.#service.close();
      useClock(undefined);
    }
    for (const [id, ends] of this.#ends)
      if (ends.length !== 1) this.#break(`message ${id} was done ${ends.length} times`);
    this.#report.faults = this.#proxy.injected;
    return this.#report;
  }

  async #load(): Promise<void> {
    const vehicle = 'v';
    const nodes = [
      { id: 'cmd', type: 'connected-vehicle-command', vehicle, whenBusy: 'queue', wires: [['out']] },
      {
        id: 'watch',
        type: 'connected-vehicle-command-status',
        vehicle,
        timeout: 20,
        interval: 2,
        wires: [['out'], []],
      },
      { id: 'guard', type: 'connected-vehicle-guard', vehicle, minutes: 1, poll: 1, wires: [['out'], ['out']] },
      {
        id: 'event',
        type: 'connected-vehicle-event',
        vehicle,
        vin: vins[1],
        events: ['window-opened', 'window-closed', 'door-opened', 'door-closed', 'tailgate-opened', 'tailgate-closed'],
        poll: 0,
        wires: [['out']],
      },
      { id: 'out', type: 'helper' },
    ].map((node) => ({ z: 'tab', ...node }) as NodeConfig);
    this.#flow.heard = ['n', 'cmd', 'watch', 'guard', 'event'];
    await this.#flow.load(
      { type: 'connected-vehicle-status', wires: [['out'], []] },
      {
        service: 'custom',
        baseUrl: this.#proxy.url,
        vin: vins[0],
        shareFor: 0,
        requestsPerDay: 1e9,
        requestsPerMinute: 1e9,
        commandsPerMinute: 1e9,
      },
      { apiKey: 'demo-key', accessToken: 'demo-token' },
      nodes,
    );
    const idOf = (msg: object): string => String((msg as { _msgid?: unknown })._msgid);
    const hear = (id: string, keep: (msg: Received) => void): void =>
      void this.#flow.node(id).on('input', (msg) => keep(msg as Received));
    hear('out', (msg) => this.#outputs.get(idOf(msg))?.push(msg));
    hear('completed', (msg) => this.#ends.get(idOf(msg))?.push(null));
    hear('caught', (msg) => this.#ends.get(idOf(msg))?.push(msg));
  }

  async #lane(vin: string, random: Random, least: number): Promise<void> {
    let last: unknown;
    while (this.#proxy.injected < least && this.#report.broken.length === 0) {
      const fault = random.chance(0.9) ? random.pick(faults as [Fault, ...Fault[]]) : null;
      const kind = random.pick<Kind>([...kinds, ...(extraKinds[vins.indexOf(vin)] ?? [])]);
      this.#proxy.inject(vin, fault, random.between(1, 4));
      const where = `${kind} with ${fault ?? 'no fault'}`;
      if (kind === 'command')
        last = (await this.#command(vin, random.pick(commandsToSend), random.chance(0.5), where)) ?? last;
      else if (kind === 'watch') await this.#send('watch', { payload: last ?? {} }, where);
      else if (kind === 'guard') await this.#guard(where);
      else if (kind === 'event') await this.#event(where);
      else await this.#read(vin, kind, where);
    }
  }

  async #read(vin: string, kind: 'read' | 'several', where: string): Promise<void> {
    const read = kind === 'read' ? 'windows' : ['windows', 'doors'];
    const { outputs } = await this.#send('n', { vin, read }, where);
    for (const { payload } of outputs) {
      const windows = (kind === 'read' ? payload : (payload as { windows?: unknown }).windows) as
        Record<string, { value?: unknown } | null> | undefined;
      for (const [name, state] of Object.entries(this.#service.car(vin).state.windows)) {
        const told = windows?.[name]?.value ?? null;
        if (told !== null && told !== state)
          this.#break(`${where}: the window ${name} is ${state} and told as ${String(told)}`);
      }
    }
  }

  /** The guard has the first car, all of which is closed and locked. */
  async #guard(where: string): Promise<void> {
    const { outputs } = await this.#send('guard', { ask: true }, where);
    for (const { payload } of outputs) {
      const { type, openings } = payload as { type?: string; openings?: unknown[] };
      this.#count(`guard: ${type}`);
      if (type === 'alert' && openings?.length !== 0)
        this.#break(`${where}: an alert about a car that is closed and locked`);
    }
  }

  /** No window, door or tailgate of the second car moves, so every event about them is false. */
  async #event(where: string): Promise<void> {
    const { outputs, error } = await this.#send('event', {}, where);
    for (const { payload } of outputs) this.#break(`${where}: the event ${(payload as { event?: string }).event}`);
    if (error === null) this.#count('event: nothing happened');
  }

  /** @returns the record, for a watch */
  async #command(vin: string, command: string, isV1: boolean, where: string): Promise<unknown> {
    const car = this.#service.car(vin);
    const taken = car.invocations.length;
    const arrived = this.#proxy.commandsOf(vin);
    const { outputs, error } = await this.#send('cmd', { vin, command, ...(isV1 && { interface: 'v1' }) }, where);
    const sent = this.#proxy.commandsOf(vin) - arrived;
    if (sent > 1 || car.invocations.length - taken > 1) this.#break(`${where}: ${command} was sent ${sent} times`);
    const wasTaken = car.invocations.length > taken;
    const record = outputs[0]?.payload as { outcome?: string } | undefined;
    if (record?.outcome === 'succeeded' && !wasTaken)
      this.#break(`${where}: ${command} succeeded, which the service never got`);
    if (wasTaken && (error !== null || record?.outcome === 'failed'))
      this.#break(`${where}: ${command} failed (${error ?? 'record'}), which the service got`);
    this.#count(`command: ${record?.outcome ?? error ?? 'nothing'}`);
    return record;
  }

  /** One message to a node, and its end. */
  async #send(
    node: string,
    msg: Record<string, unknown>,
    where: string,
  ): Promise<{ outputs: Received[]; error: string | null }> {
    const id = `message-${(this.#ids += 1)}`;
    const ends: (Received | null)[] = [];
    const outputs: Received[] = [];
    this.#ends.set(id, ends);
    this.#outputs.set(id, outputs);
    this.#report.messages += 1;
    const due = Date.now() + doneWithinMs;
    this.#flow.node(node).receive({ ...msg, _msgid: id } as never);
    while (ends.length === 0) {
      if (Date.now() > due) {
        this.#break(`${where}: the message is not done after ${doneWithinMs} ms`);
        return { outputs, error: null };
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const [end] = ends;
    if (!end) return { outputs, error: null };
    const code = String(end.vehicle?.error?.['code']);
    if (!(code in errorCodes)) this.#break(`${where}: ${code} is no code of the contract`);
    if (node !== 'cmd') this.#count(`${node}: ${code}`);
    return { outputs, error: code };
  }

  #count(what: string): void {
    this.#report.told[what] = (this.#report.told[what] ?? 0) + 1;
  }

  #break(what: string): void {
    this.#report.broken.push(what);
  }
}

const [least = 2_000, seed = Date.now() % 100_000] = process.argv.slice(2).map(Number);
void new FaultRun(seed).run(least).then(
  (report) => {
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    process.exit(report.broken.length === 0 ? 0 : 1);
  },
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
