import { createHmac, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { systemCodeOf, tlsFaultOf, VehicleError } from '../errors';
import { sentence, type Sentence } from '../sentence';
import { systemClock, type Clock } from '../util/clock';
import { itemsIn, parseJson } from '../util/json';
import { Listeners } from '../util/listeners';
import { Serial } from '../util/serial';
import { Seal, sealedSchema } from './seal';
import {
  collectionOf,
  hashed,
  StateFault,
  type WriteCondition,
  type SharedStore,
  type Stored,
  type StoredEntry,
} from './state-store';

/**
 * The part of `@redis/client` in use: the package is optional, so nothing else of it is known
 * when this is compiled.
 */
export interface RedisModule {
  createClient(options: Record<string, unknown>): RedisClient;
}
interface RedisClient {
  connect(): Promise<unknown>;
  sendCommand(args: readonly string[]): Promise<unknown>;
  destroy(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

export interface RedisStateStoreOptions {
  /** `redis://user:password@host:port/database`, or `rediss://` for TLS. */
  url: string;
  /**
   * The first part of every key. Stores with different prefixes share nothing. Default
   * `connected-vehicle`.
   */
  prefix?: string;
  /** Copies of the same flows have the same scope: only they share the values of nodes. */
  scope: string;
  /** The options of `tls.connect`, for `rediss://`. */
  tls?: object;
  /** Loads `@redis/client`. @throws VehicleError if it is not installed */
  load: () => RedisModule;
  /**
   * Encrypts every value, in every process. Called when it connects.
   * @throws VehicleError if there is none
   */
  secret: () => string;
  clock?: Clock;
}

/** What *Check* shows of the store. */
interface RedisReport {
  /** Null if the server does not report it. */
  appendonly: boolean | null;
  appendfsync: string | null;
  maxmemoryPolicy: string | null;
  /**
   * Whether it has replicas and writes without them (`min-replicas-to-write 0`), also after one of
   * them has taken its place.
   */
  writesWithoutReplicas: boolean;
  /** Other prefixes on the same database: Node-REDs with these share nothing with this one. */
  otherPrefixes: string[];
}

/**
 * The collections that every process shares; the others belong to the nodes of one scope. Keys of
 * these name hashes of VIN, API key and service.
 */
const sharedCollections = new Set(['store', 'process', 'sign-in', 'quota', 'turn', 'car']);

const format = 1;
const answerMs = 3_000;
const pauseMs = 1_000;
/** Longer than the 10 seconds for which a process relies on its last beat. */
const settleMs = 15_000;
const oldestMajor = 6;
const replicaMs = 1_000;

/**
 * One hash for each collection, a field for each key, named by the keyed hash of the key. Its value
 * is `<version> <sealed JSON>`. A version is a counter of the server and a random text of the
 * writer, so that none is used twice, not even by a server that forgot its last writes. A write
 * that is repeated over a new connection is recognized by its random text. What another secret or a
 * newer version of the pack wrote is not overwritten. `write` returns the version and the number of
 * replicas. It refuses to write if the replication ID of the server has changed since this process
 * connected, or if the record of its run is another one: then the server has lost its values. `now`
 * returns the time, and what the memory of the server is allowed.
 */
const scripts = {
  write: `local was = redis.call('HGET', KEYS[1], ARGV[1])
local version = was and string.match(was, '^%S+') or ''
local info = redis.call('INFO', 'replication')
local replicas = string.match(info, 'connected_slaves:(%d+)')
if (string.match(info, 'master_replid:(%w+)') or '') ~= ARGV[7] then return redis.error_reply('CHANGED role') end
if redis.call('HGET', KEYS[3], 'run') ~= ARGV[8] then return redis.error_reply('CHANGED run') end
if version ~= '' and string.sub(version, -#ARGV[3]) == ARGV[3] then return {version, replicas} end
if ARGV[2] ~= '*' and ARGV[2] ~= version then return false end
if was and not string.find(was, ARGV[4], 1, true) then return redis.error_reply('FOREIGN value') end
if was and not string.find(was, ARGV[6], 1, true) then return redis.error_reply('NEWER value') end
version = redis.call('INCR', KEYS[2]) .. '.' .. ARGV[3]
redis.call('HSET', KEYS[1], ARGV[1], version .. ' ' .. ARGV[5])
return {version, replicas}`,
  remove: `local was = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[2] ~= '*' and ARGV[2] ~= (was and string.match(was, '^%S+') or '') then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
return 1`,
  now: `local time = redis.call('TIME')
return {time[1], time[2], redis.call('INFO', 'memory')}`,
};

const recordSchema = z.lazy(() => z.object({ key: z.string(), value: z.unknown() }));
const headSchema = z.lazy(() => z.object({ format: z.int() }));
/** Since when a server runs, in milliseconds since 1970 by its clock. */
const runSchema = z.lazy(() => z.object({ runId: z.string(), since: z.number() }));

/**
 * A store on Redis 6 or newer, or on Valkey, which several processes share. It connects at its
 * first use, and again at the next use after a connection was lost. Every fault is a StateFault
 * `unavailable` with a sentence; nothing is kept elsewhere meanwhile.
 */
export class RedisStateStore implements SharedStore {
  /** For people: without user name and password. */
  readonly place: string;
  readonly #options: RedisStateStoreOptions;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #changed = new Listeners();
  readonly onChange = this.#changed.add;
  #connecting: Promise<RedisClient> | null = null;
  #fault: StateFault | null = null;
  #failedAt = -Infinity;
  #isClosed = false;
  #seal: Seal | null = null;
  #keyId = '';
  #nameKey = '';
  /** Sealing takes time: changes keep their order. */
  readonly #sealing = new Serial();
  #info: ReadonlyMap<string, string> = new Map();
  #settledAt = Infinity;
  /** The record of the run of the server, as this process has read it when it connected. */
  #run = '';

  constructor(options: RedisStateStoreOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#prefix = options.prefix ?? 'connected-vehicle';
    const { host, protocol } = new URL(options.url);
    this.place = `${protocol}//${host}`;
  }

  get fault(): StateFault | null {
    return this.#fault;
  }

  get settlesInMs(): number {
    return Math.max(0, this.#settledAt - this.#clock.monotonic());
  }

  async read(key: string): Promise<Stored | null> {
    const collection = collectionOf(key);
    const found = await this.#call('HGET', this.#hashOf(collection), () => this.#fieldOf(key));
    if (typeof found !== 'string') return null;
    try {
      const { value, version } = await this.#open(found, collection, this.#fieldOf(key));
      return { value, version };
    } catch (error) {
      if (error instanceof StateFault) error.version = /^\S+/.exec(found)?.[0] ?? null;
      throw error;
    }
  }

  async write(key: string, value: unknown, { expected }: WriteCondition = {}): Promise<string | null> {
    const collection = collectionOf(key);
    const text = JSON.stringify({ key, value: value ?? null });
    const sealed = await this.#sealing.run(async () => {
      await this.#connected();
      return this.#seal?.seal(text, this.#contextOf(collection, this.#fieldOf(key)));
    });
    const record = JSON.stringify({ format, ...sealed });
    const nonce = randomBytes(9).toString('base64url');
    const keys = [this.#hashOf(collection), `${this.#prefix}:version`, this.#hashOf('store')];
    const given = [this.#fieldOf(key), conditionOf(expected), nonce, this.#keyId, record, `"format":${format},`];
    const ofServer = [this.#replicationId, (): string => this.#run];
    const [version, replicas] = itemsIn(
      await this.#call('EVAL', scripts.write, String(keys.length), ...keys, ...given, ...ofServer),
    );
    // A replica that becomes the primary server must know which process has sent a command or
    // refreshes a sign-in.
    if (Number(replicas ?? 0) > 0 && (await this.#call('WAIT', '1', String(replicaMs))) === 0) {
      const fault = unavailable(isUnconfirmed(this.place));
      this.#set(fault);
      throw fault;
    }
    this.#set(null);
    return typeof version === 'string' ? version : null;
  }

  async remove(key: string, { expected }: WriteCondition = {}): Promise<boolean> {
    const hash = this.#hashOf(collectionOf(key));
    // After the changes that were begun before.
    await this.#sealing.run(() => undefined);
    return (await this.#call('EVAL', scripts.remove, '1', hash, () => this.#fieldOf(key), conditionOf(expected))) === 1;
  }

  async entries(prefix: string): Promise<StoredEntry[]> {
    const collection = collectionOf(prefix);
    const found = itemsIn(await this.#call('HGETALL', this.#hashOf(collection))).map(String);
    const entries: StoredEntry[] = [];
    for (let at = 0; at + 1 < found.length; at += 2) {
      const entry = await this.#open(found[at + 1] ?? '', collection, found[at] ?? '').catch(() => null);
      if (entry?.key.startsWith(prefix)) entries.push(entry);
    }
    return entries.sort((a, b) => Number.parseInt(a.version, 10) - Number.parseInt(b.version, 10));
  }

  async now(): Promise<number> {
    const reply = itemsIn(await this.#call('EVAL', scripts.now, '0'));
    const fault = evictionOf(this.place, infoOf(String(reply[2])));
    if (fault === null) return serverTimeOf(reply);
    if (this.#connecting !== null) this.#lose(this.#connecting, fault);
    throw fault;
  }

  /** @throws StateFault `unavailable` */
  async report(): Promise<RedisReport> {
    const client = await this.#connected();
    // A hosted server may refuse these, which shows nothing about the store.
    const list = (...args: string[]): Promise<unknown[]> =>
      this.#inTime(client.sendCommand(args)).then(itemsIn, () => []);
    const config = async (name: string): Promise<string | null> => {
      const [, value] = await list('CONFIG', 'GET', name);
      return typeof value === 'string' ? value : null;
    };
    const current = infoOf(String(await this.#call('INFO')));
    const info = (name: string): string | null => current.get(name) ?? null;
    const keys: unknown[] = [];
    for (let cursor: unknown = null; cursor !== '0';) {
      const [next = '0', page] = await list('SCAN', String(cursor ?? '0'), 'MATCH', '*:store', 'COUNT', '10000');
      keys.push(...itemsIn(page));
      cursor = String(next);
    }
    const isAppending = (await config('appendonly')) ?? info('aof_enabled');
    return {
      appendonly: isAppending === null ? null : ['yes', '1'].includes(isAppending),
      appendfsync: await config('appendfsync'),
      maxmemoryPolicy: (await config('maxmemory-policy')) ?? info('maxmemory_policy'),
      // INFO has `min_slaves_good_slaves` only if `min-replicas-to-write` is set.
      writesWithoutReplicas: Number(info('connected_slaves') ?? 0) > 0 && info('min_slaves_good_slaves') === null,
      otherPrefixes: keys
        .map((key) => String(key).slice(0, -':store'.length))
        .filter((prefix) => prefix !== this.#prefix),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connecting = this.#connecting;
    this.#connecting = null;
    await connecting?.then(destroy, () => undefined);
  }

  /**
   * @throws StateFault `unavailable`; for a second after a failure the same
   * one, without another try
   */
  #connected(): Promise<RedisClient> {
    if (this.#connecting !== null) return this.#connecting;
    if (this.#isClosed) return Promise.reject(this.#unreachable('closed'));
    if (this.#fault !== null && this.#clock.monotonic() - this.#failedAt < pauseMs) return Promise.reject(this.#fault);
    const connecting = this.#connect().catch((error: unknown) => {
      const fault = this.#faultOf(error);
      this.#lose(connecting, fault);
      throw fault;
    });
    this.#connecting = connecting;
    connecting.then(
      () => this.#set(null),
      () => undefined,
    );
    return connecting;
  }

  async #connect(): Promise<RedisClient> {
    const { url, load, tls } = this.#options;
    const client = load().createClient({
      url: url.replace(/^valkey/, 'redis'),
      // Redis 6 also has the newer protocol, but some of its proxies do not.
      RESP: 2,
      disableClientInfo: true,
      maintNotifications: 'disabled',
      socket: { reconnectStrategy: false, connectTimeout: answerMs, ...(isTls(url) && { ...tls, tls: true }) },
    });
    // What is wrong with the connection rejects the call that waits for it.
    client.on('error', () => undefined);
    const send: Send = (...args) => this.#inTime(client.sendCommand(args));
    try {
      await this.#inTime(client.connect());
      this.#info = infoOf(String(await send('INFO')));
      this.#checkServer();
      await this.#checkSecret(send);
      await this.#checkRun(send);
      return client;
    } catch (error) {
      destroy(client);
      throw error;
    }
  }

  #checkServer(): void {
    const { place } = this;
    const version = this.#info.get('redis_version') ?? '';
    if (this.#info.get('cluster_enabled') === '1')
      throw unavailable(
        sentence`The shared store at ${place} is a cluster, which cannot change two keys in one step. Use a single Redis or Valkey server, with or without replicas.`,
      );
    if (this.#info.get('role') === 'slave') throw unavailable(isReplica(place));
    if (Number.parseInt(version, 10) < oldestMajor)
      throw unavailable(
        sentence`The shared store at ${place} is Redis ${version}, which is too old. Use Redis 6 or newer, or Valkey.`,
      );
    const eviction = evictionOf(place, this.#info);
    if (eviction !== null) throw eviction;
  }

  /**
   * The salt is the same in all processes, so that each derives the same key, and is not stored, so
   * that the server cannot lose it.
   */
  async #checkSecret(send: Send): Promise<void> {
    const [hash, field] = [this.#hashOf('store'), 'secret'];
    const seal = new Seal(this.#options.secret(), this.#salt);
    const { keyId } = await seal.seal('', '');
    if ((await send('HGET', hash, field)) === null) await send('HSETNX', hash, field, keyId);
    if ((await send('HGET', hash, field)) !== keyId) throw unavailable(isForeign(this.place));
    [this.#seal, this.#keyId, this.#nameKey] = [seal, keyId, await seal.nameKey()];
  }

  /**
   * A server that was restarted, was a replica, has replaced another one, or was emptied may have
   * lost the last writes.
   */
  async #checkRun(send: Send): Promise<void> {
    const runId = `${this.#info.get('run_id') ?? ''}.${this.#replicationId()}`;
    const [hash, field] = [this.#hashOf('store'), 'run'];
    const read = async () => {
      const text = String(await send('HGET', hash, field));
      return { text, record: runSchema.safeParse(parseJson(text)).data };
    };
    const before = await read();
    const now = serverTimeOf(await send('TIME'));
    const isNew = before.record?.runId !== runId;
    if (isNew)
      await send(
        'HSET',
        hash,
        field,
        JSON.stringify({ runId, since: now, mark: randomBytes(9).toString('base64url') }),
      );
    const { text, record } = isNew ? await read() : before;
    // A process that knew another run counts for itself, because the clock of the
    // store may have been set.
    if (text !== this.#run) {
      const passed = isNew || this.#run !== '' ? 0 : Math.max(0, now - (record?.since ?? now));
      this.#settledAt = this.#clock.monotonic() + settleMs - passed;
    }
    // After a fault, the end of the fault calls them.
    const mayHaveLost = this.#run !== '' && text !== this.#run && this.#fault === null;
    this.#run = text;
    if (mayHaveLost) this.#changed.notify();
  }

  /**
   * The replication ID of the server when this process connected to it. It changes when a replica
   * becomes the primary server, even if that server was the primary server before.
   */
  #replicationId = (): string => this.#info.get('master_replid') ?? '';

  /**
   * A call is repeated once over a new connection if its connection was lost, because a write
   * recognizes what it has written, or if the replication ID has changed (`CHANGED`).
   */
  async #call(...args: (string | (() => string))[]): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      const connecting = this.#connected();
      const client = await connecting;
      try {
        const texts = args.map((arg) => (typeof arg === 'string' ? arg : arg()));
        return await this.#inTime(client.sendCommand(texts));
      } catch (error) {
        const fault = this.#faultOf(error);
        if (isReply(error) && !(error.message.startsWith('CHANGED') && tries === 1)) {
          if (/READONLY/.test(error.message)) this.#lose(connecting, fault);
          else this.#set(fault);
          throw fault;
        }
        const isLast = error instanceof StateFault || tries === 2 || this.#isClosed;
        this.#lose(connecting, isLast ? fault : null);
        if (isLast) throw fault;
      }
    }
  }

  /** @param fault null if the call is repeated at once */
  #lose(connecting: Promise<RedisClient>, fault: StateFault | null): void {
    // Another call over the same connection may have found it first.
    if (connecting !== this.#connecting) return;
    this.#connecting = null;
    void connecting.then(destroy, () => undefined);
    if (fault === null) return;
    this.#failedAt = this.#clock.monotonic();
    this.#set(fault);
  }

  #set(fault: StateFault | null): void {
    const isNew = this.#fault?.message !== fault?.message;
    this.#fault = fault;
    if (isNew) this.#changed.notify();
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    let cancel: () => void = () => undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = this.#clock.after(answerMs, () => reject(this.#unreachable('no answer')));
    });
    work.catch(() => undefined);
    return Promise.race([work, late]).finally(cancel);
  }

  async #open(text: string, collection: string, field: string): Promise<StoredEntry> {
    const [, version = '', json = ''] = /^(\S+) (.*)$/s.exec(text) ?? [];
    const sealed = parseSealed(json, collection);
    // A salt that an attacker has written to the server would cost a derivation of a key.
    const opened = await this.#seal?.open({ ...sealed, salt: this.#salt }, this.#contextOf(collection, field));
    if (opened === undefined || !('text' in opened)) throw new StateFault(opened?.fault ?? 'damaged', collection);
    const { data: record } = recordSchema.safeParse(parseJson(opened.text));
    if (record === undefined) throw new StateFault('damaged', collection);
    return { key: record.key, value: record.value, version };
  }

  /** The same in all processes with the prefix. */
  get #salt(): string {
    return hashed(this.#prefix);
  }

  /**
   * The name of the field of a key: a hash that is made with the secret, because a VIN in the key
   * can be guessed. Only after the connection is there.
   */
  #fieldOf(key: string): string {
    return createHmac('sha256', this.#nameKey).update(key).digest('hex').slice(0, 32);
  }

  /** A value is opened in its own scope only, even if it was copied into another one. */
  #contextOf(collection: string, field: string): string {
    return `${this.#hashOf(collection)}/${field}`;
  }

  #hashOf(collection: string): string {
    const isShared = sharedCollections.has(collection);
    return [this.#prefix, ...(isShared ? [] : [hashed(this.#options.scope)]), collection].join(':');
  }

  #unreachable = (code: string): StateFault =>
    unavailable(
      sentence`The shared store at ${this.place} cannot be reached (${code}). Start it, or correct its address in CONNECTED_VEHICLE_STORE or settings.js (rediss:// if it uses TLS, otherwise redis://).`,
    );

  #faultOf(error: unknown): StateFault {
    if (error instanceof StateFault) return error;
    // The choice of the store cannot work.
    if (error instanceof VehicleError) return unavailable(error.sentence);
    if (!isReply(error)) {
      const code = systemCodeOf(error) || 'closed';
      return ofTls(this.place, code) ?? this.#unreachable(code);
    }
    // So Redis 7 refuses a command in a script.
    if (/The user executing the script|ACL failure in script/.test(error.message))
      return unavailable(isForbidden(this.place));
    const codes = error.message.match(/\b[A-Z]{3,}\b/g) ?? [];
    // Redis 6 puts the reply of a command in a script behind other words.
    const code = codes.find((one) => Object.hasOwn(refusals, one)) ?? codes[0] ?? '';
    return unavailable(
      refusals[code]?.(this.place) ?? sentence`The shared store at ${this.place} refuses the request (${code}).`,
    );
  }
}

type Send = (...args: string[]) => Promise<unknown>;

const isReplica = (place: string): Sentence =>
  sentence`The shared store at ${place} is a read-only replica. Enter the address of its primary server.`;
const isUnconfirmed = (place: string): Sentence =>
  sentence`No replica of the shared store at ${place} confirms what is written. Start the replica again, or remove it from the server.`;
const isForeign = (place: string): Sentence =>
  sentence`The shared store at ${place} was encrypted with another credentialSecret, so nothing in it is read or overwritten. Give every Node-RED the same credentialSecret, or this one a prefix of its own (CONNECTED_VEHICLE_PREFIX).`;
const isForbidden = (place: string): Sentence =>
  sentence`The user of the shared store at ${place} lacks a permission. Allow it eval, hget, hset, hsetnx, hdel, hgetall, incr, time, wait, info and scan on the keys of the prefix.`;
const isWrongPassword = (place: string): Sentence =>
  sentence`The shared store at ${place} does not accept the user name or the password. Correct them in CONNECTED_VEHICLE_STORE or settings.js.`;

/**
 * A server that evicts values when its memory is full may lose which process has sent a command.
 */
const evictionOf = (place: string, info: ReadonlyMap<string, string>): StateFault | null => {
  const policy = info.get('maxmemory_policy') ?? 'noeviction';
  if (policy === 'noeviction' || Number(info.get('maxmemory') ?? 0) === 0) return null;
  return unavailable(
    sentence`The shared store at ${place} evicts values when its memory is full (maxmemory-policy ${policy}), so a command could be sent twice. Set maxmemory-policy to noeviction.`,
  );
};

const isTls = (url: string): boolean => /^(rediss|valkeys):/.test(url);

/**
 * Null if the cause is not TLS. A server that refuses the certificate of a client can reset the
 * connection before the client has read the reason, so a reset of a TLS connection counts as a
 * fault of TLS.
 */
function ofTls(place: string, code: string): StateFault | null {
  const isReset = isTls(place) && /^(ECONNRESET|EPIPE|closed)$/.test(code);
  switch (isReset ? 'tls' : tlsFaultOf(code)) {
    case 'expired':
    case 'early':
      return unavailable(
        sentence`The certificate of the shared store at ${place} has expired or is not valid yet. Renew it, or correct the date of this machine.`,
      );
    case 'host':
      return unavailable(
        sentence`The certificate of the shared store at ${place} belongs to another host. Enter a host name of the certificate in CONNECTED_VEHICLE_STORE or settings.js.`,
      );
    case 'untrusted':
      return unavailable(
        sentence`The certificate of the shared store at ${place} is not trusted on this machine (${code}). Set connectedVehicle.tls.ca in settings.js to the content of the file of its authority, or NODE_EXTRA_CA_CERTS to the file, and restart Node-RED.`,
      );
    case 'tls':
      return unavailable(
        sentence`The TLS handshake with the shared store at ${place} failed (${code}). Check its address. If it requires a client certificate, set connectedVehicle.tls.cert and key in settings.js to the contents of its files.`,
      );
    case null:
      return null;
  }
}

/** By the first word of an error reply. */
const refusals: Readonly<Record<string, (place: string) => Sentence>> = {
  WRONGPASS: isWrongPassword,
  NOAUTH: isWrongPassword,
  NOPERM: isForbidden,
  READONLY: isReplica,
  NOREPLICAS: isUnconfirmed,
  OOM: (place) =>
    sentence`The shared store at ${place} is out of memory. Give it more memory (maxmemory), and set maxmemory-policy to noeviction.`,
  FOREIGN: isForeign,
  NEWER: (place) =>
    sentence`The shared store at ${place} contains data of a newer version of the pack. Update the pack in this Node-RED.`,
};

const unavailable = (problem: Sentence): StateFault => new StateFault('unavailable', problem);

/**
 * The client returns an error reply as an error without a code, whose text begins
 * with a word in capitals.
 */
const isReply = (error: unknown): error is Error =>
  error instanceof Error && systemCodeOf(error) === '' && /^[A-Z]{3,} /.test(error.message);

/** One that is closed already throws. */
function destroy(client: RedisClient): void {
  try {
    client.destroy();
  } catch {
    // It was closed before.
  }
}

function parseSealed(json: string, collection: string): z.infer<typeof sealedSchema> {
  const parsed = parseJson(json);
  if ((headSchema.safeParse(parsed).data?.format ?? 0) > format) throw new StateFault('newer', collection);
  const { data: sealed } = sealedSchema.safeParse(parsed);
  if (sealed === undefined) throw new StateFault('damaged', collection);
  return sealed;
}

const conditionOf = (expected: string | null | undefined): string => (expected === undefined ? '*' : (expected ?? ''));
/** Milliseconds since 1970, of a reply with seconds and microseconds. */
const serverTimeOf = (reply: unknown): number => {
  const [seconds, microseconds] = itemsIn(reply).map(Number);
  return (seconds ?? 0) * 1000 + Math.floor((microseconds ?? 0) / 1000);
};
const infoOf = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name, value]));
