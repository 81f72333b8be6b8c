import { randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { useClock } from '../../nodes/runtime';
import { commandNames } from '../../src/index';
import { readNames } from '../../src/catalogue/reads';
import { refusals } from '../../src/simulator/service/answer';
import { startSimulator, type FaultOptions, type Simulator } from './simulator';
import { askEditor, formOf, signInAtPage } from './editor-client';
import { customVehicle, Flow, type NodeConfig, type Received } from './flow';
import { ManualClock } from './manual-clock';
import helper = require('node-red-node-test-helper');

/** What was used, what was looked through, and what was found. */
export interface CanaryRun {
  /** Keys, tokens, client ids and secrets, codes, states. */
  secrets: string[];
  vins: string[];
  requests: number;
  searched: Record<'logs' | 'messages' | 'statuses' | 'answers' | 'files', number>;
  hits: string[];
}

const callback = 'http://localhost:1880/connected-vehicle/callback';
const unique = (what: string): string => `canary-${what}-${randomBytes(9).toString('hex')}`;
const uniqueVin = (): string => `CN${randomBytes(8).toString('hex').toUpperCase().slice(0, 15)}`;

/**
 * Members of a message that hold a whole VIN by contract (docs/internals/contract.md 3, 4 and 6):
 * itself, and the addresses that the service gave.
 */
const mayHoldVin = new Set(['vin', 'href', 'exteriorImageUrl', 'internalImageUrl']);

/**
 * A separate process that sends secrets and VINs that exist nowhere else through every success and
 * every failure, and searches logs, messages, statuses, answers to the editor and files. Arguments:
 * `whole` for every read, every command and every fault, `some` for some of each, `leak` to leak a
 * secret of each kind in every way; the folder that the process works in. It sends a `CanaryRun` to
 * its parent, which searches what the process wrote to stdout and stderr.
 */
async function main([scenario, folder = '']: readonly string[]): Promise<CanaryRun> {
  process.chdir(folder);
  const run = new Run(scenario === 'whole');
  try {
    return await (scenario === 'leak' ? run.leak() : run.all());
  } finally {
    await run.end();
  }
}

class Run {
  readonly #whole: boolean;
  readonly #clock = new ManualClock(Date.now());
  readonly #vins = [uniqueVin(), uniqueVin()];
  readonly #credentials = { apiKey: unique('key'), clientId: unique('id'), clientSecret: unique('secret') };
  readonly #accessToken = unique('token');
  readonly #secrets = new Set<string>([...Object.values(this.#credentials), this.#accessToken]);
  readonly #heap = {
    logs: [] as string[],
    messages: [] as string[],
    statuses: [] as string[],
    answers: [] as string[],
    files: [] as string[],
  };
  readonly #hits: string[] = [];
  #requests = 0;
  #answered = 0;
  #flow = new Flow();
  #service!: Simulator;
  #logs: (() => unknown[]) | undefined;

  constructor(whole: boolean) {
    this.#whole = whole;
  }

  async all(): Promise<CanaryRun> {
    await this.#begin();
    await this.#pasted();
    await this.#signedIn();
    return this.#report();
  }

  async #begin(): Promise<void> {
    useClock(this.#clock);
    this.#service = await startSimulator({
      ...this.#credentials,
      accessToken: this.#accessToken,
      clock: this.#clock,
      cars: this.#vins.map((vin) => ({ vin })),
    });
  }

  /** Each secret comes out in another way. */
  async leak(): Promise<CanaryRun> {
    const leak = (way: string): string => this.#track(unique(way));
    await this.#begin();
    console.log(leak('stdout'));
    console.error(`refresh_token=${leak('stderr')}`);
    await new Promise((resolve) => process.stdout.write(`{"${leak('stream')}":1}`, resolve));
    writeFileSync(join(this.#flow.userDir, 'user-directory.txt'), leak('user-directory'));
    writeFileSync('working-directory.txt', leak('working-directory'), { mode: 0o600 });
    writeFileSync(join(homedir(), 'home.txt'), leak('home'));
    writeFileSync(join(tmpdir(), 'temporary.txt'), `${leak('temporary')} ${this.#vins[0]}`);
    // Others can read it, whatever the umask is.
    chmodSync(join(tmpdir(), 'temporary.txt'), 0o644);
    this.#collect();
    return this.#report();
  }

  #report(): CanaryRun {
    return {
      secrets: [...this.#secrets],
      vins: [...this.#vins],
      requests: this.#requests,
      searched: {
        logs: this.#heap.logs.length,
        messages: this.#heap.messages.length,
        statuses: this.#heap.statuses.length,
        answers: this.#heap.answers.length,
        files: this.#heap.files.length,
      },
      hits: this.#hits,
    };
  }

  async end(): Promise<void> {
    await this.#flow.end();
    await this.#service?.close();
    useClock(undefined);
  }

  /** A pasted token, with everything that can go wrong at the service. */
  async #pasted(): Promise<void> {
    const { apiKey } = this.#credentials;
    await this.#load({ apiKey, accessToken: this.#accessToken });
    await this.#useEverything();
    for (const fault of this.#faults()) {
      this.#service.faults.add(fault);
      await this.#useSome();
      this.#service.faults.clear();
    }
    // The service's last word was to stop for a day: begin again.
    this.#collect();
    await this.#flow.end();
    this.#flow = new Flow();
    this.#heap.files = [];
    this.#searched.files = 0;
    await this.#load({ apiKey: unique('key-refused'), accessToken: this.#accessToken });
    await this.#useSome();
    await this.#load({ apiKey, accessToken: unique('token-refused') });
    await this.#useSome();
    await this.#load({ apiKey, accessToken: this.#track(this.#service.issueToken({ scopes: ['openid'] })) });
    await this.#useSome();
    await this.#load({ apiKey, accessToken: this.#track(this.#service.issueToken({ lifeSeconds: -10 })) });
    await this.#useSome();
    await this.#load({ apiKey: `${unique('key')} with a blank`, accessToken: `${unique('token')}\nand a line` });
    await this.#useSome();
    await this.#load({ apiKey, accessToken: this.#accessToken }, { readOnly: true });
    await this.#useSome();
    await this.#load({ apiKey, accessToken: this.#accessToken }, { baseUrl: `${this.#service.url}/nowhere` });
    await this.#useSome();
  }

  /** A sign-in, with everything that can go wrong at the identity service and in the store. */
  async #signedIn(): Promise<void> {
    await this.#load(this.#credentials);
    await this.#useSome();
    await this.#signIn('deny');
    await this.#signIn('allow', { match: { path: '/as/token.oauth2' }, status: 500, body: this.#echo(), times: 1 });
    await this.#signIn('allow', {
      match: { path: '/as/token.oauth2' },
      status: 400,
      body: { error: 'invalid_grant', error_description: JSON.stringify(this.#echo()) },
      times: 1,
    });
    await this.#signIn('allow', { match: { path: '/as/token.oauth2' }, cut: 'after-effect', times: 1 });
    await this.#signIn('allow');
    await this.#useEverything();
    // Refreshed and rotated again and again.
    for (let round = 0; round < (this.#whole ? 6 : 2); round += 1) {
      await this.#clock.advance(300_000);
      await this.#useSome();
    }
    this.#collect();
    const saved = (): string[] => this.#files().filter((name) => /connected-vehicle.[\da-f]{32}\.json$/.test(name));
    const harms: ((file: string) => void)[] = [
      (file) => truncateSync(file, 30),
      (file) => writeFileSync(file, '{"version":99}'),
    ];
    for (const harm of harms) {
      await this.#flow.unload();
      saved().forEach(harm);
      await this.#load(this.#credentials);
      await this.#useSome();
      await this.#signIn('allow');
      await this.#useSome();
    }
    this.#service.revokeGrants();
    await this.#clock.advance(300_000);
    await this.#useSome();
    await this.#load({ ...this.#credentials, clientSecret: unique('secret-refused') });
    await this.#useSome();
    this.#collect();
    await this.#flow.unload();
    this.#search();
  }

  async #signIn(decision: 'allow' | 'deny', fault?: FaultOptions): Promise<void> {
    const { url } = await this.#ask('sign-in', formOf(this.#vehicle(), {}, { callback }));
    if (typeof url !== 'string') return;
    this.#track(new URL(url).searchParams.get('state') ?? '');
    const address = await this.#pass(signInAtPage(url, decision));
    this.#track(new URL(address).searchParams.get('code') ?? '');
    if (fault !== undefined) this.#service.faults.add(fault);
    // In its own window, and late by hand once more.
    const { pathname, search } = new URL(address);
    const page = await this.#pass(Promise.resolve(helper.request().get(pathname + search)));
    this.#heap.answers.push(page.text);
    await this.#ask('sign-in-finish', { redirected: address });
    this.#service.faults.clear();
  }

  #vehicle(changes: Record<string, unknown> = {}): Record<string, unknown> {
    const { url } = this.#service;
    return customVehicle(this.#service, {
      authorizeUrl: `${url}/as/authorization.oauth2`,
      tokenUrl: `${url}/as/token.oauth2`,
      requestsPerDay: 1e6,
      requestsPerMinute: 1e6,
      commandsPerMinute: 1e6,
      ...changes,
    });
  }

  async #load(credentials: Record<string, string>, changes: Record<string, unknown> = {}): Promise<void> {
    for (const secret of Object.values(credentials)) this.#track(secret);
    this.#collect();
    await this.#flow.unload();
    const vehicle = 'v';
    const nodes = [
      { id: 'cmd', type: 'connected-vehicle-command', vehicle, wires: [['out']] },
      {
        id: 'watch',
        type: 'connected-vehicle-command-status',
        vehicle,
        timeout: 20,
        interval: 2,
        wires: [['out'], ['out']],
      },
      { id: 'guard', type: 'connected-vehicle-guard', vehicle, minutes: 0, poll: 0, wires: [['out'], ['out']] },
      { id: 'out', type: 'helper' },
    ].map((node) => ({ z: 'tab', ...node }) as NodeConfig);
    this.#flow.heard = ['n', 'cmd', 'watch', 'guard'];
    await this.#flow.load({ type: 'connected-vehicle-status' }, this.#vehicle(changes), credentials, nodes);
    const hear = (id: string, keep: (msg: Received) => void): void =>
      void this.#flow.node(id).on('input', (msg) => keep(msg as Received));
    for (const id of ['out', 'out0', 'caught']) hear(id, (msg) => this.#heap.messages.push(this.#plain(msg)));
    hear('badges', ({ status }) => this.#heap.statuses.push(JSON.stringify(status)));
    for (const id of ['caught', 'completed']) hear(id, () => (this.#answered += 1));
    const spy = helper.log() as unknown as { args: unknown[] };
    this.#logs = () => spy.args;
  }

  /** One message to a node, and its end. */
  async #send(id: string, msg: Record<string, unknown>): Promise<void> {
    const before = this.#answered;
    this.#flow.node(id).receive(msg as never);
    await this.#clock.advanceUntil(() => this.#answered > before);
  }

  /** Lets time pass, with pauses between tries and time limits, until the work is done. */
  #pass<Result>(work: Promise<Result>): Promise<Result> {
    return this.#clock.until(work);
  }

  async #useEverything(): Promise<void> {
    for (const read of readNames) await this.#send('n', { read });
    await this.#send('n', { read: readNames });
    for (const interfaceName of ['v1', 'v2'])
      for (const read of ['windows', 'doors']) await this.#send('n', { read, interface: interfaceName });
    for (const command of commandNames) await this.#command(command);
    await this.#command('climatization-start');
    await this.#useSome();
  }

  async #useSome(): Promise<void> {
    for (const read of ['windows', 'details', 'odometer', 'vehicles', ['windows', 'doors']])
      await this.#send('n', { read });
    await this.#send('n', { read: 'windows', vin: 'not a VIN' });
    await this.#send('n', { read: 'nonsense' });
    await this.#command('flash');
    await this.#send('guard', { payload: {}, vehicle: { vin: this.#vins[0], read: 'accessibility' } });
    await this.#askAll();
    this.#collect();
  }

  /** A command, and the watch of what came of it. */
  async #command(command: string): Promise<void> {
    const seen = this.#flow.node('out');
    let record: unknown;
    const keep = (msg: object): void => void ('payload' in msg && (record = msg.payload));
    seen.on('input', keep);
    await this.#send('cmd', { command });
    seen.removeListener('input', keep);
    await this.#send('watch', { payload: record ?? {} });
  }

  async #askAll(): Promise<void> {
    const nodes = [{ label: 'Windows', reads: ['windows'], commands: ['lock'] }];
    const form = formOf(this.#vehicle(), {}, { nodes, callback });
    for (const action of ['vehicles', 'check']) await this.#ask(action, form);
    for (const action of ['state', 'commands']) await this.#ask(action, {});
    await this.#ask('diagnostics', { answers: true });
    await this.#ask('check', formOf(this.#vehicle({ baseUrl: 'http://127.0.0.1:9' })));
    await this.#ask(
      'check',
      formOf(this.#vehicle(), {
        apiKey: this.#track(unique('typed-key')),
        accessToken: this.#track(unique('typed-token')),
      }),
    );
    await this.#ask('check', {
      options: { service: this.#accessToken },
      credentials: { apiKey: this.#credentials.apiKey },
    });
  }

  async #ask(action: string, body: object): Promise<Record<string, unknown>> {
    const answer = await this.#pass(askEditor(action, body));
    // The address to sign in at names the application and its state, by its nature.
    this.#heap.answers.push(this.#plain(action === 'sign-in' && 'url' in answer ? { ...answer, url: '' } : answer));
    return answer;
  }

  /** A service that repeats in its errors everything that it received. */
  #echo(): object {
    const text = `token ${this.#accessToken}, key ${this.#credentials.apiKey}, ${this.#credentials.clientSecret}, vehicle ${this.#vins.join(' ')}`;
    return {
      error: { message: text, description: text, detail: text },
      message: text,
      operationId: this.#accessToken,
      exveErrorMsg: text,
    };
  }

  #faults(): FaultOptions[] {
    const echoed = [400, 401, 403, 404, 409, 429, 500, 503].map((status) => ({
      status,
      body: this.#echo(),
      headers: { 'vendor-api-operationid': this.#accessToken },
    }));
    const others: FaultOptions[] = [
      { html: true },
      { hugeBytes: 2 ** 21 },
      { redirect: `http://127.0.0.1:9/?token=${this.#accessToken}` },
      { nulls: 'values' },
      { nulls: 'members' },
      { words: 'ODD' },
      { cut: 'before-headers' },
      { cut: 'mid-body' },
      { cut: 'after-effect' },
      { status: 200, body: this.#accessToken },
      { latencyMs: 200_000 },
    ];
    const named = (Object.keys(refusals) as NonNullable<FaultOptions['error']>[]).map((error) => ({ error }));
    const stops = ({ error, status }: FaultOptions): boolean =>
      error === 'quota' || error === 'rate-limited' || status === 429;
    const all: FaultOptions[] = [...named, ...echoed, ...others];
    return this.#whole
      ? [...all.filter((fault) => !stops(fault)), ...all.filter(stops)]
      : [
          named[0] as FaultOptions,
          echoed[1] as FaultOptions,
          echoed[7] as FaultOptions,
          { html: true },
          { cut: 'mid-body' },
        ];
  }

  #track(secret: string): string {
    if (secret.trim() !== '') this.#secrets.add(secret.trim());
    return secret;
  }

  /** Learns from the wire which tokens there were, and takes up what was sent and written since. */
  #collect(): void {
    for (const { headers, body, path } of this.#service.requests) {
      this.#track(/^(?:Bearer|Basic) (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '');
      if (!path.startsWith('/as/')) continue;
      const form = new URLSearchParams(body);
      for (const name of ['refresh_token', 'code', 'code_verifier', 'state']) this.#track(form.get(name) ?? '');
    }
    this.#requests += this.#service.requests.length;
    this.#service.clearRequests();
    this.#heap.logs.push(...(this.#logs?.() ?? []).map((entry) => JSON.stringify(entry, errorsToo)));
    this.#logs = undefined;
    for (const file of this.#files()) this.#heap.files.push(file);
    this.#search();
  }

  /**
   * Every file below the folder of this process: its user directory, home, folder for temporary
   * files and working directory.
   */
  #files(): string[] {
    return (readdirSync(process.cwd(), { recursive: true }) as string[])
      .map((name) => join(process.cwd(), name))
      .filter((name) => statSync(name, { throwIfNoEntry: false })?.isFile());
  }

  /** A message as text, without what holds a whole VIN by contract. */
  #plain(msg: unknown): string {
    return JSON.stringify(msg, (key, value: unknown) => (mayHoldVin.has(key) ? undefined : errorsToo(key, value)));
  }

  #searched = { logs: 0, messages: 0, statuses: 0, answers: 0, files: 0 };

  #search(): void {
    for (const place of ['logs', 'messages', 'statuses', 'answers'] as const) {
      for (const text of this.#heap[place].slice(this.#searched[place]))
        this.#look(place, text, [...this.#secrets, ...this.#vins]);
      this.#searched[place] = this.#heap[place].length;
    }
    for (const file of this.#heap.files.slice(this.#searched.files)) {
      // A file that is being replaced exists for a moment under its new name, and then is
      // searched under its own.
      const text = textOf(file);
      if (text === null) continue;
      // The pack's own memory of commands in progress names the vehicle, for the owner's eyes only.
      const isPrivate = ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) === 0;
      this.#look(
        `file ${file.slice(process.cwd().length)}`,
        text,
        isPrivate ? [...this.#secrets] : [...this.#secrets, ...this.#vins],
      );
    }
    this.#searched.files = this.#heap.files.length;
  }

  #look(place: string, text: string, words: readonly string[]): void {
    for (const word of words)
      if (text.includes(word))
        this.#hits.push(
          `${place}: ${text.slice(Math.max(0, text.indexOf(word) - 80), text.indexOf(word) + word.length)}`,
        );
  }
}

/** An error hides its members from JSON. */
function errorsToo(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { ...value, name: value.name, message: value.message, stack: value.stack, cause: value.cause };
}

/** Null if the file has gone. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

void main(process.argv.slice(2)).then(
  (run) => process.send?.(run, () => process.exit(0)),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
