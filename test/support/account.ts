import {
  CommandAttempt,
  followCommand,
  openAccount,
  Pack,
  pastedToken,
  readEach,
  resolveService,
  systemClock,
  VehicleError,
  type Account,
  type AccountOptions,
  type Clock,
  type CommandRecord,
  type InterfaceName,
  type ReadName,
} from '../../src/index';
import { Command } from '../../src/commands/command';
import type { CommandLog } from '../../src/commands/log';
import type { FollowOptions, FollowUpdate } from '../../src/commands/follow';
import type { StatusChange } from '../../src/commands/command';
import type { CommandInput } from '../../src/commands/route';
import type { ReadOptions, VehicleClient } from '../../src/client';
import type { ServiceName } from '../../src/catalogue/services';
import type { Simulator } from './simulator';

/** A client that also sends commands. */
export type SendingClient = VehicleClient & {
  send(
    name: unknown,
    options: CommandInput & { precheck?: boolean; cancel?: AbortSignal; signal?: AbortSignal },
  ): Promise<CommandRecord>;
};
export type SendingAccount = Account & { client: SendingClient };

export function withSend(account: Account, clock: Clock = systemClock): SendingAccount {
  const { client, dispatcher } = account;
  const send: SendingClient['send'] = (name, { cancel, signal, ...input }) => {
    const attempt = new CommandAttempt({ clock, signal });
    const abort = (): void => attempt.cancel(new VehicleError('CANCELLED', 'Cancelled by the test.'));
    cancel?.addEventListener('abort', abort);
    if (cancel?.aborted) abort();
    return dispatcher.send(name, input, attempt);
  };
  return Object.assign(account, { client: Object.assign(client, { send }) });
}

/** Several reads at once, as a node reads them. */
export const readSeveral = (
  client: VehicleClient,
  names: readonly ReadName[],
  options: ReadOptions,
): ReturnType<typeof readEach> => readEach(names, (name) => client.read(name, options));

/** Every account of a test, ended by `closeAccounts`. */
const accounts: Account[] = [];

/** Accounts of a test with the same clock and store are those of one process. */
const packs: Pack[] = [];

function packOf({ clock = systemClock, store, redactor }: PackOptions): Pack {
  const known = packs.find(
    (pack) =>
      pack.clock === clock && (store ?? pack.store) === pack.store && (redactor ?? pack.redactor) === pack.redactor,
  );
  if (known !== undefined) return known;
  const pack = new Pack({ clock, ...(store && { store }), ...(redactor && { redactor }) });
  packs.push(pack);
  return pack;
}

type PackOptions = NonNullable<ConstructorParameters<typeof Pack>[0]>;

interface OwnChanges extends Partial<Omit<AccountOptions, 'service'>> {
  service?: ServiceName;
  token?: string;
  settings?: Record<string, string>;
  /** Those of a `custom` service. Default: every one. */
  interfaces?: readonly InterfaceName[];
}

/**
 * An account on a simulated service, as a `custom` configuration gives it, which the test closes;
 * limits out of the way unless asked for.
 */
export const accountOn = (
  { url }: Pick<Simulator, 'url'>,
  { service = 'custom', token = 'demo-token', settings = {}, interfaces, ...changes }: OwnChanges = {},
): Account =>
  openAccount({
    service: resolveService(service, { baseUrl: url, ...settings, ...(interfaces && { interfaces }) }),
    apiKey: 'demo-key',
    tokens: pastedToken(token),
    limits: { requestsPerDay: 1e6, requestsPerMinute: 1e6, commandsPerMinute: 1e6 },
    random: () => 0,
    ...changes,
  });

/**
 * The same, in a process of its own or that of its clock and store, and closed by
 * `closeAccounts`.
 */
export function openTestAccount(
  simulator: Pick<Simulator, 'url'>,
  { clock, store, redactor, ...changes }: Omit<OwnChanges, 'pack'> & PackOptions = {},
): SendingAccount & { log: CommandLog } {
  const pack = packOf({ ...(clock && { clock }), ...(store && { store }), ...(redactor && { redactor }) });
  const account = accountOn(simulator, { pack, ...changes });
  accounts.push(account);
  return Object.assign(withSend(account, clock), { log: pack.log });
}

type Follow = (
  record: CommandRecord,
  options: FollowOptions & { clock: Clock; log?: CommandLog; history?: StatusChange[] },
) => AsyncGenerator<FollowUpdate, void, void>;

/** Follows a command as a result node does, which keeps each update in the log. */
export const follow: Follow = async function* (record, { log, history, ...options }) {
  const command = log?.find(record.id) ?? Command.adopt(record, 'a', options.clock.now());
  if (history !== undefined) command.states = [...history];
  for await (const update of followCommand(command, options)) {
    if (update.settled) command.keepVerdict({ ...update.report, reason: update.reason }, options.clock.now());
    await log?.save(command);
    yield update;
  }
};

export async function closeAccounts(): Promise<void> {
  packs.length = 0;
  await Promise.all(accounts.splice(0).map((account) => account.close()));
}
