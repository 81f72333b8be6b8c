import { createHash } from 'node:crypto';
import type { NodeAPI } from 'node-red';
import { createTokenSource, resolveService, secondMs, type AccountOptions } from '../../src/index';
import type { VehicleCredentials, VehicleOptions } from './options';
import { redactor } from '../node-red/redaction';
import { packOf, sessionOf } from '../node-red/storage';
import { clock } from '../node-red/time';

/** The service that a configuration names. @throws VehicleError CONFIG */
export function serviceOf(options: VehicleOptions): AccountOptions['service'] {
  if (options.service === 'custom') return resolveService('custom', options);
  // The other profiles leave only the redirect URL to the person.
  return resolveService(options.service, { redirectUrl: options.redirectUrl });
}

/** The client ID is not a secret: every sign-in address contains it. */
export const learnCredentials = ({ apiKey, clientSecret, accessToken }: VehicleCredentials): void =>
  redactor.learn(apiKey, clientSecret, accessToken);

export const settingsOf = (RED: NodeAPI, options: VehicleOptions) => ({
  pack: packOf(RED, options.service),
  units: options.units,
  readOnly: options.readOnly,
  limits: options,
  shareForMs: options.shareFor * secondMs,
  polling: options.polling,
  places: options.places,
});

/** The application that signs in, and the service that its tokens are for. */
export const clientOf = (
  { baseUrl, tokenUrl, issuer }: AccountOptions['service'],
  { clientId, clientSecret }: VehicleCredentials,
) => ({
  audience: new URL(baseUrl).origin,
  tokenUrl,
  issuer,
  clientId,
  clientSecret,
});

/** Readings are shared by a pasted token; a sign-in is used by its config node alone. */
const tokenOwnerOf = (id: string, { clientId, accessToken }: VehicleCredentials): string =>
  clientId !== '' ? id : createHash('sha256').update(accessToken).digest('hex');

/**
 * The options of the account of a configuration. From here on, the redactor knows its secrets.
 * @param id of the config node
 * @throws VehicleError CONFIG
 */
export function accountOptionsOf(
  RED: NodeAPI,
  id: string,
  options: VehicleOptions,
  credentials: VehicleCredentials,
): AccountOptions {
  const { apiKey, accessToken } = credentials;
  learnCredentials(credentials);
  redactor.learnVin(options.vin);
  const service = serviceOf(options);
  return {
    service,
    apiKey,
    tokens: () =>
      createTokenSource({
        client: clientOf(service, credentials),
        configNodeId: id,
        accessToken,
        session: sessionOf(RED),
        clock: clock(),
      }),
    tokenOwner: tokenOwnerOf(id, credentials),
    wallbox: options.wallbox,
    ...settingsOf(RED, options),
  };
}
