import { createHash } from 'node:crypto';
import type { NodeAPI } from 'node-red';
import type { AccountOptions, ServiceProfile } from '../../../src/index';
import { runtime } from '../load';
import type { VehicleCredentials, VehicleOptions } from '../input/options';
import { learnCredentials, redactor } from './redaction';
import { sessionOf } from './sign-ins';
import { stateStoreOf } from './state-store';
import { clock } from '../node-red/time';

/** The service that a configuration names. @throws VehicleError CONFIG */
export function serviceOf(options: VehicleOptions): ServiceProfile {
  const { resolveService } = runtime();
  if (options.service === 'custom') return resolveService('custom', options);
  // Only where the sign-in returns to is a person's own.
  return resolveService(options.service, { redirectUrl: options.redirectUrl });
}

/** What a configuration says of an account, whatever the service. */
export const settingsOf = (
  options: VehicleOptions,
): Pick<AccountOptions, 'readOnly' | 'limits' | 'shareForMs' | 'polling' | 'clock'> => ({
  readOnly: options.readOnly,
  limits: options,
  shareForMs: options.shareFor * 1000,
  polling: options.polling,
  clock: clock(),
});

/** Whoever signs in, and to which service. */
export const clientOf = ({ baseUrl, tokenUrl }: ServiceProfile, { clientId, clientSecret }: VehicleCredentials) => ({
  audience: new URL(baseUrl).origin,
  tokenUrl,
  clientId,
  clientSecret,
});

/** The same pasted token is the same person's; a sign-in is its config node's own. */
const ownerOf = (id: string, { clientId, accessToken }: VehicleCredentials): string =>
  clientId !== '' ? id : createHash('sha256').update(accessToken).digest('hex');

/**
 * What an account of a configuration is opened with. From here on, none of its secrets leaves the pack.
 * @param id of the config node: its sign-in is its own
 * @throws VehicleError CONFIG
 */
export function accessOf(
  RED: NodeAPI,
  id: string,
  options: VehicleOptions,
  credentials: VehicleCredentials,
): AccountOptions {
  const { apiKey, accessToken, refreshToken } = credentials;
  learnCredentials(credentials);
  redactor().learnVin(options.vin);
  const service = serviceOf(options);
  return {
    service,
    apiKey,
    tokens: () =>
      runtime().createTokenSource({
        client: clientOf(service, credentials),
        owner: id,
        accessToken,
        refreshToken,
        managers: sessionOf(RED)?.managers ?? null,
        clock: clock(),
      }),
    owner: ownerOf(id, credentials),
    store: stateStoreOf(RED),
    redactor: redactor(),
    ...settingsOf(options),
  };
}
