import type { NodeAPI } from 'node-red';
import * as z from 'zod/mini';
import { openAccount, VehicleError, type Account, type AccountOptions } from '../../src/index';
import { accountOptionsOf, serviceOf } from '../vehicle/account-options';
import { throwIfInUse } from '../node-red/storage';
import { demoAccountOptions } from '../vehicle/demo-car';
import { parseBody, parseOptions } from '../node-red/options';
import { vehicleCredentials, vehicleOptions, type VehicleCredentials, type VehicleOptions } from '../vehicle/options';
import type { SignInForm } from '../vehicle/sign-in';
import { storedNodes } from '../node-red/flows';
import { findVehicle, type VehicleNode } from '../node-red/vehicle-node';

/** Every length is limited, because it comes from a browser. */
export const shortText = z.string().check(z.maxLength(500));
export const longText = z.string().check(z.maxLength(20_000));

/** Null: not typed, so the stored one is meant. */
const typed = z._default(z.nullable(longText), null);

/** The request body of the configuration dialog. */
export const formBody = z.lazy(() =>
  z.object({
    /** As typed: a number may be the name of an environment variable still. */
    options: z.record(z.string(), z.unknown()),
    credentials: z.object({
      apiKey: typed,
      accessToken: typed,
      clientId: typed,
      clientSecret: typed,
    }),
    /** The address of this editor. A sign-in without a redirect URL returns to it. */
    callback: z._default(shortText, ''),
    /** The nodes of the flows that use the configuration. */
    nodes: z._default(
      z
        .array(
          z.object({
            label: shortText,
            reads: z.array(shortText).check(z.maxLength(100)),
            commands: z.array(shortText).check(z.maxLength(100)),
          }),
        )
        .check(z.maxLength(1000)),
      [],
    ),
  }),
);
type FormBody = z.infer<typeof formBody>;

/** The values of the open dialog, with the deployed configuration for those that it leaves out. */
interface Form extends SignInForm {
  /** The deployed node, if the form has the same settings. */
  same: VehicleNode | null;
}

/**
 * Fills in what the browser does not know: stored credentials, and what Node-RED took
 * from the environment.
 * @throws VehicleError CONFIG, INPUT_INVALID
 */
export function readForm(RED: NodeAPI, id: string, body: FormBody): Form {
  const deployed = findVehicle(RED, id);
  const before = deployed === null ? null : parseOptions(vehicleOptions, deployed.config);
  // A question about the car does not depend on the places of the open form, so they may be wrong.
  const typed = { ...body.options, ...environmentOf(RED, id, before, body.options), places: before?.places };
  refuseVariableNames(typed);
  const options = parseBody(vehicleOptions, typed);
  const stored = parseOptions(vehicleCredentials, deployed?.credentials ?? {});
  if (before === null || !hasSameAddresses(before, options)) refuseStoredSecrets(body, stored);
  const credentials = Object.fromEntries(
    Object.entries(stored).map(([name, value]) => [
      name,
      (body.credentials[name as keyof VehicleCredentials] ?? value).trim(), // A name of `stored`.
    ]),
  ) as VehicleCredentials; // The names of `stored`.
  refuseVariableNames(credentials);
  const isSame =
    JSON.stringify(before) === JSON.stringify(options) && JSON.stringify(stored) === JSON.stringify(credentials);
  return { id, options, credentials, same: isSame ? deployed : null };
}

/**
 * A configuration of a demo car that is not deployed as such; null for one that is.
 * @throws VehicleError INPUT_INVALID
 */
export function demoForm(RED: NodeAPI, id: string, demoCar: string): Form | null {
  const { service, demoCar: before } = parseOptions(
    vehicleOptions,
    findVehicle(RED, id)?.config ?? { service: 'custom' },
  );
  if (service === 'demo' && before === demoCar) return null;
  const options = parseBody(vehicleOptions, { service: 'demo', demoCar });
  return { id, options, credentials: parseOptions(vehicleCredentials, {}), same: null };
}

/**
 * Runs with the deployed account if the form has the same settings, else with one for this purpose.
 */
export async function withAccount<Result>(
  RED: NodeAPI,
  form: Form,
  work: (account: Account, vin: unknown) => Promise<Result>,
): Promise<Result> {
  throwIfInUse(RED);
  if (form.same !== null) return work(await form.same.account(), form.same.chooseVin());
  let account: Account | undefined;
  try {
    const access =
      form.options.service === 'demo'
        ? await demoAccountOptions(RED, form.options)
        : { vin: '', ...accountOptionsOf(RED, form.id, form.options, form.credentials) };
    account = openAccount(access);
    return await work(account, form.options.vin || access.vin);
  } finally {
    await account?.close();
  }
}

/**
 * A value that is unchanged from the flow file is replaced by the one that the runtime has
 * resolved, for example from an environment variable.
 */
function environmentOf(
  RED: NodeAPI,
  id: string,
  resolved: VehicleOptions | null,
  typed: FormBody['options'],
): Partial<VehicleOptions> {
  const raw = storedNodes(RED).find((node) => node.id === id);
  return Object.fromEntries(Object.entries(resolved ?? {}).filter(([name]) => raw?.[name] === typed[name]));
}

/**
 * Only deployed configurations may use environment variables: a user who types the name of one must
 * not get its value.
 */
function refuseVariableNames(typed: object): void {
  const isName = (value: unknown): boolean => typeof value === 'string' && /^\$\{[^}]+\}$/.test(value.trim());
  if (Object.values(typed).some(isName))
    throw new VehicleError('CONFIG', 'Node-RED fills in ${NAME} when it starts. Deploy first, then try again.');
}

/**
 * A stored secret goes only to the host that it was stored for: anybody who may open the form can
 * type another address.
 */
function refuseStoredSecrets(body: FormBody, stored: VehicleCredentials): void {
  // The names are those of `stored`.
  const wanted = Object.entries(stored).some(
    ([name, value]) => value !== '' && body.credentials[name as keyof VehicleCredentials] === null,
  );
  if (wanted)
    throw new VehicleError(
      'CONFIG',
      'The address of the service was changed. Enter the key, token and secrets again: the stored ones are sent to the stored address only.',
    );
}

function hasSameAddresses(before: VehicleOptions, now: VehicleOptions): boolean {
  if (before.service === 'demo' || now.service === 'demo') return before.service === now.service;
  try {
    const [from, to] = [serviceOf(before), serviceOf(now)];
    return addressNames.every((name) => originOf(from, name) === originOf(to, name));
  } catch {
    return false;
  }
}

/** The addresses that get key, tokens, client ID and client secret. */
const addressNames = ['baseUrl', 'authorizeUrl', 'tokenUrl'] as const;

const originOf = (service: AccountOptions['service'], name: (typeof addressNames)[number]): string =>
  service[name] === '' ? '' : new URL(service[name]).origin;
